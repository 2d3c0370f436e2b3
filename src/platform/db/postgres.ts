// PostgreSQL as a pair of pools: one that may write and one that cannot.
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Backend } from './backend.ts'
import { PostgresReader } from './postgres-reader.ts'
import { PostgresTransaction } from './postgres-transaction.ts'
import { Prepared } from './prepared.ts'
import type { Schema } from './schema.ts'

/** int8 as a number: what we keep there (times, counts, positions) stays far below 2^53. */
const types = {
  getTypeParser: (oid: number, format?: string) =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig

/** A session that hangs must not keep the writers of an organisation, or all connections, waiting for ever. */
const writerSettings = '-c lock_timeout=5s -c idle_in_transaction_session_timeout=30s'
const readerSettings = '-c default_transaction_read_only=on'

export function openPostgres(
  url: string,
  onError: (error: Error) => void,
): { backend: Backend; pools: { writer: pg.Pool; reader: pg.Pool } } {
  const pool = (settings: pg.PoolConfig) => {
    const made = new pg.Pool({
      connectionString: url,
      max: 10,
      connectionTimeoutMillis: 10_000,
      application_name: 'roomkeeper',
      types,
      ...settings,
    })
    // Without listeners a connection that the server closes, idle or in use, would end the process.
    made.on('error', onError)
    made.on('connect', (client) => void client.on('error', onError))
    return made
  }
  const pools = {
    // Statements of a transaction may follow each other without waiting for answers.
    writer: pool({ options: writerSettings, pipeline: true }),
    reader: pool({ options: readerSettings }),
  }
  const prepared = new Prepared()
  const schema = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: pools.writer }) })
  return {
    backend: {
      engine: 'postgres',
      hasOneWriter: false,
      reader: new PostgresReader(pools.reader, prepared),
      schema,
      transaction: (work) => PostgresTransaction.run(pools.writer, prepared, work),
      async close() {
        await pools.reader.end()
        await pools.writer.end()
      },
    },
    pools,
  }
}
