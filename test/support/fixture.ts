// One of everything in an organisation. contract/calls.ts has calls that succeed there.
import { gzipSync } from 'node:zlib'
import { deviceActions } from '../../src/contract/device/models.ts'
import { devicePaths, gatewaySupport } from '../../src/contract/device/protocol.ts'
import type { Clock } from '../../src/server/core/clock.ts'
import { uploadUrl } from '../../src/server/fleet/bug-reports/upload.ts'
import { markConnected, storeStatus } from '../../src/server/fleet/endpoints/presence.ts'
import { SampleIntake } from '../../src/server/sensors/ingest/intake.ts'
import { LatestSampleCache } from '../../src/server/sensors/latest/cache.ts'
import { Horizon } from '../../src/server/sensors/rollups/horizon.ts'
import { storedConnection } from './devices/stored-connection.ts'
import { enrolTestDevice } from './devices/test-device.ts'
import type { Harness, TestOrg } from './harness.ts'
import { newIncident } from './incidents.ts'
import { newJobs, weekdayIn } from './jobs.ts'
import { newPerson, type TestPerson } from './person.ts'

/** Nothing listens on this port, so an attempt to deliver there fails immediately, without a look-up. */
export const closedUrl = 'https://127.0.0.1:9/T02/B7'

export interface Fixture extends TestOrg {
  readonly region: number
  /** No location is assigned to this one. */
  readonly emptyRegion: number
  readonly location: number
  readonly room: number
  readonly note: string
  readonly profile: number
  readonly user: string
  readonly keyId: string
  /** In the room, connected as far as the database knows, config version 1 applied. */
  readonly endpoint: string
  /** Waits for the endpoint. */
  readonly operation: string
  /** With the logs of the endpoint. */
  readonly supportId: string
  /** The endpoint, which is a gateway too. */
  readonly gateway: string
  /** An item of the gateway. */
  readonly gatewayDevice: string
  /** A source that the gateway reads, with the device `sourceDeviceKey`, which is FOUND, and a structure with the room 12. */
  readonly source: string
  /** An owner with a personal key, for operations that need a person. */
  readonly person: TestPerson
  /** Open, about the endpoint. */
  readonly incident: string
  /** Silences the room for two hours. */
  readonly silence: string
  readonly channel: string
  /** Belongs to the key of the organisation. */
  readonly view: string
  readonly jobs: FixtureJobs
  /** Recurring jobs about the room, whose runs are not due soon. */
  readonly recurringJobs: { readonly active: string; readonly paused: string }
  readonly clock: Clock
}

/** Jobs about the endpoint, each in a state in which a step is possible. The engine leaves them alone, because the room is in use. */
export interface FixtureJobs {
  /** A draft whose start time is later, so that a start makes it SCHEDULED. */
  readonly draft: string
  readonly running: string
  readonly paused: string
  readonly failed: string
  /** Has set a config. */
  readonly succeeded: string
}

async function newFixtureJobs(harness: Harness, org: TestOrg, room: number, endpoint: string): Promise<FixtureJobs> {
  const about = { room, endpoint }
  // The jobs wait for a command of their own: they would fail if a test cancelled it.
  const message = { message: 'From a job.', endpointIds: [endpoint] }
  const operation = (await org.call('POST', '/endpoints/send_message', { body: message })).body.operations[0].id
  const startAt = harness.services.clock.now() + 3_600_000
  const [draft = '', running = '', paused = '', failed = '', succeeded = ''] = await newJobs(harness, org, [
    { ...about, state: 'DRAFT', startAt },
    { ...about, state: 'RUNNING', operation },
    { ...about, state: 'PAUSED', operation },
    { ...about, state: 'INCOMPLETE' },
    { ...about, state: 'SUCCEEDED', type: 'CONFIG' },
  ])
  return { draft, running, paused, failed, succeeded }
}

export async function newFixture(harness: Harness): Promise<Fixture> {
  const org = await harness.newOrg()
  const make = async (path: string, body: unknown) => (await org.call('POST', path, { body })).body
  const region = (await make('/regions', { name: 'Europe' })).id
  const emptyRegion = (await make('/regions', { name: 'Asia' })).id
  const location = (await make('/locations', { name: 'Oslo HQ', regionId: region })).id
  const room = (await make('/rooms', { name: 'Fjord', locationId: location })).id
  const note = (await make(`/rooms/${room}/notes`, { note: 'The cable is on order.' })).id
  const profile = (await make('/profiles', { name: 'Quiet', config: { nightMode: true } })).profile.id
  await make('/users', { email: 'owner@example.org', role: 'owner', regionIds: [] })
  const user = (await make('/users', { email: 'ada@example.org', role: 'admin', regionIds: [region] })).id
  const provider = { issuer: 'https://login.example.org', clientId: 'roomkeeper', clientSecret: 'A client secret' }
  await org.call('PUT', '/identity', { body: provider })
  const keyId = (await make('/keys', { name: 'Wall display', scopes: ['read'] })).id
  const devices = await newEndpoint(harness, org, room)
  const gatewayDevice = await newGatewayDevice(org, devices.endpoint, room)
  const source = await newSource(harness, org, devices)
  const person = await newPerson(harness, org, { role: 'owner' })
  const { clock } = harness.services
  const incident = await newIncident(harness, org, { endpoints: [devices.endpoint] })
  const to = new Date(clock.now() + 7_200_000).toISOString()
  const painting = { place: { roomId: room }, reason: 'Painting.', rules: ['air.beyond'], to }
  const silence = (await make('/silences', painting)).id
  // No operation sends this message, so no delivery changes rows while a test compares them.
  const events = ['incident.opened']
  const webhook = { name: 'Operations', kind: 'webhook', url: closedUrl, events }
  const channel = (await make('/channels', webhook)).id
  const view = (await make('/views', { name: 'Offline', page: 'rooms', query: 'state=OFFLINE' })).id
  const jobs = await newFixtureJobs(harness, org, room, devices.endpoint)
  const schedule = { days: [weekdayIn(harness, 4)], at: '03:00' }
  const weekly = { name: 'Every week', target: { roomIds: [room] }, action: { type: 'REBOOT' }, schedule }
  const active = (await make('/recurring_jobs', weekly)).id
  const paused = (await make('/recurring_jobs', weekly)).id
  await make(`/recurring_jobs/${paused}/pause`, undefined)
  return {
    ...org,
    recurringJobs: { active, paused },
    gateway: devices.endpoint,
    gatewayDevice,
    source,
    incident,
    silence,
    channel,
    view,
    jobs,
    region,
    emptyRegion,
    location,
    room,
    note,
    profile,
    user,
    keyId,
    person,
    clock,
    ...devices,
  }
}

