// The fields of an endpoint: their columns, and what answers and the audit log make of them. [contract 5.1] [contract 4.endpointsBasicList]
import type { Selectable } from 'kysely'
import type { Static } from 'typebox'
import { type DeviceAction, defaultActions, modelOf } from '../../../contract/device/models.ts'
import { endpointLabel } from '../../../contract/fleet/endpoint-label.ts'
import {
  type BasicEndpoint,
  type Endpoint,
  type EndpointState,
  stateOfListed,
} from '../../../contract/fleet/endpoints.ts'
import type { InputOf } from '../../context/handlers.ts'
import { isoTime } from '../../core/clock.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { sensorSetOfEndpoint, sensorsIn } from '../../devices/device-sensors.ts'
import { AuditedFields } from '../../journal/audit/audited-fields.ts'
import { type AuditRef, auditRef } from '../../journal/audit/change-result.ts'
import { customFieldsAfter, customFieldsOf } from '../custom-fields.ts'
import { type ReportedStatus, type StoredStatus, shownStatus } from './reported-status.ts'

/** The columns that each enrolment writes. A device keeps its id and its serial. */
export const enrolledColumns = [
  'pairing_serial',
  'model',
  'room_id',
  'profile_id',
  'via',
  'source_id',
  'source_type',
  'missing_at_source',
  'enrolment_time',
] as const

/** The columns that both an endpoint and the list of endpoints show. */
export const endpointFieldColumns = [
  'serial',
  'pairing_serial',
  'model',
  'name',
  'room_id',
  'profile_id',
  'via',
  'source_type',
  'status',
  'sensors_named',
  'sensors_measured',
] as const

/** The columns for the inventory, which people set and the list of endpoints shows. */
export const assetColumns = ['asset_tag', 'installed_on', 'warranty_until', 'external_id', 'fields'] as const

/** The columns that people set. */
export const givenColumns = ['given_name', 'note', 'given_sleeps', ...assetColumns] as const

type Endpoints = Selectable<DatabaseSchema['endpoints']>
type EndpointValues = Pick<Endpoints, 'serial' | 'model' | 'room_id' | 'profile_id'>
type AssetValues = Pick<Endpoints, (typeof assetColumns)[number]>
export type GivenValues = Pick<Endpoints, 'name' | (typeof givenColumns)[number]>

/** The values of a new endpoint. */
export const emptyGivenValues: Omit<GivenValues, 'name'> = {
  given_name: null,
  note: null,
  given_sleeps: null,
  asset_tag: null,
  installed_on: null,
  warranty_until: null,
  external_id: null,
  fields: null,
}

/** The values after a request. Its absent keys keep what is stored, and null clears them. */
export function givenValues(
  body: InputOf<'endpointsUpdate'>['body'],
  stored: GivenValues & StoredStatus,
): GivenValues & Pick<Endpoints, 'rest'> {
  const given_name = body.name === undefined ? stored.given_name : body.name
  const sleeps = body.sleeps === null ? null : Number(body.sleeps)
  const given_sleeps = body.sleeps === undefined ? stored.given_sleeps : sleeps
  return {
    name: shownName(given_name, stored.status),
    given_name,
    note: body.note === undefined ? stored.note : body.note,
    given_sleeps,
    asset_tag: body.assetTag === undefined ? stored.asset_tag : body.assetTag,
    installed_on: body.installedOn === undefined ? stored.installed_on : body.installedOn,
    warranty_until: body.warrantyUntil === undefined ? stored.warranty_until : body.warrantyUntil,
    external_id: body.externalId === undefined ? stored.external_id : body.externalId,
    fields: customFieldsAfter(body.fields, stored),
    rest: restOf(given_sleeps, stored.status),
  }
}

/** Null for a device that does not sleep. One that never reports its power can leave the network at any time. [contract 8.state] */
export function restOf(givenSleeps: number | null, status: string): Endpoints['rest'] {
  const { sleeps = false, power } = JSON.parse(status) as ReportedStatus
  if (!(givenSleeps === null ? sleeps : givenSleeps === 1)) return null
  return power === 'ON' || power === 'CHANGING' ? 'AWAKE' : 'RESTING'
}

/** An empty name counts as no name. Spaces at its ends were trimmed before. */
export const shownName = (given: string | null, status: string): string | null =>
  given ?? ((JSON.parse(status) as ReportedStatus).name || null)

