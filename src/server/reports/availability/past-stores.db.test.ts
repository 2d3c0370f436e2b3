// Statements of the past of rooms: stays, spans of many endpoints, silences, change windows and incidents between two times.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStores, type StoreWorld, storedAt } from '../../../../test/support/database/store-world.ts'
import { listHistoriesOfEndpoints, listLastSpansUntil, listSpansOfEndpoints } from '../../fleet/connections/store.ts'
import type { PresenceTimes } from '../../nodes/presence-sql.ts'
import {
  listChangeWindows,
  listEndpointNumbers,
  listFormerWindows,
  listIncidentsOfRooms,
  listSilencesBetween,
  listStaysInRooms,
  listStaysOfIds,
} from './past-store.ts'

const at = storedAt
const gone = { number: 77, id: 'gone' }
let world: StoreWorld
beforeAll(async () => {
  world = await openStores()
  const { org, put, here, there } = world
  const was = { serial: 'S1', model: 'AQ-2', reported_kind: 'SENSOR', presence_only: 0 }
  const stay = { org, endpoint: gone.number, endpoint_id: gone.id }
  await put('endpoint_rooms', { ...stay, room_id: 1, since: 100, until: 200, ...was })
  await put('endpoint_rooms', { ...stay, room_id: 2, since: 200, until: 300 })
  for (const [endpoint, since] of [
    [here.number, 10],
    [here.number, 20],
    [here.number, 30],
    [there.number, 15],
    [gone.number, 40],
  ] as const) {
    await put('connection_spans', { org, endpoint, since, until: since + 5, why: 'LOST', unknown_until: null })
  }
  const silence = { version: 1, rules: null, reason: 'Test', weekly: null, place_type: 'room', place_id: '1' } as const
  const author = { author_type: 'KEY', author_id: '1', author_name: 'Key' }
  for (const [id, since, until] of [
    [1, 10, 20],
    [2, 15, null],
    [3, 40, 50],
  ] as const) {
    await put('silences', { ...{ org, id, since, until }, ...silence, ...author })
  }
  for (const until of [10, 20]) await put('former_change_windows', { org, location_id: 1, until, change_window: null })
  const times = { since: 10, opened_at: 12, updated_at: 12, cause_ended_at: null }
  const cause = { rule: 'sensor.silent', level: 'ENDPOINT', cause_id: here.id, cause_name: 'Bar' } as const
  for (const [id, severity, resolved_at] of [
    [1, 'WARNING', null],
    [2, 'INFO', null],
    [3, 'CRITICAL', 20],
  ] as const) {
    const state = resolved_at === null ? ('OPEN' as const) : ('RESOLVED' as const)
    await put('incidents', { org, id, version: 1, severity, state, resolved_at, ...cause, ...times })
    const subject = {
      subject_type: 'endpoint',
      subject_id: here.id,
      name: 'Bar',
      room_id: 1,
      room_name: 'Room 1',
    } as const
    await put('incident_subjects', {
      ...{ org, incident_id: id, ...subject, location_id: 1, region_id: 1, since: 10, ended_at: null },
    })
  }
})
afterAll(() => world.close())

test('stays are read by room between two times, with what the device was or is', async () => {
  const { all, here, there } = world
  const stays = await listStaysInRooms(all, { rooms: [1, 2], from: 150, to: 200 })
  expect(stays).toEqual([
    { room_id: 1, endpoint: here.number, endpoint_id: here.id, since: 0, until: null, ...shown(here) },
    {
      room_id: 1,
      endpoint: 77,
      endpoint_id: 'gone',
      since: 100,
      until: 200,
      serial: 'S1',
      model: 'AQ-2',
      kind: 'SENSOR',
    },
    { room_id: 2, endpoint: there.number, endpoint_id: there.id, since: 0, until: null, ...shown(there) },
  ])
  expect(await listStaysInRooms(all, { rooms: [2], from: 200, to: 900 })).toMatchObject([
    { endpoint: there.number },
    { endpoint: 77, model: null, kind: null },
  ])
  expect(await listStaysOfIds(all, { ids: ['gone', 'other'] })).toEqual([
    { endpoint_id: 'gone', endpoint: 77, since: 100, until: 200 },
    { endpoint_id: 'gone', endpoint: 77, since: 200, until: 300 },
  ])
  expect(await listEndpointNumbers(all, { ids: [here.id, 'gone'] })).toEqual([{ id: here.id, number: here.number }])
})

