// Statements of the report of incidents: incidents of a window, their places, and names of what the caller sees.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStores, type StoreWorld } from '../../../../test/support/database/store-world.ts'
import {
  listFormerModels,
  listIncidentsOpened,
  listModels,
  listNamesOfLocations,
  listOpenedIds,
  listRegionNames,
  listRoomNames,
  listSubjectPlaces,
} from './store.ts'

let world: StoreWorld
beforeAll(async () => {
  world = await openStores()
  const { org, put, here } = world
  const cause = {
    rule: 'sensor.silent',
    severity: 'WARNING',
    level: 'ENDPOINT',
    cause_id: here.id,
    cause_name: 'Bar',
  } as const
  const times = { since: 10, updated_at: 12, resolved_at: null, cause_ended_at: null }
  for (const [id, opened_at, state] of [
    [1, 10, 'OPEN'],
    [2, 20, 'MERGED'],
    [3, 20, 'OPEN'],
  ] as const) {
    await put('incidents', { org, id, version: 1, ...cause, ...times, state, opened_at })
    for (const place of [1, 2]) {
      const subject = {
        subject_type: 'endpoint',
        subject_id: `device-${place}`,
        name: 'Bar',
        since: 10,
        ended_at: null,
      } as const
      const places = { room_id: place, room_name: `Room ${place}`, location_id: place, region_id: place }
      await put('incident_subjects', { org, incident_id: id, ...subject, ...places })
    }
  }
  const stay = { org, endpoint: 77, endpoint_id: 'gone', room_id: 1, since: 100, until: 200 }
  await put('endpoint_rooms', { ...stay, serial: 'S1', model: 'AQ-2', reported_kind: null, presence_only: 0 })
})
afterAll(() => world.close())

test('incidents of a window and their places are read with the rights of the caller', async () => {
  const { all, ofRegion, ofNothing } = world
  const page = { to: 21, afterTime: 10, afterId: 0, limit: 9 }
  const ids = (rows: readonly { id: number }[]) => rows.map(({ id }) => id)
  expect(ids(await listOpenedIds(all, page))).toEqual([1, 2, 3])
  expect(ids(await listOpenedIds(all, { ...page, afterId: 1, limit: 1 }))).toEqual([2])
  expect(ids(await listOpenedIds(all, { ...page, afterTime: 20, afterId: 2 }))).toEqual([3])
  expect(await listOpenedIds(all, { ...page, to: 20, afterId: 1 })).toEqual([])
  const wanted = { ids: [1, 2, 3] }
  expect(ids(await listIncidentsOpened(all, wanted))).toEqual([1, 3])
  expect(ids(await listIncidentsOpened(ofRegion, { ids: [3] }))).toEqual([3])
  expect(await listIncidentsOpened(ofNothing, wanted)).toEqual([])
  const ofDevice = { subject_type: 'endpoint', subject_id: 'device-1', room_id: 1, room_name: 'Room 1' }
  const subjects = { afterIncident: 3, afterType: '', afterId: '', lastIncident: 3, limit: 9 }
  expect(await listSubjectPlaces(ofRegion, subjects)).toEqual([
    { incident_id: 3, ...ofDevice, location_id: 1, region_id: 1 },
  ])
  const after = { ...subjects, afterIncident: 1, afterType: 'endpoint', afterId: 'device-1' }
  const places = await listSubjectPlaces(all, { ...after, limit: 2 })
  expect(places.map(({ incident_id, room_id }) => [incident_id, room_id])).toEqual([
    [1, 2],
    [2, 1],
  ])
  expect(await listSubjectPlaces(all, { ...after, lastIncident: 2 })).toHaveLength(3)
})

test('names of places are those that the caller sees; models are known of devices that are gone', async () => {
  const { all, ofRegion, here, there } = world
  const wanted = { ids: [1, 2] }
  for (const [read, name] of [
    [listRoomNames, 'Room'],
    [listNamesOfLocations, 'Place'],
    [listRegionNames, 'Place'],
  ] as const) {
    const names = async (on: typeof all) => (await read(on, wanted)).map((row) => row.name).sort()
    expect(await names(all)).toEqual([`${name} 1`, `${name} 2`])
    expect(await names(ofRegion)).toEqual([`${name} 1`])
  }
  const models = await listModels(all, { ids: [here.id, there.id, 'gone'] })
  expect(models.map(({ model }) => model)).toEqual(['NF19B1', 'NF19B1'])
  expect(await listFormerModels(all, { ids: ['gone', here.id] })).toEqual([{ endpoint_id: 'gone', model: 'AQ-2' }])
})
