// The database of the process: creates handles, runs transactions, and notifies caches of written rows.
import { CompiledQuery, type Kysely, sql } from 'kysely'
import { ConcurrencyLimiter } from '../core/concurrency-limiter.ts'
import { RegionAccess } from '../core/region-access.ts'
import type { DatabaseEngine, DatabaseMetrics, EngineName, EngineTransaction } from './engine.ts'
import { type DatabaseFailure, databaseFailure, databaseProblemOf } from './errors.ts'
import { type CommitFence, type CommitListener, type CommitLog, GroupCommit, newCommitLog } from './group-commit.ts'
import type { WriteLog } from './handles.ts'
import type { DatabaseHealth } from './health.ts'
import { OrgDatabase } from './org-database.ts'
import type { DatabaseSchema } from './schema/schema.ts'
import { SystemReader, SystemTx } from './system.ts'
import { WantedMessages } from './wanted-messages.ts'
import type { WrittenRows } from './written-rows.ts'

/** Runs first in a transaction, and refuses it by throwing. */
export type CommitCheck = (tx: SystemTx) => Promise<void>

type WriteListener = (written: WrittenRows) => void

const ping = CompiledQuery.raw('select 1')

/** So many changes of an organisation may prepare something at the same time. Each holds a connection. */
const maxPreparedChanges = 3
/** Margin after its limit within which a change that waits for a lock is refused. */
const refusalMs = 1_000

export class Database {
  readonly engine: EngineName
  /** Reads rows that belong to no organisation. */
  readonly system: SystemReader
  readonly #engine: DatabaseEngine
  /** The database that this one is a view of, or itself. */
  readonly #root: Database
  readonly #check: CommitCheck | undefined
  readonly #listeners: Map<string, WriteListener[]>
  readonly #orgs = new Map<number, OrgDatabase>()
  /** Unaudited writes share these commits; on SQLite, audited writes do too. */
  readonly #sharedCommits: GroupCommit
  readonly #commitListeners: CommitListener[] = []
  /**
   * Lets one audited change of an organisation run at a time, on PostgreSQL. The others wait here, where they hold no connection, and
   * not for the lock on the head of the audit log. Changes that prepare something before they take that lock have a queue of their own.
   */
  readonly #changeQueue: ConcurrencyLimiter<number>
  readonly #preparedChangeQueue: ConcurrencyLimiter<number>
  metrics: DatabaseMetrics = { transaction() {} }
  /** On PostgreSQL, set when this process has become a node: all unaudited commits pass it from then on. */
  fence: CommitFence | undefined

  constructor(engine: DatabaseEngine, guard?: { readonly root: Database; readonly check: CommitCheck }) {
    this.engine = engine.engine
    this.#engine = engine
    this.#root = guard?.root ?? this
    this.#check = guard?.check
    this.#listeners = guard ? guard.root.#listeners : new Map()
    this.system = new SystemReader(engine.engine, engine.reader)
    const { writeTurnMs: maxMs } = engine.limits
    const refusal = () => {
      this.metrics.transaction('rolled back', maxMs / 1000)
      return databaseFailure(engine.health.outage ? 'unreachable' : 'locked', true)
    }
    const newQueue = (maxRunning: number) =>
      new ConcurrencyLimiter<number>({ maxRunning, wait: { maxMs, refusal }, maxRunMs: maxMs + refusalMs })
    this.#changeQueue = guard ? guard.root.#changeQueue : newQueue(1)
    this.#preparedChangeQueue = guard ? guard.root.#preparedChangeQueue : newQueue(maxPreparedChanges)
    this.#sharedCommits = guard ? guard.root.#sharedCommits : this.#newGroupCommit(() => this.fence)
  }

  /** A view of this database in whose transactions the check runs first. Commits are shared with those of this one. */
  guardedBy(check: CommitCheck): Database {
    return new Database(this.#engine, { root: this.#root, check })
  }

  /** The part of the database that belongs to one organisation, all of it. Work for a caller uses its `seenBy`. */
  forOrg(org: number): OrgDatabase {
    let database = this.#orgs.get(org)
    if (!database) {
      database = new OrgDatabase({ org, access: RegionAccess.everything }, this.#engine, {
        audited: this.#engine.hasOneWriter ? () => this.#sharedCommits : () => this.#newGroupCommit(),
        runInTurn: (work, isPrepared) => {
          if (this.#engine.hasOneWriter) return work()
          return (isPrepared ? this.#preparedChangeQueue : this.#changeQueue).run(org, work)
        },
        separate: () => this.#separateCommit(),
        unaudited: () => this.#sharedCommits,
        logInto: (log) => this.#writeLog(log),
        checked: (on, work) => this.#checked(on, work),
        wantedMessages: new WantedMessages(),
      })
      this.#orgs.set(org, database)
    }
    return database
  }

  /** Writes rows of any organisation or of none, without an audit entry, in a commit that is shared with other writes. */
  systemTransaction<T>(work: (tx: SystemTx) => Promise<T>): Promise<T> {
    return this.#sharedCommits.add((on, log) =>
      this.#checked(on, () => work(new SystemTx(this.engine, on, this.#writeLog(log)))),
    )
  }

  /**
   * Like `systemTransaction`, but on PostgreSQL in a commit of its own: a row that another node has locked delays nothing else. Such
   * a commit must not write to a table with listeners. On SQLite, which has one writer, the commit is shared all the same.
   */
  separateTransaction<T>(work: (tx: SystemTx) => Promise<T>): Promise<T> {
    return this.#separateCommit().add((on, log) =>
      this.#checked(on, () => work(new SystemTx(this.engine, on, this.#writeLog(log)))),
    )
  }

