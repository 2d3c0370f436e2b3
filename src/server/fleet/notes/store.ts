// Holds the SQL of room notes.

import type { Selectable } from 'kysely'
import { visibleQuery, visibleQueryOne, write } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'

export type NoteRow = Omit<Selectable<DatabaseSchema['room_notes']>, 'org'>

export const listNotes = visibleQuery('room', 'room_notes.room_id', (db, p: { org: number }) =>
  db.selectFrom('room_notes').selectAll().where('org', '=', p.org).orderBy('id', 'desc'),
)

export const listNotesOfRoom = visibleQuery('room', 'room_notes.room_id', (db, p: { org: number; room: number }) =>
  db.selectFrom('room_notes').selectAll().where('org', '=', p.org).where('room_id', '=', p.room).orderBy('id', 'desc'),
)

export const findNote = visibleQueryOne(
  'room',
  'room_notes.room_id',
  (db, p: { org: number; room: number; id: number }) =>
    db
      .selectFrom('room_notes')
      .selectAll()
      .where('org', '=', p.org)
      .where('id', '=', p.id)
      .where('room_id', '=', p.room),
)

export const insertNote = write((db, p: NoteRow & { org: number }) =>
  db.insertInto('room_notes').values({
    org: p.org,
    id: p.id,
    room_id: p.room_id,
    version: p.version,
    note: p.note,
    author: p.author,
    created_at: p.created_at,
  }),
)

export const deleteNote = write((db, p: { org: number; id: number }) =>
  db.deleteFrom('room_notes').where('org', '=', p.org).where('id', '=', p.id),
)
