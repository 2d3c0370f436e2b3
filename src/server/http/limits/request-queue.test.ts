// Which requests are refused because they have waited for too long. [contract 7.23]
import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { until } from '../../../../test/support/program.ts'
import { RequestQueue } from './request-queue.ts'

/** How many of the requests are late, if all of them have waited for so long when the database has room again. */
async function countLate(count: number, waitedMs: number): Promise<number> {
  let waitingReads = Number.POSITIVE_INFINITY
  const queue = new RequestQueue(() => waitingReads)
  const now = performance.now()
  expect(queue.hasRoom(now, false)).toBe(false)
  const lateness: boolean[] = []
  for (let i = 0; i < count; i++) queue.add(now - waitedMs, false, (isLate) => lateness.push(isLate))
  waitingReads = 0
  await until('all have begun', () => lateness.length === count)
  return lateness.filter((isLate) => isLate).length
}

test('the first request of a connection, after a turn of 50 ms, begins after Node has read from the connection once more', async () => {
  const queue = new RequestQueue(() => 0)
  expect(queue.hasRoom(performance.now(), true), 'an idle server has room').toBe(true)
  const blockedUntil = performance.now() + 60
  while (performance.now() < blockedUntil);
  await immediate()
  expect(queue.hasRoom(performance.now(), false), 'for a connection that is in use').toBe(true)
  expect(queue.hasRoom(performance.now(), true)).toBe(false)
  const order: string[] = []
  // Node reads from connections between two rounds of immediates.
  queue.add(performance.now(), true, () => order.push('begun'))
  await immediate()
  order.push('read')
  await until('it has begun', () => order.includes('begun'))
  expect(order).toEqual(['read', 'begun'])
})

test('a request is late after 500 ms, if at least 50 others wait behind it', async () => {
  expect(await countLate(60, 510)).toBe(10)
  expect(await countLate(60, 0)).toBe(0)
  expect(await countLate(50, 5000)).toBe(0)
})
