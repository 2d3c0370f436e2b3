// Finds out whether rooms, locations or the organisation went offline as a whole, from the devices that are offline. [contract 10.cause]
import { hourMs, minuteMs } from '../../../../contract/durations.ts'
import type { Structure, StructureEndpoint } from '../types.ts'

/** Rooms that went offline within this time of each other have one cause. */
const outageWindowMs = 10 * minuteMs
/** A room that was offline this long before an outage does not count for it. */
const earlierOutageMs = hourMs
const minRooms = 3
const minLocations = 2

export interface Outage {
  /** When the first of its rooms went offline. */
  readonly since: number
  readonly roomIds: ReadonlySet<number>
}

interface StructureIndex {
  /** The endpoints of each room that were ever connected. Rooms without any are left out. */
  readonly endpointsByRoom: ReadonlyMap<number, readonly StructureEndpoint[]>
  /** The rooms of each location that have such endpoints. */
  readonly roomsByLocation: ReadonlyMap<number, readonly number[]>
}

/** Many runs with the same structure share its index. */
const indexes = new WeakMap<Structure, StructureIndex>()

function indexOf(structure: Structure): StructureIndex {
  let index = indexes.get(structure)
  if (!index) {
    const endpoints = [...structure.endpoints.values()].filter((e) => e.wasConnected && e.roomId !== null)
    const endpointsByRoom = Map.groupBy(endpoints, ({ roomId }) => roomId as number)
    const rooms = [...endpointsByRoom.keys()].filter((id) => (structure.rooms.get(id)?.locationId ?? null) !== null)
    index = {
      endpointsByRoom,
      roomsByLocation: Map.groupBy(rooms, (id) => structure.rooms.get(id)?.locationId as number),
    }
    indexes.set(structure, index)
  }
  return index
}

export class Outages {
  readonly #index: StructureIndex
  /** Since when each endpoint is offline. */
  readonly #offline: ReadonlyMap<string, number>
  /** Endpoints that are asleep or cannot be seen. */
  readonly #leftOut: ReadonlySet<string>

  constructor(structure: Structure, offline: ReadonlyMap<string, number>, leftOut: ReadonlySet<string> = new Set()) {
    this.#index = indexOf(structure)
    this.#offline = offline
    this.#leftOut = leftOut
  }

  /** When the last device of the room went offline; undefined while one is connected, and if all are left out. */
  roomSince(roomId: number): number | undefined {
    let latest: number | undefined
    for (const { id } of this.#index.endpointsByRoom.get(roomId) ?? []) {
      if (this.#leftOut.has(id)) continue
      const since = this.#offline.get(id)
      if (since === undefined) return undefined
      latest = Math.max(latest ?? since, since)
    }
    return latest
  }

  /** The rooms of a location with a device that is not left out. */
  #roomsIn(locationId: number): readonly number[] {
    const rooms = this.#index.roomsByLocation.get(locationId) ?? []
    if (this.#leftOut.size === 0) return rooms
    const isJudged = (room: number) =>
      this.#index.endpointsByRoom.get(room)?.some(({ id }) => !this.#leftOut.has(id)) ?? false
    return rooms.filter(isJudged)
  }

  /** The largest outage of a location: at least 3 and half of its rooms, within 10 minutes of each other. */
  findInLocation(locationId: number): Outage | undefined {
    const rooms = this.#roomsIn(locationId)
    const offline = rooms
      .map((id) => ({ id, since: this.roomSince(id) }))
      .filter((room): room is { id: number; since: number } => room.since !== undefined)
      .sort((a, b) => a.since - b.since)
    let largest: Outage | undefined
    // Both positions only move forward, because the rooms are sorted.
    let end = 0
    let earlier = 0
    for (const [start, { since }] of offline.entries()) {
      while ((offline[end]?.since ?? Number.POSITIVE_INFINITY) <= since + outageWindowMs) end++
      while ((offline[earlier]?.since ?? Number.POSITIVE_INFINITY) < since - earlierOutageMs) earlier++
      if (!isEnough(end - start, rooms.length - earlier, minRooms)) continue
      if (end - start <= (largest?.roomIds.size ?? 0)) continue
      largest = { since, roomIds: new Set(offline.slice(start, end).map(({ id }) => id)) }
    }
    return largest
  }

  /** An outage of at least 2 and half of the locations with devices, within 10 minutes of each other. */
  findInOrganisation(): Outage | undefined {
    const locations = [...this.#index.roomsByLocation.keys()]
    const outages = locations
      .map((id) => this.findInLocation(id))
      .filter((outage) => outage !== undefined)
      .sort((a, b) => a.since - b.since)
    for (const { since } of outages) {
      const together = outages.filter((outage) => outage.since >= since && outage.since <= since + outageWindowMs)
      if (!isEnough(together.length, locations.length, minLocations)) continue
      return { since, roomIds: new Set(together.flatMap(({ roomIds }) => [...roomIds])) }
    }
    return undefined
  }

  /** Whether an outage that began then still has at least 3 and half of the rooms of the location. */
  lastsInLocation(locationId: number, began: number): boolean {
    const rooms = this.#roomsIn(locationId)
    const since = rooms.map((id) => this.roomSince(id))
    const eligible = since.filter((at) => at === undefined || at >= began - earlierOutageMs).length
    return isEnough(since.filter((at) => isPartOf(at, began)).length, eligible, minRooms)
  }

  /** Whether an outage that began then still has at least 2 and half of the locations with devices. */
  lastsInOrganisation(began: number): boolean {
    const locations = [...this.#index.roomsByLocation.keys()]
    const lasting = locations.filter((id) => this.lastsInLocation(id, began))
    return isEnough(lasting.length, locations.length, minLocations)
  }
}

/** Whether this time is at most 10 minutes before the beginning of the outage, or after it. */
export const isPartOf = (since: number | undefined, began: number): boolean =>
  since !== undefined && since >= began - outageWindowMs

const isEnough = (count: number, of: number, least: number): boolean => count >= least && count * 2 >= of
