// Migrations on both engines: the tables they create, and the databases they refuse.
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { CompiledQuery, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { engine, newPlace } from '../../../test/support/harness.ts'
import type { Database } from './db.ts'
import { migrate, pendingMigrations, programMigrations } from './migrate.ts'
import { openDatabase } from './open.ts'

const withDb = async (work: (opened: Awaited<ReturnType<typeof openDatabase>>) => Promise<void>) => {
  const { place, remove } = await newPlace()
  const opened = await openDatabase(place, { isLocked: false, mustExist: false, onError() {} })
  try {
    await work(opened)
  } finally {
    await opened.db.close()
    await remove()
  }
}

describe('migrations', () => {
  const migrationFiles = readdirSync(join(import.meta.dirname, 'migrations'))
    .filter((name) => /^\d{3}-/.test(name))
    .map((name) => basename(name, '.ts'))
    .sort()

  test('run once: a second opening finds nothing to do', () =>
    withDb(async ({ db, migrated }) => {
      const released = [
        '001-ground',
        '002-devices',
        '003-samples',
        '004-history',
        '005-console',
        '006-growth',
        '007-past-credentials',
        '008-nodes',
        '009-tasks',
        '010-bundles',
        '011-people',
        '012-incidents',
        '013-jobs',
        '014-node-certificates',
      ]
      expect(migrated.slice(0, released.length)).toEqual(released)
      expect(migrated.slice(released.length), 'each file is in the list of migrate.ts').toEqual(
        migrationFiles.slice(released.length),
      )
      expect(await pendingMigrations(db)).toEqual({ isNew: false, pending: [] })
      expect(await migrate(db)).toEqual([])
    }))

  test('give every table a key that starts with the organisation, except the directories and the database-wide ones', () =>
    withDb(async ({ db }) => {
      const keys =
        engine === 'sqlite'
          ? sql<{
              table: string
              column: string
            }>`select m.name as "table", p.name as "column" from sqlite_master m, pragma_table_info(m.name) p where m.type = 'table' and p.pk = 1`
          : sql<{
              table: string
              column: string
            }>`select c.relname as "table", a.attname as "column" from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0] where i.indisprimary and n.nspname = 'public'`
      const { rows } = await keys.execute(db.schema)
      expect(rows.length).toBeGreaterThan(12)
      const directories = [
        'key_directory',
        'dec_directory',
        'dec_past',
        'credential_directory',
        'past_credentials',
        'serial_directory',
        'sessions',
        'login_links',
        'user_sessions',
        'user_links',
        'passkeys',
        'passkey_challenges',
      ]
      const exempt = ['settings', 'nodes', 'tasks', 'migrations', 'migrations_lock', 'orgs', ...directories, 'messages']
      for (const { table, column } of rows) {
        if (!exempt.includes(table)) expect(column, table).toBe('org')
      }
    }))

  test('keep constraints in the schema: a broken reference is refused by the engine itself', () =>
    withDb(async ({ db }) => {
      await expect(
        db.systemTransaction((t) =>
          t.kysely.insertInto('regions').values({ org: 99, id: 1, version: 1, name: 'x' }).execute(),
        ),
      ).rejects.toThrow(/foreign key/i)
      await db.systemTransaction((t) =>
        t.kysely.insertInto('orgs').values({ id: 'a', name: 'a', created_at: 0 }).execute(),
      )
      await expect(
        db.systemTransaction((t) =>
          t.kysely.insertInto('locations').values({ org: 1, id: 1, version: 1, name: 'x', region_id: 5 }).execute(),
        ),
      ).rejects.toThrow(/foreign key/i)
    }))

  test('refuse a database that a newer program has changed', () =>
    withDb(async ({ db }) => {
      await sql`insert into migrations (name, timestamp) values ('999-future', '2099')`.execute(db.schema)
      await expect(pendingMigrations(db)).rejects.toThrow(/newer Roomkeeper \(it has 999-future\)/)
    }))

  test('accept a database that a newer program has changed only in ways that this one can run with', () =>
    withDb(async ({ db }) => {
      const newer = (names: readonly string[], compatible: readonly string[]) => ({
        statements: {
          ...programMigrations.statements,
          ...Object.fromEntries(names.map((name) => [name, () => [`CREATE TABLE t${name.slice(0, 3)} (a integer)`]])),
        },
        compatible: new Set(compatible),
      })
      expect(await migrate(db, undefined, newer(['900-adds'], ['900-adds']))).toEqual(['900-adds'])
      expect(await pendingMigrations(db)).toEqual({ isNew: false, pending: [] })
      await migrate(db, undefined, newer(['900-adds', '901-changes'], ['900-adds']))
      await expect(pendingMigrations(db)).rejects.toThrow(/newer Roomkeeper \(it has 901-changes\)/)
    }))
})

describe('the reader', () => {
  test('cannot write: the engine refuses', () =>
    withDb(async ({ db }) => {
      const write = db.system.kysely.insertInto('settings').values({ name: 'x', value: 'y' }).execute()
      await expect(write).rejects.toThrow(/readonly|read-only/)
    }))

  test('refuses a statement that writes, during a transaction and between transactions', () =>
    withDb(async ({ db }) => {
      const insert = CompiledQuery.raw("insert into settings (name, value) values ('x', 'y')")
      const write = async () => db.system.run(insert, [])
      await expect(write()).rejects.toThrow(/readonly|read-only/)
      await db.systemTransaction(() => expect(write()).rejects.toThrow(/readonly|read-only/))
    }))

  test('does not wait for an open transaction, and does not see it', () =>
    withDb(async ({ db }) => {
      const { promise: finish, resolve } = Promise.withResolvers<void>()
      const inserted = Promise.withResolvers<void>()
      const writing = db.systemTransaction(async (t) => {
        await t.kysely.insertInto('settings').values({ name: 'x', value: 'y' }).execute()
        inserted.resolve()
        await finish
      })
      await inserted.promise
      const read = async () => db.system.run(CompiledQuery.raw("select name from settings where name = 'x'"), [])
      expect(await read()).toEqual([])
      resolve()
      await writing
      expect(await read()).toHaveLength(1)
    }))
})

describe('a transaction', () => {
  const written = (db: Database) =>
    db.system.kysely.selectFrom('settings').selectAll().where('name', '=', 'x').execute()

  test('that fails leaves nothing behind, and the next one works', () =>
    withDb(async ({ db }) => {
      const failing = db.systemTransaction(async (t) => {
        await t.kysely.insertInto('settings').values({ name: 'x', value: 'y' }).execute()
        throw new Error('half way')
      })
      await expect(failing).rejects.toThrow('half way')
      expect(await written(db)).toEqual([])
      await db.systemTransaction((t) => t.kysely.insertInto('settings').values({ name: 'x', value: 'z' }).execute())
      expect(await written(db)).toHaveLength(1)
    }))

  test('is durable because of these settings of the engine', () =>
    withDb(async ({ db }) => {
      const setting = async (text: string) =>
        Object.values((await sql<Record<string, unknown>>`${sql.raw(text)}`.execute(db.schema)).rows[0] ?? {})[0]
      if (engine === 'postgres') expect(await setting('show synchronous_commit')).toBe('on')
      else {
        expect(await setting('pragma journal_mode')).toBe('wal')
        expect(await setting('pragma synchronous'), 'FULL').toBe(2)
        expect(await setting('pragma foreign_keys')).toBe(1)
      }
    }))
})
