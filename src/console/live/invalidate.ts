// Which answers an event makes old, and how soon they are asked for again.
import type { Query } from '@tanstack/react-query'
import type { OperationId } from '../../contract/operations.ts'
import { queryClient } from '../api.ts'

/** What of an event is needed here. */
export interface Heard {
  readonly type: string
  readonly roomIds: readonly number[]
  readonly endpointId?: string | undefined
}

/** Milliseconds between two times that the same thing is asked because of events: long lists are asked less often. */
const pace: Partial<Record<OperationId, number>> = {
  roomsList: 3000,
  endpointsBasicList: 3000,
  roomsBulkSensorData: 5000,
  auditLogs: 2000,
  roomsSensorHistory: 60_000,
  endpointsSensorHistory: 60_000,
}
const usualPace = 500

const ofRoom: Record<string, readonly OperationId[]> = {
  connected: ['roomsGet'],
  disconnected: ['roomsGet'],
  status: ['roomsGet'],
  config: ['roomsGet'],
  sample: ['roomsSensorData', 'roomsSensorHistory'],
}
const ofEndpoint: Record<string, readonly OperationId[]> = {
  connected: ['endpointsGet'],
  disconnected: ['endpointsGet'],
  // Among the settings is what a device says of itself.
  status: ['endpointsGet', 'endpointsSettings', 'configStateGet'],
  config: ['configStateGet', 'configVersionsList', 'endpointsSettings'],
  sample: ['endpointsSensorData', 'endpointsSensorHistory'],
  operation: ['endpointsOperationsList'],
}
const ofAll: Record<string, readonly OperationId[]> = {
  connected: ['roomsList', 'endpointsBasicList'],
  disconnected: ['roomsList', 'endpointsBasicList'],
  status: ['endpointsBasicList'],
  config: ['roomsList'],
  sample: ['roomsList', 'roomsBulkSensorData'],
  operation: ['bugReportsGet'],
}
/** Samples do not change because somebody renames a room. */
const untouched: readonly OperationId[] = ['roomsSensorHistory', 'endpointsSensorHistory', 'endpointsSensorData']

interface Due {
  last: number
  timer: ReturnType<typeof setTimeout> | undefined
}
const due = new Map<string, Due>()

export function concern(heard: Heard): void {
  if (heard.type === 'reset') renewKnown(() => true)
  // Nearly everything shows names and places.
  else if (heard.type === 'structure') renewKnown((id) => !untouched.includes(id))
  else renewAnswers(heard)
}

/** Whatever is known is asked again, each at its own pace. */
function renewKnown(isMeant: (id: OperationId) => boolean): void {
  const known = new Set(
    queryClient
      .getQueryCache()
      .findAll()
      .map((query) => query.queryKey[0] as OperationId),
  )
  for (const id of known) if (isMeant(id)) renew(id, () => true, '')
}

/** Samples never cease, and change little in a long list. */
const slowness = 4

function renewAnswers({ type, roomIds, endpointId }: Heard): void {
  for (const id of ofAll[type] ?? []) {
    if (type === 'sample') renew(id, () => true, 'samples', slowness)
    else renew(id, () => true, '')
  }
  for (const id of ofRoom[type] ?? []) {
    for (const room of roomIds) renew(id, (input) => input.id === room, String(room))
  }
  if (endpointId === undefined) return
  for (const id of ofEndpoint[type] ?? []) renew(id, (input) => input.id === endpointId, endpointId)
}

/** Asks again for the answers of an operation that are on the screen; the others are only marked as old. */
function renew(id: OperationId, fits: (input: { id?: unknown }) => boolean, whose: string, slower = 1): void {
  const predicate = (query: Query) => fits((query.queryKey[1] ?? {}) as { id?: unknown })
  const known = () => queryClient.getQueryCache().findAll({ queryKey: [id], predicate })
  if (known().length === 0) return
  const invalidate = () => queryClient.invalidateQueries({ queryKey: [id], predicate }, { cancelRefetch: false })
  paced(`${id} ${whose}`, slower * (pace[id] ?? usualPace), () => {
    // An answer that is on its way may be from before the event. It is let through, or a slow network would never bring one.
    for (const query of known()) {
      if (query.state.fetchStatus === 'fetching') void query.promise?.then(invalidate, () => {})
    }
    void invalidate()
  })
}

/** At once if the last time is long enough ago, else when it is; never twice for one pause. */
function paced(name: string, pause: number, act: () => unknown): void {
  const entry = due.get(name) ?? { last: Number.NEGATIVE_INFINITY, timer: undefined }
  due.set(name, entry)
  if (entry.timer !== undefined) return
  const go = () => {
    entry.timer = undefined
    entry.last = performance.now()
    act()
  }
  const wait = entry.last + pause - performance.now()
  if (wait <= 0) go()
  else entry.timer = setTimeout(go, wait)
}
