// The SQL in which SQLite and PostgreSQL differ, for migrations that run on both.
import type { EngineName } from '../engine.ts'

export interface MigrationDialect {
  readonly engine: EngineName
  /** A primary key that the database numbers by itself. */
  readonly identity: string
  readonly bigint: string
  readonly bytes: string
  /** Ends a CREATE TABLE. SQLite checks the types of values only in STRICT tables. */
  readonly strict: string
  /** Ends a CREATE TABLE whose rows SQLite stores in the order of the primary key, without a second index for it. */
  readonly strictWithoutRowId: string
}

/** Returns the statements of one migration, in their order. */
export type MigrationStatements = (dialect: MigrationDialect) => readonly string[]

export const dialects: Readonly<Record<EngineName, MigrationDialect>> = {
  sqlite: {
    engine: 'sqlite',
    identity: 'integer',
    bigint: 'integer',
    bytes: 'blob',
    strict: ' STRICT',
    strictWithoutRowId: ' STRICT, WITHOUT ROWID',
  },
  postgres: {
    engine: 'postgres',
    identity: 'integer GENERATED ALWAYS AS IDENTITY',
    bigint: 'bigint',
    bytes: 'bytea',
    strict: '',
    strictWithoutRowId: '',
  },
}