const shown = ({ serial, model }: { serial: string; model: string }) => ({ serial, model, kind: null })

test('spans of many endpoints are read in pages, with the last one before of each', async () => {
  const { all, here, there } = world
  const endpoints = [here.number, there.number, gone.number]
  const starts = (rows: readonly { endpoint: number; since: number }[]) => rows.map((row) => [row.endpoint, row.since])
  const last = await listLastSpansUntil(all, { endpoints: endpoints.map((number) => [number] as const), from: 20 })
  expect(starts(last).sort()).toEqual([
    [here.number, 20],
    [there.number, 15],
  ])
  const page = { endpoints, from: 10, to: 40, limit: 2 }
  const first = await listSpansOfEndpoints(all, page)
  expect(starts(first)).toEqual([
    [here.number, 20],
    [here.number, 30],
  ])
  expect(first[0]).toMatchObject({ until: 25, why: 'LOST', unknown_until: null, rested: 0, via: null })
  // The last endpoint of a page is read on alone.
  expect(await listSpansOfEndpoints(all, { ...page, endpoints: [here.number], from: 30 })).toEqual([])
  const rest = { ...page, endpoints: [there.number, gone.number], to: 41 }
  expect(starts(await listSpansOfEndpoints(all, rest))).toEqual([
    [there.number, 15],
    [gone.number, 40],
  ])
  const times: PresenceTimes = { now: at, unknownAfter: at, settleMs: 0, settledAt: 0, lastEnd: 0 }
  const histories = await listHistoriesOfEndpoints(all, { ...times, endpoints, from: 20 })
  expect(histories.map((row) => [row.number, row.first_since, row.last_since, row.changed_at])).toEqual([
    [here.number, 10, 20, at],
    [there.number, 15, 15, at],
  ])
})

test('silences and change windows are read between two times, and all incidents of rooms in pages', async () => {
  const { all, here } = world
  const silences = await listSilencesBetween(all, { from: 20, to: 40 })
  expect(silences.map(({ since, until }) => [since, until])).toEqual([[15, null]])
  expect(await listSilencesBetween(all, { from: 19, to: 41 })).toHaveLength(3)
  expect(await listChangeWindows(all, { locations: [1, 9] })).toEqual([{ id: 1, change_window: null }])
  expect(await listFormerWindows(all, { locations: [1, 2], from: 10 })).toEqual([
    { location_id: 1, until: 20, change_window: null },
  ])
  const ofBar = { room_id: 1, subject_type: 'endpoint', subject_id: here.id, since: 10, ended_at: null }
  const bar = { ...ofBar, opened_at: 12, resolved_at: null, reopenings: '[]' }
  const page = { rooms: [1, 2], afterRoom: 0, afterIncident: 0, afterType: '', afterSubject: '', limit: 2 }
  expect(await listIncidentsOfRooms(all, page)).toEqual([
    { ...bar, incident_id: 1, severity: 'WARNING' },
    { ...bar, incident_id: 2, severity: 'INFO' },
  ])
  const rest = { ...page, afterRoom: 1, afterIncident: 2, afterType: 'endpoint', afterSubject: here.id }
  expect(await listIncidentsOfRooms(all, rest)).toEqual([
    { ...bar, incident_id: 3, severity: 'CRITICAL', resolved_at: 20 },
  ])
  expect(await listIncidentsOfRooms(all, { ...page, rooms: [2] })).toEqual([])
})
