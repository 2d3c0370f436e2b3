// Endpoints: what a managed device looks like, and what can be done with it. [contract 5.1]

import Type from 'typebox'
import { csvList } from '../csv-list.ts'
import { endpointKinds, sensors } from '../device/models.ts'
import { hugeBodyBytes, largeBodyBytes, mediumBodyBytes, operation } from '../operation.ts'
import {
  Bom,
  CalendarDay,
  Empty,
  Int32,
  ListedIds,
  ListOf,
  MultilineText,
  maxNameLength,
  NullableId,
  OneOf,
  OptionalOrNull,
  Shape,
  SingleLineText,
  Timestamp,
} from '../shape.ts'
import { CustomFieldFilters, CustomFields, ExternalId, SentCustomFields, SentExternalId } from './custom-fields.ts'
import { sourceTypes } from './drivers.ts'
import { endpointCellTexts } from './endpoint-csv.ts'
import { Network, optional, optionalText, reportedFields } from './reported-status.ts'

const id = Type.String({ format: 'uuid', description: 'Identifier of the endpoint.' })
const serial = Type.String({ description: 'Serial number of the device.' })
const model = Type.String({ description: 'Model code, for example NF19B1.' })
const connected = Type.Boolean({ description: 'Whether the device is connected now.' })
/** The states of an endpoint, the worst first. [contract 8.state] */
export const endpointStates = ['OFFLINE', 'UNKNOWN', 'ASLEEP', 'ONLINE'] as const
export type EndpointState = (typeof endpointStates)[number]
export const EndpointStateName = OneOf(
  endpointStates,
  'The first that holds. ONLINE: the device is connected. UNKNOWN: the gateway of the device, or its source, is away; or the server or the gateway that the device was connected through has ended, and the device still has time to connect again. ASLEEP: the device can leave the network while it is off, and did so. OFFLINE: none of them. Values can be added.',
)
const since = optional(
  Timestamp(
    'Since when the device is online, asleep or offline. A restart of a server or a gateway does not change it for a device that comes back in time. Absent if the device was never connected.',
  ),
)
const roomId = optional(Int32('The room of the endpoint.'))
const roomName = optionalText('Name of the room of the endpoint.')
const connectionTime = optional(Timestamp('Time of the last connect or disconnect.'))
const profileId = optional(Int32('The profile of the endpoint.'))
const via = optional(
  Type.String({
    description: 'Identifier of the gateway through which the device is seen; absent if the caller does not see it.',
  }),
)
const hasGateway = optional(
  Type.Boolean({
    description: 'True if the device is seen through a gateway, even if the caller does not see the gateway.',
  }),
)

const sourceType = optional(
  OneOf(sourceTypes, 'Type of the source through which the device is seen; absent without one. Values can be added.'),
)

const missingAtSource = optional(
  Type.Boolean({
    description: 'True if its source no longer lists the device, which is OFFLINE then; absent otherwise.',
  }),
)

export const maxEndpointNoteLength = 2000
export const endpointName = optional(
  Type.String({ description: 'Name of the endpoint: the given one, or else the one that the device reports.' }),
)

export const maxAssetTagLength = 100
const assetTagText = 'Inventory number of the device'
const installedOnText = 'The day on which the device was installed'
const warrantyUntilText = 'The last day of the warranty'
/** Values for the inventory, which people set. */
const assetValues = {
  assetTag: optionalText(`${assetTagText}; absent if not set.`),
  installedOn: optional(CalendarDay(`${installedOnText}; absent if not set.`)),
  warrantyUntil: optional(CalendarDay(`${warrantyUntilText}; absent if not set.`)),
  externalId: ExternalId('endpoints'),
  fields: CustomFields,
}

export const Endpoint = Shape('webpageEndpoint', {
  id,
  serial,
  model,
  connected,
  connectionTime,
  state: EndpointStateName,
  since,
  via,
  sourceType,
  missingAtSource,
  hasGateway,
  enrolmentTime: Timestamp('Time at which the device enrolled.'),
  roomId,
  roomName,
  profileId,
  ...reportedFields,
  name: endpointName,
  reportedName: optional(Type.String({ description: 'Name that the device reports.' })),
  reportedSleeps: optional(
    Type.Boolean({ description: 'The `sleeps` that the device reports; absent if it reports none.' }),
  ),
  note: optional(Type.String({ description: 'Note for the next person who works with the device.' })),
  ...assetValues,
  networks: Type.Array(Network, {
    description: 'The network interfaces of the device; empty until the device reports them.',
  }),
})

