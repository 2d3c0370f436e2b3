// The database: a reader for everybody, and two doors for those who write.
import { CompiledQuery, type Kysely, sql } from 'kysely'
import type { EventDraft } from '../events/feed.ts'
import type { DatabaseEngine, StatementRunner } from './engine.ts'
import { type DatabaseFailure, databaseFailure, databaseProblemOf } from './errors.ts'
import { GroupCommit } from './group-commit.ts'
import type { DatabaseHealth } from './health.ts'
import type { DatabaseSchema } from './schema.ts'
import type { WriteTarget, WrittenRows } from './written-rows.ts'

export type EngineName = 'sqlite' | 'postgres'

/** Something to run queries on. A plain one cannot write: the engine refuses. */
export class Reader {
  readonly engine: EngineName
  readonly #statements: StatementRunner

  constructor(engine: EngineName, statements: StatementRunner) {
    this.engine = engine
    this.#statements = statements
  }

  get kysely(): Kysely<DatabaseSchema> {
    return this.#statements.kysely
  }

  /** For `query()` and its like: rows of a query that is compiled once. */
  run<R>(query: CompiledQuery<R>, values: readonly unknown[]): R[] | Promise<R[]> {
    return this.#statements.run(query, values)
  }

  /** Told of every statement that writes; the engine refuses those of a plain reader. */
  wrote(_writing: WriteTarget, _values: object): void {}

  /** What a query throws that failed here. */
  failed(error: unknown): unknown {
    const trouble = databaseProblemOf(error)
    return trouble ? databaseFailure(trouble, false) : error
  }
}

/** Inside a transaction an error stays what it is: the transaction decides whether to try again. */
class Writer extends Reader {
  readonly #watched: Watched
  readonly #written: WrittenRows[]

  /** What it writes of tables that somebody watches is added to `written`. */
  constructor(engine: EngineName, statements: StatementRunner, watched: Watched, written: WrittenRows[]) {
    super(engine, statements)
    this.#watched = watched
    this.#written = written
  }

  override wrote(writing: WriteTarget, values: object): void {
    if (this.#watched.has(writing.table)) this.#written.push(writing.of(values))
  }

  override failed(error: unknown): unknown {
    return error
  }
}

/** The handle that writing store functions ask for. Only the audit log's door opens one, and it writes the entry too. */
export class Tx extends Writer {
  readonly audited = true
  /** What is to be told once it has committed. A try that is rolled back takes it along. */
  readonly drafts: EventDraft[] = []
}

/** The handle for what is not audited: samples, presence, last-used times. [contract 5.4.audit] */
export class TelemetryTx extends Writer {
  readonly audited = false
}

/** By table, who wants to know what was written there. */
type Watched = Map<string, ((written: WrittenRows) => void)[]>

export interface DbMetrics {
  transaction(outcome: 'committed' | 'rolled back', seconds: number): void
}

async function changeTable(kysely: Kysely<DatabaseSchema>, statement: string, wait: number): Promise<void> {
  await sql.raw(`set local lock_timeout = ${wait}`).execute(kysely)
  await sql.raw(statement).execute(kysely)
}

const ping = CompiledQuery.raw('select 1')

export class Database extends Reader {
  readonly #backend: DatabaseEngine
  readonly #watched: Watched = new Map()
  readonly #commits = this.#newCommits()
  metrics: DbMetrics = { transaction() {} }

  constructor(backend: DatabaseEngine) {
    super(backend.engine, backend.reader)
    this.#backend = backend
  }

  get health(): DatabaseHealth {
    return this.#backend.health
  }

  /** For the audit log's door alone; the architecture test names it. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    // Where organisations need not wait for each other, each work has a transaction of its own.
    const commits = this.#backend.hasOneWriter ? this.#commits : this.#newCommits()
    return commits.add((on, written) => work(new Tx(this.engine, on, this.#watched, written)))
  }

  /** Shares a commit with whatever else is waiting; resolves when the work is durable. */
  telemetry<T>(work: (telemetry: TelemetryTx) => Promise<T>): Promise<T> {
    return this.#commits.add((on, written) => work(new TelemetryTx(this.engine, on, this.#watched, written)))
  }

  /**
   * PostgreSQL: changes a table outside of everybody's commits, and gives up after `wait` milliseconds if somebody holds it,
   * such as a backup: whoever comes after waits too. True if it was done.
   */
  async reshape(statement: string, wait: number): Promise<boolean> {
    try {
      await this.#backend.transaction(({ kysely }) => changeTable(kysely, statement, wait))
      return true
    } catch (error) {
      const trouble = databaseProblemOf(error)
      if (trouble === 'locked') return false
      throw trouble ? databaseFailure(trouble, true) : error
    }
  }

  /**
   * For whoever keeps what this process read of a table. They are told after the commit, before whoever wrote goes on. Other
   * processes are not heard: commands beside the server must not write to such a table.
   */
  watch(table: keyof DatabaseSchema, listener: (written: WrittenRows) => void): void {
    this.#watched.set(table, [...(this.#watched.get(table) ?? []), listener])
  }

  /** Another process may have written meanwhile. */
  forget(): void {
    this.#tell([...this.#watched.keys()].map((table) => ({ table, org: undefined, where: {} })))
  }

  /** For migrations, which are nobody's change. */
  get schema(): Kysely<DatabaseSchema> {
    return this.#backend.schema
  }

  /** Why the service is not ready; undefined while it is. PostgreSQL is watched all the time, SQLite answers at once. */
  get problem(): DatabaseFailure | undefined {
    if (this.engine === 'postgres') return this.health.problem
    try {
      void this.run(ping, [])
      return this.health.problem
    } catch {
      return databaseFailure('unreachable', false)
    }
  }

  async close(): Promise<void> {
    await this.#commits.idle
    await this.#backend.close()
  }

  #newCommits(): GroupCommit {
    return new GroupCommit({
      transaction: (work) => this.#backend.transaction(work),
      tell: (written) => this.#tell(written),
      note: (outcome, seconds) => this.metrics.transaction(outcome, seconds),
      failed: (trouble) => this.health.writeFailed(trouble),
    })
  }

  #tell(written: readonly WrittenRows[]): void {
    for (const one of written) for (const listener of this.#watched.get(one.table) ?? []) listener(one)
  }
}
