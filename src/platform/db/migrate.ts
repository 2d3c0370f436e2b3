// Brings a database to this program's schema: forward only, at start or by `roomkeeper migrate`.
import { sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { Refusal } from '../failure.ts'
import type { Db } from './db.ts'
import { ground } from './migrations/001-ground.ts'

/** In their order, for ever: a migration that has shipped is never edited. */
const migrations = { '001-ground': ground }

/** What is missing, and whether everything is. Refuses a database that a newer program has changed. */
export async function pendingMigrations(db: Db): Promise<{ isNew: boolean; pending: string[] }> {
  const known = Object.keys(migrations)
  const done = await applied(db)
  const foreign = done.filter((name) => !known.includes(name))
  if (foreign.length > 0) {
    throw new Refusal(
      `The database was made by a newer Roomkeeper (it has ${foreign.join(', ')}). Start that version, or restore a backup.`,
    )
  }
  return { isNew: done.length === 0, pending: known.filter((name) => !done.includes(name)) }
}

/** Runs what is missing and names it. */
export async function migrate(db: Db): Promise<string[]> {
  const migrator = new Migrator({
    db: db.schema,
    migrationTableName: 'migrations',
    migrationLockTableName: 'migrations_lock',
    provider: {
      getMigrations: async () =>
        Object.fromEntries(
          Object.entries(migrations).map(([name, statements]): [string, Migration] => [
            name,
            {
              async up(on) {
                for (const statement of statements(db.engine)) await sql.raw(statement).execute(on)
              },
            },
          ]),
        ),
    },
  })
  const { error, results } = await migrator.migrateToLatest()
  if (error) throw error
  return (results ?? []).map((r) => r.migrationName)
}

async function applied(db: Db): Promise<string[]> {
  try {
    const { rows } = await sql<{ name: string }>`select name from migrations`.execute(db.schema)
    return rows.map((r) => r.name)
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code === '42P01' || message.startsWith('no such table')) return []
    throw error
  }
}
