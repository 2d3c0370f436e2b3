// The actions of jobs: one row for each, and the keys that they have in requests. The server and the console read it. [contract 12.job]

import Type from 'typebox'
import { DeviceConfig } from '../device/config-keys.ts'
import type { DeviceAction } from '../device/models.ts'
import { hourMs, minuteMs } from '../durations.ts'
import { Int32, MultilineText, NullableId, OneOf, Shape } from '../shape.ts'

const actionKeys = {
  config: Type.Optional(DeviceConfig),
  profileId: Type.Optional(NullableId('ASSIGN_PROFILE: the profile; null clears it.')),
  message: Type.Optional(MultilineText(1024, 'MESSAGE: the text for the screens.')),
  roomId: Type.Optional(Int32('MOVE: the room to move to.')),
  assignRoomProfile: Type.Optional(
    Type.Boolean({ description: 'MOVE: whether the endpoints get the profile of the room.' }),
  ),
  uploadInCallLogs: Type.Optional(Type.Boolean({ description: 'COLLECT_LOGS: whether to include logs of calls.' })),
  on: Type.Optional(Type.Boolean({ description: 'POWER: whether to switch on; false switches off.' })),
}
export type JobActionKey = keyof typeof actionKeys

/** The verbs of a sentence about one room or device, and about several. */
type Verbs = readonly [one: string, many: string]

export interface JobActionRow {
  /** Every other key is refused. */
  readonly keys: { readonly required: readonly JobActionKey[]; readonly optional: readonly JobActionKey[] }
  /** The permission that the caller needs. [contract 12.rights] */
  readonly needs: 'write' | 'operate'
  /**
   * Devices that cannot do this are left out, as are devices that take no profile. Null if the action needs nothing of the device.
   * [contract 5.1.actions] [contract 15.devices]
   */
  readonly requires: DeviceAction | 'profile' | null
  /** The rows of the console's lists for which it is offered, or null. `deadlineMs`: the deadline of a job for selected rows, counted from now. */
  readonly selection: { readonly rows: 'rooms and devices' | 'devices'; readonly deadlineMs?: number } | null
  /**
   * Says what the action makes for an endpoint: a config version, which is done when the device has confirmed it and which a retry makes again; a
   * command, which the device answers; or only a change in the database.
   */
  readonly effect: 'config' | 'command' | 'record'
  /** Null if it cannot be rolled back. `isAutomatic`: a job that stops can roll itself back. [contract 12.rollback] */
  readonly rollback: { readonly isAutomatic: boolean; readonly text: string } | null
  /** Whether it also concerns the endpoints that are paired with the targeted ones. */
  readonly concernsPairs: boolean
  /** The devices of a unit that must be connected before the unit starts. [contract 12.states] */
  readonly connection: 'all' | 'any' | 'none'
  /** Null if a job with this action can have stages, otherwise what the console says instead of asking for them. */
  readonly stagesRefusedText: string | null
  /** Whether units wait until their rooms are idle by default, if the job has stages. */
  readonly waitsForIdle: boolean | 'if it switches off'
  /** Whether devices that are asleep are skipped. Units of other actions wait for them. */
  readonly skipsAsleep: boolean
  /** Whether a profile can lock what it sets. */
  readonly canConflict: boolean
  /** Whether devices restart. They disconnect then, which is not a failure. */
  readonly restarts: boolean
  /** Whether a recurring job can have the action. [contract 12.recurring] */
  readonly recurs: boolean
  /** Whether the command of a job that respects idle rooms waits by itself (`fleet/commands/deferred`), and the device checks once more. */
  readonly isDeferred: boolean
  readonly texts: {
    /** "Show message". */
    readonly name: string
    /** The name in the bar above selected rows: "Message". */
    readonly shortName: string
    /** The button that starts it: "Send". */
    readonly button: string
    /** "20 rooms show the message now", or "38 devices move" if the console says where to. */
    readonly planned: Verbs
    /** "3 devices already have the profile". */
    readonly unchanged: Verbs
    /** Follows "2 rooms have no devices, so nothing changes there". */
    readonly emptyRooms: string
  }
}

/** A restart, a message or a log collection always has something to do. */
const unchanged: Verbs = ['is unchanged', 'are unchanged']
const restoresValues =
  'Every device that the job changed gets back what it had before. Settings that were changed again since then stay as they are.'

