// PostgreSQL that stops answering without ending a connection: frozen by the system, or behind a network that swallows packets.
import { execFileSync } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { type Wire, wireTo } from '../severable-proxy.ts'
import { type Cluster, startCluster } from './postgres-cluster.ts'
import { createDatabase } from './postgres-tables.ts'

export interface Outage {
  /** Where a service finds its database. */
  readonly databaseUrl: string
  begin(): void
  end(): void
}

/** A cluster of its own: freezing the one that all tests share would freeze them too. */
export async function freezableCluster(): Promise<Cluster & { freeze(): void; thaw(): void }> {
  const cluster = await startCluster({ fsync: 'off' })
  const children = () =>
    execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number))
      .filter(([, parent]) => parent === cluster.pid)
      .map(([pid]) => pid as number)
  const thaw = () => {
    for (const pid of [...children(), cluster.pid]) signal(pid, 'SIGCONT')
  }
  // A frozen cluster could not be stopped.
  process.prependOnceListener('exit', thaw)
  return {
    ...cluster,
    freeze() {
      // The first one starts the others: once it stands still there are no new ones.
      signal(cluster.pid, 'SIGSTOP')
      for (const pid of children()) signal(pid, 'SIGSTOP')
    },
    thaw,
    async stop() {
      thaw()
      process.off('exit', thaw)
      await cluster.stop()
    },
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

export async function frozen(cluster: Awaited<ReturnType<typeof freezableCluster>>): Promise<Outage> {
  const { databaseUrl } = await createDatabase(cluster.url)
  onTestFinished(() => cluster.thaw())
  return { databaseUrl, begin: () => cluster.freeze(), end: () => cluster.thaw() }
}

export async function swallowed(cluster: Cluster): Promise<Outage & Pick<Wire, 'loseOpen' | 'deliverLost'>> {
  const { databaseUrl } = await createDatabase(cluster.url)
  const wire = await wireTo(databaseUrl)
  const url = new URL(databaseUrl)
  url.port = String(wire.port)
  return {
    databaseUrl: url.href,
    begin: () => wire.swallow(),
    end: () => wire.release(),
    loseOpen: () => wire.loseOpen(),
    deliverLost: () => wire.deliverLost(),
  }
}
