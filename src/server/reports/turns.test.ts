// Tests the queue of reports, and sorting in short turns. [contract 16.queue]
import { expect, test } from 'vitest'
import { Failure } from '../core/failure.ts'
import { timeLimits } from '../core/time-limits.ts'
import { ReportQueue, sortInTurns, Turns } from './turns.ts'

test('a node makes one report at a time; others wait, and are refused when they have waited for too long', async () => {
  const queue = new ReportQueue({ ...timeLimits, reportTurnMs: 50 })
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<string>()
  const order: string[] = []
  const first = queue.run(() => mayEnd)
  const refused = queue.run(async () => order.push('refused')).catch((error: unknown) => error)
  const rest = queue.runRest(async () => order.push('rest of a CSV'))
  const failure = await refused
  expect(failure).toBeInstanceOf(Failure)
  expect(failure).toMatchObject({ code: 'UNAVAILABLE', extras: { retryAfterSeconds: 10 } })
  const patient = queue.run(async () => order.push('patient'))
  end('done')
  expect(await first).toBe('done')
  await Promise.all([rest, patient])
  expect(order).toEqual(['rest of a CSV', 'patient'])
  await expect(queue.run(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  expect(await queue.run(async () => 'next')).toBe('next')
})

test('a long list is sorted as by one call, and equal items keep their order', async () => {
  for (const length of [0, 1, 200, 201, 1999]) {
    const items = Array.from({ length }, (_, i) => ({ key: (i * 7919) % 97, i }))
    const compare = (a: { key: number }, b: { key: number }) => a.key - b.key
    expect(await sortInTurns(items, compare, new Turns())).toEqual(items.toSorted(compare))
  }
})
