// Tests each type of event as real devices and callers cause it, and which readers receive it. [contract 6.events]

import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { makeClient } from '../../src/client/client.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { type OperationId, operationIds, operations } from '../../src/contract/operations.ts'
import { timeLimits } from '../../src/server/core/time-limits.ts'
import { perform } from '../support/contract/calls.ts'
import { SharedFixture } from '../support/contract/shared-fixture.ts'
import { auditTarget } from '../support/devices/audited-endpoint.ts'
import { newDevice } from '../support/devices/test-device.ts'
import { follow } from '../support/event-follower.ts'
import { freePort } from '../support/free-port.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { until } from '../support/program.ts'

let harness: Harness
let changing: SharedFixture
beforeAll(async () => {
  // Without a public address the sign-in at a provider cannot be tested.
  const port = await freePort()
  harness = await startHarness(
    { port, publicUrl: `http://127.0.0.1:${port}` },
    { limits: { ...timeLimits, gatewayTestMs: 2_000 } },
  )
  changing = new SharedFixture(harness)
})
afterAll(() => harness.close())

/** Two rooms in two locations of two regions. */
async function site() {
  const org = await harness.newOrg()
  const make = async (path: string, body: unknown) => (await org.call('POST', path, { body })).body.id as number
  const [north, south] = [await make('/regions', { name: 'North' }), await make('/regions', { name: 'South' })]
  const oslo = await make('/locations', { name: 'Oslo', regionId: north })
  const rome = await make('/locations', { name: 'Rome', regionId: south })
  const fjord = await make('/rooms', { name: 'Fjord', locationId: oslo })
  const forum = await make('/rooms', { name: 'Forum', locationId: rome })
  const device = async (roomId: number, offline = false) => {
    const made = await newDevice(harness, org, { roomId, offline })
    onTestFinished(() => made.close())
    return made
  }
  return { org, north, south, oslo, rome, fjord, forum, device }
}
const now = () => Math.floor(harness.clock.now() / 1000)
const put = (org: TestOrg, path: string, body: unknown) => org.call('PUT', path, { body })

test('a device that comes, reports, measures and goes is heard, with its room', async () => {
  const { org, fjord, device } = await site()
  const d = await device(fjord, true)
  const reader = await follow(org.client)
  await d.connect()
  const about = { roomIds: [fjord], endpointId: d.id }
  expect(await reader.next('connected')).toEqual({
    ...{ type: 'connected', at: expect.any(String), ...about },
    presence: { state: 'ONLINE', since: expect.any(String) },
  })

  await d.publish('status', { freeSystemStorage: '1000' })
  expect(await reader.next('status')).toEqual({ type: 'status', at: expect.any(String), ...about })

  await d.publish('sample', { samples: [{ timestamp: now() - 5, people: 3, co2: 600 }] })
  const heard = await reader.next('sample')
  const { data, measured } = (await org.call('GET', `/endpoints/${d.id}/sensor`)).body.endpointData
  const [read] = data
  expect(heard).toEqual({ type: 'sample', at: expect.any(String), ...about, sample: read, measured })
  expect(measured).toEqual(['co2', 'people'])
  expect(read.people).toBe(3)

  await d.close()
  const presence = { state: 'OFFLINE', since: expect.any(String) }
  expect(await reader.next('disconnected')).toMatchObject({ ...about, presence })
  expect(reader.events.map((e) => e.type)).toEqual(['connected', 'status', 'sample', 'disconnected'])
})

test('a status that says nothing new is not heard', async () => {
  const { org, fjord, device } = await site()
  const d = await device(fjord)
  await d.publish('status', { freeSystemStorage: '1000' })
  const reader = await follow(org.client, { types: 'status,sample' })
  await d.publish('status', { freeSystemStorage: '1000' })
  await d.publish('sample', { samples: [{ timestamp: now(), people: 1 }] })
  await reader.next('sample')
  expect(reader.of('status')).toEqual([])
  await d.publish('status', { freeSystemStorage: '2000' })
  await reader.next('status')
})

