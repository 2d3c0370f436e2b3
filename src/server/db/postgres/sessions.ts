// Ends sessions of PostgreSQL whose connections this process gave up, so that they cannot commit later.
import type pg from 'pg'
import { databaseProblemOf } from '../errors.ts'

const terminate =
  'select pg_terminate_backend(pid) from pg_stat_activity where pid = any($1) and usename = current_user'

/**
 * A server that was frozen, or was cut off from the network, may find a COMMIT in its socket long after the connection was
 * given up here. A terminated session can no longer commit.
 */
export class AbandonedSessions {
  readonly #processIds = new WeakMap<pg.ClientBase, number>()
  readonly #abandoned = new Set<number>()

  /** Records connections of the pool that are released as broken. */
  watch(pool: pg.Pool): void {
    pool.on('connect', (client) => {
      client.query('select pg_backend_pid() as pid', (error: Error | undefined, answer: pg.QueryResult) => {
        if (!error) this.#processIds.set(client, answer.rows[0].pid)
      })
    })
    pool.on('release', (error, client) => {
      const processId = this.#processIds.get(client)
      if (error && processId !== undefined) this.#abandoned.add(processId)
    })
  }

  /** Returns true when no abandoned session is left. */
  async end(pool: pg.Pool): Promise<boolean> {
    if (this.#abandoned.size === 0) return true
    const processIds = [...this.#abandoned]
    try {
      const { rowCount } = await pool.query(terminate, [processIds])
      if (rowCount !== 0) return false
    } catch (error) {
      // If the server does not permit it, the service must not wait for it.
      if (databaseProblemOf(error)) throw error
    }
    for (const processId of processIds) this.#abandoned.delete(processId)
    return true
  }
}