/** An item of a gateway, with a secret. */
export async function newGatewayDevice(org: TestOrg, gateway: string, roomId: number): Promise<string> {
  const body = { driver: 'roomos', host: '10.20.4.17', username: 'roomkeeper', secret: 'correct horse', roomId }
  const created = await org.call('POST', `/gateways/${gateway}/devices`, { body })
  if (created.status !== 200) throw new Error(created.text)
  return created.body.id
}

export const sourceDeviceKey = 'b6a0c1de-7f9a-4f0d-9a38-5d2a9cf1c001'

/** A source with a key, of which its gateway has read everything. */
export async function newSource(
  harness: Harness,
  org: TestOrg,
  { endpoint: gatewayId, credential }: Pick<NewEndpoint, 'endpoint' | 'credential'>,
): Promise<string> {
  const body = { type: 'neat-pulse', gatewayId, orgId: 'aBcD123', key: 'correct horse' }
  const created = await org.call('POST', '/sources', { body })
  if (created.status !== 200) throw new Error(created.text)
  const { id } = created.body
  const headers = { authorization: `Basic ${btoa(`${gatewayId}:${credential}`)}` }
  const report = async (method: string, path: string, report: object) => {
    const answer = await harness.call(method, `${devicePaths.gatewaySources}/${id}/${path}`, {
      headers,
      body: { revision: 1, ...report },
    })
    if (answer.status !== 200) throw new Error(answer.text)
  }
  const device = { key: sourceDeviceKey, name: 'Fjord Bar', manufacturer: 'Neat', model: 'NF19B1', theirRoomId: '12' }
  await report('POST', 'devices', { devices: [device] })
  await report('PUT', 'structure', {
    readAt: '2026-05-04T08:15:30.000Z',
    isLast: true,
    regions: [{ id: '1', name: 'Nordics' }],
    locations: [{ id: '4', name: 'Oslo', regionId: '1' }],
    rooms: [{ id: '12', name: 'Fjord', locationId: '4' }],
    profiles: [],
  })
  return id
}

export interface NewEndpoint {
  readonly endpoint: string
  readonly serial: string
  readonly credential: string
  /** Waits for the endpoint. */
  readonly operation: string
  /** With the logs of the endpoint. */
  readonly supportId: string
}

/** Enrolled through the protocol; what only a connected device could do is done for it, because walks need thousands. */
export async function newEndpoint(
  harness: Harness,
  org: TestOrg,
  roomId: number,
  { sampleCount = 1 } = {},
): Promise<NewEndpoint> {
  const { answer, serial } = await enrolTestDevice(harness, org, { roomId })
  const { endpointId: endpoint, credential } = answer
  const { services } = harness
  await markConnected(services, await storedConnection(services, endpoint, credential))
  await storeStatus(services, await storedConnection(services, endpoint, credential), {
    actions: deviceActions,
    supports: [gatewaySupport],
  })
  const now = Math.floor(services.clock.now() / 1000)
  const samples = Array.from({ length: sampleCount }, (_, i) => ({ timestamp: now - i * 60, people: 3 }))
  await new SampleIntake(services, new LatestSampleCache(services), new Horizon()).receive(
    await storedConnection(services, endpoint, credential),
    { samples },
  )
  const write = async (path: string, body: unknown) => (await org.call('POST', path, { body })).body
  await write(`/endpoints/${endpoint}/config`, { brightness: 0.5 })
  await write(`/endpoints/${endpoint}/config`, { brightness: 0.6 })
  const { operations } = await write('/endpoints/send_message', { message: 'Hello.', endpointIds: [endpoint] })
  const { supportId } = await write('/endpoints/generate_bug_report', [endpoint])
  const logs = (await org.call('GET', `/endpoints/${endpoint}/operations`)).body.operations.find(
    (o: { type: string }) => o.type === 'COLLECT_LOGS',
  )
  const uploaded = await fetch(uploadUrl(services, org.org, logs.id), {
    method: 'PUT',
    headers: { authorization: `Basic ${btoa(`${endpoint}:${credential}`)}`, 'content-type': 'application/gzip' },
    body: gzipSync('all is well'),
  })
  if (uploaded.status !== 200) throw new Error(await uploaded.text())
  return { endpoint, serial, credential, operation: operations[0].id, supportId }
}
