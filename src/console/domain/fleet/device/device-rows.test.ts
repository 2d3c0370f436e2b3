// Tests how the search parameters filter and sort devices.
import { expect, test } from 'vitest'
import { deviceStateName } from './connection-label.tsx'
import {
  type DeviceTableRow,
  defaultDeviceSort,
  deviceMatcher,
  firmwareStateOf,
  isReconnecting,
  isUnseen,
  sinceChoices,
  sortDevices,
} from './device-rows.ts'

const row = (id: string, more: Partial<DeviceTableRow> = {}): DeviceTableRow => ({
  id,
  serial: id,
  model: 'NF19B1',
  connected: true,
  state: 'ONLINE',
  label: `Bar ${id}`,
  modelName: 'Bar',
  maker: 'Neat',
  viaName: undefined,
  location: undefined,
  profileName: undefined,
  call: undefined,
  restartingSinceMs: undefined,
  searchText: `bar ${id} fjord`,
  sortKey: `bar\0${id}`,
  ...more,
})
const rows = [
  row('a', { firmwareVersion: '1.20', roomName: 'Vik' }),
  row('b', { model: 'NF22E1', modelName: 'Bar 2', sortKey: 'bar 2\0b', firmwareVersion: '1.2', state: 'OFFLINE' }),
  row('c', { roomName: 'Fjord', call: 'Zoom' }),
]
const shown = (filter: Parameters<typeof deviceMatcher>[0]) => rows.filter(deviceMatcher(filter)).map(({ id }) => id)
const order = (by: string, descending = false) => sortDevices(rows, { by, descending }).map(({ id }) => id)

test('a model is its code, firmware its whole text, and "none" what was not reported', () => {
  expect(shown({ model: 'NF19B1' })).toEqual(['a', 'c'])
  expect(shown({ firmware: '1.2' })).toEqual(['b'])
  expect(shown({ firmware: 'none' })).toEqual(['c'])
})

test('connected is yes, no or unknown; anything else filters nothing', () => {
  const away = [...rows, row('d', { state: 'UNKNOWN' }), row('e', { state: 'UNKNOWN', restartingSinceMs: 1 })]
  expect(away.filter(deviceMatcher({ connected: 'unknown' })).map(({ id }) => id)).toEqual(['d'])
  expect(away.filter(deviceMatcher({ connected: 'yes' })).map(({ id }) => id)).toEqual(['a', 'c', 'e'])
  expect(shown({ connected: 'yes' })).toEqual(['a', 'c'])
  expect(shown({ connected: 'no', q: 'FJORD b' })).toEqual(['b'])
  expect(shown({ connected: 'perhaps' })).toEqual(['a', 'b', 'c'])
})

test('a device whose gateway is away cannot be seen, even if its gateway is hidden; without a gateway it is reconnecting', () => {
  const [behind, hidden, direct, restarting] = [
    row('a', { state: 'UNKNOWN', via: 'g', hasGateway: true }),
    row('b', { state: 'UNKNOWN', hasGateway: true }),
    row('c', { state: 'UNKNOWN' }),
    row('d', { state: 'UNKNOWN', hasGateway: true, restartingSinceMs: 1 }),
  ]
  const all = [behind, hidden, direct, restarting]
  expect(all.map(isUnseen)).toEqual([true, true, false, false])
  expect(all.map(isReconnecting)).toEqual([false, false, true, false])
  expect(all.map(({ state, hasGateway }) => deviceStateName(state, hasGateway))).toEqual([
    'Cannot be seen',
    'Cannot be seen',
    'Reconnecting',
    'Cannot be seen',
  ])
})

test('region, location, profile and settings are those of the row; "none" is a device without', () => {
  const oslo = { id: 3, name: 'Oslo', region: { id: 11, name: 'Europe' } } as NonNullable<DeviceTableRow['location']>
  const placed = [
    row('a', { location: oslo, profileId: 2, configState: 'FAILED' }),
    row('b', { location: { ...oslo, id: 4 }, configState: 'DELIVERED' }),
    row('c'),
  ]
  const found = (filter: Parameters<typeof deviceMatcher>[0]) =>
    placed.filter(deviceMatcher(filter)).map(({ id }) => id)
  expect(found({ region: '11' })).toEqual(['a', 'b'])
  expect(found({ region: 'none' })).toEqual(['c'])
  expect(found({ location: '4' })).toEqual(['b'])
  expect([found({ profile: '2' }), found({ profile: 'none' })]).toEqual([['a'], ['b', 'c']])
  expect([found({ settings: 'FAILED' }), found({ settings: 'none' })]).toEqual([['a'], ['c']])
  expect(found({ settings: 'perhaps' })).toEqual(['a', 'b', 'c'])
})

