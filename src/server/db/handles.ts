// The handles that queries run on. An organisation's handle reads or writes the data of that organisation only.
import type { CompiledQuery } from 'kysely'
import type { RegionAccess } from '../core/region-access.ts'
import type { EventDraft } from '../events/draft.ts'
import type { EngineName, StatementRunner } from './engine.ts'
import { databaseFailure, databaseProblemOf } from './errors.ts'
import type { MovedHeads } from './moved-heads.ts'
import { WantedMessages } from './wanted-messages.ts'
import type { WriteTarget, WrittenRows } from './written-rows.ts'

/** Collects the rows that a transaction writes to tables with listeners, and the heads of audit logs that it moves. */
export interface WriteLog {
  readonly isWatched: (table: string) => boolean
  readonly rows: WrittenRows[]
  readonly heads: MovedHeads
}

export abstract class Handle {
  readonly engine: EngineName
  readonly #statements: StatementRunner
  readonly #writeLog: WriteLog | undefined

  /** Without a write log the handle only reads: the engine refuses statements that write. */
  constructor(engine: EngineName, statements: StatementRunner, writeLog?: WriteLog) {
    this.engine = engine
    this.#statements = statements
    this.#writeLog = writeLog
  }

  /** Returns what a second handle on the same transaction needs. */
  protected static connectionOf(handle: Handle) {
    return { engine: handle.engine, statements: handle.#statements, writeLog: handle.#writeLog }
  }

  /** Runs a query that was compiled once. Stores call it through the functions of query.ts and system.ts. */
  run<R>(query: CompiledQuery<R>, values: readonly unknown[]): R[] | Promise<R[]> {
    return this.#statements.run(query, values)
  }

  noteWrite(target: WriteTarget, values: object, org: number | undefined): void {
    const log = this.#writeLog
    if (log?.isWatched(target.table)) log.rows.push(...target.rows(values, org))
  }

  /** Returns the error to throw for a failed query. In a transaction that is the error itself, because the group commit decides whether to retry. */
  errorOf(error: unknown): unknown {
    if (this.#writeLog) return error
    const problem = databaseProblemOf(error)
    return problem ? databaseFailure(problem, false) : error
  }
}

/** The part of the database that a handle may read. */
export interface HandleReach {
  /** The organisation's key. `query()` fills it in, so that no store can name another one. */
  readonly org: number
  /** The regions that the caller sees. `visibleQuery()` reads only what is in them. [contract 11.access] */
  readonly access: RegionAccess
}

/** Reads one organisation, as far as its caller sees it. The writing handles extend this class. */
export class OrgReader extends Handle implements HandleReach {
  readonly org: number
  readonly access: RegionAccess

  constructor({ org, access }: HandleReach, engine: EngineName, statements: StatementRunner, writeLog?: WriteLog) {
    super(engine, statements, writeLog)
    this.org = org
    this.access = access
  }
}

/** For audited writes. Only `audit/change.ts` opens one, and it writes the audit entry in the same transaction. */
export class Tx extends OrgReader {
  /** Makes the types distinct: a `TelemetryTx` cannot be passed as a `Tx`. */
  readonly isAudited = true
  /** Events to publish after the commit. */
  readonly drafts: EventDraft[] = []
  /** The number of the audit entry, once it is written: it is also the number of the commit. */
  entryNumber: number | undefined
  /** Which messages the channels want, from the head of the audit log that this transaction has locked. */
  wantedMessages = '[]'
  /** Heads that works of the same commit have moved, and not written yet. */
  readonly heads: MovedHeads

  constructor(reach: HandleReach, engine: EngineName, statements: StatementRunner, writeLog: WriteLog) {
    super(reach, engine, statements, writeLog)
    this.heads = writeLog.heads
  }
}

/** For writes that are not audited: presence, status, reports of devices, last-used times. [contract 5.4.audit] */
export class TelemetryTx extends OrgReader {
  readonly isAudited = false
  readonly wantedMessages: WantedMessages

  constructor(
    reach: HandleReach,
    engine: EngineName,
    statements: StatementRunner,
    writeLog?: WriteLog,
    wantedMessages = new WantedMessages(),
  ) {
    super(reach, engine, statements, writeLog)
    this.wantedMessages = wantedMessages
  }
}
