// Ends sessions of PostgreSQL whose connections this process gave up, so that they cannot commit later.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { databaseProblemOf } from '../errors.ts'
import type { DatabaseHealth } from '../health.ts'

const terminate =
  'select pg_terminate_backend(pid) from pg_stat_activity where pid = any($1) and usename = current_user'

/** With the ten seconds of a statement, a request is answered within twelve. [contract 2.5] */
const maxWaitMs = 1500
/** A session ends soon after it was told to. */
const checkEveryMs = 20

/**
 * A server that was frozen, or was cut off from the network, may find a COMMIT in its socket long after the connection was
 * given up here. A terminated session can no longer commit.
 */
export class AbandonedSessions {
  readonly #pool: pg.Pool
  readonly #health: DatabaseHealth
  readonly #processIds = new WeakMap<pg.ClientBase, number>()
  readonly #abandoned = new Set<number>()
  #ending: Promise<boolean> | undefined

  /** The pool is the one of the probe: the other pools may have no working connection. */
  constructor(pool: pg.Pool, health: DatabaseHealth) {
    this.#pool = pool
    this.#health = health
  }

  /** Records connections of the pool that are released as broken. */
  watch(pool: pg.Pool): void {
    pool.on('connect', (client) => {
      client.query('select pg_backend_pid() as pid', (error: Error | undefined, answer: pg.QueryResult) => {
        if (!error) this.#processIds.set(client, answer.rows[0].pid)
      })
    })
    pool.on('release', (error, client) => {
      if (error) this.#add(client)
    })
  }

  /**
   * Ends the session of a broken connection before its caller is told that the outcome is unknown: the caller reads next, and a
   * COMMIT that arrived after that would make the answer wrong. In an outage there is no need to wait, because nothing is read
   * until all abandoned sessions have ended.
   */
  async endBeforeAnswer(client: pg.ClientBase): Promise<void> {
    const processId = this.#add(client)
    if (processId === undefined) return
    const deadline = performance.now() + maxWaitMs
    while (this.#abandoned.has(processId) && !this.#health.outage && performance.now() < deadline) {
      this.endAll().catch(() => {})
      await sleep(checkEveryMs)
    }
  }

  /** Returns true when no abandoned session is left. */
  endAll(): Promise<boolean> {
    this.#ending ??= this.#terminateAll().finally(() => {
      this.#ending = undefined
    })
    return this.#ending
  }

  #add(client: pg.ClientBase): number | undefined {
    const processId = this.#processIds.get(client)
    if (processId === undefined) return
    this.#processIds.delete(client)
    this.#abandoned.add(processId)
    return processId
  }

  async #terminateAll(): Promise<boolean> {
    if (this.#abandoned.size === 0) return true
    const processIds = [...this.#abandoned]
    try {
      const { rowCount } = await this.#pool.query(terminate, [processIds])
      if (rowCount !== 0) return false
    } catch (error) {
      // If the server does not permit it, the service must not wait for it.
      if (databaseProblemOf(error)) throw error
    }
    for (const processId of processIds) this.#abandoned.delete(processId)
    return true
  }
}
