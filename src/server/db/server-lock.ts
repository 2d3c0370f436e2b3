// The lock of a process that needs a database for itself. SQLite or PostgreSQL holds it, so a crash releases it.

import { join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import type { DatabaseOptions } from '../config/server-options.ts'
import { StartupError } from '../core/failure.ts'
import { createPrivateFile } from '../core/private-files.ts'
import { timeLimits } from '../core/time-limits.ts'
import { serverLockKey } from './postgres/advisory-locks.ts'
import { checkDatabaseUrl, databaseUnreachable } from './postgres/database-url.ts'

const lockTaken = 'Another Roomkeeper server is running on this database. Stop it first, or give this one its own'

/**
 * Acquires the lock, and returns the function that releases it. On PostgreSQL, servers do not take it: they share the lock that
 * this one excludes (see nodes/control-session.ts).
 */
export async function takeServerLock(place: DatabaseOptions): Promise<() => Promise<void>> {
  return place.databaseUrl ? lockPostgres(place.databaseUrl) : lockFile(place.dataDir)
}

function lockFile(dataDir: string): () => Promise<void> {
  const file = join(dataDir, 'server.lock')
  let lock: Database.Database | undefined
  try {
    createPrivateFile(file)
    lock = new Database(file, { timeout: 0 })
    // The lock takes no space on the disk, which may be full.
    lock.pragma('journal_mode = MEMORY')
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock?.close()
    if (error instanceof StartupError) throw error
    if ((error as { code?: string }).code === 'SQLITE_BUSY') throw new StartupError(`${lockTaken} --data-dir.`)
    throw new StartupError(
      `Cannot use the lock file ${file}: ${(error as Error).message}. Delete it if no server is running.`,
      { cause: error },
    )
  }
  const held = lock
  return async () => void held.close()
}

async function lockPostgres(url: string): Promise<() => Promise<void>> {
  checkDatabaseUrl(url)
  const client = new pg.Client({
    connectionString: url,
    application_name: 'roomkeeper server lock',
    keepAlive: true,
    connectionTimeoutMillis: timeLimits.serverLockMs,
    query_timeout: timeLimits.serverLockMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS "isMine"', [serverLockKey])
    if (rows[0].isMine) return () => client.end()
  } catch (error) {
    client.end().catch(() => {})
    throw databaseUnreachable(error)
  }
  await client.end()
  throw new StartupError(`${lockTaken} database.`)
}
