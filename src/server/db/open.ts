// Opens the database that the options name, and applies pending migrations.

import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { sql } from 'kysely'
import type pg from 'pg'
import type { DatabaseOptions } from '../config/server-options.ts'
import { StartupError } from '../core/failure.ts'
import { createPrivateFile, tightenDataFolder } from '../core/private-files.ts'
import type { TimeLimits } from '../core/time-limits.ts'
import { refuseCopied } from './copied-mark.ts'
import { Database } from './db.ts'
import { migrate, pendingMigrations } from './migrate.ts'
import { checkDatabaseUrl, databaseUnreachable } from './postgres/database-url.ts'
import { openPostgres } from './postgres/pools.ts'
import { takeServerLock } from './server-lock.ts'
import { openSqlite } from './sqlite/sqlite.ts'
import { sqliteFileOf } from './sqlite/sqlite-file.ts'

interface Engine {
  readonly db: Database
  /** Is called after migrations: only they may wait long for another process. */
  readonly shortenLockTimeout: () => void
  readonly pools: Readonly<Record<string, pg.Pool>>
  /** Watches whether the database answers, until the returned function is called. Commands do not need it. */
  readonly watch: () => () => Promise<void>
}

export interface OpenedDatabase extends Engine {
  /** The migrations that this opening ran. */
  readonly migrated: readonly string[]
}

export interface OpenDatabaseOptions {
  /** True if the caller holds the server lock, or is a node that shares it. Otherwise it is held while migrations run. */
  readonly isLocked: boolean
  /** True for a command that only reads, which must not create a database. */
  readonly mustExist: boolean
  /** True for a program that only examines a database which `copy` has copied elsewhere; others refuse it. */
  readonly mayBeCopied?: boolean
  /** Names the sessions of PostgreSQL, so that others can end them when this process is declared dead. */
  readonly applicationName?: string
  readonly limits?: TimeLimits
  readonly onError: (error: Error) => void
}

/** Opens a database that exists, as it is: nothing is created or migrated. */
export async function openExisting(place: DatabaseOptions): Promise<Database> {
  if (!hasDatabase(place)) throw noDatabase(place)
  const { db } = place.databaseUrl ? await openRemote(place.databaseUrl, { onError() {} }) : openFile(place.dataDir)
  return db
}

/** A PostgreSQL counts as there: whether it is reachable shows when it is opened. */
export const hasDatabase = ({ dataDir, databaseUrl }: DatabaseOptions): boolean =>
  databaseUrl !== undefined || existsSync(sqliteFileOf(dataDir))

export async function openDatabase(place: DatabaseOptions, settings: OpenDatabaseOptions): Promise<OpenedDatabase> {
  const { isLocked, mustExist, mayBeCopied = false } = settings
  if (mustExist && !hasDatabase(place)) throw noDatabase(place)
  prepareDataFolder(place.dataDir)
  const engine = place.databaseUrl
    ? await openRemote(place.databaseUrl, settings)
    : openFile(place.dataDir, settings.limits)
  try {
    const { isNew, pending } = await pendingMigrations(engine.db)
    if (mustExist && isNew) throw noDatabase(place)
    if (!isNew && !mayBeCopied) await refuseCopied(engine.db, place)
    const migrated = pending.length === 0 ? [] : await migrateLocked(engine.db, place, isLocked)
    engine.shortenLockTimeout()
    return { ...engine, migrated }
  } catch (error) {
    await engine.db.close()
    if ((error as { code?: string }).code !== '42501') throw error
    throw new StartupError(
      'The PostgreSQL user may not create tables. As the owner of the database: GRANT CREATE ON SCHEMA public TO that user.',
    )
  }
}

/** A command migrates under the server lock: only the start of a node may change tables while other nodes run. */
async function migrateLocked(db: Database, place: DatabaseOptions, isLocked: boolean): Promise<string[]> {
  if (isLocked) return migrate(db)
  const unlock = await takeServerLock(place)
  try {
    return await migrate(db)
  } finally {
    await unlock()
  }
}

const noDatabase = ({ dataDir, databaseUrl }: DatabaseOptions) =>
  new StartupError(
    databaseUrl
      ? 'There is no Roomkeeper in that PostgreSQL database. Check --database-url, or start "serve" on it first.'
      : `There is no database in ${dataDir}. Name its folder with --data-dir, or start "serve" there first.`,
  )

/** Creates the folder for database, secrets and lock, or throws the reason why it cannot. */
export function prepareDataFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new StartupError(
      `Cannot use the data folder ${dataDir} (${(error as NodeJS.ErrnoException).code}). It must be a folder that this user may write to; name another with --data-dir.`,
      { cause: error },
    )
  }
  tightenDataFolder(dataDir)
}

function openFile(dataDir: string, limits?: TimeLimits): Engine {
  const file = sqliteFileOf(dataDir)
  try {
    createPrivateFile(file)
    const { backend, shortenLockTimeout } = openSqlite(file, limits)
    return { db: new Database(backend), shortenLockTimeout, pools: {}, watch: () => async () => {} }
  } catch (error) {
    if (error instanceof StartupError) throw error
    throw new StartupError(`Cannot open the database ${file}: ${(error as Error).message}.`, { cause: error })
  }
}

async function openRemote(
  url: string,
  settings: Pick<OpenDatabaseOptions, 'applicationName' | 'limits' | 'onError'>,
): Promise<Engine> {
  checkDatabaseUrl(url)
  const { backend, pools, watch } = openPostgres(url, settings)
  const db = new Database(backend)
  try {
    const encoding = await sql<{ server_encoding: string }>`show server_encoding`.execute(db.schema)
    if (encoding.rows[0]?.server_encoding !== 'UTF8') {
      throw new StartupError('The PostgreSQL database must have the encoding UTF8. Create it with ENCODING UTF8.')
    }
  } catch (error) {
    await db.close()
    throw error instanceof StartupError ? error : databaseUnreachable(error)
  }
  return { db, shortenLockTimeout: () => {}, pools, watch }
}
