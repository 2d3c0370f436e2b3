// Answers and errors have the forms that real clients depend on: wrapped lists, numbers, times, messages, networks and samples.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OperationId, operationIds, operationList } from '../../src/contract/operations.ts'
import { pathFor, perform } from '../support/contract/calls.ts'
import { newDevice, type TestDevice } from '../support/devices/test-device.ts'
import { type Fixture, newFixture } from '../support/fixture.ts'
import { type Harness, type Reply, startHarness } from '../support/harness.ts'
import { network } from '../support/mcp/mcp-fixture.ts'

let harness: Harness
let f: Fixture
let device: TestDevice
const beyond32Bits = '9007199254740993'
const now = () => Math.floor(harness.clock.now() / 1000)

beforeAll(async () => {
  harness = await startHarness()
  f = await newFixture(harness)
  device = await newDevice(harness, f, { roomId: f.room })
  await device.publish('status', { networks: [network], freeSystemStorage: beyond32Bits })
  await device.publish('sample', { samples: [{ timestamp: now(), people: 2 }] })
})
afterAll(async () => {
  await device.close()
  await harness.close()
})
const get = async (path: string) => (await f.call('GET', path)).body

test('every operation answers an object, never a bare array [contract 1.2]', () => {
  for (const { id, response, download } of operationList) {
    if (!download) expect((response as { type?: string }).type, id).toBe('object')
  }
})

test('every list is wrapped in the key that clients read [contract 1.3]', async () => {
  const keys: Partial<Record<OperationId, string>> = {
    endpointsBasicList: 'endpoints',
    roomsList: 'rooms',
    locationsList: 'locations',
    regionsList: 'regions',
    profilesList: 'profiles',
    usersList: 'users',
    roomNotesList: 'notes',
    roomNotesListAll: 'notes',
    keysList: 'keys',
    myKeysList: 'keys',
    userSessionsList: 'sessions',
    endpointsOperationsList: 'operations',
    operationsList: 'operations',
    endpointsReboot: 'operations',
    endpointsSendMessage: 'operations',
    roomsSendMessage: 'operations',
    configVersionsList: 'versions',
    auditLogs: 'logs',
    endpointsBulkSensorData: 'data',
    roomsBulkSensorData: 'data',
    incidentsList: 'incidents',
    incidentRulesList: 'rules',
    silencesList: 'silences',
    viewsList: 'views',
    channelsList: 'channels',
    driversList: 'drivers',
    gatewaysList: 'gateways',
    gatewayDevicesList: 'devices',
    sourcesList: 'sources',
    sourceDevicesList: 'devices',
    deliveriesList: 'deliveries',
    profileVersionsList: 'versions',
    jobsList: 'jobs',
    recurringJobsList: 'recurringJobs',
    jobsRoomsList: 'rooms',
  }
  for (const id of operationIds.filter((name) => /List(All)?$|Bulk|Logs$|Message$/.test(name))) {
    expect(keys, 'say here which key it has').toHaveProperty(id)
  }
  // A channel without a delivery has an empty list.
  await perform(harness, f, 'channelsTest')
  const inPages = ['auditLogs', 'incidentsList', 'deliveriesList', 'jobsList', 'jobsRoomsList']
  for (const [id, key] of Object.entries(keys) as [OperationId, string][]) {
    const { body } = await perform(harness, f, id)
    expect(body[key], id).toEqual(expect.any(Array))
    expect(body[key].length, id).toBeGreaterThan(0)
    expect(Object.keys(body), id).toEqual(inPages.includes(id) ? [key, 'nextPageToken'] : [key])
  }
})

test('large numbers are strings, small ones numbers, bytes base64 [contract 1.4]', async () => {
  const endpoint = await get(`/endpoints/${device.id}`)
  expect(endpoint.freeSystemStorage).toBe(beyond32Bits)
  expect(endpoint.roomId).toBe(f.room)
  expect(endpoint.networks[0].mtu).toBe(1500)
  expect([...Buffer.from(endpoint.networks[0].macAddress, 'base64')]).toEqual([0xac, 0xde, 0x48, 0, 0x11, 0x22])
  const room = await get(`/rooms/${f.room}`)
  expect([typeof room.decUsed, typeof room.decTimeout]).toEqual(['string', 'number'])
  const [sample] = (await get(`/endpoints/${device.id}/sensor`)).endpointData.data
  expect([typeof sample.timestamp, typeof sample.people]).toEqual(['string', 'number'])
})

test('times are RFC 3339 with milliseconds, those of samples and codes Unix seconds in a string [contract 1.6]', async () => {
  const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
  const isTime = /(Time|At|^deadline|^timestamp)$/
  const seen = new Map<string, string>()
  for (const { id, method, download } of operationList) {
    if (method !== 'GET' || download) continue
    const isSensor = id.includes('Sensor')
    JSON.stringify((await perform(harness, f, id)).body, (key, value) => {
      if (isTime.test(key) && typeof value === 'string') {
        expect(value, `${key} of ${id}`).toMatch(isSensor ? /^\d+$/ : rfc3339)
        seen.set(key, id)
      }
      if (key === 'decUsed') expect(value).toMatch(/^-?\d+$/)
      return value
    })
  }
  const expected = ['enrolmentTime', 'connectionTime', 'createdAt', 'updatedAt', 'deadline', 'timestamp']
  expect([...seen.keys()]).toEqual(expect.arrayContaining(expected))
})

const messageOf = async (call: Promise<Reply>) => {
  const { status, body } = await call
  return `${status} ${body.code}: ${body.message}`
}

