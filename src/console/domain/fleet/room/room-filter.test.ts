// Tests how the search parameters filter and sort rooms.
import { expect, test } from 'vitest'
import { naturalSortKey, normalizeText } from '../../../../contract/search-text.ts'
import { formatSort, parseSort } from '../../../parts/table/sorting.ts'
import { defaultRoomSort, roomMatcher, sortRooms } from './room-filter.ts'
import type { RoomTableRow } from './room-rows.ts'

const row = (id: number, name: string, more: Partial<RoomTableRow> = {}): RoomTableRow => ({
  id,
  name,
  state: 'HEALTHY',
  endpointCount: 2,
  connectedCount: 2,
  region: undefined,
  isReconnecting: false,
  sinceMs: undefined,
  profileName: undefined,
  restartingSinceMs: undefined,
  sample: undefined,
  freshness: { atMs: 1000, isNow: true },
  outliers: [],
  searchText: normalizeText(name),
  sortKey: naturalSortKey(name),
  ...more,
})
const oslo = { location: { id: 3, name: 'Oslo' }, region: { id: 1, name: 'Europe' } }
const rows = [
  row(1, 'Room 10', { ...oslo, people: 4, searchText: 'room 10 oslo europe' }),
  row(2, 'Room 9', { state: 'OFFLINE', people: 0 }),
  row(3, 'Ålesund', { state: 'DEGRADED', ...oslo, region: undefined }),
  row(4, 'room 9', {
    sample: { co2: 1200, voc: 0, temp: 21, humidity: 40 },
    outliers: [{ sensor: 'co2', value: 1200, limit: 1000 }],
  }),
]
const shown = (filter: Parameters<typeof roomMatcher>[0]) => rows.filter(roomMatcher(filter)).map(({ id }) => id)
const all = [1, 2, 3, 4]

test('every word must occur; case and accents do not matter', () => {
  expect(shown({ q: 'EUROPE room' })).toEqual([1])
  expect(shown({ q: 'alesund' })).toEqual([3])
  expect(shown({ q: 'room tokyo' })).toEqual([])
  expect(shown({ q: '  ' })).toEqual(all)
})

test('filters narrow together, and "none" finds rooms that are nowhere', () => {
  expect(shown({ location: '3' })).toEqual([1, 3])
  expect(shown({ location: '3', region: 'none' })).toEqual([3])
  expect(shown({ location: 'none' })).toEqual([2, 4])
  expect(shown({ location: '99' })).toEqual([])
  expect(shown({ state: 'OFFLINE' })).toEqual([2])
  expect(shown({ state: 'ATTENTION' })).toEqual([2, 3])
  expect(shown({ air: 'co2' })).toEqual([4])
  expect(shown({ air: 'temp' })).toEqual([])
  expect(shown({ air: 'any' })).toEqual([4])
})

test('an old reading is neither a problem of now nor a sign that a room is free', () => {
  const old = { atMs: 1000, isNow: false }
  const aged = rows.map((one) => ({ ...one, freshness: old }))
  for (const filter of [{ air: 'co2' }, { air: 'any' }, { people: 'some' }, { people: 'none' }])
    expect(aged.filter(roomMatcher(filter))).toEqual([])
  expect(aged.filter(roomMatcher({ people: 'unknown' })).map(({ id }) => id)).toEqual(all)
})

test('a room that cannot count people is neither used nor free', () => {
  expect(shown({ people: 'some' })).toEqual([1])
  expect(shown({ people: 'none' })).toEqual([2])
  expect(shown({ people: 'unknown' })).toEqual([3, 4])
})

test('an invalid filter in the address filters nothing', () => {
  expect(shown({ state: 'BROKEN', air: 'light', people: 'toString' })).toEqual(all)
})

test('the worst comes first, then by name with numbers as numbers', () => {
  const order = (by: string, descending = false) => sortRooms(rows, { by, descending }).map(({ id }) => id)
  expect(order('state')).toEqual([2, 3, 4, 1])
  expect(order('name')).toEqual([3, 2, 4, 1])
  expect(order('no such column')).toEqual([3, 2, 4, 1])
})

test('unknown values come last in both directions', () => {
  const order = (descending: boolean) => sortRooms(rows, { by: 'people', descending }).map(({ id }) => id)
  expect(order(false)).toEqual([2, 1, 3, 4])
  expect(order(true)).toEqual([1, 2, 3, 4])
})

test('the order is kept in the address unless it is the usual one', () => {
  const byPeople = { by: 'people', descending: true }
  expect(formatSort(byPeople, defaultRoomSort)).toBe('-people')
  expect(parseSort('-people', defaultRoomSort)).toEqual(byPeople)
  expect(formatSort(defaultRoomSort, defaultRoomSort)).toBeUndefined()
  expect(parseSort(undefined, defaultRoomSort)).toEqual(defaultRoomSort)
})

test('a tag and a profile are those of the room', () => {
  const tagged = [row(5, 'Vik', { tags: ['huddle', 'canary'], profileId: 2 }), row(6, 'Nes')]
  const found = (filter: Parameters<typeof roomMatcher>[0]) => tagged.filter(roomMatcher(filter)).map(({ id }) => id)
  expect([found({ tag: 'canary' }), found({ tag: 'can' })]).toEqual([[5], []])
  expect([found({ profile: '2' }), found({ profile: 'none' })]).toEqual([[5], [6]])
})

test('within a state, rooms with a problem are sorted by how long they have had it, and the others by name', () => {
  const mixed = [
    row(1, 'Flapping', { state: 'OFFLINE', sinceMs: 9000 }),
    row(2, 'Long away', { state: 'OFFLINE', sinceMs: 1000 }),
    row(3, 'Bergen', { sinceMs: 9000 }),
    row(4, 'Oslo', { sinceMs: 1000 }),
    row(5, 'Degraded', { state: 'DEGRADED', sinceMs: 500 }),
  ]
  expect(sortRooms(mixed, defaultRoomSort).map(({ id }) => id)).toEqual([2, 1, 5, 3, 4])
})
