// The rows of the room table: every room with its site and air quality. The overview counts the same rows.
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import type { AirLimits } from '../../../contract/people/session.ts'
import { operationQuery } from '../../api.ts'
import { naturalSortKey, normalizeText } from '../../parts/text/search-text.ts'
import { useSession } from '../../session.ts'
import { type AirSample, airOutliers, type Outlier } from '../air/air.ts'
import { type Sites, useSites } from '../site/sites.ts'

type ListedRoom = ResponseOf<Operations['roomsList']>['rooms'][number]
type RoomSample = ResponseOf<Operations['roomsBulkSensorData']>['data'][number]

export interface RoomTableRow extends ListedRoom {
  readonly region: { readonly id: number; readonly name: string } | undefined
  /** Undefined if there is no recent sample. */
  readonly sample: AirSample | undefined
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
  const rows = useMemo(() => rowsOf(rooms, places, samples ?? [], airLimits), [rooms, places, samples, airLimits])
  return {
    rows,
    air: !hasDevices || samples ? 'loaded' : airQuery.isError ? 'failed' : 'loading',
    airError: airQuery.error,
  }
}

function rowsOf(
  rooms: readonly ListedRoom[],
  { locationById }: Sites,
  samples: readonly RoomSample[],
  limits: AirLimits,
): RoomTableRow[] {
  const sampleById = new Map(samples.map(({ id, roomData }) => [id, roomData?.data[0]]))
  const regionText = new Map(
    [...locationById.values()].map((l) => [l.id, l.region ? ` ${normalizeText(l.region.name)}` : '']),
  )
  return rooms.map((room) => {
    const sample = sampleById.get(room.id)
    const { searchText, sortKey } = normalizedTexts(room)
    return {
      ...room,
      region: room.location && locationById.get(room.location.id)?.region,
      sample,
      outliers: sample ? airOutliers(sample, limits) : noOutliers,
      searchText: searchText + (room.location ? (regionText.get(room.location.id) ?? '') : ''),
      sortKey,
    }
  })
}

const noOutliers: readonly Outlier[] = []

/** A room that has not changed is the same object in the next answer, so its texts are reused. */
const textCache = new WeakMap<ListedRoom, { readonly searchText: string; readonly sortKey: string }>()
function normalizedTexts(room: ListedRoom) {
  let known = textCache.get(room)
  if (!known) {
    known = {
      searchText: normalizeText(`${room.name} ${room.location?.name ?? ''}`),
      sortKey: naturalSortKey(room.name),
    }
    textCache.set(room, known)
  }
  return known
}