export const auditedGivenValues = new AuditedFields(
  (row: GivenValues & EndpointValues) => ({
    serial: row.serial,
    name: row.given_name,
    note: row.note,
    sleeps: row.given_sleeps === null ? null : row.given_sleeps === 1,
    assetTag: row.asset_tag,
    installedOn: row.installed_on,
    warrantyUntil: row.warranty_until,
    externalId: row.external_id,
    fields: customFieldsOf(row),
  }),
  ['serial'],
)

/** A row that answers show. `nodes/presence-sql.ts` computes its presence. */
interface ShownEndpoint extends Pick<Endpoints, 'id' | (typeof endpointFieldColumns)[number]> {
  readonly connected: number
  readonly connection_time: number | null
  readonly state: EndpointState
  readonly since: number | null
  /** The caller does not see the gateway of the device, so the row has no `via`. */
  readonly isViaHidden?: boolean
}

export const auditedEndpoint = new AuditedFields(
  (row: EndpointValues) => ({
    serial: row.serial,
    model: row.model,
    roomId: row.room_id,
    profileId: row.profile_id,
  }),
  ['serial', 'model', 'roomId', 'profileId'],
)

type EndpointView = Static<typeof Endpoint>
type BasicEndpointView = Static<typeof BasicEndpoint>

/** Fields that the device never reported are left out, except the list of networks, which is always there. [contract 5.1] */
export function endpointView(
  row: ShownEndpoint & GivenValues & Pick<Endpoints, 'enrolment_time' | 'missing_at_source' | 'readings'>,
  roomName: string | null,
): EndpointView {
  const { name: reportedName, sleeps: reportedSleeps, ...status } = shownStatus(row)
  const sleeps = row.given_sleeps === null ? reportedSleeps : row.given_sleeps === 1
  return {
    id: row.id,
    serial: row.serial,
    ...(row.pairing_serial !== null && { pairingSerial: row.pairing_serial }),
    model: row.model,
    connected: row.connected === 1,
    ...(row.connection_time !== null && { connectionTime: isoTime(row.connection_time) }),
    state: row.state,
    ...(row.since !== null && { since: isoTime(row.since) }),
    ...(row.via !== null && { via: row.via }),
    ...(hasGateway(row) && { hasGateway: true }),
    ...(row.source_type !== null && { sourceType: row.source_type }),
    ...(row.missing_at_source === 1 && { missingAtSource: true }),
    enrolmentTime: isoTime(row.enrolment_time),
    ...(row.room_id !== null && { roomId: row.room_id }),
    ...(row.room_id !== null && roomName !== null && { roomName }),
    ...(row.profile_id !== null && { profileId: row.profile_id }),
    ...status,
    ...describedModel(row.model),
    ...shownSensors(row),
    ...(row.name !== null && { name: row.name }),
    ...(reportedName && { reportedName }),
    ...(row.note !== null && { note: row.note }),
    ...(sleeps !== undefined && { sleeps }),
    ...(reportedSleeps !== undefined && { reportedSleeps }),
    ...assetValues(row),
    networks: status.networks ?? [],
  }
}

const hasAssetValues = (row: AssetValues): boolean => assetColumns.some((column) => row[column] !== null)

/** The values for the inventory that are set. */
function assetValues(row: AssetValues) {
  const fields = customFieldsOf(row)
  return {
    ...(row.asset_tag !== null && { assetTag: row.asset_tag }),
    ...(row.installed_on !== null && { installedOn: row.installed_on }),
    ...(row.warranty_until !== null && { warrantyUntil: row.warranty_until }),
    ...(row.external_id !== null && { externalId: row.external_id }),
    ...(fields && { fields }),
  }
}

const hasGateway = ({ via, isViaHidden }: ShownEndpoint): boolean => via !== null || isViaHidden === true

/** For a model that is known, the table of models says what it is, whatever the device reports. [contract 5.1.kind] */
function describedModel(code: string): Pick<EndpointView, 'kind' | 'manufacturer'> {
  const { kind, manufacturer } = modelOf(code)
  return { ...(kind && { kind }), ...(manufacturer && { manufacturer }) }
}

/** The sensors that the device has, whatever it reports. Nothing is said of a device that has neither named nor sent any. [contract 5.1.models] */
function shownSensors(row: ShownEndpoint): Pick<EndpointView, 'sensors'> {
  const set = sensorSetOfEndpoint(row)
  return set === 0 && row.sensors_named === null ? {} : { sensors: [...sensorsIn(set)] }
}

