// Gaps and storms, computed without a database.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ChannelWorld } from '../../../../../test/support/channels/channel-world.ts'
import { nextAttemptAt, retryAfterMsOf } from '../retry-schedule.ts'
import { findStorms } from './storms.ts'

const [secondMs, minuteMs, hourMs] = [1000, 60_000, 3_600_000] as const

test('the gaps are 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, then 24 h each, with up to a tenth more', () => {
  const gaps = (random: number) =>
    Array.from({ length: 12 }, (_, i) => nextAttemptAt({ now: 0, attempts: i + 1 }, () => random))
  const bare = [5 * secondMs, 5 * minuteMs, 30 * minuteMs, ...[2, 5, 10, 14, 20, 24, 24, 24, 24].map((h) => h * hourMs)]
  expect(gaps(0)).toEqual(bare)
  expect(gaps(1)).toEqual(bare.map((ms) => Math.round(ms * 1.1)))
})

test('Retry-After is seconds or a date, and anything else is ignored', () => {
  const now = Date.parse('2026-05-04T08:00:00Z')
  expect(retryAfterMsOf('120', now)).toBe(120 * secondMs)
  expect(retryAfterMsOf('Mon, 04 May 2026 08:01:00 GMT', now)).toBe(minuteMs)
  expect(retryAfterMsOf('Mon, 04 May 2026 07:00:00 GMT', now)).toBe(0)
  for (const header of [null, 'soon', '-5', '1e9', ''])
    expect(retryAfterMsOf(header, now), String(header)).toBeUndefined()
})

test('a storm has every opening that lies within ten minutes together with more than twenty', () => {
  const naive = (times: readonly number[]) =>
    times.filter((time) =>
      times.some((from) => {
        const together = times.filter((other) => other >= from && other < from + 10 * minuteMs)
        return together.length > 20 && together.includes(time)
      }),
    )
  const times = fc.array(fc.integer({ min: 0, max: 90 * minuteMs }), { maxLength: 120 })
  fc.assert(
    fc.property(times, (given) => {
      const sorted = given.toSorted((a, b) => a - b)
      expect(findStorms(sorted.map((created_at) => ({ created_at }))).map(({ created_at }) => created_at)).toEqual(
        naive(sorted),
      )
    }),
  )
})

test('an opening that follows twenty others alone is sent with its own title, and two of them are one digest', () => {
  const typesAfterTwenty = (count: number) => {
    const world = new ChannelWorld(['incident.opened'])
    for (let i = 0; i < 20; i++) world.open('WARNING')
    world.pass(5 * minuteMs)
    expect(world.accepted.map(({ type }) => type)).toEqual(Array(20).fill('incident.opened'))
    for (let i = 0; i < count; i++) world.open('WARNING')
    world.pass(5 * minuteMs)
    return world.accepted.slice(20).map(({ type }) => type)
  }
  expect(typesAfterTwenty(1)).toEqual(['incident.opened'])
  expect(typesAfterTwenty(2)).toEqual(['incident.digest'])
})
