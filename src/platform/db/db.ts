// The database: a reader for everybody, and two doors for those who write.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Schema } from './schema.ts'
import { failureOf, troubleOf } from './trouble.ts'

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

export class Db extends Reader {
  readonly #writer: Kysely<Schema>
  metrics: DbMetrics = { transaction() {} }

  constructor(engine: Engine, reader: Kysely<Schema>, writer: Kysely<Schema>) {
    super(engine, reader)
    this.#writer = writer
  }

  /** For the audit log's door alone; the architecture test names it. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#write((kysely) => work(new Tx(this.engine, kysely)))
  }

  telemetry<T>(work: (telemetry: Telemetry) => Promise<T>): Promise<T> {
    return this.#write((kysely) => work(new Telemetry(this.engine, kysely)))
  }

  /** For migrations, which are nobody's change. */
  get schema(): Kysely<Schema> {
    return this.#writer
  }

  async ping(): Promise<void> {
    await sql`select 1`.execute(this.kysely)
  }

  async close(): Promise<void> {
    await this.kysely.destroy()
    await this.#writer.destroy()
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
