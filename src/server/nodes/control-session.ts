// The session of PostgreSQL that makes a process a node: it holds the locks, sends and hears notifications, and carries the beat.
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { StartupError } from '../core/failure.ts'
import type { TimeLimits } from '../core/time-limits.ts'
import { serverLockKey } from '../db/postgres/advisory-locks.ts'
import { checkDatabaseUrl, databaseUnreachable } from '../db/postgres/database-url.ts'
import { int8AsNumber } from '../db/postgres/int8.ts'

export const notificationChannel = 'roomkeeper'

/** Sends a list of notifications in its order. */
export const notifyAll = `SELECT pg_notify('${notificationChannel}', text)
  FROM unnest($1::text[]) WITH ORDINALITY AS part (text, number) ORDER BY number`

const reconnectPauseMs = 200
/** With the keep-alives, PostgreSQL releases the locks of a machine that vanished from the network after 25 seconds, not after two hours. */
const sessionSettings = ({ controlLockMs, idleTransactionMs }: TimeLimits) =>
  [
    'tcp_keepalives_idle=10',
    'tcp_keepalives_interval=5',
    'tcp_keepalives_count=3',
    `lock_timeout=${controlLockMs}`,
    `idle_in_transaction_session_timeout=${idleTransactionMs}`,
  ]
    .map((setting) => `-c ${setting}`)
    .join(' ')

const takeSharedLock = `SELECT pg_try_advisory_lock_shared($1) AS "isShared", pg_backend_pid() AS pid,
  (SELECT backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS since`
const endBackend = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2'

interface ControlSessionOptions {
  readonly url: string
  /** Names the session in pg_stat_activity. */
  readonly applicationName: string
  readonly limits: TimeLimits
  /** Is called when another program took the database for itself: this process must stop. */
  readonly onTaken: () => void
}

export interface ControlSessionListener {
  /** Prepares a new connection before it counts as connected. If this throws, another connection is opened. */
  prepare(client: pg.Client): Promise<void>
  connected(): void
  disconnected(): void
  notified(notification: string): void
}

/** Identifies a backend. The start time is needed because process ids are reused. */
interface Backend {
  readonly pid: number
  readonly since: string
}

interface Connection {
  readonly client: pg.Client
  readonly socket: Socket
  readonly backend: Backend
}

/** Thrown when another program holds the server lock alone. */
class DatabaseTaken extends Error {}

export class ControlSession {
  readonly #options: ControlSessionOptions
  #listener: ControlSessionListener | undefined
  #connection: Connection | undefined
  /** The backend of a lost connection. It may still hold our locks. */
  #lostBackend: Backend | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #isClosing = false

  private constructor(options: ControlSessionOptions) {
    this.#options = options
  }

  /** Connects and shares the server lock, or throws the reason why this process must not start. */
  static async open(options: ControlSessionOptions): Promise<ControlSession> {
    checkDatabaseUrl(options.url)
    const session = new ControlSession(options)
    try {
      session.#use(await session.#connect())
    } catch (error) {
      if (!(error instanceof DatabaseTaken)) throw error instanceof StartupError ? error : databaseUnreachable(error)
      throw new StartupError(
        'Another program uses this database for itself: an older Roomkeeper, or a command such as "restore" or "copy". Wait for it or stop it, or give this server its own database.',
      )
    }
    return session
  }

  /** From now on the listener follows the session. It is told that the session is connected. */
  async attach(listener: ControlSessionListener): Promise<void> {
    this.#listener = listener
    await this.run((client) => listener.prepare(client))
    if (this.#connection) listener.connected()
  }

  /** Runs statements that no other statement of this session comes between. Rejects while the session is lost. */
  run<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const turn = this.#turn.then(async () => {
      const connection = this.#connection
      if (!connection) throw new Error('the control session is lost')
      try {
        return await work(connection.client)
      } catch (error) {
        // A statement that timed out is still running, and an error of a connection does not always end it.
        if (!(error instanceof pg.DatabaseError)) connection.socket.destroy()
        throw error
      }
    })
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** Gives the connection up, and opens another one. */
  reconnect(): void {
    this.#connection?.socket.destroy()
  }

  async close(): Promise<void> {
    this.#isClosing = true
    const connection = this.#connection
    if (!connection) return
    const ended = connection.client.end()
    // A frozen server does not confirm that a session ends.
    await Promise.race([ended, sleep(1_000, undefined, { ref: false })])
    connection.socket.destroy()
  }

  async #connect(): Promise<Connection> {
    const socket = new Socket()
    const { limits } = this.#options
    const client = new pg.Client({
      connectionString: this.#options.url,
      application_name: this.#options.applicationName,
      keepAlive: true,
      connectionTimeoutMillis: limits.controlConnectMs,
      // PostgreSQL cancels a statement before the driver gives it up.
      query_timeout: limits.controlAnswerMs,
      statement_timeout: limits.controlStatementMs,
      options: sessionSettings(limits),
      types: int8AsNumber,
      stream: () => socket,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      if (this.#lostBackend) await endLostBackend(client, this.#lostBackend)
      const { rows } = await client.query(takeSharedLock, [serverLockKey])
      if (!rows[0].isShared) throw new DatabaseTaken()
      await client.query(`LISTEN ${notificationChannel}`)
      client.on('notification', ({ payload }) => this.#listener?.notified(payload ?? ''))
      return { client, socket, backend: rows[0] }
    } catch (error) {
      socket.destroy()
      throw error
    }
  }

  #use(connection: Connection): void {
    this.#connection = connection
    this.#lostBackend = undefined
    connection.client.once('end', () => {
      if (this.#connection !== connection) return
      this.#connection = undefined
      this.#lostBackend = connection.backend
      if (this.#isClosing) return
      this.#listener?.disconnected()
      void this.#reconnectUntilItWorks()
    })
  }

  async #reconnectUntilItWorks(): Promise<void> {
    while (!this.#isClosing) {
      try {
        const connection = await this.#connect()
        try {
          await this.#listener?.prepare(connection.client)
        } catch (error) {
          this.#lostBackend = connection.backend
          connection.socket.destroy()
          throw error
        }
        if (this.#isClosing) return void connection.socket.destroy()
        if (connection.socket.destroyed) throw new Error('the new control session is lost too')
        this.#use(connection)
        this.#listener?.connected()
        return
      } catch (error) {
        if (error instanceof DatabaseTaken) return this.#isClosing ? undefined : this.#options.onTaken()
      }
      await sleep(reconnectPauseMs)
    }
  }
}

/** PostgreSQL may not have noticed that a session is lost, and would hold its locks. */
async function endLostBackend(client: pg.Client, { pid, since }: Backend): Promise<void> {
  for (let triesLeft = 20; triesLeft > 0; triesLeft--) {
    if ((await client.query(endBackend, [pid, since])).rowCount === 0) return
    await sleep(100)
  }
}
