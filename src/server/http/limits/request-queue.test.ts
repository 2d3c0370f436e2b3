// Which requests are refused because they have waited for too long. [contract 7.23]
import { expect, test } from 'vitest'
import { until } from '../../../../test/support/program.ts'
import { RequestQueue } from './request-queue.ts'

/** How many of the requests are late, if all of them have waited for so long when the database has room again. */
async function countLate(count: number, waitedMs: number): Promise<number> {
  let waitingReads = Number.POSITIVE_INFINITY
  const queue = new RequestQueue(() => waitingReads)
  const now = performance.now()
  expect(queue.hasRoom(now)).toBe(false)
  const lateness: boolean[] = []
  for (let i = 0; i < count; i++) queue.add(now - waitedMs, (isLate) => lateness.push(isLate))
  waitingReads = 0
  await until('all have begun', () => lateness.length === count)
  return lateness.filter((isLate) => isLate).length
}

test('a request is late after 500 ms, if at least 50 others wait behind it', async () => {
  expect(await countLate(60, 510)).toBe(10)
  expect(await countLate(60, 0)).toBe(0)
  expect(await countLate(50, 5000)).toBe(0)
})
