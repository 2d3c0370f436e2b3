// Tests rooms and their profile, through HTTP.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EndpointValues, putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { auditAffected } from '../../../../test/support/devices/audited-endpoint.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import {
  writtenCode as code,
  etag,
  neverUsed,
  newBuilding,
  others,
  room,
  roomOfCode,
} from '../../../../test/support/places/building.ts'
import { models } from '../../../contract/device/models.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(Date.UTC(2026, 2, 2, 9))
})
afterAll(() => harness.close())
const createBuilding = () => newBuilding(harness)
const findRoomOfCode = (text: string) => roomOfCode(harness, text)

const putEndpoint = async (org: TestOrg, room_id: number, values: EndpointValues = {}) => {
  const [row] = await putEndpoints(harness, org, [{ room_id, ...values }])
  return row as NonNullable<typeof row>
}
const endpointsOf = ({ org }: TestOrg) =>
  harness.services.db.system.kysely
    .selectFrom('endpoints')
    .selectAll()
    .where('org', '=', org.key)
    .orderBy('id')
    .execute()
const valuesOf = async <K extends 'version' | 'profile_id'>(org: TestOrg, column: K) =>
  Object.fromEntries((await endpointsOf(org)).map((e) => [e.id, e[column]]))
const stateOf = (org: TestOrg) => Promise.all([room(org, 1), others(org), endpointsOf(org), org.audit()])

test('roomsList shows where a room is, its state and its counts [contract 5.4.room]', async () => {
  const [org, elsewhere] = [await createBuilding(), await createBuilding()]
  await putEndpoint(elsewhere, 1, { connected: 1 })
  await putEndpoint(org, 2)
  for (const connected of [1, 0, 1]) await putEndpoint(org, 3, { connected })
  for (const connected of [1, 1]) await putEndpoint(org, 4, { connected })
  const at = (id: number, name: string) => ({ location: { id, name } })
  const rooms = [
    { id: 1, name: 'Fjord', ...at(1, 'Oslo'), state: 'EMPTY', endpointCount: 0, connectedCount: 0 },
    { id: 2, name: 'Fuji', ...at(2, 'Tokyo'), state: 'OFFLINE', endpointCount: 1, connectedCount: 0 },
    { id: 3, name: 'Attic', ...at(3, 'Nowhere'), state: 'DEGRADED', endpointCount: 3, connectedCount: 2 },
    { id: 4, name: 'Cellar', state: 'HEALTHY', endpointCount: 2, connectedCount: 2 },
  ]
  expect((await org.call('GET', '/rooms')).body).toEqual({ rooms })
  for (const { id, state } of rooms) expect((await room(org, id)).state, 'read alone').toBe(state)
})

test.each([
  ['regionId=1', ['Fjord']],
  ['locationId=3', ['Attic']],
  ['regionId=2&locationId=2', ['Fuji']],
  ['regionId=1&locationId=2', []],
  ['regionId=77', []],
  ['locationId=77', []],
])('roomsList narrowed by %s gives %j [contract 6.rooms]', async (query, names) => {
  const { call } = await createBuilding()
  const { rooms } = (await call('GET', `/rooms?${query}`)).body
  expect(rooms.map((r: { name: string }) => r.name)).toEqual(names)
})

