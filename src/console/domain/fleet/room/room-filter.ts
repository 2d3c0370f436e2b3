// Filters and sorts the rows of the room table by the search parameters.

import { compareText, includesAll, naturalSortKey, searchWords } from '../../../../contract/search-text.ts'
import { type Sort, type SortKey, sortKeyOf, sortRows } from '../../../parts/table/sorting.ts'
import { type AirSensor, airSensors, isMeasured } from '../../sensors/air.ts'
import { hasProfile } from '../device/profile-names.ts'
import { fieldMatcher } from '../fields/custom-fields.ts'
import { unassigned } from '../site/sites.ts'
import type { RoomTableRow } from './room-rows.ts'
import { type RoomState, roomStates } from './room-state.tsx'

/** The search parameters of the room list; unknown values filter nothing. */
export interface RoomFilter {
  readonly q?: string
  readonly region?: string
  readonly location?: string
  readonly state?: string
  readonly air?: string
  readonly people?: string
  readonly tag?: string
  readonly profile?: string
  /** The name of a custom field, or name:text. */
  readonly field?: string
}

export const peopleChoices = {
  some: 'Occupied',
  none: 'Free',
  unknown: 'Unknown',
} as const
type PeopleChoice = keyof typeof peopleChoices

type RoomMatcher = (row: RoomTableRow) => boolean

export function roomMatcher(filter: RoomFilter): RoomMatcher {
  const tests = [
    ...textTests(filter.q ?? ''),
    ...(filter.region === undefined ? [] : [idTest(filter.region, (row) => row.region?.id)]),
    ...(filter.location === undefined ? [] : [idTest(filter.location, (row) => row.location?.id)]),
    ...stateTests(filter.state),
    ...airTests(filter.air),
    ...peopleTests(filter.people),
    ...(filter.tag === undefined ? [] : [tagTest(filter.tag)]),
    ...(filter.profile === undefined ? [] : [(row: RoomTableRow) => hasProfile(row.profileId, filter.profile)]),
    ...(filter.field === undefined ? [] : [fieldMatcher(filter.field)]),
  ]
  return (row) => tests.every((test) => test(row))
}

function textTests(q: string): RoomMatcher[] {
  const words = searchWords(q)
  return words.length === 0 ? [] : [(row) => includesAll(row.searchText, words)]
}

function idTest(wanted: string, idOf: (row: RoomTableRow) => number | undefined): RoomMatcher {
  const id = wanted === unassigned ? undefined : Number(wanted)
  return (row) => idOf(row) === id
}

const tagTest =
  (tag: string): RoomMatcher =>
  ({ tags }) =>
    tags?.includes(tag) === true

export const isRoomState = (text: string | undefined): text is RoomState => roomStates.some((state) => state === text)
/** Filter value in place of a state: rooms that are offline or degraded. */
export const needsAttention = 'ATTENTION'
function stateTests(state: string | undefined): RoomMatcher[] {
  if (state === needsAttention) return [roomNeedsAttention]
  return isRoomState(state) ? [(row) => row.state === state] : []
}
export const roomNeedsAttention: RoomMatcher = ({ state }) => state === 'OFFLINE' || state === 'DEGRADED'

export const isAirSensor = (text: string | undefined): text is AirSensor => airSensors.some((name) => name === text)
/** Filter value in place of a sensor: any of them. */
export const anySensor = 'any'
/** Only current readings count, as on the overview. */
function airTests(air: string | undefined): RoomMatcher[] {
  if (air === anySensor) return [(row) => row.freshness.isNow && row.outliers.length > 0]
  if (!isAirSensor(air)) return []
  return [(row) => row.freshness.isNow && row.outliers.some(({ sensor }) => sensor === air)]
}

/** Only a current number counts, as on the overview. */
const currentPeople = ({ people, freshness }: RoomTableRow) => (freshness.isNow ? people : undefined)
const peopleTest: Readonly<Record<PeopleChoice, RoomMatcher>> = {
  some: (row) => (currentPeople(row) ?? 0) > 0,
  none: (row) => currentPeople(row) === 0,
  unknown: (row) => currentPeople(row) === undefined,
}
export const isPeopleChoice = (text: string | undefined): text is PeopleChoice =>
  text !== undefined && Object.hasOwn(peopleChoices, text)
const peopleTests = (people: string | undefined): RoomMatcher[] => (isPeopleChoice(people) ? [peopleTest[people]] : [])

type Key = SortKey<RoomTableRow>

const air =
  (sensor: AirSensor): Key =>
  ({ sample }) =>
    sample && isMeasured(sample[sensor]) ? sample[sensor] : null
const rank = new Map(roomStates.map((state, index) => [state, index]))
const byName: Key = (row) => row.sortKey
export const roomSortKeys = {
  name: byName,
  state: (row) => rank.get(row.state) ?? null,
  devices: (row) => row.endpointCount,
  people: (row) => row.people ?? null,
  location: (row) => row.location?.name.toLowerCase() ?? null,
  region: (row) => row.region?.name.toLowerCase() ?? null,
  profile: (row) => row.profileName?.toLowerCase() ?? null,
  since: (row) => row.sinceMs ?? null,
  tags: (row) => row.tags?.join(' ') ?? null,
  floor: (row) => (row.floor === undefined ? null : naturalSortKey(row.floor)),
  contact: (row) => row.contact?.toLowerCase() ?? null,
  externalId: (row) => (row.externalId === undefined ? null : naturalSortKey(row.externalId)),
  co2: air('co2'),
  voc: air('voc'),
  temp: air('temp'),
  humidity: air('humidity'),
} as const satisfies Readonly<Record<string, SortKey<RoomTableRow>>>

/** Rooms with problems come first. */
export const defaultRoomSort: Sort = { by: 'state', descending: false }

export const sortRooms = (rows: readonly RoomTableRow[], { by, descending }: Sort): readonly RoomTableRow[] =>
  sortRows(
    rows,
    sortKeyOf(roomSortKeys, by) ?? byName,
    descending,
    (a, b) => compareText(a.sortKey, b.sortKey) || a.id - b.id,
  )
