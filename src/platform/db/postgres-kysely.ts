// A query builder of PostgreSQL whose statements somebody else sends.
import { Kysely, PostgresDialect } from 'kysely'
import type { Answer } from './prepared.ts'
import type { Schema } from './schema.ts'

export function kyselyOn(ask: (text: string, values: readonly unknown[]) => Promise<Answer>): Kysely<Schema> {
  const client = { query: ask, release() {} }
  const pool = { connect: async () => client as never, end: async () => {}, options: {} }
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
}
