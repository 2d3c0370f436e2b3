// At most two turns come within a time, the most urgent first, and none comes while the source asks for a pause.
import { expect, test } from 'vitest'
import { nextTurn, RequestPace, RequestPaces, type TurnKind } from './request-pace.ts'

const never = new AbortController().signal

test('at most two turns come within a time, and commands come before everything that waits', async () => {
  const pace = new RequestPace(60)
  const order: TurnKind[] = []
  const times: number[] = []
  const turn = async (kind: TurnKind) => {
    await pace.turn(kind, never)
    order.push(kind)
    times.push(performance.now())
  }
  await Promise.all([turn('round'), turn('round'), turn('changed'), turn('list'), turn('command'), turn('command')])
  expect(order).toEqual(['command', 'command', 'list', 'changed', 'round', 'round'])
  const gaps = times.slice(2).map((at, i) => at - (times[i] as number))
  // A timer of Node can end up to a millisecond early.
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(59)
})

test('turns that come late are caught up with, and never more than two come within the time', () => {
  const turns: ReturnType<typeof nextTurn>[] = []
  for (let i = 0; i < 1600; i++) {
    const { atMs, dueAtMs } = nextTurn(turns, 0, 1000)
    // A timer on a busy machine, and a pause of all work now and then.
    turns.push({ atMs: atMs + (i % 3) * 20 + (i % 400 === 399 ? 500 : 0), dueAtMs })
  }
  const times = turns.map(({ atMs }) => atMs)
  const gaps = times.slice(2).map((at, i) => at - (times[i] as number))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1000)
  expect((times.at(-1) ?? 0) - 800 * 1030).toBeLessThan(1500)
})

test('a pause delays every turn, and a caller that leaves takes none', async () => {
  const pace = new RequestPace(1)
  const startedAtMs = performance.now()
  pace.pauseFor(80)
  expect(pace.pauseMs).toBeGreaterThan(50)
  const end = new AbortController()
  const left = pace.turn('command', end.signal)
  end.abort(new Error('stopped'))
  await expect(left).rejects.toThrow('stopped')
  await pace.turn('round', never)
  expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(79)
  expect(pace.pauseMs).toBe(0)
  await expect(pace.turn('round', end.signal)).rejects.toThrow('stopped')
})

test('users of the same organisation at an address share a pace, and its pause outlives them', async () => {
  const paces = new RequestPaces(20)
  const target = { url: 'https://api.pulse.test/v1', orgId: 'aBcD123' }
  const [first, second] = [paces.acquire(target), paces.acquire({ ...target, url: 'https://api.pulse.test' })]
  expect(second.pace).toBe(first.pace)
  expect(paces.acquire({ ...target, orgId: 'other' }).pace).not.toBe(first.pace)
  first.pace.pauseFor(60_000)
  first.release()
  second.release()
  const third = paces.acquire(target)
  expect(third.pace.pauseMs).toBeGreaterThan(50_000)
  third.release()

  const other = { ...target, url: 'https://other.test' }
  const busy = paces.acquire(other)
  await busy.pace.turn('list', never)
  busy.release()
  expect(paces.acquire(other).pace, 'its last request still counts').toBe(busy.pace)
})