const listedState = optional(
  OneOf(
    endpointStates,
    'The state of the endpoint, where `connected` does not say it: absent if it is ONLINE while the device is connected, or OFFLINE while it is not. Values can be added.',
  ),
)
const listedSince = optional(
  Timestamp('Since when the device is online, asleep or offline; absent if it is the same as `connectionTime`.'),
)

/** The state of a listed endpoint, which is left out where `connected` says it. */
export const stateOfListed = ({ connected, state }: ListedPresence): EndpointState =>
  state ?? (connected ? 'ONLINE' : 'OFFLINE')
/** Undefined if the device was never connected. */
export const sinceOfListed = ({ since, connectionTime }: ListedPresence): string | undefined => since ?? connectionTime
/** The newest known firmware of a listed endpoint, which is left out where it is the installed one. Undefined if it is not known. */
export const latestOfListed = ({ firmwareVersion, latestVersion }: ListedFirmware): string | undefined =>
  (latestVersion ?? firmwareVersion) || undefined
interface ListedFirmware {
  readonly firmwareVersion?: string
  readonly latestVersion?: string
}
interface ListedPresence {
  readonly connected: boolean
  readonly connectionTime?: string
  readonly state?: EndpointState
  readonly since?: string
}

export const BasicEndpoint = Shape('webpageBasicEndpoint', {
  id,
  serial,
  model,
  name: endpointName,
  kind: optional(
    OneOf(
      endpointKinds,
      'Kind that the device reports; absent for models whose kind the service knows, and for a device of another model that reports none.',
    ),
  ),
  manufacturer: optional(
    Type.String({ description: 'Maker that the device reports; absent for models whose maker the service knows.' }),
  ),
  power: reportedFields.power,
  sensors: optional(
    Type.Array(OneOf(sensors, 'A value of a sample.'), {
      description:
        'Values that the device measures; absent if the table of models has its model, or if it is not known.',
    }),
  ),
  peopleIs: reportedFields.peopleIs,
  actions: reportedFields.actions,
  connected,
  connectionTime,
  state: listedState,
  since: listedSince,
  via,
  sourceType,
  hasGateway,
  roomId,
  roomName,
  profileId,
  configState: optional(
    OneOf(['PENDING', 'DELIVERED', 'FAILED'], 'State of the newest config version; absent if the endpoint has none.'),
  ),
  localIpAddress: reportedFields.localIpAddress,
  macAddresses: optional(
    Type.Array(Type.String(), { description: 'MAC addresses of the network interfaces, 6 bytes each, base64.' }),
  ),
  inCallStatus: reportedFields.inCallStatus,
  firmwareVersion: reportedFields.firmwareVersion,
  latestVersion: optional(
    Type.String({
      description:
        'Newest known firmware for the device; absent if it is the same as `firmwareVersion`, and empty if only that is known.',
    }),
  ),
  pairingSerial: reportedFields.pairingSerial,
  pairedSerials: reportedFields.pairedSerials,
  ...assetValues,
})

/** A row of the list as CSV: the columns of the list first, then the other fields of the endpoint. [contract 6.csv] */
const EndpointRow = Type.Object({ ...BasicEndpoint.properties, ...Endpoint.properties })

/** Up to a thousand endpoints, named by their ids. [contract 7.4] */
export const EndpointIds = Type.Array(Type.String({ description: 'Identifier of an endpoint.' }), {
  minItems: 1,
  maxItems: 1000,
  description: 'Identifiers of endpoints; repeated ones are ignored.',
})

const known = '5a2f4f3e-8f2c-4f5f-9b0e-3f1f6f0c7a11'
const basic = {
  id: known,
  serial: 'NB12345678',
  model: 'NF19B1',
  connected: true,
  state: 'ONLINE',
  roomId: 7,
  roomName: 'Fjord',
  inCallStatus: 'NONE',
  firmwareVersion: 'NFB1.20260401.0001',
}
export const exampleEndpointId = known

