// Jobs in words: why a room waits, the values that devices have before the change, and what a plan does to how many rooms.

import type { JobActionRow } from '../../../contract/jobs/action-table.ts'
import type { JobState, WaitReason } from '../../../contract/jobs/job-states.ts'
import { capitalised } from '../../../contract/words.ts'
import { valueText } from '../../parts/settings-form/setting-values.ts'
import { plural } from '../../parts/text/words.ts'
import type { JobDraft, Plan } from './job.ts'

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

/** "Stopped: 3 of 9 rooms failed." A rollback keeps the reason why the job stopped. */
export function jobReasonText(state: JobState, reason: string): string {
  const isStop = state === 'STOPPED' || state === 'ROLLING_BACK' || state === 'ROLLED_BACK'
  return isStop ? `Stopped: ${reason}` : capitalised(reason)
}

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
  connection: 'offline devices',
  pace: 'other rooms of this job',
  'other job': 'another job',
}
/** "an empty room", for a sentence such as "3 rooms are waiting for an empty room". */
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

type Outcome = Plan['outcomes'][number]

interface OutcomeWords {
  /** "restarts" and "restart". */
  readonly planned: readonly [one: string, many: string]
  readonly unchanged: readonly [one: string, many: string]
  /** " to Fjord (Atlanta)" if devices are counted instead of rooms. */
  readonly deviceClause: string | undefined
  /** Whether the job starts at a chosen time. */
  readonly isScheduled: boolean
  /** Whether it is done in each run of a recurring job, and not now. */
  readonly isRecurring?: boolean
}

/** Says what a plan does to how many rooms: "1 room changes now, 67 in later stages", "3 rooms wait until the room is empty". */
export function outcomeTexts(outcomes: readonly Outcome[], words: OutcomeWords): string[] {
  const now = outcomes.find(({ outcome }) => outcome === 'now')
  const later = outcomes.find(({ outcome }) => outcome === 'later')
  const others = outcomes.flatMap((one) => otherText(one, words) ?? [])
  if (now && later)
    return [
      `${changeText(now, words)} now, ${countOf(later, words).toLocaleString('en-GB')} in later stages`,
      ...others,
    ]
  // Devices that move say where to, which is enough.
  if (now)
    return [
      words.isRecurring || words.deviceClause === undefined
        ? `${changeText(now, words)} ${words.isRecurring ? 'in each run' : 'now'}`
        : changeText(now, words),
      ...others,
    ]
  if (!later) return others
  return [`${changeText(later, words)} ${words.isScheduled ? 'when the job starts' : 'in later stages'}`, ...others]
}

const countOf = ({ unitCount, endpointCount }: Outcome, { deviceClause }: OutcomeWords): number =>
  deviceClause === undefined ? unitCount : endpointCount

/** "20 rooms restart" or "38 devices move to Fjord (Atlanta)". */
function changeText(outcome: Outcome, words: OutcomeWords): string {
  const count = countOf(outcome, words)
  const { planned, deviceClause } = words
  return `${plural(count, deviceClause === undefined ? 'room' : 'device')} ${planned[count === 1 ? 0 : 1]}${deviceClause ?? ''}`
}

function otherText({ outcome, reason, unitCount }: Outcome, { unchanged }: OutcomeWords): string | undefined {
  const rooms = plural(unitCount, 'room')
  const isOne = unitCount === 1
  switch (outcome) {
    case 'waits':
      return `${rooms} ${isOne ? 'waits' : 'wait'}${becauseText(reason)}`
    case 'skipped':
      return `${rooms} ${isOne ? 'is' : 'are'} skipped${becauseText(reason)}`
    case 'unchanged':
      return `${rooms} ${unchanged[isOne ? 0 : 1]}`
    default:
      return undefined
  }
}

export const waitsText = ({ respect }: Pick<JobDraft, 'respect'>): string | false =>
  [respect?.window && 'change windows', respect?.idle && 'empty rooms'].filter(Boolean).join(', ') || false

export function paceText({ pace }: Pick<JobDraft, 'pace'>): string | false {
  if (pace?.atOnce === undefined) return false
  const inLocation = pace.atOncePerLocation === undefined ? '' : `, ${pace.atOncePerLocation} in one location`
  return `${plural(pace.atOnce, 'room')} at a time${inLocation}`
}
