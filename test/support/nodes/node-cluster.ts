// Several real servers on one database, each behind a fault proxy of its own.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { createDatabase, dropDatabase } from '../database/postgres-tables.ts'
import { freePort } from '../free-port.ts'
import { expectDone, Program } from '../program.ts'
import { runHere } from '../run-here.ts'
import { FaultProxy } from './fault-proxy.ts'
import { PostgresServer } from './postgres-server.ts'
import { ServerNode } from './server-node.ts'

/** The database of the nodes of a cluster, and the function that removes it. */
interface ClusterDatabase {
  readonly url: string
  /** Undefined if other tests use the same PostgreSQL. */
  readonly postgres: PostgresServer | undefined
  remove(): Promise<void>
}

/** Environment variables of the nodes. */
type Variables = Readonly<Record<string, string>>

export class NodeCluster {
  readonly nodes: readonly ServerNode[]
  readonly org: string
  readonly key: string
  /** On the monotonic clock of the test. */
  readonly startedAt = performance.now()
  readonly #folder: string
  #database: ClusterDatabase
  readonly #standbys: PostgresServer[] = []
  /** Kept for the next statement: to open a session takes PostgreSQL longer than most statements. */
  #sessions: pg.Pool | undefined

  private constructor(
    database: ClusterDatabase,
    nodes: readonly ServerNode[],
    folder: string,
    org: string,
    key: string,
  ) {
    this.#database = database
    this.nodes = nodes
    this.#folder = folder
    this.org = org
    this.key = key
  }

  /** Starts `count` nodes, the first one before the others. */
  static async start(database: ClusterDatabase, count: number, env: Variables = {}): Promise<NodeCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-nodes-'))
    const make = (_: unknown, i: number) => makeNode(database.url, folder, i + 1, env)
    const nodes = await Promise.all(Array.from({ length: count }, make))
    try {
      const [first, ...others] = nodes as [ServerNode, ...ServerNode[]]
      const { org, key } = await first.start()
      for (const { name } of others) shareSecretKey(folder, first.name, name)
      await Promise.all(others.map((node) => node.start()))
      return new NodeCluster(database, nodes, folder, org, key)
    } catch (error) {
      await Promise.all(nodes.map((node) => node.kill()))
      await database.remove()
      throw error
    }
  }

  /** The PostgreSQL that belongs to this cluster alone. */
  get postgres(): PostgresServer {
    const { postgres } = this.#database
    if (!postgres) throw new Error('this PostgreSQL is used by other tests: start a durable cluster')
    return postgres
  }

  /** The address of the database itself, not of a proxy. */
  get databaseUrl(): string {
    return this.#database.url
  }

  /** Runs a command with the key of the first node, in the process of the test, and returns its JSON output. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  async json(...args: string[]): Promise<any> {
    const flags = ['--data-dir', dataDirOf(this.#folder, this.node(0).name), '--database-url', this.databaseUrl]
    const ended = await runHere([...args, ...flags, '--json'])
    expectDone(ended)
    return JSON.parse(ended.stdout)
  }

  /** Asks the database directly, not through a proxy. */
  async query(text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    // A session that a fault ended is replaced for the next statement.
    this.#sessions ??= new pg.Pool({ connectionString: this.databaseUrl, max: 2 }).on('error', () => {})
    return (await this.#sessions.query(text, [...values])).rows
  }

  /** The nodes whose process runs and is not paused. */
  get running(): readonly ServerNode[] {
    return this.nodes.filter((node) => node.isRunning && !node.isPaused)
  }

  /** The node with this number, from 0. */
  node(index: number): ServerNode {
    const node = this.nodes[index]
    if (!node) throw new Error(`there is no node ${index}`)
    return node
  }

  async startStandby(): Promise<PostgresServer> {
    const standby = await this.postgres.startStandby()
    this.#standbys.push(standby)
    return standby
  }

  /** Kills the primary, promotes the standby, and sends all new sessions there. */
  async failOver(standby: PostgresServer): Promise<void> {
    const before = this.postgres
    await before.stop('kill')
    await standby.promote()
    for (const { proxy } of this.nodes) proxy.setTarget(standby.port)
    this.#database = ownDatabase(standby)
    await this.#sessions?.end()
    this.#sessions = undefined
    await before.remove()
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()))
    await Promise.all(this.nodes.map(({ proxy }) => proxy.close()))
    await this.#sessions?.end()
    await this.#database.remove()
    for (const standby of this.#standbys) await standby.remove()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

const ownDatabase = (postgres: PostgresServer): ClusterDatabase => ({
  url: postgres.url,
  postgres,
  remove: () => postgres.remove(),
})

/** A cluster with a PostgreSQL of its own that waits for the disk and can be stopped. The caller closes it. */
export const startDurableCluster = async (count: number): Promise<NodeCluster> =>
  NodeCluster.start(ownDatabase(await PostgresServer.start()), count)

/** A durable cluster that goes with the test, however that ends. */
export async function durableClusterForTest(count: number): Promise<NodeCluster> {
  const cluster = await startDurableCluster(count)
  onTestFinished(() => cluster.close())
  return cluster
}

/** A cluster on the PostgreSQL that all tests share, which is ready sooner. It goes with the test, however that ends. */
export async function clusterForTest(count: number, env: Variables = {}): Promise<NodeCluster> {
  const cluster = await startSharedCluster(count, env)
  onTestFinished(() => cluster.close())
  return cluster
}

/** For a `beforeAll`: the file closes the cluster in `afterAll`. */
export async function startSharedCluster(count: number, env: Variables = {}): Promise<NodeCluster> {
  const server = inject('postgresUrl')
  const { name, databaseUrl } = await createDatabase(server, inject('postgresTables'))
  const remove = () => dropDatabase(server, name)
  return NodeCluster.start({ url: databaseUrl, postgres: undefined, remove }, count, env)
}

const dataDirOf = (folder: string, name: string) => join(folder, name)

async function makeNode(databaseUrl: string, folder: string, number: number, env: Variables): Promise<ServerNode> {
  const name = `node-${number}`
  const dataDir = dataDirOf(folder, name)
  mkdirSync(dataDir, { mode: 0o700 })
  const proxy = await FaultProxy.start(Number(new URL(databaseUrl).port))
  const [httpPort, mqttPort] = await Promise.all([freePort(), freePort()])
  const options = {
    '--node-name': name,
    '--port': httpPort,
    '--mqtt-port': mqttPort,
    '--data-dir': dataDir,
    '--database-url': proxy.urlOf(databaseUrl),
    '--public-url': 'http://127.0.0.1:1',
    '--rate-limit': 0,
    '--log-level': 'warn',
    // The receivers of tests listen there.
    '--outbound-allow': '127.0.0.1',
  }
  const flags = Object.entries(options).flatMap(([flag, value]) => [flag, String(value)])
  const launch = () => new Program(['serve', ...flags], { cwd: folder, env })
  return new ServerNode({ name, httpPort, mqttPort, proxy, launch })
}

/** An operator copies the key to every machine, as docs/operations.md says. */
function shareSecretKey(folder: string, from: string, to: string): void {
  copyFileSync(join(dataDirOf(folder, from), 'secret.key'), join(dataDirOf(folder, to), 'secret.key'))
}
