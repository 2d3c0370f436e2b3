// Selects the events of a reader by their type and places. [contract 6.events]
import type { EventType } from '../../contract/events.ts'

/** The places of an event, including those around it: the room of an endpoint, its location, its region. */
export interface EventPlaces {
  readonly rooms: readonly number[]
  readonly locations: readonly number[]
  readonly regions: readonly number[]
}

export interface EventFilterOptions {
  readonly types?: readonly EventType[] | undefined
  readonly roomId?: number | undefined
  readonly locationId?: number | undefined
  readonly regionId?: number | undefined
}

export class EventFilter {
  readonly #types: ReadonlySet<EventType> | undefined
  readonly #options: EventFilterOptions
  /** Equal for filters that select the same events. */
  readonly key: string

  constructor(options: EventFilterOptions) {
    const { types, roomId, locationId, regionId } = options
    this.#options = options
    this.#types = types && new Set([...types, 'reset'])
    this.key = JSON.stringify([types && [...new Set(types)].sort(), roomId, locationId, regionId])
  }

  /** Returns whether an event has the type and is in all places of the filter, as in lists. */
  matches(type: EventType, { rooms, locations, regions }: EventPlaces): boolean {
    if (this.#types && !this.#types.has(type)) return false
    if (type === 'reset') return true
    const { roomId, locationId, regionId } = this.#options
    return (
      (roomId === undefined || rooms.includes(roomId)) &&
      (locationId === undefined || locations.includes(locationId)) &&
      (regionId === undefined || regions.includes(regionId))
    )
  }
}