test('an error has its status, a message and, for wrong fields, violations [contract 2.1]', async () => {
  const { body, status } = await f.call('POST', '/regions', { body: { name: '' } })
  expect(body).toEqual({
    status,
    code: 'INVALID_ARGUMENT',
    message: 'Invalid request: name must have at least 1 character',
    violations: [{ field: 'name', error: 'must have at least 1 character' }],
    requestId: expect.any(String),
  })
})

test('the message about a state that forbids a request begins with "Operation preconditions not met: " [contract 2.2]', async () => {
  const silent = await newDevice(harness, f, { roomId: f.room, offline: true })
  const empty = await harness.newOrg()
  const forbidden = [
    f.call('DELETE', `/regions/${f.region}`),
    f.call('POST', `/endpoints/${silent.id}/reboot`),
    f.call('POST', '/locations', { body: { name: 'Moon', regionId: 77 } }),
    f.call('POST', '/rooms', { body: { name: 'Crater', locationId: 77 } }),
    f.call('POST', '/endpoints/move_paired', { body: { endpointIds: [device.id], roomId: 77 } }),
    f.call('PUT', `/rooms/${f.room}/profile`, { body: { profileId: 77 } }),
    f.call('PUT', `/endpoints/${device.id}/profile`, { body: { profileId: 77 } }),
    empty.call('GET', '/rooms/sensor'),
  ]
  for (const call of forbidden) {
    expect(await messageOf(call)).toMatch(/^400 FAILED_PRECONDITION: Operation preconditions not met: \S/)
  }
})

test('the message about a missing resource begins with "Requested resource not found" [contract 2.2]', async () => {
  const nobody = '0c4be1f2-77a4-4d0e-8a55-6f1c2b9d3e20'
  const missing = operationList.flatMap(({ id, params = {} }) =>
    Object.entries(params).map(([name, shape]) => {
      const other = (shape as { type?: string }).type === 'integer' ? 77 : nobody
      return [id, pathFor(f, id, f.id, { [name]: other })] as const
    }),
  )
  expect(missing.length).toBeGreaterThan(30)
  for (const [id, path] of missing) {
    const message = await messageOf(perform(harness, f, id, { path }))
    expect(message, id).toMatch(/^404 NOT_FOUND: Requested resource not found: \S/)
  }
  const elsewhere = await messageOf(harness.call('GET', '/v1/orgs/LXJ45kN/regions', { key: f.key }))
  expect(elsewhere).toBe('404 NOT_FOUND: Requested resource not found')
})

test('networks are complete, or there are none [contract 5.1.networks]', async () => {
  expect((await get(`/endpoints/${device.id}`)).networks).toEqual([network])
  const [address] = network.addresses
  const incomplete = [
    { ...network, addresses: undefined },
    { ...network, gateway: undefined },
    { ...network, addresses: [{ ...address, broadcast: undefined }] },
    { ...network, addresses: [{ ...address, address: undefined }] },
  ]
  for (const lacking of incomplete) {
    await device.publish('status', { networks: [lacking] })
    const [{ addresses, gateway }] = (await get(`/endpoints/${device.id}`)).networks
    expect(gateway).toEqual(expect.any(Array))
    for (const item of addresses) expect(item).toMatchObject({ address: {}, broadcast: {} })
  }
  const bare = { addresses: [{ address: {}, broadcast: {} }], gateway: [] }
  await device.publish('status', { networks: [bare] })
  expect((await get(`/endpoints/${device.id}`)).networks).toEqual([bare])
  await device.publish('status', { networks: null })
  const answers = [await get(`/endpoints/${device.id}`), ...(await get(`/rooms/${f.room}`)).endpoints]
  for (const { networks } of answers) expect(networks).toEqual([])
  await device.publish('status', { networks: [network] })
})

test('a sample under the legacy base has exactly eight keys [contract 5.2] [contract 5.2.shutter]', async () => {
  const eight = ['co2', 'humidity', 'illumination', 'people', 'temp', 'timestamp', 'voc', 'vocIndex']
  const paths = [`/endpoints/${device.id}/sensor`, `/rooms/${f.room}/sensor`, '/endpoints/sensor', '/rooms/sensor']
  for (const path of paths) {
    const { text } = await harness.call('GET', `/api/v1/orgs/${f.id}${path}`, { key: f.key })
    const samples = [...text.matchAll(/\{"co2".*?\}/g)].map(([sample]) => Object.keys(JSON.parse(sample)).sort())
    expect(samples, path).not.toEqual([])
    for (const keys of samples) expect(keys, path).toEqual(eight)
  }
})

test('a message is never refused for a state [contract 6.messages]', async () => {
  const emptyRoom = (await f.call('POST', '/rooms', { body: { name: 'Loft' } })).body.id
  const silent = await newDevice(harness, f, { roomId: f.room, offline: true })
  await device.publish('status', { inCallStatus: 'ZOOM' })
  const message = 'Hello.'
  const toEndpoints = (...endpointIds: string[]) =>
    f.call('POST', '/endpoints/send_message', { body: { message, endpointIds } })
  const toRooms = (...roomIds: number[]) => f.call('POST', '/rooms/send_message', { body: { message, roomIds } })
  for (const taken of [
    toEndpoints(device.id),
    toEndpoints(silent.id, device.id),
    toRooms(f.room),
    toRooms(emptyRoom),
  ]) {
    expect((await taken).status).toBe(200)
  }
  for (const refused of [toEndpoints('nobody'), toEndpoints(silent.id, 'nobody'), toRooms(77), toRooms()]) {
    expect(await messageOf(refused)).toMatch(/^400 INVALID_ARGUMENT: Invalid request: /)
  }
})
