// Which answers an event makes old, and how soon they are asked for again.
import type { Query } from '@tanstack/react-query'
import type { OperationId } from '../../contract/operations.ts'
import { queryClient } from '../api.ts'

/** What of an event is needed here. */
export interface LiveEvent {
  readonly type: string
  readonly roomIds: readonly number[]
  readonly endpointId?: string | undefined
}

/** Milliseconds between two times that the same thing is asked because of events: long lists are asked less often. */
const minIntervalMs: Partial<Record<OperationId, number>> = {
  roomsList: 3000,
  endpointsBasicList: 3000,
  roomsBulkSensorData: 5000,
  auditLogs: 2000,
  roomsSensorHistory: 60_000,
  endpointsSensorHistory: 60_000,
}
const defaultMinIntervalMs = 500

const roomOperations: Record<string, readonly OperationId[]> = {
  connected: ['roomsGet'],
  disconnected: ['roomsGet'],
  status: ['roomsGet'],
  config: ['roomsGet'],
  sample: ['roomsSensorData', 'roomsSensorHistory'],
}
const endpointOperations: Record<string, readonly OperationId[]> = {
  connected: ['endpointsGet'],
  disconnected: ['endpointsGet'],
  // Among the settings is what a device says of itself.
  status: ['endpointsGet', 'endpointsSettings', 'configStateGet'],
  config: ['configStateGet', 'configVersionsList', 'endpointsSettings'],
  sample: ['endpointsSensorData', 'endpointsSensorHistory'],
  operation: ['endpointsOperationsList'],
}
const listOperations: Record<string, readonly OperationId[]> = {
  connected: ['roomsList', 'endpointsBasicList'],
  disconnected: ['roomsList', 'endpointsBasicList'],
  status: ['endpointsBasicList'],
  config: ['roomsList'],
  sample: ['roomsList', 'roomsBulkSensorData'],
  operation: ['bugReportsGet'],
}
/** Samples do not change because somebody renames a room. */
const independentOfStructure: readonly OperationId[] = [
  'roomsSensorHistory',
  'endpointsSensorHistory',
  'endpointsSensorData',
]

interface Throttle {
  lastRunMs: number
  timer: ReturnType<typeof setTimeout> | undefined
}
const throttles = new Map<string, Throttle>()

export function invalidateFor(heard: LiveEvent): void {
  if (heard.type === 'reset') invalidateKnown(() => true)
  // Nearly everything shows names and places.
  else if (heard.type === 'structure') invalidateKnown((id) => !independentOfStructure.includes(id))
  else invalidateAffected(heard)
}

/** Whatever is known is asked again, each at its own pace. */
function invalidateKnown(isAffected: (id: OperationId) => boolean): void {
  const known = new Set(
    queryClient
      .getQueryCache()
      .findAll()
      .map((query) => query.queryKey[0] as OperationId),
  )
  for (const id of known) if (isAffected(id)) invalidateThrottled(id, () => true, '')
}

/** Samples never cease, and change little in a long list. */
const sampleSlowdown = 4

function invalidateAffected({ type, roomIds, endpointId }: LiveEvent): void {
  for (const id of listOperations[type] ?? []) {
    if (type === 'sample') invalidateThrottled(id, () => true, 'samples', sampleSlowdown)
    else invalidateThrottled(id, () => true, '')
  }
  for (const id of roomOperations[type] ?? []) {
    for (const room of roomIds) invalidateThrottled(id, (input) => input.id === room, String(room))
  }
  if (endpointId === undefined) return
  for (const id of endpointOperations[type] ?? [])
    invalidateThrottled(id, (input) => input.id === endpointId, endpointId)
}

/** Asks again for the answers of an operation that are on the screen; the others are only marked as old. */
function invalidateThrottled(
  id: OperationId,
  fits: (input: { id?: unknown }) => boolean,
  whose: string,
  slower = 1,
): void {
  const predicate = (query: Query) => fits((query.queryKey[1] ?? {}) as { id?: unknown })
  const known = () => queryClient.getQueryCache().findAll({ queryKey: [id], predicate })
  if (known().length === 0) return
  const invalidate = () => queryClient.invalidateQueries({ queryKey: [id], predicate }, { cancelRefetch: false })
  throttle(`${id} ${whose}`, slower * (minIntervalMs[id] ?? defaultMinIntervalMs), () => {
    // An answer that is on its way may be from before the event. It is let through, or a slow network would never bring one.
    for (const query of known()) {
      if (query.state.fetchStatus === 'fetching') void query.promise?.then(invalidate, () => {})
    }
    void invalidate()
  })
}

/** At once if the last time is long enough ago, else when it is; never twice for one pause. */
function throttle(name: string, pause: number, act: () => unknown): void {
  const entry = throttles.get(name) ?? { lastRunMs: Number.NEGATIVE_INFINITY, timer: undefined }
  throttles.set(name, entry)
  if (entry.timer !== undefined) return
  const go = () => {
    entry.timer = undefined
    entry.lastRunMs = performance.now()
    act()
  }
  const wait = entry.lastRunMs + pause - performance.now()
  if (wait <= 0) go()
  else entry.timer = setTimeout(go, wait)
}
