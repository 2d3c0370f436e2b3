// Counts how often the cause of an incident occurred in the last 7 days.
import { maxShownReopenings } from '../../../contract/incidents/incidents.ts'
import { causeKey, type ListedIncident } from './incident.ts'

export interface WeekCounts {
  /** The start of the 7 days. */
  readonly from: number
  /** Occurrences of the incidents that opened since then, by the key of their cause. */
  readonly byCause: ReadonlyMap<string, number>
}

export interface WeekCount {
  readonly count: number
  /** True if the incident may have reopened more often: the API lists at most `maxShownReopenings` times. */
  readonly isMinimum: boolean
}

type CountedIncident = Pick<ListedIncident, 'rule' | 'cause' | 'openedAt' | 'resolvedAt' | 'occurrences' | 'reopenings'>

export function countByCause(incidents: readonly CountedIncident[], from: number): WeekCounts {
  const byCause = new Map<string, number>()
  for (const incident of incidents) {
    const key = causeKey(incident)
    byCause.set(key, (byCause.get(key) ?? 0) + incident.occurrences)
  }
  return { from, byCause }
}

export function weekCountOf(incident: CountedIncident, { from, byCause }: WeekCounts): WeekCount {
  const count = byCause.get(causeKey(incident)) ?? 0
  // An incident that has just opened may not be counted yet.
  if (Date.parse(incident.openedAt) >= from) return { count: Math.max(count, incident.occurrences), isMinimum: false }
  const hasLasted = incident.resolvedAt === undefined || Date.parse(incident.resolvedAt) >= from
  const reopened = (incident.reopenings ?? []).filter((at) => Date.parse(at) >= from).length
  return { count: count + Math.max(reopened, hasLasted ? 1 : 0), isMinimum: reopened >= maxShownReopenings }
}

/** "3", or "50 or more". */
export const weekCountText = ({ count, isMinimum }: WeekCount): string =>
  `${count.toLocaleString('en-GB')}${isMinimum ? ' or more' : ''}`
