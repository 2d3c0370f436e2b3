// Every key of a job's target returns the rows that it should, to callers of all regions and of one.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { RegionAccess } from '../../core/region-access.ts'
import type { OrgDatabase } from '../../db/org-database.ts'
import { listLocationIds, listRegionIds, listRoomIds } from '../visible-target-store.ts'
import { countEmptyRooms, listProfileKeys, listRoomUse, listTargeted, listTargetedLocations } from './target-store.ts'

type Keys = Parameters<typeof listTargeted>[1]

interface World {
  readonly db: OrgDatabase
  readonly ofRegion: OrgDatabase
  /** For each key the values of one of the two endpoints, of its room and of a room without endpoints. */
  readonly keys: Readonly<Record<string, readonly (number | string)[]>>
  readonly wanted: string
  readonly other: string
  readonly otherLocation: number
}
const roomKeys = ['regionIds', 'locationIds', 'roomIds', 'tags', 'timezones']
const page = { after: '', limit: 10 }

let harness: Harness
let world: World
beforeAll(async () => {
  harness = await startHarness()
  const org = await harness.newOrg()
  const make = async (path: string, body: object) => (await org.call('POST', path, { body })).body
  const place = async (name: string, tag: string, timezone: string) => {
    const region = (await make('/regions', { name })).id
    const location = (await make('/locations', { name, regionId: region, timezone })).id
    const [room, empty] = [
      (await make('/rooms', { name, locationId: location, tags: [tag] })).id,
      (await make('/rooms', { name: `${name} 2`, locationId: location, tags: [tag, 'spare'] })).id,
    ]
    return { region, location, room, empty }
  }
  const [here, there] = [await place('Här', 'wing-a', 'Europe/Oslo'), await place('there', 'wing-b', 'Asia/Tokyo')]
  const profile = (await make('/profiles', { name: 'Quiet', config: { nightMode: true } })).profile.id
  const status = JSON.stringify({ firmwareVersion: '3.2.1 β' })
  const [wanted, other] = await putEndpoints(harness, org, [
    { room_id: here.room, profile_id: profile, status },
    { room_id: there.room, model: 'NF21C1', status: '{"firmwareVersion":"3.2.1 Β"}' },
  ])
  if (!wanted || !other) throw new Error('two endpoints were stored')
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    const day = { org: org.org.key, endpoint: wanted.number, slot: 20_000, room: here.room }
    const counts = Object.fromEntries(
      ['co2', 'humidity', 'illumination', 'temp', 'voc', 'voc_index'].map((sensor) => [`${sensor}_count`, 0]),
    ) as Record<'co2_count', 0>
    await kysely
      .insertInto('sample_days')
      .values({ ...day, ...counts, people_count: 2, people_min: 1, people_max: 4, people_sum: 5 } as never)
      .execute()
  })
  const db = harness.services.db.forOrg(org.org.key)
  world = {
    db,
    ofRegion: db.seenBy(RegionAccess.of([here.region])),
    wanted: wanted.id,
    other: other.id,
    otherLocation: there.location,
    keys: {
      regionIds: [here.region],
      locationIds: [here.location],
      roomIds: [here.room, here.empty],
      endpointIds: [wanted.id],
      models: [wanted.model],
      profileIds: [profile],
      firmwareVersions: ['3.2.1 β'],
      tags: ['wing-a'],
      timezones: ['Europe/Oslo'],
    },
  }
})
afterAll(() => harness.close())

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

test('without keys a target has all endpoints that the caller sees, by id, in pages', async () => {
  const { db, ofRegion, wanted, other } = world
  const [first = '', second = ''] = [wanted, other].sort()
  expect(idsOf(await listTargeted(db, {}, page))).toEqual([first, second])
  expect(idsOf(await listTargeted(db, {}, { after: first, limit: 10 }))).toEqual([second])
  expect(idsOf(await listTargeted(ofRegion, {}, page))).toEqual([wanted])
})

test('each key includes and excludes the endpoint that has its value, alone and together with the others', async () => {
  const { db, ofRegion, keys, wanted, other } = world
  for (const [name, values] of Object.entries(keys)) {
    for (const on of [db, ofRegion]) {
      expect(idsOf(await listTargeted(on, { [name]: values }, page)), name).toEqual([wanted])
    }
    expect(idsOf(await listTargeted(db, { exclude: { [name]: values } }, page)), `exclude ${name}`).toEqual([other])
  }
  expect(idsOf(await listTargeted(db, keys as Keys, page))).toEqual([wanted])
  expect(idsOf(await listTargeted(db, { exclude: keys } as Keys, page))).toEqual([other])
})

test('each key includes and excludes the location of the endpoint that has its value', async () => {
  const { db, ofRegion, keys, otherLocation } = world
  const locations = async (...target: Parameters<typeof listTargetedLocations>) =>
    (await listTargetedLocations(...target)).map(({ location }) => location)
  for (const [name, values] of Object.entries(keys)) {
    for (const on of [db, ofRegion]) expect(await locations(on, { [name]: values }), name).toEqual(keys.locationIds)
    expect(await locations(db, { exclude: { [name]: values } }), `exclude ${name}`).toEqual([otherLocation])
  }
})

test('each key of rooms counts the room without endpoints that has its value, and leaves it out', async () => {
  const { db, ofRegion, keys } = world
  expect([await countEmptyRooms(db, {}), await countEmptyRooms(ofRegion, {})]).toEqual([2, 1])
  for (const name of roomKeys) {
    for (const on of [db, ofRegion]) expect(await countEmptyRooms(on, { [name]: keys[name] }), name).toBe(1)
    expect(await countEmptyRooms(db, { exclude: { [name]: keys[name] } }), `exclude ${name}`).toBe(1)
  }
  expect(await countEmptyRooms(db, { models: ['NF19B1'] }), 'a room without endpoints has no model').toBe(0)
})

test('the places of a target are read as far as the caller sees them', async () => {
  const { db, ofRegion, keys } = world
  const ids = (name: string) => ({ ids: [...(keys[name] as number[]), 9999] })
  for (const on of [db, ofRegion]) {
    expect((await listRegionIds(on, ids('regionIds'))).map(({ id }) => id)).toEqual(keys.regionIds)
    expect((await listLocationIds(on, ids('locationIds'))).map(({ id }) => id)).toEqual(keys.locationIds)
    expect((await listRoomIds(on, ids('roomIds'))).map(({ id }) => id).sort()).toEqual(keys.roomIds)
  }
  expect(await listRegionIds(db.seenBy(RegionAccess.nothing), ids('regionIds'))).toEqual([])
})

test('the use of rooms and the keys of profiles are read for the endpoints of a target', async () => {
  const { db, keys } = world
  const [endpoint] = await listTargeted(db, { endpointIds: keys.endpointIds }, page)
  const use = await listRoomUse(db, { endpoints: [endpoint?.number ?? 0], firstDay: 20_000 })
  expect(use.map((row) => ({ ...row, people: Number(row.people) }))).toEqual([
    { endpoint: endpoint?.number, room: endpoint?.roomId, people: 2.5 },
  ])
  const profiles = await listProfileKeys(db, { ids: keys.profileIds as number[] })
  expect(profiles).toEqual([{ id: keys.profileIds?.[0], config: '{"nightMode":true}', secrets: expect.anything() }])
})
