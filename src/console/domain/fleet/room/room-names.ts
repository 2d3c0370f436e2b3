// The names of all rooms with their locations, for lists and texts that name rooms by their ids.
import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { placedRoomName } from '../../../../contract/fleet/room-name.ts'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import { operationQuery } from '../../../api.ts'

export interface NamedRoom {
  readonly name: string
  /** The name of its location. */
  readonly location?: string | undefined
}

/** "Bar in Coral (Boston Seaport)". */
export const inRoom = (name: string, room: NamedRoom): string =>
  `${name} in ${placedRoomName(room.name, room.location)}`

/** An object and not a map: equal objects of two answers are the same object, so a change of a room's state renders nothing again. */
export type RoomsById = Readonly<Record<number, NamedRoom>>

interface RoomNamesOptions {
  /** False while no room has to be named, which saves reading the list. */
  readonly enabled?: boolean
}

/** The rooms are undefined until they are read. */
export const useNamedRooms = ({ enabled = true }: RoomNamesOptions = {}): RoomsById | undefined =>
  useQuery({ ...operationQuery('roomsList'), select: namesAndLocations, enabled }).data

const namesAndLocations = ({ body }: { readonly body: ResponseOf<Operations['roomsList']> }): RoomsById =>
  Object.fromEntries(body.rooms.map(({ id, name, location }) => [id, { name, location: location?.name }]))

/** Returns "Coral (Boston Seaport)" for the id of a room. Rooms that are deleted, or not read yet, have the fallback. */
export type RoomNameOf = (id: number, fallback?: string) => string

export function useRoomNames(options?: RoomNamesOptions): RoomNameOf {
  const rooms = useNamedRooms(options)
  return useCallback(
    (id, fallback = `Room ${id}`) => {
      const room = rooms?.[id]
      return room ? placedRoomName(room.name, room.location) : fallback
    },
    [rooms],
  )
}
