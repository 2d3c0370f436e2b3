// SQLite: a connection that writes, one that reads during transactions, and statements that are prepared once.
import { setImmediate as immediate } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { type CompiledQuery, type DatabaseConnection, Kysely, SqliteAdapter, SqliteDialect, SqliteDriver } from 'kysely'
import { type TimeLimits, timeLimits } from '../../core/time-limits.ts'
import type { AttemptOutcome, DatabaseEngine, EngineTransaction, StatementRunner } from '../engine.ts'
import { DatabaseHealth } from '../health.ts'
import type { DatabaseSchema } from '../schema/schema.ts'
import { statementObserver } from '../statement-observer.ts'

type Values = readonly unknown[]

class Connection implements StatementRunner {
  readonly kysely: Kysely<DatabaseSchema>
  readonly #db: Database.Database
  readonly #mayWrite: boolean
  readonly #prepared = new WeakMap<CompiledQuery, (values: Values) => unknown[]>()

  constructor(db: Database.Database, { mayWrite }: { readonly mayWrite: boolean }) {
    this.#db = db
    this.#mayWrite = mayWrite
    this.kysely = new Kysely<DatabaseSchema>({ dialect: new Dialect(db) })
  }

  /** Does not use Kysely's executor, which costs more than most statements. */
  run<R>(query: CompiledQuery<R>, values: Values): R[] | Promise<R[]> {
    let prepared = this.#prepared.get(query)
    if (!prepared) {
      prepared = this.#prepare(query)
      this.#prepared.set(query, prepared)
    }
    return prepared(values) as R[]
  }

  #prepare(query: CompiledQuery): (values: Values) => unknown[] {
    const statement = this.#db.prepare<Values>(query.sql)
    if (!this.#mayWrite && !(statement.readonly && statement.reader)) {
      throw new Error(`A reader is read-only, and this statement does not only read: ${query.sql}`)
    }
    const observer = statementObserver
    if (statement.reader) {
      if (!observer) return (values) => statement.all(values)
      return (values) => {
        const rows = statement.all(values)
        observer.ran(query, rows.length)
        return rows
      }
    }
    if (!observer) {
      return (values) => {
        statement.run(values)
        return []
      }
    }
    // The changes that `run` returns leave out rows that a trigger writes, and a trigger inserts new messages.
    const totalChanges = this.#db.prepare<[], number>('select total_changes()').pluck()
    return (values) => {
      const before = totalChanges.get() ?? 0
      statement.run(values)
      observer.ran(query, (totalChanges.get() ?? 0) - before)
      return []
    }
  }
}

/**
 * Reads on the connection that writes, because a commit empties the cache of every other connection, and a read costs more there.
 * During a transaction it reads on a connection of its own, which does not see the transaction.
 */
class Reader implements StatementRunner {
  readonly kysely: Kysely<DatabaseSchema>
  readonly #writing: Database.Database
  readonly #duringTransactions: Connection
  readonly #betweenTransactions: Connection

  constructor(writing: Database.Database, reading: Database.Database) {
    this.#writing = writing
    this.#duringTransactions = new Connection(reading, { mayWrite: false })
    this.#betweenTransactions = new Connection(writing, { mayWrite: false })
    this.kysely = this.#duringTransactions.kysely
  }

  run<R>(query: CompiledQuery<R>, values: Values): R[] | Promise<R[]> {
    const connection = this.#writing.inTransaction ? this.#duringTransactions : this.#betweenTransactions
    return connection.run(query, values)
  }
}

/** A transaction that has blocked the event loop for this long yields. Others can read then, on the other connection. */
const maxTurnMs = 5

class Writer extends Connection implements EngineTransaction {
  readonly #db: Database.Database
  readonly #begin: Database.Statement
  readonly #commit: Database.Statement
  readonly #rollBack: Database.Statement
  readonly #savepoint: Database.Statement
  readonly #release: Database.Statement
  readonly #rollBackToSavepoint: Database.Statement
  #turnStartedAt = 0
  #hasYielded = false

