// Looks up the places of events, with one query for all events of a batch. [contract 6.events]
import type { EventDraft, EventSubjects } from './draft.ts'
import type { EventPlaces } from './filter.ts'

/** A requested endpoint, room or location, with the places around it. */
export interface LocatedRow {
  readonly endpoint: string | null
  readonly room: number | null
  readonly location: number | null
  readonly region: number | null
}

export interface LocateRequest {
  readonly endpoints: readonly string[]
  readonly rooms: readonly number[]
  readonly locations: readonly number[]
}

/** Returns a row for each of them that exists. */
export type LocateFunction = (org: number, request: LocateRequest) => Promise<readonly LocatedRow[]>

/** Returns the places of each draft, in the order of the drafts. */
export async function findPlaces(
  org: number,
  drafts: readonly EventDraft[],
  locate: LocateFunction,
): Promise<EventPlaces[]> {
  const unplaced = drafts.filter((draft) => !draft.places)
  const endpoints = new Set(unplaced.flatMap(endpointsOf))
  const rooms = new Set(unplaced.flatMap((draft) => draft.about?.rooms ?? []))
  const locations = new Set(unplaced.flatMap((draft) => draft.about?.locations ?? []))
  const rows =
    endpoints.size + rooms.size + locations.size > 0
      ? await locate(org, { endpoints: [...endpoints], rooms: [...rooms], locations: [...locations] })
      : []
  const index = new PlaceIndex(rows)
  return drafts.map((draft) => draft.places ?? index.placesAround(endpointsOf(draft), draft.about))
}

const endpointsOf = ({ endpointId, about }: EventDraft): readonly string[] => {
  const others = about?.endpoints ?? []
  return endpointId === undefined ? others : [endpointId, ...others]
}

/** Maps endpoints to rooms, rooms to locations, and locations to regions. */
export class PlaceIndex {
  readonly #rooms = new Map<string, number | null>()
  readonly #locations = new Map<number, number | null>()
  readonly #regions = new Map<number, number | null>()

  constructor(rows: readonly LocatedRow[]) {
    for (const { endpoint, room, location, region } of rows) {
      if (endpoint !== null) this.#rooms.set(endpoint, room)
      if (room !== null) this.#locations.set(room, location)
      if (location !== null) this.#regions.set(location, region)
    }
  }

  /** A deleted thing has no places in the database, so `about` must name them. */
  placesAround(endpoints: readonly string[], about: EventSubjects = {}): EventPlaces {
    const rooms = unionWithParents(about.rooms, endpoints, this.#rooms)
    const locations = unionWithParents(about.locations, rooms, this.#locations)
    return { rooms, locations, regions: unionWithParents(about.regions, locations, this.#regions) }
  }
}

function unionWithParents<I>(
  given: readonly number[] = [],
  children: readonly I[],
  parents: ReadonlyMap<I, number | null>,
) {
  const ids = new Set(given)
  for (const id of children) {
    const parent = parents.get(id)
    if (parent !== null && parent !== undefined) ids.add(parent)
  }
  return [...ids].sort((a, b) => a - b)
}
