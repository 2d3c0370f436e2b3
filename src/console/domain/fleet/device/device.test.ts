// Tests the words for the state of a device in sentences. [contract 8.state]
import { expect, test } from 'vitest'
import { predicateOf } from './device.ts'

test('a device that is asleep or cannot be seen is not called offline', () => {
  const away = { connected: false } as const
  expect(predicateOf({ connected: true })).toBe('is online')
  expect(predicateOf(away)).toBe('is offline')
  expect(predicateOf({ ...away, state: 'ASLEEP', hasGateway: true })).toBe('is asleep')
  expect(predicateOf({ ...away, state: 'UNKNOWN' })).toBe('is reconnecting')
  expect(predicateOf({ ...away, state: 'UNKNOWN', hasGateway: true })).toBe('cannot be seen')
})