test('roomsGet shows location, region, profile and every endpoint in full [contract 5.4.room] [contract 5.1]', async () => {
  const org = await createBuilding()
  await org.call('POST', '/profiles', { body: { name: 'Quiet', config: {} } })
  await org.call('PUT', '/rooms/1/profile', { body: { profileId: 1 } })
  const [id, second] = ['0b1d6a52-6a9e-4b5a-8a6e-000000000001', '0b1d6a52-6a9e-4b5a-8a6e-000000000002']
  const reported = { firmwareVersion: 'NFB1.2026', inCallStatus: 'ZOOM', freeSystemStorage: '123' }
  const presence = { connected: 1, connection_time: 0, status: JSON.stringify(reported) }
  const { serial } = await putEndpoint(org, 1, { id, profile_id: 1, ...presence })
  await putEndpoint(org, 1, { id: second, serial: 'S2', model: 'NF19A1', pairing_serial: serial })
  await putEndpoint(org, 2)
  const place = { enrolmentTime: '2026-01-01T00:00:00.000Z', roomId: 1, roomName: 'Fjord', networks: [] }
  const since = '1970-01-01T00:00:00.000Z'
  const online = { connected: true, connectionTime: since, state: 'ONLINE', since }
  const made = { manufacturer: 'Neat', kind: 'CODEC' }
  const bar = { id, serial, model: 'NF19B1', ...made, ...online, profileId: 1 }
  const pad = {
    ...{ id: second, serial: 'S2', pairingSerial: serial, model: 'NF19A1', connected: false, state: 'OFFLINE' },
    ...{ ...made, kind: 'CONTROLLER' },
  }
  expect(await room(org, 1)).toEqual({
    ...{ id: 1, name: 'Fjord', state: 'DEGRADED', profileId: 1, dec: code, decUsed: neverUsed, decTimeout: 24 },
    enrolmentUrl: expect.stringContaining('/enrol#'),
    location: { id: 1, name: 'Oslo', region: { id: 1, name: 'Europe' } },
    endpoints: [
      {
        ...bar,
        ...place,
        ...reported,
        kind: 'CODEC',
        manufacturer: 'Neat',
        sensors: models.NF19B1?.sensors.toSorted(),
      },
      { ...pad, ...place, kind: 'CONTROLLER', manufacturer: 'Neat', sensors: models.NF19A1?.sensors.toSorted() },
    ],
  })
})

test('roomsUpdate sets name and location, and an absent locationId clears it [contract 6.rooms]', async () => {
  const org = await createBuilding()
  const rest = await others(org)
  const moved = (await org.call('PUT', '/rooms/1', { body: { name: 'Sea', locationId: 2 } })).body
  expect(moved).toMatchObject({ name: 'Sea', location: { id: 2, name: 'Tokyo', region: { id: 2, name: 'Asia' } } })
  const { location: _, ...cleared } = moved
  expect((await org.call('PUT', '/rooms/1', { body: { name: 'Sea' } })).body).toEqual(cleared)
  expect(await room(org, 1)).toEqual(cleared)
  expect(await others(org)).toEqual(rest)
  const details = { before: { name: 'Sea', locationId: 2 }, after: { name: 'Sea', locationId: null } }
  expect((await org.audit())[0]).toMatchObject({ type: 'ROOM_UPDATED', details })
})

test('invalid values of a room are refused, and nothing changes [contract 6.rooms] [contract 2.2]', async () => {
  const org = await createBuilding()
  const before = await stateOf(org)
  const lost = { body: { name: 'x', locationId: 77 } }
  expect((await org.call('POST', '/rooms', lost)).body.code).toBe('FAILED_PRECONDITION')
  expect((await org.call('PUT', '/rooms/1', lost)).body.code).toBe('FAILED_PRECONDITION')
  expect((await org.call('PUT', '/rooms/9', lost)).status).toBe(404)
  const nameless = await org.call('PUT', '/rooms/1', { body: { locationId: 2 } })
  expect(nameless.body.violations).toMatchObject([{ field: 'name' }])
  expect((await org.call('DELETE', '/rooms/1', { headers: { 'if-match': '"99"' } })).status).toBe(412)
  expect(await stateOf(org)).toEqual(before)
})

