// States of the devices of a source while it is away, and after its return, with rooms, events and histories. [contract 15.presence]
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../../../test/support/devices/gateway.ts'
import { TestDevice } from '../../../../test/support/devices/test-device.ts'
import { follow } from '../../../../test/support/event-follower.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { devicePaths } from '../../../contract/device/protocol.ts'
import { hourMs, minuteMs, secondMs } from '../../../contract/durations.ts'
import { sinceOfListed, stateOfListed } from '../../../contract/fleet/endpoints.ts'
import { deleteOldSpans } from '../connections/retention.ts'
import { listAbsencesOfSources } from './absence-store.ts'

const settleMs = 10 * minuteMs
const iso = (ms: number) => new Date(ms).toISOString()

let harness: Harness
let org: TestOrg
let room: number
let gateway: TestGateway
let source: string
let now = Date.UTC(2026, 4, 4, 8)
let count = 0
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())
beforeEach(async () => {
  // Time only goes forward, because the service refuses messages from the future.
  now = Math.max(now, harness.clock.now()) + hourMs
  harness.clock.fix(now)
  org = await harness.newOrg()
  room = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const other = (await org.call('POST', '/rooms', { body: { name: 'Server room' } })).body.id
  gateway = await startGateway(harness, org, { roomId: other })
  source = await newSource()
})

async function newSource(): Promise<string> {
  const body = { type: 'neat-pulse', gatewayId: gateway.id, orgId: 'aBcD123', key: 'correct horse' }
  const { id } = (await org.call('POST', '/sources', { body })).body
  await gateway.reportSource(id, 'CONNECTED')
  return id
}

/** Finds, adopts and enrols a device, which connects. */
async function newDevice(of = source): Promise<TestDevice> {
  const key = `device-${++count}`
  expect((await gateway.found(of, [{ key, model: 'NF19B1' }])).status).toBe(200)
  const decision = { key, state: 'ADOPTED', roomId: room }
  const adopted = await org.call('PUT', `/sources/${of}/devices`, { body: { devices: [decision] } })
  const [{ deviceId }] = adopted.body.devices
  const serial = `NB${Date.now()}${count}`
  const enrolled = await gateway.enrol(deviceId, { serial, model: 'NF19B1', manufacturer: 'Neat' })
  expect(enrolled.status, enrolled.text).toBe(200)
  const device = new TestDevice(harness.mqttPort, serial, 'NF19B1', enrolled.body)
  await device.connect()
  return device
}

/** Reads an endpoint in each answer that shows it, and compares them. */
async function stateOf({ id }: TestDevice) {
  const { state, since, connected, sourceType } = (await org.call('GET', `/endpoints/${id}`)).body
  expect(sourceType).toBe('neat-pulse')
  const find = async (path: string) =>
    (await org.call('GET', path)).body.endpoints.find((one: { id: string }) => one.id === id)
  expect(await find(`/rooms/${room}`)).toMatchObject({ state, connected, since, sourceType })
  const listed = await find('/endpoints')
  expect([stateOfListed(listed), listed.connected, sinceOfListed(listed)]).toEqual([state, connected, since])
  expect(listed.sourceType).toBe('neat-pulse')
  return { state, since }
}
const roomState = async () => {
  const { rooms } = (await org.call('GET', '/rooms')).body
  const { state, unknownCount = 0 } = rooms.find(({ id }: { id: number }) => id === room)
  expect((await org.call('GET', `/rooms/${room}`)).body.state).toBe(state)
  return { state, unknownCount }
}

async function leave(device: TestDevice): Promise<number> {
  await device.close()
  const { id } = device
  await until('the disconnect is stored', async () => !(await org.call('GET', `/endpoints/${id}`)).body.connected)
  return harness.clock.now()
}
const historyOf = async ({ id }: TestDevice, from: number) =>
  (await org.call('GET', `/endpoints/${id}/connections?from=${iso(from)}`)).body

