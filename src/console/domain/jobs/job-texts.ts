// Jobs in words: their actions, why a room waits, and the values that devices have before the change.

import { settingName } from '../../../contract/device/setting-names.ts'
import type { JobActionType } from '../../../contract/jobs/job-request.ts'
import type { WaitReason } from '../../../contract/jobs/job-states.ts'
import { valueText } from '../../parts/settings-form/setting-values.ts'
import { capitalised } from '../../parts/text/words.ts'
import type { Plan, PlannedAction } from './job.ts'

export const actionNames: Readonly<Record<JobActionType, string>> = {
  CONFIG: 'Change settings',
  ASSIGN_PROFILE: 'Assign profile',
  REBOOT: 'Restart',
  MESSAGE: 'Show message',
  MOVE: 'Move to a room',
  COLLECT_LOGS: 'Collect logs',
}

/** Names that the action has only as ids; undefined while they are loading. */
interface ActionNames {
  readonly profileName?: string | undefined
  readonly roomName?: string | undefined
}

/** "Night mode: On, Brightness: 0.5" or "Assign profile Quiet rooms". */
export function actionText(action: PlannedAction, { profileName, roomName }: ActionNames = {}): string {
  switch (action.type) {
    case 'CONFIG':
      return configText(action.config ?? {})
    case 'ASSIGN_PROFILE':
      if (action.profileId === null) return 'Remove profile'
      return `Assign profile ${profileName ?? `#${action.profileId}`}`
    case 'MOVE':
      return `Move to ${roomName ?? `room #${action.roomId}`}`
    case 'MESSAGE':
      return `Show message “${action.message ?? ''}”`
    case 'COLLECT_LOGS':
      return action.uploadInCallLogs ? 'Collect logs, including call logs' : 'Collect logs'
    case 'REBOOT':
      return 'Restart'
  }
}

/** A job does not return its passwords, and may have nothing else. */
const configText = (config: NonNullable<PlannedAction['config']>): string =>
  Object.entries(config)
    .map(([key, value]) => `${settingName(key)}: ${value === null ? 'not set' : valueText(key, value)}`)
    .join(', ') || 'Passwords (hidden)'

/** The end of a sentence that begins with "Waits" or "3 rooms wait". */
const waitClauses: Readonly<Record<WaitReason, string>> = {
  window: 'for the change window of the location',
  idle: 'until the room is empty',
  connection: 'for devices that are offline',
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

/** The verbs of a sentence such as "20 rooms change now". */
export const plannedVerbs: Readonly<Record<JobActionType, readonly [one: string, many: string]>> = {
  CONFIG: ['changes', 'change'],
  ASSIGN_PROFILE: ['gets the profile', 'get the profile'],
  REBOOT: ['restarts', 'restart'],
  MESSAGE: ['shows the message', 'show the message'],
  MOVE: ['moves its devices', 'move their devices'],
  COLLECT_LOGS: ['sends logs', 'send logs'],
}

/** The verbs of a sentence such as "3 devices already have the profile". A restart, a message and logs are never done already. */
export const unchangedVerbs: Readonly<Record<JobActionType, readonly [one: string, many: string]>> = {
  CONFIG: ['already has the new values', 'already have the new values'],
  ASSIGN_PROFILE: ['already has the profile', 'already have the profile'],
  MOVE: ['is already there', 'are already there'],
  REBOOT: ['is unchanged', 'are unchanged'],
  MESSAGE: ['is unchanged', 'are unchanged'],
  COLLECT_LOGS: ['is unchanged', 'are unchanged'],
}

const allMustBeOnline = ' A room waits until all of its devices are online.'
const oneMustBeOnline = ' Offline devices are skipped, unless the room has no others: then the room waits.'
/** Follows "3 devices are offline.": how a job treats them. A move needs no connection. [contract 12.states] */
export const offlineTexts: Readonly<Record<JobActionType, string>> = {
  CONFIG: allMustBeOnline,
  ASSIGN_PROFILE: allMustBeOnline,
  REBOOT: allMustBeOnline,
  MESSAGE: oneMustBeOnline,
  COLLECT_LOGS: oneMustBeOnline,
  MOVE: '',
}
