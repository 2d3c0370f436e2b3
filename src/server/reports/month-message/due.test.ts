// Tests when the messages about a month are due. [contract 16.monthMessage]
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { localTimeOf } from '../../core/time/time-zone.ts'
import { dueMonth } from './due.ts'

const october2026 = 2026 * 12 + 9
const seconds = (text: string) => Date.parse(text) / 1000

test.each([
  ['the first is a Sunday, so the message is due on Monday', '2026-11-02T06:00:00Z', 'Europe/Oslo', october2026],
  ['a second earlier it is not', '2026-11-02T05:59:59Z', 'Europe/Oslo', undefined],
  ['07:00 is that of the organisation', '2026-11-01T22:00:00Z', 'Asia/Tokyo', october2026],
  ['after a week it is too late', '2026-11-09T00:00:00+01:00', 'Europe/Oslo', undefined],
  ['until then it is', '2026-11-08T23:59:59+01:00', 'Europe/Oslo', october2026],
  ['a first that is a Tuesday', '2026-12-01T07:00:00Z', 'Europe/London', october2026 + 1],
  ['December is reported in January', '2027-01-01T07:00:00Z', 'UTC', 2026 * 12 + 11],
  ['a first that is a Saturday', '2026-08-03T07:00:00Z', 'UTC', 2026 * 12 + 6],
])('%s', (_, at, zone, month) => {
  expect(dueMonth(zone, seconds(at))).toBe(month)
})

test('every month is due once, from 07:00 of a Monday to Friday on, for a week', () => {
  const zones = ['Europe/Oslo', 'America/Santiago', 'Pacific/Apia', 'Asia/Kathmandu', 'UTC']
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: seconds('2024-01-01T00:00:00Z'), max: seconds('2030-01-01T00:00:00Z') }),
      (zone, time) => {
        const month = dueMonth(zone, time)
        const local = new Date(localTimeOf(zone, time) * 1000)
        const number = local.getUTCFullYear() * 12 + local.getUTCMonth()
        if (month !== undefined) {
          expect(month).toBe(number - 1)
          expect(local.getUTCDate()).toBeLessThanOrEqual(10)
        }
        // At noon of the fourth every first working day is over, and the week is not.
        if (local.getUTCDate() === 4 && local.getUTCHours() === 12) expect(month).toBe(number - 1)
        if (local.getUTCDate() > 10) expect(month).toBeUndefined()
      },
    ),
    { numRuns: 2000 },
  )
})
