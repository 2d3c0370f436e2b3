// A confirmation is valid for one call of one caller, for five minutes. [contract 17.confirm]
import { createHmac, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { minuteMs } from '../contract/durations.ts'
import { Confirmations, type ConfirmedCall } from './confirmation.ts'

let now = Date.UTC(2026, 2, 2)
const signWith = (key: Buffer) => (text: string) => createHmac('sha256', key).update(text).digest()
const confirmations = new Confirmations(signWith(randomBytes(32)), () => now)
const call: ConfirmedCall = {
  caller: 'org KEY 1',
  tool: 'restart_devices',
  args: { locationId: 3, model: 'Bar' },
  ids: ['a', 'b'],
}

test('it is valid for the same call, in whichever order its arguments and devices come', () => {
  const { token, validUntil } = confirmations.make(call)
  expect(validUntil).toBe(now + 5 * minuteMs)
  expect(confirmations.check(call, token)).toBe('valid')
  const reordered = { ...call, args: { model: 'Bar', locationId: 3 }, ids: ['b', 'a'] }
  expect(confirmations.check(reordered, token)).toBe('valid')
})

test.each([
  ['another caller', { caller: 'org KEY 2' }],
  ['another tool', { tool: 'switch_power' }],
  ['another argument', { args: { locationId: 4, model: 'Bar' } }],
  ['one argument more', { args: { ...call.args, whenEmpty: false } }],
  ['one argument less', { args: { locationId: 3 } }],
  ['one device more', { ids: ['a', 'b', 'c'] }],
  ['one device less', { ids: ['a'] }],
] as const)('it is not valid for %s', (_, other) => {
  expect(confirmations.check({ ...call, ...other }, confirmations.make(call).token)).toBe('another call')
})

test('it is not valid after five minutes, nor with another end', () => {
  const { token } = confirmations.make(call)
  now += 5 * minuteMs - 1
  expect(confirmations.check(call, token)).toBe('valid')
  now += 1
  expect(confirmations.check(call, token)).toBe('too late')
  const later = token.replace(/^\w+/, (now + minuteMs).toString(36))
  expect(confirmations.check(call, later)).toBe('another call')
})

test('a token of another key, a cut one, and any other text are refused', () => {
  const { token } = confirmations.make(call)
  const other = new Confirmations(signWith(randomBytes(32)), () => now)
  for (const text of [other.make(call).token, token.slice(0, -1), `${token}A`, '', '.', 'yes', 'NaN.', '0.']) {
    expect(confirmations.check(call, text), text).toBe('another call')
  }
})
