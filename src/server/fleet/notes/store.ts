// Holds the SQL of room notes.

import { pickColumns } from '../../db/queries/columns.ts'
import { visibleQuery, visibleQueryOne, write } from '../../db/queries/query.ts'
import { type NoteRow, noteColumns } from './fields.ts'

export const listNotes = visibleQuery('room', 'room_notes.room_id', (db, p: { org: number }) =>
  db.selectFrom('room_notes').select(noteColumns).where('org', '=', p.org).orderBy('id', 'desc'),
)

export const listNotesOfRoom = visibleQuery('room', 'room_notes.room_id', (db, p: { org: number; room: number }) =>
  db
    .selectFrom('room_notes')
    .select(noteColumns)
    .where('org', '=', p.org)
    .where('room_id', '=', p.room)
    .orderBy('id', 'desc'),
)

export const findNote = visibleQueryOne(
  'room',
  'room_notes.room_id',
  (db, p: { org: number; room: number; id: number }) =>
    db
      .selectFrom('room_notes')
      .select(noteColumns)
      .where('org', '=', p.org)
      .where('id', '=', p.id)
      .where('room_id', '=', p.room),
)

export const insertNote = write((db, p: NoteRow & { org: number }) =>
  db.insertInto('room_notes').values({ org: p.org, ...pickColumns(p, noteColumns) }),
)

export const deleteNote = write((db, p: { org: number; id: number }) =>
  db.deleteFrom('room_notes').where('org', '=', p.org).where('id', '=', p.id),
)
