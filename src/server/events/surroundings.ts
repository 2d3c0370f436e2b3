// Where events happened: one look at the database for all that are told together. [contract 6.events]
import type { EventDraft, EventSubjects } from './draft.ts'
import type { EventPlaces } from './filter.ts'

/** One thing that was asked for, and what is around it. */
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

/** A row for each of them that is there. */
export type LocateFunction = (org: number, wanted: LocateRequest) => Promise<readonly LocatedRow[]>

/** The places of each draft, in their order. */
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
  const surroundings = new PlaceIndex(rows)
  return drafts.map((draft) => draft.places ?? surroundings.around(endpointsOf(draft), draft.about))
}

const endpointsOf = ({ endpointId, about }: EventDraft): readonly string[] => {
  const others = about?.endpoints ?? []
  return endpointId === undefined ? others : [endpointId, ...others]
}

/** What is in what. */
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

  /** What is gone is only where somebody says that it was. */
  around(endpoints: readonly string[], about: EventSubjects = {}): EventPlaces {
    const rooms = joined(about.rooms, endpoints, this.#rooms)
    const locations = joined(about.locations, rooms, this.#locations)
    return { rooms, locations, regions: joined(about.regions, locations, this.#regions) }
  }
}

function joined<I>(said: readonly number[] = [], inside: readonly I[], outside: ReadonlyMap<I, number | null>) {
  const ids = new Set(said)
  for (const id of inside) {
    const around = outside.get(id)
    if (around !== null && around !== undefined) ids.add(around)
  }
  return [...ids].sort((a, b) => a - b)
}
