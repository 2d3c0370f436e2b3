// A bug report as an answer shows it, with the progress of each endpoint. [contract 6.bugReports]
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { isoTime } from '../../core/clock.ts'
import type { ItemRow, ReportRow } from './store.ts'
import { formatSupportId } from './support-id.ts'

type Report = ResponseOf<Operations['bugReportsGet']>
type Item = Report['endpoints'][number]

export const reportView = (report: ReportRow, items: readonly ItemRow[]): Report => ({
  supportId: formatSupportId(report.id),
  createdAt: isoTime(report.created_at),
  expiresAt: isoTime(report.expires_at),
  uploadInCallLogs: report.in_call_logs === 1,
  endpoints: items.map((item) => ({
    endpointId: item.endpoint_id,
    ...(item.name !== null && { name: item.name }),
    serial: item.serial,
    model: item.model,
    ...progressOf(item, report.created_at),
  })),
})

/** An uploaded file decides the state; without one, the state of the command does. */
function progressOf(item: ItemRow, requestedAt: number): Pick<Item, 'state' | 'updatedAt' | 'file' | 'size' | 'error'> {
  if (item.file !== null) {
    const updatedAt = isoTime(item.uploaded_at ?? requestedAt)
    return { state: 'UPLOADED', updatedAt, file: item.file, size: String(item.size) }
  }
  const updatedAt = isoTime(item.updated_at ?? requestedAt)
  switch (item.state) {
    case 'FAILED':
      return { state: 'FAILED', updatedAt, error: item.error ?? 'The device did not say why.' }
    case 'SKIPPED':
      return { state: 'SKIPPED', updatedAt, ...(item.error !== null && { error: item.error }) }
    case 'CANCELLED':
      return { state: 'CANCELLED', updatedAt }
    case 'QUEUED':
    case 'SENT':
    case 'ACKNOWLEDGED':
      return { state: 'REQUESTED', updatedAt: isoTime(requestedAt) }
    default:
      return { state: 'EXPIRED', updatedAt }
  }
}
