// For every operation the calls that name a place, for the walk with places that the caller does not see.
import type { CallInput } from '../../../src/client/client.ts'
import type { OperationId } from '../../../src/contract/operations.ts'
import type { FourPlaces, Place } from './four-places.ts'

/** The calls of an operation that name a place: in the path, the query, a list in the body, and deeper in the body. */
export type Namings<K extends OperationId> = (place: Place, all: FourPlaces) => CallInput<K>[]

/** For operations that name no place. */
export const none = () => []
const filters = (p: Place, { own }: FourPlaces) => [
  { regionId: p.region },
  { locationId: p.location },
  { regionId: p.region, locationId: p.location },
  { regionId: own.region, locationId: p.location },
  { regionId: p.region, locationId: own.location },
]
const endpoint = (p: Place) => [{ id: p.endpoint }]
const room = (p: Place) => [{ id: p.room }]
const user = (p: Place) => [{ id: p.user }]
const incident = (p: Place) => [{ id: p.incident }]
/** The list alone, and among others that the caller sees. */
const lists = <T>(foreign: T, own: T): T[][] => [[foreign], [own, foreign], [foreign, own], [foreign, foreign]]

const newItem = { driver: 'reach', host: '10.20.4.18' } as const
/** An item of a place, and one that the gateway of another place does not have. */
const items = (p: Place, { own }: FourPlaces) => [
  { id: p.endpoint, deviceId: p.gatewayDevice },
  { id: p.endpoint, deviceId: own.gatewayDevice },
  { id: own.endpoint, deviceId: p.gatewayDevice },
]

const message = { type: 'MESSAGE', message: 'Hello.' } as const

const exclusionsIn = (p: Place) => [
  { roomIds: [p.room] },
  { endpointIds: [p.endpoint] },
  { locationIds: [p.location] },
  { regionIds: [p.region] },
]
/** Plans from which a place is excluded that the caller does not see anyway. */
const excludingPlans = (p: Place, { own }: FourPlaces) =>
  exclusionsIn(p).map((exclude) => ({
    body: { name: 'Mine', target: { roomIds: [own.room], exclude }, action: message },
  }))

/** Targets in a place, and a room of the place to move to. */
const jobBodies = (p: Place, { own }: FourPlaces) => {
  const targets = [
    { roomIds: [p.room] },
    { endpointIds: [p.endpoint] },
    { locationIds: [p.location] },
    { regionIds: [p.region] },
    { roomIds: [own.room], locationIds: [p.location] },
  ]
  // These match nothing, so that no job is created.
  const excluding = exclusionsIn(p).map((exclude) => ({ endpointIds: [own.endpoint], models: ['none'], exclude }))
  return [
    ...[...targets, ...excluding].map((target) => ({ body: { name: 'Mine', target, action: message } })),
    {
      body: {
        name: 'Mine',
        target: { endpointIds: [own.endpoint] },
        action: { type: 'MOVE' as const, roomId: p.room },
      },
    },
  ]
}

/** A move cannot be repeated. */
const recurringBodies = (p: Place, all: FourPlaces) =>
  jobBodies(p, all)
    .map(({ body }) => ({ ...body, schedule: { days: ['mon' as const], at: '03:00' } }))
    .filter(({ action }) => action.type !== 'MOVE')

/** All callers ask for one window. It has ended, so what happens between two answers changes neither. */
const reportWindow = { from: Date.now() - 86_400_000, to: Date.now() - 3_600_000 }
const reports = (p: Place, all: FourPlaces) => [
  ...filters(p, all).flatMap((filter) => [
    { ...filter, ...reportWindow },
    { ...filter, ...reportWindow, groupBy: 'location' as const },
    { ...filter, ...reportWindow, pageToken: 'forged' },
  ]),
  { ...reportWindow, roomId: p.room },
]

