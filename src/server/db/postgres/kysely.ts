// A query builder of PostgreSQL whose statements somebody else sends.
import { Kysely, PostgresDialect } from 'kysely'
import type { DatabaseSchema } from '../schema.ts'
import type { QueryResult } from './named-statements.ts'

export function kyselyOn(
  ask: (text: string, values: readonly unknown[]) => Promise<QueryResult>,
): Kysely<DatabaseSchema> {
  const client = { query: ask, release() {} }
  const pool = { connect: async () => client as never, end: async () => {}, options: {} }
  return new Kysely<DatabaseSchema>({ dialect: new PostgresDialect({ pool }) })
}
