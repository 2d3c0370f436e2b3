// A PostgreSQL of its own for a bench: durable, with the CPU time of all of its processes, gone in the end.
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { type Cluster, startCluster } from '../../test/postgres.ts'
import type { Ending } from '../cleanup.ts'

/** The kernel counts what ended processes have used in hundredths of a second. */
const ticks = 100

export class BenchCluster {
  readonly #cluster: Cluster

  private constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** What is acknowledged survives a power cut, as it does where people run one. */
  static async start(ending: Ending): Promise<BenchCluster> {
    const cluster = await startCluster({ fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' })
    ending.add(() => cluster.stop())
    return new BenchCluster(cluster)
  }

  /** The address of a new database in it, empty or with everything that another one has. */
  async create(name: string, template = 'template0'): Promise<string> {
    await ask(this.#cluster.url, `create database ${name} template ${template}`)
    const url = new URL(this.#cluster.url)
    url.pathname = name
    return url.href
  }

  /** CPU seconds of all of its processes since it started, also of those that have ended. */
  cpu(): number {
    const { pid } = this.#cluster
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
    const [user, system] = fields.split(' ').slice(13, 15)
    const ended = (Number(user) + Number(system)) / ticks
    return [`${pid}`, ...children].reduce((sum, id) => sum + usedBy(id), ended)
  }
}

function usedBy(pid: string): number {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`)
    const used = tasks.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]))
    return used.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e9
  } catch {
    // It has ended meanwhile.
    return 0
  }
}

/** The rows of one statement. */
export async function ask<R extends object>(url: string, statement: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<R>(statement)).rows
  } finally {
    await client.end()
  }
}
