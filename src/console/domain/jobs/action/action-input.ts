// The input of the fields of an action, whether it is complete, and the action that it becomes. [contract 12.job]
import type { ConfigValue } from '../../../../contract/device/config-keys.ts'
import type { JobActionType } from '../../../../contract/jobs/job-request.ts'
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
}

export const emptyAction: ActionInput = {
  type: undefined,
  config: {},
  profileId: undefined,
  message: '',
  roomId: undefined,
  assignRoomProfile: false,
  uploadInCallLogs: false,
}

export function actionOf(state: ActionInput): PlannedAction | undefined {
  switch (state.type) {
    case undefined:
      return undefined
    case 'CONFIG':
      return { type: 'CONFIG', config: state.config }
    case 'ASSIGN_PROFILE':
      return state.profileId === undefined ? undefined : { type: 'ASSIGN_PROFILE', profileId: state.profileId }
    case 'MESSAGE':
      return { type: 'MESSAGE', message: state.message.trim() }
    case 'MOVE':
      if (state.roomId === undefined) return undefined
      return { type: 'MOVE', roomId: state.roomId, assignRoomProfile: state.assignRoomProfile }
    case 'COLLECT_LOGS':
      return { type: 'COLLECT_LOGS', uploadInCallLogs: state.uploadInCallLogs }
    case 'REBOOT':
      return { type: 'REBOOT' }
  }
}

const maxMessageCharacters = 1024

/** Says what the action lacks; undefined if it is complete. */
export function actionProblem(state: ActionInput): string | undefined {
  switch (state.type) {
    case undefined:
      return 'Choose what the job does.'
    case 'CONFIG':
      if (Object.keys(state.config).length === 0) return 'Set at least one setting.'
      return Object.keys(settingProblems(state.config)).length > 0 ? 'Correct the marked settings.' : undefined
    case 'ASSIGN_PROFILE':
      return state.profileId === undefined ? 'Choose a profile.' : undefined
    case 'MOVE':
      return state.roomId === undefined ? 'Choose a room.' : undefined
    case 'MESSAGE':
      return state.message.trim() === ''
        ? 'Enter a message.'
        : textInputProblem(state.message, maxMessageCharacters, true)
    default:
      return undefined
  }
}
