// Opens one long transaction on a database, without the time limits of requests, for work on all of its tables.
import { CompiledQuery, type Kysely, sql } from 'kysely'
import type { Database } from '../db.ts'
import type { EngineName, StatementRunner } from '../engine.ts'
import type { DatabaseSchema } from '../schema/schema.ts'
import type { TableSide } from './table-rows.ts'

export type TransactionSide = TableSide & StatementRunner

/** Everything that `work` reads is of one moment, and what it writes is written completely or not at all. */
export async function inLongTransaction<T>(db: Database, work: (side: TransactionSide) => Promise<T>): Promise<T> {
  return db.schema
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (transaction) => {
      if (db.engine === 'postgres') {
        // One side waits while the other one works.
        await sql`set local idle_in_transaction_session_timeout = 0`.execute(transaction)
      }
      return work(sideOf(transaction, db.engine))
    })
}

/** Reads without a transaction. */
export const withoutTransaction = (db: Database): TransactionSide => sideOf(db.schema, db.engine)

function sideOf(kysely: Kysely<DatabaseSchema>, engine: EngineName): TransactionSide {
  return {
    engine,
    kysely,
    run: async <R>(query: CompiledQuery<R>, values: readonly unknown[]) =>
      (await kysely.executeQuery(CompiledQuery.raw(query.sql, [...values]) as CompiledQuery<R>)).rows,
  }
}
