// A bug report as an answer shows it: how far each endpoint is. [contract 6.bugReports]
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { isoTime } from '../../core/clock.ts'
import type { ItemRow, ReportRow } from './store.ts'
import { shownSupportId } from './support-id.ts'

type Report = ResponseOf<Operations['bugReportsGet']>
type Item = Report['endpoints'][number]

export const reportView = (report: ReportRow, items: readonly ItemRow[]): Report => ({
  supportId: shownSupportId(report.id),
  createdAt: isoTime(report.created_at),
  expiresAt: isoTime(report.expires_at),
  uploadInCallLogs: report.in_call_logs === 1,
  endpoints: items.map((item) => ({
    endpointId: item.endpoint_id,
    serial: item.serial,
    model: item.model,
    ...progress(item, report.created_at),
  })),
})

/** What is there counts; until then, what became of the operation. */
function progress(item: ItemRow, requestedAt: number): Pick<Item, 'state' | 'updatedAt' | 'file' | 'size' | 'error'> {
  if (item.file !== null) {
    const updatedAt = isoTime(item.uploaded_at ?? requestedAt)
    return { state: 'UPLOADED', updatedAt, file: item.file, size: String(item.size) }
  }
  const updatedAt = isoTime(item.updated_at ?? requestedAt)
  switch (item.state) {
    case 'FAILED':
      return { state: 'FAILED', updatedAt, error: item.error ?? 'The device did not say why.' }
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