test('roomsDelete unenrols its endpoints, deletes its notes and names both [contract 6.rooms] [contract 5.1.pairing]', async () => {
  const org = await createBuilding()
  const [bar, pad] = [await putEndpoint(org, 1, { connected: 1 }), await putEndpoint(org, 1)]
  const paired = await putEndpoint(org, 2, { pairing_serial: bar.serial })
  for (const id of [1, 2]) await org.call('POST', `/rooms/${id}/notes`, { body: { note: `Note ${id}` } })
  const [{ dec }, rest, log] = [await room(org, 1), await others(org), await org.audit()]

  expect((await org.call('DELETE', '/rooms/1')).body).toEqual({})

  for (const method of ['GET', 'DELETE']) expect((await org.call(method, '/rooms/1')).status).toBe(404)
  expect(await endpointsOf(org)).toEqual([paired])
  expect((await org.call('GET', '/rooms/notes')).body.notes).toMatchObject([{ note: 'Note 2' }])
  expect(await findRoomOfCode(dec)).toBeUndefined()
  expect(await others(org)).toEqual(rest)
  const [entry, ...earlier] = await org.audit()
  expect(earlier).toEqual(log)
  expect(entry).toMatchObject({ type: 'ROOM_DELETED', target: { type: 'room', id: '1', name: 'Fjord' } })
  const unenrolled = [bar, pad].map(auditAffected)
  const affected = new Set([...unenrolled, { type: 'roomNote', id: '1', name: 'Note 1' }])
  expect(new Set(entry.details.affected)).toEqual(affected)
  expect((await org.call('POST', '/rooms', { body: { name: 'New' } })).body.id, 'no id is reused').toBe(5)
})

test.each(['location', 'region'])('renaming its %s changes the version of a room [contract D.9]', async (noun) => {
  const org = await createBuilding()
  const [version, rest] = [await etag(org, 1), await others(org)]
  await putEndpoint(org, 1, { connected: 1 })
  expect(await etag(org, 1), 'actions of a device do not change the version [contract 7.8]').toBe(version)
  await org.call('PUT', `/${noun}s/1`, { body: { name: 'Renamed' } })
  const { location } = await room(org, 1)
  expect(noun === 'region' ? location.region.name : location.name).toBe('Renamed')
  expect(await etag(org, 1)).not.toBe(version)
  expect(await others(org)).toEqual(rest)
})

test('renaming a room changes the version of its endpoints, which show the name [contract D.9]', async () => {
  const org = await createBuilding()
  const [inside, outside] = [await putEndpoint(org, 1), await putEndpoint(org, 2)]
  await org.call('PUT', '/rooms/1', { body: { name: 'Sea', locationId: 1 } })
  expect(await valuesOf(org, 'version')).toEqual({ [inside.id]: 2, [outside.id]: 1 })
})

test('roomsAssignProfile assigns to the room and all its endpoints, null removes it [contract 6.assignProfile] [contract 5.4.profile]', async () => {
  const org = await createBuilding()
  const assign = (id: number, body: object) => org.call('PUT', `/rooms/${id}/profile`, { body })
  for (const name of ['Quiet', 'Bright']) await org.call('POST', '/profiles', { body: { name, config: {} } })
  const [bar, pad] = [await putEndpoint(org, 1), await putEndpoint(org, 1, { profile_id: 2 })]
  const away = await putEndpoint(org, 2, { profile_id: 2 })
  const [version, rest] = [await etag(org, 1), await others(org)]

  expect((await assign(1, { profileId: 1 })).body).toEqual({})
  expect((await room(org, 1)).profileId).toBe(1)
  expect(await etag(org, 1)).not.toBe(version)
  expect(await valuesOf(org, 'profile_id')).toEqual({ [bar.id]: 1, [pad.id]: 1, [away.id]: 2 })
  const [{ type, details }] = await org.audit()
  expect([type, details.before, details.after]).toEqual(['PROFILE_ASSIGNED', { profileId: null }, { profileId: 1 }])
  expect(details.affected.map((e: { id: string }) => e.id).sort()).toEqual([bar.id, pad.id].sort())

  expect((await assign(1, { profileId: null })).body).toEqual({})
  expect(await room(org, 1)).not.toHaveProperty('profileId')
  expect(await valuesOf(org, 'profile_id')).toEqual({ [bar.id]: null, [pad.id]: null, [away.id]: 2 })
  expect((await org.audit())[0].type).toBe('PROFILE_UNASSIGNED')
  expect(await others(org)).toEqual(rest)
  const before = await stateOf(org)
  expect((await assign(1, { profileId: 77 })).body.code).toBe('FAILED_PRECONDITION')
  expect((await assign(1, {})).body.violations).toMatchObject([{ field: 'profileId' }])
  expect((await assign(9, { profileId: 1 })).status).toBe(404)
  expect(await stateOf(org)).toEqual(before)
})
