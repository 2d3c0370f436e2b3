// SQLite: a connection that reads and one that writes, and statements that are prepared once.
import { setImmediate as immediate } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { type CompiledQuery, type DatabaseConnection, Kysely, SqliteAdapter, SqliteDialect, SqliteDriver } from 'kysely'
import type { AttemptOutcome, DatabaseEngine, EngineTransaction, StatementRunner } from '../engine.ts'
import { DatabaseHealth } from '../health.ts'
import type { DatabaseSchema } from '../schema.ts'

type Values = readonly unknown[]

class Connection implements StatementRunner {
  readonly kysely: Kysely<DatabaseSchema>
  readonly #db: Database.Database
  readonly #prepared = new WeakMap<CompiledQuery, (values: Values) => unknown[]>()

  constructor(db: Database.Database) {
    this.#db = db
    this.kysely = new Kysely<DatabaseSchema>({ dialect: new Dialect(db) })
  }

  /** Past Kysely's executor: that costs more than most statements. */
  run<R>(query: CompiledQuery<R>, values: Values): R[] | Promise<R[]> {
    let prepared = this.#prepared.get(query)
    if (!prepared) {
      prepared = this.#prepare(query.sql)
      this.#prepared.set(query, prepared)
    }
    return prepared(values) as R[]
  }

  #prepare(text: string): (values: Values) => unknown[] {
    const statement = this.#db.prepare<Values>(text)
    if (statement.reader) return (values) => statement.all(values)
    return (values) => {
      statement.run(values)
      return []
    }
  }
}

/** A transaction that has held the event loop for this long lets others have a turn. They can read: that is another connection. */
const longestTurnMs = 5

class Writer extends Connection implements EngineTransaction {
  readonly #db: Database.Database
  readonly #begin: Database.Statement
  readonly #commit: Database.Statement
  readonly #rollBack: Database.Statement
  readonly #mark: Database.Statement
  readonly #keep: Database.Statement
  readonly #undo: Database.Statement
  #turnSince = 0
  #hasYielded = false

  constructor(db: Database.Database) {
    super(db)
    this.#db = db
    this.#begin = db.prepare('begin immediate')
    this.#commit = db.prepare('commit')
    this.#rollBack = db.prepare('rollback')
    this.#mark = db.prepare('savepoint work')
    this.#keep = db.prepare('release work')
    this.#undo = db.prepare('rollback to work')
  }

  override run<R>(query: CompiledQuery<R>, values: Values): R[] | Promise<R[]> {
    const rows = super.run(query, values)
    return performance.now() - this.#turnSince > longestTurnMs ? this.#letOthersRun().then(() => rows) : rows
  }

  async transaction<T>(work: (on: EngineTransaction) => Promise<T>): Promise<T> {
    this.#turnSince = performance.now()
    this.#hasYielded = false
    this.#begin.run()
    try {
      const result = await work(this)
      // A long transaction takes long to commit, and its caller long to answer: each gets a turn of its own.
      if (this.#hasYielded) await this.#letOthersRun()
      this.#commit.run()
      if (this.#hasYielded) await this.#letOthersRun()
      return result
    } catch (error) {
      // A full disk makes SQLite roll back by itself.
      if (this.#db.inTransaction) this.#rollBack.run()
      throw error
    }
  }

  async #letOthersRun(): Promise<void> {
    await immediate()
    this.#turnSince = performance.now()
    this.#hasYielded = true
  }

  async attempt<T>(work: () => Promise<T>): Promise<AttemptOutcome<T>> {
    this.#mark.run()
    try {
      const result = await work()
      this.#keep.run()
      return { result }
    } catch (error) {
      if (!this.#db.inTransaction) throw error
      this.#undo.run()
      this.#keep.run()
      return { error }
    }
  }
}

/** For migrations, which are applied whole or not at all. */
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

/** SQLite does roll DDL back, whatever the stock adapter says. */
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

  /** The stock driver would first read, and then find that somebody else wrote. */
  override async beginTransaction(_connection: DatabaseConnection): Promise<void> {
    this.#db.exec('begin immediate')
  }

  override async rollbackTransaction(_connection: DatabaseConnection): Promise<void> {
    if (this.#db.inTransaction) this.#db.exec('rollback')
  }
}

/** While the engine waits for another process, nothing else in this one moves: so it waits briefly, and we try again. */
const shortWait = 20

/** A writer and a reader on the same file: the reader cannot write and does not wait for an open transaction. */
export function openSqlite(file: string): { backend: DatabaseEngine; waitBriefly: () => void } {
  const writing = new Database(file, { timeout: 5000 })
  writing.pragma('journal_mode = WAL')
  writing.pragma('synchronous = FULL')
  writing.pragma('foreign_keys = ON')
  const reading = new Database(file, { readonly: true, timeout: 5000 })
  const writer = new Writer(writing)
  return {
    backend: {
      engine: 'sqlite',
      hasOneWriter: true,
      health: new DatabaseHealth(),
      reader: new Connection(reading),
      schema: writer.kysely,
      transaction: (work) => writer.transaction(work),
      async close() {
        reading.close()
        writing.close()
      },
    },
    waitBriefly: () => void writing.pragma(`busy_timeout = ${shortWait}`),
  }
}
