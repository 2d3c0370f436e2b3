// Measures for how long other nodes have sent no heartbeat, by this process's own monotonic clock.
import type { TimeLimits } from '../core/time-limits.ts'
import type { NodeRow } from './cluster-store.ts'

interface Observed {
  readonly row: NodeRow
  /** When this process last saw the number change. */
  readonly since: number
}

export class LivenessWatch {
  readonly #ownId: () => number
  readonly #observed = new Map<number, Observed>()
  #beatingSince: number | undefined
  #lastBeatAt = 0
  readonly #limits: TimeLimits

  constructor(ownId: () => number, limits: TimeLimits) {
    this.#ownId = ownId
    this.#limits = limits
  }

  /** This node has stopped beating, so it cannot tell whether the others have. */
  interrupt(): void {
    this.#beatingSince = undefined
  }

  /** Takes note of the rows that are up, which were read with a beat of this node. Returns the ids of rows that are gone. */
  observe(rows: readonly NodeRow[], now: number): number[] {
    if (now - this.#lastBeatAt > this.#limits.ownMessageMs) this.#beatingSince = undefined
    this.#lastBeatAt = now
    this.#beatingSince ??= now
    const ids = new Set(rows.map(({ id }) => id))
    const gone = [...this.#observed.keys()].filter((id) => !ids.has(id))
    for (const id of gone) this.#observed.delete(id)
    for (const row of rows) {
      if (row.id === this.#ownId()) continue
      if (this.#observed.get(row.id)?.row.beats !== row.beats) this.#observed.set(row.id, { row, since: now })
    }
    return gone
  }

  /** Lists the nodes without a heartbeat for 5 seconds: they are dead if their lock is free, and after 15 seconds in any case. */
  listSilent(now: number): { readonly row: NodeRow; readonly isDeadWithLock: boolean }[] {
    const { ownBeatsMs, unlockedNodeMs, lockedNodeMs } = this.#limits
    if (this.#beatingSince === undefined || now - this.#beatingSince < ownBeatsMs) return []
    return [...this.#observed.values()]
      .filter(({ since }) => now - since >= unlockedNodeMs)
      .map(({ row, since }) => ({ row, isDeadWithLock: now - since >= lockedNodeMs }))
  }

  /** How long until another node may be dead, if it stays silent. */
  untilNextLimitMs(now: number): number {
    const { ownBeatsMs, unlockedNodeMs, lockedNodeMs } = this.#limits
    const ends = [...this.#observed.values()].flatMap(({ since }) => [since + unlockedNodeMs, since + lockedNodeMs])
    if (this.#beatingSince !== undefined) ends.push(this.#beatingSince + ownBeatsMs)
    return Math.min(...ends.filter((at) => at > now)) - now
  }
}
