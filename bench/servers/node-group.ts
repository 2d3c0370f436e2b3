// Several of our servers as nodes on one PostgreSQL database, measured as one.
import { join } from 'node:path'
import { fillOrganisation, type Organisation } from '../fixture/organisation.ts'
import { withServices } from '../fixture/services.ts'
import type { BenchOptions } from '../options.ts'
import type { MeasuredProcess } from './measured-process.ts'
import { type PostgresCluster, runStatement } from './postgres-cluster.ts'
import { findFreePort, type MeasuredServer, startServer } from './roomkeeper.ts'

export class MeasuredNodeGroup implements MeasuredProcess {
  readonly servers: readonly MeasuredServer[]
  readonly databaseUrl: string

  private constructor(databaseUrl: string, servers: readonly MeasuredServer[]) {
    this.databaseUrl = databaseUrl
    this.servers = servers
  }

  static async start(
    { cleanup, profiles }: BenchOptions,
    filled: FilledDatabase,
    size: number,
  ): Promise<MeasuredNodeGroup> {
    const servers: MeasuredServer[] = []
    for (let i = 0; i < size; i++) {
      const options = ['--database-url', filled.url, '--secret-key-file', filled.secretKeyFile]
      // A second node is refused without a public address, and a start prints that address.
      const port = await findFreePort()
      const asNode = ['--node-name', `node-${i + 1}`, '--port', `${port}`, '--public-url', `http://127.0.0.1:${port}`]
      const nodeFlags = profiles.nodeFlags(`${size} nodes, node ${i + 1}`)
      const server = await startServer(cleanup.tempFolder(), nodeFlags, [...options, ...asNode])
      cleanup.add(() => server.process.stop())
      servers.push({ ...server, org: filled.org, key: filled.key })
    }
    return new MeasuredNodeGroup(filled.url, servers)
  }

  /** The CPU time of all nodes together. */
  cpuSeconds(): number {
    return this.servers.reduce((sum, { process }) => sum + process.cpuSeconds(), 0)
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map(({ process }) => process.stop()))
  }
}

export interface FilledDatabase {
  readonly url: string
  readonly secretKeyFile: string
  readonly org: string
  readonly key: string
  readonly organisation: Organisation
}

/** Makes a database with an organisation of so many endpoints. */
export async function fillDatabase(
  { cleanup }: BenchOptions,
  cluster: PostgresCluster,
  name: string,
  endpoints: number,
): Promise<FilledDatabase> {
  const dataDir = cleanup.tempFolder()
  const url = await cluster.createDatabase(name)
  const first = await startServer(dataDir, [], ['--database-url', url])
  cleanup.add(() => first.process.stop())
  await first.process.stop()
  const organisation = await withServices({ dataDir, databaseUrl: url }, (services) =>
    fillOrganisation(services, endpoints),
  )
  await runStatement(url, 'vacuum analyze')
  const { org, key } = first
  return { url, secretKeyFile: join(dataDir, 'secret.key'), org, key, organisation }
}

/** Copies a database that no server is connected to. */
export async function copyPostgresDatabase(
  cluster: PostgresCluster,
  filled: FilledDatabase,
  name: string,
): Promise<FilledDatabase> {
  const template = new URL(filled.url).pathname.slice(1)
  return { ...filled, url: await cluster.createDatabase(name, template) }
}
