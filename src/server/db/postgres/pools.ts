// PostgreSQL as a pair of pools: one that may write and one that cannot.
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { DatabaseEngine } from '../engine.ts'
import { DatabaseHealth } from '../health.ts'
import type { DatabaseSchema } from '../schema.ts'
import { NamedStatements } from './named-statements.ts'
import { PostgresProbe, probeTimeoutMs } from './probe.ts'
import { PostgresReader } from './reader.ts'
import { AbandonedSessions } from './sessions.ts'
import { PostgresTransaction } from './transaction.ts'

/** int8 as a number: what we keep there (times, counts, positions) stays far below 2^53. */
const types = {
  getTypeParser: (oid: number, format?: string) =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig

/** How long a request waits for a connection, whether one that is in use or a new one. */
const connectionTimeoutMs = 5_000
/** PostgreSQL gives up a statement a second before we do, so that a server that is only slow keeps its connections. */
const statementTimeoutMs = 9_000
const queryTimeoutMs = 10_000

/** A session that hangs must not keep the writers of an organisation, or all connections, waiting for ever. */
const writerSettings = '-c lock_timeout=5s -c idle_in_transaction_session_timeout=30s'
const readerSettings = '-c default_transaction_read_only=on'

export interface Postgres {
  readonly backend: DatabaseEngine
  readonly pools: { readonly writer: pg.Pool; readonly reader: pg.Pool }
  /** Watches whether PostgreSQL answers, until the returned function is called. */
  readonly watch: () => () => Promise<void>
}

export function openPostgres(url: string, onError: (error: Error) => void): Postgres {
  const pool = (settings: pg.PoolConfig) => {
    const made = new pg.Pool({
      connectionString: url,
      max: 10,
      connectionTimeoutMillis: connectionTimeoutMs,
      application_name: 'roomkeeper',
      keepAlive: true,
      // A server that is frozen does not answer a goodbye: nobody waits for it when the program ends.
      allowExitOnIdle: true,
      types,
      ...settings,
    })
    // Without listeners a connection that the server closes, idle or in use, would end the process.
    made.on('error', onError)
    made.on('connect', (client) => void client.on('error', onError))
    return made
  }
  const limits = { query_timeout: queryTimeoutMs, statement_timeout: statementTimeoutMs }
  const pools = {
    // Statements of a transaction may follow each other without waiting for answers.
    writer: pool({ options: writerSettings, pipeline: true, ...limits }),
    reader: pool({ options: readerSettings, ...limits }),
  }
  // A migration may take as long as it takes.
  const migrating = pool({ options: writerSettings, max: 2 })
  const probing = pool({ max: 1, connectionTimeoutMillis: probeTimeoutMs, query_timeout: probeTimeoutMs })
  const health = new DatabaseHealth()
  const abandoned = new AbandonedSessions()
  for (const each of Object.values(pools)) abandoned.watch(each)
  health.listen((isAnswering) => {
    if (isAnswering) for (const each of Object.values(pools)) dropIdle(each)
  })
  const prepared = new NamedStatements()
  return {
    backend: {
      engine: 'postgres',
      hasOneWriter: false,
      health,
      reader: new PostgresReader(pools.reader, prepared, health),
      schema: new Kysely<DatabaseSchema>({ dialect: new PostgresDialect({ pool: migrating }) }),
      transaction: (work) => PostgresTransaction.run({ pool: pools.writer, prepared, health }, work),
      async close() {
        for (const each of [probing, migrating, pools.reader, pools.writer]) await each.end()
      },
    },
    pools,
    watch: () => new PostgresProbe(probing, health, abandoned).start(),
  }
}

/** A connection from before an outage may be dead without a sign: what is sent over it would be lost for ten seconds. */
function dropIdle(pool: pg.Pool): void {
  for (let count = pool.idleCount; count > 0; count--) {
    pool.connect().then(
      (client) => client.release(true),
      () => {},
    )
  }
}
