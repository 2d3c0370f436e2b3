// Reads answers again while they show devices as reconnecting: no event is sent when a reconnecting device becomes offline.
import type { ApiResponse } from '../../client/client.ts'
import type { ResponseOf } from '../../contract/operation.ts'
import type { Operations } from '../../contract/operations.ts'
import { queryClient } from '../api.ts'

/** Events about devices that come back are shown without this. */
const readMs = 15_000

type Shown = 'roomsList' | 'endpointsBasicList' | 'roomsGet' | 'endpointsGet'
const showsReconnecting: { readonly [K in Shown]: (body: ResponseOf<Operations[K]>) => boolean } = {
  roomsList: ({ rooms }) => rooms.some(({ unknownCount = 0 }) => unknownCount > 0),
  endpointsBasicList: ({ endpoints }) => endpoints.some(({ state }) => state === 'UNKNOWN'),
  roomsGet: ({ endpoints }) => endpoints.some(({ state }) => state === 'UNKNOWN'),
  endpointsGet: ({ state }) => state === 'UNKNOWN',
}

/** Returns a function that stops it. */
export function watchReconnecting(): () => void {
  const timer = setInterval(() => {
    for (const id of Object.keys(showsReconnecting) as Shown[]) {
      const isShown = showsReconnecting[id] as (body: unknown) => boolean
      void queryClient.invalidateQueries(
        {
          queryKey: [id],
          type: 'active',
          predicate: ({ state }) => isShown((state.data as ApiResponse<unknown> | undefined)?.body ?? nothing),
        },
        { cancelRefetch: false },
      )
    }
  }, readMs)
  return () => clearInterval(timer)
}

const nothing = { rooms: [], endpoints: [] }
