// Which events a reader wants: by type, and by the places that they are about. [contract 6.events]
import type { EventType } from '../../contract/events.ts'

/** What an event is about, with everything around it: the room of an endpoint, its location, its region. */
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
  readonly #wishes: EventFilterOptions
  /** The same for all who want the same. */
  readonly key: string

  constructor(wishes: EventFilterOptions) {
    const { types, roomId, locationId, regionId } = wishes
    this.#wishes = wishes
    this.#types = types && new Set([...types, 'reset'])
    this.key = JSON.stringify([types && [...new Set(types)].sort(), roomId, locationId, regionId])
  }

  /** Like in lists, an event has to be in all the places that are named. */
  matches(type: EventType, { rooms, locations, regions }: EventPlaces): boolean {
    if (this.#types && !this.#types.has(type)) return false
    if (type === 'reset') return true
    const { roomId, locationId, regionId } = this.#wishes
    return (
      (roomId === undefined || rooms.includes(roomId)) &&
      (locationId === undefined || locations.includes(locationId)) &&
      (regionId === undefined || regions.includes(regionId))
    )
  }
}
