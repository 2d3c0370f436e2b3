// Tests how often a cause is said to have occurred in the last 7 days.
import { expect, test } from 'vitest'
import { dayMs } from '../../../contract/durations.ts'
import { countByCause, weekCountOf, weekCountText } from './week-count.ts'

const now = Date.UTC(2026, 4, 30)
const from = now - 7 * dayMs
const daysAgo = (days: number) => new Date(now - days * dayMs).toISOString()
const incident = (openedAt: string, occurrences: number, resolvedAt?: string, reopenings?: string[]) => ({
  rule: 'device.offline' as const,
  cause: { level: 'ROOM' as const, id: '7', name: 'Fjord' },
  openedAt,
  occurrences,
  ...(resolvedAt !== undefined && { resolvedAt }),
  ...(reopenings && { reopenings }),
})
const none = countByCause([], from)
const textOf = (counted: ReturnType<typeof incident>, counts = none) => weekCountText(weekCountOf(counted, counts))

test('an occurrence before the last 7 days is not counted', () => {
  expect(textOf(incident(daysAgo(30), 1))).toBe('1')
  expect(textOf(incident(daysAgo(30), 5))).toBe('1')
  expect(textOf(incident(daysAgo(30), 5, daysAgo(6)))).toBe('1')
  expect(textOf(incident(daysAgo(30), 5, daysAgo(8)))).toBe('0')
})

test('an old incident counts as often as it reopened in the last 7 days', () => {
  const times = [daysAgo(9), daysAgo(5), daysAgo(4), daysAgo(1)]
  expect(textOf(incident(daysAgo(30), 9, undefined, times))).toBe('3')
  expect(textOf(incident(daysAgo(30), 9, daysAgo(1), times))).toBe('3')
  const often = Array.from({ length: 50 }, () => daysAgo(1))
  expect(textOf(incident(daysAgo(30), 99, undefined, often))).toBe('50 or more')
})

test('all incidents of a cause that opened in the last 7 days are counted', () => {
  const counts = countByCause([incident(daysAgo(1), 2), incident(daysAgo(3), 3)], from)
  expect(textOf(incident(daysAgo(1), 2), counts)).toBe('5')
  expect(textOf(incident(daysAgo(10), 1, daysAgo(5)), counts)).toBe('6')
  expect(textOf({ ...incident(daysAgo(1), 1), cause: { level: 'ROOM', id: '8', name: 'Board' } }, counts)).toBe('1')
})