test('devices whose source is away are unknown until it is back and has settled [contract 15.presence]', async () => {
  const [stays, lost] = [await newDevice(), await newDevice()]
  const startedAt = harness.clock.now()
  harness.clock.advance(hourMs)
  const lostAt = await leave(lost)
  expect(await stateOf(lost)).toEqual({ state: 'OFFLINE', since: iso(lostAt) })
  harness.clock.advance(hourMs)
  await gateway.reportSource(source, 'FAILING', { reason: 'It answers with a page.' })
  const awayAt = harness.clock.now()
  expect((await stateOf(stays)).state).toBe('ONLINE')
  expect((await stateOf(lost)).state).toBe('UNKNOWN')
  const leftAt = await leave(stays)
  expect(await stateOf(stays)).toEqual({ state: 'UNKNOWN', since: iso(startedAt) })
  expect(await roomState()).toEqual({ state: 'UNKNOWN', unknownCount: 2 })

  harness.clock.advance(5 * hourMs)
  // Another reason of the same absence changes nothing.
  await gateway.reportSource(source, 'REFUSED')
  expect((await stateOf(lost)).state).toBe('UNKNOWN')
  await gateway.reportSource(source, 'CONNECTED')
  const backAt = harness.clock.now()
  harness.clock.advance(minuteMs)
  await stays.connect()
  expect(await stateOf(stays)).toEqual({ state: 'ONLINE', since: iso(startedAt) })
  harness.clock.advance(settleMs - minuteMs - 1)
  expect((await stateOf(lost)).state).toBe('UNKNOWN')
  harness.clock.advance(1)
  expect((await stateOf(lost)).state).toBe('OFFLINE')
  expect(await roomState()).toEqual({ state: 'DEGRADED', unknownCount: 0 })

  expect(await historyOf(stays, startedAt)).toMatchObject({
    outages: 0,
    onlineShare: 1,
    spans: [{ followedBy: 'UNKNOWN' }, {}],
    gaps: [{ state: 'UNKNOWN', from: iso(leftAt), to: iso(backAt + minuteMs) }],
  })
  expect(await historyOf(lost, startedAt)).toMatchObject({
    outages: 1,
    longestOutageSeconds: (awayAt - minuteMs - lostAt) / 1000,
    gaps: [{ state: 'UNKNOWN', from: iso(awayAt - minuteMs), to: iso(backAt + settleMs) }],
  })
})

test('a device that leaves shortly before its source left with it [contract 15.presence]', async () => {
  const device = await newDevice()
  const startedAt = harness.clock.now()
  harness.clock.advance(hourMs)
  const leftAt = await leave(device)
  expect((await stateOf(device)).state).toBe('OFFLINE')
  harness.clock.advance(30 * secondMs)
  await gateway.reportSource(source, 'UNREACHABLE')
  expect((await stateOf(device)).state).toBe('UNKNOWN')
  harness.clock.advance(minuteMs)
  await gateway.reportSource(source, 'CONNECTED')
  await device.connect()
  expect(await stateOf(device)).toEqual({ state: 'ONLINE', since: iso(startedAt) })
  const backAt = harness.clock.now()
  harness.clock.advance(minuteMs)
  expect(await historyOf(device, startedAt)).toMatchObject({
    outages: 0,
    spans: [{ followedBy: 'UNKNOWN' }, {}],
    gaps: [{ state: 'UNKNOWN', from: iso(leftAt), to: iso(backAt) }],
  })
})

test('gateway and source hide a device until both are back; other sources are left alone [contract 15.presence]', async () => {
  const second = await newSource()
  const [device, other] = [await newDevice(), await newDevice(second)]
  harness.clock.advance(hourMs)
  const startedAt = harness.clock.now()
  await gateway.reportSource(source, 'UNREACHABLE')
  await leave(device)
  const otherAt = await leave(other)
  expect((await stateOf(device)).state).toBe('UNKNOWN')
  expect(await stateOf(other)).toEqual({ state: 'OFFLINE', since: iso(otherAt) })
  harness.clock.advance(hourMs)
  await leave(gateway.device)
  expect((await stateOf(other)).state).toBe('UNKNOWN')
  harness.clock.advance(hourMs)
  await gateway.device.connect()
  const gatewayBackAt = harness.clock.now()
  harness.clock.advance(settleMs)
  expect((await stateOf(other)).state).toBe('OFFLINE')
  expect((await stateOf(device)).state).toBe('UNKNOWN')
  await gateway.reportSource(source, 'CONNECTED')
  const sourceBackAt = harness.clock.now()
  harness.clock.advance(settleMs)
  expect((await stateOf(device)).state).toBe('OFFLINE')
  harness.clock.advance(hourMs)
  expect((await historyOf(device, startedAt)).gaps).toMatchObject([
    { state: 'UNKNOWN', to: iso(sourceBackAt + settleMs) },
  ])
  expect((await historyOf(other, startedAt)).gaps).toMatchObject([
    { state: 'UNKNOWN', to: iso(gatewayBackAt + settleMs) },
  ])
  // The gateway was away while the source was not, and returns after it.
  await leave(gateway.device)
  expect((await stateOf(device)).state).toBe('UNKNOWN')
  await gateway.device.connect()
  harness.clock.advance(settleMs - 1)
  expect((await stateOf(device)).state).toBe('UNKNOWN')
  harness.clock.advance(1)
  expect((await stateOf(device)).state).toBe('OFFLINE')
})

