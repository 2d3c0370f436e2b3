// Counts the rooms of a plan by what happens to them and why.
import type { PlannedUnit } from './job.ts'

interface OutcomeGroup {
  readonly outcome: PlannedUnit['outcome']
  readonly reason: string | undefined
  readonly count: number
}

const order: readonly PlannedUnit['outcome'][] = ['now', 'waits', 'skipped', 'unchanged']

/** Sorted by outcome, then the largest group first. */
export function outcomeGroups(units: readonly PlannedUnit[]): OutcomeGroup[] {
  const groups = Map.groupBy(units, ({ outcome, reason }) => JSON.stringify([outcome, reason]))
  return [...groups.values()]
    .map(([first, ...others]) => ({
      outcome: first?.outcome ?? 'now',
      reason: first?.reason,
      count: others.length + 1,
    }))
    .sort((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome) || b.count - a.count)
}
