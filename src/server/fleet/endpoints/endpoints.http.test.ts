// Tests the behaviour of endpoints through HTTP: lists, reading, unenrolling, profiles.

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { csvLines } from '../../../../test/support/csv-lines.ts'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { auditTarget } from '../../../../test/support/devices/audited-endpoint.ts'
import { enrolTestDevice, newDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** Oslo (1) in Europe (1), Tokyo (2) in Asia (2); rooms Fjord (1), Fuji (2), Attic (3) nowhere; profiles 1 and 2. */
async function building(): Promise<TestOrg> {
  const org = await harness.newOrg()
  const post = (path: string, body: object) => org.call('POST', path, { body })
  for (const name of ['Europe', 'Asia']) await post('/regions', { name })
  for (const [name, regionId] of Object.entries({ Oslo: 1, Tokyo: 2 })) await post('/locations', { name, regionId })
  for (const [name, locationId] of Object.entries({ Fjord: 1, Fuji: 2, Attic: 0 })) {
    await post('/rooms', { name, locationId })
  }
  for (const name of ['Quiet', 'Bright']) await post('/profiles', { name, config: { nightMode: true } })
  return org
}
const read = (org: TestOrg, id: string) => org.call('GET', `/endpoints/${id}`)
const etagOf = async (org: TestOrg, path: string) => (await org.call('GET', path)).headers.get('etag')

test('endpointsBasicList shows the basic fields, and omits room and reports where there are none [contract 4.endpointsBasicList]', async () => {
  const [org, elsewhere] = [await building(), await building()]
  await putEndpoints(harness, elsewhere, [{ room_id: 1 }])
  const bare = '00000000-0000-4000-8000-000000000001'
  const full = '00000000-0000-4000-8000-000000000002'
  const report = {
    timezone: 'x',
    networkName: '"inCallStatus":"OTHER"',
    firmwareVersion: 'NF "1"\\',
    latestVersion: 'NF 2',
    localIpAddress: '10.0.0.7',
    networks: [{ macAddress: 'rN5IABEi' }, { display: 'wlan0' }],
    inCallStatus: 'ZOOM',
  }
  await putEndpoints(harness, org, [
    {
      ...{ id: full, serial: 'S2', room_id: 1, connected: 1, pairing_serial: 'S1', status: JSON.stringify(report) },
      profile_id: 2,
    },
    { id: bare, serial: 'S1', model: 'NF19A1' },
  ])
  const { body } = await org.call('GET', '/endpoints')
  const place = { roomId: 1, roomName: 'Fjord', profileId: 2, localIpAddress: '10.0.0.7', macAddresses: ['rN5IABEi'] }
  const reported = { inCallStatus: 'ZOOM', firmwareVersion: 'NF "1"\\', latestVersion: 'NF 2', pairingSerial: 'S1' }
  expect(body).toEqual({
    endpoints: [
      { id: bare, serial: 'S1', model: 'NF19A1', connected: false },
      {
        ...{ id: full, serial: 'S2', model: 'NF19B1', connected: true },
        ...place,
        ...reported,
      },
    ],
  })
})

test('endpointsBasicList leaves out kinds of known models and firmware that is the latest; its CSV has them [contract 4.endpointsBasicList]', async () => {
  const org = await building()
  const idOf = (number: number) => `00000000-0000-4000-8000-00000000001${number}`
  const [first, second, other] = [idOf(1), idOf(2), idOf(3)]
  const status = (values: object) => ({ status: JSON.stringify(values) })
  await putEndpoints(harness, org, [
    { id: first, serial: 'S1', connected: 1, ...status({ kind: 'OTHER', firmwareVersion: '1', latestVersion: '1' }) },
    { id: second, serial: 'S2', ...status({ firmwareVersion: '1' }) },
    {
      id: other,
      serial: 'S3',
      model: 'LX-400',
      ...status({ kind: 'PROJECTOR', manufacturer: 'Acme', latestVersion: '2' }),
    },
  ])
  expect((await org.call('GET', '/endpoints')).body.endpoints).toEqual([
    { id: first, serial: 'S1', model: 'NF19B1', connected: true, firmwareVersion: '1' },
    { id: second, serial: 'S2', model: 'NF19B1', connected: false, firmwareVersion: '1', latestVersion: '' },
    {
      ...{ id: other, serial: 'S3', model: 'LX-400', connected: false },
      ...{ kind: 'PROJECTOR', manufacturer: 'Acme', latestVersion: '2' },
    },
  ])
  const csv = await org.call('GET', '/endpoints', { headers: { accept: 'text/csv' } })
  const [header = [], ...rows] = csvLines(csv.text)
  const columns = ['serial', 'kind', 'manufacturer', 'state', 'firmwareVersion', 'latestVersion']
  expect(rows.map((row) => columns.map((name) => row[header.indexOf(name)]))).toEqual([
    ['S1', 'CODEC', 'Neat', 'ONLINE', '1', '1'],
    ['S2', 'CODEC', 'Neat', 'OFFLINE', '1', ''],
    ['S3', 'PROJECTOR', 'Acme', 'OFFLINE', '', '2'],
  ])
})

test.each([
  ['', ['1', '2', '3', '4']],
  ['?regionId=1', ['1']],
  ['?locationId=2', ['2']],
  ['?regionId=2&locationId=2', ['2']],
  ['?regionId=1&locationId=2', []],
  ['?regionId=77', []],
  ['?locationId=77', []],
])('endpointsBasicList narrowed by "%s" gives %j [contract 4.endpointsBasicList]', async (query, serials) => {
  const org = await building()
  await putEndpoints(
    harness,
    org,
    [1, 2, 3, null].map((room_id, i) => ({ room_id, serial: String(i + 1) })),
  )
  const { endpoints } = (await org.call('GET', `/endpoints${query}`)).body
  expect(endpoints.map((e: { serial: string }) => e.serial).sort()).toEqual(serials)
})

test('endpointsGet shows what the device reported, under a version that only API writes change [contract 5.1] [contract 7.8]', async () => {
  const org = await building()
  const device = await newDevice(harness, org, { roomId: 1 })
  const first = await read(org, device.id)
  const { id, serial } = device
  expect(first.body).toMatchObject({ id, serial, model: 'NF19B1', connected: true, roomId: 1, roomName: 'Fjord' })
  expect(first.body).toMatchObject({
    networks: [],
    connectionTime: expect.any(String),
    enrolmentTime: expect.any(String),
  })
  await device.publish('status', { inCallStatus: 'TEAMS', firmwareVersion: 'NFB1.1', freeSystemStorage: '12' })
  const second = await read(org, id)
  expect(second.body).toEqual({
    ...first.body,
    inCallStatus: 'TEAMS',
    firmwareVersion: 'NFB1.1',
    freeSystemStorage: '12',
  })
  const etag = first.headers.get('etag') as string
  expect(second.headers.get('etag')).toBe(etag)
  expect((await org.call('GET', `/endpoints/${id}`, { headers: { 'if-none-match': etag } })).status).toBe(304)
  await device.close()
})

test.each(['/endpoints/%s', '/endpoints/%s/operations'])(
  'GET %s of an unknown endpoint is a 404 [contract 1.5]',
  async (path) => {
    const [org, elsewhere] = [await building(), await building()]
    const [foreign] = await putEndpoints(harness, elsewhere, [{ room_id: 1 }])
    const known = (await putEndpoints(harness, org, [{}]))[0]?.id as string
    for (const id of [randomUUID(), foreign?.id, known.toUpperCase(), '1', 'null', '%00', 'a%20b', `${known}x`]) {
      const reply = await org.call('GET', path.replace('%s', String(id)))
      expect([reply.status, reply.body.code], String(id)).toEqual([404, 'NOT_FOUND'])
    }
  },
)

test('endpointsDelete unenrols: connection closed, every later one too, operations cancelled, gone [contract 4.endpointsDelete]', async () => {
  const org = await building()
  const device = await newDevice(harness, org, { roomId: 1 })
  const other = await newDevice(harness, org, { roomId: 1, pairingSerial: device.serial })
  const { id, serial } = device
  const send = { message: 'Hello', endpointIds: [id, other.id] }
  const sent = (await org.call('POST', '/endpoints/send_message', { body: send })).body.operations
  expect((await device.next('operation')).id).toBe(sent[0].id)
  const rooms = await Promise.all([1, 2].map((n) => etagOf(org, `/rooms/${n}`)))
  const before = await read(org, other.id)
  const log = await org.audit()

  expect((await org.call('DELETE', `/endpoints/${id}`, { headers: { 'if-match': '"77"' } })).status).toBe(412)
  expect((await read(org, id)).status).toBe(200)
  const etag = (await etagOf(org, `/endpoints/${id}`)) as string
  expect((await org.call('DELETE', `/endpoints/${id}`, { headers: { 'if-match': etag } })).body).toEqual({})
  await device.ended(1_000)
  await expect(device.connect(), 'it cannot subscribe [contract 8.unenrolment]').rejects.toThrow('closed')
  for (const method of ['GET', 'DELETE']) expect((await org.call(method, `/endpoints/${id}`)).status).toBe(404)
  const states = await Promise.all(
    sent.map(async (o: { id: string }) => (await org.call('GET', `/operations/${o.id}`)).body.state),
  )
  expect(states[0]).toBe('CANCELLED')
  expect(states[1], 'what is paired with it stays').not.toBe('CANCELLED')
  expect(await read(org, other.id).then((r) => r.body)).toEqual(before.body)
  expect(await etagOf(org, '/rooms/1')).not.toBe(rooms[0])
  expect(await etagOf(org, '/rooms/2')).toBe(rooms[1])
  const [entry, ...earlier] = await org.audit()
  expect(earlier).toEqual(log)
  expect(entry).toMatchObject({
    category: 'DEVICE',
    type: 'DEVICE_REMOVED',
    target: auditTarget({ id, serial }),
  })
  expect(entry.details).toEqual({ before: { serial, model: 'NF19B1', roomId: 1, profileId: null } })

  const again = await enrolTestDevice(harness, org, { roomId: 2, serial })
  expect(again.answer.endpointId).not.toBe(id)
  await other.close()
})

test('roomsDelete unenrols hundreds of endpoints and cancels what waits for them [contract 6.rooms]', async () => {
  const org = await building()
  const device = await newDevice(harness, org, { roomId: 1 })
  const rows = await putEndpoints(
    harness,
    org,
    Array.from({ length: 600 }, () => ({ room_id: 1 })),
  )
  const [away] = await putEndpoints(harness, org, [{ room_id: 2 }])
  const body = { message: 'Bye', roomIds: [1, 2] }
  const { operations } = (await org.call('POST', '/rooms/send_message', { body })).body
  expect(operations).toHaveLength(602)
  expect((await org.call('DELETE', '/rooms/1')).body).toEqual({})
  await device.ended(1_000)
  const { endpoints } = (await org.call('GET', '/endpoints')).body
  expect(endpoints.map((e: { id: string }) => e.id)).toEqual([away?.id])
  const states: Record<string, number> = {}
  for (const { id } of operations.filter((o: { endpointId: string }) => o.endpointId !== device.id).slice(-50)) {
    const { state } = (await org.call('GET', `/operations/${id}`)).body
    states[state] = (states[state] ?? 0) + 1
  }
  expect(states).toEqual({ CANCELLED: 49, QUEUED: 1 })
  const [entry] = await org.audit()
  expect(entry.type).toBe('ROOM_DELETED')
  expect(entry.details.affected).toHaveLength(rows.length + 1)
})

test('a failed config makes its room DEGRADED, in the list and alone [contract 5.4.room]', async () => {
  const org = await building()
  const rows = await putEndpoints(
    harness,
    org,
    [1, 1, 2].map((room_id) => ({ room_id, connected: 1 })),
  )
  const states = async () => {
    const { rooms } = (await org.call('GET', '/rooms')).body
    const alone = await Promise.all([1, 2, 3].map(async (n) => (await org.call('GET', `/rooms/${n}`)).body.state))
    expect(rooms.map((r: { state: string }) => r.state)).toEqual(alone)
    return alone
  }
  const config = (endpoint_id: string, state: string) => ({
    ...{ org: org.org.key, endpoint_id, state, version: 1, error: null, explicit: '{}', secrets: '{}' },
    ...{ reported_version: 0, reported: '{}', reported_at: null, rejected: '{}' },
  })
  const put = (values: ReturnType<typeof config>[]) =>
    harness.services.db.systemTransaction((t) => t.kysely.insertInto('endpoint_configs').values(values).execute())
  await put([config(rows[1]?.id as string, 'PENDING'), config(rows[2]?.id as string, 'DELIVERED')])
  expect(await states()).toEqual(['HEALTHY', 'HEALTHY', 'EMPTY'])
  await put([config(rows[0]?.id as string, 'FAILED')])
  expect(await states()).toEqual(['DEGRADED', 'HEALTHY', 'EMPTY'])
  const counts = (await org.call('GET', '/rooms')).body.rooms.map((r: { endpointCount: number }) => r.endpointCount)
  expect(counts).toEqual([2, 1, 0])
})

test('endpointsAssignProfile gives and takes a profile, with a config version when it changes [contract 6.assignProfile]', async () => {
  const org = await building()
  const device = await newDevice(harness, org, { roomId: 1 })
  const { id, serial } = device
  const other = await newDevice(harness, org, { roomId: 1, offline: true })
  const assign = (profileId: unknown, headers: Record<string, string> = {}) =>
    org.call('PUT', `/endpoints/${id}/profile`, { body: { profileId }, headers })
  const version = async () => (await org.call('GET', `/endpoints/${id}/config/state`)).body.version
  const [etag, room, start, rest] = [
    await etagOf(org, `/endpoints/${id}`),
    await etagOf(org, '/rooms/1'),
    await version(),
    await read(org, other.id),
  ]

  expect((await assign(1, { 'if-match': etag as string })).body).toEqual({})
  expect((await read(org, id)).body.profileId).toBe(1)
  expect(await version()).toBe(start + 1)
  await expect.poll(async () => (await device.next('config')).config).toMatchObject({ nightMode: true })
  expect(await etagOf(org, '/rooms/1')).not.toBe(room)
  expect((await assign(2, { 'if-match': etag as string })).status).toBe(412)
  const [entry] = await org.audit()
  expect(entry).toMatchObject({
    category: 'DEVICE',
    type: 'PROFILE_ASSIGNED',
    target: auditTarget({ id, serial }),
  })
  expect(entry.details).toEqual({ before: { profileId: null }, after: { profileId: 1 } })

  expect((await assign(1)).body).toEqual({})
  expect(await version(), 'the same profile changes no config').toBe(start + 1)
  for (const none of [null, 0]) {
    expect((await assign(none)).body).toEqual({})
    expect((await read(org, id)).body).not.toHaveProperty('profileId')
    expect((await org.audit())[0].type).toBe('PROFILE_UNASSIGNED')
  }
  expect(await version()).toBe(start + 2)

  const [before, log] = [await read(org, id), await org.audit()]
  expect((await assign(77)).body.code).toBe('FAILED_PRECONDITION')
  expect((await assign('1')).body.violations).toMatchObject([{ field: 'profileId' }])
  const nobody = await org.call('PUT', `/endpoints/${randomUUID()}/profile`, { body: { profileId: 1 } })
  expect(nobody.status).toBe(404)
  expect((await read(org, id)).headers.get('etag')).toBe(before.headers.get('etag'))
  expect((await read(org, other.id)).body).toEqual(rest.body)
  expect(await org.audit()).toEqual(log)
  await device.close()
})

test('one device that reports nonsense does not disturb the list', async () => {
  const org = await building()
  const device = await newDevice(harness, org, { roomId: 1 })
  const half = '\ud800'
  for (const firmwareVersion of ['a\u0000b', half]) await device.publish('status', { firmwareVersion }).catch(() => {})
  const reply = await org.call('GET', '/endpoints')
  expect(reply.status).toBe(200)
  expect(reply.body.endpoints[0]).toMatchObject({ id: device.id, serial: device.serial })
  await device.close()
})
