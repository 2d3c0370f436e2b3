// An operation as an answer shows it, and as its device is told it. [contract 5.4.operation]
import type { Static } from 'typebox'
import type { OperationCommand } from '../../contract/device.ts'
import type { DeviceOperation } from '../../contract/device-operations.ts'
import { isoTime } from '../../platform/clock.ts'
import type { OperationRow } from './store.ts'

type View = Static<typeof DeviceOperation>

export const operationView = (row: Omit<OperationRow, 'payload' | 'sent_at' | 'told_at'>): View => ({
  id: row.id,
  type: row.type as View['type'],
  endpointId: row.endpoint_id,
  state: row.state as View['state'],
  createdAt: isoTime(row.created_at),
  updatedAt: isoTime(row.updated_at),
  deadline: isoTime(row.deadline),
  ...(row.error !== null && { error: row.error }),
})

/** `uploadUrl` makes the address for logs: a new one each time. */
export function commandView(
  { id, type, deadline, payload }: OperationRow,
  uploadUrl: (id: string) => string,
): OperationCommand {
  const command = { id, type: type as OperationCommand['type'], deadline: isoTime(deadline) }
  const details = JSON.parse(payload)
  if (type === 'MESSAGE') return { ...command, message: details.message }
  if (type !== 'COLLECT_LOGS') return command
  const { supportId, inCallLogs } = details
  return { ...command, logs: { supportId, inCallLogs, uploadUrl: uploadUrl(id) } }
}
