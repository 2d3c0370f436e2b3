// One of everything in an organisation, and for every operation a call that succeeds there.
import { gzipSync } from 'node:zlib'
import { type CallInput, pathOf } from '../../src/client/client.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { type OperationId, operations } from '../../src/contract/operations.ts'
import type { Clock } from '../../src/server/core/clock.ts'
import { uploadUrl } from '../../src/server/resources/bug-reports/upload.ts'
import { markConnected } from '../../src/server/resources/endpoints/presence.ts'
import { SampleIntake } from '../../src/server/resources/sensors/ingest/intake.ts'
import { LatestSamples } from '../../src/server/resources/sensors/latest/cache.ts'
import { Horizon } from '../../src/server/resources/sensors/rollups/horizon.ts'
import { storedConnection } from './devices/stored-connection.ts'
import { enrolDevice } from './devices/test-device.ts'
import type { Call, Harness, Reply, TestOrg } from './harness.ts'
import { newPerson, sessionHeaders, type TestPerson } from './person.ts'

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
  /** An owner with a personal key, for operations that need a person. */
  readonly person: TestPerson
  readonly clock: Clock
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
  const person = await newPerson(harness, org, { role: 'owner' })
  const { clock } = harness.services
  return { ...org, region, emptyRegion, location, room, note, profile, user, keyId, person, clock, ...devices }
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
  const { answer, serial } = await enrolDevice(harness, org, { roomId })
  const { endpointId: endpoint, credential } = answer
  const { services } = harness
  await markConnected(services, await storedConnection(services, endpoint, credential))
  const now = Math.floor(services.clock.now() / 1000)
  const samples = Array.from({ length: sampleCount }, (_, i) => ({ timestamp: now - i * 60, people: 3 }))
  await new SampleIntake(services, new LatestSamples(services), new Horizon()).receive(
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

/** An operation without a line here does not compile: that is how the walk covers all of them. */
export const calls: { readonly [K in OperationId]: (f: Fixture) => CallInput<K> } = {
  auditLogs: () => ({ from: 0, to: Date.UTC(2100, 0) }),
  endpointsBasicList: (f) => ({ regionId: f.region, locationId: f.location }),
  endpointsGet: (f) => ({ id: f.endpoint }),
  endpointsDelete: (f) => ({ id: f.endpoint }),
  endpointsMoveRoom: (f) => ({ body: { endpointIds: [f.endpoint], roomId: f.room } }),
  endpointsAssignProfile: (f) => ({ id: f.endpoint, body: { profileId: f.profile } }),
  endpointsSettings: (f) => ({ id: f.endpoint }),
  endpointsApplyConfig: (f) => ({ id: f.endpoint, body: { nightMode: true } }),
  configVersionsList: (f) => ({ id: f.endpoint }),
  configVersionsGet: (f) => ({ id: f.endpoint, n: 1 }),
  configVersionsRestore: (f) => ({ id: f.endpoint, n: 1 }),
  configStateGet: (f) => ({ id: f.endpoint }),
  endpointsReboot: (f) => ({ id: f.endpoint }),
  endpointsSendMessage: (f) => ({ body: { message: 'Hello.', endpointIds: [f.endpoint] } }),
  roomsSendMessage: (f) => ({ body: { message: 'Hello.', roomIds: [f.room] } }),
  endpointsOperationsList: (f) => ({ id: f.endpoint }),
  operationsGet: (f) => ({ id: f.operation }),
  operationsCancel: (f) => ({ id: f.operation }),
  endpointsGenerateBugReport: (f) => ({ uploadInCallLogs: true, body: [f.endpoint] }),
  bugReportsGet: (f) => ({ supportId: f.supportId }),
  bugReportsFileGet: (f) => ({ supportId: f.supportId, name: `${f.endpoint}.log.gz` }),
  endpointsSensorData: (f) => ({ id: f.endpoint }),
  endpointsBulkSensorData: (f) => ({ regionId: f.region, locationId: f.location }),
  roomsSensorData: (f) => ({ id: f.room }),
  roomsBulkSensorData: (f) => ({ regionId: f.region, locationId: f.location }),
  endpointsSensorHistory: (f) => ({ id: f.endpoint, from: 0 }),
  roomsSensorHistory: (f) => ({ id: f.room, from: 0, interval: 'raw' }),
  eventsStream: (f) => ({ types: 'sample,structure', roomId: f.room }),
  regionsList: () => ({}),
  regionsCreate: () => ({ body: { name: 'Africa' } }),
  regionsUpdate: (f) => ({ id: f.region, body: { name: 'EMEA' } }),
  regionsDelete: (f) => ({ id: f.emptyRegion }),
  locationsList: () => ({}),
  locationsCreate: (f) => ({ body: { name: 'Bergen', regionId: f.region } }),
  locationsUpdate: (f) => ({ id: f.location, body: { name: 'Oslo' } }),
  locationsDelete: (f) => ({ id: f.location }),
  roomsList: (f) => ({ regionId: f.region, locationId: f.location }),
  roomsGet: (f) => ({ id: f.room }),
  roomsCreate: (f) => ({ body: { name: 'Skog', locationId: f.location } }),
  roomsUpdate: (f) => ({ id: f.room, body: { name: 'Fjell', locationId: f.location } }),
  roomsDelete: (f) => ({ id: f.room }),
  roomsRegenerateDec: (f) => ({ id: f.room }),
  roomsEnrolmentGet: (f) => ({ id: f.room }),
  roomsAssignProfile: (f) => ({ id: f.room, body: { profileId: f.profile } }),
  roomNotesCreate: (f) => ({ roomId: f.room, body: { note: 'Done.' } }),
  roomNotesListAll: () => ({}),
  roomNotesList: (f) => ({ roomId: f.room }),
  roomNotesGet: (f) => ({ roomId: f.room, noteId: f.note }),
  roomNotesDelete: (f) => ({ roomId: f.room, noteId: f.note }),
  profilesList: () => ({}),
  profilesGet: (f) => ({ id: f.profile }),
  profilesCreate: () => ({ body: { name: 'Loud', config: { brightness: 0.8 } } }),
  profilesUpdate: (f) => ({ id: f.profile, body: { name: 'Quieter', config: {} } }),
  profilesDelete: (f) => ({ id: f.profile }),
  usersList: () => ({}),
  usersGet: (f) => ({ id: f.user }),
  usersCreate: () => ({ body: { email: 'new@example.org', role: 'admin', regionIds: [] } }),
  usersUpdate: (f) => ({ id: f.user, body: { role: 'owner' } }),
  usersDelete: (f) => ({ id: f.user }),
  keysList: () => ({}),
  keysCreate: () => ({ body: { name: 'Another', scopes: ['read'] } }),
  keysDelete: (f) => ({ id: f.keyId }),
  usersInvite: (f) => ({ id: f.user }),
  usersUnlink: (f) => ({ id: f.user }),
  userSessionsList: (f) => ({ id: f.person.id }),
  userSessionsDelete: (f) => ({ id: f.user }),
  meGet: () => ({}),
  myKeysList: () => ({}),
  myKeysCreate: (f) => ({
    body: { name: 'Laptop', scopes: ['read'], expiresAt: new Date(f.clock.now() + 86_400_000).toISOString() },
  }),
  myKeysDelete: (f) => ({ id: f.person.keyId }),
  identityGet: () => ({}),
  identityUpdate: () => ({ body: { passkeys: true } }),
  identityTest: () => ({}),
}

/** Path below `/v1` for an operation, with parameters that succeed unless others are given. */
export function pathFor(f: Fixture, id: OperationId, org = f.id, other: Record<string, unknown> = {}): string {
  const input = calls[id](f) as Record<string, unknown>
  const escaped = Object.fromEntries(Object.entries({ ...input, ...other }))
  return pathOf(operations[id], org, escaped)
}

/** Makes the call of an operation; `call` may replace its key, body and headers. */
export function perform(
  harness: Harness,
  f: Fixture,
  id: OperationId,
  call: Call & { path?: string; base?: string } = {},
): Promise<Reply> {
  const { body } = calls[id](f) as { body?: unknown }
  const { path = pathFor(f, id), base = '', headers, ...rest } = call
  const own: Pick<Call, 'key' | 'headers'> = 'key' in call ? {} : credentialsFor(harness, f, id)
  return harness.call(operations[id].method, base + path, {
    ...own,
    ...(body !== undefined && { body }),
    ...rest,
    headers: { ...own.headers, ...headers },
  })
}

/** The credentials with which an operation succeeds: some are for people only, with a session of their own. */
export function credentialsFor(harness: Harness, f: Fixture, id: OperationId): Pick<Call, 'key' | 'headers'> {
  const operation: Operation = operations[id]
  return operation.person ? { key: false, headers: sessionHeaders(harness, f.person) } : { key: f.key }
}
