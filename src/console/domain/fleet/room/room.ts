// The type of a room.
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'

export type RoomDetails = ResponseOf<Operations['roomsGet']>

/** A room as it was read, with the ETag that keeps a write from overwriting a newer version. */
export interface RoomSnapshot {
  readonly room: RoomDetails
  readonly etag: string | undefined
}
