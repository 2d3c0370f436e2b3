// One organisation's part of the database: reads it, and opens transactions that reach nothing else.
import type { RegionAccess } from '../core/region-access.ts'
import type { DatabaseEngine, EngineTransaction } from './engine.ts'
import type { CommitLog, GroupCommit } from './group-commit.ts'
import { type HandleReach, OrgReader, TelemetryTx, Tx, type WriteLog } from './handles.ts'
import type { WantedMessages } from './wanted-messages.ts'

/** `Database` gives these to the part of each organisation: its commits, their order, and the log of written rows. */
export interface Commits {
  /** Runs an audited change of the organisation when it is its turn. */
  readonly runInTurn: <T>(work: () => Promise<T>, isPrepared: boolean) => Promise<T>
  readonly audited: () => GroupCommit
  readonly separate: () => GroupCommit
  readonly unaudited: () => GroupCommit
  readonly logInto: (log: CommitLog) => WriteLog
  readonly checked: <T>(on: EngineTransaction, work: () => Promise<T>) => Promise<T>
  readonly wantedMessages: WantedMessages
}

export class OrgDatabase extends OrgReader {
  readonly #engine: DatabaseEngine
  readonly #commits: Commits

  constructor(reach: HandleReach, engine: DatabaseEngine, commits: Commits) {
    super(reach, engine.engine, engine.reader)
    this.#engine = engine
    this.#commits = commits
  }

  /** The part that a caller sees, for reads and in transactions. [contract 11.access] */
  seenBy(access: RegionAccess): OrgDatabase {
    return access.isEverything ? this : new OrgDatabase({ org: this.org, access }, this.#engine, this.#commits)
  }

  /**
   * Only `audit/change.ts` calls this: it writes the audit entry in the same transaction. `isPrepared`: the
   * work runs for seconds before it locks the head of the audit log, and other work does not wait during that time.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, { isPrepared = false } = {}): Promise<T> {
    const { audited, runInTurn, logInto, checked } = this.#commits
    const since = performance.now()
    const commit = () =>
      audited().add(
        (on, log) =>
          checked(on, async () => {
            const tx = new Tx(this, this.engine, on, logInto(log))
            const result = await work(tx)
            if (tx.entryNumber !== undefined) log.number = { org: this.org, number: tx.entryNumber }
            return result
          }),
        { waitedMs: performance.now() - since },
      )
    return runInTurn(commit, isPrepared)
  }

  /**
   * Writes much without an audit entry. Where the engine allows several writers, the commit is not shared, so that small writes
   * do not wait for this one. It must not write to a table with listeners.
   */
  bulkTransaction<T>(work: (tx: TelemetryTx) => Promise<T>): Promise<T> {
    const { separate, logInto, checked, wantedMessages } = this.#commits
    return separate().add((on, log) =>
      checked(on, () => work(new TelemetryTx(this, this.engine, on, logInto(log), wantedMessages))),
    )
  }

  /**
   * Shares a commit with the other writes that wait; resolves when the work is durable. With an endpoint's id the work may run beside
   * works on other endpoints, so it must read and write nothing that those write.
   */
  telemetry<T>(work: (tx: TelemetryTx) => Promise<T>, endpointId?: string): Promise<T> {
    const { unaudited, logInto, checked, wantedMessages } = this.#commits
    return unaudited().add(
      (on, log) => checked(on, () => work(new TelemetryTx(this, this.engine, on, logInto(log), wantedMessages))),
      { subject: endpointId },
    )
  }

  /** Must be called after a change of channels, so that the next unaudited write reads what they want. */
  channelsChanged(): void {
    this.#commits.wantedMessages.clear()
  }
}
