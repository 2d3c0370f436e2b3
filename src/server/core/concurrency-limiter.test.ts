// Tests that tasks of one name wait for each other, in order and not for ever.
import { expect, test } from 'vitest'
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

test('tasks of one name run in order, and those of another name do not wait for them', async () => {
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

test('a task that waits for too long is refused, and the one behind it has its turn', async () => {
  const limiter = new ConcurrencyLimiter<string>({
    maxRunning: 1,
    wait: { maxMs: 30, refusal: () => new Error('too long') },
  })
  const first = newTask(limiter, 'a')
  const refused = newTask(limiter, 'a')
  await expect(refused.result).rejects.toThrow('too long')
  const next = newTask(limiter, 'a')
  first.end()
  await first.result
  next.end()
  await next.result
  expect([refused.state.hasBegun, next.state.hasBegun]).toEqual([false, true])
})
