// Filters and sorts the rows of the room table by the search parameters.

import { compareText, includesAll, naturalSortKey, searchWords } from '../../../../contract/search-text.ts'
import { filterTests } from '../../../parts/table/filter-value.ts'
import type { FilterParams, roomParams } from '../../../parts/table/list-params.ts'
import { type Sort, type SortKey, sortKeyOf, sortRows } from '../../../parts/table/sorting.ts'
import { type AirSensor, airSensors, isMeasured } from '../../sensors/air.ts'
import { noProfile } from '../device/profile-names.ts'
import { fieldMatcher } from '../fields/custom-fields.ts'
import { unassigned } from '../site/sites.ts'
import type { RoomTableRow } from './room-rows.ts'
import { type RoomState, roomStates } from './room-state.tsx'

/** The search parameters of the room list; unknown values filter nothing. `field` is the name of a custom field, or name:text. */
export type RoomFilter = FilterParams<typeof roomParams>

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
    ...filterTests<RoomTableRow>(filter.region, ({ region }, id) => String(region?.id ?? unassigned) === id),
    ...filterTests<RoomTableRow>(filter.location, ({ location }, id) => String(location?.id ?? unassigned) === id),
    ...filterTests(filter.state, hasState, isStateChoice),
    ...filterTests(filter.air, isOutside, isAirChoice),
    ...filterTests<RoomTableRow, PeopleChoice>(filter.people, (row, choice) => peopleTest[choice](row), isPeopleChoice),
    ...filterTests<RoomTableRow>(filter.tag, ({ tags }, tag) => tags?.includes(tag) === true),
    ...filterTests<RoomTableRow>(filter.profile, ({ profileId }, id) => String(profileId ?? noProfile) === id),
    ...(filter.field === undefined ? [] : [fieldMatcher(filter.field)]),
  ]
  return (row) => tests.every((test) => test(row))
}

function textTests(q: string): RoomMatcher[] {
  const words = searchWords(q)
  return words.length === 0 ? [] : [(row) => includesAll(row.searchText, words)]
}

const isRoomState = (text: string | undefined): text is RoomState => roomStates.some((state) => state === text)
/** Filter value in place of a state: rooms that are offline or degraded. */
export const needsAttention = 'ATTENTION'
type StateChoice = RoomState | typeof needsAttention
const isStateChoice = (text: string): text is StateChoice => text === needsAttention || isRoomState(text)
const hasState = (row: RoomTableRow, choice: StateChoice): boolean =>
  choice === needsAttention ? roomNeedsAttention(row) : row.state === choice
export const roomNeedsAttention: RoomMatcher = ({ state }) => state === 'OFFLINE' || state === 'DEGRADED'

export const isAirSensor = (text: string | undefined): text is AirSensor => airSensors.some((name) => name === text)
/** Filter value in place of a sensor: any of them. */
export const anySensor = 'any'
type AirChoice = AirSensor | typeof anySensor
const isAirChoice = (text: string): text is AirChoice => text === anySensor || isAirSensor(text)
/** Only current readings count, as on the overview. */
const isOutside = ({ freshness, outliers }: RoomTableRow, choice: AirChoice): boolean =>
  freshness.isNow && outliers.some(({ sensor }) => choice === anySensor || sensor === choice)

/** Only a current number counts, as on the overview. */
const currentPeople = ({ people, freshness }: RoomTableRow) => (freshness.isNow ? people : undefined)
const peopleTest: Readonly<Record<PeopleChoice, RoomMatcher>> = {
  some: (row) => (currentPeople(row) ?? 0) > 0,
  none: (row) => currentPeople(row) === 0,
  unknown: (row) => currentPeople(row) === undefined,
}
const isPeopleChoice = (text: string): text is PeopleChoice => Object.hasOwn(peopleChoices, text)

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
  capacity: (row) => row.capacity ?? null,
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
    (a, b) => (by === 'state' ? compareSince(a, b) : 0) || compareText(a.sortKey, b.sortKey) || a.id - b.id,
  )

/** Rooms with a problem are sorted by how long they have had it, the longest first: what has only just come, or comes and goes, stands below. */
const compareSince = (a: RoomTableRow, b: RoomTableRow): number =>
  roomNeedsAttention(a) && a.state === b.state ? (a.sinceMs ?? 0) - (b.sinceMs ?? 0) : 0
