// The rows of the room table: every room with its site and air quality. The overview counts the same rows.
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { AirLimits } from '../../../../contract/journal/orgs.ts'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import { naturalSortKey, normalizeText } from '../../../../contract/search-text.ts'
import { operationQuery } from '../../../api.ts'
import { useNow } from '../../../parts/text/now.ts'
import { useSession } from '../../../session.ts'
import { type AirSample, airOutliers, type Outlier } from '../../sensors/air.ts'
import type { ListedDevice } from '../device/device.ts'
import { type ProfileNames, useProfileNames } from '../device/profile-names.ts'
import { useRestarts } from '../device/restarts.ts'
import { type Sites, useSites } from '../site/sites.ts'
import { type Freshness, freshnessOf } from './freshness.ts'
import { type RestartingRooms, stateDuringRestart, useRestartingRooms } from './room-restarts.ts'
import { roomSinceMs } from './room-since.ts'
import { isRoomReconnecting } from './room-state.tsx'

type ListedRoom = ResponseOf<Operations['roomsList']>['rooms'][number]
type RoomSample = ResponseOf<Operations['roomsBulkSensorData']>['data'][number]

export interface RoomTableRow extends ListedRoom {
  /** The time at which the first open restart in the room was asked for. */
  readonly restartingSinceMs: number | undefined
  /** The state is UNKNOWN, and no device of the room is behind a gateway. */
  readonly isReconnecting: boolean
  /** The time of the connect or disconnect that led to the state. */
  readonly sinceMs: number | undefined
  readonly profileName: string | undefined
  readonly region: { readonly id: number; readonly name: string } | undefined
  /** Undefined if there is no recent sample, or no device of the room is online. */
  readonly sample: AirSample | undefined
  /** The age of the sample; the number of people is as old as it. */
  readonly freshness: Freshness
  readonly outliers: readonly Outlier[]
  /** The normalized text that the search looks in. */
  readonly searchText: string
  readonly sortKey: string
}

export interface RoomTableData {
  readonly rows: readonly RoomTableRow[]
  readonly air: 'loaded' | 'loading' | 'failed'
  readonly airError: unknown
}

export function useRoomRows(): RoomTableData {
  const { rooms } = useSuspenseQuery(operationQuery('roomsList')).data.body
  const places = useSites()
  const { airLimits } = useSession()
  // The operation answers with an error if the organisation has no devices. [contract 4.roomsBulkSensorData]
  const hasDevices = useMemo(() => rooms.some((room) => room.endpointCount > 0), [rooms])
  const airQuery = useQuery({ ...operationQuery('roomsBulkSensorData'), enabled: hasDevices })
  const samples = airQuery.data?.body.data
  const restarting = useRestartingRooms(useRestarts())
  const devices = useQuery(operationQuery('endpointsBasicList')).data?.body.endpoints
  const devicesByRoom = useMemo(() => Map.groupBy(devices ?? noDevices, ({ roomId }) => roomId), [devices])
  const profileNames = useProfileNames()
  const now = useNow(10_000)
  const rows = useMemo(
    () => rowsOf(rooms, places, samples ?? noSamples, { airLimits, restarting, now, devicesByRoom, profileNames }),
    [rooms, places, samples, airLimits, restarting, now, devicesByRoom, profileNames],
  )
  return {
    rows,
    air: !hasDevices || samples ? 'loaded' : airQuery.isError ? 'failed' : 'loading',
    airError: airQuery.error,
  }
}

interface RoomRowContext {
  readonly airLimits: AirLimits
  readonly restarting: RestartingRooms
  readonly now: number
  readonly devicesByRoom: ReadonlyMap<number | undefined, readonly ListedDevice[]>
  readonly profileNames: ProfileNames
}

function rowsOf(
  rooms: readonly ListedRoom[],
  { locationById }: Sites,
  samples: readonly RoomSample[],
  { airLimits, restarting, now, devicesByRoom, profileNames }: RoomRowContext,
): RoomTableRow[] {
  const sampleById = new Map(samples.map(({ id, roomData }) => [id, roomData?.data[0]]))
  const regionText = new Map(
    [...locationById.values()].map((l) => [l.id, l.region ? ` ${normalizeText(l.region.name)}` : '']),
  )
  return rooms.map((room) => {
    const restart = restarting.get(room.id)
    const state = restart ? stateDuringRestart(room, restart.count) : room.state
    // The last values of a room without a device online say nothing about now.
    const isOffline = room.endpointCount > 0 && room.connectedCount === 0
    const sample = isOffline ? undefined : sampleById.get(room.id)
    const { people, ...others } = room
    const devices = devicesByRoom.get(room.id) ?? noDevices
    const { searchText, sortKey } = normalizedTexts(room)
    return {
      ...others,
      ...(people !== undefined && !isOffline && { people }),
      state,
      isReconnecting: isRoomReconnecting(state, devices),
      restartingSinceMs: restart?.sinceMs,
      sinceMs: roomSinceMs(state, devices),
      profileName:
        room.profileId === undefined ? undefined : (profileNames.get(room.profileId) ?? `Profile ${room.profileId}`),
      region: room.location && locationById.get(room.location.id)?.region,
      sample,
      freshness: freshnessOf(sample && Number(sample.timestamp) * 1000, now),
      outliers: sample ? airOutliers(sample, airLimits) : noOutliers,
      searchText: searchText + (room.location ? (regionText.get(room.location.id) ?? '') : ''),
      sortKey,
    }
  })
}

const noOutliers: readonly Outlier[] = []
const noDevices: readonly ListedDevice[] = []
const noSamples: readonly RoomSample[] = []

/** A room that has not changed is the same object in the next answer, so its texts are reused. */
const textCache = new WeakMap<ListedRoom, { readonly searchText: string; readonly sortKey: string }>()
function normalizedTexts(room: ListedRoom) {
  let known = textCache.get(room)
  if (!known) {
    known = {
      searchText: normalizeText(
        [room.name, room.location?.name ?? '', room.tags?.join(' ') ?? '', room.externalId ?? ''].join(' '),
      ),
      sortKey: naturalSortKey(room.name),
    }
    textCache.set(room, known)
  }
  return known
}
