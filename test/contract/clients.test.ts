// The promises that real clients depend on, marked [clients] in docs/contract.md, and the tests that hold them.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OperationId, operationIds, operationList } from '../../src/contract/operations.ts'
import { pathFor, perform } from '../support/contract/calls.ts'
import { newDevice, type TestDevice } from '../support/devices/test-device.ts'
import { type Fixture, newFixture } from '../support/fixture.ts'
import { type Harness, type Reply, startHarness } from '../support/harness.ts'
import { network } from '../support/mcp/mcp-fixture.ts'

type Proof = readonly [file: string, ...tests: string[]]
const here = (...tests: string[]): Proof => ['test/contract/clients.test.ts', ...tests]
const walk = (...tests: string[]): Proof => ['test/contract/walk.test.ts', ...tests]
const walkRequests = (...tests: string[]): Proof => ['test/contract/walk-requests.test.ts', ...tests]
const noun = (path: string, ...tests: string[]): Proof => [`src/server/resources/${path}.test.ts`, ...tests]

/** One line for each mark, in the order of the document: its rule, what it promises, and who proves it. */
const promises: readonly (readonly [rule: string, promise: string, ...proofs: Proof[]])[] = [
  [
    '1.1',
    'every operation answers under /v1 and under /api/v1, with one difference',
    walk('succeeds on both bases'),
    noun('sensors/sensors', 'under the legacy base the shutter is beside the sample only'),
  ],
  ['1.1', 'a doubled leading slash does no harm', ['test/http/http.test.ts', 'a doubled leading slash is tolerated']],
  [
    '1.2',
    'success is 200 with a JSON object that has no message beside a status',
    walk('succeeds on both bases'),
    walkRequests('no success has both the keys message and status'),
    here('every operation answers an object, never a bare array'),
  ],
  ['1.3', 'lists are wrapped in a named key', here('every list is wrapped in the key that clients read')],
  ['1.4', '64-bit integers are strings, 32-bit ones numbers, bytes base64', here('large numbers are strings')],
  ['1.6', 'times are RFC 3339, two of them Unix seconds in a string', here('times are RFC 3339 with milliseconds')],
  ['1.7', 'no body is needed, with or without a content type', walk('succeeds on both bases')],
  ['1.7', 'unknown keys are ignored', walk('succeeds on both bases')],
  ['2.1', 'an error has status, message and violations', here('an error has its status, a message and')],
  [
    '2.2',
    'a state that forbids it: Operation preconditions not met',
    here('the message about a state that forbids a request begins with'),
  ],
  ['2.2', 'what is not there: Requested resource not found', here('the message about a missing resource begins with')],
  ['2.2', 'Retry-After in whole seconds', ['test/http/auth.test.ts', 'is a token bucket: a burst, then 429']],
  [
    '4.endpointsSettings',
    'the flat config: what was set, without what the profile fixes, with what the device reports, without passwords',
    noun('configs/configs', 'read-only keys are shown as the device reports them', 'a password is taken, and never'),
    noun('configs/configs', 'endpointsApplyConfig changes the sent keys only'),
    noun('configs/overlay', 'the profile wins; what it hides stays stored'),
    noun('configs/reported', 'keys that the device reports come last', 'a reported password, unknown key'),
    ['test/contract/monitoring-adapter.test.ts', 'every control is offered on a fleet'],
  ],
  ['4.endpointsApplyConfig', 'numbers keep their text', noun('configs/configs', 'the number %s is answered as it was')],
  [
    '4.endpointsApplyConfig',
    'the exact words of a conflict with a profile',
    noun('configs/overlay', 'a key that the profile fixes cannot be applied'),
    ['test/contract/mcp.test.ts', 'works through the official client'],
  ],
  ['4.endpointsSensorData', 'no sample yet is a 404', noun('sensors/sensors', 'without a sample, or without an')],
  ['4.roomsBulkSensorData', 'every room has an entry', noun('sensors/sensors', 'roomsBulkSensorData fails while')],
  ['5.1.networks', 'parts of a network that are always there', here('networks are complete, or there are none')],
  [
    '5.2',
    'every field of a sample is there, 0 where nothing was measured',
    noun('sensors/sensors', 'endpointsSensorData gives the one latest sample with every field'),
    here('a sample under the legacy base has exactly eight keys'),
  ],
  ['5.4.room', 'a room in a list has id and name', noun('rooms/rooms', 'roomsList shows where a room is')],
  [
    '5.4.room',
    'a room read alone has its endpoints, and for keys with Write its enrolment code',
    noun('rooms/rooms', 'roomsGet shows location, region, profile', 'roomsCreate answers with the enrolment code'),
    noun('rooms/rooms', 'an enrolment code expires decTimeout hours after its first use'),
  ],
  ['6.rooms', 'an absent locationId clears it', noun('rooms/rooms', 'roomsUpdate sets name and location, and an')],
  ['6.rooms', 'deleting a room unenrols', noun('rooms/rooms', 'roomsDelete unenrols its endpoints')],
  ['6.messages', 'never FAILED_PRECONDITION', here('a message is never refused for a state')],
  [
    '12.when',
    'no body and unknown keys mean now',
    noun('commands/deferred/deferred', 'a reboot with the body %j happens now'),
  ],
]

const root = new URL('../..', import.meta.url)
const textOf = (path: string) => readFileSync(new URL(path, root), 'utf8')

test('every promise to clients in docs/contract.md stands in the table above, in its order', () => {
  const rules = textOf('docs/contract.md').split(/^\*\*\[contract ([\w.]+)\]\*\*/m)
  const marked = rules.flatMap((rule, n) =>
    n % 2 === 0 ? [] : Array.from((rules[n + 1] ?? '').matchAll(/\*\*\[clients\]\*\*/g), () => rule),
  )
  expect(promises.map(([rule]) => rule)).toEqual(marked)
})

test('every test that the table names exists', () => {
  const isTitle = /^\s*(?:test(?:\.each\(.*\))?\(|\]\)\(|['"`])/
  for (const [file, ...names] of promises.flatMap(([, , ...proofs]) => proofs)) {
    const lines = textOf(file).split('\n')
    for (const name of names) {
      const found = lines.some((line) => isTitle.test(line) && line.includes(name))
      expect(found, `${file} has no test "${name}": name the one that proves it now`).toBe(true)
    }
  }
})

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
    channelsList: 'channels',
    deliveriesList: 'deliveries',
    profileVersionsList: 'versions',
    jobsList: 'jobs',
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
