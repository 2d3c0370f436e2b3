// Updates the cached answers that an event affects: of the lists of rooms and devices only the named rows are read, other answers are read again at a bounded rate.
import type { ApiResponse } from '../../client/client.ts'
import type { Event } from '../../contract/journal/events.ts'
import type { ResponseOf } from '../../contract/operation.ts'
import type { OperationId, Operations } from '../../contract/operations.ts'
import { queryClient } from '../api.ts'
import { refreshSession } from '../session.ts'
import { patchIncidents } from './incident-patches.ts'
import { patchOperations } from './operation-patches.ts'
import { invalidateThrottled } from './refetch.ts'
import { isRowList, rowReader } from './row-reader.ts'
import { forgetSamples, takeSample } from './sample-patches.ts'

type GatewayDevices = ResponseOf<Operations['gatewayDevicesList']>
type Sources = ResponseOf<Operations['sourcesList']>

const roomOperations: Record<string, readonly OperationId[]> = {
  connected: ['roomsGet', 'roomsConnections'],
  disconnected: ['roomsGet', 'roomsConnections'],
  status: ['roomsGet'],
  config: ['roomsGet'],
  sample: ['roomsSensorData', 'roomsSensorHistory'],
}
const endpointOperations: Record<string, readonly OperationId[]> = {
  connected: ['endpointsGet', 'endpointsConnections'],
  disconnected: ['endpointsGet', 'endpointsConnections'],
  // The settings include what the device reports about itself. A gateway sends it when one of its devices has another state.
  status: ['endpointsGet', 'endpointsSettings', 'configStateGet', 'gatewayDevicesList', 'gatewayDevicesGet'],
  config: ['configStateGet', 'configVersionsList', 'endpointsSettings'],
  sample: ['endpointsSensorData', 'endpointsSensorHistory'],
  operation: ['endpointsOperationsList'],
}
const listOperations: Record<string, readonly OperationId[]> = {
  connected: ['gatewaysList'],
  disconnected: ['gatewaysList'],
  status: ['gatewaysList'],
  config: ['profilesReach'],
  operation: ['bugReportsGet'],
  job: ['jobsList', 'recurringJobsList'],
}
/** These answers show reports of a gateway about its sources. All reports cause one kind of event. */
const sourceOperations: readonly OperationId[] = ['sourcesList', 'sourcesGet', 'sourceDevicesList', 'sourcesStructure']
/** These answers are about one job. */
const jobOperations: readonly OperationId[] = ['jobsGet', 'jobsRoomsList']
/** Events of these types change single rows of the lists of rooms and devices. */
const rowEventTypes: ReadonlySet<string> = new Set(['connected', 'disconnected', 'status', 'config'])
/** A changed name or note. Other changes can concern more rows than their event names: the devices of a room that is renamed, or moved to another region. */
const isRowChange = ({ change, endpointId }: Event): boolean =>
  change?.type === 'DEVICE_UPDATED' && endpointId !== undefined
/** These answers hold only samples, notes or counts of the past, which do not change when a room is renamed or moved. */
const independentOfStructure: readonly OperationId[] = [
  'roomsSensorHistory',
  'endpointsSensorHistory',
  'endpointsSensorData',
  'roomNotesList',
  'reportsLastDay',
]
/**
 * Changes whose type begins with the first text are shown only by operations that begin with the others, and by the audit log. Incidents
 * and jobs have events of their own, so that an operator who acknowledges does not make every console read every list.
 */
const narrowChanges: readonly (readonly [change: string, operations: readonly string[]])[] = [
  ['INCIDENT_RULE_', ['incidentRules']],
  ['INCIDENT_', []],
  ['SILENCE_', ['silences']],
  ['CHANNEL_', ['channels', 'deliveries']],
  ['DELIVERIES_', ['channels', 'deliveries']],
  ['ROOM_NOTE_', ['roomNotes']],
  ['GATEWAY_DEVICE_TESTED', []],
  ['GATEWAY_DEVICE_RETRIED', ['gateway']],
  ['GATEWAY_DEVICE_CREATED', ['gateway']],
  ['SOURCE_TESTED', []],
  ['SOURCE_CREATED', ['source']],
  ['SOURCE_LINKED', ['source']],
  ['SOURCE_DEVICES_UPDATED', ['source', 'gateway']],
  ['RECURRING_JOB_', ['recurringJobs']],
  ['JOB_', ['jobs', 'recurringJobs']],
  ['VIEW_', ['views']],
]

