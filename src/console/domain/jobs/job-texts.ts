// Jobs in words: why a room waits, the values that devices have before the change, and how many rooms of a plan share an outcome.

import type { JobActionRow } from '../../../contract/jobs/action-table.ts'
import type { WaitReason } from '../../../contract/jobs/job-states.ts'
import { capitalised } from '../../../contract/words.ts'
import { valueText } from '../../parts/settings-form/setting-values.ts'
import type { Plan, PlannedUnit } from './job.ts'

/** The end of a sentence that begins with "Waits" or "3 rooms wait". */
const waitClauses: Readonly<Record<WaitReason, string>> = {
  window: 'for the change window of the location',
  idle: 'until the room is empty',
  connection: 'for devices that are not connected',
  pace: 'for other rooms of this job',
  'other job': 'for another job',
}
const isWaitReason = (reason: string): reason is WaitReason => Object.hasOwn(waitClauses, reason)

/** The reason of a unit or a plan as a sentence; reasons that the service writes as sentences stay as they are. */
export const reasonText = (reason: string): string =>
  isWaitReason(reason) ? `Waits ${waitClauses[reason]}` : capitalised(reason)

/** "Until the room is empty", below a label that says "Waiting". */
export const waitText = (reason: string): string => capitalised(isWaitReason(reason) ? waitClauses[reason] : reason)

/** " until the room is empty" or ": the reason", after "3 rooms wait" or "1 room is skipped". */
export function becauseText(reason: string | undefined): string {
  if (reason === undefined) return ''
  return isWaitReason(reason) ? ` ${waitClauses[reason]}` : `: ${reason}`
}

const waitNouns: Readonly<Record<WaitReason, string>> = {
  window: 'the change window',
  idle: 'an empty room',
  connection: 'devices to come online',
  pace: 'other rooms of this job',
  'other job': 'another job',
}
/** "an empty room", for a sentence such as "3 rooms wait for: an empty room". */
export const waitNoun = (reason: string): string => (isWaitReason(reason) ? waitNouns[reason] : reason)

/** "5 minutes on 21, 10 minutes on 6, not set on 3". */
export const presentText = (key: string, values: Plan['present'][string]): string =>
  values
    .map(({ value, endpointCount }) => {
      const text = value === undefined ? 'not set' : valueText(key, value)
      return `${text} on ${endpointCount.toLocaleString('en-GB')}`
    })
    .join(', ')

/** Follows "3 devices are not connected.": how a job treats them, by which devices its action needs. [contract 12.states] */
export const disconnectedTexts: Readonly<Record<JobActionRow['connection'], string>> = {
  all: ' A room waits until all of its devices are online.',
  any: ' These are skipped, unless the room has no others: then the room waits.',
  none: '',
}

interface OutcomeGroup {
  readonly outcome: PlannedUnit['outcome']
  readonly reason: string | undefined
  readonly count: number
}

const order: readonly PlannedUnit['outcome'][] = ['now', 'waits', 'skipped', 'unchanged']

/** Counts the rooms of a plan by what happens to them and why, sorted by outcome, then the largest group first. */
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
