// Brings a database to this program's schema: forward only, at start or by `roomkeeper migrate`.
import { sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { Refusal } from '../failure.ts'
import type { Db } from './db.ts'
import { ground } from './migrations/001-ground.ts'

/** In their order, for ever: a migration that has shipped is never edited. */
const migrations = { '001-ground': ground }

/** Runs what is missing and names it. Refuses a database that a newer program has changed. */
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
  const known = new Set(Object.keys(migrations))
  const foreign = (await applied(db)).filter((name) => !known.has(name))
  if (foreign.length > 0) {
    throw new Refusal(
      `The database was made by a newer Roomkeeper (it has ${foreign.join(', ')}). Start that version, or restore a backup.`,
    )
  }
  const { error, results } = await migrator.migrateToLatest()
  if (error) throw error
  return (results ?? []).map((r) => r.migrationName)
}

async function applied(db: Db): Promise<string[]> {
  const tables = await db.schema.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some((t) => t.name === 'migrations')) return []
  const rows = await sql<{ name: string }>`select name from migrations`.execute(db.schema)
  return rows.rows.map((r) => r.name)
}
