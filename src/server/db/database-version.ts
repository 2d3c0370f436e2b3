// Asks the database for its name and version, for the log, the metrics and `roomkeeper doctor`.
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
