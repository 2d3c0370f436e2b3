// Marks cached answers as stale and reads those on the screen again, at a bounded rate for each operation.
import type { Query } from '@tanstack/react-query'
import type { OperationId } from '../../contract/operations.ts'
import { queryClient } from '../api.ts'

/** The shortest time between two refetches that events cause; long lists are refetched less often. */
const minIntervalMs: Partial<Record<OperationId, number>> = {
  roomsList: 3000,
  endpointsBasicList: 3000,
  roomsBulkSensorData: 5000,
  auditLogs: 2000,
  incidentsList: 2000,
  roomNotesList: 3000,
  profilesReach: 3000,
  // All pages that are loaded are read again.
  jobsRoomsList: 3000,
  gatewaysList: 3000,
  gatewayDevicesList: 2000,
  sourcesList: 2000,
  sourceDevicesList: 3000,
  sourcesStructure: 3000,
  roomsConnections: 10_000,
  endpointsConnections: 10_000,
  reportsLastDay: 60_000,
  roomsSensorHistory: 60_000,
  endpointsSensorHistory: 60_000,
  // A node makes one report at a time.
  reportsUse: 300_000,
  reportsAvailability: 300_000,
  reportsAir: 300_000,
  reportsIncidents: 300_000,
}
const defaultMinIntervalMs = 500

interface Throttle {
  lastRunMs: number
  timer: ReturnType<typeof setTimeout> | undefined
}
const throttles = new Map<string, Throttle>()

/** Refetches the answers of an operation that are on the screen, and marks its other cached answers as stale. */
export function invalidateThrottled(
  id: OperationId,
  fits: (input: { id?: unknown }) => boolean,
  throttleKey: string,
  slowdown = 1,
): void {
  // Most events concern no cached answer. This look is cheaper than a search by key.
  if (
    !queryClient
      .getQueryCache()
      .getAll()
      .some(({ queryKey }) => queryKey[0] === id)
  )
    return
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

/** Reads the answers on the screen again whose last read has failed. */
export const readFailedAgain = (): void =>
  void queryClient.invalidateQueries(
    { type: 'active', predicate: ({ state }) => state.isInvalidated || state.status === 'error' },
    { cancelRefetch: false },
  )

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
