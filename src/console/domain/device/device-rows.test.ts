// Tests how the search parameters filter and sort devices.
import { expect, test } from 'vitest'
import { type DeviceTableRow, defaultDeviceSort, deviceMatcher, sortDevices } from './device-rows.ts'

const row = (id: string, more: Partial<DeviceTableRow> = {}): DeviceTableRow => ({
  id,
  serial: id,
  model: 'NF19B1',
  connected: true,
  modelName: 'Bar',
  locationName: undefined,
  call: undefined,
  searchText: `bar ${id} fjord`,
  sortKey: `bar\0${id}`,
  ...more,
})
const rows = [
  row('a', { firmwareVersion: '1.20', roomName: 'Vik' }),
  row('b', { model: 'NF22E1', modelName: 'Bar 2', sortKey: 'bar 2\0b', firmwareVersion: '1.2', connected: false }),
  row('c', { roomName: 'Fjord', call: 'Zoom' }),
]
const shown = (filter: Parameters<typeof deviceMatcher>[0]) => rows.filter(deviceMatcher(filter)).map(({ id }) => id)
const order = (by: string, descending = false) => sortDevices(rows, { by, descending }).map(({ id }) => id)

test('a model is its code, firmware its whole text, and "none" what was not reported', () => {
  expect(shown({ model: 'NF19B1' })).toEqual(['a', 'c'])
  expect(shown({ firmware: '1.2' })).toEqual(['b'])
  expect(shown({ firmware: 'none' })).toEqual(['c'])
})

test('connected is yes or no; anything else filters nothing', () => {
  expect(shown({ connected: 'yes' })).toEqual(['a', 'c'])
  expect(shown({ connected: 'no', q: 'FJORD b' })).toEqual(['b'])
  expect(shown({ connected: 'perhaps' })).toEqual(['a', 'b', 'c'])
})

test('offline comes first; what is not known last', () => {
  expect(sortDevices(rows, defaultDeviceSort).map(({ id }) => id)).toEqual(['b', 'a', 'c'])
  expect(order('room')).toEqual(['c', 'a', 'b'])
  expect(order('room', true)).toEqual(['a', 'c', 'b'])
  expect(order('name')).toEqual(['a', 'c', 'b'])
})
