// Opens the database that the options name, migrated and ready, and the lock that keeps a second server out.
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { Kysely, sql } from 'kysely'
import pg from 'pg'
import { Refusal } from '../failure.ts'
import { Db } from './db.ts'
import { migrate } from './migrate.ts'
import { openPostgres } from './postgres.ts'
import type { Schema } from './schema.ts'
import { openSqlite } from './sqlite.ts'

export interface Place {
  readonly dataDir: string
  readonly databaseUrl?: string | undefined
}

const fileName = 'roomkeeper.db'

export interface Opened {
  readonly db: Db
  /** The migrations that this opening ran. */
  readonly migrated: readonly string[]
  readonly pools: readonly pg.Pool[]
}

export async function openDb(place: Place, onError: (error: Error) => void): Promise<Opened> {
  const opened = place.databaseUrl ? await openRemote(place.databaseUrl, onError) : openFile(place.dataDir)
  try {
    return { ...opened, migrated: await migrate(opened.db) }
  } catch (error) {
    await opened.db.close()
    throw error
  }
}

/** Insists that there is something to open: a command that only looks must not make an empty database. */
export function checkExists({ dataDir, databaseUrl }: Place): void {
  if (databaseUrl !== undefined || existsSync(join(dataDir, fileName))) return
  throw new Refusal(
    `There is no database in ${dataDir}. Name its folder with --data-dir, or make one with "roomkeeper serve".`,
  )
}

/** Makes the folder for database, secrets and lock, or says why it cannot. */
export function prepareFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new Refusal(
      `Cannot write to the data folder ${dataDir} (${(error as NodeJS.ErrnoException).code}). Make it writable, or name another with --data-dir.`,
    )
  }
}

function openFile(dataDir: string) {
  const file = join(dataDir, fileName)
  try {
    const { writer, reader } = openSqlite(file)
    return {
      db: new Db('sqlite', new Kysely<Schema>({ dialect: reader }), new Kysely<Schema>({ dialect: writer })),
      pools: [],
    }
  } catch (error) {
    throw new Refusal(`Cannot open the database ${file}: ${(error as Error).message}.`)
  }
}

async function openRemote(url: string, onError: (error: Error) => void) {
  checkUrl(url)
  const { writer, reader, pools } = openPostgres(url, onError)
  const db = new Db('postgres', new Kysely<Schema>({ dialect: reader }), new Kysely<Schema>({ dialect: writer }))
  try {
    const encoding = await sql<{ server_encoding: string }>`show server_encoding`.execute(db.kysely)
    if (encoding.rows[0]?.server_encoding !== 'UTF8') {
      throw new Refusal('The PostgreSQL database must have the encoding UTF8. Create it with ENCODING UTF8.')
    }
  } catch (error) {
    await db.close()
    throw error instanceof Refusal ? error : unreachable(error)
  }
  return { db, pools }
}

function checkUrl(url: string): void {
  if (/^postgres(ql)?:\/\//.test(url) && isReadable(url)) return
  throw new Refusal('--database-url must be like postgres://user:password@host:5432/name. Leave it out to use SQLite.')
}

/** By the driver's own rules, which also know sockets: postgres://user@/name?host=/run/postgresql */
function isReadable(url: string): boolean {
  try {
    new pg.Client({ connectionString: url })
    return true
  } catch {
    return false
  }
}

/** What a failed connection says, without the address: it may hold a password. */
function unreachable(error: unknown): Refusal {
  const { code, message, errors } = error as NodeJS.ErrnoException & { errors?: Error[] }
  const reason = message || errors?.[0]?.message || code || 'unknown reason'
  return new Refusal(`Cannot reach PostgreSQL: ${reason}. Check --database-url.`)
}

const busy = 'Another Roomkeeper server is running on this database. Stop it first, or give this one its own'

/** One server per database. Both locks are the operating system's or PostgreSQL's own: a crash frees them. */
export async function lockServer(place: Place, onLost: () => void): Promise<() => Promise<void>> {
  return place.databaseUrl ? lockPostgres(place.databaseUrl, onLost) : lockFile(place.dataDir)
}

function lockFile(dataDir: string) {
  const file = join(dataDir, 'server.lock')
  const lock = new Database(file, { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if ((error as { code?: string }).code === 'SQLITE_BUSY') throw new Refusal(`${busy} --data-dir.`)
    throw new Refusal(
      `Cannot use the lock file ${file}: ${(error as Error).message}. Delete it if no server is running.`,
    )
  }
  return async () => {
    lock.close()
  }
}

const advisoryKey = 0x526f6f6d // "Room"

async function lockPostgres(url: string, onLost: () => void) {
  checkUrl(url)
  const client = new pg.Client({ connectionString: url, application_name: 'roomkeeper server lock', keepAlive: true })
  await client.connect().catch((error) => {
    throw unreachable(error)
  })
  const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS mine', [advisoryKey])
  if (!rows[0].mine) {
    await client.end()
    throw new Refusal(`${busy} database.`)
  }
  let closing = false
  client.on('error', () => {})
  client.on('end', () => {
    if (!closing) onLost()
  })
  return async () => {
    closing = true
    await client.end()
  }
}
