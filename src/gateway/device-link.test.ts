// The outcome of a reboot or a change of the power, by what the device says of itself.
import { expect, test } from 'vitest'
import type { StartedCommand } from '../device/handlers.ts'
import { startedOutcome } from './device-link.ts'

const atMs = Date.parse('2026-05-04T08:00:00.000Z')
const at = (seconds: number) => new Date(atMs + seconds * 1000).toISOString()
const reboot = { id: 'a', type: 'REBOOT', atMs } as const
const outcomeAt = (command: StartedCommand, status: Parameters<typeof startedOutcome>[1], nowMs: number) =>
  startedOutcome(command, status, { nowMs })
const stateOf = (...args: Parameters<typeof outcomeAt>) => outcomeAt(...args)?.state

test('a reboot has succeeded when the device started after it, whenever that is noticed', () => {
  expect(stateOf(reboot, { startedAt: at(40) }, atMs + 60_000)).toBe('SUCCEEDED')
  expect(stateOf(reboot, { startedAt: at(-1) }, atMs + 60_000)).toBe('SUCCEEDED')
  expect(stateOf(reboot, { startedAt: at(40) }, atMs + 86_400_000)).toBe('SUCCEEDED')
})

test('a reboot is open while the device can still restart, and has failed after two minutes', () => {
  expect(stateOf(reboot, { startedAt: at(-3600) }, atMs + 119_000)).toBeUndefined()
  expect(outcomeAt(reboot, { startedAt: at(-3600) }, atMs + 120_000)).toEqual({
    state: 'FAILED',
    error: 'The device has not restarted.',
  })
})

test('a reboot of a device without an uptime has failed, because nothing shows that it happened', () => {
  const failure = { state: 'FAILED', error: expect.stringContaining('not known whether it restarted') }
  expect(outcomeAt(reboot, {}, atMs + 1_000)).toEqual(failure)
  expect(outcomeAt(reboot, { startedAt: null }, atMs + 1_000)).toEqual(failure)
})

test('a change of the power has succeeded when the device shows it', () => {
  const power = (on: boolean) => ({ id: 'a', type: 'POWER', on, atMs }) as const
  expect(stateOf(power(true), { power: 'ON' }, atMs)).toBe('SUCCEEDED')
  for (const shown of ['OFF', 'STANDBY']) expect(stateOf(power(false), { power: shown }, atMs)).toBe('SUCCEEDED')
  expect(stateOf(power(false), { power: 'CHANGING' }, atMs + 60_000)).toBeUndefined()
  expect(stateOf(power(false), { power: 'ON' }, atMs + 120_000)).toBe('FAILED')
})
