// Runs reading statements on PostgreSQL, and repeats them when a connection was lost: reading twice does no harm.
import type { CompiledQuery } from 'kysely'
import type pg from 'pg'
import type { StatementRunner } from '../engine.ts'
import { DatabaseUnreachable, databaseProblemOf } from '../errors.ts'
import type { DatabaseHealth } from '../health.ts'
import { kyselyOn } from './kysely.ts'
import type { NamedStatements, QueryCallback, QueryResult } from './named-statements.ts'

/** A statement that ran longer is not repeated, because an administrator may have ended it on purpose. */
const repeatableForMs = 1000

export class PostgresReader implements StatementRunner {
  readonly #pool: pg.Pool
  readonly #prepared: NamedStatements
  readonly #health: DatabaseHealth
  readonly kysely = kyselyOn((text, values) => {
    // Each statement may run on another connection.
    if (/^(begin|start)\b/i.test(text)) throw new Error('a reader has no transactions')
    return this.#send((client, done) => client.query({ text, values: [...values] }, done))
  })

  constructor(pool: pg.Pool, prepared: NamedStatements, health: DatabaseHealth) {
    this.#pool = pool
    this.#prepared = prepared
    this.#health = health
  }

  async run<R>(query: CompiledQuery<R>, values: readonly unknown[]): Promise<R[]> {
    const statement = this.#prepared.of(query)
    return (await this.#send((client, done) => statement.send(client, values, done))).rows as R[]
  }

  async #send(query: (client: pg.PoolClient, done: QueryCallback) => void): Promise<QueryResult> {
    // All idle connections may be lost, as after a restart of PostgreSQL. The try after them gets a new connection.
    for (let triesLeft = this.#pool.options.max; ; triesLeft--) {
      if (this.#health.outage) throw new DatabaseUnreachable()
      const client = await this.#pool.connect()
      const sentAt = performance.now()
      let isLost = false
      try {
        return await new Promise<QueryResult>((resolve, reject) => {
          query(client, (error, result) => {
            if (error) return reject(error)
            this.#health.answers++
            resolve(result)
          })
        })
      } catch (error) {
        isLost = isOfLostConnection(error)
        const isRepeatable = performance.now() - sentAt <= repeatableForMs
        if (isLost && isRepeatable && triesLeft > 0 && !this.#pool.ending) continue
        // The stack then names the caller, and not only the socket that received the error.
        Error.captureStackTrace(error as Error)
        throw error
      } finally {
        // The pool would give out a lost connection until its socket closes.
        client.release(isLost)
      }
    }
  }
}

/** Code 25006 refuses a write, and leaves the connection usable. */
const isOfLostConnection = (error: unknown): boolean =>
  databaseProblemOf(error) === 'gone' && (error as { code?: string }).code !== '25006'
