// Which rooms an address asks for, and in which order.

import { type Sort, type SortKey, sorted } from '../../parts/table/sorting.ts'
import { hasWords, inOrder, wordsOf } from '../../parts/text/search-text.ts'
import { type AirSensor, airSensors, isMeasured } from '../air/air.ts'
import type { RoomRow } from './room-rows.ts'
import { type RoomState, roomStates } from './room-state.tsx'

/** As it stands in the address; what is not understood there is no filter. */
export interface RoomFilter {
  readonly q?: string
  readonly region?: string
  readonly location?: string
  readonly state?: string
  readonly air?: string
  readonly people?: string
}

/** In the place of an id: rooms that have no region, or no location. */
export const nowhere = 'none'

export const peopleChoices = {
  some: 'Somebody there',
  none: 'Nobody there',
  unknown: 'Not known',
} as const
type PeopleChoice = keyof typeof peopleChoices

type Test = (row: RoomRow) => boolean

export function roomTest(filter: RoomFilter): Test {
  const tests = [
    ...textTests(filter.q ?? ''),
    ...(filter.region === undefined ? [] : [idTest(filter.region, (row) => row.region?.id)]),
    ...(filter.location === undefined ? [] : [idTest(filter.location, (row) => row.location?.id)]),
    ...stateTests(filter.state),
    ...airTests(filter.air),
    ...peopleTests(filter.people),
  ]
  return (row) => tests.every((test) => test(row))
}

function textTests(q: string): Test[] {
  const words = wordsOf(q)
  return words.length === 0 ? [] : [(row) => hasWords(row.text, words)]
}

function idTest(wanted: string, idOf: (row: RoomRow) => number | undefined): Test {
  const id = wanted === nowhere ? undefined : Number(wanted)
  return (row) => idOf(row) === id
}

export const isRoomState = (text: string | undefined): text is RoomState => roomStates.some((state) => state === text)
/** In the place of a state: what somebody should look at. */
export const needy = 'NEEDY'
function stateTests(state: string | undefined): Test[] {
  if (state === needy) return [isNeedy]
  return isRoomState(state) ? [(row) => row.state === state] : []
}
export const isNeedy: Test = ({ state }) => state === 'OFFLINE' || state === 'DEGRADED'

export const isAirSensor = (text: string | undefined): text is AirSensor => airSensors.some((name) => name === text)
/** In the place of a sensor: any of them. */
export const anyAir = 'any'
function airTests(air: string | undefined): Test[] {
  if (air === anyAir) return [(row) => row.outliers.length > 0]
  return isAirSensor(air) ? [(row) => row.outliers.some(({ sensor }) => sensor === air)] : []
}

const peopleTest: Readonly<Record<PeopleChoice, Test>> = {
  some: ({ people }) => people !== undefined && people > 0,
  none: ({ people }) => people === 0,
  unknown: ({ people }) => people === undefined,
}
export const isPeopleChoice = (text: string | undefined): text is PeopleChoice =>
  text !== undefined && Object.hasOwn(peopleChoices, text)
const peopleTests = (people: string | undefined): Test[] => (isPeopleChoice(people) ? [peopleTest[people]] : [])

type Key = SortKey<RoomRow>

const air =
  (sensor: AirSensor): Key =>
  ({ sample }) =>
    sample && isMeasured(sample[sensor]) ? sample[sensor] : null
const rank = new Map(roomStates.map((state, index) => [state, index]))
const byName: Key = (row) => row.order
const keys: Readonly<Record<string, Key>> = {
  name: byName,
  state: (row) => rank.get(row.state) ?? null,
  devices: (row) => row.endpointCount,
  people: (row) => row.people ?? null,
  location: (row) => row.location?.name.toLowerCase() ?? null,
  region: (row) => row.region?.name.toLowerCase() ?? null,
  co2: air('co2'),
  voc: air('voc'),
  temp: air('temp'),
  humidity: air('humidity'),
}

/** What is wrong comes first. */
export const usualSort: Sort = { by: 'state', descending: false }

export const sortRooms = (rows: readonly RoomRow[], { by, descending }: Sort): readonly RoomRow[] =>
  sorted(rows, keys[by] ?? byName, descending, (a, b) => inOrder(a.order, b.order) || a.id - b.id)
