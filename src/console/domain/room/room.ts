// What a room is to the pages that show one, and in which zone its clock runs.
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { isTimeZone } from '../../parts/text/time.tsx'

export type RoomDetails = ResponseOf<Operations['roomsGet']>

/** A room as it was seen, with the version for a write that must not overwrite what nobody has seen. */
export interface RoomSnapshot {
  readonly room: RoomDetails
  readonly etag: string | undefined
}

/** What its devices report; they may report words that are no zone. */
export const roomTimeZone = (room: RoomDetails, otherwise: string): string =>
  room.endpoints.map(({ timezone }) => timezone).find((zone) => zone !== undefined && isTimeZone(zone)) ?? otherwise
