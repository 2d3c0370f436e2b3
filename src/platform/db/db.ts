// The database: a reader for everybody, and two doors for those who write.
import { type Kysely, sql } from 'kysely'
import { Failure } from '../failure.ts'
import type { Schema } from './schema.ts'

export type Engine = 'sqlite' | 'postgres'

/** Something to run queries on. A plain one cannot write: the engine refuses. */
export class Reader {
  readonly engine: Engine
  readonly kysely: Kysely<Schema>

  constructor(engine: Engine, kysely: Kysely<Schema>) {
    this.engine = engine
    this.kysely = kysely
  }
}

/** The handle that writing store functions ask for. Only `change()` opens one, and it writes the audit entry too. */
export class Tx extends Reader {
  readonly audited = true
}

/** The handle for what is not audited: samples, presence, last-used times. [contract 5.4.audit] */
export class Telemetry extends Reader {
  readonly audited = false
}

export interface DbMetrics {
  transaction(outcome: 'committed' | 'rolled back', seconds: number): void
}

const retries = 3

export class Db extends Reader {
  readonly #writer: Kysely<Schema>
  metrics: DbMetrics = { transaction() {} }

  constructor(engine: Engine, reader: Kysely<Schema>, writer: Kysely<Schema>) {
    super(engine, reader)
    this.#writer = writer
  }

  /** For `change()` alone; the architecture test names it. */
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
    for (let attempt = 1; ; attempt++) {
      const started = performance.now()
      try {
        const result = await this.#writer.transaction().execute(work)
        this.metrics.transaction('committed', (performance.now() - started) / 1000)
        return result
      } catch (error) {
        this.metrics.transaction('rolled back', (performance.now() - started) / 1000)
        const trouble = troubles[(error as { code?: string }).code ?? '']
        if (trouble === undefined) throw error
        if (trouble === 'race' && attempt < retries) continue
        throw trouble === 'race'
          ? new Failure('ABORTED', 'Another write got in the way, and nothing was changed. Send the request again.')
          : new Failure('UNAVAILABLE', `${trouble} Nothing was changed.`, { headers: { 'Retry-After': '5' } })
      }
    }
  }
}

const full = 'The disk of the database is full. Free some space, then send the request again.'
const gone = 'The database cannot be reached. Send the request again in a moment.'
/** Error codes of the engines that are not our mistakes. */
const troubles: Record<string, string> = {
  SQLITE_BUSY: 'race',
  SQLITE_BUSY_SNAPSHOT: 'race',
  '40001': 'race',
  '40P01': 'race',
  SQLITE_FULL: full,
  '53100': full,
  ECONNREFUSED: gone,
  ECONNRESET: gone,
  '57P01': gone,
  '57P03': gone,
  '53300': gone,
}
