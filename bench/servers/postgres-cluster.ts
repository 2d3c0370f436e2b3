// A PostgreSQL cluster for one bench: durable, with the CPU time of all of its processes, removed at cleanup.
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { nodeLockClass } from '../../src/server/db/postgres/advisory-locks.ts'
import { type Cluster, startCluster } from '../../test/support/database/postgres-cluster.ts'
import type { Cleanup } from '../cleanup.ts'

/** The kernel counts the CPU time of ended processes in hundredths of a second. */
const clockTicksPerSecond = 100

export class PostgresCluster {
  readonly #cluster: Cluster

  private constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** Starts it with PostgreSQL's own durability defaults, which the cluster of the tests turns off. */
  static async start(cleanup: Cleanup): Promise<PostgresCluster> {
    const cluster = await startCluster({ fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' })
    cleanup.add(() => cluster.stop())
    return new PostgresCluster(cluster)
  }

  /** Creates a database, empty or as a copy of `template`, and returns its address. */
  async createDatabase(name: string, template = 'template0'): Promise<string> {
    await runStatement(this.#cluster.url, `create database ${name} template ${template}`)
    const url = new URL(this.#cluster.url)
    url.pathname = name
    return url.href
  }

  /** CPU time of all processes since the cluster started, including those that have ended. */
  cpuSeconds(): number {
    const { pid } = this.#cluster
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
    const [user, system] = fields.split(' ').slice(13, 15)
    const endedSeconds = (Number(user) + Number(system)) / clockTicksPerSecond
    return [`${pid}`, ...children].reduce((sum, id) => sum + cpuSecondsOf(id), endedSeconds)
  }

  /** CPU time of the sessions that make our servers nodes of a database: they hold locks, beat and carry messages, and do nothing else. */
  async cpuSecondsOfNodeSessions(url: string): Promise<number> {
    const sessions = await runStatement<{ pid: number }>(
      url,
      `select distinct pid from pg_locks where locktype = 'advisory' and granted and classid = ${nodeLockClass} and objsubid = 2
         and database = (select oid from pg_database where datname = current_database())`,
    )
    return sessions.reduce((sum, { pid }) => sum + cpuSecondsOf(`${pid}`), 0)
  }
}

function cpuSecondsOf(pid: string): number {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`)
    const times = tasks.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]))
    return times.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e9
  } catch {
    // The process ended after the list of children was read.
    return 0
  }
}

/** Runs one statement on a connection of its own and returns its rows. */
export async function runStatement<R extends object>(url: string, statement: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<R>(statement)).rows
  } finally {
    await client.end()
  }
}
