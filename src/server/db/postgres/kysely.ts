// Makes a Kysely for PostgreSQL whose statements are sent by the given function.
import { Kysely, PostgresDialect } from 'kysely'
import type { DatabaseSchema } from '../schema/schema.ts'
import type { QueryResult } from './named-statements.ts'

export function kyselyOn(
  send: (text: string, values: readonly unknown[]) => Promise<QueryResult>,
): Kysely<DatabaseSchema> {
  const client = { query: send, release() {} }
  const pool = { connect: async () => client as never, end: async () => {}, options: {} }
  return new Kysely<DatabaseSchema>({ dialect: new PostgresDialect({ pool }) })
}
