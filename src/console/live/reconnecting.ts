// Reads answers again while they show devices as reconnecting: no event is sent when a reconnecting device becomes offline.
import type { ApiResponse } from '../../client/client.ts'
import type { ResponseOf } from '../../contract/operation.ts'
import type { Operations } from '../../contract/operations.ts'
import { queryClient } from '../api.ts'
import { cachedBody } from './cached-lists.ts'
import { rowReader } from './row-reader.ts'

/** Events about devices that come back are shown without this. */
const readMs = 15_000

interface Stated {
  readonly state?: string
}
const isUnknown = ({ state }: Stated): boolean => state === 'UNKNOWN'

/** Returns a function that stops it. */
export function watchReconnecting(): () => void {
  const timer = setInterval(() => {
    readRows()
    readWhere<ResponseOf<Operations['roomsGet']>>('roomsGet', ({ endpoints }) => endpoints.some(isUnknown))
    readWhere<Stated>('endpointsGet', isUnknown)
  }, readMs)
  return () => clearInterval(timer)
}

function readRows(): void {
  const rooms = cachedBody('roomsList')?.rooms ?? []
  const devices = cachedBody('endpointsBasicList')?.endpoints ?? []
  const idsOf = <T extends { readonly id: number | string }>(rows: readonly T[]) => rows.map(({ id }) => id)
  rowReader.name('roomsList', idsOf(rooms.filter(({ unknownCount = 0 }) => unknownCount > 0)))
  rowReader.name('endpointsBasicList', idsOf(devices.filter(isUnknown)))
}

const readWhere = <T>(id: 'roomsGet' | 'endpointsGet', fits: (body: T) => boolean): void =>
  void queryClient.invalidateQueries(
    {
      queryKey: [id],
      type: 'active',
      predicate: ({ state: { data } }) => data !== undefined && fits((data as ApiResponse<T>).body),
    },
    { cancelRefetch: false },
  )
