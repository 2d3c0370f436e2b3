// A query builder of PostgreSQL whose statements somebody else sends.
import { Kysely, PostgresDialect } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Answer } from './named-statements.ts'

export function kyselyOn(ask: (text: string, values: readonly unknown[]) => Promise<Answer>): Kysely<Schema> {
  const client = { query: ask, release() {} }
  const pool = { connect: async () => client as never, end: async () => {}, options: {} }
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
}
