// Opens PostgreSQL: a pool that writes, one that only reads, and one each for migrations and the probe.
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { type TimeLimits, timeLimits } from '../../core/time-limits.ts'
import type { DatabaseEngine } from '../engine.ts'
import { DatabaseHealth } from '../health.ts'
import type { DatabaseSchema } from '../schema/schema.ts'
import { int8AsNumber } from './int8.ts'
import { NamedStatements } from './named-statements.ts'
import { PostgresProbe } from './probe.ts'
import { PostgresReader } from './reader.ts'
import { AbandonedSessions } from './sessions.ts'
import { PostgresTransaction } from './transaction.ts'

/**
 * A commit is acknowledged only when it is durable, also if the role or the database has another `synchronous_commit`. A session that
 * hangs must not block the writers of an organisation, or use up all connections.
 */
const writerSettings = ({ writeTurnMs, idleTransactionMs }: TimeLimits) =>
  `-c synchronous_commit=on -c lock_timeout=${writeTurnMs} -c idle_in_transaction_session_timeout=${idleTransactionMs}`
const readerSettings = '-c default_transaction_read_only=on'

export interface Postgres {
  readonly backend: DatabaseEngine
  readonly pools: { readonly writer: pg.Pool; readonly reader: pg.Pool }
  /** Watches whether PostgreSQL answers, until the returned function is called. */
  readonly watch: () => () => Promise<void>
}

export interface PostgresOptions {
  readonly applicationName?: string
  readonly limits?: TimeLimits
  readonly onError: (error: Error) => void
}

export function openPostgres(
  url: string,
  { applicationName = 'roomkeeper', limits = timeLimits, onError }: PostgresOptions,
): Postgres {
  const pool = (settings: pg.PoolConfig) => {
    const created = new pg.Pool({
      connectionString: url,
      max: 10,
      // For a connection that is in use, and for a new one.
      connectionTimeoutMillis: limits.databaseConnectMs,
      application_name: applicationName,
      keepAlive: true,
      // A frozen server does not confirm that a connection ends, so the program does not wait for it when it exits.
      allowExitOnIdle: true,
      types: int8AsNumber,
      ...settings,
    })
    // Without listeners, a connection that the server closes would end the process, whether idle or in use.
    created.on('error', onError)
    created.on('connect', (client) => void client.on('error', onError))
    return created
  }
  // PostgreSQL cancels a statement before the driver closes its connection, which a slow server then keeps.
  const ofStatements = { query_timeout: limits.databaseAnswerMs, statement_timeout: limits.databaseStatementMs }
  const pools = {
    // Statements of a transaction are sent without waiting for the results of those before them.
    writer: pool({ options: writerSettings(limits), pipeline: true, ...ofStatements }),
    reader: pool({ options: readerSettings, ...ofStatements }),
  }
  // Migrations have no time limit.
  const migrating = pool({ options: writerSettings(limits), max: 2 })
  // A probe without an answer is given up, and the next one uses a new connection.
  const { databaseProbeMs } = limits
  const probing = pool({ max: 1, connectionTimeoutMillis: databaseProbeMs, query_timeout: databaseProbeMs })
  const health = new DatabaseHealth()
  const abandoned = new AbandonedSessions(probing, health)
  for (const each of Object.values(pools)) abandoned.watch(each)
  health.listen((isAnswering) => {
    if (isAnswering) for (const each of Object.values(pools)) closeIdleConnections(each)
  })
  const prepared = new NamedStatements()
  const writer = { pool: pools.writer, prepared, health, abandoned }
  return {
    backend: {
      engine: 'postgres',
      limits,
      hasOneWriter: false,
      health,
      get waitingReads() {
        return pools.reader.waitingCount
      },
      reader: new PostgresReader(pools.reader, prepared, health),
      schema: new Kysely<DatabaseSchema>({ dialect: new PostgresDialect({ pool: migrating }) }),
      transaction: (work) => PostgresTransaction.run(writer, work),
      async close() {
        for (const each of [probing, migrating, pools.reader, pools.writer]) await each.end()
      },
    },
    pools,
    watch: () => new PostgresProbe(probing, health, abandoned).start(),
  }
}

/** A connection from before an outage may be dead without an error, and a statement on it would time out after ten seconds. */
function closeIdleConnections(pool: pg.Pool): void {
  for (let count = pool.idleCount; count > 0; count--) {
    pool.connect().then(
      (client) => client.release(true),
      () => {},
    )
  }
}
