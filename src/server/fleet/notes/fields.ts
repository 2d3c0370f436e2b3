// The fields of a room note: their columns, and what answers and the audit log make of them.
import type { Selectable } from 'kysely'
import { isoTime } from '../../core/clock.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { AuditedFields } from '../../journal/audit/audited-fields.ts'

export const noteColumns = ['id', 'version', 'room_id', 'note', 'author', 'created_at'] as const
export type NoteRow = Pick<Selectable<DatabaseSchema['room_notes']>, (typeof noteColumns)[number]>

export const auditedNote = new AuditedFields(
  (row: NoteRow) => ({ roomId: row.room_id, note: row.note, author: row.author }),
  ['roomId', 'note', 'author'],
)

export const noteView = (row: NoteRow) => ({
  id: String(row.id),
  roomId: row.room_id,
  note: row.note,
  author: row.author,
  createdAt: isoTime(row.created_at),
})
