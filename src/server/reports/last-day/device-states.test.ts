// Tests which state a device has after each end of a connection.
import { expect, test } from 'vitest'
import { type DayConnection, eachState } from './device-states.ts'

const span = (since: number, until: number | undefined, after: Partial<DayConnection> = {}): DayConnection => ({
  ...{ since, until, unknown_until: null, followed_by: 'OFFLINE', rested: 0, overslept_at: null, via: null },
  ...after,
})
const times = [1, 2, 3, 4, 5, 6]
const statesOf = (connections: readonly DayConnection[], now: 'ONLINE' | 'OFFLINE' | 'UNKNOWN' = 'OFFLINE') => {
  const seen: string[] = []
  eachState(connections, times, now, (index, state) => {
    seen[index] = state.slice(0, 2)
  })
  return seen.join(' ')
}

test.each([
  ['was never connected', [], 'OF OF OF OF OF OF'],
  ['is connected again', [span(0, 2), span(4, undefined)], 'ON OF OF ON ON ON'],
  ['lost its server', [span(0, 2, { followed_by: 'UNKNOWN', unknown_until: 4 })], 'ON UN UN OF OF OF'],
  ['sleeps, and then for too long', [span(0, 2, { rested: 1, overslept_at: 5 })], 'ON AS AS AS OF OF'],
  ['lost its gateway', [span(0, 2, { followed_by: 'UNKNOWN', via: 'g' }), span(5, undefined)], 'ON UN UN UN ON ON'],
  ['lost its gateway, and stays away', [span(0, 5, { followed_by: 'UNKNOWN', via: 'g' })], 'ON ON ON ON OF OF'],
])('a device that %s', (_, connections, expected) => {
  expect(statesOf(connections)).toBe(expected)
})
