// Migrations only add, so that nodes of two versions can run on one database while they are replaced one by one.
import { expect, test } from 'vitest'
import { programMigrations } from '../../src/server/db/migrate.ts'
import { dialects, type MigrationStatements } from '../../src/server/db/migrations/dialect.ts'

/** Earlier migrations were released before several nodes could run on one database. */
const firstChecked = '008'

/** Statements that take away what the version before uses, or refuse what it writes. */
const removals: readonly RegExp[] = [
  /\b(?:DROP|RENAME|TRUNCATE)\b/i,
  /\bALTER\s+(?:COLUMN\s+)?\w+\s+(?:SET\s+DATA\s+)?TYPE\b/i,
  /\bSET\s+NOT\s+NULL\b/i,
  /\bADD\s+(?:COLUMN\s+)?(?!.*\bDEFAULT\b).*\bNOT\s+NULL\b/i,
]

/** Removals that are allowed. The reason names the version that needed it last, and why that version cannot be running. */
const exceptions: readonly { migration: string; statement: RegExp; reason: string }[] = [
  {
    migration: '008-nodes',
    statement: /\bDROP COLUMN connected\b|\bDROP INDEX \w*connected\w*/i,
    reason:
      'Version 0.1 needs endpoints.connected, and takes the server lock for itself, so it never runs beside a later one.',
  },
  {
    migration: '011-people',
    statement: /\busers (?:RENAME COLUMN role|DROP COLUMN old_role)\b|\bapi_keys RENAME COLUMN write\b/,
    reason: 'The checks of these columns are of version 0.1, which never runs beside a later one.',
  },
  {
    migration: '023-power',
    statement: /\boperations (?:RENAME COLUMN type|DROP COLUMN old_type|DROP CONSTRAINT operations_type_check)\b/,
    reason:
      'The new check allows what the old one did. Version 0.2 runs beside a later one on PostgreSQL only, where the column stays.',
  },
]

function removalsIn(migrations: Readonly<Record<string, MigrationStatements>>): string[] {
  return Object.entries(migrations)
    .filter(([name]) => name >= firstChecked)
    .flatMap(([name, statements]) =>
      Object.values(dialects)
        .flatMap((dialect) => statements(dialect))
        .filter((text) => removals.some((pattern) => pattern.test(text)))
        .filter((text) => !exceptions.some((e) => e.migration === name && e.statement.test(text)))
        .map((text) => `${name}: ${text}`),
    )
}

test('migrations only add: what a version needs is removed one version later, and listed here with the reason', () => {
  expect(Object.keys(programMigrations.statements).filter((name) => name >= firstChecked).length).toBeGreaterThan(1)
  expect(removalsIn(programMigrations.statements)).toEqual([])
})

test.each([
  'ALTER TABLE rooms DROP COLUMN name',
  'DROP TABLE rooms',
  'ALTER TABLE rooms RENAME COLUMN name TO title',
  'ALTER TABLE rooms RENAME TO places',
  'ALTER TABLE rooms ALTER COLUMN name TYPE bytea',
  'ALTER TABLE rooms ALTER COLUMN name SET NOT NULL',
  'ALTER TABLE rooms ADD COLUMN floor integer NOT NULL',
])('the check finds: %s', (statement) => {
  expect(removalsIn({ '020-later': () => [statement] })).toHaveLength(2)
})

test.each([
  'ALTER TABLE rooms ADD COLUMN floor integer NOT NULL DEFAULT 0',
  'ALTER TABLE rooms ADD COLUMN floor integer',
  'CREATE TABLE floors (id integer NOT NULL)',
])('the check accepts: %s', (statement) => {
  expect(removalsIn({ '020-later': () => [statement] })).toEqual([])
})
