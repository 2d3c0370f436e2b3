// Finds the places that a change names, before and after it, for its audit entry and its events. [contract 11.access]
import type { ChangeRegions } from '../../core/change-regions.ts'
import type { OrgReader } from '../../db/handles.ts'
import type { EventSubjects } from '../../events/draft.ts'
import type { EventPlaces } from '../../events/filter.ts'
import { type LocatedRow, PlaceIndex } from '../../events/find-places.ts'
import { listPlacesOf } from '../places/store.ts'
import type { AuditRef, ChangeResult } from './change-result.ts'

export type ChangeSubjects = Required<EventSubjects>

export interface ChangedPlaces {
  readonly about: ChangeSubjects
  readonly places: EventPlaces
  readonly regions: ChangeRegions
  /** The region of each of `places.rooms` and `places.locations`, in their order. */
  readonly roomRegions: readonly (number | null)[]
  readonly locationRegions: readonly (number | null)[]
}

/** Must be called in the transaction of the change, after its work: a later change may move or delete the places. */
export async function findChangedPlaces(on: OrgReader, changed: ChangeResult<unknown>): Promise<ChangedPlaces> {
  const about = subjectsOf(changed)
  const rows = changed.located ?? knownRows(changed, about) ?? (await listPlacesOf(on, about))
  const index = new PlaceIndex(rows)
  const target = targetRegions(index, changed)
  const places = index.placesAround(about.endpoints, about)
  const all = new Set([
    ...rows.map(({ region }) => region),
    ...places.regions,
    ...(namesThingWithoutPlace(changed) ? [null] : []),
    ...(changed.named ? await listRegionsOf(on, changed.named) : []),
  ])
  const regionOf = (type: string, id: number, subjects: EventSubjects) =>
    // A deleted thing is not in the index, but a target that was deleted has the regions that it had before.
    (isTarget(changed, type, id) ? target[0] : index.placesAround([], subjects).regions[0]) ?? null
  return {
    about,
    places,
    regions: { all: [...all].sort((a, b) => (a ?? Infinity) - (b ?? Infinity)), target },
    roomRegions: places.rooms.map((id) => regionOf('room', id, { rooms: [id] })),
    locationRegions: places.locations.map((id) => regionOf('location', id, { locations: [id] })),
  }
}

/** Collects everything that the entry names, before and after: a move has two places, a deletion the former place. */
function subjectsOf({
  target,
  affected = [],
  before = {},
  after = {},
  located,
}: ChangeResult<unknown>): ChangeSubjects {
  if (located) return subjectsAt(located)
  const named = (type: string) => [target, ...affected].filter((ref) => ref.type === type)
  const numbered = (type: string, one: string, many: string) => [
    ...named(type).map((ref: AuditRef) => Number(ref.id)),
    ...[before[one], after[one], before[many], after[many]].flatMap(numbersIn),
  ]
  return {
    endpoints: named('endpoint').map((ref) => ref.id),
    rooms: numbered('room', 'roomId', 'roomIds'),
    locations: numbered('location', 'locationId', 'locationIds'),
    regions: numbered('region', 'regionId', 'regionIds'),
  }
}

function subjectsAt(rows: readonly LocatedRow[]): ChangeSubjects {
  const idsOf = (place: 'room' | 'location' | 'region') =>
    [...new Set(rows.map((row) => row[place]))].filter((id) => id !== null)
  return { endpoints: [], rooms: idsOf('room'), locations: idsOf('location'), regions: idsOf('region') }
}

/** An id that does not exist counts as one in no region: otherwise the entry would say whether a hidden id exists. */
async function listRegionsOf(on: OrgReader, named: EventSubjects): Promise<(number | null)[]> {
  const { endpoints, rooms, locations } = {
    endpoints: [...new Set(named.endpoints)],
    rooms: [...new Set(named.rooms)],
    locations: [...new Set(named.locations)],
  }
  const count = endpoints.length + rooms.length + locations.length
  const rows = count > 0 ? await listPlacesOf(on, { endpoints, rooms, locations }) : []
  return [...(named.regions ?? []), ...rows.map(({ region }) => region), ...(rows.length < count ? [null] : [])]
}

/** A change that names no more than regions, and a location whose region its details say, needs no query. */
function knownRows({ before, after }: ChangeResult<unknown>, about: ChangeSubjects): LocatedRow[] | undefined {
  if (about.endpoints.length > 0 || about.rooms.length > 0) return undefined
  if (about.locations.length === 0) return []
  const [location, ...others] = new Set(about.locations)
  const region = (after ?? before)?.regionId
  if (location === undefined || others.length > 0 || (typeof region !== 'number' && region !== null)) return undefined
  return [{ endpoint: null, room: null, location, region }]
}

/**
 * True if the details name something that is or was in no region. Channels, keys and sources never are in one: only owners read channels and
 * keys, and only callers who see all regions read sources.
 */
const namesThingWithoutPlace = ({ target, before = {}, after = {}, affected = [] }: ChangeResult<unknown>): boolean =>
  target.type === 'source' ||
  affected.some(({ type }) => type === 'channel' || type === 'key') ||
  [before, after].some((values) =>
    ['roomId', 'roomIds', 'locationId', 'regionId'].some((key) => valuesIn(values[key]).includes(null)),
  )

/** Accepts a value, a list, or an object with values. */
const valuesIn = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : [value]

const isTarget = ({ target }: ChangeResult<unknown>, type: string, id: number): boolean =>
  target.type === type && target.id === String(id)

function targetRegions(
  index: PlaceIndex,
  { target, before, after, affected = [], located }: ChangeResult<unknown>,
): readonly number[] {
  if (located) return subjectsAt(located).regions
  const details = after ?? before ?? {}
  const regionsAround = (subjects: EventSubjects) => index.placesAround(subjects.endpoints ?? [], subjects).regions
  const found = ((): readonly number[] => {
    const id = Number(target.id)
    switch (target.type) {
      case 'region':
        return [id]
      case 'location':
        return regionsAround({ locations: [id] })
      case 'room':
        return regionsAround({ rooms: [id] })
      case 'endpoint':
        return regionsAround({ endpoints: [target.id] })
      case 'roomNote':
      case 'gatewayDevice':
        return regionsAround({ rooms: numbersIn(details.roomId) })
      case 'user':
        return numbersIn(details.regionIds)
      case 'silence':
        return regionsAround({
          endpoints: affected.filter((ref) => ref.type === 'endpoint').map((ref) => ref.id),
          rooms: numbersIn(details.roomId),
          locations: numbersIn(details.locationId),
          regions: numbersIn(details.regionId),
        })
      default:
        return []
    }
  })()
  if (found.length > 0 || after) return found
  return regionsAround({
    rooms: numbersIn(before?.roomId),
    locations: numbersIn(before?.locationId),
    regions: numbersIn(before?.regionId),
  })
}

const numbersIn = (value: unknown): number[] => valuesIn(value).filter((id) => typeof id === 'number')
