// A durable PostgreSQL that a test can restart, kill and copy to a standby, and a standby that can be promoted.
import { type ChildProcess, execFileSync } from 'node:child_process'
import { chownSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import {
  type ClusterFolder,
  initialiseCluster,
  removeCluster,
  spawnPostgres,
  untilPostgresReady,
} from '../database/postgres-cluster.ts'
import { freePort } from '../free-port.ts'
import { until } from '../program.ts'

const durable = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' }

/** `fast` ends all sessions in order; `kill` is a crash, after which the log is replayed. */
export type StopMode = 'fast' | 'kill'

export class PostgresServer {
  readonly port: number
  readonly url: string
  readonly #cluster: ClusterFolder
  readonly #leave: () => void
  #process: ChildProcess

  private constructor(cluster: ClusterFolder, port: number) {
    this.#cluster = cluster
    this.port = port
    this.url = `postgres://test:${cluster.password}@127.0.0.1:${port}/postgres`
    this.#leave = () => removeCluster(cluster)
    process.once('exit', this.#leave)
    this.#process = spawnPostgres(cluster, port, durable)
  }

  static async start(): Promise<PostgresServer> {
    const server = new PostgresServer(initialiseCluster({ isDurable: true }), await freePort())
    await untilPostgresReady(server.#process, server.url)
    return server
  }

  /** Copies this server and starts the copy, which follows every change until it is promoted. */
  async startStandby(): Promise<PostgresServer> {
    const { bin, as, password } = this.#cluster
    const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-standby-'))
    if (as) chownSync(folder, as.uid, as.gid)
    const data = join(folder, 'data')
    execFileSync(
      join(bin, 'pg_basebackup'),
      ['-D', data, '-R', '-X', 'stream', '-c', 'fast', '--no-sync', '-d', `${this.url}?application_name=standby`],
      { ...as, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    const standby = new PostgresServer({ bin, folder, data, password, as }, await freePort())
    await untilPostgresReady(standby.#process, standby.url)
    await until('the standby streams', async () => {
      const rows = await this.query("select 1 from pg_stat_replication where state = 'streaming'")
      return rows.length > 0
    })
    return standby
  }

  /** From now on a commit is acknowledged only when a standby has it. */
  async requireStandby(): Promise<void> {
    await this.query("alter system set synchronous_standby_names = '*'")
    await this.query('select pg_reload_conf()')
    await until('the standby is synchronous', async () => {
      const rows = await this.query("select 1 from pg_stat_replication where sync_state = 'sync'")
      return rows.length > 0
    })
  }

  /** Makes a standby a primary that waits for no other standby. */
  async promote(): Promise<void> {
    const { bin, data, folder, as } = this.#cluster
    execFileSync(join(bin, 'pg_ctl'), ['promote', '-s', '-w', '-D', data], { ...as, cwd: folder, stdio: 'ignore' })
    await this.query("alter system set synchronous_standby_names = ''")
    await this.query('select pg_reload_conf()')
  }

  async query(text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query(text, [...values])).rows
    } finally {
      await client.end().catch(() => {})
    }
  }

  async stop(mode: StopMode = 'fast'): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const ended = new Promise((resolve) => this.#process.once('exit', resolve))
    this.#process.kill(mode === 'fast' ? 'SIGINT' : 'SIGKILL')
    await ended
  }

  /** Starts it again after a stop. */
  async startAgain(): Promise<void> {
    const deadline = performance.now() + 30_000
    for (;;) {
      this.#process = spawnPostgres(this.#cluster, this.port, durable)
      try {
        await untilPostgresReady(this.#process, this.url)
        return
      } catch (error) {
        // After a kill, children of the old server may still hold its shared memory for a moment.
        if (performance.now() > deadline) throw error
      }
    }
  }

  async remove(): Promise<void> {
    await this.stop()
    process.off('exit', this.#leave)
    removeCluster(this.#cluster)
  }
}
