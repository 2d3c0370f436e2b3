// Writes audit entries as CSV.
import { csvRow } from '../../../contract/csv.ts'
import { isoTime } from '../../core/clock.ts'
import type { VisibleEntry } from './visible-entry.ts'

export const csvHeader = csvRow([
  'id',
  'timestamp',
  'category',
  'type',
  'actorType',
  'actorId',
  'actorName',
  'targetType',
  'targetId',
  'targetName',
  'details',
  'requestId',
  'ip',
])

export const csvLine = (row: VisibleEntry): string =>
  csvRow([
    String(row.seq),
    isoTime(row.timestamp),
    row.category,
    row.type,
    row.actor_type,
    row.actor_id,
    row.actor_name,
    row.target_type ?? '',
    row.target_id ?? '',
    row.target_name ?? '',
    row.details ?? '',
    row.request_id ?? '',
    row.ip ?? '',
  ])
