// Keeps caches strict: an answer from a cache contains every commit that any node had acknowledged before the request came.
//
// Each node counts its unaudited commits in its row of `nodes`, and each organisation its audited ones in `audit_heads`, both in the
// transaction itself. After a commit, its node sends a message with the number and the rows that were written. A reader first looks up
// the present numbers. If this node has heard of all of them, its caches are up to date; otherwise it waits a moment for the messages,
// and then drops everything that the missing commits may be about. So messages only save reads: if all are lost, answers stay right.
import type { MessageBus } from '../../bus/message-bus.ts'
import type { WrittenMessage } from '../../bus/messages.ts'
import type { Database } from '../../db/db.ts'
import type { CommitNumber } from '../../db/group-commit.ts'
import type { WrittenRows } from '../../db/written-rows.ts'
import { HeardCommits } from './heard-commits.ts'
import { type LastCommits, LastCommitsReader } from './last-commits.ts'
import { writtenRowsMessages, writtenRowsOf } from './written-message.ts'

/** A message needs about a millisecond. One that takes longer than this is treated as lost. */
const maxMessageDelayMs = 20

export class StrictReads {
  readonly #db: Database
  readonly #bus: MessageBus
  readonly #lastCommits: LastCommitsReader
  readonly #heard = new HeardCommits()
  /** The confirmation of the last look that was asked for. Everybody who shares the look shares it too. */
  #shared: { readonly look: Promise<LastCommits>; readonly confirmed: Promise<void> } | undefined
  /** Is raised by `clear`: numbers that were read before may belong to another database. */
  #generation = 0

  constructor(db: Database, bus: MessageBus) {
    this.#db = db
    this.#bus = bus
    this.#lastCommits = new LastCommitsReader(db.system)
    // SQLite has one process, which is told of its own commits before the writer continues.
    if (db.engine === 'sqlite') return
    db.onCommitted((written, number) => this.#committed(written, number))
    bus.heard('written', (message, { isSelf }) => {
      if (!isSelf) this.#hear(message)
    })
    bus.lost(() => this.clear())
  }

  /**
   * Resolves when the caches of the organisation contain every commit that was acknowledged before the call. Undefined on SQLite,
   * where they always do.
   */
  confirm(org: number): Promise<void> | undefined {
    if (this.#db.engine === 'sqlite') return undefined
    const look = this.#lastCommits.read(org)
    if (this.#shared?.look !== look) this.#shared = { look, confirmed: this.#confirmAll(look) }
    return this.#shared.confirmed
  }

  /** Drops everything cached, and begins to count again. */
  clear(): void {
    this.#generation++
    this.#heard.clear()
    this.#db.fence?.noteUncertain()
    this.#db.invalidateAll()
  }

  async #confirmAll(look: Promise<LastCommits>): Promise<void> {
    const generation = this.#generation
    const last = await look
    if (await this.#catchUp(last, generation)) return
    // All organisations of the look are in the next one, because nothing is awaited in between.
    await Promise.all([...last.orgs.keys()].map((org) => this.confirm(org)))
  }

  /** Returns false if the look must be repeated. */
  async #catchUp(last: LastCommits, generation: number): Promise<boolean> {
    const deadline = performance.now() + maxMessageDelayMs
    while (generation === this.#generation) {
      const unheard = this.#heard.findUnheard(last)
      if (!unheard) return true
      const restMs = deadline - performance.now()
      if (unheard.mayArrive && restMs > 0) {
        await this.#heard.waitForNext(restMs)
        continue
      }
      // Reads that are under way may have begun before these commits. The listeners see to it that their results are not cached.
      if (unheard.ofNodes) this.#db.invalidateAll()
      else for (const org of unheard.ofOrgs) this.#db.invalidateOrg(org)
      this.#heard.skipTo(last)
      return true
    }
    return false
  }

  #committed(written: readonly WrittenRows[], number: CommitNumber): void {
    this.#heard.add(number)
    this.#bus.send('written', { ...number, watched: this.#watched(), rows: writtenRowsMessages(written) })
  }

  #hear({ watched, rows, ...number }: WrittenMessage): void {
    if (!this.#heard.isNew(number)) return
    // A node of another version may watch other tables, and would not name the rows of those that it does not watch.
    if (watched === this.#watched()) this.#db.noteWritten(writtenRowsOf(rows))
    else if ('org' in number) this.#db.invalidateOrg(number.org)
    else this.#db.invalidateAll()
    this.#heard.add(number)
  }

  #watched(): string {
    return this.#db.watchedTables.toSorted().join()
  }
}
