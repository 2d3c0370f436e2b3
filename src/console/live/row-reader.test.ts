// Tests that the rows which events name are read in few requests, and that an older answer never replaces a newer one. [contract 7.ids]
import { QueryObserver } from '@tanstack/react-query'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { ApiResponse } from '../../client/client.ts'
import type { Event } from '../../contract/journal/events.ts'
import { queryClient } from '../api.ts'
import { type RowListId, RowReader, withRows } from './row-reader.ts'

interface Row {
  readonly id: number | string
  readonly state: string
}
type Body = Readonly<Record<string, readonly Row[]>>

/** The rows of a pretended server, and the reads that it got. A promise holds back its answers. */
let stored: Record<RowListId, Row[]>
let asked: { readonly id: RowListId; readonly ids: readonly (number | string)[] }[]
let wholeReads: RowListId[]
let held: Promise<void> | undefined
let heldWhole: Promise<void> | undefined
let hasFailed: boolean
let reader: RowReader

const fields = { roomsList: 'rooms', endpointsBasicList: 'endpoints' } as const
const answer = (id: RowListId, rows: readonly Row[]): ApiResponse<Body> => ({
  body: { [fields[id]]: structuredClone(rows) },
  etag: undefined,
  requestId: undefined,
  replayed: false,
})