  constructor(db: Database.Database) {
    super(db, { mayWrite: true })
    this.#db = db
    this.#begin = db.prepare('begin immediate')
    this.#commit = db.prepare('commit')
    this.#rollBack = db.prepare('rollback')
    this.#savepoint = db.prepare('savepoint work')
    this.#release = db.prepare('release work')
    this.#rollBackToSavepoint = db.prepare('rollback to work')
  }

  override run<R>(query: CompiledQuery<R>, values: Values): R[] | Promise<R[]> {
    const rows = super.run(query, values)
    return performance.now() - this.#turnStartedAt > maxTurnMs ? this.#yieldTurn().then(() => rows) : rows
  }

  async transaction<T>(work: (on: EngineTransaction) => Promise<T>): Promise<T> {
    this.#turnStartedAt = performance.now()
    this.#hasYielded = false
    this.#begin.run()
    try {
      const result = await work(this)
      // After a long transaction the commit and the caller's response take long too, so each gets its own turn.
      if (this.#hasYielded) await this.#yieldTurn()
      this.#commit.run()
      if (this.#hasYielded) await this.#yieldTurn()
      return result
    } catch (error) {
      // A full disk makes SQLite roll back by itself.
      if (this.#db.inTransaction) this.#rollBack.run()
      throw error
    }
  }

  async #yieldTurn(): Promise<void> {
    await immediate()
    this.#turnStartedAt = performance.now()
    this.#hasYielded = true
  }

  async attempt<T>(work: () => Promise<T>): Promise<AttemptOutcome<T>> {
    this.#savepoint.run()
    try {
      const result = await work()
      this.#release.run()
      return { result }
    } catch (error) {
      if (!this.#db.inTransaction) throw error
      this.#rollBackToSavepoint.run()
      this.#release.run()
      return { error }
    }
  }
}

/** The dialect of migrations, each of which is one transaction. */
class Dialect extends SqliteDialect {
  readonly #db: Database.Database

  constructor(database: Database.Database) {
    super({ database })
    this.#db = database
  }

  override createAdapter(): Adapter {
    return new Adapter()
  }

  override createDriver(): Driver {
    return new Driver(this.#db)
  }
}

/** SQLite rolls DDL back, although Kysely's adapter says otherwise. */
class Adapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

class Driver extends SqliteDriver {
  readonly #db: Database.Database

  constructor(database: Database.Database) {
    super({ database })
    this.#db = database
  }

  /** Kysely's driver begins with a read lock, and would fail if another process writes before the first write. */
  override async beginTransaction(_connection: DatabaseConnection): Promise<void> {
    this.#db.exec('begin immediate')
  }

  override async rollbackTransaction(_connection: DatabaseConnection): Promise<void> {
    if (this.#db.inTransaction) this.#db.exec('rollback')
  }
}

/** SQLite blocks the event loop while it waits for a lock, so the service lets it wait briefly and retries. */
const servingLockTimeoutMs = 20

/** Opens a writer and a reader of the same file. The reader cannot write, and does not wait for an open transaction. */
export function openSqlite(
  file: string,
  limits: TimeLimits = timeLimits,
): { backend: DatabaseEngine; shortenLockTimeout: () => void } {
  const writing = new Database(file, { timeout: limits.fileLockMs })
  writing.pragma('journal_mode = WAL')
  writing.pragma('synchronous = FULL')
  writing.pragma('foreign_keys = ON')
  const reading = new Database(file, { readonly: true, timeout: limits.fileLockMs })
  const writer = new Writer(writing)
  return {
    backend: {
      engine: 'sqlite',
      limits,
      hasOneWriter: true,
      health: new DatabaseHealth(),
      waitingReads: 0,
      reader: new Reader(writing, reading),
      schema: writer.kysely,
      transaction: (work) => writer.transaction(work),
      async close() {
        reading.close()
        writing.close()
      },
    },
    shortenLockTimeout: () => void writing.pragma(`busy_timeout = ${servingLockTimeoutMs}`),
  }
}
