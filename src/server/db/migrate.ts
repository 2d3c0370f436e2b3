// Brings a database to this program's schema: forward only, at start or by `roomkeeper migrate`.

import { sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { StartupError } from '../core/failure.ts'
import type { Database } from './db.ts'
import type { EngineName } from './engine.ts'
import { initial } from './migrations/001-initial.ts'
import { devices } from './migrations/002-devices.ts'
import { samples } from './migrations/003-samples.ts'
import { history } from './migrations/004-history.ts'
import { consoleSessions } from './migrations/005-console.ts'
import { growth } from './migrations/006-growth.ts'

/** A statement for both engines, or some for one. */
type Step = string | { readonly [E in EngineName]?: readonly string[] }

/** In their order, for ever: a migration that has shipped is never edited. */
const migrations: Readonly<Record<string, readonly Step[]>> = {
  '001-ground': initial,
  '002-devices': devices,
  '003-samples': samples,
  '004-history': history,
  '005-console': consoleSessions,
  '006-growth': growth,
}

/** What is missing, and whether everything is. Refuses a database that a newer program has changed. */
export async function pendingMigrations(db: Database): Promise<{ isNew: boolean; pending: string[] }> {
  const known = Object.keys(migrations)
  const done = await applied(db)
  const foreign = done.filter((name) => !known.includes(name))
  if (foreign.length > 0) {
    throw new StartupError(
      `The database was made by a newer Roomkeeper (it has ${foreign.join(', ')}). Start that version, or restore a backup.`,
    )
  }
  return { isNew: done.length === 0, pending: known.filter((name) => !done.includes(name)) }
}

/** Runs what is missing, up to the last or to the one that is named, and says what it ran. */
export async function migrate(db: Database, upTo?: string): Promise<string[]> {
  const migrator = new Migrator({
    db: db.schema,
    migrationTableName: 'migrations',
    migrationLockTableName: 'migrations_lock',
    provider: {
      getMigrations: async () =>
        Object.fromEntries(
          Object.entries(migrations).map(([name, steps]): [string, Migration] => [
            name,
            {
              async up(on) {
                for (const statement of steps.flatMap((step) => statementsOf(db.engine, step))) {
                  await sql.raw(statement).execute(on)
                }
              },
            },
          ]),
        ),
    },
  })
  const { error, results } = await (upTo ? migrator.migrateTo(upTo) : migrator.migrateToLatest())
  if (error) throw error
  return (results ?? []).map((r) => r.migrationName)
}

const statementsOf = (engine: EngineName, step: Step): readonly string[] =>
  typeof step === 'string' ? [inWordsOf(engine, step)] : (step[engine] ?? [])

/** Migrations are written in PostgreSQL's words; SQLite gets its own names of the types. */
const inWordsOf = (engine: EngineName, statement: string): string =>
  engine === 'postgres'
    ? statement
    : statement
        .replaceAll('integer GENERATED ALWAYS AS IDENTITY', 'integer')
        .replaceAll('bigint', 'integer')
        .replaceAll('bytea', 'blob')
        .replace(/\n\)$/, '\n) STRICT')
        .replace(/\n\) -- lies in the order of its key$/, '\n) STRICT, WITHOUT ROWID')

async function applied(db: Database): Promise<string[]> {
  try {
    const { rows } = await sql<{ name: string }>`select name from migrations`.execute(db.schema)
    return rows.map((r) => r.name)
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code === '42P01' || message.startsWith('no such table')) return []
    throw error
  }
}
