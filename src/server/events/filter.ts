// Selects the events of a reader by their type and places, and takes out what the reader does not see. [contract 6.events] [contract 11.access]
import type { Event, EventType } from '../../contract/journal/events.ts'
import type { ChangeParts } from '../bus/event-messages.ts'
import { seesTarget } from '../core/change-regions.ts'
import type { RegionAccess } from '../core/region-access.ts'

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

export interface EventReader {
  readonly access: RegionAccess
  /** Changes of users, keys and sessions reach only readers who may see them in the audit log too. */
  readonly mayReadAuditLog: boolean
  /** Events of samples lack `measured` there. [contract 5.2.measured] */
  readonly isOnLegacyBase?: boolean
}

/** The event of a change. A node of version 0.1 does not say where its parts are. */
export interface ChangeEvent {
  readonly event: Event
  readonly parts: ChangeParts | undefined
}

export class EventFilter {
  readonly #types: ReadonlySet<EventType> | undefined
  readonly #options: EventFilterOptions
  readonly #reader: EventReader
  readonly isOnLegacyBase: boolean
  /** Equal for filters that give the same bytes. */
  readonly key: string

  constructor(options: EventFilterOptions, reader: EventReader) {
    const { types, roomId, locationId, regionId } = options
    this.#options = options
    this.#reader = reader
    this.#types = types && new Set([...types, 'reset'])
    this.isOnLegacyBase = reader.isOnLegacyBase === true
    const { access, mayReadAuditLog } = reader
    const selection = [types && [...new Set(types)].sort(), roomId, locationId, regionId]
    this.key = JSON.stringify([...selection, access.key, mayReadAuditLog, this.isOnLegacyBase])
  }

  /** Returns 'whole' if the reader gets the event as it is, the event without its hidden parts, or undefined if the reader does not get it. */
  view(type: EventType, places: EventPlaces, change: ChangeEvent | undefined): 'whole' | Event | undefined {
    if (this.#types && !this.#types.has(type)) return undefined
    if (type === 'reset') return 'whole'
    const { access, mayReadAuditLog } = this.#reader
    if (change && reachesEverybody(change.event)) return this.#isWithin(places) ? 'whole' : undefined
    if (change && !mayReadAuditLog && (change.parts?.category ?? 'USER') === 'USER') return undefined
    if (access.isEverything) return this.#isWithin(places) ? 'whole' : undefined
    if (change) return this.#viewChange(places, change)
    // Any other event is about one endpoint, which is in one room.
    return access.seesAll(places.regions) && this.#isWithin(places) ? 'whole' : undefined
  }

  #viewChange(places: EventPlaces, { event, parts }: ChangeEvent): 'whole' | Event | undefined {
    const { access } = this.#reader
    const visible = {
      rooms: places.rooms.filter((_, i) => access.sees(parts?.rooms[i])),
      locations: places.locations.filter((_, i) => access.sees(parts?.locations[i])),
      regions: places.regions.filter((id) => access.sees(id)),
    }
    if (visible.regions.length === 0 || !this.#isWithin(visible)) return undefined
    const { endpointId, change, ...rest } = event
    if (!change) return undefined
    const { target, ...withoutTarget } = change
    const isTargetVisible = parts !== undefined && seesTarget(access, target?.type ?? '', parts)
    if (isTargetVisible && visible.rooms.length === places.rooms.length) return 'whole'
    return {
      ...rest,
      roomIds: visible.rooms,
      ...(isTargetVisible && endpointId !== undefined && { endpointId }),
      change: isTargetVisible ? change : withoutTarget,
    }
  }

  /** Returns whether the places include all of the filter, as in lists. */
  #isWithin({ rooms, locations, regions }: EventPlaces): boolean {
    const { roomId, locationId, regionId } = this.#options
    return (
      (roomId === undefined || rooms.includes(roomId)) &&
      (locationId === undefined || locations.includes(locationId)) &&
      (regionId === undefined || regions.includes(regionId))
    )
  }
}

/** Every caller may read the organisation and shared views, which are in no place. */
const reachesEverybody = ({ change }: Event): boolean =>
  change?.target?.type === 'organisation' || change?.target?.type === 'sharedView'
