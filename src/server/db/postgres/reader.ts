// The reading side of PostgreSQL: whatever is asked may be asked again, so a connection that was lost is nobody's trouble.
import type { CompiledQuery } from 'kysely'
import type pg from 'pg'
import type { StatementRunner } from '../engine.ts'
import { DatabaseUnreachable, databaseProblemOf } from '../errors.ts'
import type { DatabaseHealth } from '../health.ts'
import { kyselyOn } from './kysely.ts'
import type { NamedStatements, QueryCallback, QueryResult } from './named-statements.ts'

/** Milliseconds. Who ends a statement that ran longer may have meant it: it is not asked again. */
const askedAgainWithin = 1000

export class PostgresReader implements StatementRunner {
  readonly #pool: pg.Pool
  readonly #prepared: NamedStatements
  readonly #health: DatabaseHealth
  readonly kysely = kyselyOn((text, values) => {
    // Every statement has a connection of its own.
    if (/^(begin|start)\b/i.test(text)) throw new Error('a reader has no transactions')
    return this.#ask((client, done) => client.query(text, values as unknown[], done as never))
  })

  constructor(pool: pg.Pool, prepared: NamedStatements, health: DatabaseHealth) {
    this.#pool = pool
    this.#prepared = prepared
    this.#health = health
  }

  async run<R>(query: CompiledQuery<R>, values: readonly unknown[]): Promise<R[]> {
    const statement = this.#prepared.of(query)
    return (await this.#ask((client, done) => statement.ask(client, values, done))).rows as R[]
  }

  async #ask(send: (client: pg.PoolClient, done: QueryCallback) => void): Promise<QueryResult> {
    // All that were idle may be lost, as after a restart of the server; what comes after them is a new one.
    for (let triesLeft = this.#pool.options.max; ; triesLeft--) {
      if (this.#health.outage) throw new DatabaseUnreachable()
      const client = await this.#pool.connect()
      const askedAt = performance.now()
      let isLost = false
      try {
        return await new Promise<QueryResult>((resolve, reject) => {
          send(client, (error, answer) => {
            if (error) return reject(error)
            this.#health.answers++
            resolve(answer)
          })
        })
      } catch (error) {
        isLost = isOfLostConnection(error)
        const isLate = performance.now() - askedAt > askedAgainWithin
        if (isLost && !isLate && triesLeft > 0 && !this.#pool.ending) continue
        // So that it names who asked, and not only the socket that the answer came from.
        Error.captureStackTrace(error as Error)
        throw error
      } finally {
        // The pool hears of it only when the socket closes, and would give it to the next one until then.
        client.release(isLost)
      }
    }
  }
}

/** Not 25006, which refuses a write: that connection is as good as before. */
const isOfLostConnection = (error: unknown): boolean =>
  databaseProblemOf(error) === 'gone' && (error as { code?: string }).code !== '25006'