test('the end and the return of a source are status events of its devices and its gateway', async () => {
  const device = await newDevice()
  await leave(device)
  const reader = await follow(org.client, { types: 'status' })
  const about = (id: string) => (event: object) => 'endpointId' in event && event.endpointId === id
  await gateway.reportSource(source, 'FAILING')
  await reader.next('status', about(gateway.id))
  await reader.next('status', about(device.id))
  await gateway.reportSource(source, 'CONNECTED')
  await reader.next('status', about(device.id))
  // A person who changes the key makes the gateway connect anew.
  await org.call('PUT', `/sources/${source}`, { body: { key: 'another horse' } })
  await reader.next('status', about(device.id))
  expect((await stateOf(device)).state).toBe('UNKNOWN')
})

test('a report of an earlier revision, of an unknown source or of another gateway changes nothing [contract 15.reports]', async () => {
  const device = await newDevice()
  const leftAt = await leave(device)
  harness.clock.advance(hourMs)
  await org.call('PUT', `/sources/${source}`, { body: { name: 'Pulse' } })
  const stale = { id: source, revision: 1, state: 'FAILING' }
  const unknown = { id: crypto.randomUUID(), revision: 1, state: 'FAILING' }
  await gateway.device.publish('sources', { sources: [stale, unknown] })
  const stranger = await startGateway(harness, org, { roomId: room })
  await stranger.device.publish('sources', { sources: [{ ...stale, revision: 2 }] })
  const path = `${devicePaths.gatewaySources}/${source}/devices`
  const report = { revision: 2, devices: [{ key: 'foreign', model: 'NF19B1' }] }
  expect((await stranger.call('POST', path, report)).status).toBe(404)
  expect((await gateway.call('POST', path, { ...report, revision: 1 })).status).toBe(200)
  expect((await org.call('GET', `/sources/${source}/devices?key=foreign`)).body).toEqual({ devices: [] })
  expect((await org.call('GET', `/sources/${source}`)).body).toMatchObject({ state: 'CONNECTED', name: 'Pulse' })
  expect(await stateOf(device)).toEqual({ state: 'OFFLINE', since: iso(leftAt) })
})

test('absences are deleted when rollups of their time are', async () => {
  await gateway.reportSource(source, 'UNREACHABLE', { reason: 'No answer.' })
  harness.clock.advance(minuteMs)
  await gateway.reportSource(source, 'CONNECTED')
  const { services } = harness
  const absences = services.db.system.kysely
    .selectFrom('source_absences')
    .select('until')
    .where('source_id', '=', source)
  await deleteOldSpans(services)
  expect(await absences.execute()).not.toEqual([])
  harness.clock.advance(services.settings.rollupRetentionSeconds * 1000 + minuteMs)
  await deleteOldSpans(services)
  expect(await absences.execute()).toEqual([])
})

test.each([
  ['the source', () => org.call('DELETE', `/sources/${source}`)],
  ['its gateway', () => org.call('DELETE', `/endpoints/${gateway.id}?items=true`)],
  ['the room of its gateway', () => org.call('DELETE', `/rooms/${room + 1}`)],
])('absences stay after %s is deleted, until rollups of their time are [contract 10.past]', async (_, remove) => {
  const { services } = harness
  await newSource()
  const madeAt = now
  await gateway.reportSource(source, 'UNREACHABLE', { reason: 'No answer.' })
  harness.clock.advance(minuteMs)
  await gateway.reportSource(source, 'CONNECTED')
  harness.clock.advance(minuteMs)
  await gateway.reportSource(source, 'UNREACHABLE', { reason: 'No answer.' })
  const read = () =>
    listAbsencesOfSources(services.db.forOrg(org.org.key), { sources: [source], from: madeAt + minuteMs })
  const absence = { source_id: source, deleted_at: null }
  const lasting = { ...absence, since: madeAt + 2 * minuteMs, until: null }
  expect(await read()).toEqual([{ ...absence, since: madeAt, until: madeAt + minuteMs }, lasting])
  harness.clock.advance(minuteMs)
  expect((await remove()).status).toBe(200)
  const deleted_at = madeAt + 3 * minuteMs
  expect(await read()).toEqual([
    { ...absence, since: madeAt, until: madeAt + minuteMs, deleted_at },
    { ...lasting, until: deleted_at, deleted_at },
  ])
  harness.clock.advance(services.settings.rollupRetentionSeconds * 1000 - 90 * secondMs)
  await deleteOldSpans(services)
  expect(await read()).toMatchObject([{ until: deleted_at }])
  harness.clock.advance(2 * minuteMs)
  await deleteOldSpans(services)
  expect(await read()).toEqual([])
})

test('the latest reason is shown, and the state goes on since the first one', async () => {
  await gateway.reportSource(source, 'UNREACHABLE', { reason: 'No answer.' })
  const shown = async () => (await org.call('GET', `/sources/${source}`)).body
  const { since } = await shown()
  harness.clock.advance(minuteMs)
  await gateway.reportSource(source, 'UNREACHABLE', { reason: 'The connection was refused.' })
  expect(await shown()).toMatchObject({ state: 'UNREACHABLE', reason: 'The connection was refused.', since })
})
