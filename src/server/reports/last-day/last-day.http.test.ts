// Tests the last 24 hours through HTTP: rooms by state from connections, people from rollups, and what a restricted caller gets. [contract 16.lastDay]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpointWithSpans } from '../../../../test/support/database/connection-spans.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { newApiKey } from '../../../../test/support/places/callers.ts'
import { emptyDay, encodeQuarters, packPeople } from '../../sensors/rollups/quarter-values.ts'

const hourMs = 3600_000
/** Noon; the last day starts at noon of the day before. */
const noon = Date.UTC(2026, 10, 19, 12)
const hoursAgo = (hours: number) => noon - hours * hourMs

let harness: Harness
let org: TestOrg
let region: number
const rooms: Record<string, number> = {}
beforeAll(async () => {
  harness = await startHarness({}, { taskPauseShare: 500 })
  harness.clock.fix(noon + 60_000)
  org = await harness.newOrg()
  const make = async (path: string, body: object): Promise<number> => (await org.call('POST', path, { body })).body.id
  region = await make('/regions', { name: 'North' })
  const locationId = await make('/locations', { name: 'Oslo', regionId: region })
  rooms.fjord = await make('/rooms', { name: 'Fjord', locationId })
  rooms.skog = await make('/rooms', { name: 'Skog' })
  rooms.tomt = await make('/rooms', { name: 'Tomt', locationId })
  const put = (room: string, values: object, spans: [number, number][]) =>
    putEndpointWithSpans(harness, org, { room_id: rooms[room] ?? 0, enrolment_time: 0, ...values }, spans)
  const online = { connected: 1 }
  // Fjord: one device is always online, and one was away from 20 to 10 hours ago.
  await put('fjord', { ...online, connection_time: hoursAgo(100) }, [])
  await put('fjord', { ...online, connection_time: hoursAgo(10) }, [[hoursAgo(50), hoursAgo(20)]])
  // Skog: its only device left 5 hours ago.
  await put('skog', { connection_time: hoursAgo(5) }, [[hoursAgo(30), hoursAgo(5)]])
  const people = async (room: string, values: readonly number[], isPresence = false) => {
    const quarters = emptyDay()
    values.forEach((value, i) => {
      quarters[i] = packPeople(value * 100, isPresence)
    })
    const bytes = encodeQuarters(quarters, 'people')
    const day = { org: org.org.key, room: rooms[room] ?? 0, day: Math.floor(noon / 86_400_000), people: bytes }
    const none = { co2: null, humidity: null, temp: null, voc: null, voc_index: null }
    await harness.services.db.systemTransaction(async ({ kysely }) => {
      await kysely
        .insertInto('room_days')
        .values({ ...day, ...none })
        .execute()
    })
  }
  await people('fjord', [3, 0.1, 0])
  await people('skog', [1, 1], true)
})
afterAll(() => harness.close())

/** The lists as runs: [value, how often in a row]. */
const runs = (values: readonly (number | null)[]) => {
  const found: [number | null, number][] = []
  for (const value of values) {
    const last = found.at(-1)
    if (last && last[0] === value) last[1]++
    else found.push([value, 1])
  }
  return found
}

test('rooms are counted by the state of their devices at the end of each quarter [contract 16.lastDay]', async () => {
  const { status, body, text } = await org.call('GET', '/reports/last-day')
  expect(status, text).toBe(200)
  expect([body.from, body.to]).toEqual([new Date(hoursAgo(24)).toISOString(), new Date(noon).toISOString()])
  // The first quarter ends 23:45 hours ago. A device that leaves at the end of a quarter is away then.
  expect(runs(body.rooms.DEGRADED)).toEqual([
    [0, 15],
    [1, 40],
    [0, 41],
  ])
  expect(runs(body.rooms.OFFLINE)).toEqual([
    [0, 75],
    [1, 21],
  ])
  expect(runs(body.rooms.EMPTY)).toEqual([[1, 96]])
  expect(runs(body.rooms.UNKNOWN)).toEqual([[0, 96]])
  for (let i = 0; i < 96; i++) {
    const counts = Object.values<number[]>(body.rooms).map((list) => list[i] ?? 0)
    expect(
      counts.reduce((sum, count) => sum + count),
      'each room is in one state',
    ).toBe(3)
  }
  // Midnight is 12 hours ago.
  const { people, roomsInUse } = body
  expect(runs(people)).toEqual([
    [null, 48],
    [3, 1],
    [0, 2],
    [null, 45],
  ])
  expect(runs(roomsInUse)).toEqual([
    [null, 48],
    [2, 1],
    [1, 1],
    [0, 1],
    [null, 45],
  ])
})

test('a caller of one region gets the counts of its rooms [contract 11.access]', async () => {
  const limited = await newApiKey(org, { scopes: ['read'], regionIds: [region] })
  const { body } = await org.call('GET', '/reports/last-day', limited)
  expect(runs(body.rooms.OFFLINE)).toEqual([[0, 96]])
  expect(runs(body.rooms.EMPTY)).toEqual([[1, 96]])
  expect(runs(body.roomsInUse)).toEqual([
    [null, 48],
    [1, 1],
    [0, 2],
    [null, 45],
  ])
})

test('the last counts are those of the list of rooms', async () => {
  const { body } = await org.call('GET', '/reports/last-day')
  const listed = (await org.call('GET', '/rooms')).body.rooms as { state: string }[]
  for (const [state, counts] of Object.entries<number[]>(body.rooms)) {
    expect(counts.at(-1), state).toBe(listed.filter((room) => room.state === state).length)
  }
})
