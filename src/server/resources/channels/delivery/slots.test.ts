// Bounds of attempts that run at the same time, with attempts that end when the test says so.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { AttemptSlots } from './slots.ts'

interface Run {
  /** Each ends one attempt that runs. */
  readonly ends: (() => void)[]
  readonly all: readonly Promise<void>[]
}

/** Starts four attempts at the same time for each channel. */
function startAttempts(slots: AttemptSlots, org: number, channels: number, isFailing = false): Run {
  const ends: (() => void)[] = []
  const work = () => new Promise<void>((end) => ends.push(end))
  const all = Array.from({ length: 4 * channels }, (_, i) =>
    slots.run({ org, channelId: Math.floor(i / 4), isFailing }, work),
  )
  return { ends, all }
}

const running = (...runs: Run[]): number => runs.reduce((sum, { ends }) => sum + ends.length, 0)

async function finish(...runs: Run[]): Promise<void> {
  let isDone = false
  void Promise.all(runs.flatMap(({ all }) => all)).then(() => {
    isDone = true
  })
  while (!isDone) {
    for (const { ends } of runs) for (const end of ends.splice(0)) end()
    await nextTurn()
  }
}

test('one organisation has 16 attempts at a time, so that others get theirs at once', async () => {
  const slots = new AttemptSlots()
  const [large, small] = [startAttempts(slots, 1, 50), startAttempts(slots, 2, 1)]
  await nextTurn()
  expect([running(large), running(small)]).toEqual([16, 4])
  await finish(large, small)
})

test('channels that fail have half of all attempts', async () => {
  const slots = new AttemptSlots()
  const failing = [1, 2, 3].map((org) => startAttempts(slots, org, 10, true))
  const working = startAttempts(slots, 4, 10)
  await nextTurn()
  expect([running(...failing), running(working)]).toEqual([32, 16])
  await finish(...failing, working)
})

test('a receiver that answers after more than 2 s counts like one that fails, until it answers soon', async () => {
  let now = 0
  const slots = new AttemptSlots(() => now)
  const start = () => [1, 2, 3].map((org) => startAttempts(slots, org, 4))
  const slow = start()
  await nextTurn()
  expect(running(...slow)).toBe(48)
  now = 14_000
  await finish(...slow)
  const again = start()
  await nextTurn()
  expect(running(...again)).toBe(32)
  await finish(...again)
  const quick = start()
  await nextTurn()
  expect(running(...quick)).toBe(48)
  await finish(...quick)
})
