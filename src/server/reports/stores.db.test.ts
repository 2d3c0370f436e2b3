// Statements of reports: the organisation, rooms by place and region access, deleted rooms, the days of rooms, and endpoints with their metrics.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStores, type StoreWorld, storedAt } from '../../../test/support/database/store-world.ts'
import type { OrgDatabase } from '../db/org-database.ts'
import { listPresentDevices, listSpansOfDevices } from './last-day/store.ts'
import { listMeasuredEndpoints } from './metrics/store.ts'
import { listAirDays, listPeopleDays } from './quarters-store.ts'
import { findReportOrg, listReportDeletedRooms, listReportRooms } from './store.ts'

let world: StoreWorld
beforeAll(async () => {
  world = await openStores()
  const { org, put } = world
  const bare = { org, capacity: null, tags: '[]', fields: null, timezone: null, deleted_at: storedAt }
  for (const number of [1, 2]) {
    const [location_id, region_id] = [number, number]
    const place = { location_id, location_name: `Place ${number}`, region_id, region_name: `Place ${number}` }
    await put('deleted_rooms', { ...bare, ...place, id: 10 + number, name: `Former ${number}` })
  }
  const nowhere = { location_id: null, location_name: null, region_id: null, region_name: null }
  await put('deleted_rooms', { ...bare, ...nowhere, id: 13, name: 'Former 3' })
  const day = { org, people: Buffer.alloc(96, 3), co2: null, humidity: null, temp: null, voc: null, voc_index: null }
  for (const room of [1, 2]) for (const number of [5, 6, 7]) await put('room_days', { ...day, room, day: number })
  await put('sample_progress', { org, timezone: 'UTC', room_days_from: 4 })
})
afterAll(() => world.close())

test('the organisation has its settings and the day of its first rollups of rooms', async () => {
  expect(await findReportOrg(world.all)).toMatchObject({ timezone: 'UTC', working_hours: null, room_days_from: 4 })
})

test('rooms are read by place, with the rights of the caller, in pages', async () => {
  const read = async (on: OrgDatabase, region?: number, location?: number) => [
    ...(await listReportRooms(on, { after: 0, limit: 9 }, region, location)),
    ...(await listReportDeletedRooms(on, { after: 0, limit: 9, since: storedAt - 1 }, region, location)),
  ]
  const ids = async (...args: Parameters<typeof read>) => (await read(...args)).map(({ id }) => id)
  const { all, ofRegion, ofNothing } = world
  expect(await ids(all)).toEqual([1, 2, 3, 11, 12, 13])
  expect(await ids(all, 2)).toEqual([2, 12])
  expect(await ids(all, undefined, 2)).toEqual([2, 12])
  expect([await ids(all, 1, 1), await ids(all, 1, 2)]).toEqual([[1, 11], []])
  expect(await ids(ofRegion)).toEqual([1, 11])
  expect([await ids(ofRegion, 1), await ids(ofRegion, 2)]).toEqual([[1, 11], []])
  expect(await ids(ofRegion, undefined, 1)).toEqual([1, 11])
  expect(await ids(ofRegion, 1, 1)).toEqual([1, 11])
  expect(await ids(ofNothing)).toEqual([])
  const place = { location_name: 'Place 1', region_name: 'Place 1' }
  expect(await read(ofRegion)).toMatchObject([
    { name: 'Room 1', capacity: 8, timezone: 'Europe/Oslo', ...place },
    { name: 'Former 1', capacity: null, deleted_at: storedAt, ...place },
  ])
  const next = { after: 1, limit: 1 }
  expect((await listReportRooms(all, next)).map(({ id }) => id)).toEqual([2])
  expect((await listReportDeletedRooms(all, { ...next, after: 11, since: 0 })).map(({ id }) => id)).toEqual([12])
  expect(await listReportDeletedRooms(all, { after: 0, limit: 9, since: storedAt })).toEqual([])
})

test('the days of rooms are read by room and day', async () => {
  const rows = await listPeopleDays(world.all, { rooms: [2, 9], first: 6, last: 7 })
  const air = await listAirDays(world.all, { rooms: [2, 9], first: 6, last: 7 })
  expect(air.map(({ room, day, people, co2 }) => [room, day, people?.length, co2])).toEqual([
    [2, 6, 96, null],
    [2, 7, 96, null],
  ])
  expect(rows.map(({ room, day }) => [room, day])).toEqual([
    [2, 6],
    [2, 7],
  ])
  expect(rows[0]?.people?.length).toBe(96)
})

test('endpoints are listed in pages, by region and by location, as far as the caller sees them', async () => {
  const { all, ofRegion, ofNothing, here, there } = world
  const times = { settledAt: 0, lastEnd: 0 }
  const page = { now: storedAt, unknownAfter: storedAt, settleMs: 0, ...times, after: '', limit: 10 }
  const ids = [here.id, there.id].sort()
  const list = async (...args: Parameters<typeof listMeasuredEndpoints>) =>
    (await listMeasuredEndpoints(...args)).map(({ id }) => id)
  expect(await list(all, page)).toEqual(ids)
  expect(await list(all, { ...page, after: ids[0] as string })).toEqual([ids[1]])
  expect(await list(all, page, 1)).toEqual([here.id])
  expect(await list(all, page, undefined, 2)).toEqual([there.id])
  expect(await list(all, page, 2, 2)).toEqual([there.id])
  expect(await list(ofRegion, page)).toEqual([here.id])
  expect(await list(ofRegion, page, 1)).toEqual([here.id])
  expect(await list(ofRegion, page, undefined, 1)).toEqual([here.id])
  expect(await list(ofRegion, page, 1, 1)).toEqual([here.id])
  expect(await list(ofNothing, page)).toEqual([])
})

test('devices in rooms are listed with their present connection, and their connections since a time with the one before', async () => {
  const { all, ofRegion, here, there, org, put } = world
  const times = { settledAt: 0, lastEnd: 0 }
  const page = { now: storedAt, unknownAfter: storedAt, settleMs: 0, ...times, after: 0, limit: 10 }
  const numbers = async (on: OrgDatabase, more: object = {}) =>
    (await listPresentDevices(on, { ...page, ...more })).map(({ number }) => number)
  const both = [here.number, there.number].sort((a, b) => a - b)
  expect(await numbers(all)).toEqual(both)
  expect(await numbers(all, { after: both[0] })).toEqual([both[1]])
  expect(await numbers(ofRegion)).toEqual([here.number])
  const span = { org, endpoint: here.number, why: 'LOST' as const }
  for (const since of [1000, 2000, 3000]) await put('connection_spans', { ...span, since, until: since + 500 })
  const since = async (from: number) =>
    (await listSpansOfDevices(all, { numbers: [here.number], from })).map((row) => row.since)
  expect(await since(2500)).toEqual([2000, 3000])
  expect(await since(10)).toEqual([1000, 2000, 3000])
  expect(await listSpansOfDevices(all, { numbers: [there.number], from: 0 })).toEqual([])
})
