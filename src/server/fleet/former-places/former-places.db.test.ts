// Tests what the service keeps of ended stays, deleted rooms and former change windows, and for how long. [contract 10.past]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { minuteMs } from '../../../contract/durations.ts'
import { deleteFormerPlaces } from './retention.ts'

let harness: Harness
let org: TestOrg
const devices: TestDevice[] = []
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(Date.UTC(2026, 2, 2, 9))
  org = await harness.newOrg()
})
afterAll(async () => {
  for (const device of devices) await device.close()
  await harness.close()
})

const make = async (path: string, body: object) => (await org.call('POST', path, { body })).body.id
const rowsOf = <T extends 'endpoint_rooms' | 'deleted_rooms' | 'former_change_windows'>(table: T) =>
  harness.services.db.system.kysely
    .selectFrom(table as 'endpoint_rooms')
    .selectAll()
    .where('org', '=', org.org.key)
    .execute()
const now = () => harness.clock.now()
const window = { days: ['mon'], from: '20:00', to: '22:00' } as const
const other = { ...window, to: '23:00' }

test('a stay that ends keeps serial, model, kind and whether people are counted, as they are at that time', async () => {
  const rooms = [await make('/rooms', { name: 'Fjord' }), await make('/rooms', { name: 'Fuji' })] as [number, number]
  const [sensor, bar] = [
    await newDevice(harness, org, { roomId: rooms[0], model: 'AQ-2' }),
    await newDevice(harness, org, { roomId: rooms[0] }),
  ]
  devices.push(sensor, bar)
  await sensor.publish('status', { kind: 'SENSOR', sensors: ['people'], peopleIs: 'PRESENCE' })
  const startedAt = now() / 1000
  const stays = async () =>
    (await rowsOf('endpoint_rooms'))
      .toSorted((a, b) => a.endpoint - b.endpoint || a.since - b.since)
      .map(({ org: _, endpoint, endpoint_id, ...stay }) => stay)
  const lasting = { until: null, serial: null, model: null, reported_kind: null, presence_only: null }
  expect(await stays()).toEqual([
    { ...lasting, since: 0, room_id: rooms[0] },
    { ...lasting, since: 0, room_id: rooms[0] },
  ])

  harness.clock.advance(minuteMs)
  await org.call('POST', '/endpoints/move_paired', { body: { endpointIds: [sensor.id], roomId: rooms[1] } })
  const ofSensor = { serial: sensor.serial, model: 'AQ-2', reported_kind: 'SENSOR', presence_only: 1 }
  const ofBar = { serial: bar.serial, model: 'NF19B1', reported_kind: null, presence_only: 0 }
  const first = { since: 0, until: startedAt + 60, room_id: rooms[0], ...ofSensor }
  expect(await stays()).toMatchObject([first, { until: null, serial: null }, { since: 0, until: null }])

  await sensor.publish('status', { peopleIs: 'COUNT' })
  harness.clock.advance(minuteMs)
  expect((await org.call('DELETE', `/endpoints/${bar.id}`)).status).toBe(200)
  expect((await org.call('DELETE', `/rooms/${rooms[1]}`)).status).toBe(200)
  const last = { since: startedAt + 60, until: startedAt + 120, room_id: rooms[1], ...ofSensor, presence_only: 0 }
  expect(await stays()).toEqual([first, last, { since: 0, until: startedAt + 120, room_id: rooms[0], ...ofBar }])
})

test('a deleted room leaves name, location, region, zone, capacity, tags and fields; a former change window its times', async () => {
  const region = await make('/regions', { name: 'Nordics' })
  const place = { name: 'Oslo', regionId: region, timezone: 'Europe/Oslo', changeWindow: window }
  const location = await make('/locations', place)
  const fields = { wall: 'B2' }
  const room = await make('/rooms', { name: 'Coral', locationId: location, capacity: 8, tags: ['huddle'], fields })
  const bare = await make('/rooms', { name: 'Bare' })
  const change = async (body: object) => {
    harness.clock.advance(minuteMs)
    expect((await org.call('PUT', `/locations/${location}`, { body })).status).toBe(200)
    return now()
  }
  await change({ name: 'Oslo HQ' })
  const ends = [await change({ changeWindow: null }), await change({ changeWindow: other })]
  await change({ changeWindow: other })
  const before = (await rowsOf('deleted_rooms')).length
  for (const id of [room, bare]) expect((await org.call('DELETE', `/rooms/${id}`)).status).toBe(200)
  harness.clock.advance(minuteMs)
  expect((await org.call('DELETE', `/locations/${location}`)).status).toBe(200)
  ends.push(now())

  const common = { org: org.org.key, deleted_at: now() - minuteMs }
  const deleted = (await rowsOf('deleted_rooms')).slice(before)
  expect(deleted).toEqual([
    {
      ...{ ...common, id: room, name: 'Coral', location_id: location, location_name: 'Oslo HQ' },
      ...{ region_id: region, region_name: 'Nordics', timezone: 'Europe/Oslo' },
      ...{ capacity: 8, tags: '["huddle"]', fields: '{"wall":"B2"}' },
    },
    {
      ...{ ...common, id: bare, name: 'Bare', location_id: null, location_name: null },
      ...{ region_id: null, region_name: null, timezone: null, capacity: null, tags: '[]', fields: null },
    },
  ])
  const row = { org: org.org.key, location_id: location }
  expect(await rowsOf('former_change_windows')).toEqual([
    { ...row, until: ends[0], change_window: JSON.stringify(window) },
    { ...row, until: ends[1], change_window: null },
    { ...row, until: ends[2], change_window: JSON.stringify(other) },
  ])

  harness.clock.advance(harness.services.settings.rollupRetentionSeconds * 1000 - minuteMs)
  await deleteFormerPlaces(harness.services)
  const left = (table: 'deleted_rooms' | 'former_change_windows') => rowsOf(table).then((rows) => rows.length)
  expect([await left('deleted_rooms'), await left('former_change_windows')]).toEqual([2, 1])
  harness.clock.advance(minuteMs + 1)
  await deleteFormerPlaces(harness.services)
  expect([await left('deleted_rooms'), await left('former_change_windows')]).toEqual([0, 0])
})
