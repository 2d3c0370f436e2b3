// Asks the database for its name, its version and its time, for the log, the metrics and `roomkeeper doctor`.
import { sql } from 'kysely'
import type { Database } from './db.ts'

/** For example "SQLite 3.50.4" or "PostgreSQL 15.14". */
export async function databaseVersion(db: Pick<Database, 'engine' | 'schema'>): Promise<string> {
  if (db.engine === 'sqlite') {
    const { rows } = await sql<{ version: string }>`select sqlite_version() as version`.execute(db.schema)
    return `SQLite ${rows[0]?.version}`
  }
  const { rows } = await sql<{ server_version: string }>`show server_version`.execute(db.schema)
  // Packagers add their own version behind the first word.
  return `PostgreSQL ${rows[0]?.server_version.split(' ')[0]}`
}

/** The time of PostgreSQL's machine in milliseconds; SQLite uses that of this one. */
export async function databaseTime(db: Pick<Database, 'engine' | 'schema'>): Promise<number | undefined> {
  if (db.engine === 'sqlite') return undefined
  const { rows } = await sql<{ ms: string }>`select floor(extract(epoch from clock_timestamp()) * 1000) as ms`.execute(
    db.schema,
  )
  return Number(rows[0]?.ms)
}

/** When the newest audit entry was written, in milliseconds. */
export async function newestAuditTime(db: Pick<Database, 'schema'>): Promise<number | undefined> {
  const newest = await db.schema
    .selectFrom('audit_log')
    .select(({ fn }) => fn.max('timestamp').as('at'))
    .executeTakeFirst()
  return newest?.at == null ? undefined : Number(newest.at)
}
