// Gaps and their numbers, against a naive recomputation tick by tick.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { availabilityOf, Gaps, intersect, type Period } from './availability.ts'

const lastTick = 40
const ticks = Array.from({ length: lastTick }, (_, tick) => tick)

const spansArbitrary = fc
  .array(fc.tuple(fc.integer({ min: -5, max: lastTick + 5 }), fc.integer({ min: 0, max: 12 })), { maxLength: 12 })
  .map((spans) => spans.map(([since, length]): Period => [since, since + length]).sort((a, b) => a[0] - b[0]))

const gapsOf = (spans: readonly Period[]): readonly Period[] => {
  const gaps = new Gaps([0, lastTick])
  for (const [since, until] of spans) gaps.add(since, until)
  return gaps.end()
}
const covers = (periods: readonly Period[], tick: number) => periods.some(([from, to]) => from <= tick && tick < to)

/** The runs of ticks for which the condition holds. */
function runsOf(from: number, holds: (tick: number) => boolean): number[] {
  const runs: number[] = []
  for (const tick of ticks.filter((at) => at >= from && holds(at))) {
    if (tick > from && holds(tick - 1)) runs.push((runs.pop() ?? 0) + 1)
    else runs.push(1)
  }
  return runs
}

test('gaps are the times that no span covers, in order and without touching each other', () => {
  fc.assert(
    fc.property(spansArbitrary, (spans) => {
      const gaps = gapsOf(spans)
      for (const tick of ticks) expect(covers(gaps, tick)).toBe(!covers(spans, tick))
      for (const [i, gap] of gaps.entries()) {
        expect(gap[0]).toBeLessThan(gap[1])
        expect(gap[0]).toBeGreaterThan(gaps[i - 1]?.[1] ?? -1)
      }
    }),
  )
})

test('a room is without connection when all of its endpoints are, and its numbers are those of a naive count', () => {
  const room = fc.array(spansArbitrary, { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(room, fc.integer({ min: 0, max: lastTick }), (endpoints, knownFrom) => {
      const gaps = endpoints
        .map(gapsOf)
        .reduce((all, next) => intersect(all, next), [[0, lastTick]] as readonly Period[])
      const isOffline = (tick: number) => endpoints.every((spans) => !covers(spans, tick))
      const runs = runsOf(knownFrom, isOffline)
      const knownTicks = lastTick - knownFrom
      const seconds = gaps.map(([from, to]): Period => [from * 1000, to * 1000])
      const numbers = availabilityOf(seconds, [knownFrom * 1000, lastTick * 1000])
      expect(numbers.outages).toBe(runs.length)
      expect(numbers.longestOutageSeconds).toBe(Math.max(0, ...runs))
      if (knownTicks === 0) expect(numbers.onlineShare).toBeUndefined()
      else {
        const offline = runs.reduce((sum, length) => sum + length, 0)
        expect(numbers.onlineShare).toBeCloseTo((knownTicks - offline) / knownTicks, 10)
      }
    }),
  )
})