test('a sample event says what was measured under /v1, and not under the legacy base [contract 5.2.measured]', async () => {
  const { org, fjord, device } = await site()
  const d = await device(fjord)
  const legacyClient = makeClient({ baseUrl: `${harness.url}/api`, org: org.id, token: org.key })
  const [reader, legacyReader] = [await follow(org.client), await follow(legacyClient)]
  await d.publish('sample', { samples: [{ timestamp: now(), people: 0, temp: 21 }] })
  const { measured, ...rest } = await reader.next('sample')
  expect(measured).toEqual(['people', 'temp'])
  expect(await legacyReader.next('sample')).toEqual(rest)
  expect(legacyReader.received.at(-1)?.id).toBe(reader.received.at(-1)?.id)
})

test('a sample that came late or twice is history, not an event; of a message only the newest is heard', async () => {
  const { org, fjord, device } = await site()
  const d = await device(fjord)
  const at = now()
  await d.publish('sample', { samples: [{ timestamp: at - 60, people: 1 }] })
  const reader = await follow(org.client, { types: 'sample,status' })
  await d.publish('sample', { samples: [{ timestamp: at - 90, people: 9 }] })
  await d.publish('status', { freeSystemStorage: '1' })
  await reader.next('status')
  await d.publish('sample', { samples: [{ timestamp: at - 60, people: 1 }] })
  await d.publish('status', { freeSystemStorage: '2' })
  await reader.next('status')
  expect(reader.of('sample')).toEqual([])
  await d.publish('sample', {
    samples: [
      { timestamp: at - 20, people: 2 },
      { timestamp: at - 10, people: 3 },
      { timestamp: at - 70, people: 8 },
    ],
  })
  expect((await reader.next('sample')).sample).toMatchObject({ timestamp: String(at - 10), people: 3 })
  await d.publish('sample', { samples: [{ timestamp: at, people: 4 }] })
  await reader.next('sample', (e) => e.sample?.people === 4)
  expect(reader.of('sample').map((e) => e.sample?.people)).toEqual([3, 4])
})

test('an operation is heard in each of its states, as the API shows it [contract 5.4.operation]', async () => {
  const { org, fjord, device } = await site()
  const d = await device(fjord)
  const reader = await follow(org.client, { types: 'operation' })
  const [asked] = (await org.client.endpointsSendMessage({ body: { message: 'Hi.', endpointIds: [d.id] } })).body
    .operations
  const { id } = await d.next('operation')
  await d.publish('operation', { id, state: 'ACKNOWLEDGED' })
  await d.publish('operation', { id, state: 'ACKNOWLEDGED' })
  await d.publish('operation', { id, state: 'FAILED', error: 'no screen' })
  const last = await reader.next('operation', (e) => e.operation?.state === 'FAILED')
  expect(last).toMatchObject({ roomIds: [fjord], endpointId: d.id })
  expect(last.operation).toEqual((await org.client.operationsGet({ id })).body)
  expect(reader.events.map((e) => e.operation?.state)).toEqual(['QUEUED', 'SENT', 'ACKNOWLEDGED', 'FAILED'])
  expect(reader.events[0]?.operation).toEqual(asked)
})

test('operations that are cancelled, expire, or end with their endpoint are heard too', async () => {
  const { org, fjord, device } = await site()
  const d = await device(fjord, true)
  const reader = await follow(org.client, { types: 'operation', roomId: fjord })
  const send = async () =>
    (await org.client.endpointsSendMessage({ body: { message: 'Hi.', endpointIds: [d.id] } })).body.operations[0]?.id ??
    ''
  const cancelled = await send()
  await org.client.operationsCancel({ id: cancelled })
  await reader.next('operation', (e) => e.operation?.state === 'CANCELLED' && e.operation.id === cancelled)
  const expired = await send()
  harness.clock.advance(5 * 60_000)
  const end = await reader.next('operation', (e) => e.operation?.state === 'EXPIRED')
  expect(end.operation).toEqual((await org.client.operationsGet({ id: expired })).body)
  const orphan = await send()
  await org.client.endpointsDelete({ id: d.id })
  const gone = await reader.next('operation', (e) => e.operation?.state === 'CANCELLED')
  expect(gone).toMatchObject({ roomIds: [fjord], operation: { id: orphan } })
})

