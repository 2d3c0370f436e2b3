// Names the selected rows of a list, with their place if it is one, for the title of a dialog and the name of its job.
import { placedRoomName } from '../../../../contract/fleet/room-name.ts'
import { plural } from '../../../parts/text/words.ts'
import { inRoom } from '../../fleet/room/room-names.ts'

interface Place {
  readonly id: number
  readonly name: string
}

interface SelectedRoom extends Place {
  readonly location?: Place | undefined
}

/** "Coral (Boston Seaport)", "3 rooms in Boston Seaport" or "36 rooms". */
export function roomsSubject(rooms: readonly SelectedRoom[]): string {
  const [first] = rooms
  if (first && rooms.length === 1) return placedRoomName(first.name, first.location?.name)
  return `${plural(rooms.length, 'room')}${locationSuffix(rooms)}`
}

interface SelectedDevice {
  readonly roomId?: number | undefined
  readonly roomName?: string | undefined
  readonly location?: Place | undefined
}

/** "Bar in Coral (Boston Seaport)", "2 devices in Coral (Boston Seaport)", "3 devices in Boston Seaport" or "36 devices". */
export function devicesSubject<T extends SelectedDevice>(devices: readonly T[], nameOf: (device: T) => string): string {
  const [first] = devices
  if (!first) return plural(0, 'device')
  const subject = devices.length === 1 ? nameOf(first) : plural(devices.length, 'device')
  const { roomId, roomName, location } = first
  if (roomName !== undefined && devices.every((device) => device.roomId === roomId))
    return inRoom(subject, { name: roomName, location: location?.name })
  return `${subject}${locationSuffix(devices)}`
}

function locationSuffix(rows: readonly { readonly location?: Place | undefined }[]): string {
  const location = rows[0]?.location
  return location && rows.every((row) => row.location?.id === location.id) ? ` in ${location.name}` : ''
}
