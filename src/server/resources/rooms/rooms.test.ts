// Tests rooms, their enrolment codes and their profile, through HTTP.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EndpointValues, putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { enrolmentCodeMac } from './enrolment-code.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(Date.UTC(2026, 2, 2, 9))
})
afterAll(() => harness.close())

const code = expect.stringMatching(/^([A-HJ-NP-Z2-9]{4}-){2}[A-HJ-NP-Z2-9]{4}$/)
const neverUsed = '-62135596800'

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

/** Finds the room that a code enrols into. */
async function findRoomOfCode(text: string) {
  const codes = harness.services.db.system.kysely.selectFrom('dec_directory').selectAll()
  return (await codes.where('mac', '=', enrolmentCodeMac(harness.services.secrets, text)).executeTakeFirst())?.room_id
}

/** Creates Oslo (1) in Europe (1), Tokyo (2) in Asia (2), Nowhere (3); rooms Fjord (1), Fuji (2), Attic (3), Cellar (4). */
async function createBuilding(): Promise<TestOrg> {
  const org = await harness.newOrg()
  const post = (path: string, body: object) => org.call('POST', path, { body })
  for (const name of ['Europe', 'Asia']) await post('/regions', { name })
  const places = { Oslo: 1, Tokyo: 2, Nowhere: 0 }
  for (const [name, regionId] of Object.entries(places)) await post('/locations', { name, regionId })
  const rooms = { Fjord: 1, Fuji: 2, Attic: 3, Cellar: 0 }
  for (const [name, locationId] of Object.entries(rooms)) await post('/rooms', { name, locationId })
  return org
}
const room = async ({ call }: TestOrg, id: number) => (await call('GET', `/rooms/${id}`)).body
const etag = async ({ call }: TestOrg, id: number) => (await call('GET', `/rooms/${id}`)).headers.get('etag')
const others = (org: TestOrg) => Promise.all([2, 3, 4].map(async (id) => [await room(org, id), await etag(org, id)]))
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
  const bar = { id, serial, model: 'NF19B1', connected: true, connectionTime: '1970-01-01T00:00:00.000Z', profileId: 1 }
  const pad = { id: second, serial: 'S2', pairingSerial: serial, model: 'NF19A1', connected: false }
  expect(await room(org, 1)).toEqual({
    ...{ id: 1, name: 'Fjord', state: 'DEGRADED', profileId: 1, dec: code, decUsed: neverUsed, decTimeout: 24 },
    location: { id: 1, name: 'Oslo', region: { id: 1, name: 'Europe' } },
    endpoints: [
      { ...bar, ...place, ...reported },
      { ...pad, ...place },
    ],
  })
})

test('roomsCreate answers with the enrolment code, which only keys with Write see again [contract 5.4.room] [contract D.6]', async () => {
  const org = await createBuilding()
  const [reader, writer] = [await org.newKey({ scopes: ['read'] }), await org.newKey({ scopes: ['write'] })]
  const created = (await org.call('POST', '/rooms', { body: { name: 'Loft' }, key: writer })).body
  const { dec, decUsed, decTimeout, ...rest } = created
  expect([dec, decUsed, decTimeout]).toEqual([code, neverUsed, 24])
  expect(rest).toEqual({ id: 5, name: 'Loft', state: 'EMPTY', endpoints: [] })
  expect(await room(org, 5)).toEqual(created)
  expect((await org.call('GET', '/rooms/5', { key: reader })).body).toEqual(rest)
  expect(await findRoomOfCode(dec)).toBe(5)
  expect(await findRoomOfCode(` ${dec.toLowerCase().replaceAll('-', ' ')}`), 'as people type it').toBe(5)
  const stored = await harness.services.db.system.kysely.selectFrom('rooms').select('dec_sealed').execute()
  expect(Buffer.concat(stored.map((r) => r.dec_sealed)).includes(dec), 'in clear text').toBe(false)
  expect(JSON.stringify(await org.audit())).not.toContain(dec)
})

test('an enrolment code expires decTimeout hours after its first use, and is then left out [contract 5.4.room]', async () => {
  const org = await createBuilding()
  const { dec } = await room(org, 1)
  const dec_used_at = harness.clock.now()
  await harness.services.db.systemTransaction((t) =>
    t.kysely.updateTable('rooms').set({ dec_used_at }).where('org', '=', org.org.key).where('id', '=', 1).execute(),
  )
  const times = { decUsed: String(dec_used_at / 1000), decTimeout: 24 }
  harness.clock.advance(24 * 3_600_000 - 1)
  expect(await room(org, 1)).toMatchObject({ dec, ...times })
  harness.clock.advance(1)
  expect(await room(org, 1)).toMatchObject(times)
  expect(await room(org, 1)).not.toHaveProperty('dec')
  expect(await room(org, 2), 'an unused code does not expire').toMatchObject({ dec: code })
  const renewed = (await org.call('POST', '/rooms/1/regenerate_dec')).body.dec
  expect(await room(org, 1)).toMatchObject({ dec: renewed, decUsed: neverUsed })
})

