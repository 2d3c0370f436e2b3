// A transaction of PostgreSQL: nobody waits for what brings no rows; it is sent with what follows, at the latest with the commit.
import type { CompiledQuery, Kysely } from 'kysely'
import type pg from 'pg'
import type { EngineTransaction } from '../engine.ts'
import { DatabaseUnreachable, databaseProblemOf } from '../errors.ts'
import type { DatabaseHealth } from '../health.ts'
import type { DatabaseSchema } from '../schema.ts'
import { kyselyOn } from './kysely.ts'
import type { NamedStatement, NamedStatements, QueryCallback, QueryResult } from './named-statements.ts'

/** The driver does not tell its types about it. */
interface Wired {
  readonly connection: { readonly stream: { cork(): void; uncork(): void } }
}

interface Setting {
  readonly pool: pg.Pool
  readonly prepared: NamedStatements
  readonly health: DatabaseHealth
}

export class PostgresTransaction implements EngineTransaction {
  readonly #client: pg.PoolClient
  readonly #prepared: NamedStatements
  readonly #health: DatabaseHealth
  #kysely: Kysely<DatabaseSchema> | undefined
  #isBegun = false
  #isGathering = false
  /** Whatever fails after it fails because of it. */
  #failure: Error | undefined

  private constructor(client: pg.PoolClient, { prepared, health }: Setting) {
    this.#client = client
    this.#prepared = prepared
    this.#health = health
  }

  static async run<T>(setting: Setting, work: (on: EngineTransaction) => Promise<T>): Promise<T> {
    if (setting.health.outage) throw new DatabaseUnreachable()
    const client = await setting.pool.connect()
    const transaction = new PostgresTransaction(client, setting)
    let isBroken = false
    try {
      const result = await work(transaction)
      await transaction.#commit()
      return result
    } catch (error) {
      isBroken = !(await transaction.#isRolledBack())
      throw error
    } finally {
      client.release(isBroken)
    }
  }

  get kysely(): Kysely<DatabaseSchema> {
    this.#kysely ??= kyselyOn((text, values) =>
      this.#answer((done) => this.#client.query(text, values as unknown[], done)),
    )
    return this.#kysely
  }

  run<R>(query: CompiledQuery<R>, values: readonly unknown[]): R[] | Promise<R[]> {
    const statement = this.#prepared.of(query)
    if (!statement.isSilent) return this.#rows(statement, values)
    // What went wrong already is told at once, and not only when everything else was tried.
    if (this.#failure) throw this.#failure
    this.#begin()
    statement.ask(this.#client, values, this.#noted)
    return []
  }

  async #rows<R>(statement: NamedStatement, values: readonly unknown[]): Promise<R[]> {
    try {
      return (await this.#answer((done) => statement.ask(this.#client, values, done))).rows as R[]
    } catch (error) {
      // So that it names who asked, and not only the socket that the answer came from.
      Error.captureStackTrace(error as Error)
      throw error
    }
  }

  #answer(ask: (done: QueryCallback) => void): Promise<QueryResult> {
    this.#begin()
    return new Promise((resolve, reject) => {
      ask((error, answer) => {
        this.#noted(error)
        if (error) return reject(this.#failure)
        this.#health.answers++
        resolve(answer)
      })
    })
  }

  readonly #noted = (error: Error | undefined): void => {
    if (error) this.#failure ??= error
  }

  #begin(): void {
    this.#gather()
    if (this.#isBegun) return
    this.#isBegun = true
    this.#client.query('begin', this.#noted)
  }

  /** Whatever is asked before somebody has to wait goes out in one piece. */
  #gather(): void {
    if (this.#isGathering) return
    this.#isGathering = true
    const { stream } = (this.#client as unknown as Wired).connection
    stream.cork()
    process.nextTick(() => {
      this.#isGathering = false
      stream.uncork()
    })
  }

  async #commit(): Promise<void> {
    if (!this.#isBegun) return
    // What failed here, and not at the server, has not ended the transaction there.
    if (this.#failure) throw this.#failure
    const { command } = await this.#answer((done) => this.#client.query('commit', done))
    if (this.#failure) throw this.#failure
    if (command === 'ROLLBACK') throw new Error('the transaction was rolled back: a statement in it had failed')
  }

  async #isRolledBack(): Promise<boolean> {
    if (!this.#isBegun) return true
    // Nobody would answer: the connection is given up, and PostgreSQL rolls back what was not committed.
    if (databaseProblemOf(this.#failure ?? {}) === 'gone') return false
    try {
      await this.#answer((done) => this.#client.query('rollback', done))
      return true
    } catch {
      return false
    }
  }
}
