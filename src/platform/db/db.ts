// The database: a reader for everybody, and two doors for those who write.
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Draft } from '../feed.ts'
import type { Schema } from './schema.ts'
import { DatabaseFailure, failureOf, troubleOf } from './trouble.ts'

export type Engine = 'sqlite' | 'postgres'

/** Something to run queries on. A plain one cannot write: the engine refuses. */
export class Reader {
  readonly engine: Engine
  readonly kysely: Kysely<Schema>

  constructor(engine: Engine, kysely: Kysely<Schema>) {
    this.engine = engine
    this.kysely = kysely
  }

  /** What a query throws that failed here. */
  failed(error: unknown): unknown {
    const trouble = troubleOf(error)
    return trouble ? failureOf(trouble, false) : error
  }
}

/** Inside a transaction an error stays what it is: the transaction decides whether to try again. */
class Writer extends Reader {
  override failed(error: unknown): unknown {
    return error
  }
}

/** The handle that writing store functions ask for. Only the audit log's door opens one, and it writes the entry too. */
export class Tx extends Writer {
  readonly audited = true
  /** What is to be told once it has committed. A try that is rolled back takes it along. */
  readonly announced: Draft[] = []
}

/** The handle for what is not audited: samples, presence, last-used times. [contract 5.4.audit] */
export class Telemetry extends Writer {
  readonly audited = false
}

export interface DbMetrics {
  transaction(outcome: 'committed' | 'rolled back', seconds: number): void
}

/** How long a write waits for others before it gives up, and how long between two tries. */
const patience = 5_000
const pause = () => 5 + Math.random() * 20

/** How many unaudited works share a commit at most. */
const largestGroup = 500
/** And for how long, in milliseconds: on SQLite nothing else runs meanwhile. */
const longestGroup = 10

interface Waiting {
  readonly work: (telemetry: Telemetry) => Promise<unknown>
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

export class Db extends Reader {
  readonly #writer: Kysely<Schema>
  readonly #waiting: Waiting[] = []
  #committing: Promise<void> | undefined
  metrics: DbMetrics = { transaction() {} }

  constructor(engine: Engine, reader: Kysely<Schema>, writer: Kysely<Schema>) {
    super(engine, reader)
    this.#writer = writer
  }

  /** For the audit log's door alone; the architecture test names it. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#write((kysely) => work(new Tx(this.engine, kysely)))
  }

  /**
   * Group commit: works that arrive while another commit is under way share the next one. The promise resolves when
   * its work is durable. A work may run twice, so it must not remember anything of its first run.
   */
  telemetry<T>(work: (telemetry: Telemetry) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject })
      this.#committing ??= this.#commitGroups()
    })
  }

  /**
   * PostgreSQL: changes a table outside of everybody's commits, and gives up after `wait` milliseconds if somebody holds it,
   * such as a backup: whoever comes after waits too. True if it was done.
   */
  async reshape(statement: string, wait: number): Promise<boolean> {
    try {
      await this.#writer.transaction().execute(async (kysely) => {
        await sql.raw(`set local lock_timeout = ${wait}`).execute(kysely)
        await sql.raw(statement).execute(kysely)
      })
      return true
    } catch (error) {
      const trouble = troubleOf(error)
      if (trouble === 'locked') return false
      throw trouble ? failureOf(trouble, true) : error
    }
  }

  /** For migrations, which are nobody's change. */
  get schema(): Kysely<Schema> {
    return this.#writer
  }

  async ping(): Promise<void> {
    await sql`select 1`.execute(this.kysely)
  }

  async close(): Promise<void> {
    await this.#committing
    await this.kysely.destroy()
    await this.#writer.destroy()
  }

  async #commitGroups(): Promise<void> {
    // Whoever writes in the same turn of the event loop comes along.
    await immediate()
    while (this.#waiting.length > 0) {
      await this.#commit(this.#waiting.splice(0, largestGroup))
      await immediate()
    }
    this.#committing = undefined
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#write(async (kysely) => {
        const telemetry = new Telemetry(this.engine, kysely)
        const started = performance.now()
        const done: unknown[] = []
        for (const { work } of group) {
          done.push(await work(telemetry))
          if (performance.now() - started > longestGroup) break
        }
        return done
      })
      this.#waiting.unshift(...group.slice(results.length))
      for (const [i, result] of results.entries()) group[i]?.resolve(result as never)
    } catch (error) {
      // Trouble of the database is everybody's; a mistake in one work is its own.
      if (group.length === 1 || error instanceof DatabaseFailure) for (const { reject } of group) reject(error)
      else for (const waiting of group) await this.#commit([waiting])
    }
  }

  async #write<T>(work: (kysely: Kysely<Schema>) => Promise<T>): Promise<T> {
    const started = performance.now()
    for (;;) {
      try {
        const result = await this.#writer.transaction().execute(work)
        this.metrics.transaction('committed', (performance.now() - started) / 1000)
        return result
      } catch (error) {
        const trouble = troubleOf(error)
        // Waiting is awaited here, never in the engine: there it would hold up everybody.
        if (trouble === 'race' && performance.now() - started < patience) {
          await sleep(pause())
          continue
        }
        this.metrics.transaction('rolled back', (performance.now() - started) / 1000)
        throw trouble ? failureOf(trouble, true) : error
      }
    }
  }
}
