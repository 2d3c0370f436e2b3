// The devices of a source as the gateway knows them, and which of them go up to the server.
import { expect, test } from 'vitest'
import { maxSourceDevices } from '../../contract/fleet/sources.ts'
import { KnownDevices } from './known-devices.ts'

const device = (key: string, more: object = {}) => ({ key, model: 'Line 1', ...more })
const keysOf = (known: KnownDevices) => known.unsent(maxSourceDevices).map(({ key }) => key)

test('a device goes up when it is new or has changed, and again only if it changed while it was sent', () => {
  const known = new KnownDevices()
  known.merge([device('a'), device('b')])
  expect(keysOf(known)).toEqual(['a', 'b'])
  const batch = known.unsent(2)
  known.merge([device('a'), device('b', { name: 'Fjord' })])
  known.markSent(batch)
  expect(known.unsent(2)).toEqual([device('b', { name: 'Fjord' })])
  known.markSent(known.unsent(2))
  known.merge([device('a'), device('b', { name: 'Fjord' })])
  expect([known.unsentCount, known.storedCount]).toEqual([0, 2])
  known.markAllUnsent()
  expect(keysOf(known)).toEqual(['a', 'b'])
})

test('a device that is not in a complete list is missing until it is in one, or is found again', () => {
  const known = new KnownDevices()
  expect(known.isMissing('never heard of')).toBe(false)
  known.merge([device('a'), device('b')])
  known.markSent(known.unsent(2))
  known.list(['a'])
  expect(known.unsent(2)).toEqual([device('b', { isMissing: true })])
  expect(['a', 'b', 'never heard of'].map((key) => known.isMissing(key))).toEqual([false, true, true])
  known.markSent(known.unsent(2))
  known.list(['a', 'b'])
  expect(known.unsent(2)).toEqual([device('b')])
  known.list(['a'])
  known.merge([device('b')])
  expect(known.isMissing('b')).toBe(false)
  known.clear()
  expect([known.unsentCount, known.isMissing('x')]).toEqual([0, false])
})

test('a device is expected in the next list if it was in the last one, or was adopted and no list has shown that it is missing', () => {
  const known = new KnownDevices()
  expect(known.present(['adopted'])).toEqual(['adopted'])
  known.merge([device('a'), device('b')])
  expect(known.present(['adopted', 'a'])).toEqual(['a', 'b', 'adopted'])
  known.list(['a'])
  expect(known.present(['adopted'])).toEqual(['a'])
})

test('the first complete list goes up, and again if the server has lost what it knew', () => {
  const known = new KnownDevices()
  known.merge([device('a')])
  expect(known.unsentList).toBeUndefined()
  known.list(['a', 'left out'])
  known.merge([device('found since')])
  expect(known.unsentList).toEqual(['a', 'left out', 'found since'])
  known.markListSent()
  known.list(['left out'])
  expect(known.unsentList).toBeUndefined()
  known.markAllUnsent()
  expect(known.unsentList).toEqual(['left out'])
})

test('the last message goes up each time, and is not kept', () => {
  const known = new KnownDevices()
  for (let i = 0; i < 2; i++) {
    known.merge([device('a', { lastMessage: '{"co2":612}' })])
    expect(known.unsent(1)).toEqual([device('a', { lastMessage: '{"co2":612}' })])
    known.markSent(known.unsent(1))
  }
  known.markAllUnsent()
  expect(known.unsent(1)).toEqual([device('a')])
})

test('devices beyond the limit are left out, and those that are known still change', () => {
  const known = new KnownDevices()
  const keys = Array.from({ length: maxSourceDevices }, (_, i) => `device-${i}`)
  expect(known.merge(keys.map((key) => device(key)))).toBe(true)
  expect(known.merge([device('one too many'), device('device-7', { name: 'Fjord' })])).toBe(false)
  expect(known.unsentCount).toBe(maxSourceDevices)
  expect(known.unsent(maxSourceDevices)[7]).toEqual(device('device-7', { name: 'Fjord' }))
})
