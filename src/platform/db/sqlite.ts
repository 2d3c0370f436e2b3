// SQLite as a Kysely dialect: one connection, statements prepared once, one writer at a time.
import Database from 'better-sqlite3'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'

class SqliteConnection implements DatabaseConnection {
  readonly #db: Database.Database
  readonly #statements = new Map<string, Database.Statement<unknown[]>>()

  constructor(db: Database.Database) {
    this.#db = db
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    let statement = this.#statements.get(sql)
    if (!statement) {
      statement = this.#db.prepare(sql)
      // Our own texts are a few hundred; a query whose text varies must not grow this for ever.
      if (this.#statements.size >= 1000) this.#statements.clear()
      this.#statements.set(sql, statement)
    }
    if (statement.reader) return { rows: statement.all(...parameters) as R[] }
    return { rows: [], numAffectedRows: BigInt(statement.run(...parameters).changes) }
  }

  // biome-ignore lint/correctness/useYield: Kysely asks for it; long results are paged by key instead
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming is not used: page by key')
  }
}

/** Lets one transaction at a time have the connection: the others wait in line. */
class SqliteDriver implements Driver {
  readonly #db: Database.Database
  readonly #connection: SqliteConnection
  readonly #exclusive: boolean
  #free: Promise<void> = Promise.resolve()
  #release: () => void = () => {}

  constructor(db: Database.Database, exclusive: boolean) {
    this.#db = db
    this.#connection = new SqliteConnection(db)
    this.#exclusive = exclusive
  }

  async init() {}

  async acquireConnection() {
    if (this.#exclusive) {
      const before = this.#free
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#free = promise
      await before
      this.#release = resolve
    }
    return this.#connection
  }

  async releaseConnection() {
    this.#release()
  }

  async beginTransaction(connection: DatabaseConnection) {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }

  async commitTransaction(connection: DatabaseConnection) {
    await connection.executeQuery(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(connection: DatabaseConnection) {
    // A full disk makes SQLite roll back by itself.
    if (this.#db.inTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'))
  }

  async destroy() {
    this.#db.close()
  }
}

/** SQLite does roll DDL back, whatever the stock adapter says: a migration is applied whole or not at all. */
class Adapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

const dialect = (driver: Driver): Dialect => ({
  createAdapter: () => new Adapter(),
  createDriver: () => driver,
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
})

/** While the engine waits for another process, nothing else in this one moves: so it waits briefly, and we try again. */
const shortWait = 20

/** A writer and a reader on the same file: the reader cannot write and does not wait for an open transaction. */
export function openSqlite(file: string): { writer: Dialect; reader: Dialect; waitBriefly: () => void } {
  const writer = new Database(file, { timeout: 5000 })
  writer.pragma('journal_mode = WAL')
  writer.pragma('synchronous = FULL')
  writer.pragma('foreign_keys = ON')
  const reader = new Database(file, { readonly: true, timeout: 5000 })
  return {
    writer: dialect(new SqliteDriver(writer, true)),
    reader: dialect(new SqliteDriver(reader, false)),
    waitBriefly: () => void writer.pragma(`busy_timeout = ${shortWait}`),
  }
}
