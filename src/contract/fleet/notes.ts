// Room notes: what the note operations take and give. [contract 5.4.note] [contract 6.notes]

import Type from 'typebox'
import { maxNoteCharacters } from '../incidents/limits.ts'
import { largeBodyBytes, operation } from '../operation.ts'
import { Empty, Int32, ListOf, MultilineText, Shape, Timestamp } from '../shape.ts'

export const Note = Shape('webpageRoomNote', {
  id: Type.String({ description: 'Identifier of the note.' }),
  roomId: Int32('The room that the note belongs to.'),
  note: Type.String({ description: 'The text of the note.' }),
  author: Type.String({ description: 'Name of the key, or e-mail address of the person, that wrote the note.' }),
  createdAt: Timestamp('Time at which the note was written.'),
})

const roomId = Int32('Identifier of the room.')
const noteId = Type.String({ description: 'Identifier of the note.' })
const example = {
  id: '41',
  roomId: 7,
  note: 'The HDMI cable is on order.',
  author: 'Operations',
  createdAt: '2026-03-02T09:15:00.000Z',
}

export const noteOperations = {
  roomNotesCreate: operation({
    method: 'POST',
    path: '/rooms/{roomId}/notes',
    tag: 'Room notes',
    scope: 'write',
    operate: true,
    summary: 'Add a note to a room',
    description: '`content` and `text` are accepted as other names of `note`.',
    params: { roomId },
    body: Shape('RoomNotesCreateRequest', { note: MultilineText(maxNoteCharacters, 'The text of the note.') }),
    bodyLimitBytes: largeBodyBytes,
    bodyAliases: { content: 'note', text: 'note' },
    response: Note,
    versioned: true,
    audit: { category: 'ORG', type: 'ROOM_NOTE_CREATED' },
    example: { params: { roomId: 7 }, body: { note: example.note }, response: example },
  }),
  roomNotesListAll: operation({
    method: 'GET',
    path: '/rooms/notes',
    tag: 'Room notes',
    scope: 'read',
    summary: 'List the notes of all rooms, newest first',
    response: ListOf('webpageRoomNoteList', 'notes', Note),
    example: { response: { notes: [example] } },
  }),
  roomNotesList: operation({
    method: 'GET',
    path: '/rooms/{roomId}/notes',
    tag: 'Room notes',
    scope: 'read',
    summary: 'List the notes of a room, newest first',
    params: { roomId },
    response: ListOf('webpageRoomNoteList', 'notes', Note),
    example: { params: { roomId: 7 }, response: { notes: [example] } },
  }),
  roomNotesGet: operation({
    method: 'GET',
    path: '/rooms/{roomId}/notes/{noteId}',
    tag: 'Room notes',
    scope: 'read',
    summary: 'Read a note',
    params: { roomId, noteId },
    response: Note,
    versioned: true,
    example: { params: { roomId: 7, noteId: '41' }, response: example },
  }),
  roomNotesDelete: operation({
    method: 'DELETE',
    path: '/rooms/{roomId}/notes/{noteId}',
    tag: 'Room notes',
    scope: 'write',
    operate: true,
    summary: 'Delete a note',
    params: { roomId, noteId },
    response: Empty,
    ifMatch: true,
    audit: { category: 'ORG', type: 'ROOM_NOTE_DELETED' },
    example: { params: { roomId: 7, noteId: '41' }, response: {} },
  }),
}