test('logs that are asked for and uploaded are an operation like any other', async () => {
  const { org, fjord, device } = await site()
  const d = await device(fjord)
  const reader = await follow(org.client, { types: 'operation' })
  await org.client.endpointsGenerateBugReport({ body: [d.id] })
  const { logs } = await d.next('operation')
  const headers = { authorization: `Basic ${btoa(`${d.id}:${d.credential}`)}`, 'content-type': 'application/gzip' }
  const uploaded = await fetch(logs.uploadUrl, { method: 'PUT', headers, body: gzipSync('all is well') })
  expect(uploaded.status).toBe(200)
  await until('three events', () => reader.events.length === 3)
  // The upload may have gone to another node than the device's, so its event may come first.
  const inOrder = reader.events.toSorted((a, b) => (`${a.operation?.updatedAt}` < `${b.operation?.updatedAt}` ? -1 : 1))
  expect(inOrder.map((e) => `${e.operation?.type} ${e.operation?.state}`)).toEqual([
    'COLLECT_LOGS QUEUED',
    'COLLECT_LOGS SENT',
    'COLLECT_LOGS SUCCEEDED',
  ])
})

test('a config is heard when it is new, when the device has it, and when the device refuses a key', async () => {
  const { org, fjord, device } = await site()
  const d = await device(fjord)
  const reader = await follow(org.client, { types: 'config' })
  for (const rejected of [undefined, { brightness: 'too bright' }]) {
    await org.client.endpointsApplyConfig({ id: d.id, body: { brightness: rejected ? 0.9 : 0.5 } })
    const { version, config } = await d.next('config')
    await d.publish('config', { version, config, ...(rejected && { rejected }) })
  }
  await reader.next('config', (e) => e.config?.state === 'FAILED')
  expect(reader.events.map((e) => e.config)).toEqual([
    { version: 1, state: 'PENDING' },
    { version: 1, state: 'DELIVERED' },
    { version: 2, state: 'PENDING' },
    { version: 2, state: 'FAILED' },
  ])
  expect(reader.events[0]).toMatchObject({ roomIds: [fjord], endpointId: d.id })
})

test('a setting that is changed at the device is one event, as its status', async () => {
  const { org, fjord, device } = await site()
  const d = await device(fjord)
  const reader = await follow(org.client, { types: 'status' })
  await d.publish('config', { version: 0, config: { brightness: 0.5 } })
  await reader.next('status', (e) => e.endpointId === d.id)
  await d.publish('config', { version: 0, config: { brightness: 0.5 } })
  await d.publish('config', { version: 0, config: { brightness: 0.6 } })
  await reader.next('status', () => reader.events.length >= 2)
  await d.publish('status', { firmwareVersion: 'NFB1.9' })
  await reader.next('status', () => reader.events.length >= 3)
  expect(reader.events).toHaveLength(3)
})

test('a profile that changes makes a config event for each of its endpoints', async () => {
  const { org, fjord, forum, device } = await site()
  const devices = [await device(fjord, true), await device(fjord, true), await device(forum, true)]
  const { id } = (await org.client.profilesCreate({ body: { name: 'Quiet', config: { nightMode: true } } })).body
    .profile
  const reader = await follow(org.client, { types: 'config' })
  await org.client.roomsAssignProfile({ id: fjord, body: { profileId: id } })
  await org.client.roomsAssignProfile({ id: forum, body: { profileId: id } })
  await org.client.profilesUpdate({ id, body: { name: 'Quiet', config: { nightMode: false } } })
  const isLast = () => reader.events.length === 6
  await reader.next('config', isLast)
  const heard = new Set(reader.events.slice(3).map((e) => `${e.endpointId} ${e.roomIds} ${e.config?.version}`))
  expect(heard).toEqual(new Set(devices.map((d, i) => `${d.id} ${i < 2 ? fjord : forum} 2`)))
})

const audited = operationIds.filter((id) => {
  const { method, audit } = operations[id] as Operation
  return method !== 'GET' && audit !== undefined
})
test.each(audited)('%s is heard as the entry that it makes, without its details', async (id: OperationId) => {
  const { f, reader, reply } = await changing.succeed(id, async (fixture) => {
    const reader = await follow(fixture.client, { types: 'structure' })
    return { reader, reply: await perform(harness, fixture, id) }
  })
  expect(reply.status).toBe(200)
  // A job of the fixture may end because of the change, which is an entry of the service itself.
  const isByService = (entry: { actor: { type: string } }) => entry.actor.type === 'SYSTEM'
  const entry = (await f.audit()).find((candidate) => !isByService(candidate))
  const { change, ...event } = await reader.next('structure', (e) => e.change?.id === entry.id)
  expect(change).toEqual({ id: entry.id, type: entry.type, target: entry.target })
  expect(event.at).toBe(entry.timestamp)
  const heard = [...reader.events]
  // The log is read after the events, so it has the entries of all of them.
  const byService = new Set((await f.audit()).filter(isByService).map(({ id }) => id))
  expect(heard.filter((e) => !byService.has(e.change?.id))).toHaveLength(1)
})

