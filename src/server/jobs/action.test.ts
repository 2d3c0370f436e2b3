// Tests which devices the units of a job wait for. [contract 12.states]
import { expect, test } from 'vitest'
import { isSkippedAsleep, waitsForConnection } from './action.ts'

const online = { connected: 1, presence: 'ONLINE' }
const offline = { connected: 0, presence: 'OFFLINE' }
const asleep = { connected: 0, presence: 'ASLEEP' }
const unknown = { connected: 0, presence: 'UNKNOWN' }

test('POWER skips devices that are asleep; other actions wait for them, and all actions for unknown ones [contract 8.power]', () => {
  expect(waitsForConnection('POWER', [online, asleep])).toBe(false)
  expect(waitsForConnection('POWER', [asleep])).toBe(false)
  expect(waitsForConnection('POWER', [online, offline, asleep])).toBe(true)
  expect(waitsForConnection('POWER', [online, unknown])).toBe(true)
  expect(waitsForConnection('REBOOT', [online, asleep])).toBe(true)
  expect(waitsForConnection('REBOOT', [online, unknown])).toBe(true)
  expect(waitsForConnection('MESSAGE', [asleep])).toBe(true)
  expect([
    isSkippedAsleep('POWER', asleep),
    isSkippedAsleep('POWER', offline),
    isSkippedAsleep('POWER', unknown),
    isSkippedAsleep('REBOOT', asleep),
  ]).toEqual([true, false, false, false])
})