const rows = {
  CONFIG: {
    keys: { required: ['config'], optional: [] },
    needs: 'write',
    requires: 'config',
    selection: { rows: 'rooms and devices' },
    effect: 'config',
    rollback: { isAutomatic: true, text: restoresValues },
    concernsPairs: false,
    connection: 'all',
    stagesRefusedText: null,
    // Settings change without disturbing people.
    waitsForIdle: false,
    skipsAsleep: false,
    canConflict: true,
    restarts: false,
    recurs: true,
    isDeferred: false,
    texts: {
      name: 'Change settings',
      shortName: 'Change settings',
      button: 'Apply',
      planned: ['changes', 'change'],
      unchanged: ['already has the new values', 'already have the new values'],
      emptyRooms: '',
    },
  },
  ASSIGN_PROFILE: {
    keys: { required: ['profileId'], optional: [] },
    needs: 'write',
    requires: 'profile',
    selection: { rows: 'rooms and devices' },
    effect: 'config',
    rollback: { isAutomatic: true, text: restoresValues },
    concernsPairs: false,
    connection: 'all',
    stagesRefusedText: null,
    waitsForIdle: true,
    skipsAsleep: false,
    canConflict: false,
    restarts: false,
    recurs: true,
    isDeferred: false,
    texts: {
      name: 'Assign profile',
      shortName: 'Assign profile',
      button: 'Assign',
      planned: ['gets the profile', 'get the profile'],
      unchanged: ['already has the profile', 'already have the profile'],
      emptyRooms: ': the profile of the room stays as it is',
    },
  },
  REBOOT: {
    keys: { required: [], optional: [] },
    needs: 'operate',
    requires: 'reboot',
    // People in the room no longer expect a late restart.
    selection: { rows: 'rooms and devices', deadlineMs: hourMs },
    effect: 'command',
    rollback: null,
    concernsPairs: true,
    connection: 'all',
    stagesRefusedText: null,
    waitsForIdle: true,
    skipsAsleep: false,
    canConflict: false,
    restarts: true,
    recurs: true,
    isDeferred: true,
    texts: {
      name: 'Restart',
      shortName: 'Restart',
      button: 'Restart',
      planned: ['restarts', 'restart'],
      unchanged,
      emptyRooms: '',
    },
  },
  MESSAGE: {
    keys: { required: ['message'], optional: [] },
    needs: 'operate',
    requires: 'message',
    // A late message is wrong.
    selection: { rows: 'rooms and devices', deadlineMs: 15 * minuteMs },
    effect: 'command',
    rollback: null,
    concernsPairs: false,
    connection: 'any',
    stagesRefusedText: null,
    waitsForIdle: true,
    skipsAsleep: false,
    canConflict: false,
    restarts: false,
    recurs: true,
    isDeferred: false,
    texts: {
      name: 'Show message',
      shortName: 'Message',
      button: 'Send',
      planned: ['shows the message', 'show the message'],
      unchanged,
      emptyRooms: '',
    },
  },
  MOVE: {
    keys: { required: ['roomId'], optional: ['assignRoomProfile'] },
    needs: 'write',
    requires: null,
    // From selected rooms it would put the devices of all of them into one room.
    selection: { rows: 'devices' },
    effect: 'record',
    rollback: {
      // Devices are carried from room to room by people, and only they know where a device is.
      isAutomatic: false,
      text: 'Every device that is still where the job put it returns to the room that it had before, and gets back its profile if the job changed it. Devices that were moved again stay where they are.',
    },
    concernsPairs: true,
    connection: 'none',
    stagesRefusedText: 'Devices are moved all together.',
    waitsForIdle: false,
    skipsAsleep: false,
    canConflict: false,
    restarts: false,
    recurs: false,
    isDeferred: false,
    texts: {
      name: 'Move to a room',
      shortName: 'Move',
      button: 'Move',
      planned: ['moves', 'move'],
      unchanged: ['is already there', 'are already there'],
      emptyRooms: '',
    },
  },
  COLLECT_LOGS: {
    keys: { required: [], optional: ['uploadInCallLogs'] },
    needs: 'operate',
    requires: 'logs',
    selection: null,
    effect: 'command',
    rollback: null,
    concernsPairs: false,
    connection: 'any',
    stagesRefusedText: null,
    waitsForIdle: true,
    skipsAsleep: false,
    canConflict: false,
    restarts: false,
    recurs: true,
    isDeferred: false,
    texts: {
      name: 'Collect logs',
      shortName: 'Collect logs',
      button: 'Collect',
      planned: ['sends logs', 'send logs'],
      unchanged,
      emptyRooms: '',
    },
  },
  POWER: {
    keys: { required: ['on'], optional: [] },
    needs: 'operate',
    requires: 'power',
    // People in the room no longer expect a late switch.
    selection: { rows: 'rooms and devices', deadlineMs: hourMs },
    effect: 'command',
    rollback: null,
    concernsPairs: false,
    connection: 'all',
    stagesRefusedText: null,
    waitsForIdle: 'if it switches off',
    // A sleeping device cannot be reached, and is off already.
    skipsAsleep: true,
    canConflict: false,
    restarts: false,
    recurs: true,
    isDeferred: false,
    texts: {
      name: 'Switch on or off',
      shortName: 'Power',
      button: 'Switch',
      planned: ['switches', 'switch'],
      unchanged,
      emptyRooms: '',
    },
  },
} as const satisfies Readonly<Record<string, JobActionRow>>

export type JobActionType = keyof typeof rows
export const jobActions: Readonly<Record<JobActionType, JobActionRow>> = rows
export const jobActionTypes = Object.keys(rows) as readonly JobActionType[]

export type ReversibleActionType = {
  [T in JobActionType]: (typeof rows)[T]['rollback'] extends null ? never : T
}[JobActionType]
export const isReversible = (type: JobActionType): type is ReversibleActionType => jobActions[type].rollback !== null

/** Says which actions have a property: "CONFIG, ASSIGN_PROFILE and MOVE". */
export const actionTypesWith = (has: (action: JobActionRow) => boolean): string =>
  jobActionTypes
    .filter((type) => has(jobActions[type]))
    .join(', ')
    // Intl.ListFormat would take 24 ms of every start.
    .replace(/, (\w+)$/, ' and $1')

/** Without stages a job waits for nothing, unless the request says so. [contract 12.job] */
export function waitsForIdleByDefault(
  { type, on }: { readonly type: JobActionType; readonly on?: boolean | undefined },
  hasStages: boolean,
): boolean {
  const { waitsForIdle } = jobActions[type]
  return hasStages && (waitsForIdle === 'if it switches off' ? on === false : waitsForIdle)
}

/** Each type has keys of its own; the rule of jobsPlan and jobsCreate checks them. */
export const JobAction = Shape(
  'JobAction',
  { type: OneOf(jobActionTypes, 'The action on each endpoint.'), ...actionKeys },
  // A key with a typing error is refused, as everywhere in the request of a job.
  { additionalProperties: false },
)
