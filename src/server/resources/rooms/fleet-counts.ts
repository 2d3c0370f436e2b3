// Counts endpoints and rooms by state, and sessions of people, over all organisations, for the metrics. [contract D.10]
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { minuteMs } from '../../../contract/durations.ts'
import { sessionIdleMs } from '../../auth/keyring.ts'
import type { Clock } from '../../core/clock.ts'
import type { FleetSummary } from '../../core/fleet-metrics.ts'
import type { Database } from '../../db/db.ts'
import { countUserSessions } from '../sessions/user-session-store.ts'
import { type RoomStateName, roomStateOf } from './state.ts'
import { countEndpointsOfRooms, countEndpointsWithoutRoom } from './store.ts'

/** Counting 10,000 rooms takes about 100 ms of CPU, so scrapes share a count for this long. */
const freshMs = 10_000
/** A count that could not be renewed for this long is withdrawn. Some installations are scraped every few minutes only. */
const staleMs = 10 * minuteMs
/** A scrape waits for a new count this long, and then gets the count before it, so that it is quick when the database is busy. */
const maxWaitMs = 50
/** SQLite holds the event loop while it reads a slice: a few milliseconds. */
const roomsPerSlice = 200

export class FleetCounts {
  readonly #db: Database
  readonly #clock: Clock
  #last: { readonly fleet: FleetSummary; readonly atMs: number } | undefined
  #counting: Promise<void> | undefined

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** Undefined until the first count is finished, and when the last one is too old. */
  readonly current = async (): Promise<FleetSummary | undefined> => {
    if (!this.#isYoungerThan(freshMs)) {
      this.#counting ??= this.#count().finally(() => {
        this.#counting = undefined
      })
      const timeout = new AbortController()
      await Promise.race([this.#counting, sleep(maxWaitMs, undefined, { signal: timeout.signal }).catch(() => {})])
      timeout.abort()
    }
    return this.#isYoungerThan(staleMs) ? this.#last?.fleet : undefined
  }

  #isYoungerThan(ms: number): boolean {
    return this.#last !== undefined && Math.abs(this.#clock.now() - this.#last.atMs) < ms
  }

  async #count(): Promise<void> {
    try {
      this.#last = { fleet: await countFleet(this.#db, this.#clock.now()), atMs: this.#clock.now() }
    } catch {
      // /readyz and the log say that the database does not answer; a scrape must not fail because of it.
    }
  }
}

async function countFleet({ system }: Database, now: number): Promise<FleetSummary> {
  const sessions = await countUserSessions(system, { usedAfter: now - sessionIdleMs, now })
  const endpoints = { connected: 0, disconnected: 0 }
  const rooms: Record<RoomStateName, number> = { EMPTY: 0, OFFLINE: 0, DEGRADED: 0, HEALTHY: 0 }
  for (const row of await countEndpointsWithoutRoom(system)) {
    endpoints[row.connected === 1 ? 'connected' : 'disconnected'] += Number(row.endpoints)
  }
  let last = { org: 0, id: 0 }
  for (;;) {
    const rows = await countEndpointsOfRooms(system, { ...last, limit: roomsPerSlice })
    for (const row of rows) {
      const connected = Number(row.connected)
      endpoints.connected += connected
      endpoints.disconnected += Number(row.endpoints) - connected
      rooms[roomStateOf(Number(row.endpoints), connected, Number(row.failed) > 0)] += 1
    }
    const end = rows.at(-1)
    if (!end || rows.length < roomsPerSlice) return { endpoints, rooms, userSessions: Number(sessions?.count) }
    last = end
    await nextTurn()
  }
}
