// The interface of a database engine: it runs reading statements, and transactions for writing ones.
import type { CompiledQuery, Kysely } from 'kysely'
import type { TimeLimits } from '../core/time-limits.ts'
import type { DatabaseHealth } from './health.ts'
import type { DatabaseSchema } from './schema/schema.ts'

export type EngineName = 'sqlite' | 'postgres'

export interface StatementRunner {
  /** Builds queries, and runs those that are too rare to be compiled once. */
  readonly kysely: Kysely<DatabaseSchema>
  /** Runs a compiled query with these values. Prepared statements live as long as the query object, so compile it once. */
  run<R>(query: CompiledQuery<R>, values: readonly unknown[]): R[] | Promise<R[]>
}

export type AttemptOutcome<T> = { readonly result: T } | { readonly error: unknown }

export interface EngineTransaction extends StatementRunner {
  /**
   * Runs one work inside a savepoint: if it throws, only its own statements are undone. Throws if the whole transaction was
   * undone. Absent where savepoints cost more than running the other works again.
   */
  attempt?<T>(work: () => Promise<T>): Promise<AttemptOutcome<T>>
}

export interface DatabaseEngine {
  readonly engine: EngineName
  readonly limits: TimeLimits
  /** True if the engine allows one writer at a time, so that waiting writers can share a commit. */
  readonly hasOneWriter: boolean
  readonly health: DatabaseHealth
  /** How many reads wait for a connection. */
  readonly waitingReads: number
  /** The engine refuses statements that write here. */
  readonly reader: StatementRunner
  /** For statements outside of every transaction, such as migrations. */
  readonly schema: Kysely<DatabaseSchema>
  /** With one writer, the caller makes sure that only one transaction runs at a time. */
  transaction<T>(work: (on: EngineTransaction) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface DatabaseMetrics {
  transaction(outcome: 'committed' | 'rolled back', seconds: number): void
}
