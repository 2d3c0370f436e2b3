// The names of all rooms with their locations, for lists and texts that name rooms by their ids.
import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { placedRoomName } from '../../../../contract/fleet/room-name.ts'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import { operationQuery } from '../../../api.ts'

/** Returns "Coral (Boston Seaport)" for the id of a room. Rooms that are deleted, or not read yet, have the fallback. */
export type RoomNameOf = (id: number, fallback?: string) => string

interface RoomNamesOptions {
  /** False while no room has to be named, which saves reading the list. */
  readonly enabled?: boolean
}

export function useRoomNames({ enabled = true }: RoomNamesOptions = {}): RoomNameOf {
  const { data } = useQuery({ ...operationQuery('roomsList'), select: namesOfRooms, enabled })
  return useCallback((id, fallback = `Room ${id}`) => data?.[id] ?? fallback, [data])
}

/** An object and not a map: equal objects of two answers are the same object, so a change of a room's state renders nothing again. */
const namesOfRooms = ({
  body,
}: {
  readonly body: ResponseOf<Operations['roomsList']>
}): Readonly<Record<number, string>> =>
  Object.fromEntries(body.rooms.map(({ id, name, location }) => [id, placedRoomName(name, location?.name)]))
