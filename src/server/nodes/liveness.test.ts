// When a node takes another one for dead: the time without a heartbeat is measured by its own clock, since it last saw the number change.
import { expect, test } from 'vitest'
import { timeLimits } from '../core/time-limits.ts'
import { LivenessWatch } from './liveness.ts'

const row = (id: number, beats: number) => ({ id, beats, name: `node-${id}`, process: `process-${id}` })

/** A watch of node 1 that has seen node 2 beat for a while, and the seconds of its clock. */
function watchAfter(seconds: number) {
  const watch = new LivenessWatch(() => 1, timeLimits)
  for (let second = 0; second <= seconds; second++) watch.observe([row(1, second), row(2, second)], second * 1_000)
  return watch
}
const silentAt = (watch: LivenessWatch, second: number) =>
  watch.listSilent(second * 1_000).map(({ row: { id }, isDeadWithLock }) => `${id} ${isDeadWithLock}`)

test('a node that beats is not silent, and neither is this node itself', () => {
  const watch = watchAfter(20)
  expect(silentAt(watch, 20)).toEqual([])
  for (let second = 21; second <= 40; second++) watch.observe([row(1, 20), row(2, second)], second * 1_000)
  expect(silentAt(watch, 40)).toEqual([])
})

test('after 5 seconds without a change the lock decides, after 15 seconds it does not matter', () => {
  const watch = watchAfter(20)
  const seen: string[] = []
  for (let second = 21; second <= 36; second++) {
    watch.observe([row(1, second), row(2, 20)], second * 1_000)
    seen.push(`${second}: ${silentAt(watch, second)}`)
  }
  expect(seen.slice(3, 5)).toEqual(['24: ', '25: 2 false'])
  expect(seen.slice(13, 15)).toEqual(['34: 2 false', '35: 2 true'])
})

test('a number that goes back, as after a failover, is a change', () => {
  const watch = watchAfter(20)
  watch.observe([row(1, 20), row(2, 3)], 24_000)
  expect(silentAt(watch, 26)).toEqual([])
})

test('a node that has not beaten for 15 seconds without a break declares no node dead', () => {
  const young = watchAfter(0)
  for (let second = 1; second <= 14; second++) young.observe([row(1, second), row(2, 0)], second * 1_000)
  expect(silentAt(young, 14)).toEqual([])
  young.observe([row(1, 15), row(2, 0)], 15_000)
  expect(silentAt(young, 15)).toEqual(['2 true'])

  const interrupted = watchAfter(60)
  interrupted.interrupt()
  for (let second = 61; second <= 75; second++) interrupted.observe([row(1, second), row(2, 60)], second * 1_000)
  expect(silentAt(interrupted, 75)).toEqual([])
})

test('a pause of this process itself counts as a break', () => {
  const watch = watchAfter(20)
  watch.observe([row(1, 21), row(2, 20)], 40_000)
  expect(silentAt(watch, 40)).toEqual([])
  watch.observe([row(1, 22), row(2, 40)], 41_000)
  expect(silentAt(watch, 41)).toEqual([])
})

test('a row that is gone is reported once', () => {
  const watch = watchAfter(2)
  expect(watch.observe([row(1, 3)], 3_000)).toEqual([2])
  expect(watch.observe([row(1, 4)], 4_000)).toEqual([])
})

test('the next look comes when the time without a heartbeat reaches a limit', () => {
  const watch = watchAfter(20)
  expect(watch.untilNextLimitMs(20_300)).toBe(4_700)
  expect(watch.untilNextLimitMs(25_000)).toBe(10_000)
})