/** An answer can hold ten thousand of these, so the fields are assigned one by one instead of spread. */
export function basicEndpointView(
  row: ShownEndpoint & AssetValues & { readonly room_name: string | null; readonly config_state: string | null },
): BasicEndpointView {
  const status: ReportedStatus = JSON.parse(row.status)
  const { power, peopleIs, localIpAddress, networks, inCallStatus, firmwareVersion, latestVersion, pairedSerials } =
    status
  const { id, serial, model, state } = row
  const connected = row.connected === 1
  const view: BasicEndpointView = { id, serial, model, connected }
  if (state !== stateOfListed({ connected })) view.state = state
  if (row.name !== null) view.name = row.name
  const known = modelOf(model)
  // The console has kinds and makers of known models, which most devices are.
  if (known.kind === undefined && status.kind) view.kind = status.kind
  if (known.manufacturer === undefined && status.manufacturer) view.manufacturer = status.manufacturer
  if (power !== undefined) view.power = power
  // For other models the table of models has them.
  if (modelOf(model).sensors === undefined) Object.assign(view, shownSensors(row))
  if (peopleIs === 'PRESENCE') view.peopleIs = peopleIs
  if (row.connection_time !== null) view.connectionTime = isoTime(row.connection_time)
  if (row.since !== null && row.since !== row.connection_time) view.since = isoTime(row.since)
  if (row.via !== null) view.via = row.via
  if (hasGateway(row)) view.hasGateway = true
  if (row.source_type !== null) view.sourceType = row.source_type
  if (row.room_id !== null) view.roomId = row.room_id
  if (row.room_name !== null) view.roomName = row.room_name
  if (row.profile_id !== null) view.profileId = row.profile_id
  if (row.config_state !== null) view.configState = row.config_state as NonNullable<BasicEndpointView['configState']>
  if (localIpAddress !== undefined) view.localIpAddress = localIpAddress
  const macAddresses = macAddressesOf(networks)
  if (macAddresses.length > 0) view.macAddresses = macAddresses
  if (inCallStatus !== undefined) view.inCallStatus = inCallStatus
  if (firmwareVersion !== undefined) view.firmwareVersion = firmwareVersion
  // Most devices have the latest.
  if (latestVersion !== firmwareVersion) view.latestVersion = latestVersion ?? ''
  if (row.pairing_serial !== null) view.pairingSerial = row.pairing_serial
  if (pairedSerials !== undefined) view.pairedSerials = pairedSerials
  if (status.actions !== undefined && !isDefault(status.actions)) view.actions = status.actions
  if (hasAssetValues(row)) Object.assign(view, assetValues(row))
  return view
}

/** A row of the list as CSV: the endpoint, with the values that only the list has. */
export function endpointCsvView(
  row: Parameters<typeof endpointView>[0] & Pick<Parameters<typeof basicEndpointView>[0], 'room_name' | 'config_state'>,
) {
  const view = endpointView(row, row.room_name)
  const macAddresses = macAddressesOf(view.networks)
  return {
    ...view,
    ...(row.config_state !== null && {
      configState: row.config_state as NonNullable<BasicEndpointView['configState']>,
    }),
    ...(macAddresses.length > 0 && { macAddresses }),
  }
}

const macAddressesOf = (networks: ReportedStatus['networks'] = []): string[] =>
  networks.flatMap(({ macAddress }) => macAddress ?? [])

const isDefault = (actions: readonly DeviceAction[]): boolean =>
  actions.length === defaultActions.length && defaultActions.every((action) => actions.includes(action))

/** Names an endpoint in the audit log. */
export const endpointRef = (endpoint: Pick<Endpoints, 'id' | 'name' | 'model' | 'serial'>): AuditRef => ({
  ...auditRef('endpoint', { id: endpoint.id, name: endpointLabel(endpoint) }),
  serial: endpoint.serial,
})

/** Returns one value of each endpoint, for the audit log. */
export function valuesByEndpoint<E extends { readonly id: string }, T>(
  endpoints: readonly E[],
  value: (endpoint: E) => T,
): Record<string, T> {
  // A thousand ids as keys of a usual object took up to 30 ms, because V8 makes a hidden class for each key. An object without a
  // prototype is a plain dictionary.
  const values: Record<string, T> = Object.create(null)
  for (const endpoint of endpoints) values[endpoint.id] = value(endpoint)
  return values
}
