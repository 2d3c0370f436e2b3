// PostgreSQL that stops answering without ending a connection: frozen by the system, or behind a network that swallows packets.
import { execFileSync } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { type Wire, wireTo } from '../severable-proxy.ts'
import { type Cluster, startCluster } from './postgres-cluster.ts'
import { createDatabase, createTables } from './postgres-tables.ts'

export interface TestOutage {
  /** The address of the database for a service. */
  readonly databaseUrl: string
  begin(): void
  end(): void
}

export interface FreezableCluster extends Cluster {
  /** The database that has tables and no rows. */
  readonly tables: string
  freeze(): void
  thaw(): void
}

/** A cluster of its own: freezing the one that all tests share would freeze them too. */
export async function freezableCluster(): Promise<FreezableCluster> {
  const cluster = await startCluster({ fsync: 'off' })
  const tables = await createTables(cluster.url)
  const processes = () =>
    execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' })
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .map(([pid, parent, state = '']) => ({
        pid: Number(pid),
        parent: Number(parent),
        isStopped: /^[TZ]/.test(state),
      }))
      .filter(({ pid, parent }) => pid === cluster.pid || parent === cluster.pid)
  const thaw = () => {
    for (const { pid } of processes()) signal(pid, 'SIGCONT')
  }
  // A frozen cluster could not be stopped.
  process.prependOnceListener('exit', thaw)
  return {
    ...cluster,
    tables,
    freeze() {
      // A process that is just being started is not in the first list, and a signal takes a moment to work.
      signal(cluster.pid, 'SIGSTOP')
      for (;;) {
        const running = processes().filter(({ isStopped }) => !isStopped)
        if (running.length === 0) return
        for (const { pid } of running) signal(pid, 'SIGSTOP')
      }
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

export async function frozen(cluster: FreezableCluster): Promise<TestOutage> {
  const { databaseUrl } = await createDatabase(cluster.url, cluster.tables)
  onTestFinished(() => cluster.thaw())
  return { databaseUrl, begin: () => cluster.freeze(), end: () => cluster.thaw() }
}

export async function swallowed(
  cluster: FreezableCluster,
): Promise<TestOutage & Pick<Wire, 'loseOpen' | 'deliverLost'>> {
  const { databaseUrl } = await createDatabase(cluster.url, cluster.tables)
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
