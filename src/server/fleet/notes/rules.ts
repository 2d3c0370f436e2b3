// Carries out the operations on room notes, one function for each. [interface 18] [contract 6.notes]

import { VersionedAnswer } from '../../context/answers.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { mustFind } from '../../core/failure.ts'
import { parseInt32 } from '../../core/int32.ts'
import type { OrgReader } from '../../db/handles.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { findRoom } from '../rooms/store.ts'
import { auditedNote, noteView } from './fields.ts'
import { deleteNote, findNote, insertNote, listNotes, listNotesOfRoom } from './store.ts'

export const roomNotesCreate = (ctx: RequestContext, roomId: number, note: string) =>
  change(ctx, 'roomNotesCreate', async (tx) => {
    const room = await requireRoomOfNote(tx, roomId)
    const row = {
      id: await nextId(tx, 'note'),
      room_id: roomId,
      version: 1,
      note,
      author: ctx.actor.name,
      created_at: ctx.clock.now(),
    }
    await insertNote(tx, row)
    return {
      result: new VersionedAnswer(1, noteView(row)),
      target: auditRef('roomNote', { id: row.id, name: room.name }),
      after: auditedNote.all(row),
    }
  })

export const roomNotesListAll = async (ctx: RequestContext) => ({
  notes: (await listNotes(ctx.db)).map(noteView),
})

export async function roomNotesList(ctx: RequestContext, roomId: number) {
  await requireRoomOfNote(ctx.db, roomId)
  return { notes: (await listNotesOfRoom(ctx.db, { room: roomId })).map(noteView) }
}

export async function roomNotesGet(ctx: RequestContext, roomId: number, noteId: string) {
  const note = await requireNote(ctx.db, roomId, noteId)
  return new VersionedAnswer(note.version, noteView(note))
}

export const roomNotesDelete = (ctx: RequestContext, roomId: number, noteId: string) =>
  change(ctx, 'roomNotesDelete', async (tx) => {
    const room = await requireRoomOfNote(tx, roomId)
    const note = await requireNote(tx, roomId, noteId)
    checkIfMatch(ctx, note.version)
    await deleteNote(tx, { id: note.id })
    return {
      result: {},
      target: auditRef('roomNote', { id: note.id, name: room.name }),
      before: auditedNote.all(note),
    }
  })

const requireRoomOfNote = async (on: OrgReader, id: number) => mustFind(await findRoom(on, { id }), `room ${id}`)

async function requireNote(on: OrgReader, roomId: number, noteId: string) {
  const id = parseInt32(noteId)
  return mustFind(
    id === undefined ? undefined : await findNote(on, { room: roomId, id }),
    `note ${noteId} in room ${roomId}`,
  )
}
