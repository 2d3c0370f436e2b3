// Refuses to begin with an empty PostgreSQL database while the data folder has a SQLite database that is in use.
import { existsSync } from 'node:fs'
import SqliteDatabase from 'better-sqlite3'
import type { DatabaseOptions } from '../config/server-options.ts'
import { StartupError } from '../core/failure.ts'
import { shellWord } from '../core/text.ts'
import type { Database } from './db.ts'
import { sqliteFileOf } from './sqlite/sqlite-file.ts'

/** A service that began empty would refuse the credential of every enrolled device. */
export async function refuseForgottenSqlite(db: Database, { dataDir, databaseUrl }: DatabaseOptions): Promise<void> {
  if (databaseUrl === undefined) return
  const file = sqliteFileOf(dataDir)
  if (!existsSync(file)) return
  const org = await db.system.kysely.selectFrom('orgs').select('key').limit(1).executeTakeFirst()
  if (org || !hasOrg(file)) return
  throw new StartupError(
    `The PostgreSQL database is empty, but ${file} has an organisation. To move it, run "roomkeeper copy --from ${shellWord(dataDir)} --to postgres://…" and start again. To begin with an empty database, name another folder with --data-dir.`,
  )
}

function hasOrg(file: string): boolean {
  const sqlite = new SqliteDatabase(file, { readonly: true })
  try {
    return sqlite.prepare('select 1 from orgs limit 1').get() !== undefined
  } catch (error) {
    if ((error as Error).message.startsWith('no such table')) return false
    throw new StartupError(
      `The PostgreSQL database is empty, and ${file} cannot be read: ${(error as Error).message}. Move it away, or name another folder with --data-dir.`,
    )
  } finally {
    sqlite.close()
  }
}
