// Tests that tasks with the same key wait for each other in order, and are refused when they have waited for too long.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ConcurrencyLimiter } from './concurrency-limiter.ts'

/** Starts a task that ends when the test says so. */
function newTask(limiter: ConcurrencyLimiter<string>, name: string) {
  const end = Promise.withResolvers<void>()
  const state = { hasBegun: false }
  const result = limiter.run(name, async () => {
    state.hasBegun = true
    await end.promise
  })
  return { state, result, end: () => end.resolve() }
}

test('tasks with the same key run in order, and those with another key do not wait for them', async () => {
  const limiter = new ConcurrencyLimiter<string>({ maxRunning: 1 })
  const [first, second, third, other] = ['a', 'a', 'a', 'b'].map((name) => newTask(limiter, name)) as [
    ReturnType<typeof newTask>,
    ReturnType<typeof newTask>,
    ReturnType<typeof newTask>,
    ReturnType<typeof newTask>,
  ]
  const begun = () => [first, second, third, other].map(({ state }) => state.hasBegun)
  expect(begun()).toEqual([true, false, false, true])
  first.end()
  await first.result
  await new Promise(setImmediate)
  expect(begun()).toEqual([true, true, false, true])
  second.end()
  third.end()
  other.end()
  await Promise.all([second.result, third.result, other.result])
})

test('a task that fails makes room for the next one', async () => {
  const limiter = new ConcurrencyLimiter<string>({ maxRunning: 1 })
  const failing = limiter.run('a', async () => {
    throw new Error('no')
  })
  const next = limiter.run('a', async () => 'done')
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('done')
})

describe('with limits of time', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('a task that waits for too long is refused, and the one behind it has its turn', async () => {
    const wait = { maxMs: 1000, refusal: () => new Error('too long') }
    const limiter = new ConcurrencyLimiter<string>({ maxRunning: 1, wait })
    const first = newTask(limiter, 'a')
    const refused = newTask(limiter, 'a')
    const refusal = expect(refused.result).rejects.toThrow('too long')
    await vi.advanceTimersByTimeAsync(1000)
    await refusal
    const next = newTask(limiter, 'a')
    first.end()
    await first.result
    next.end()
    await next.result
    expect([refused.state.hasBegun, next.state.hasBegun]).toEqual([false, true])
  })

  test('a task that runs for too long makes room for the next one, and its end makes no more room', async () => {
    const limiter = new ConcurrencyLimiter<string>({ maxRunning: 1, maxRunMs: 1000 })
    const [hanging, next, last] = [newTask(limiter, 'a'), newTask(limiter, 'a'), newTask(limiter, 'a')] as const
    await vi.advanceTimersByTimeAsync(1000)
    expect([next.state.hasBegun, last.state.hasBegun]).toEqual([true, false])
    hanging.end()
    await hanging.result
    await vi.advanceTimersByTimeAsync(500)
    expect(last.state.hasBegun).toBe(false)
    next.end()
    await next.result
    last.end()
    await last.result
  })
})
