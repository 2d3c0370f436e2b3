// Every room with where it is and how its air is: one list, which the overview counts and the table shows.
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import type { AirLimits } from '../../../contract/session.ts'
import { ask } from '../../api.ts'
import { folded, orderKey } from '../../parts/text/search-text.ts'
import { useSession } from '../../session.ts'
import { type AirSample, airOutliers, type Outlier } from '../air/air.ts'
import { type Places, usePlaces } from '../site/sites.ts'

type ListedRoom = ResponseOf<Operations['roomsList']>['rooms'][number]
type RoomSample = ResponseOf<Operations['roomsBulkSensorData']>['data'][number]

export interface RoomRow extends ListedRoom {
  readonly region: { readonly id: number; readonly name: string } | undefined
  /** Undefined while nobody has measured lately. */
  readonly sample: AirSample | undefined
  readonly outliers: readonly Outlier[]
  /** What is searched in, folded. */
  readonly text: string
  readonly order: string
}

export interface RoomRows {
  readonly rows: readonly RoomRow[]
  readonly air: 'known' | 'asked' | 'failed'
  readonly airError: unknown
}

export function useRoomRows(): RoomRows {
  const { rooms } = useSuspenseQuery(ask('roomsList')).data.body
  const places = usePlaces()
  const { airLimits } = useSession()
  // Without any device the service has no samples to speak of, and says so with an error. [contract 4.roomsBulkSensorData]
  const hasDevices = useMemo(() => rooms.some((room) => room.endpointCount > 0), [rooms])
  const asked = useQuery({ ...ask('roomsBulkSensorData'), enabled: hasDevices })
  const samples = asked.data?.body.data
  const rows = useMemo(() => rowsOf(rooms, places, samples ?? [], airLimits), [rooms, places, samples, airLimits])
  return {
    rows,
    air: !hasDevices || samples ? 'known' : asked.isError ? 'failed' : 'asked',
    airError: asked.error,
  }
}

function rowsOf(
  rooms: readonly ListedRoom[],
  { locationById }: Places,
  samples: readonly RoomSample[],
  limits: AirLimits,
): RoomRow[] {
  const sampleById = new Map(samples.map(({ id, roomData }) => [id, roomData?.data[0]]))
  const regionText = new Map([...locationById.values()].map((l) => [l.id, l.region ? ` ${folded(l.region.name)}` : '']))
  return rooms.map((room) => {
    const sample = sampleById.get(room.id)
    const { text, order } = foldsOf(room)
    return {
      ...room,
      region: room.location && locationById.get(room.location.id)?.region,
      sample,
      outliers: sample ? airOutliers(sample, limits) : none,
      text: text + (room.location ? (regionText.get(room.location.id) ?? '') : ''),
      order,
    }
  })
}

const none: readonly Outlier[] = []

/** A room that did not change is the same object in the next answer: only what is new is folded again. */
const folds = new WeakMap<ListedRoom, { readonly text: string; readonly order: string }>()
function foldsOf(room: ListedRoom) {
  let known = folds.get(room)
  if (!known) {
    known = { text: folded(`${room.name} ${room.location?.name ?? ''}`), order: orderKey(room.name) }
    folds.set(room, known)
  }
  return known
}
