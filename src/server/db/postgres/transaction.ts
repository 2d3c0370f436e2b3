// A transaction on PostgreSQL, which pipelines statements: those that return no rows are not awaited before the commit.
import type { CompiledQuery, Kysely } from 'kysely'
import type pg from 'pg'
import type { EngineTransaction } from '../engine.ts'
import { DatabaseUnreachable, databaseProblemOf } from '../errors.ts'
import type { DatabaseHealth } from '../health.ts'
import type { DatabaseSchema } from '../schema/schema.ts'
import { kyselyOn } from './kysely.ts'
import type { NamedStatement, NamedStatements, QueryCallback, QueryResult } from './named-statements.ts'
import type { AbandonedSessions } from './sessions.ts'

interface PostgresWriter {
  /** Its connections must have the option `pipeline`. */
  readonly pool: pg.Pool
  readonly prepared: NamedStatements
  readonly health: DatabaseHealth
  readonly abandoned: AbandonedSessions
}

export class PostgresTransaction implements EngineTransaction {
  readonly #client: pg.PoolClient
  readonly #prepared: NamedStatements
  readonly #health: DatabaseHealth
  #kysely: Kysely<DatabaseSchema> | undefined
  #isBegun = false
  #isCommitSent = false
  /** The first error. PostgreSQL refuses all later statements of the transaction because of it. */
  #failure: Error | undefined

  private constructor(client: pg.PoolClient, { prepared, health }: PostgresWriter) {
    this.#client = client
    this.#prepared = prepared
    this.#health = health
  }

  static async run<T>(writer: PostgresWriter, work: (on: EngineTransaction) => Promise<T>): Promise<T> {
    if (writer.health.outage) throw new DatabaseUnreachable()
    const client = await writer.pool.connect().catch((error) => {
      throw withoutCommit(error)
    })
    const transaction = new PostgresTransaction(client, writer)
    let isBroken = false
    try {
      const result = await work(transaction)
      await transaction.#commit()
      return result
    } catch (error) {
      isBroken = !(await transaction.#isRolledBack())
      if (isBroken) await writer.abandoned.endBeforeAnswer(client)
      throw transaction.#isCommitSent ? error : withoutCommit(error)
    } finally {
      client.release(isBroken)
    }
  }

  get kysely(): Kysely<DatabaseSchema> {
    this.#kysely ??= kyselyOn((text, values) =>
      this.#send((done) => this.#client.query({ text, values: [...values] }, done)),
    )
    return this.#kysely
  }

  run<R>(query: CompiledQuery<R>, values: readonly unknown[]): R[] | Promise<R[]> {
    const statement = this.#prepared.of(query)
    if (!statement.returnsNoRows) return this.#rows(statement, values)
    // An earlier failure is reported now, not only at the commit.
    if (this.#failure) throw this.#failure
    this.#begin()
    statement.send(this.#client, values, this.#noteFailure)
    return []
  }

  async #rows<R>(statement: NamedStatement, values: readonly unknown[]): Promise<R[]> {
    try {
      return (await this.#send((done) => statement.send(this.#client, values, done))).rows as R[]
    } catch (error) {
      // The stack then names the caller, and not only the socket that received the error.
      Error.captureStackTrace(error as Error)
      throw error
    }
  }

  #send(query: (done: QueryCallback) => void): Promise<QueryResult> {
    this.#begin()
    return new Promise((resolve, reject) => {
      query((error, result) => {
        this.#noteFailure(error)
        if (error) return reject(this.#failure)
        this.#health.answers++
        resolve(result)
      })
    })
  }

  readonly #noteFailure = (error: Error | undefined): void => {
    if (error) this.#failure ??= error
  }

  #begin(): void {
    if (this.#isBegun) return
    this.#isBegun = true
    this.#client.query('begin', this.#noteFailure)
  }

  async #commit(): Promise<void> {
    if (!this.#isBegun) return
    // An error of the driver has not ended the transaction on the server, so a commit would commit the other statements.
    if (this.#failure) throw this.#failure
    this.#isCommitSent = true
    const { command } = await this.#send((done) => this.#client.query('commit', done))
    if (this.#failure) throw this.#failure
    if (command === 'ROLLBACK') throw new Error('the transaction was rolled back: a statement in it had failed')
  }

  async #isRolledBack(): Promise<boolean> {
    if (!this.#isBegun) return true
    // The connection is lost, so PostgreSQL rolls the transaction back by itself.
    if (databaseProblemOf(this.#failure ?? {}) === 'gone') return false
    try {
      await this.#send((done) => this.#client.query('rollback', done))
      return true
    } catch {
      return false
    }
  }
}

/** PostgreSQL rolls back a transaction whose connection ends without a COMMIT. */
const withoutCommit = (error: unknown): unknown =>
  databaseProblemOf(error) === 'gone' ? new DatabaseUnreachable(error) : error
