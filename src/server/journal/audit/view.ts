// Audit entries as answers show them. [contract 4.auditLogs]
import type { Static } from 'typebox'
import type { AuditEntry } from '../../../contract/journal/audit.ts'
import type { Actor } from '../../context/request-context.ts'
import { isoTime } from '../../core/clock.ts'
import type { VisibleEntry } from './visible-entry.ts'

/** The link of the chain and the regions are not shown. */
export type ShownEntry = Omit<VisibleEntry, 'org' | 'mac' | 'regions'>

export const entryView = (row: ShownEntry): Static<typeof AuditEntry> => ({
  id: String(row.seq),
  timestamp: isoTime(row.timestamp),
  category: row.category as 'USER' | 'DEVICE' | 'ORG',
  type: row.type,
  actor: { type: row.actor_type as Actor['type'], id: row.actor_id, name: row.actor_name },
  ...(row.target_type !== null && {
    target: { type: row.target_type, id: row.target_id ?? '', name: row.target_name ?? '' },
  }),
  ...(row.details !== null && { details: JSON.parse(row.details) }),
  ...(row.request_id !== null && { requestId: row.request_id }),
  ...(row.ip !== null && { ip: row.ip }),
})
