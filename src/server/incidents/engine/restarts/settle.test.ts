// Which starts and ends of nodes count as a restart, and since when the service runs.
import { expect, test } from 'vitest'
import { minuteMs } from '../../../../contract/durations.ts'
import { lastKnownEnd, type NodeLife, serviceStart } from '../../../nodes/service-runs.ts'
import { isMostMissing, restartsOf } from './settle.ts'

const settleMs = 10 * minuteMs
const life = (id: number, from: number, to: number | null): NodeLife => ({
  id,
  name: `node ${id}`,
  startedAt: from * minuteMs,
  endedAt: to === null ? null : to * minuteMs,
  seenAt: to === null ? null : to * minuteMs,
})
/** A node that crashed after `seen`, which the next start noticed at `to`. */
const crashed = (id: number, from: number, seen: number, to: number): NodeLife => ({
  ...life(id, from, to),
  seenAt: seen * minuteMs,
})

test.for([
  { name: 'one node', lives: [life(1, 5, null)], start: 5 },
  { name: 'a restart', lives: [life(1, 5, 20), life(2, 20, null)], start: 20 },
  { name: 'a restart after a pause', lives: [life(1, 5, 20), life(2, 50, null)], start: 50 },
  { name: 'a node that joined', lives: [life(1, 5, null), life(2, 50, null)], start: 5 },
  {
    name: 'nodes that were replaced one by one',
    lives: [life(1, 5, 51), life(2, 50, 91), life(3, 90, null)],
    start: 5,
  },
  {
    name: 'a stop of all, then one after the other',
    lives: [life(1, 5, 30), life(2, 6, 40), life(3, 60, null)],
    start: 60,
  },
])('the service runs since minute $start: $name [contract 10.start]', ({ lives, start }) => {
  expect(serviceStart(lives, 100 * minuteMs)).toBe(start * minuteMs)
  expect(serviceStart(lives.toReversed(), 100 * minuteMs)).toBe(start * minuteMs)
})

test.for([
  { name: 'no earlier run', lives: [life(9, 80, null)], end: 0 },
  { name: 'a restart', lives: [life(1, 5, 60), life(9, 80, null)], end: 60 },
  {
    name: 'a start that crashed within its first minutes',
    lives: [life(1, 5, 60), life(2, 70, 73), life(9, 80, null)],
    end: 60,
  },
  {
    name: 'a start that crashed within its first minutes, and was noticed an hour later',
    lives: [life(1, 5, 10.5), life(2, 11, 21), crashed(3, 22, 22, 80), life(9, 80, null)],
    end: 21,
  },
  {
    name: 'a crash after the grace period',
    lives: [life(1, 5, 21), crashed(2, 22, 32, 80), life(9, 80, null)],
    end: 80,
  },
  {
    name: 'two nodes that crashed after the grace period of the first',
    lives: [life(1, 5, 21), crashed(2, 22, 32, 80), crashed(3, 50, 50, 80), life(9, 80, null)],
    end: 80,
  },
  { name: 'nothing but crashes', lives: [life(1, 60, 61), life(2, 62, 63), life(9, 80, null)], end: 61 },
  { name: 'a run of two overlapping nodes', lives: [life(1, 50, 58), life(2, 56, 64), life(9, 80, null)], end: 64 },
  { name: 'a node that ended while others went on', lives: [life(1, 5, 85), life(9, 80, null)], end: 0 },
])('devices whose time was over at minute $end stay offline: $name [contract 10.start]', ({ lives, end }) => {
  const start = serviceStart(lives, 100 * minuteMs)
  expect(lastKnownEnd(lives, start, settleMs)).toBe(end * minuteMs)
})

test('a service that crashed and started again 50,000 times is judged in one pass', () => {
  const lives = Array.from({ length: 50_000 }, (_, i) => life(i, i / 10, i / 10 + 0.05))
  const start = 5001 * minuteMs
  const before = process.cpuUsage()
  expect(lastKnownEnd(lives, start, settleMs)).toBe(0.05 * minuteMs)
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000, 'milliseconds of CPU').toBeLessThan(1000)
})

test('the devices of all nodes that stopped together count for a start, and those of an earlier one do not [contract 10.start]', () => {
  const lives = [life(1, 5, 20), life(2, 6, 55), life(3, 7, 60), life(4, 90, null)]
  expect(restartsOf(lives, 100 * minuteMs, settleMs)).toEqual([
    {
      at: 90 * minuteMs,
      until: 100 * minuteMs,
      node: undefined,
      ended: [
        { id: 2, name: 'node 2', endedAt: 55 * minuteMs },
        { id: 3, name: 'node 3', endedAt: 60 * minuteMs },
      ],
    },
  ])
})

test('a node that ends while another goes on is a restart for its own devices [contract 10.start]', () => {
  const lives = [life(1, 5, null), life(2, 6, 55)]
  const [, second, ...rest] = restartsOf(lives, 60 * minuteMs, settleMs)
  expect(rest).toEqual([])
  expect(second).toMatchObject({ at: 55 * minuteMs, until: 65 * minuteMs, node: 'node 2', ended: [{ id: 2 }] })
})

test.for([
  { before: 500, missing: 0, expected: false },
  { before: 500, missing: 250, expected: false },
  { before: 500, missing: 251, expected: true },
  { before: 0, missing: 0, expected: false },
  { before: 1, missing: 1, expected: true },
])('$missing of $before devices missing: $expected [contract 10.start]', ({ before, missing, expected }) => {
  expect(isMostMissing(before, missing)).toBe(expected)
})
