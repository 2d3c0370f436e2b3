// The judgement of a room's use, against a plain walk over every minute of random days. [contract 12.idle]
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runCount } from '../../../../../test/support/long-form.ts'
import { dayMs, minuteMs } from '../../../../contract/durations.ts'
import {
  type ConnectedTime,
  type DeviceFacts,
  findQuietStart,
  judgeUse,
  listAwaited,
  maxWaitForOfflineMs,
} from './judge.ts'

/** A story is this long, and begins a day after the time 0. */
const storyMinutes = 60
const at = (minute: number) => dayMs + minute * minuteMs

/** One device: which minutes toggle its connection, in which ones it says that a call begins or ends, and when it sees people. */
interface Story {
  readonly enrolledAt: number
  readonly toggles: ReadonlySet<number>
  readonly calls: ReadonlySet<number>
  readonly people: ReadonlySet<number>
  /** Whether the device is asleep while it is disconnected. */
  readonly sleeps: boolean
}
const someMinutes = (maxLength: number) =>
  fc.array(fc.nat({ max: storyMinutes }), { maxLength }).map((list): ReadonlySet<number> => new Set(list))
const stories = fc.array(
  fc.record({
    enrolledAt: fc.nat({ max: 30 }),
    toggles: someMinutes(5),
    calls: someMinutes(3),
    people: someMinutes(2),
    sleeps: fc.boolean(),
  }),
  { minLength: 1, maxLength: 3 },
)

/** Lives through a story, and keeps both what happened in each minute and what the database would know at its end. */
function live({ enrolledAt, toggles, calls, people, sleeps }: Story) {
  const connections: ConnectedTime[] = []
  const [away, busy, endedHere] = [new Set<number>(), new Set<number>(), new Set<number>()]
  let [isConnected, isInCall] = [false, false]
  let callEndedAt: number | null = null
  let connectionTime = at(enrolledAt)
  for (let minute = enrolledAt; minute <= storyMinutes; minute++) {
    if (minute === enrolledAt || toggles.has(minute)) {
      isConnected = !isConnected
      connectionTime = at(minute)
      if (isConnected) connections.push({ since: at(minute), until: Number.POSITIVE_INFINITY })
      else Object.assign(connections.at(-1) ?? {}, { until: at(minute), followed_by: sleeps ? 'ASLEEP' : 'OFFLINE' })
    }
    if (isConnected && calls.has(minute)) {
      isInCall = !isInCall
      if (!isInCall) callEndedAt = at(minute)
      if (!isInCall) endedHere.add(minute)
    }
    if (!isConnected && !sleeps) away.add(minute)
    if (isConnected && isInCall) busy.add(minute)
    if (people.has(minute)) for (let i = 0; i < 5; i++) busy.add(minute + i)
  }
  const device: DeviceFacts = {
    isConnected,
    isInCall,
    mayBeInCall: false,
    callEndedAt,
    connectionTime,
    enrolledAt: at(enrolledAt),
    offlineSince: isConnected ? null : connectionTime,
    connections,
  }
  const seen = [...people].filter((minute) => minute >= enrolledAt)
  const isBusyAtEnd = (isConnected && isInCall) || seen.some((minute) => minute >= storyMinutes - 5)
  return { device, away, busy, endedHere, isBusyAtEnd, lastPeopleAt: Math.max(0, ...seen.map(at)) }
}

/** Walks back from the end: a minute in which a device was away is passed over, and a busy one ends the walk. */
function walkBack(lives: readonly ReturnType<typeof live>[], idleMinutes: number): boolean {
  let counted = 0
  for (let minute = storyMinutes; counted < idleMinutes; minute--) {
    if (lives.some(({ endedHere }) => endedHere.has(minute))) return false
    if (minute <= 0) return true
    if (lives.some(({ busy }) => busy.has(minute - 1))) return false
    if (lives.every(({ away }) => !away.has(minute - 1))) counted++
  }
  return true
}

test('a room is idle if a walk back over its minutes finds enough quiet ones before a busy one', () => {
  const seen = { idle: 0, busy: 0, neither: 0 }
  const numRuns = runCount({ short: 1500, full: 5_000, long: 5_000 })
  fc.assert(
    fc.property(stories, fc.integer({ min: 1, max: 20 }), (room, idleMinutes) => {
      const lives = room.map(live)
      const devices = lives.map(({ device }) => device)
      const [now, idleMs] = [at(storyMinutes), idleMinutes * minuteMs]
      const quietStart = findQuietStart(devices, { now, idleMs, from: 0 })
      const use = judgeUse({
        devices,
        lastPeopleAt: Math.max(...lives.map((l) => l.lastPeopleAt)),
        quietStart: quietStart ?? Number.NaN,
        now,
      })
      const isBusy = lives.some((l) => l.isBusyAtEnd)
      expect(use).toEqual({ isBusy, isIdle: !isBusy && walkBack(lives, idleMinutes), canKnow: true })
      seen[use.isIdle ? 'idle' : use.isBusy ? 'busy' : 'neither']++
    }),
    { numRuns },
  )
  // The stories reach all three outcomes often.
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(0.06 * numRuns)
})

test('the quiet time is not known if it began before the connections were read', () => {
  const connections = [{ since: 0, until: 40 }]
  const devices = [{ enrolledAt: 0, connections }]
  expect(findQuietStart(devices, { now: 100, idleMs: 10, from: 50 })).toBeUndefined()
  expect(findQuietStart(devices, { now: 100, idleMs: 10, from: 20 })).toBe(30)
  expect(findQuietStart([{ enrolledAt: 90, connections: [] }], { now: 100, idleMs: 10, from: 20 })).toBe(80)
})

test('a device that has been offline for 24 hours is not awaited, if another one is connected', () => {
  const now = 100 * maxWaitForOfflineMs
  const connected = { isConnected: true, offlineSince: null }
  const reconnecting = { isConnected: false, offlineSince: null }
  const gone = { isConnected: false, offlineSince: now - maxWaitForOfflineMs }
  const away = { isConnected: false, offlineSince: now - maxWaitForOfflineMs + 1 }
  expect(listAwaited([connected, reconnecting, gone, away], now)).toEqual([connected, reconnecting, away])
  expect(listAwaited([reconnecting, gone], now)).toEqual([reconnecting, gone])
  expect(listAwaited([gone], now)).toEqual([gone])
  const asleep = { isConnected: false, isAsleep: true, offlineSince: null }
  expect(listAwaited([asleep, reconnecting], now)).toEqual([reconnecting])
  expect(listAwaited([asleep], now)).toEqual([])
})

test('a room without a device that can know is idle', () => {
  const use = judgeUse({ devices: [], lastPeopleAt: 0, quietStart: 0, now: 1 })
  expect(use).toEqual({ isIdle: true, isBusy: false, canKnow: false })
})
