// Connects the HTTP operations on room notes to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import { roomNotesCreate, roomNotesDelete, roomNotesGet, roomNotesList, roomNotesListAll } from './rules.ts'

export const noteRoutes: OperationHandlers<
  'roomNotesCreate' | 'roomNotesListAll' | 'roomNotesList' | 'roomNotesGet' | 'roomNotesDelete'
> = {
  roomNotesCreate: (ctx, { params, body }) => roomNotesCreate(ctx, params.roomId, body.note),
  roomNotesListAll,
  roomNotesList: (ctx, { params }) => roomNotesList(ctx, params.roomId),
  roomNotesGet: (ctx, { params }) => roomNotesGet(ctx, params.roomId, params.noteId),
  roomNotesDelete: (ctx, { params }) => roomNotesDelete(ctx, params.roomId, params.noteId),
}
