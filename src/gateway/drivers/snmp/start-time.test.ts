// When a device started: counters that start again, agents that restart alone, clocks that drift.
import { expect, test } from 'vitest'
import { StartTime } from './start-time.ts'

const secondMs = 1_000
const dayMs = 86_400 * secondMs
const now = Date.parse('2026-11-18T12:00:00Z')
const ticks = (ms: number) => Math.round(ms / 10) % 2 ** 32
const daysAgo = (startedAt: number | undefined) => Math.round((now - (startedAt ?? Number.NaN)) / dayMs)

test('the counter of the device counts, not the one of its agent', () => {
  expect(daysAgo(new StartTime().read({ hostTicks: ticks(3 * dayMs), agentTicks: ticks(dayMs) }, now))).toBe(3)
  expect(daysAgo(new StartTime().read({ engineSeconds: 2 * 86_400, agentTicks: 250 }, now))).toBe(2)
  expect(daysAgo(new StartTime().read({ engineBoots: 0, engineSeconds: 0, agentTicks: ticks(dayMs) }, now))).toBe(1)
  expect(new StartTime().read({}, now)).toBeUndefined()
})

test('a counter that has started again after 497 days is corrected by the engine, which counts for 68 years', () => {
  const days = (count: number) => ({ hostTicks: ticks(count * dayMs), engineSeconds: count * 86_400 - 30 })
  for (const count of [1, 497, 498, 600, 994, 995, 1_500]) {
    expect(daysAgo(new StartTime().read(days(count), now)), String(count)).toBe(count)
  }
})

test.each(['hostTicks', 'agentTicks'] as const)('%s that starts again after 497 days is not a restart', (counter) => {
  const start = new StartTime()
  const before = start.read({ [counter]: 2 ** 32 - 1_000 }, now)
  expect(start.read({ [counter]: 1_000 }, now + 20 * secondMs)).toBe(before)
  expect(start.read({ [counter]: 3_000 }, now + 40 * secondMs)).toBe(before)
  expect(start.read({ [counter]: 500 }, now + 60 * secondMs), 'but a counter that is then smaller is one').toBe(
    now + 55 * secondMs,
  )
})

test('a smaller counter is a restart, and so is another number of starts of the engine', () => {
  const byTicks = new StartTime()
  byTicks.read({ agentTicks: ticks(dayMs) }, now)
  expect(byTicks.read({ agentTicks: 200 }, now + 20 * secondMs)).toBe(now + 18 * secondMs)
  const byEngine = new StartTime()
  byEngine.read({ engineBoots: 4, engineSeconds: 10 }, now)
  expect(byEngine.read({ engineBoots: 5, engineSeconds: 15 }, now + 20 * secondMs)).toBe(now + 5 * secondMs)
})

test('an agent that restarts alone, and clocks that drift, leave the start as it is', () => {
  const start = new StartTime()
  const before = start.read({ hostTicks: ticks(dayMs), agentTicks: ticks(dayMs), engineBoots: 4 }, now)
  const drifted = ticks(dayMs + 30 * dayMs - 90 * secondMs)
  expect(start.read({ hostTicks: drifted, agentTicks: 100, engineBoots: 5 }, now + 30 * dayMs)).toBe(before)
})
