// An operation as an answer shows it. [contract 5.4.operation]
import type { Static } from 'typebox'
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
