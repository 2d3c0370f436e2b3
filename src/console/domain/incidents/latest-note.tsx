// The latest note of a room, in one line.
import { useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../api.ts'
import { shortTime } from '../../parts/text/time.tsx'

/** A list renders only its visible rows, so only their notes are read. */
export function LatestNote({ roomId }: { readonly roomId: number }) {
  const note = useQuery(operationQuery('roomNotesList', { roomId })).data?.body.notes[0]
  if (!note) return null
  return <span title={`${note.author}, ${shortTime(Date.parse(note.createdAt))}: ${note.note}`}>{note.note}</span>
}
