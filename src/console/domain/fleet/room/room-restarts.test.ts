// Tests the state of a room while devices of it are being restarted.
import { expect, test } from 'vitest'
import { stateDuringRestart, stateWithRestarts } from './room-restarts.ts'

test('devices that are being restarted, asleep or reconnecting do not count as offline', () => {
  const room = { state: 'OFFLINE' as const, endpointCount: 3, connectedCount: 0 }
  expect(stateDuringRestart({ ...room, asleepCount: 2 }, 1)).toBe('HEALTHY')
  expect(stateDuringRestart({ ...room, asleepCount: 1, unknownCount: 1 }, 1)).toBe('HEALTHY')
  expect(stateDuringRestart({ ...room, asleepCount: 1 }, 1)).toBe('DEGRADED')
  expect(stateDuringRestart({ ...room, asleepCount: 1 }, 0)).toBe('OFFLINE')
})

test('a room without an offline device keeps the state that the server gave it', () => {
  expect(stateDuringRestart({ state: 'UNKNOWN', endpointCount: 2, connectedCount: 0, unknownCount: 2 }, 1)).toBe(
    'UNKNOWN',
  )
  expect(stateDuringRestart({ state: 'HEALTHY', endpointCount: 1, connectedCount: 0, asleepCount: 1 }, 1)).toBe(
    'HEALTHY',
  )
  expect(stateWithRestarts('DEGRADED', 0, 1)).toBe('DEGRADED')
})
