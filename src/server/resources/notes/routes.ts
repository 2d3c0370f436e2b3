// The doors to room notes.
import type { Handlers } from '../../http/handlers.ts'
import { roomNotesCreate, roomNotesDelete, roomNotesGet, roomNotesList, roomNotesListAll } from './rules.ts'

export const noteRoutes: Handlers<
  'roomNotesCreate' | 'roomNotesListAll' | 'roomNotesList' | 'roomNotesGet' | 'roomNotesDelete'
> = {
  roomNotesCreate: (by, { params, body }) => roomNotesCreate(by, params.roomId, body.note),
  roomNotesListAll,
  roomNotesList: (by, { params }) => roomNotesList(by, params.roomId),
  roomNotesGet: (by, { params }) => roomNotesGet(by, params.roomId, params.noteId),
  roomNotesDelete: (by, { params }) => roomNotesDelete(by, params.roomId, params.noteId),
}
