// Formats audit entries as CSV (RFC 4180) that is safe to open in a spreadsheet.
import { isoTime } from '../../core/clock.ts'
import type { EntryRow } from './store.ts'

export const csvHeader =
  'id,timestamp,category,type,actorType,actorId,actorName,targetType,targetId,targetName,details,requestId,ip\r\n'

export const csvLine = (row: EntryRow): string =>
  `${[
    String(row.seq),
    isoTime(row.timestamp),
    row.category,
    row.type,
    row.actor_type,
    row.actor_id,
    row.actor_name,
    row.target_type,
    row.target_id,
    row.target_name,
    row.details,
    row.request_id ?? '',
    row.ip ?? '',
  ]
    .map(formatCell)
    .join(',')}\r\n`

/** An apostrophe before a name like `=HYPERLINK(…)` prevents spreadsheets from evaluating it. */
const formatCell = (text: string): string => {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