export const endpointOperations = {
  endpointsBasicList: operation({
    method: 'GET',
    path: '/endpoints',
    tag: 'Endpoints',
    scope: 'read',
    command: 'endpoints list',
    summary: 'List the endpoints with basic details',
    query: {
      regionId: Int32('Only endpoints in this region.'),
      locationId: Int32('Only endpoints in this location.'),
      ids: ListedIds('endpoints'),
      via: Type.String({ description: 'Only endpoints that are seen through this gateway.' }),
      bom: Bom,
      field: CustomFieldFilters,
    },
    response: ListOf('webpageListBasicEndpointsResponse', 'endpoints', BasicEndpoint),
    csv: true,
    csvList: csvList('endpoints', 'endpoints', EndpointRow, { texts: endpointCellTexts }),
    example: { query: { locationId: 3 }, response: { endpoints: [basic] } },
  }),
  endpointsGet: operation({
    method: 'GET',
    path: '/endpoints/{id}',
    tag: 'Endpoints',
    scope: 'read',
    summary: 'Read one endpoint: details and status',
    params: { id },
    response: Endpoint,
    versioned: true,
    example: {
      params: { id: known },
      response: { ...basic, enrolmentTime: '2026-05-04T08:15:30.000Z', networks: [] },
    },
  }),
  endpointsDelete: operation({
    method: 'DELETE',
    path: '/endpoints/{id}',
    tag: 'Endpoints',
    scope: 'write',
    summary: 'Unenrol an endpoint',
    description:
      'The credential of the device stops working immediately, its connection is closed, and its pending operations are cancelled. A gateway with items is refused without `items=true`.',
    params: { id },
    query: {
      items: Type.Boolean({
        description: 'Whether the items of a gateway go with it. Their endpoints stay, OFFLINE and without a gateway.',
      }),
    },
    response: Empty,
    ifMatch: true,
    audit: { category: 'DEVICE', type: 'DEVICE_REMOVED' },
    example: { params: { id: known }, response: {} },
  }),
  endpointsUpdate: operation({
    method: 'PUT',
    path: '/endpoints/{id}',
    tag: 'Endpoints',
    scope: 'write',
    summary: 'Name an endpoint, and say what people should know about it',
    description: 'A key that is absent keeps its value; null clears it.',
    params: { id },
    body: Shape('EndpointUpdateRequest', {
      name: OptionalOrNull(SingleLineText(maxNameLength, 'Name of the endpoint, instead of the reported one.')),
      note: OptionalOrNull(MultilineText(maxEndpointNoteLength, 'Note for the next person who works with the device.')),
      sleeps: OptionalOrNull(
        Type.Boolean({
          description: 'Whether the device can leave the network while it is off, instead of what the device reports.',
        }),
      ),
      assetTag: OptionalOrNull(SingleLineText(maxAssetTagLength, `${assetTagText}; null clears it.`)),
      installedOn: OptionalOrNull(CalendarDay(`${installedOnText}; null clears it.`)),
      warrantyUntil: OptionalOrNull(CalendarDay(`${warrantyUntilText}; null clears it.`)),
      externalId: SentExternalId('endpoints'),
      fields: SentCustomFields,
    }),
    bodyLimitBytes: hugeBodyBytes,
    response: Endpoint,
    versioned: true,
    ifMatch: true,
    audit: { category: 'DEVICE', type: 'DEVICE_UPDATED' },
    example: {
      params: { id: known },
      body: { name: 'Bar at the window' },
      response: { ...basic, name: 'Bar at the window', enrolmentTime: '2026-05-04T08:15:30.000Z', networks: [] },
    },
  }),
  endpointsMoveRoom: operation({
    method: 'POST',
    path: '/endpoints/move_paired',
    tag: 'Endpoints',
    scope: 'write',
    summary: 'Move endpoints, and everything paired with them, to a room',
    description:
      'Either all endpoints move or none. The answer lists all of them, including those that were in the room already.',
    body: Shape('WebpageMovePairedEndpointsRequest', {
      endpointIds: EndpointIds,
      roomId: Int32('The room that the endpoints move to.'),
      assignRoomProfile: optional(
        Type.Boolean({
          description: 'Whether the endpoints get the profile of the room; otherwise they keep their own.',
        }),
      ),
    }),
    bodyLimitBytes: largeBodyBytes,
    response: Shape('webpageMovePairedEndpointsResponse', { endpointIds: Type.Array(Type.String()) }),
    audit: { category: 'DEVICE', type: 'DEVICE_MOVED' },
    example: {
      body: { endpointIds: [known], roomId: 7, assignRoomProfile: true },
      response: { endpointIds: [known] },
    },
  }),
  endpointsAssignProfile: operation({
    method: 'PUT',
    path: '/endpoints/{id}/profile',
    tag: 'Profiles',
    scope: 'write',
    summary: 'Assign a profile to an endpoint, or clear it',
    params: { id },
    body: Shape('AssignProfileRequest', { profileId: NullableId('The profile; null or 0 clears it.') }),
    bodyLimitBytes: mediumBodyBytes,
    response: Empty,
    ifMatch: true,
    audit: { category: 'DEVICE', type: 'PROFILE_ASSIGNED', undoType: 'PROFILE_UNASSIGNED' },
    example: { params: { id: known }, body: { profileId: 2 }, response: {} },
  }),
}
