// The rooms with devices that are being restarted, and the state of a room if these do not count as offline.
import { useQuery, useSuspenseQueries } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { operationQuery } from '../../../api.ts'
import type { Restarts } from '../device/restarts.ts'
import type { RoomState } from './room-state.tsx'

interface RoomRestart {
  readonly sinceMs: number
  /** The number of devices that are being restarted. */
  readonly count: number
}
export type RestartingRooms = ReadonlyMap<number, RoomRestart>

/** The list of devices says which room a device is in. It is there before a restart begins, so that no room looks offline for a moment. */
export function useRestartingRooms(restarts: Restarts): RestartingRooms {
  const [hadRestartsAtStart] = useState(restarts.size > 0)
  // A page that opens during a restart waits for the list, so that it never shows the room as offline.
  const queries = [operationQuery('endpointsBasicList')].slice(0, hadRestartsAtStart ? 1 : 0)
  useSuspenseQueries({ queries })
  const { data } = useQuery(operationQuery('endpointsBasicList'))
  const endpoints = data?.body.endpoints
  return useMemo(() => restartingRoomsOf(endpoints ?? [], restarts), [restarts, endpoints])
}

export function restartingRoomsOf(endpoints: readonly PlacedDevice[], restarts: Restarts): RestartingRooms {
  if (restarts.size === 0) return noRestarts
  const inRooms = endpoints.filter(({ id, roomId }) => roomId !== undefined && restarts.has(id))
  const rooms = [...Map.groupBy(inRooms, ({ roomId }) => roomId ?? 0)]
  return new Map(rooms.flatMap(([id, devices]) => entryOf(id, restartOf(devices, restarts))))
}

const noRestarts: RestartingRooms = new Map()

const entryOf = (id: number, restart: RoomRestart | undefined): [number, RoomRestart][] =>
  restart ? [[id, restart]] : []

/** The restart in a room whose devices are known. */
export function restartOf(devices: readonly RestartingDevice[], restarts: Restarts): RoomRestart | undefined {
  const restarting = devices.filter(({ id }) => restarts.has(id))
  if (restarting.length === 0) return undefined
  return {
    sinceMs: Math.min(...restarting.map(({ id }) => restarts.get(id) ?? Number.POSITIVE_INFINITY)),
    count: restarting.length,
  }
}

interface RestartingDevice {
  readonly id: string
}

interface PlacedDevice extends RestartingDevice {
  readonly roomId?: number | undefined
}

interface RoomCounts {
  readonly state: RoomState
  readonly endpointCount: number
  readonly connectedCount: number
  readonly unknownCount?: number
  readonly asleepCount?: number
}

/**
 * As many devices may be offline as are being restarted. Whether it is the same ones is not compared: the lists of rooms and devices are
 * a moment apart, and in that moment a restart must not look like an outage.
 */
export function stateDuringRestart(room: RoomCounts, count: number): RoomState {
  const { state, endpointCount, connectedCount, unknownCount = 0, asleepCount = 0 } = room
  const offlineCount = endpointCount - connectedCount - unknownCount - asleepCount
  if (count === 0 || offlineCount === 0) return state
  if (offlineCount > count) return 'DEGRADED'
  return unknownCount > 0 ? 'UNKNOWN' : 'HEALTHY'
}
