// Names the place of an incident: its room, how many rooms it has, or its cause.
import { plural } from '../../parts/text/words.ts'
import { causeName, type ListedIncident } from './incident.ts'

export function incidentPlace(
  { roomIds, cause }: Pick<ListedIncident, 'roomIds' | 'cause'>,
  roomName: (id: number) => string | undefined,
): string {
  const [first] = roomIds
  if (first === undefined) return cause.level === 'ORGANISATION' ? 'Organisation' : causeName(cause)
  return roomIds.length === 1 ? (roomName(first) ?? `Room ${first}`) : plural(roomIds.length, 'room')
}
