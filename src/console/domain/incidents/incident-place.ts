// Names the place of an incident: its room, how many rooms it has, or its cause; and what of it a title does not say.
import { plural } from '../../parts/text/words.ts'
import type { RoomTableRow } from '../fleet/room/room-rows.ts'
import { causeName, type ListedIncident } from './incident.ts'

export function incidentPlace(
  { roomIds, cause }: Pick<ListedIncident, 'roomIds' | 'cause'>,
  roomName: (id: number) => string | undefined,
): string {
  const [first] = roomIds
  if (first === undefined) return cause.level === 'ORGANISATION' ? 'Organisation' : causeName(cause)
  return roomIds.length === 1 ? (roomName(first) ?? `Room ${first}`) : plural(roomIds.length, 'room')
}

/** "Europe", or "4 rooms, 11 affected · Americas": a title names a single room with its location. */
export function placeBesideTitle(incident: ListedIncident, roomById: ReadonlyMap<number, RoomTableRow>): string {
  const { roomIds, openSubjectCount } = incident
  if (roomIds.length === 0) return incidentPlace(incident, () => undefined)
  const regions = new Set(roomIds.flatMap((id) => roomById.get(id)?.region?.name ?? []))
  return [
    roomIds.length > 1 && `${plural(roomIds.length, 'room')}, ${openSubjectCount.toLocaleString('en-GB')} affected`,
    regions.size > 1 ? plural(regions.size, 'region') : [...regions][0],
  ]
    .filter(Boolean)
    .join(' · ')
}