/** An operation without a line here does not compile. */
export const namings: { readonly [K in OperationId]: Namings<K> } = {
  auditLogs: none,
  endpointsBasicList: filters,
  endpointsGet: endpoint,
  endpointsUpdate: (p) => [{ id: p.endpoint, body: { name: 'Bar' } }],
  endpointsDelete: endpoint,
  endpointsMoveRoom: (p, { own }) => [
    ...lists(p.endpoint, own.endpoint).map((endpointIds) => ({ body: { endpointIds, roomId: own.room } })),
    { body: { endpointIds: [own.endpoint], roomId: p.room } },
    { body: { endpointIds: [own.endpoint], roomId: p.room, assignRoomProfile: true } },
    { body: { endpointIds: [p.endpoint], roomId: p.room } },
  ],
  endpointsAssignProfile: (p, { profile }) => [
    { id: p.endpoint, body: { profileId: profile } },
    { id: p.endpoint, body: { profileId: null } },
  ],
  endpointsSettings: endpoint,
  endpointsApplyConfig: (p) => [
    { id: p.endpoint, body: { nightMode: true } },
    { id: p.endpoint, body: {} },
  ],
  configVersionsList: endpoint,
  configVersionsGet: (p) => [1, 2, 9].map((n) => ({ id: p.endpoint, n })),
  configVersionsRestore: (p) => [1, 2, 9].map((n) => ({ id: p.endpoint, n })),
  configStateGet: endpoint,
  endpointsReboot: endpoint,
  endpointsPower: (p) => [{ id: p.endpoint, body: { on: false } }],
  endpointsSendMessage: (p, { own }) =>
    lists(p.endpoint, own.endpoint).map((endpointIds) => ({ body: { message: 'Hello.', endpointIds } })),
  roomsSendMessage: (p, { own }) =>
    lists(p.room, own.room).map((roomIds) => ({ body: { message: 'Hello.', roomIds } })),
  endpointsOperationsList: endpoint,
  operationsList: none,
  operationsGet: (p) => [{ id: p.operation }],
  operationsCancel: (p) => [{ id: p.operation }],
  endpointsSensorData: endpoint,
  endpointsBulkSensorData: filters,
  roomsSensorData: room,
  roomsBulkSensorData: filters,
  endpointsSensorHistory: (p) => [
    { id: p.endpoint, from: 0 },
    { id: p.endpoint, from: 0, interval: 'raw', pageSize: 1 },
    { id: p.endpoint, from: 0, pageToken: 'forged' },
  ],
  roomsSensorHistory: (p) => [
    { id: p.room, from: 0 },
    { id: p.room, from: 0, interval: 'raw', pageSize: 1 },
    { id: p.room, from: 0, pageToken: 'forged' },
  ],
  roomsSensorHistoryAll: (p, all) => filters(p, all).map((filter) => ({ ...filter, from: Date.now() - 86_400_000 })),
  metricsGet: filters,
  eventsStream: (p, all) => [...filters(p, all), { roomId: p.room }, { regionId: all.own.region, roomId: p.room }],
  endpointsGenerateBugReport: (p, { own }) => lists(p.endpoint, own.endpoint).map((body) => ({ body })),
  bugReportsGet: (p) => [{ supportId: p.supportId }],
  bugReportsFileGet: (p, { own, mixedSupportId }) => [
    { supportId: p.supportId, name: `${p.endpoint}.log.gz` },
    { supportId: own.supportId, name: `${p.endpoint}.log.gz` },
    { supportId: mixedSupportId, name: `${p.endpoint}.log.gz` },
  ],
  regionsList: none,
  regionsGet: (p) => [{ id: p.region }],
  regionsCreate: none,
  regionsUpdate: (p) => [{ id: p.region, body: { name: 'Mine' } }],
  regionsDelete: (p) => [{ id: p.region }],
  locationsList: none,
  locationsGet: (p) => [{ id: p.location }],
  locationsCreate: (p) => [{ body: { name: 'Mine', regionId: p.region } }],
  locationsUpdate: (p, { own }) => [
    { id: p.location, body: { name: 'Mine' } },
    { id: p.location, body: { regionId: own.region } },
    { id: p.location, body: { regionId: null } },
    { id: own.location, body: { regionId: p.region } },
    { id: own.location, body: { name: 'Mine', regionId: p.region } },
  ],
  locationsDelete: (p) => [{ id: p.location }],
  roomsList: filters,
  roomsGet: room,
  roomsCreate: (p) => [{ body: { name: 'Mine', locationId: p.location } }],
  roomsUpdate: (p, { own }) => [
    { id: p.room, body: { name: 'Mine' } },
    { id: p.room, body: { name: 'Mine', locationId: own.location } },
    { id: p.room, body: { name: 'Mine', locationId: null } },
    { id: own.room, body: { name: 'Mine', locationId: p.location } },
  ],
  roomsDelete: room,
  roomsRegenerateDec: room,
  roomsEnrolmentGet: room,
  roomsAssignProfile: (p, { profile }) => [
    { id: p.room, body: { profileId: profile } },
    { id: p.room, body: { profileId: null } },
  ],
  roomNotesCreate: (p) => [{ roomId: p.room, body: { note: 'Mine.' } }],
  roomNotesListAll: none,
  roomNotesList: (p) => [{ roomId: p.room }],
  roomNotesGet: (p, { own }) => [
    { roomId: p.room, noteId: p.note },
    { roomId: own.room, noteId: p.note },
    { roomId: p.room, noteId: own.note },
  ],
  roomNotesDelete: (p, { own }) => [
    { roomId: p.room, noteId: p.note },
    { roomId: own.room, noteId: p.note },
    { roomId: p.room, noteId: own.note },
  ],
  profilesList: none,
  profilesGet: none,
  profilesCreate: none,
  profilesUpdate: none,
  profilesDelete: none,
  usersList: none,
  usersGet: user,
  usersCreate: (p, { own }) =>
    lists(p.region, own.region).map((regionIds) => ({ body: { email: 'new@example.org', role: 'viewer', regionIds } })),
  usersUpdate: (p, { own }) => [
    { id: p.user, body: { role: 'viewer' } },
    { id: own.user, body: { regionIds: [p.region] } },
  ],
  usersDelete: user,
  usersInvite: user,
  usersUnlink: user,
  userSessionsList: user,
  userSessionsDelete: user,
  keysList: none,
  keysCreate: (p, { own }) =>
    lists(p.region, own.region).map((regionIds) => ({ body: { name: 'New', scopes: ['read'], regionIds } })),
  keysDelete: none,
  orgsGet: none,
  orgsUpdate: none,
  meGet: none,
  meUpdate: none,
  myKeysList: none,
  myKeysCreate: none,
  myKeysDelete: none,
  viewsList: none,
  viewsCreate: none,
  viewsUpdate: none,
  viewsDelete: none,
  identityGet: none,
  identityUpdate: (p) => [{ body: { groupRoles: [{ group: 'team', role: 'viewer', regionIds: [p.region] }] } }],
  identityTest: none,
  endpointsConnections: (p) => [{ id: p.endpoint, from: 0 }],
  roomsConnections: (p) => [{ id: p.room, from: 0 }],
  incidentsList: (p, all) => [
    ...filters(p, all),
    { roomId: p.room, state: 'all' },
    { endpointId: p.endpoint },
    { assigneeId: p.user },
    { regionId: all.own.region, endpointId: p.endpoint },
  ],
  incidentsGet: incident,
  incidentsAcknowledge: (p) => [{ id: p.incident, body: {} }],
  incidentsResolve: (p) => [{ id: p.incident, body: { note: 'Done.' } }],
  incidentsComment: (p) => [{ id: p.incident, body: { text: 'Hello.' } }],
  incidentsAssign: (p, { own }) => [
    { id: p.incident, body: { userId: null } },
    { id: own.incident, body: { userId: p.user } },
  ],
  incidentsSnooze: (p) => [{ id: p.incident, body: { until: 'cleared' } }],
  incidentRulesList: none,
  incidentRulesUpdate: none,
  silencesList: none,
  silencesCreate: (p) =>
    [{ regionId: p.region }, { locationId: p.location }, { roomId: p.room }, { endpointId: p.endpoint }].map(
      (place) => ({ body: { place, reason: 'Painting.', to: new Date(Date.now() + 7_200_000).toISOString() } }),
    ),
  silencesDelete: (p) => [{ id: p.silence }],
  channelsList: none,
  channelsGet: none,
  channelsCreate: none,
  channelsUpdate: none,
  channelsDelete: none,
  channelsTest: none,
  channelsRotateSecret: none,
  deliveriesList: none,
  deliveriesReplay: none,
  profilesReach: none,
  profileVersionsList: none,
  profileVersionsGet: none,
  profilesRestore: none,
  jobsPlan: (p, all) => [...jobBodies(p, all), ...excludingPlans(p, all)],
  jobsCreate: jobBodies,
  jobsList: none,
  jobsGet: (p) => [{ id: p.job }],
  jobsRoomsList: (p) => [{ id: p.job }],
  jobsStart: (p) => [{ id: p.job }],
  jobsPause: (p) => [{ id: p.job }],
  jobsResume: (p) => [{ id: p.job }],
  jobsCancel: (p) => [{ id: p.job, body: {} }],
  jobsRollBack: (p) => [{ id: p.job, body: {} }],
  jobsRetry: (p) => [{ id: p.job }],
  recurringJobsList: none,
  recurringJobsGet: (p) => [{ id: p.recurringJob }],
  recurringJobsCreate: (p, all) => recurringBodies(p, all).map((body) => ({ body })),
  recurringJobsUpdate: (p, all) => [
    ...recurringBodies(p, all).map((body) => ({ id: all.own.recurringJob, body })),
    ...recurringBodies(all.own, all).map((body) => ({ id: p.recurringJob, body })),
  ],
  recurringJobsPause: (p) => [{ id: p.recurringJob }],
  recurringJobsResume: (p) => [{ id: p.recurringJob }],
  recurringJobsDelete: (p) => [{ id: p.recurringJob }],
  driversList: none,
  gatewaysList: none,
  gatewayDevicesList: endpoint,
  gatewayDevicesGet: items,
  gatewayDevicesCreate: (p, { own }) => [
    { id: p.endpoint, body: { ...newItem, roomId: p.room } },
    { id: p.endpoint, body: { ...newItem, roomId: own.room } },
    { id: own.endpoint, body: { ...newItem, roomId: p.room } },
  ],
  gatewayDevicesUpdate: (p, all) => [
    ...items(p, all).map((item) => ({ ...item, body: { name: 'Projector' } })),
    { id: all.own.endpoint, deviceId: all.own.gatewayDevice, body: { roomId: p.room } },
  ],
  gatewayDevicesDelete: (p, all) => items(p, all).flatMap((item) => [item, { ...item, unenrol: true }]),
  gatewayDevicesRetry: items,
  gatewayDevicesTest: (p, { own }) => [
    { id: p.endpoint, body: newItem },
    { id: p.endpoint, body: { deviceId: p.gatewayDevice } },
    { id: own.endpoint, body: { deviceId: p.gatewayDevice } },
  ],
  sourcesList: none,
  sourcesGet: none,
  sourcesCreate: none,
  sourcesUpdate: none,
  sourcesDelete: none,
  sourcesTest: none,
  sourcesStructure: none,
  sourcesLink: none,
  sourceDevicesList: none,
  sourceDevicesUpdate: none,
  reportsAvailability: (p, all) => [...reports(p, all), { ...reportWindow, roomId: p.room, periods: true }],
  reportsIncidents: (p, all) => [
    ...filters(p, all).map((filter) => ({ ...filter, ...reportWindow })),
    { ...reportWindow, roomId: p.room, groupBy: 'room' },
    { ...reportWindow, pageToken: 'forged' },
  ],
  reportsLastDay: none,
  reportsUse: reports,
  reportsMonth: (p, all) => filters(p, all).map((filter) => ({ ...filter, month: '2026-10' })),
  reportsAir: reports,
}
