// PostgreSQL as a pair of pools: one that may write and one that cannot.
import { type Dialect, PostgresDialect } from 'kysely'
import pg from 'pg'

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
): { writer: Dialect; reader: Dialect; pools: { writer: pg.Pool; reader: pg.Pool } } {
  const pool = (options: string) => {
    const made = new pg.Pool({
      connectionString: url,
      max: 10,
      connectionTimeoutMillis: 10_000,
      application_name: 'roomkeeper',
      types,
      options,
    })
    // Without listeners a connection that the server closes, idle or in use, would end the process.
    made.on('error', onError)
    made.on('connect', (client) => void client.on('error', onError))
    return made
  }
  const pools = { writer: pool(writerSettings), reader: pool(readerSettings) }
  return {
    writer: new PostgresDialect({ pool: pools.writer }),
    reader: new PostgresDialect({ pool: pools.reader }),
    pools,
  }
}
