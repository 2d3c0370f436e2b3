// Room notes: one function for each operation. [interface 18] [contract 6.notes]

import { checkIfMatch } from '../../context/if-match.ts'
import type { By } from '../../context/request-context.ts'
import { isoTime } from '../../core/clock.ts'
import { found } from '../../core/failure.ts'
import type { Reader } from '../../db/db.ts'
import { nextId } from '../../db/next-id.ts'
import { Versioned } from '../../http/answer.ts'
import { parseInt32 } from '../../http/input.ts'
import { change, ref } from '../audit/change.ts'
import { findRoom } from '../rooms/store.ts'
import { deleteNote, findNote, insertNote, listNotes, listNotesOfRoom, type NoteRow } from './store.ts'

export const roomNotesCreate = (by: By, roomId: number, note: string) =>
  change(by, 'roomNotesCreate', async (tx) => {
    const room = await existingRoom(tx, by, roomId)
    const row = {
      org: by.org.key,
      id: await nextId(tx, by.org.key, 'note'),
      room_id: roomId,
      version: 1,
      note,
      author: by.actor.name,
      created_at: by.ground.clock.now(),
    }
    await insertNote(tx, row)
    return {
      result: new Versioned(1, view(row)),
      target: ref('roomNote', { id: row.id, name: room.name }),
      after: { roomId, note },
    }
  })

export const roomNotesListAll = async (by: By) => ({ notes: (await listNotes(by.ground.db, by.org.key)).map(view) })

export async function roomNotesList(by: By, roomId: number) {
  await existingRoom(by.ground.db, by, roomId)
  return { notes: (await listNotesOfRoom(by.ground.db, by.org.key, roomId)).map(view) }
}

export async function roomNotesGet(by: By, roomId: number, noteId: string) {
  const note = await existing(by.ground.db, by, roomId, noteId)
  return new Versioned(note.version, view(note))
}

export const roomNotesDelete = (by: By, roomId: number, noteId: string) =>
  change(by, 'roomNotesDelete', async (tx) => {
    const room = await existingRoom(tx, by, roomId)
    const note = await existing(tx, by, roomId, noteId)
    checkIfMatch(by, note.version)
    await deleteNote(tx, by.org.key, note.id)
    return {
      result: {},
      target: ref('roomNote', { id: note.id, name: room.name }),
      before: { roomId, note: note.note, author: note.author },
    }
  })

const existingRoom = async (on: Reader, by: By, id: number) => found(await findRoom(on, by.org.key, id), `room ${id}`)

async function existing(on: Reader, by: By, roomId: number, noteId: string) {
  const id = parseInt32(noteId)
  return found(
    id === undefined ? undefined : await findNote(on, by.org.key, roomId, id),
    `note ${noteId} in room ${roomId}`,
  )
}

const view = (row: NoteRow) => ({
  id: String(row.id),
  roomId: row.room_id,
  note: row.note,
  author: row.author,
  createdAt: isoTime(row.created_at),
})
