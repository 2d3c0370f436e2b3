// One server per database. Both locks are the operating system's or PostgreSQL's own: a crash frees them.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import pg from 'pg'
import type { DatabaseOptions } from '../config/options.ts'
import { StartupError } from '../core/failure.ts'
import { createPrivateFile } from '../core/private-files.ts'
import { checkDatabaseUrl, databaseUnreachable } from './postgres/database-url.ts'

const busy = 'Another Roomkeeper server is running on this database. Stop it first, or give this one its own'

export interface ServerLockListener {
  /** Somebody else may have the lock now, so the server must stop. */
  onLost(): void
  /** The lock went with its connection and was taken again. */
  onBack(): void
}

/** Takes the lock and gives back what frees it. */
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
    if ((error as { code?: string }).code === 'SQLITE_BUSY') throw new StartupError(`${busy} --data-dir.`)
    throw new StartupError(
      `Cannot use the lock file ${file}: ${(error as Error).message}. Delete it if no server is running.`,
    )
  }
  const held = lock
  return async () => void held.close()
}

const advisoryKey = 0x526f6f6d // "Room"
/** How long a lock that went with its connection, for instance when PostgreSQL restarts, is tried to take again. */
const patience = 30_000
/** How often the lock's connection is asked for an answer, and how long it may take to give one. */
const askEveryMs = 10_000
const answerTimeoutMs = 5_000
/** PostgreSQL frees the lock of a server that left the network without a word after 25 seconds, not after two hours. */
const lockSettings = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3'

/** The number and the start of a session of PostgreSQL: numbers are used again. */
interface LockSession {
  readonly pid: number
  readonly since: string
}

async function lockPostgres(url: string, watch: ServerLockListener): Promise<() => Promise<void>> {
  checkDatabaseUrl(url)
  let closing = false
  let isTaking = false
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

  /** False if somebody else has it. The lock of a session that is lost is taken over. */
  const take = async (): Promise<boolean> => {
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
      client.once('end', () => held?.client === client && void takeAgain())
      before?.end().catch(() => {})
      return true
    } catch (error) {
      client.end().catch(() => {})
      throw error
    }
  }

  const takeAgain = async () => {
    isTaking = true
    const deadline = Date.now() + patience
    while (!closing && Date.now() < deadline) {
      const taken = await take().catch(() => undefined)
      if (taken === false) break
      if (taken) {
        isTaking = false
        return watch.onBack()
      }
      await sleep(200)
    }
    if (!closing) watch.onLost()
  }

  /**
   * A connection may be lost without a sign. If PostgreSQL answers on a new one and not on this one, the lock is taken over by the new
   * one. While PostgreSQL answers nobody, nobody can take the lock either.
   */
  const ask = async () => {
    const asked = held?.client
    const isAnswering = await asked?.query('SELECT 1').then(
      () => true,
      () => false,
    )
    if (isAnswering || isTaking || closing || held?.client !== asked) return
    isTaking = true
    const taken = await take().catch(() => undefined)
    isTaking = false
    if (taken) watch.onBack()
    else if (taken === false && !closing) watch.onLost()
  }

  const taken = await take().catch((error) => {
    throw databaseUnreachable(error)
  })
  if (!taken) throw new StartupError(`${busy} database.`)
  const asking = setInterval(() => void ask(), askEveryMs).unref()
  return async () => {
    closing = true
    clearInterval(asking)
    const freed = held?.client.query('SELECT pg_advisory_unlock($1)', [advisoryKey]).catch(() => {})
    await Promise.race([freed, sleep(1000, undefined, { ref: false })])
    // If nobody has answered, as when PostgreSQL is frozen, this cuts the connection and waits for nobody.
    await held?.client.end()
  }
}

const tryLock = `SELECT pg_try_advisory_lock($1) AS mine, pg_backend_pid() AS pid,
  (SELECT backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS since`

/** PostgreSQL may believe in a session of ours that is lost, and keep the lock for it. */
async function endSession(client: pg.Client, { pid, since }: LockSession): Promise<void> {
  const end = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2'
  for (let triesLeft = 20; triesLeft > 0; triesLeft--) {
    if ((await client.query(end, [pid, since])).rowCount === 0) return
    await sleep(100)
  }
}
