// Tests which connect or disconnect gave a room its state.
import { expect, test } from 'vitest'
import { roomSinceMs } from './room-since.ts'

const at = (hour: number) => Date.UTC(2026, 4, 4, hour)
const device = (isOnline: boolean, hour: number) => ({
  connected: isOnline,
  connectionTime: new Date(at(hour)).toISOString(),
})

test('a room is offline since its last device went away, and degraded since its first did', () => {
  expect(roomSinceMs('OFFLINE', [device(false, 8), device(false, 9)])).toBe(at(9))
  const asleep = { ...device(false, 11), state: 'ASLEEP' as const }
  expect(roomSinceMs('OFFLINE', [device(false, 8), asleep])).toBe(at(8))
  expect(roomSinceMs('DEGRADED', [device(false, 8), device(false, 9), device(true, 10)])).toBe(at(8))
  expect(roomSinceMs('HEALTHY', [device(true, 7), device(true, 9)])).toBe(at(9))
})

test('a room without devices, with devices that never connected, or degraded by its settings has no such time', () => {
  expect(roomSinceMs('EMPTY', [])).toBeUndefined()
  expect(roomSinceMs('OFFLINE', [{ connected: false }])).toBeUndefined()
  expect(roomSinceMs('DEGRADED', [device(true, 8)])).toBeUndefined()
})

test('a room whose devices cannot be seen has no such time, because theirs is that of their last connection', () => {
  const unknown = { ...device(false, 12), state: 'UNKNOWN' as const, since: new Date(at(7)).toISOString() }
  expect(roomSinceMs('UNKNOWN', [unknown])).toBeUndefined()
})

test('a restart of the server does not change since when a room is healthy', () => {
  const back = { ...device(true, 12), since: new Date(at(7)).toISOString() }
  expect(roomSinceMs('HEALTHY', [back])).toBe(at(7))
})

test('a device that falls asleep does not change since when its room has its state', () => {
  const asleep = { ...device(false, 19), state: 'ASLEEP' as const }
  expect(roomSinceMs('HEALTHY', [device(true, 7), asleep])).toBe(at(7))
  expect(roomSinceMs('OFFLINE', [device(false, 9), asleep])).toBe(at(9))
  expect(roomSinceMs('HEALTHY', [asleep])).toBe(at(19))
})
