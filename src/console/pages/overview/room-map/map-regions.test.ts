// Tests that the map has every room once, in an order that does not depend on states.
import { expect, test } from 'vitest'
import { naturalSortKey } from '../../../../contract/search-text.ts'
import { mapRegions } from './map-regions.ts'

const room = (id: number, name: string, place?: readonly [region: string | undefined, location: string]) => ({
  ...{ id, name, sortKey: naturalSortKey(name), state: 'HEALTHY' as const, isReconnecting: false },
  region: place?.[0] === undefined ? undefined : { id: place[0].length, name: place[0] },
  ...(place && { location: { id: place[1].length, name: place[1] } }),
})

const textOf = (rows: readonly ReturnType<typeof room>[]) =>
  mapRegions(rows as never).map(
    ({ name, locations }) =>
      `${name}: ${locations.map((location) => `${location.name} (${location.rooms.map((one) => one.name)})`).join(' ')}`,
  )

test('rooms are grouped by region and location by name, and rooms without a place come last', () => {
  const rows = [
    room(1, 'Nowhere'),
    room(2, 'Room 10', ['Europe', 'Oslo']),
    room(3, 'Room 9', ['Europe', 'Oslo']),
    room(4, 'Fjord', ['Europe', 'Bergen']),
    room(5, 'Sakura', ['Asia', 'Tokyo']),
    room(6, 'Loose', [undefined, 'Harbour']),
  ]
  const expected = [
    'Asia: Tokyo (Sakura)',
    'Europe: Bergen (Fjord) Oslo (Room 9,Room 10)',
    'No region: Harbour (Loose) No location (Nowhere)',
  ]
  expect(textOf(rows)).toEqual(expected)
  expect(textOf(rows.toReversed())).toEqual(expected)
})