test('offline comes first; what is not known last', () => {
  expect(sortDevices(rows, defaultDeviceSort).map(({ id }) => id)).toEqual(['b', 'a', 'c'])
  expect(order('room')).toEqual(['c', 'a', 'b'])
  expect(order('room', true)).toEqual(['a', 'c', 'b'])
  expect(order('name')).toEqual(['a', 'c', 'b'])
})

test('firmware is current or behind only if both versions are known', () => {
  const versions = (firmwareVersion?: string, latestVersion?: string) =>
    firmwareStateOf(
      row('x', { ...(firmwareVersion && { firmwareVersion }), ...(latestVersion !== undefined && { latestVersion }) }),
    )
  // The list leaves out what is the same, and says with an empty text that only one is known.
  expect([versions('1.2'), versions('1.2', '1.3')]).toEqual(['current', 'behind'])
  expect([versions('1.2', ''), versions(undefined, '1.3'), versions()]).toEqual(['unknown', 'unknown', 'unknown'])
})

test('a device that is being restarted is not offline', () => {
  const away = row('d', { connected: false, restartingSinceMs: 1 })
  expect([deviceMatcher({ connected: 'no' })(away), deviceMatcher({ connected: 'yes' })(away)]).toEqual([false, true])
})

test('kind, maker, power, gateway, source and time filter and sort; "none" is what was not reported', () => {
  const now = Date.parse('2026-05-04T12:00:00Z')
  const mixed = [
    row('a', { power: 'ON', since: '2026-05-04T11:30:00Z', via: 'g', viaName: 'Gateway Oslo', sourceType: 'mqtt' }),
    row('b', { model: 'LX-400', kind: 'PROJECTOR', maker: 'Lumen', power: 'STANDBY', since: '2026-04-01T00:00:00Z' }),
    row('c', { model: 'X1', maker: undefined }),
  ]
  const found = (filter: Parameters<typeof deviceMatcher>[0]) =>
    mixed.filter(deviceMatcher(filter, now)).map(({ id }) => id)
  expect([found({ kind: 'PROJECTOR' }), found({ kind: 'OTHER' })]).toEqual([['b'], ['c']])
  expect([found({ maker: 'Lumen' }), found({ maker: 'none' })]).toEqual([['b'], ['c']])
  expect([found({ power: 'ON' }), found({ power: 'none' })]).toEqual([['a'], ['c']])
  expect([found({ via: 'g' }), found({ via: 'none' })]).toEqual([['a'], ['b', 'c']])
  expect([found({ source: 'mqtt' }), found({ source: 'neat-pulse' }), found({ source: 'none' })]).toEqual([
    ['a'],
    [],
    ['b', 'c'],
  ])
  expect((['hour', 'day', 'week'] as const).map((since) => found({ since }))).toEqual([['a'], ['a'], ['a']])
  expect([found({ since: 'older' }), found({ since: 'never' }), found({ since: 'x' })]).toEqual([
    ['b'],
    ['c'],
    ['a', 'b', 'c'],
  ])
  const unseen = row('d', { connected: false, state: 'UNKNOWN', hasGateway: true, since: '2026-04-01T00:00:00Z' })
  expect(
    Object.keys(sinceChoices).filter((since) => deviceMatcher({ since }, now)(unseen)),
    'it has not been away since then',
  ).toEqual([])
  const sorted = (by: string, descending = false) => sortDevices(mixed, { by, descending }).map(({ id }) => id)
  expect(['kind', 'maker', 'power', 'via', 'since'].map((by) => sorted(by).join(''))).toEqual([
    ...['acb', 'bac', 'abc', 'abc', 'bac'],
  ])
  expect(sorted('power', true), 'what is not known is last in either direction').toEqual(['b', 'a', 'c'])
})

test('offline devices are sorted by how long they have been away, and online ones by name', () => {
  const away = (id: string, since: string) => row(id, { state: 'OFFLINE', since })
  const mixed = [
    away('a', '2026-03-02T10:00:00Z'),
    row('d', { connected: true, since: '2026-03-02T08:00:00Z' }),
    away('b', '2026-03-02T09:00:00Z'),
    row('c', { connected: true, since: '2026-03-02T09:00:00Z' }),
  ]
  expect(sortDevices(mixed, defaultDeviceSort).map(({ id }) => id)).toEqual(['b', 'a', 'c', 'd'])
  expect(sortDevices(mixed, { by: 'name', descending: false }).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd'])
})
