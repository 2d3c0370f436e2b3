// Invalidates the cached answers that an event affects, at a bounded rate.
import type { Query } from '@tanstack/react-query'
import type { OperationId } from '../../contract/operations.ts'
import { queryClient } from '../api.ts'

/** The part of an event that decides which answers it affects. */
export interface LiveEvent {
  readonly type: string
  readonly roomIds: readonly number[]
  readonly endpointId?: string | undefined
}

/** The shortest time between two refetches that events cause; long lists are refetched less often. */
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
  // The settings include what the device reports about itself.
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
/** These answers hold only samples, which do not change when a room is renamed or moved. */
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

export function invalidateFor(event: LiveEvent): void {
  if (event.type === 'reset') invalidateKnown(() => true)
  // Nearly every answer holds names of rooms, devices or sites.
  else if (event.type === 'structure') invalidateKnown((id) => !independentOfStructure.includes(id))
  else invalidateAffected(event)
}

/** Invalidates every cached answer whose operation is affected, each at its own rate. */
function invalidateKnown(isAffected: (id: OperationId) => boolean): void {
  const known = new Set(
    queryClient
      .getQueryCache()
      .findAll()
      .map((query) => query.queryKey[0] as OperationId),
  )
  for (const id of known) if (isAffected(id)) invalidateThrottled(id, () => true, '')
}

/** Samples arrive all the time and change little in a long list, so lists wait this many times longer for them. */
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

/** Refetches the answers of an operation that are on the screen, and marks its other cached answers as stale. */
function invalidateThrottled(
  id: OperationId,
  fits: (input: { id?: unknown }) => boolean,
  throttleKey: string,
  slowdown = 1,
): void {
  const predicate = (query: Query) => fits((query.queryKey[1] ?? {}) as { id?: unknown })
  const known = () => queryClient.getQueryCache().findAll({ queryKey: [id], predicate })
  if (known().length === 0) return
  const invalidate = () => queryClient.invalidateQueries({ queryKey: [id], predicate }, { cancelRefetch: false })
  throttle(`${id} ${throttleKey}`, slowdown * (minIntervalMs[id] ?? defaultMinIntervalMs), () => {
    // A fetch in flight may have read the state before the event. It is not cancelled, because on a slow network no fetch would
    // ever finish; its answer is invalidated when it arrives.
    for (const query of known()) {
      if (query.state.fetchStatus === 'fetching') void query.promise?.then(invalidate, () => {})
    }
    void invalidate()
  })
}

/** Runs the action now if the last run is long enough ago, else once when it is. */
function throttle(name: string, intervalMs: number, action: () => unknown): void {
  const entry = throttles.get(name) ?? { lastRunMs: Number.NEGATIVE_INFINITY, timer: undefined }
  throttles.set(name, entry)
  if (entry.timer !== undefined) return
  const run = () => {
    entry.timer = undefined
    entry.lastRunMs = performance.now()
    action()
  }
  const waitMs = entry.lastRunMs + intervalMs - performance.now()
  if (waitMs <= 0) run()
  else entry.timer = setTimeout(run, waitMs)
}
