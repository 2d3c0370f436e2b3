// The table of who may do what, written out by hand: the callers of the walk, and those of them that may call each operation.
import type { OperationId } from '../../../src/contract/operations.ts'
import type { Role } from '../../../src/contract/people/permissions.ts'

export type CallerName =
  | `${Exclude<Role, 'owner'>} of ${'all regions' | 'one region'}`
  | 'owner'
  | `key with ${'read' | 'operate' | 'write'}${'' | ' and manage' | ' of one region'}`
  | "owner's key with read"

export const allPeople: CallerName[] = [
  'viewer of one region',
  'viewer of all regions',
  'operator of one region',
  'operator of all regions',
  'admin of one region',
  'admin of all regions',
  'owner',
  "owner's key with read",
]
export const operators = allPeople.filter((name) => /^operator|^admin|^owner$/.test(name))
const admins = allPeople.filter((name) => /^admin|^owner$/.test(name))
export const readKeys: CallerName[] = ['key with read', 'key with read and manage', 'key with read of one region']
const writeKeys: CallerName[] = ['key with write', 'key with write and manage', 'key with write of one region']
const operateKeys: CallerName[] = ['key with operate', 'key with operate and manage', 'key with operate of one region']
export const allCallers = [...allPeople, ...readKeys, ...operateKeys, ...writeKeys]

interface Right {
  /** The callers that have it. */
  readonly of: readonly CallerName[]
  /** The person with the least rights who has it. */
  readonly least: { readonly role: Role; readonly allRegions?: true }
  /** The scopes that the header of a refusal names; undefined if no scope is enough. */
  readonly scope?: string
}

const read: Right = { of: [...allPeople, ...readKeys], least: { role: 'viewer' }, scope: 'read' }
const readLog: Right = {
  of: [...admins, ...readKeys, "owner's key with read"],
  least: { role: 'admin' },
  scope: 'read auditLog',
}
const readPeople: Right = { of: ['owner', 'key with read and manage'], least: { role: 'owner' }, scope: 'read manage' }
const operate: Right = {
  of: [...operators, ...operateKeys, ...writeKeys],
  least: { role: 'operator' },
  scope: 'operate',
}
const change: Right = { of: [...admins, ...writeKeys], least: { role: 'admin' }, scope: 'write' }
/** A job of the type CONFIG. The operation takes callers with operate, because other types need no more. */
const changeByJob: Right = { of: change.of, least: change.least }
const changeShared: Right = {
  of: ['admin of all regions', 'owner', 'key with write', 'key with write and manage'],
  least: { role: 'admin', allRegions: true },
  scope: 'write everywhere',
}
const manage: Right = { of: ['owner', 'key with write and manage'], least: { role: 'owner' }, scope: 'write manage' }
/** A key, even a personal one, makes and revokes no others. */
const ownAccount: Right = { of: allPeople.filter((name) => !name.includes('key')), least: { role: 'viewer' } }