test('a device that enrols is heard, and so is what other actors do', async () => {
  const { org, fjord, device } = await site()
  const reader = await follow(org.client)
  const d = await device(fjord, true)
  const { change, roomIds } = await reader.next('structure')
  expect(roomIds).toEqual([fjord])
  expect(change).toMatchObject({ type: 'DEVICE_ENROLLED', target: auditTarget(d) })
})

test('a place is told of what is in it, also of what leaves it or is deleted', async () => {
  const s = await site()
  const { org, oslo, rome, fjord, forum } = s
  const d = await s.device(fjord, true)
  const inForum = await follow(org.client, { roomId: forum })
  const inOslo = await follow(org.client, { locationId: oslo })
  const inSouth = await follow(org.client, { regionId: s.south, types: 'structure' })
  const nowhere = await follow(org.client, { roomId: 77 })
  const both = await follow(org.client, { roomId: fjord, regionId: s.south })

  await org.client.roomsUpdate({ id: fjord, body: { name: 'Fjord 2', locationId: oslo } })
  await org.client.endpointsMoveRoom({ body: { endpointIds: [d.id], roomId: forum } })
  await put(org, `/locations/${oslo}`, { name: 'Oslo', regionId: s.south })
  await org.client.endpointsDelete({ id: d.id })
  await org.client.roomsDelete({ id: forum })
  await org.client.locationsDelete({ id: rome })
  await org.client.regionsUpdate({ id: s.north, body: { name: 'N' } })
  await org.client.roomsUpdate({ id: fjord, body: { name: 'Fjord 3', locationId: oslo } })
  await inSouth.next('structure', (e) => e.change?.target?.name === 'Fjord 3')
  await inOslo.next('structure', (e) => e.change?.target?.name === 'Fjord 3')

  const types = (reader: typeof inForum) => reader.events.map((e) => e.change?.type)
  expect(types(inForum)).toEqual(['DEVICE_MOVED', 'DEVICE_REMOVED', 'ROOM_DELETED'])
  expect(inForum.events[0]?.roomIds).toEqual([fjord, forum])
  expect(types(inOslo)).toEqual(['ROOM_UPDATED', 'DEVICE_MOVED', 'LOCATION_UPDATED', 'ROOM_UPDATED'])
  // Oslo was in the north when the first room was renamed, however soon it moved.
  expect(types(inSouth)).toEqual([
    'DEVICE_MOVED',
    'LOCATION_UPDATED',
    'DEVICE_REMOVED',
    'ROOM_DELETED',
    'LOCATION_DELETED',
    'ROOM_UPDATED',
  ])
  expect(types(both)).toEqual(['DEVICE_MOVED', 'ROOM_UPDATED'])
  expect(nowhere.events).toEqual([])
})

test('a change that is refused or rolled back makes no event', async () => {
  const { org, north } = await site()
  const reader = await follow(org.client)
  const stale = { body: { name: 'Old' }, headers: { 'if-match': '"99"' } }
  expect((await org.call('PUT', `/regions/${north}`, stale)).status).toBe(412)
  expect((await org.call('DELETE', `/regions/${north}`)).status).toBe(400)
  expect((await put(org, `/regions/${north}`, { name: 'New' })).status).toBe(200)
  await reader.next('structure')
  expect(reader.events.map((e) => e.change?.target?.name)).toEqual(['New'])
})

test('a change in another organisation makes no event here', async () => {
  const [mine, theirs] = [await site(), await site()]
  const reader = await follow(mine.org.client)
  const same = await follow(mine.org.client, { roomId: theirs.fjord })
  const d = await theirs.device(theirs.fjord)
  await d.publish('sample', { samples: [{ timestamp: now(), people: 1 }] })
  await put(theirs.org, `/regions/${theirs.north}`, { name: 'Theirs' })
  await put(mine.org, `/regions/${mine.north}`, { name: 'Mine' })
  await reader.next('structure')
  expect(reader.events.map((e) => e.change?.target?.name)).toEqual(['Mine'])
  expect(same.events).toEqual([])
})