export function invalidateFor(event: Event): void {
  if (event.type === 'reset') {
    forgetSamples()
    invalidateKnown(() => true)
  } else if (event.type === 'structure') invalidateChanged(event)
  else invalidateAffected(event)
  if (changesSession(event)) void refreshSession().catch(() => {})
}

/** The session has the name, the time zone and the air limits of the organisation. An error is ignored: the requests of the page show it too. */
const changesSession = ({ type, change }: Event): boolean =>
  type === 'reset' || change?.type === 'ORG_UPDATED' || change?.type === 'SETTING_UPDATED'

function invalidateChanged(event: Event): void {
  const isShown = shownByChange(event.change?.type ?? '')
  const namesRows = isRowChange(event)
  if (namesRows) rowReader.nameRowsOf(event)
  invalidateKnown((id) => isShown(id) && !(namesRows && isRowList(id)))
}

/** Nearly every answer holds names of rooms, devices or sites. */
function shownByChange(type: string): (id: OperationId) => boolean {
  const [, operations] = narrowChanges.find(([change]) => type.startsWith(change)) ?? []
  if (!operations) return (id) => !independentOfStructure.includes(id)
  return (id) => id === 'auditLogs' || operations.some((start) => id.startsWith(start))
}

/** Invalidates every cached answer whose operation is affected, each at its own rate. */
function invalidateKnown(isAffected: (id: OperationId) => boolean): void {
  const known = new Set(
    queryClient
      .getQueryCache()
      .findAll()
      .map((query) => query.queryKey[0] as OperationId),
  )
  for (const id of known) if (isAffected(id)) invalidateThrottled(id, () => true, '')
}

/** Samples that cannot be put into the lists change little there, so the lists wait this many times longer for them. */
const sampleSlowdown = 4

const readSamples = () => {
  for (const id of ['roomsList', 'roomsBulkSensorData'] as const)
    invalidateThrottled(id, () => true, 'samples', sampleSlowdown)
}

function updateLists(event: Event): void {
  patchIncidents(event)
  if (event.type === 'operation') patchOperations(event)
  if (event.type === 'sample') takeSample(event, readSamples)
  if (rowEventTypes.has(event.type)) rowReader.nameRowsOf(event)
}

function invalidateAffected(event: Event): void {
  const { type, roomIds, endpointId, incident, job } = event
  updateLists(event)
  for (const id of listOperations[type] ?? []) invalidateThrottled(id, () => true, '')
  for (const id of roomOperations[type] ?? []) {
    for (const room of roomIds) invalidateThrottled(id, (input) => input.id === room, String(room))
  }
  if (incident) invalidateThrottled('incidentsGet', (input) => input.id === incident.id, incident.id)
  if (job) for (const id of jobOperations) invalidateThrottled(id, (input) => input.id === job.id, job.id)
  if (endpointId === undefined) return
  if (type === 'status') {
    invalidateThrottled('gatewayDevicesList', ({ id }) => listsDevice(id, endpointId), 'names')
    if (readsSources(endpointId)) for (const id of sourceOperations) invalidateThrottled(id, () => true, '')
  }
  for (const id of endpointOperations[type] ?? [])
    invalidateThrottled(id, (input) => input.id === endpointId, endpointId)
}

/** Whether a cached list of a gateway names the device: its name can be new. */
const listsDevice = (gatewayId: unknown, endpointId: string): boolean =>
  queryClient
    .getQueryData<ApiResponse<GatewayDevices>>(['gatewayDevicesList', { id: gatewayId }])
    ?.body.devices.some((item) => item.endpointId === endpointId) === true

/** Whether the endpoint is the gateway of a source that a page shows. */
const readsSources = (endpointId: string): boolean =>
  queryClient
    .getQueryData<ApiResponse<Sources>>(['sourcesList'])
    ?.body.sources.some(({ gatewayId }) => gatewayId === endpointId) === true
