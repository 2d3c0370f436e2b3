// SQL of room notes.
import type { Selectable } from 'kysely'
import type { Reader, Tx } from '../../db/db.ts'
import { query, queryOne } from '../../db/query.ts'
import type { DatabaseSchema } from '../../db/schema.ts'

export type NoteRow = Selectable<DatabaseSchema['room_notes']>

const all = query((db, p: { org: number }) =>
  db.selectFrom('room_notes').selectAll().where('org', '=', p.org).orderBy('id', 'desc'),
)
export const listNotes = (on: Reader, org: number) => all(on, { org })

const ofRoom = query((db, p: { org: number; room: number }) =>
  db.selectFrom('room_notes').selectAll().where('org', '=', p.org).where('room_id', '=', p.room).orderBy('id', 'desc'),
)
export const listNotesOfRoom = (on: Reader, org: number, room: number) => ofRoom(on, { org, room })

const one = queryOne((db, p: { org: number; room: number; id: number }) =>
  db.selectFrom('room_notes').selectAll().where('org', '=', p.org).where('id', '=', p.id).where('room_id', '=', p.room),
)
export const findNote = (on: Reader, org: number, room: number, id: number) => one(on, { org, room, id })

const insert = query((db, p: NoteRow) =>
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
export const insertNote = (tx: Tx, note: NoteRow) => insert(tx, note)

const remove = query((db, p: { org: number; id: number }) =>
  db.deleteFrom('room_notes').where('org', '=', p.org).where('id', '=', p.id),
)
export const deleteNote = (tx: Tx, org: number, id: number) => remove(tx, { org, id })
