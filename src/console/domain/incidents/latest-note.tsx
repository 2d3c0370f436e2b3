// The latest note about an incident, in one line: of the incident itself, or of its room.
import { useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../api.ts'
import { shortTime } from '../../parts/text/time.tsx'
import type { ListedIncident } from './incident.ts'

/** An incident of several rooms has only notes of its own. */
export function LatestNote({ incident }: { readonly incident: ListedIncident }) {
  const { roomIds, latestNote } = incident
  const [roomId, second] = roomIds
  return roomId === undefined || second !== undefined ? (
    <Note note={latestNote} />
  ) : (
    <NoteOfRoom roomId={roomId} latestNote={latestNote} />
  )
}

interface NoteProps {
  readonly latestNote: ListedIncident['latestNote'] | undefined
}

/** A list renders only its visible rows, so only the notes of their rooms are read. */
function NoteOfRoom({ roomId, latestNote }: NoteProps & { readonly roomId: number }) {
  const ofRoom = useQuery(operationQuery('roomNotesList', { roomId })).data?.body.notes[0]
  const isNewer = ofRoom && (!latestNote || ofRoom.createdAt > latestNote.at)
  return <Note note={isNewer ? { at: ofRoom.createdAt, author: ofRoom.author, text: ofRoom.note } : latestNote} />
}

const Note = ({ note }: { readonly note: NoteProps['latestNote'] }) =>
  note && <span title={`${note.author}, ${shortTime(Date.parse(note.at))}: ${note.text}`}>{note.text}</span>
