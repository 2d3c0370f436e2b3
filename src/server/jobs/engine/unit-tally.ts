// Counts units by stage and state, and follows the steps that are decided on.
import { openUnitStates, type UnitState } from '../../../contract/jobs/job-states.ts'
import type { UnitTallyRow } from './facts.ts'

interface Moved {
  readonly number: number
  readonly from: UnitState
  readonly to: UnitState
  readonly reason: string | null
}

export class UnitTally {
  readonly #counts: { stage: number; state: UnitState; reason: string | null; count: number }[]

  constructor(counts: readonly UnitTallyRow[]) {
    this.#counts = counts.map((count) => ({ ...count }))
  }

  count(...states: UnitState[]): number {
    return this.#sum(({ state }) => states.includes(state))
  }

  countOpen(): number {
    return this.count(...openUnitStates)
  }

  countNotBegun(): number {
    return this.count('PENDING', 'WAITING')
  }

  /** A stage is over when all units up to it have ended, but for those that wait for a connection. */
  isOver(stage: number): boolean {
    const holdsUp = ({ state, reason }: UnitTallyRow) =>
      isOpen(state) && !(state === 'WAITING' && reason === 'connection')
    return this.#sum((count) => count.stage <= stage && holdsUp(count)) === 0
  }

  /** `units` say in which stage the moved ones are, and what they waited for. */
  move(units: readonly { number: number; stage: number; reason?: string | null }[], steps: readonly Moved[]): void {
    const byNumber = new Map(units.map((unit) => [unit.number, unit]))
    for (const { number, from, to, reason } of steps) {
      const unit = byNumber.get(number)
      if (!unit) continue
      this.#add(unit.stage, from, from === 'WAITING' ? (unit.reason ?? null) : null, -1)
      this.#add(unit.stage, to, to === 'WAITING' ? reason : null, 1)
    }
  }

  expire(): void {
    for (const count of this.#counts) {
      if (count.state === 'PENDING' || count.state === 'WAITING') count.state = 'EXPIRED'
    }
  }

  #add(stage: number, state: UnitState, reason: string | null, by: number): void {
    const found = this.#counts.find((c) => c.stage === stage && c.state === state && c.reason === reason)
    if (found) found.count += by
    else this.#counts.push({ stage, state, reason, count: by })
  }

  #sum(isCounted: (count: UnitTallyRow) => boolean): number {
    return this.#counts.filter(isCounted).reduce((sum, { count }) => sum + count, 0)
  }
}

const isOpen = (state: UnitState): boolean => (openUnitStates as readonly UnitState[]).includes(state)