test.each(['regenerate_dec', 'regenerate-dec'])('%s invalidates the old code [contract 6.rooms]', async (verb) => {
  const org = await createBuilding()
  const [old, version, rest] = [await room(org, 1), await etag(org, 1), await others(org)]
  const { dec, ...more } = (await org.call('POST', `/rooms/1/${verb}`)).body
  expect([dec, more]).toEqual([code, {}])
  expect(dec).not.toBe(old.dec)
  expect(await room(org, 1)).toEqual({ ...old, dec })
  expect(await etag(org, 1)).not.toBe(version)
  expect([await findRoomOfCode(old.dec), await findRoomOfCode(dec)]).toEqual([undefined, 1])
  expect(await others(org)).toEqual(rest)
  const log = await org.audit()
  expect(log[0]).toMatchObject({ category: 'DEVICE', type: 'DEVICE_ENROLMENT_CODE_GENERATED', target: { id: '1' } })
  expect(JSON.stringify(log)).not.toContain(dec)
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

test('a room has a capacity of 1 to 10,000: absent keeps it, null clears it, and an absent locationId still clears the location [contract 5.4.room]', async () => {
  const org = await createBuilding()
  const read = async (id: number) => (await org.call('GET', `/rooms/${id}`)).body
  const made = await org.call('POST', '/rooms', { body: { name: 'Hall', locationId: 1, capacity: 10_000 } })
  expect(made.body).toMatchObject({ capacity: 10_000, location: { id: 1 } })
  const { id } = made.body
  const listed = async () =>
    (await org.call('GET', '/rooms')).body.rooms.find((room: { id: number }) => room.id === id).capacity
  expect(await listed()).toBe(10_000)
  expect((await org.call('GET', '/rooms/1')).body).not.toHaveProperty('capacity')

  const put = (body: object) => org.call('PUT', `/rooms/${id}`, { body: { name: 'Hall', ...body } })
  const changed = (await put({ locationId: 1, capacity: 12 })).body
  expect(changed.capacity).toBe(12)
  expect((await org.audit())[0].details).toMatchObject({ before: { capacity: 10_000 }, after: { capacity: 12 } })
  const kept = (await put({})).body
  expect(kept.capacity).toBe(12)
  expect(kept).not.toHaveProperty('location')
  for (const capacity of [0, 10_001, 1.5, '12']) {
    const refused = await put({ capacity })
    expect(refused.status, String(capacity)).toBe(400)
    expect(refused.body.violations).toMatchObject([{ field: 'capacity' }])
  }
  expect((await read(id)).capacity).toBe(12)
  expect((await put({ capacity: null })).body).not.toHaveProperty('capacity')
  expect(await listed()).toBeUndefined()
})

test('a room has up to 20 tags, each once: absent keeps them, null or an empty list clears them, and roomsList finds them [contract 12.when]', async () => {
  const org = await createBuilding()
  const body = { name: 'Hall', tags: ['huddle', 'canary', 'huddle'] }
  const made = (await org.call('POST', '/rooms', { body })).body
  expect(made.tags).toEqual(['huddle', 'canary'])
  expect((await org.audit())[0].details.after).toMatchObject({ tags: ['huddle', 'canary'] })
  expect((await org.call('GET', '/rooms/1')).body).not.toHaveProperty('tags')
  const found = async (query: string) =>
    (await org.call('GET', `/rooms?${query}`)).body.rooms.map(({ id, tags }: { id: number; tags?: string[] }) => ({
      id,
      tags,
    }))
  const { id } = made
  const hall = { id, tags: ['huddle', 'canary'] }
  expect(await found('tag=canary')).toEqual([hall])
  expect(await found('')).toContainEqual(hall)
  expect(await found('')).toContainEqual({ id: 1, tags: undefined })
  for (const query of ['tag=can', 'tag=', 'tag=%22', 'tag=canary&locationId=1']) expect(await found(query)).toEqual([])

  const put = (changes: object) => org.call('PUT', `/rooms/${id}`, { body: { name: 'Hall', ...changes } })
  expect((await put({ locationId: 1 })).body.tags).toEqual(hall.tags)
  expect((await org.audit())[0].details.after).not.toHaveProperty('tags')
  expect(await found('tag=canary&locationId=1')).toEqual([hall])
  expect((await put({ tags: ['a-1'] })).body.tags).toEqual(['a-1'])
  expect((await org.audit())[0].details).toMatchObject({ before: { tags: hall.tags }, after: { tags: ['a-1'] } })
  const many = Array.from({ length: 21 }, (_, n) => `t${n}`)
  for (const tags of ['a', [1], [''], ['A'], ['a b'], ['a\n'], ['x'.repeat(41)], ['a', null], many, {}]) {
    const refused = await put({ tags })
    expect(refused.status, JSON.stringify(tags)).toBe(400)
    expect(refused.body.violations[0].field).toMatch(/^tags/)
  }
  expect((await put({})).body.tags).toEqual(['a-1'])
  expect((await put({ tags: many.slice(1) })).body.tags).toHaveLength(20)
  for (const tags of [null, []]) {
    expect((await put({ tags: ['x'.repeat(40)] })).body.tags).toHaveLength(1)
    expect((await put({ tags })).body).not.toHaveProperty('tags')
  }
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
  const unenrolled = [bar, pad].map(({ id, serial }) => ({ type: 'endpoint', id, name: serial }))
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
