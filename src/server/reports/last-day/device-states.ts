// Which state a device had at the end of each quarter of the last day, from its connections. [contract 16.lastDay]
import type { EndpointState } from '../../../contract/fleet/endpoints.ts'

/** A connection. Times are milliseconds. */
export interface DayConnection {
  readonly since: number
  /** Undefined while the connection lasts. */
  readonly until: number | undefined
  readonly unknown_until: number | null
  readonly followed_by: 'ASLEEP' | 'UNKNOWN' | 'OFFLINE' | null
  readonly rested: number
  readonly overslept_at: number | null
  readonly via: string | null
}

/**
 * Calls `see` with the index and the state of each time. The connections and the times are in order. After the last connection of a device
 * whose gateway or source was away the state of now counts, because only the presence of now knows when they came back.
 */
export function eachState(
  connections: readonly DayConnection[],
  times: readonly number[],
  stateNow: EndpointState,
  see: (index: number, state: EndpointState) => void,
): void {
  let next = 0
  times.forEach((at, index) => {
    while (next < connections.length && (connections[next] as DayConnection).since <= at) next++
    const last = connections[next - 1]
    see(index, last === undefined ? 'OFFLINE' : stateAfter(last, at, next === connections.length, stateNow))
  })
}

function stateAfter(
  { until, followed_by, via, unknown_until, rested, overslept_at }: DayConnection,
  at: number,
  isLast: boolean,
  stateNow: EndpointState,
): EndpointState {
  if (until === undefined || at < until) return 'ONLINE'
  if (followed_by === 'UNKNOWN' && via !== null) return isLast ? stateNow : 'UNKNOWN'
  if (unknown_until !== null && at < unknown_until) return 'UNKNOWN'
  return rested === 1 && (overslept_at === null || at < overslept_at) ? 'ASLEEP' : 'OFFLINE'
}