/** An operation without a line here does not compile. */
export const rights: Readonly<Record<OperationId, Right>> = {
  auditLogs: readLog,
  endpointsBasicList: read,
  endpointsGet: read,
  endpointsUpdate: change,
  endpointsDelete: change,
  endpointsMoveRoom: change,
  endpointsAssignProfile: change,
  endpointsSettings: read,
  endpointsApplyConfig: change,
  configVersionsList: read,
  configVersionsGet: read,
  configVersionsRestore: change,
  configStateGet: read,
  endpointsReboot: operate,
  endpointsPower: operate,
  endpointsSendMessage: operate,
  roomsSendMessage: operate,
  endpointsOperationsList: read,
  operationsList: read,
  operationsGet: read,
  operationsCancel: operate,
  endpointsSensorData: read,
  endpointsBulkSensorData: read,
  roomsSensorData: read,
  roomsBulkSensorData: read,
  endpointsSensorHistory: read,
  roomsSensorHistory: read,
  roomsSensorHistoryAll: read,
  metricsGet: read,
  eventsStream: read,
  endpointsGenerateBugReport: operate,
  bugReportsGet: read,
  bugReportsFileGet: change,
  regionsList: read,
  regionsGet: read,
  regionsCreate: changeShared,
  regionsUpdate: changeShared,
  regionsDelete: changeShared,
  locationsList: read,
  locationsGet: read,
  locationsCreate: change,
  locationsUpdate: change,
  locationsDelete: change,
  roomsList: read,
  roomsGet: read,
  roomsCreate: change,
  roomsUpdate: change,
  roomsDelete: change,
  roomsRegenerateDec: operate,
  roomsEnrolmentGet: operate,
  roomsAssignProfile: change,
  roomNotesCreate: operate,
  roomNotesListAll: read,
  roomNotesList: read,
  roomNotesGet: read,
  roomNotesDelete: operate,
  profilesList: read,
  profilesGet: read,
  profilesCreate: changeShared,
  profilesUpdate: changeShared,
  profilesDelete: changeShared,
  usersList: read,
  usersGet: read,
  usersCreate: manage,
  usersUpdate: manage,
  usersDelete: manage,
  usersInvite: manage,
  usersUnlink: manage,
  userSessionsList: readPeople,
  userSessionsDelete: manage,
  keysList: manage,
  keysCreate: manage,
  keysDelete: manage,
  orgsGet: read,
  orgsUpdate: changeShared,
  meGet: read,
  meUpdate: ownAccount,
  myKeysList: ownAccount,
  myKeysCreate: ownAccount,
  myKeysDelete: ownAccount,
  viewsList: read,
  viewsCreate: read,
  viewsUpdate: read,
  viewsDelete: read,
  identityGet: readPeople,
  identityUpdate: manage,
  identityTest: manage,
  endpointsConnections: read,
  roomsConnections: read,
  incidentsList: read,
  incidentsGet: read,
  incidentsAcknowledge: operate,
  incidentsResolve: operate,
  incidentsComment: operate,
  incidentsAssign: operate,
  incidentsSnooze: operate,
  incidentRulesList: read,
  incidentRulesUpdate: changeShared,
  silencesList: read,
  silencesCreate: operate,
  silencesDelete: operate,
  channelsList: readPeople,
  channelsGet: readPeople,
  channelsCreate: manage,
  channelsUpdate: manage,
  channelsDelete: manage,
  channelsTest: manage,
  channelsRotateSecret: manage,
  deliveriesList: readPeople,
  deliveriesReplay: manage,
  profilesReach: read,
  profileVersionsList: read,
  profileVersionsGet: read,
  profilesRestore: changeShared,
  jobsPlan: read,
  jobsCreate: operate,
  jobsList: read,
  jobsGet: read,
  jobsRoomsList: read,
  jobsStart: operate,
  jobsPause: operate,
  jobsResume: operate,
  jobsCancel: operate,
  jobsRollBack: changeByJob,
  jobsRetry: operate,
  recurringJobsList: read,
  recurringJobsGet: read,
  recurringJobsCreate: operate,
  recurringJobsUpdate: operate,
  recurringJobsPause: operate,
  recurringJobsResume: operate,
  recurringJobsDelete: operate,
  driversList: read,
  gatewaysList: read,
  gatewayDevicesList: read,
  gatewayDevicesGet: read,
  gatewayDevicesCreate: change,
  gatewayDevicesUpdate: change,
  gatewayDevicesDelete: change,
  gatewayDevicesRetry: change,
  gatewayDevicesTest: change,
  sourcesList: changeShared,
  sourcesGet: changeShared,
  sourcesCreate: changeShared,
  sourcesUpdate: changeShared,
  sourcesDelete: changeShared,
  sourcesTest: changeShared,
  sourcesStructure: changeShared,
  sourcesLink: changeShared,
  sourceDevicesList: changeShared,
  sourceDevicesUpdate: changeShared,
  reportsAvailability: read,
  reportsIncidents: read,
  reportsLastDay: read,
  reportsUse: read,
  reportsMonth: read,
  reportsAir: read,
}