  /**
   * Runs the work while no other process runs work of this name. On PostgreSQL an advisory lock, held by a transaction of its own,
   * sees to that; on SQLite the server lock does. The work must be short: the session is idle during it.
   */
  async exclusively<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (this.engine === 'sqlite') return work()
    return this.#engine.transaction(async ({ kysely }) => {
      await lockName(kysely, name)
      return work()
    })
  }

  /**
   * Changes a table of PostgreSQL in a transaction of its own. Gives up after `lockTimeoutMs` if another session, such as a
   * backup, locks the table, because every later query would wait behind this statement. Returns whether it was done.
   */
  async alterTable(statement: string, lockTimeoutMs: number): Promise<boolean> {
    try {
      await this.#engine.transaction((on) =>
        this.#checked(on, async () => {
          await sql.raw(`set local lock_timeout = ${lockTimeoutMs}`).execute(on.kysely)
          // Two sessions that create the same table at the same time would both try, and one would fail.
          await lockName(on.kysely, 'alter table')
          await sql.raw(statement).execute(on.kysely)
          this.#root.fence?.separate.addStatement(on, false)
        }),
      )
      return true
    } catch (error) {
      const problem = databaseProblemOf(error)
      if (problem === 'fenced') this.#root.fence?.separate.noteRefused()
      if (problem === 'locked') return false
      throw problem ? databaseFailure(problem, true) : error
    }
  }

  /**
   * Calls the listener for every write to a table, after the commit and before the writer continues. Writes of other nodes are
   * passed to `noteWritten` when this node hears of them.
   */
  onWrite(table: keyof DatabaseSchema, listener: WriteListener): void {
    this.#listeners.set(table, [...(this.#listeners.get(table) ?? []), listener])
  }

  /** Calls the listener for every numbered commit of this process, with the rows that it wrote to tables with listeners. */
  onCommitted(listener: CommitListener): void {
    this.#commitListeners.push(listener)
  }

  /** The tables that have listeners. */
  get watchedTables(): readonly string[] {
    return [...this.#listeners.keys()]
  }

  /** Notifies the listeners of rows that another process wrote. */
  noteWritten(written: readonly WrittenRows[]): void {
    this.#notify(written)
  }

  /** Notifies every listener that any row may have changed, because another process may have written. */
  invalidateAll(): void {
    this.#invalidate(undefined)
  }

  /** Notifies every listener that any row of the organisation may have changed. */
  invalidateOrg(org: number): void {
    this.#invalidate(org)
  }

  /** For migrations. */
  get schema(): Kysely<DatabaseSchema> {
    return this.#engine.schema
  }

  /** How many reads wait for a connection. */
  get waitingReads(): number {
    return this.#engine.waitingReads
  }

  get health(): DatabaseHealth {
    return this.#engine.health
  }

  /** Why the service is not ready; undefined while it is. PostgreSQL is probed all the time, SQLite answers synchronously. */
  get problem(): DatabaseFailure | undefined {
    if (this.engine === 'postgres') return this.health.problem
    try {
      void this.system.run(ping, [])
      return this.health.problem
    } catch {
      return databaseFailure('unreachable', false)
    }
  }

  async close(): Promise<void> {
    await this.#sharedCommits.idle
    await this.#engine.close()
  }

  #separateCommit(): GroupCommit {
    return this.#engine.hasOneWriter ? this.#sharedCommits : this.#newGroupCommit(() => this.#root.fence?.separate)
  }

  #newGroupCommit(fence?: () => CommitFence | undefined): GroupCommit {
    return new GroupCommit({
      ...(fence && { fence }),
      limits: this.#engine.limits,
      transaction: (work) => this.#engine.transaction(work),
      notify: (written) => this.#notify(written),
      numbered: (written, number) => {
        for (const listener of this.#root.#commitListeners) listener(written, number)
      },
      observe: (outcome, seconds) => this.#root.metrics.transaction(outcome, seconds),
      noteProblem: (problem) => this.health.noteFailedWrite(problem),
    })
  }

  /** Without a check, the work runs immediately. */
  #checked<T>(on: EngineTransaction, work: () => Promise<T>): Promise<T> {
    if (!this.#check) return work()
    return this.#check(new SystemTx(this.engine, on, this.#writeLog(newCommitLog()))).then(work)
  }

  #writeLog({ rows, heads }: CommitLog): WriteLog {
    return { isWatched: (table) => this.#listeners.has(table), rows, heads }
  }

  #invalidate(org: number | undefined): void {
    this.#notify(this.watchedTables.map((table) => ({ table, org, where: {} })))
  }

  #notify(written: readonly WrittenRows[]): void {
    for (const rows of written) for (const listener of this.#listeners.get(rows.table) ?? []) listener(rows)
  }
}

/** Takes an advisory lock until the end of the transaction. */
const lockName = (kysely: Kysely<DatabaseSchema>, name: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`roomkeeper ${name}`}, 0))`.execute(kysely)
