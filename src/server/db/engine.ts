// What an engine gives the database: a place for statements that read, and transactions for those that write.
import type { CompiledQuery, Kysely } from 'kysely'
import type { EngineName } from './db.ts'
import type { DatabaseHealth } from './health.ts'
import type { DatabaseSchema } from './schema.ts'

/** Where statements run. */
export interface StatementRunner {
  /** Builds queries, and runs those that are not worth compiling once. */
  readonly kysely: Kysely<DatabaseSchema>
  /** Rows of a query with these values. What is made of a query is kept as long as the query itself: compile it once. */
  run<R>(query: CompiledQuery<R>, values: readonly unknown[]): R[] | Promise<R[]>
}

export type AttemptOutcome<T> = { readonly result: T } | { readonly error: unknown }

export interface EngineTransaction extends StatementRunner {
  /**
   * What the work did is undone if it throws, and nothing else is. Throws if everything is undone. Not there where it would
   * cost more than doing the rest again.
   */
  attempt?<T>(work: () => Promise<T>): Promise<AttemptOutcome<T>>
}

export interface DatabaseEngine {
  readonly engine: EngineName
  /** Writers take turns anyway, so they can just as well share a commit. */
  readonly hasOneWriter: boolean
  readonly health: DatabaseHealth
  /** Cannot write: the engine refuses. */
  readonly reader: StatementRunner
  /** For what is in nobody's transaction, such as migrations. */
  readonly schema: Kysely<DatabaseSchema>
  /** With one writer, the caller sees to it that there is one transaction at a time. */
  transaction<T>(work: (on: EngineTransaction) => Promise<T>): Promise<T>
  close(): Promise<void>
}
