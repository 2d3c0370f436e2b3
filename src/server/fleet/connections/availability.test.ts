// Gaps, outages and their numbers, against a naive recomputation tick by tick.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runCount } from '../../../../test/support/long-form.ts'
import { type Absence, availabilityOf, type GapFacts, Gaps, intersect, type Period } from './availability.ts'

const lastTick = 40
const ticks = Array.from({ length: lastTick }, (_, tick) => tick)

/** A connection, and what its end says about the time until the next one. */
interface Span extends Omit<GapFacts, 'hidden'> {
  readonly since: number
  readonly until: number
}

/** As they are stored: the next connection does not begin before the end of the one before it. */
const spansArbitrary = fc
  .array(
    fc.tuple(fc.nat(8), fc.integer({ min: 1, max: 12 }), fc.option(fc.nat(10)), fc.boolean(), fc.option(fc.nat(10))),
    { maxLength: 12 },
  )
  .map((steps) => {
    const spans: Span[] = []
    for (const [pause, length, settle, isRested, slept] of steps) {
      const since = (spans.at(-1)?.until ?? -10) + pause
      const until = since + length
      const unknownUntil = settle === null ? null : until + settle
      const oversleptAt = slept === null ? null : until + slept
      spans.push({ since, until, unknownUntil, isRested, oversleptAt })
    }
    return spans
  })
/** Times in which a gateway was away, in order. */
const hiddenArbitrary = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 10 })), { maxLength: 3 })
  .map((steps) => {
    let at = 0
    return steps.map(([pause, length]): Period => {
      const from = at + pause
      at = from + length
      return [from, at]
    })
  })

const absenceOf = (spans: readonly Span[], hidden: readonly Period[] = []): Absence => {
  const gaps = new Gaps([0, lastTick])
  for (const { since, until, ...facts } of spans) gaps.add(since, until, { ...facts, hidden })
  return gaps.end()
}
const covers = (periods: readonly Period[], tick: number) => periods.some(([from, to]) => from <= tick && tick < to)

const isOnline = (spans: readonly Span[], tick: number) =>
  spans.some(({ since, until }) => since <= tick && tick < until)
/** The last connection before the tick decides. */
function stateAt(spans: readonly Span[], tick: number, hidden: readonly Period[] = []) {
  if (isOnline(spans, tick)) return 'ONLINE'
  const last = spans.findLast(({ since }) => since <= tick)
  if (!last) return 'OFFLINE'
  if (covers(hidden, tick) || tick < (last.unknownUntil ?? 0)) return 'UNKNOWN'
  return last.isRested && tick < (last.oversleptAt ?? lastTick) ? 'ASLEEP' : 'OFFLINE'
}
const isOffline = (spans: readonly Span[], tick: number) => stateAt(spans, tick) === 'OFFLINE'

/** The runs of ticks for which the condition holds. */
function runsOf(from: number, holds: (tick: number) => boolean): number[] {
  const runs: number[] = []
  for (const tick of ticks.filter((at) => at >= from && holds(at))) {
    if (tick > from && holds(tick - 1)) runs.push((runs.pop() ?? 0) + 1)
    else runs.push(1)
  }
  return runs
}

test('a gap is unknown, then asleep or offline, and unknown while the gateway is away [contract 10.connections]', () => {
  fc.assert(
    fc.property(spansArbitrary, hiddenArbitrary, (spans, hidden) => {
      const { outages, excused } = absenceOf(spans, hidden)
      const excusedAs = (state: string) => excused.filter((one) => one.state === state).map(({ period }) => period)
      for (const tick of ticks) {
        const state = stateAt(spans, tick, hidden)
        expect({
          tick,
          OFFLINE: covers(outages, tick),
          ASLEEP: covers(excusedAs('ASLEEP'), tick),
          UNKNOWN: covers(excusedAs('UNKNOWN'), tick),
        }).toEqual({
          tick,
          OFFLINE: false,
          ASLEEP: false,
          UNKNOWN: false,
          ...(state !== 'ONLINE' && { [state]: true }),
        })
      }
    }),
    { numRuns: runCount({ short: 100, full: 300, long: 300 }) },
  )
})

test('gaps are the times that no span covers, and outages those of them that no stop of a server explains [contract 10.connections]', () => {
  fc.assert(
    fc.property(spansArbitrary, (spans) => {
      const { gaps, outages } = absenceOf(spans)
      for (const tick of ticks) {
        expect(covers(gaps, tick)).toBe(!isOnline(spans, tick))
        expect(covers(outages, tick)).toBe(isOffline(spans, tick))
      }
      for (const periods of [gaps, outages]) {
        for (const [i, period] of periods.entries()) {
          expect(period[0]).toBeLessThan(period[1])
          expect(period[0]).toBeGreaterThan(periods[i - 1]?.[1] ?? -1)
        }
      }
    }),
  )
})

test('the numbers of a room are those of a naive count, without the time in which a device reconnects and none is connected [contract 10.connections]', () => {
  const room = fc.array(spansArbitrary, { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(room, fc.integer({ min: 0, max: lastTick }), (endpoints, knownFrom) => {
      const all: readonly Period[] = [[0, lastTick]]
      const absence = endpoints
        .map((spans) => absenceOf(spans))
        .reduce(
          (room, next) => ({ gaps: intersect(room.gaps, next.gaps), outages: intersect(room.outages, next.outages) }),
          { gaps: all, outages: all },
        )
      const runs = runsOf(knownFrom, (tick) => endpoints.every((spans) => isOffline(spans, tick)))
      const isCounted = (tick: number) =>
        endpoints.some((spans) => isOnline(spans, tick)) || endpoints.every((spans) => isOffline(spans, tick))
      const countedTicks = ticks.filter((tick) => tick >= knownFrom && isCounted(tick)).length
      const seconds = (periods: readonly Period[]) => periods.map(([from, to]): Period => [from * 1000, to * 1000])
      const inSeconds = { gaps: seconds(absence.gaps), outages: seconds(absence.outages) }
      const numbers = availabilityOf(inSeconds, [knownFrom * 1000, lastTick * 1000])
      expect(numbers.outages).toBe(runs.length)
      expect(numbers.longestOutageSeconds).toBe(Math.max(0, ...runs))
      if (countedTicks === 0) expect(numbers.onlineShare).toBeUndefined()
      else {
        const offline = runs.reduce((sum, length) => sum + length, 0)
        expect(numbers.onlineShare).toBeCloseTo((countedTicks - offline) / countedTicks, 10)
      }
    }),
  )
})
