// Counts endpoints and rooms by state, and sessions of people, over all organisations, for the metrics. [contract D.10]
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EndpointState } from '../../contract/fleet/endpoints.ts'
import { type RoomState, roomStateOf } from '../../contract/fleet/rooms.ts'
import { sessionIdleMs } from '../auth/keyring.ts'
import type { Services } from '../context/services.ts'
import type { FleetSummary } from '../core/metrics/fleet-metrics.ts'
import { ScrapeCount } from '../core/metrics/scrape-count.ts'
import type { Database } from '../db/db.ts'
import { countEndpointsOfRooms, countEndpointsWithoutRoom } from '../fleet/rooms/store.ts'
import type { PresenceTimes } from '../nodes/presence-sql.ts'
import { countUserSessions } from '../people/sessions/user-session-store.ts'

/** SQLite holds the event loop while it reads a slice: a few milliseconds. */
const roomsPerSlice = 200

export const fleetCounts = ({ db, clock, reconnects }: Services): ScrapeCount<FleetSummary> =>
  new ScrapeCount(clock, () => countFleet(db, clock.now(), reconnects.current))

/** PostgreSQL returns counts as text, and null for a sum of no rows. */
type CountedEndpoints = Readonly<Record<'endpoints' | 'connected' | 'unknown' | 'asleep', number | string | null>>

async function countFleet({ system }: Database, now: number, times: PresenceTimes): Promise<FleetSummary> {
  const sessions = await countUserSessions(system, { usedAfter: now - sessionIdleMs, now })
  const endpoints: Record<EndpointState, number> = { OFFLINE: 0, UNKNOWN: 0, ASLEEP: 0, ONLINE: 0 }
  const add = (row: CountedEndpoints) => {
    const [online, unknown, asleep] = [Number(row.connected), Number(row.unknown), Number(row.asleep)]
    endpoints.ONLINE += online
    endpoints.UNKNOWN += unknown
    endpoints.ASLEEP += asleep
    endpoints.OFFLINE += Number(row.endpoints) - online - unknown - asleep
  }
  const rooms: Record<RoomState, number> = { EMPTY: 0, OFFLINE: 0, DEGRADED: 0, UNKNOWN: 0, HEALTHY: 0 }
  for (const row of await countEndpointsWithoutRoom(system, times)) add(row)
  let last = { org: 0, id: 0 }
  for (;;) {
    const rows = await countEndpointsOfRooms(system, { ...times, ...last, limit: roomsPerSlice })
    for (const row of rows) {
      add(row)
      const state = roomStateOf({
        endpointCount: Number(row.endpoints),
        connectedCount: Number(row.connected),
        unknownCount: Number(row.unknown),
        asleepCount: Number(row.asleep),
        hasFailedConfig: Number(row.failed) > 0,
      })
      rooms[state] += 1
    }
    const end = rows.at(-1)
    if (!end || rows.length < roomsPerSlice) return { endpoints, rooms, userSessions: Number(sessions?.count) }
    last = end
    await nextTurn()
  }
}
