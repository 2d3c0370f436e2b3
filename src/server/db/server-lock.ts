// The lock that allows one server per database. SQLite or PostgreSQL holds it, so a crash releases it.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import pg from 'pg'
import type { DatabaseOptions } from '../config/options.ts'
import { StartupError } from '../core/failure.ts'
import { createPrivateFile } from '../core/private-files.ts'
import { checkDatabaseUrl, databaseUnreachable } from './postgres/database-url.ts'

const lockTaken = 'Another Roomkeeper server is running on this database. Stop it first, or give this one its own'

export interface ServerLockListener {
  /** Another server may hold the lock now, so this one must stop. */
  onLost(): void
  /** The lock was lost with its connection, and acquired again. */
  onBack(): void
}

/** Acquires the lock, and returns the function that releases it. */
export async function takeServerLock(place: DatabaseOptions, watch: ServerLockListener): Promise<() => Promise<void>> {
  return place.databaseUrl ? lockPostgres(place.databaseUrl, watch) : lockFile(place.dataDir)
}

function lockFile(dataDir: string): () => Promise<void> {
  const file = join(dataDir, 'server.lock')
  let lock: Database.Database | undefined
  try {
    createPrivateFile(file)
    lock = new Database(file, { timeout: 0 })
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock?.close()
    if (error instanceof StartupError) throw error
    if ((error as { code?: string }).code === 'SQLITE_BUSY') throw new StartupError(`${lockTaken} --data-dir.`)
    throw new StartupError(
      `Cannot use the lock file ${file}: ${(error as Error).message}. Delete it if no server is running.`,
    )
  }
  const held = lock
  return async () => void held.close()
}

const advisoryKey = 0x526f6f6d // "Room"
/** The server tries this long to acquire a lock again that it lost with its connection, as when PostgreSQL restarts. */
const reacquireTimeoutMs = 30_000
const reacquirePauseMs = 200
/** The lock's connection is checked this often. */
const checkEveryMs = 10_000
const answerTimeoutMs = 5_000
const unlockTimeoutMs = 1_000
/** With these, PostgreSQL releases the lock of a server that vanished from the network after 25 seconds, not after two hours. */
const lockSettings = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3'

/** Identifies a session of PostgreSQL. The start time is needed because process ids are reused. */
interface LockSession {
  readonly pid: number
  readonly since: string
}

async function lockPostgres(url: string, watch: ServerLockListener): Promise<() => Promise<void>> {
  checkDatabaseUrl(url)
  let closing = false
  let isAcquiring = false
  let held: { readonly client: pg.Client; readonly session: LockSession } | undefined

  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({
      connectionString: url,
      application_name: 'roomkeeper server lock',
      keepAlive: true,
      connectionTimeoutMillis: answerTimeoutMs,
      query_timeout: answerTimeoutMs,
      options: lockSettings,
    })
    client.on('error', () => {})
    await client.connect()
    return client
  }

  /** Returns false if another server holds the lock. Takes over the lock of our own lost session. */
  const acquire = async (): Promise<boolean> => {
    const client = await connect()
    try {
      if (held) await endSession(client, held.session)
      const { rows } = await client.query(tryLock, [advisoryKey])
      if (!rows[0].mine) {
        await client.end()
        return false
      }
      const before = held?.client
      held = { client, session: rows[0] }
      client.once('end', () => held?.client === client && void acquireAgain())
      before?.end().catch(() => {})
      return true
    } catch (error) {
      client.end().catch(() => {})
      throw error
    }
  }

  const acquireAgain = async () => {
    isAcquiring = true
    const deadline = Date.now() + reacquireTimeoutMs
    while (!closing && Date.now() < deadline) {
      const taken = await acquire().catch(() => undefined)
      if (taken === false) break
      if (taken) {
        isAcquiring = false
        return watch.onBack()
      }
      await sleep(reacquirePauseMs)
    }
    if (!closing) watch.onLost()
  }

  /**
   * A connection may be lost without an error. If PostgreSQL answers on a new one and not on this one, the new one takes over the
   * lock. While PostgreSQL does not answer at all, no other server can acquire the lock either.
   */
  const check = async () => {
    const checked = held?.client
    const isAnswering = await checked?.query('SELECT 1').then(
      () => true,
      () => false,
    )
    if (isAnswering || isAcquiring || closing || held?.client !== checked) return
    isAcquiring = true
    const taken = await acquire().catch(() => undefined)
    isAcquiring = false
    if (taken) watch.onBack()
    else if (taken === false && !closing) watch.onLost()
  }

  const taken = await acquire().catch((error) => {
    throw databaseUnreachable(error)
  })
  if (!taken) throw new StartupError(`${lockTaken} database.`)
  const checking = setInterval(() => void check(), checkEveryMs).unref()
  return async () => {
    closing = true
    clearInterval(checking)
    const unlocked = held?.client.query('SELECT pg_advisory_unlock($1)', [advisoryKey]).catch(() => {})
    await Promise.race([unlocked, sleep(unlockTimeoutMs, undefined, { ref: false })])
    // If PostgreSQL has not answered, as when it is frozen, this closes the socket without waiting.
    await held?.client.end()
  }
}

const tryLock = `SELECT pg_try_advisory_lock($1) AS mine, pg_backend_pid() AS pid,
  (SELECT backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS since`

/** PostgreSQL may not have noticed that our session is lost, and would hold the lock for it. */
async function endSession(client: pg.Client, { pid, since }: LockSession): Promise<void> {
  const end = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2'
  for (let triesLeft = 20; triesLeft > 0; triesLeft--) {
    if ((await client.query(end, [pid, since])).rowCount === 0) return
    await sleep(100)
  }
}
