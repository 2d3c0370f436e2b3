// Several real servers on one durable PostgreSQL, each behind a fault proxy of its own.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { freePort, Program } from '../program.ts'
import { FaultProxy } from './fault-proxy.ts'
import { PostgresServer } from './postgres-server.ts'
import { ServerNode } from './server-node.ts'

export class NodeCluster {
  readonly nodes: readonly ServerNode[]
  readonly org: string
  readonly key: string
  readonly #folder: string
  #postgres: PostgresServer
  readonly #standbys: PostgresServer[] = []

  private constructor(
    postgres: PostgresServer,
    nodes: readonly ServerNode[],
    folder: string,
    org: string,
    key: string,
  ) {
    this.#postgres = postgres
    this.nodes = nodes
    this.#folder = folder
    this.org = org
    this.key = key
  }

  /** Starts PostgreSQL and `count` nodes, the first one before the others. */
  static async start(count: number, ...args: string[]): Promise<NodeCluster> {
    const postgres = await PostgresServer.start()
    const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-nodes-'))
    const nodes = await Promise.all(Array.from({ length: count }, (_, i) => makeNode(postgres, folder, i + 1, args)))
    try {
      const [first, ...others] = nodes as [ServerNode, ...ServerNode[]]
      const { org, key } = await first.start()
      for (const { name } of others) shareSecretKey(folder, first.name, name)
      await Promise.all(others.map((node) => node.start()))
      return new NodeCluster(postgres, nodes, folder, org, key)
    } catch (error) {
      await Promise.all(nodes.map((node) => node.kill()))
      await postgres.remove()
      throw error
    }
  }

  get postgres(): PostgresServer {
    return this.#postgres
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
    const standby = await this.#postgres.startStandby()
    this.#standbys.push(standby)
    return standby
  }

  /** Kills the primary, promotes the standby, and sends all new sessions there. */
  async failOver(standby: PostgresServer): Promise<void> {
    const before = this.#postgres
    await before.stop('kill')
    await standby.promote()
    for (const { proxy } of this.nodes) proxy.setTarget(standby.port)
    this.#postgres = standby
    await before.remove()
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()))
    await Promise.all(this.nodes.map(({ proxy }) => proxy.close()))
    for (const server of new Set([this.#postgres, ...this.#standbys])) await server.remove()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** A cluster that goes with the test, however that ends. */
export async function clusterForTest(count: number, ...args: string[]): Promise<NodeCluster> {
  const cluster = await NodeCluster.start(count, ...args)
  onTestFinished(() => cluster.close())
  return cluster
}

const dataDirOf = (folder: string, name: string) => join(folder, name)

async function makeNode(
  postgres: PostgresServer,
  folder: string,
  number: number,
  args: readonly string[],
): Promise<ServerNode> {
  const name = `node-${number}`
  const dataDir = dataDirOf(folder, name)
  mkdirSync(dataDir, { mode: 0o700 })
  const proxy = await FaultProxy.start(postgres.port)
  const [httpPort, mqttPort] = await Promise.all([freePort(), freePort()])
  const options = {
    '--port': httpPort,
    '--mqtt-port': mqttPort,
    '--data-dir': dataDir,
    '--database-url': proxy.urlOf(postgres.url),
    '--public-url': 'http://127.0.0.1:1',
    '--rate-limit': 0,
    '--log-level': 'warn',
  }
  const flags = Object.entries(options).flatMap(([flag, value]) => [flag, String(value)])
  const launch = () => new Program(['serve', ...flags, ...args], { cwd: folder })
  return new ServerNode({ name, httpPort, mqttPort, proxy, launch })
}

/** An operator copies the key to every machine, as docs/operations.md says. */
function shareSecretKey(folder: string, from: string, to: string): void {
  copyFileSync(join(dataDirOf(folder, from), 'secret.key'), join(dataDirOf(folder, to), 'secret.key'))
}
