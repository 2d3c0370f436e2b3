// The type of a room, and its time zone.
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { isKnownTimeZone } from '../../parts/text/time.tsx'

export type RoomDetails = ResponseOf<Operations['roomsGet']>

/** A room as it was read, with the ETag that keeps a write from overwriting a newer version. */
export interface RoomSnapshot {
  readonly room: RoomDetails
  readonly etag: string | undefined
}

/** The first valid time zone that a device of the room reports. Devices may report text that is not a time zone. */
export const roomTimeZone = (room: RoomDetails, fallback: string): string =>
  room.endpoints.map(({ timezone }) => timezone).find((zone) => zone !== undefined && isKnownTimeZone(zone)) ?? fallback
