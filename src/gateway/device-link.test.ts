// The outcome of a reboot or a change of the power, by what the device says of itself.
import { expect, test } from 'vitest'
import { startedOutcome } from './device-link.ts'

const atMs = Date.parse('2026-05-04T08:00:00.000Z')
const at = (seconds: number) => new Date(atMs + seconds * 1000).toISOString()
const reboot = { id: 'a', type: 'REBOOT', atMs } as const
const stateOf = (...args: Parameters<typeof startedOutcome>) => startedOutcome(...args)?.state

test('a reboot has succeeded when the device started after it, whenever that is noticed', () => {
  for (const seconds of [40, -1]) {
    expect(stateOf(reboot, { startedAt: at(seconds) }, false)).toBe('SUCCEEDED')
    expect(stateOf(reboot, { startedAt: at(seconds) }, true)).toBe('SUCCEEDED')
  }
})

test('a reboot is open while the device can still restart, and has failed when its time is over', () => {
  expect(stateOf(reboot, { startedAt: at(-3600) }, false)).toBeUndefined()
  expect(startedOutcome(reboot, { startedAt: at(-3600) }, true)).toEqual({
    state: 'FAILED',
    error: 'The device has not restarted.',
  })
})

test('a reboot of a device without an uptime has failed, because nothing shows that it happened', () => {
  const failure = { state: 'FAILED', error: expect.stringContaining('not known whether it restarted') }
  expect(startedOutcome(reboot, {}, false)).toEqual(failure)
  expect(startedOutcome(reboot, { startedAt: null }, false)).toEqual(failure)
})

test('a change of the power has succeeded when the device shows it', () => {
  const power = (on: boolean) => ({ id: 'a', type: 'POWER', on, atMs }) as const
  expect(stateOf(power(true), { power: 'ON' }, false)).toBe('SUCCEEDED')
  for (const shown of ['OFF', 'STANDBY']) expect(stateOf(power(false), { power: shown }, false)).toBe('SUCCEEDED')
  expect(stateOf(power(false), { power: 'CHANGING' }, false)).toBeUndefined()
  expect(stateOf(power(false), { power: 'ON' }, true)).toBe('FAILED')
})
