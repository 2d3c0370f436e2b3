// The wait that a server asks for, whatever it writes into the header.
import { expect, test } from 'vitest'
import { hourMs, secondMs } from '../contract/durations.ts'
import { retryAfterMs } from './back-off.ts'

test.each([
  ['5', 5 * secondMs],
  ['0', secondMs],
  ['99999999999', hourMs],
  ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
  ['-1', undefined],
  ['', undefined],
])('Retry-After "%s" is a wait of %s ms', (text, waitMs) => {
  expect(retryAfterMs(new Headers({ 'retry-after': text }))).toBe(waitMs)
})

test('without Retry-After the server asks for no wait', () => {
  expect(retryAfterMs(new Headers())).toBeUndefined()
})
