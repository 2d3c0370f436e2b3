// Bounds of attempts that run at the same time, with attempts that end when the test says so, and a fixed clock.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AttemptSlots } from './slots.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

interface Run {
  /** Each ends one attempt that runs. */
  readonly ends: (() => void)[]
  readonly all: readonly Promise<void>[]
  readonly channels: Set<number>
  /** How many attempts were ended before their time. */
  cut: number
}

interface Start {
  readonly org: number
  readonly channels: number
  readonly isFailing?: boolean
  /** The id of the first channel. */
  readonly first?: number
  readonly attemptsOfChannel?: number
}

/** Starts attempts at the same time for each channel. */
function startAttempts(slots: AttemptSlots, start: Start): Run {
  const { org, channels, isFailing = false, first = 0, attemptsOfChannel = 4 } = start
  const run: Run = { ends: [], all: [], channels: new Set(), cut: 0 }
  const work = (channelId: number) => (signal: AbortSignal) =>
    new Promise<void>((end) => {
      run.channels.add(channelId)
      run.ends.push(end)
      signal.addEventListener('abort', () => {
        run.cut++
        run.ends.splice(run.ends.indexOf(end), 1)
        end()
      })
    })
  const all = Array.from({ length: attemptsOfChannel * channels }, (_, i) => {
    const channelId = first + Math.floor(i / attemptsOfChannel)
    return slots.run({ org, channelId, isFailing }, work(channelId))
  })
  return Object.assign(run, { all })
}

const running = (...runs: Run[]): number => runs.reduce((sum, { ends }) => sum + ends.length, 0)

async function pass(ms: number): Promise<void> {
  await nextTurn()
  await vi.advanceTimersByTimeAsync(ms)
  await nextTurn()
}

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

const maxAttempts = 128 + 256

test('one organisation has 64 quick attempts at a time, so others get theirs immediately', async () => {
  const slots = new AttemptSlots()
  const [large, small] = [50, 1].map((channels) => startAttempts(slots, { org: channels, channels })) as [Run, Run]
  await nextTurn()
  expect([running(large), running(small)]).toEqual([64, 4])
  await finish(large, small)
})

test('49 channels of an organisation that start to hang together delay its other channel by half a second', async () => {
  const slots = new AttemptSlots()
  const hanging = startAttempts(slots, { org: 1, channels: 49 })
  const healthy = startAttempts(slots, { org: 1, channels: 1, first: 100, attemptsOfChannel: 1 })
  await pass(499)
  expect([running(hanging), running(healthy)]).toEqual([64, 0])
  await pass(1)
  expect(running(healthy)).toBe(1)
  await finish(healthy)
  // The slots know now that these channels hang.
  await pass(600)
  expect(hanging.channels.size).toBe(49)
  const again = startAttempts(slots, { org: 1, channels: 1, first: 100, attemptsOfChannel: 1 })
  await nextTurn()
  expect(running(again)).toBe(1)
  expect(hanging.cut).toBe(0)
  await finish(again, hanging)
})

test('channels that fail wait for each other only', async () => {
  const slots = new AttemptSlots()
  const failing = [1, 2, 3].map((org) => startAttempts(slots, { org, channels: 50, isFailing: true }))
  const working = startAttempts(slots, { org: 1, channels: 4, first: 100 })
  await nextTurn()
  expect(failing.map((run) => running(run))).toEqual([128, 128, 0])
  expect(running(working)).toBe(16)
  await finish(...failing, working)
  expect(failing.map(({ cut }) => cut)).toEqual([0, 0, 0])
})

test('350 channels of seven organisations that start to hang together delay a channel of one of them by less than 2 s', async () => {
  const slots = new AttemptSlots()
  const hanging = [1, 2, 3, 4, 5, 6, 7].map((org) => startAttempts(slots, { org, channels: 50 }))
  const healthy = startAttempts(slots, { org: 7, channels: 1, first: 100, attemptsOfChannel: 1 })
  await pass(1_900)
  expect(running(healthy)).toBe(1)
  expect(running(...hanging)).toBeLessThanOrEqual(maxAttempts)
  await finish(healthy)
  await pass(10_000)
  expect(running(...hanging)).toBeLessThanOrEqual(maxAttempts)
  await finish(...hanging)
})

test('if all slow slots are used, channels with several attempts lose their oldest, and the only one of a channel has 1.5 s', async () => {
  const slots = new AttemptSlots()
  const greedy = startAttempts(slots, { org: 1, channels: 16, isFailing: true })
  const single = startAttempts(slots, { org: 2, channels: 100, attemptsOfChannel: 1, isFailing: true })
  const others = startAttempts(slots, { org: 3, channels: 92, attemptsOfChannel: 1, isFailing: true })
  const late = startAttempts(slots, { org: 4, channels: 60, attemptsOfChannel: 1 })
  await pass(1_499)
  // The greedy channels have one attempt left each, and 12 of the late ones wait in their quick slots.
  expect([greedy, single, others, late].map(({ cut }) => cut)).toEqual([48, 0, 0, 0])
  await pass(100)
  expect(single.cut + others.cut + greedy.cut).toBe(60)
  expect(late.cut).toBe(0)
  await finish(greedy, single, others, late)
})

test('a receiver that answers after more than 2 s counts like one that fails, until it answers soon', async () => {
  const slots = new AttemptSlots()
  const slow = startAttempts(slots, { org: 1, channels: 16 })
  await pass(2_400)
  expect(running(slow)).toBe(64)
  await finish(slow)
  const again = startAttempts(slots, { org: 1, channels: 32 })
  await nextTurn()
  // The 16 that were slow have slow slots, and the others all of the quick ones.
  expect(running(again)).toBe(128)
  await finish(again)
  const quick = startAttempts(slots, { org: 1, channels: 32 })
  await nextTurn()
  expect(running(quick)).toBe(64)
  await finish(quick)
})
