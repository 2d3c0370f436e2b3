// For each action: its input, its check, the request it becomes, its texts. The fields are in action-fields.tsx. [contract 12.job]
import type { ConfigValue } from '../../../../contract/device/config-keys.ts'
import { settingName } from '../../../../contract/device/setting-names.ts'
import type { JobActionKey, JobActionType } from '../../../../contract/jobs/action-table.ts'
import { valueText } from '../../../parts/settings-form/setting-values.ts'
import { settingProblems, textInputProblem } from '../../../parts/settings-form/validation.ts'
import type { PlannedAction } from '../job.ts'

export interface ActionInput {
  readonly type: JobActionType | undefined
  readonly config: Readonly<Record<string, ConfigValue>>
  /** Undefined until a profile is chosen; null removes the profile. */
  readonly profileId: number | null | undefined
  readonly message: string
  readonly roomId: number | undefined
  readonly assignRoomProfile: boolean
  readonly uploadInCallLogs: boolean
  /** Undefined until a person has chosen. */
  readonly on: boolean | undefined
}

export const emptyAction: ActionInput = {
  type: undefined,
  config: {},
  profileId: undefined,
  message: '',
  roomId: undefined,
  assignRoomProfile: false,
  uploadInCallLogs: false,
  on: undefined,
} satisfies Record<JobActionKey | 'type', unknown>

/** Names that the action has only as ids; undefined while they are loading. */
interface ActionNames {
  readonly profileName?: string | undefined
  readonly roomName?: string | undefined
}

interface ActionForm {
  /** Undefined while something is missing. */
  readonly actionOf: (input: ActionInput) => PlannedAction | undefined
  /** Says what the input lacks; undefined if it is complete. */
  readonly problem: (input: ActionInput) => string | undefined
  readonly text: (action: PlannedAction, names: ActionNames) => string
  /** Follows "38 devices move" and "Move 38 devices", if the action is about devices; otherwise undefined, and its plan counts rooms. */
  readonly deviceClause: ((action: PlannedAction, names: ActionNames) => string) | undefined
}

const maxMessageCharacters = 1024
const complete = () => undefined
const roomText = ({ roomId }: PlannedAction, { roomName }: ActionNames) => roomName ?? `room #${roomId}`

/** The buttons for selected rows have this order. */
export const actionForms: Readonly<Record<JobActionType, ActionForm>> = {
  ASSIGN_PROFILE: {
    actionOf: ({ profileId }) => (profileId === undefined ? undefined : { type: 'ASSIGN_PROFILE', profileId }),
    problem: ({ profileId }) => (profileId === undefined ? 'Choose a profile.' : undefined),
    text: ({ profileId }, { profileName }) =>
      profileId === null ? 'Remove profile' : `Assign profile ${profileName ?? `#${profileId}`}`,
    deviceClause: undefined,
  },
  CONFIG: {
    actionOf: ({ config }) => ({ type: 'CONFIG', config }),
    problem: ({ config }) => {
      if (Object.keys(config).length === 0) return 'Set at least one setting.'
      return Object.keys(settingProblems(config)).length > 0 ? 'Correct the marked settings.' : undefined
    },
    text: ({ config }) => configText(config ?? {}),
    deviceClause: undefined,
  },
  REBOOT: {
    actionOf: () => ({ type: 'REBOOT' }),
    problem: complete,
    text: () => 'Restart',
    deviceClause: undefined,
  },
  MESSAGE: {
    actionOf: ({ message }) => ({ type: 'MESSAGE', message: message.trim() }),
    problem: ({ message }) =>
      message.trim() === '' ? 'Enter a message.' : textInputProblem(message, maxMessageCharacters, true),
    text: ({ message }) => `Show message “${message ?? ''}”`,
    deviceClause: undefined,
  },
  MOVE: {
    actionOf: ({ roomId, assignRoomProfile }) =>
      roomId === undefined ? undefined : { type: 'MOVE', roomId, assignRoomProfile },
    problem: ({ roomId }) => (roomId === undefined ? 'Choose a room.' : undefined),
    text: (action, names) => `Move to ${roomText(action, names)}`,
    deviceClause: (action, names) => ` to ${roomText(action, names)}`,
  },
  COLLECT_LOGS: {
    actionOf: ({ uploadInCallLogs }) => ({ type: 'COLLECT_LOGS', uploadInCallLogs }),
    problem: complete,
    text: ({ uploadInCallLogs }) => (uploadInCallLogs ? 'Collect logs, including call logs' : 'Collect logs'),
    deviceClause: undefined,
  },
  POWER: {
    actionOf: ({ on }) => (on === undefined ? undefined : { type: 'POWER', on }),
    problem: ({ on }) => (on === undefined ? 'Choose on or off.' : undefined),
    text: ({ on }) => (on ? 'Switch on' : 'Switch off'),
    deviceClause: ({ on }) => (on ? ' on' : ' off'),
  },
}

export const actionOf = (input: ActionInput): PlannedAction | undefined =>
  input.type && actionForms[input.type].actionOf(input)

export const actionProblem = (input: ActionInput): string | undefined =>
  input.type === undefined ? 'Choose what the job does.' : actionForms[input.type].problem(input)

/** "Night mode: On, Brightness: 0.5" or "Assign profile Quiet rooms". */
export const actionText = (action: PlannedAction, names: ActionNames = {}): string =>
  actionForms[action.type].text(action, names)

/** A job does not return its passwords, and may have nothing else. */
const configText = (config: NonNullable<PlannedAction['config']>): string =>
  Object.entries(config)
    .map(([key, value]) => `${settingName(key)}: ${value === null ? 'not set' : valueText(key, value)}`)
    .join(', ') || 'Passwords (hidden)'
