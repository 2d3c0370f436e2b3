// PostgreSQL as a pair of pools: one that may write and one that cannot.
import { type Dialect, PostgresDialect } from 'kysely'
import pg from 'pg'

/** int8 as a number: what we keep there (times, counts, positions) stays far below 2^53. */
const types = {
  getTypeParser: (oid: number, format?: string) =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig

export function openPostgres(
  url: string,
  onError: (error: Error) => void,
): { writer: Dialect; reader: Dialect; pools: readonly pg.Pool[] } {
  const pool = (readOnly: boolean) => {
    const made = new pg.Pool({
      connectionString: url,
      max: 10,
      connectionTimeoutMillis: 10_000,
      application_name: 'roomkeeper',
      types,
    })
    // An idle connection that the server closes is replaced; without a listener it would end the process.
    made.on('error', onError)
    if (readOnly) made.on('connect', (client) => void client.query('SET default_transaction_read_only = on'))
    return made
  }
  const pools = [pool(false), pool(true)] as const
  return { writer: new PostgresDialect({ pool: pools[0] }), reader: new PostgresDialect({ pool: pools[1] }), pools }
}
