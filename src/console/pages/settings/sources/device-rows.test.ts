// Tests the filter of a source's devices, and what can be decided about selected ones.
import { expect, test } from 'vitest'
import type { SourceDevice } from '../../../../contract/fleet/sources.ts'
import { decisions, filterDevices, inRequests, sourceDeviceName } from './device-rows.ts'

const found: SourceDevice = {
  key: 'found',
  name: 'Fjord Bar',
  model: 'NF19B1',
  state: 'FOUND',
  isMissing: false,
  theirRoomName: 'Fjord',
  linkedRoomId: 7,
  foundAt: '2026-05-04T08:15:30.000Z',
}
const { linkedRoomId: _, ...unlinked } = { ...found, key: 'unlinked' }
const refused: SourceDevice = { ...found, key: 'refused', refusedBecause: 'It is mirrored there itself.' }
const excluded: SourceDevice = { ...found, key: 'excluded', state: 'EXCLUDED' }
const missing: SourceDevice = { ...found, key: 'missing', isMissing: true }
const adopted: SourceDevice = { ...found, key: 'adopted', state: 'ADOPTED', deviceState: 'UNREACHABLE' }
const all = [found, unlinked, refused, excluded, missing, adopted]
const keysOf = (devices: readonly { key: string }[]) => devices.map(({ key }) => key)

test('the filter finds states, missing devices and problems, and words in any order', () => {
  expect(keysOf(filterDevices(all, { state: 'FOUND' }))).toEqual(['found', 'unlinked', 'refused', 'missing'])
  expect(keysOf(filterDevices(all, { state: 'MISSING' }))).toEqual(['missing'])
  expect(keysOf(filterDevices(all, { state: 'PROBLEM' }))).toEqual(['refused', 'adopted'])
  expect(filterDevices(all, { state: 'unknown' })).toHaveLength(all.length)
  expect(keysOf(filterDevices(all, { q: 'BAR fjord excl' }))).toEqual(['excluded'])
})

test('a decision leaves out devices for which it has no meaning', () => {
  expect(decisions.adopt(all, 3)).toEqual(
    ['found', 'unlinked', 'excluded'].map((key) => ({ key, state: 'ADOPTED', roomId: 3 })),
  )
  expect(decisions.adoptIntoLinkedRooms(all)).toEqual([{ key: 'found', state: 'ADOPTED', roomId: 7 }])
  expect(keysOf(decisions.exclude(all))).toEqual(['found', 'unlinked', 'refused', 'missing'])
  expect(decisions.takeBack(all)).toEqual([{ key: 'excluded', state: 'FOUND' }])
})

test('a request has at most 200 decisions', () => {
  const many = decisions.adopt(
    Array.from({ length: 401 }, (_, i) => ({ ...found, key: String(i) })),
    3,
  )
  expect(inRequests(many).map(({ length }) => length)).toEqual([200, 200, 1])
  expect(inRequests([])).toEqual([])
})

test('a device without a name has its model, and its serial number or key', () => {
  const { name: __, ...nameless } = found
  expect(sourceDeviceName(nameless)).toBe('NF19B1 found')
  expect(sourceDeviceName({ ...nameless, serial: 'S1' })).toBe('NF19B1 S1')
})