// One clock for all tests: whole lists are read at a bounded rate, which goes on from one test to the next.
beforeAll(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterAll(() => void vi.useRealTimers())

beforeEach(async () => {
  stored = {
    roomsList: [1, 2, 3].map((id) => ({ id, state: 'HEALTHY' })),
    endpointsBasicList: ['a', 'b', 'c'].map((id) => ({ id, state: 'ONLINE' })),
  }
  asked = []
  wholeReads = []
  held = undefined
  heldWhole = undefined
  hasFailed = false
  reader = new RowReader(async (id, ids) => {
    asked.push({ id, ids })
    if (hasFailed) throw new TypeError('no network')
    const { body } = answer(
      id,
      stored[id].filter((row) => ids.includes(row.id)),
    )
    await held
    return body as never
  })
  for (const id of ['roomsList', 'endpointsBasicList'] as const) await show(id)
  wholeReads = []
})
afterEach(() => {
  reader.stop()
  for (const stop of stops.splice(0)) stop()
  queryClient.clear()
})

const stops: (() => void)[] = []
async function show(id: RowListId): Promise<void> {
  const observer = new QueryObserver(queryClient, {
    queryKey: [id],
    queryFn: async () => {
      wholeReads.push(id)
      const whole = answer(id, stored[id])
      await heldWhole
      return whole
    },
  })
  stops.push(observer.subscribe(() => {}))
  await vi.advanceTimersByTimeAsync(10_000)
}

const shown = (id: RowListId): readonly Row[] =>
  queryClient.getQueryData<ApiResponse<Body>>([id])?.body[fields[id]] ?? []
const stateOf = (id: RowListId, row: number | string) => shown(id).find((one) => one.id === row)?.state
const change = (id: RowListId, row: number | string, state: string) => {
  stored[id] = stored[id].map((one) => (one.id === row ? { ...one, state } : one))
}
const event = (endpointId: string, ...roomIds: number[]): Event => ({
  ...{ type: 'disconnected', at: '2026-05-04T08:15:30.000Z', roomIds, endpointId },
})
function hold(): { readonly until: Promise<void>; readonly release: () => void } {
  const { promise: until, resolve: release } = Promise.withResolvers<void>()
  return { until, release }
}

test('the rows of a burst of events are one read of each list, and other rows stay the same objects', async () => {
  const [roomsBefore, devicesBefore] = [shown('roomsList'), shown('endpointsBasicList')]
  change('endpointsBasicList', 'b', 'ASLEEP')
  change('roomsList', 2, 'DEGRADED')
  for (const one of [event('a', 1), event('b', 2), event('b', 2)]) reader.nameRowsOf(one)
  await vi.advanceTimersByTimeAsync(249)
  expect(asked).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(asked).toEqual([
    { id: 'roomsList', ids: [1, 2] },
    { id: 'endpointsBasicList', ids: ['a', 'b'] },
  ])
  expect(shown('roomsList').map(({ state }) => state)).toEqual(['HEALTHY', 'DEGRADED', 'HEALTHY'])
  expect(shown('endpointsBasicList').map(({ state }) => state)).toEqual(['ONLINE', 'ASLEEP', 'ONLINE'])
  for (const at of [0, 2]) {
    expect(shown('roomsList')[at]).toBe(roomsBefore[at])
    expect(shown('endpointsBasicList')[at]).toBe(devicesBefore[at])
  }
  expect(wholeReads).toEqual([])
})

test('a read that brings nothing new leaves the list as it is, and the next one waits for two seconds', async () => {
  const before = queryClient.getQueryData(['endpointsBasicList'])
  reader.nameRowsOf(event('a'))
  await vi.advanceTimersByTimeAsync(250)
  expect(queryClient.getQueryData(['endpointsBasicList'])).toBe(before)
  reader.nameRowsOf(event('b'))
  await vi.advanceTimersByTimeAsync(1999)
  expect(asked.length).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(asked.map(({ ids }) => ids)).toEqual([['a'], ['b']])
})

test('at most 200 ids are in a request, and more than 1,000 are a read of the whole list', async () => {
  const ids = Array.from({ length: 1000 }, (_, at) => `d${at}`)
  reader.name('endpointsBasicList', ids)
  await vi.advanceTimersByTimeAsync(250)
  expect(asked.map((one) => one.ids.length)).toEqual([200, 200, 200, 200, 200])
  expect(asked.flatMap((one) => one.ids)).toEqual(ids)
  reader.name('endpointsBasicList', [...ids, 'd1000'])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(asked.length).toBe(5)
  expect(wholeReads).toEqual(['endpointsBasicList'])
})

test('a read waits for the end of the read before it', async () => {
  const { until, release } = hold()
  held = until
  change('endpointsBasicList', 'a', 'OFFLINE')
  reader.nameRowsOf(event('a'))
  await vi.advanceTimersByTimeAsync(250)
  change('endpointsBasicList', 'a', 'ONLINE')
  reader.nameRowsOf(event('a'))
  await vi.advanceTimersByTimeAsync(30_000)
  expect(asked.length).toBe(1)
  held = undefined
  release()
  await vi.advanceTimersByTimeAsync(2000)
  expect(asked.length).toBe(2)
  expect(stateOf('endpointsBasicList', 'a')).toBe('ONLINE')
})

test('rows that were read do not replace a whole list that was read during it: they are read again', async () => {
  const { until, release } = hold()
  held = until
  change('endpointsBasicList', 'a', 'OFFLINE')
  reader.nameRowsOf(event('a'))
  await vi.advanceTimersByTimeAsync(250)
  change('endpointsBasicList', 'a', 'ASLEEP')
  await queryClient.invalidateQueries({ queryKey: ['endpointsBasicList'] })
  expect(stateOf('endpointsBasicList', 'a')).toBe('ASLEEP')
  held = undefined
  release()
  await vi.advanceTimersByTimeAsync(0)
  expect(stateOf('endpointsBasicList', 'a')).toBe('ASLEEP')
  await vi.advanceTimersByTimeAsync(2000)
  expect(asked.length).toBe(2)
  expect(stateOf('endpointsBasicList', 'a')).toBe('ASLEEP')
})

test('rows are read after a whole list that was on its way when the event came', async () => {
  const { until, release } = hold()
  heldWhole = until
  void queryClient.invalidateQueries({ queryKey: ['endpointsBasicList'] })
  await vi.advanceTimersByTimeAsync(0)
  change('endpointsBasicList', 'a', 'ASLEEP')
  reader.nameRowsOf(event('a'))
  await vi.advanceTimersByTimeAsync(5000)
  expect(asked).toEqual([])
  release()
  await vi.advanceTimersByTimeAsync(0)
  expect(stateOf('endpointsBasicList', 'a'), 'the answer is from before the event').toBe('ONLINE')
  await vi.advanceTimersByTimeAsync(250)
  expect(stateOf('endpointsBasicList', 'a')).toBe('ASLEEP')
  expect(wholeReads).toEqual(['endpointsBasicList'])
})

test('a deleted endpoint is removed, a new one is added, and one that the caller does not see does not appear', async () => {
  stored.endpointsBasicList = [...stored.endpointsBasicList.slice(1), { id: 'new', state: 'ONLINE' }]
  for (const id of ['a', 'new', 'hidden']) reader.nameRowsOf(event(id))
  await vi.advanceTimersByTimeAsync(250)
  expect(shown('endpointsBasicList').map(({ id }) => id)).toEqual(['b', 'c', 'new'])
})

test('a read that fails makes the whole lists stale, and they are read', async () => {
  hasFailed = true
  change('roomsList', 1, 'OFFLINE')
  reader.nameRowsOf(event('a', 1))
  await vi.advanceTimersByTimeAsync(5000)
  expect(wholeReads.toSorted()).toEqual(['endpointsBasicList', 'roomsList'])
  expect(stateOf('roomsList', 1)).toBe('OFFLINE')
})

test('a list that is not on the screen is only marked as stale', async () => {
  for (const stop of stops.splice(0)) stop()
  reader.nameRowsOf(event('a', 1))
  await vi.advanceTimersByTimeAsync(10_000)
  expect([asked, wholeReads]).toEqual([[], []])
  for (const id of ['roomsList', 'endpointsBasicList'])
    expect(queryClient.getQueryState([id])?.isInvalidated, id).toBe(true)
})

test('an answer for a session that has ended is dropped', async () => {
  const { until, release } = hold()
  held = until
  stored.roomsList.push({ id: 4, state: 'HEALTHY' })
  reader.nameRowsOf(event('a', 4))
  await vi.advanceTimersByTimeAsync(250)
  reader.stop()
  release()
  await vi.advanceTimersByTimeAsync(5000)
  expect(shown('roomsList').map(({ id }) => id)).toEqual([1, 2, 3])
})

test('a row that changed during the read stays, and its id is returned', () => {
  const before: readonly Row[] = [
    { id: 1, state: 'HEALTHY' },
    { id: 2, state: 'HEALTHY' },
  ]
  const list = before.with(0, { id: 1, state: 'OFFLINE' })
  const read = [1, 2].map((id) => ({ id, state: 'DEGRADED' }))
  const next = withRows(list, { ids: [1, 2], before, read })
  expect(next.rows).toEqual([
    { id: 1, state: 'OFFLINE' },
    { id: 2, state: 'DEGRADED' },
  ])
  expect(next.newer).toEqual([1])
  // A row that was removed during the read does not come back, and one that was added does not disappear.
  expect(withRows(before.slice(1), { ids: [1], before, read })).toEqual({ rows: before.slice(1), newer: [1] })
  expect(withRows(before, { ids: [1], before: before.slice(1), read: [] })).toEqual({ rows: before, newer: [1] })
})
