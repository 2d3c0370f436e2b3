// Every read that an owner could make of a generated organisation.
import type { CallInput } from '../../../src/client/client.ts'
import type { OperationId, Operations } from '../../../src/contract/operations.ts'
import type { GeneratedPlaces, Thing } from '../places/generated-places.ts'

export type ReadId = { [K in OperationId]: Operations[K]['method'] extends 'GET' ? K : never }[OperationId]

export const number = ({ id }: Thing) => Number(id)
const filters = ({ regions, locations }: GeneratedPlaces) => [
  {},
  ...regions.map((r) => ({ regionId: number(r) })),
  ...locations.map((l) => ({ locationId: number(l) })),
]
const eachEndpoint = ({ endpoints }: GeneratedPlaces) => endpoints.map(({ id }) => ({ id }))
const eachRoom = ({ rooms }: GeneratedPlaces) => rooms.map((room) => ({ id: number(room) }))
const once = () => [{}]

const dayMs = 86_400_000
/** Answers about the present differ from one call to the next. */
const endedWindow = { from: Date.now() - dayMs, to: Date.now() - 3_600_000 }
const reports = (places: GeneratedPlaces) => {
  const window = { from: Date.now() - dayMs, to: Date.now(), hours: 'always', pageSize: 1000 }
  const groups = (['room', 'location', 'region'] as const).map((groupBy) => ({ ...window, groupBy }))
  return [...groups, ...filters(places).map((filter) => ({ ...window, ...filter }))]
}

/** Every call of every read that an owner could make. A reading operation without a line here does not compile. */
export const readCalls: { readonly [K in ReadId]: (places: GeneratedPlaces) => CallInput<K>[] } = {
  auditLogs: () => [{ from: 0, to: Date.UTC(2100, 0), pageSize: 1000 }],
  endpointsBasicList: filters,
  endpointsGet: eachEndpoint,
  endpointsSettings: eachEndpoint,
  configVersionsList: eachEndpoint,
  configVersionsGet: ({ endpoints }) => endpoints.flatMap(({ id }) => [1, 2, 3].map((n) => ({ id, n }))),
  configStateGet: eachEndpoint,
  endpointsOperationsList: eachEndpoint,
  operationsList: once,
  operationsGet: ({ endpoints }) => endpoints.map(({ operation }) => ({ id: operation })),
  endpointsSensorData: eachEndpoint,
  endpointsBulkSensorData: filters,
  roomsSensorData: eachRoom,
  roomsBulkSensorData: filters,
  endpointsSensorHistory: ({ endpoints }) =>
    endpoints.flatMap(({ id }) => [
      { id, from: 0 },
      { id, from: 0, interval: 'raw' },
    ]),
  roomsSensorHistory: ({ rooms }) => rooms.map((room) => ({ id: number(room), from: 0, interval: 'raw' as const })),
  // It is CSV: history-room.http.test.ts compares it with the histories of the rooms.
  roomsSensorHistoryAll: () => [],
  // Its answer is text: metrics.http.test.ts compares what callers of regions get.
  metricsGet: () => [],
  // Another test follows the events.
  eventsStream: () => [],
  bugReportsGet: ({ endpoints, mixedSupportId }) =>
    [mixedSupportId, ...endpoints.map((e) => e.supportId)].map((supportId) => ({ supportId })),
  bugReportsFileGet: ({ endpoints, mixedSupportId }) =>
    endpoints.flatMap(({ id, supportId }) =>
      [supportId, mixedSupportId].map((report) => ({ supportId: report, name: `${id}.log.gz` })),
    ),
  regionsList: once,
  regionsGet: ({ regions }) => regions.map((region) => ({ id: number(region) })),
  locationsList: once,
  locationsGet: ({ locations }) => locations.map((location) => ({ id: number(location) })),
  roomsList: filters,
  roomsGet: eachRoom,
  roomsEnrolmentGet: eachRoom,
  roomNotesListAll: once,
  roomNotesList: ({ rooms }) => rooms.map((room) => ({ roomId: number(room) })),
  roomNotesGet: ({ notes }) =>
    notes.map(({ id, parents }) => ({ roomId: number(parents[0] as Thing), noteId: String(id) })),
  profilesList: once,
  profilesGet: ({ profile }) => [{ id: profile }],
  usersList: once,
  usersGet: ({ users }) => users.map(({ id }) => ({ id: String(id) })),
  userSessionsList: ({ users }) => users.map(({ id }) => ({ id: String(id) })),
  keysList: once,
  orgsGet: once,
  // This is about the caller alone.
  meGet: () => [],
  myKeysList: () => [],
  viewsList: once,
  identityGet: () => [],
  driversList: once,
  gatewaysList: once,
  gatewayDevicesList: eachEndpoint,
  gatewayDevicesGet: ({ endpoints }) => endpoints.map(({ id, gatewayDevice }) => ({ id, deviceId: gatewayDevice })),
  sourcesList: () => [],
  sourcesGet: () => [],
  sourcesStructure: () => [],
  sourceDevicesList: () => [],
  endpointsConnections: ({ endpoints }) => endpoints.map(({ id }) => ({ id, from: 0 })),
  roomsConnections: ({ rooms }) => rooms.map((room) => ({ id: number(room), from: 0 })),
  incidentsList: (places) => [
    ...filters(places),
    ...places.endpoints.map(({ id }) => ({ endpointId: id, state: 'all' as const })),
    ...places.users.map(({ id }) => ({ assigneeId: String(id) })),
  ],
  incidentsGet: ({ endpoints, mixedIncident }) =>
    [mixedIncident, ...endpoints.map(({ incident }) => incident)].map((id) => ({ id })),
  incidentRulesList: once,
  silencesList: once,
  channelsList: () => [],
  channelsGet: () => [],
  deliveriesList: () => [],
  profilesReach: ({ profile }) => [{ id: profile }],
  profileVersionsList: ({ profile }) => [{ id: profile }],
  profileVersionsGet: ({ profile }) => [{ id: profile, n: 1 }],
  jobsList: once,
  jobsGet: ({ job }) => [{ id: job }],
  jobsRoomsList: ({ job }) => [{ id: job }],
  recurringJobsList: once,
  recurringJobsGet: ({ recurringJob }) => [{ id: recurringJob }],
  reportsAvailability: (places) => [
    ...reports(places).map((report) => ({ ...report, ...endedWindow })),
    ...places.rooms.map((room) => ({
      from: Date.now() - dayMs,
      hours: 'always',
      roomId: Number(room.id),
      periods: true,
    })),
  ],
  // Rows of rules and models are counts of what the caller sees.
  reportsIncidents: () =>
    (['room', 'location', 'region'] as const).map((groupBy) => ({
      ...{ from: Date.now() - dayMs, to: Date.now() + dayMs, groupBy, sort: 'name' as const },
    })),
  // Its answer has only counts: last-day.http.test.ts has a caller who is limited to a region.
  reportsLastDay: () => [],
  reportsUse: (places) => reports(places),
  // Its figures are sums over all rooms, which month.http.test.ts compares with the other reports.
  reportsMonth: () => [],
  reportsAir: (places) => reports(places),
}
