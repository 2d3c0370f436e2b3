import { type CallInput, pathOf } from '../../../src/client/client.ts'
import { dayMs } from '../../../src/contract/durations.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { type OperationId, operations } from '../../../src/contract/operations.ts'
import { closedUrl, type Fixture, sourceDeviceKey } from '../fixture.ts'
import type { Call, Harness, Reply } from '../harness.ts'
import { sessionHeaders } from '../person.ts'

const jobOf = (f: Fixture) => ({
  name: 'Night mode',
  target: { roomIds: [f.room] },
  action: { type: 'MESSAGE' as const, message: 'Hello.' },
})

const reportWindow = { from: Date.UTC(2026, 9), to: Date.UTC(2026, 10) }
/** The incident of the fixture opens while the tests run. */
const incidentWindow = { from: Date.now() - 30 * dayMs, to: Date.now() + 30 * dayMs }

/** An operation without a line here does not compile: that is how the walk covers all of them. */
export const calls: { readonly [K in OperationId]: (f: Fixture) => CallInput<K> } = {
  auditLogs: () => ({ from: 0, to: Date.UTC(2100, 0) }),
  endpointsBasicList: (f) => ({ regionId: f.region, locationId: f.location }),
  endpointsGet: (f) => ({ id: f.endpoint }),
  endpointsUpdate: (f) => ({
    id: f.endpoint,
    body: { name: 'Bar at the window', note: 'The key is at the reception.', fields: { wall: 'B2' } },
  }),
  endpointsDelete: (f) => ({ id: f.endpoint, items: true }),
  endpointsMoveRoom: (f) => ({ body: { endpointIds: [f.endpoint], roomId: f.room } }),
  endpointsAssignProfile: (f) => ({ id: f.endpoint, body: { profileId: f.profile } }),
  endpointsSettings: (f) => ({ id: f.endpoint }),
  endpointsApplyConfig: (f) => ({ id: f.endpoint, body: { nightMode: true } }),
  configVersionsList: (f) => ({ id: f.endpoint }),
  configVersionsGet: (f) => ({ id: f.endpoint, n: 1 }),
  configVersionsRestore: (f) => ({ id: f.endpoint, n: 1 }),
  configStateGet: (f) => ({ id: f.endpoint }),
  endpointsReboot: (f) => ({ id: f.endpoint }),
  endpointsPower: (f) => ({ id: f.endpoint, body: { on: false } }),
  endpointsSendMessage: (f) => ({ body: { message: 'Hello.', endpointIds: [f.endpoint] } }),
  roomsSendMessage: (f) => ({ body: { message: 'Hello.', roomIds: [f.room] } }),
  endpointsOperationsList: (f) => ({ id: f.endpoint }),
  operationsList: () => ({}),
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
  roomsSensorHistoryAll: () => ({ from: Date.UTC(2026, 0), to: Date.UTC(2026, 6), interval: '1d' }),
  metricsGet: (f) => ({ regionId: f.region, locationId: f.location }),
  eventsStream: (f) => ({ types: 'sample,structure', roomId: f.room }),
  regionsList: () => ({}),
  regionsGet: (f) => ({ id: f.region }),
  regionsCreate: () => ({ body: { name: 'Africa' } }),
  regionsUpdate: (f) => ({ id: f.region, body: { name: 'EMEA' } }),
  regionsDelete: (f) => ({ id: f.emptyRegion }),
  locationsList: () => ({}),
  locationsGet: (f) => ({ id: f.location }),
  locationsCreate: (f) => ({ body: { name: 'Bergen', regionId: f.region } }),
  locationsUpdate: (f) => ({ id: f.location, body: { name: 'Oslo' } }),
  locationsDelete: (f) => ({ id: f.location }),
  roomsList: (f) => ({ regionId: f.region, locationId: f.location }),
  roomsGet: (f) => ({ id: f.room }),
  roomsCreate: (f) => ({ body: { name: 'Skog', locationId: f.location } }),
  roomsUpdate: (f) => ({ id: f.room, body: { name: 'Fjell', locationId: f.location, fields: { wall: 'B2' } } }),
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
  meUpdate: () => ({ body: { name: 'Ada' } }),
  myKeysList: () => ({}),
  myKeysCreate: (f) => ({
    body: { name: 'Laptop', scopes: ['read'], expiresAt: new Date(f.clock.now() + 86_400_000).toISOString() },
  }),
  myKeysDelete: (f) => ({ id: f.person.keyId }),
  orgsGet: () => ({}),
  orgsUpdate: () => ({ body: { airLimits: { co2: { max: 800 } } } }),
  viewsList: () => ({}),
  viewsCreate: () => ({ body: { name: 'Offline', page: 'rooms', query: 'state=OFFLINE' } }),
  viewsUpdate: (f) => ({ id: f.view, body: { name: 'Offline today' } }),
  viewsDelete: (f) => ({ id: f.view }),
  identityGet: () => ({}),
  identityUpdate: () => ({ body: { passkeys: true } }),
  identityTest: () => ({}),
  endpointsConnections: (f) => ({ id: f.endpoint, from: 0 }),
  roomsConnections: (f) => ({ id: f.room, from: 0 }),
  incidentsList: () => ({ state: 'all' }),
  incidentsGet: (f) => ({ id: f.incident }),
  incidentsAcknowledge: (f) => ({ id: f.incident, body: { note: 'On my way.' } }),
  incidentsResolve: (f) => ({ id: f.incident, body: { note: 'The room is being rebuilt.' } }),
  incidentsComment: (f) => ({ id: f.incident, body: { text: 'The switch is being replaced.' } }),
  incidentsAssign: (f) => ({ id: f.incident, body: { userId: f.user } }),
  incidentsSnooze: (f) => ({ id: f.incident, body: { until: 'cleared' } }),
  incidentRulesList: () => ({}),
  incidentRulesUpdate: () => ({ rule: 'storage.low', body: { severity: 'INFO' } }),
  silencesList: () => ({}),
  silencesCreate: (f) => ({
    body: { place: { roomId: f.room }, reason: 'Painting.', to: new Date(f.clock.now() + 3_600_000).toISOString() },
  }),
  silencesDelete: (f) => ({ id: f.silence }),
  channelsList: () => ({}),
  channelsGet: (f) => ({ id: f.channel }),
  channelsCreate: () => ({ body: { name: 'Operations', kind: 'webhook', url: closedUrl } }),
  channelsUpdate: (f) => ({ id: f.channel, body: { minSeverity: 'CRITICAL' } }),
  channelsDelete: (f) => ({ id: f.channel }),
  channelsTest: (f) => ({ id: f.channel }),
  channelsRotateSecret: (f) => ({ id: f.channel, body: {} }),
  deliveriesList: (f) => ({ id: f.channel }),
  deliveriesReplay: (f) => ({ id: f.channel, body: { from: '2026-01-01T00:00:00Z' } }),
  profilesReach: (f) => ({ id: f.profile }),
  profileVersionsList: (f) => ({ id: f.profile }),
  profileVersionsGet: (f) => ({ id: f.profile, n: 1 }),
  profilesRestore: (f) => ({ id: f.profile, n: 1 }),
  jobsPlan: (f) => ({ body: jobOf(f) }),
  jobsCreate: (f) => ({ body: jobOf(f) }),
  jobsList: () => ({}),
  jobsGet: (f) => ({ id: f.jobs.draft }),
  jobsRoomsList: (f) => ({ id: f.jobs.draft }),
  jobsStart: (f) => ({ id: f.jobs.draft }),
  jobsPause: (f) => ({ id: f.jobs.running }),
  jobsResume: (f) => ({ id: f.jobs.paused }),
  jobsCancel: (f) => ({ id: f.jobs.draft, body: {} }),
  jobsRollBack: (f) => ({ id: f.jobs.succeeded, body: {} }),
  jobsRetry: (f) => ({ id: f.jobs.failed }),
  recurringJobsList: () => ({}),
  recurringJobsGet: (f) => ({ id: f.recurringJobs.active }),
  recurringJobsCreate: (f) => ({ body: { ...jobOf(f), schedule: { days: ['mon'], at: '03:00' } } }),
  recurringJobsUpdate: (f) => ({
    id: f.recurringJobs.active,
    body: { ...jobOf(f), schedule: { days: ['tue'], at: '04:00' } },
  }),
  recurringJobsPause: (f) => ({ id: f.recurringJobs.active }),
  recurringJobsResume: (f) => ({ id: f.recurringJobs.paused }),
  recurringJobsDelete: (f) => ({ id: f.recurringJobs.active }),
  driversList: () => ({}),
  gatewaysList: () => ({}),
  gatewayDevicesList: (f) => ({ id: f.gateway }),
  gatewayDevicesGet: (f) => ({ id: f.gateway, deviceId: f.gatewayDevice }),
  gatewayDevicesCreate: (f) => ({
    id: f.gateway,
    body: { driver: 'pjlink', host: '10.20.4.18', secret: 'JBMIAProjectorLink', roomId: f.room, name: 'Projector' },
  }),
  gatewayDevicesUpdate: (f) => ({
    id: f.gateway,
    deviceId: f.gatewayDevice,
    body: { host: '10.20.4.19', roomId: f.room },
  }),
  gatewayDevicesDelete: (f) => ({ id: f.gateway, deviceId: f.gatewayDevice, unenrol: true }),
  gatewayDevicesRetry: (f) => ({ id: f.gateway, deviceId: f.gatewayDevice }),
  gatewayDevicesTest: (f) => ({
    id: f.gateway,
    body: { driver: 'reach', host: '10.20.4.18', options: { check: 'tcp' } },
  }),
  sourcesList: () => ({}),
  sourcesGet: (f) => ({ id: f.source }),
  sourcesCreate: (f) => ({
    body: { type: 'mqtt', gatewayId: f.gateway, url: 'mqtts://broker.example.org', username: 'ada', secret: 'horse' },
  }),
  sourcesUpdate: (f) => ({ id: f.source, body: { write: true } }),
  sourcesDelete: (f) => ({ id: f.source, unenrol: true }),
  sourcesTest: (f) => ({ body: { type: 'neat-pulse', gatewayId: f.gateway, orgId: 'aBcD123', key: 'correct horse' } }),
  sourcesStructure: (f) => ({ id: f.source }),
  sourcesLink: (f) => ({ id: f.source, body: { links: [{ kind: 'room', theirId: '12', linkedId: f.room }] } }),
  sourceDevicesList: (f) => ({ id: f.source, state: 'FOUND' }),
  sourceDevicesUpdate: (f) => ({
    id: f.source,
    body: { devices: [{ key: sourceDeviceKey, state: 'ADOPTED', roomId: f.room }] },
  }),
  reportsAir: (f) => ({ ...reportWindow, regionId: f.region, locationId: f.location }),
  reportsAvailability: (f) => ({ ...reportWindow, roomId: f.room, exclude: 'silenced,short', ignoreUnderMinutes: 10 }),
  reportsIncidents: () => ({ ...incidentWindow, groupBy: 'rule' }),
  reportsLastDay: () => ({}),
  reportsMonth: (f) => ({ month: '2026-10', regionId: f.region, locationId: f.location }),
  reportsUse: (f) => ({ ...reportWindow, regionId: f.region, locationId: f.location }),
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
