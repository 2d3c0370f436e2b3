// A command as answers, events and the messages to its device show it. [contract 5.4.operation]

import type { Static } from 'typebox'
import type { DeviceCommandMessage } from '../../../contract/device/protocol.ts'
import type { CommandType, DeviceCommand } from '../../../contract/fleet/commands.ts'
import { isoTime } from '../../core/clock.ts'
import type { EventDraft } from '../../events/draft.ts'
import type { CommandBatch, CommandRow, NewCommand } from './store.ts'

type View = Static<typeof DeviceCommand>

/** The columns that answers do not show. */
type Unshown =
  | 'payload'
  | 'sent_at'
  | 'told_at'
  | 'sent_connection'
  | 'told_connection'
  | 'reboot_time'
  | 'group_id'
  | 'attempt_of'

export const commandView = (row: Omit<CommandRow, Unshown>): View => ({
  id: row.id,
  type: row.type as View['type'],
  endpointId: row.endpoint_id,
  state: row.state as View['state'],
  createdAt: isoTime(row.created_at),
  updatedAt: isoTime(row.updated_at),
  deadline: isoTime(row.deadline),
  ...(row.error !== null && { error: row.error }),
  ...(row.waits_for !== null && row.state === 'QUEUED' && { waitsFor: row.waits_for }),
})

/** Shows commands that were just inserted, without reading them again. */
export const newCommandViews = (batch: Omit<CommandBatch, 'payload'>, rows: readonly NewCommand[]): View[] => {
  const { type, at, deadline, waitsFor = null } = batch
  return rows.map((row) => commandView({ ...row, type, created_at: at, updated_at: at, deadline, waits_for: waitsFor }))
}

/** A deleted endpoint has no room in the database, so its event must carry the `rooms` that it was in. */
export const commandEventDraft = (command: View, rooms?: readonly number[]): EventDraft => ({
  type: 'operation',
  endpointId: command.endpointId,
  operation: command,
  ...(rooms && { about: { rooms } }),
})

/** `uploadUrl` makes a new upload address on every call. */
export function commandMessage(
  { id, type, deadline, payload }: CommandRow,
  uploadUrl: (id: string) => string,
): DeviceCommandMessage {
  const known = type as CommandType
  return {
    ...{ id, type: known, deadline: isoTime(deadline) },
    ...parametersOf[known](JSON.parse(payload), () => uploadUrl(id)),
  }
}

/** The column `payload`, by the type of its command. */
interface StoredPayloads {
  readonly REBOOT: { readonly onlyIfIdle?: true }
  readonly MESSAGE: { readonly message: string }
  readonly COLLECT_LOGS: { readonly supportId: string; readonly inCallLogs: boolean }
  readonly POWER: { readonly on: boolean }
}

/** Makes the parameters that the message to the device has, from the stored payload. */
const parametersOf: {
  readonly [T in CommandType]: (
    payload: StoredPayloads[T],
    uploadUrl: () => string,
  ) => Pick<DeviceCommandMessage, 'onlyIfIdle' | 'message' | 'logs' | 'on'>
} = {
  REBOOT: ({ onlyIfIdle }) => (onlyIfIdle ? { onlyIfIdle } : {}),
  MESSAGE: ({ message }) => ({ message }),
  POWER: ({ on }) => ({ on }),
  COLLECT_LOGS: ({ supportId, inCallLogs }, uploadUrl) => ({ logs: { supportId, inCallLogs, uploadUrl: uploadUrl() } }),
}
