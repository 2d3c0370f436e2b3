// Endpoints: what a managed device looks like, and what can be done with it. [contract 5.1]

import Type, { type TSchema } from 'typebox'
import { largeBodyBytes, mediumBodyBytes, operation } from '../operation.ts'
import { Empty, Int32, ListOf, NullableId, OneOf, Shape, Timestamp } from '../shape.ts'

const text = (description: string) => Type.Optional(Type.String({ maxLength: 255, description }))
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const bytes = (of: string) =>
  Type.Optional(Type.String({ pattern: '^\\d{1,20}$', description: `${of}, in bytes, as a string.` }))
const optional = <S extends TSchema>(shape: S) => Type.Optional(shape)

const Address = Shape('webpageIpAddress', { ipv4: text('IPv4 address, base64.'), ipv6: text('IPv6 address, base64.') })
const network = {
  type: text('NETWORK_TYPE_ETHERNET or NETWORK_TYPE_WIFI.'),
  display: text('Name of the interface.'),
  linkUp: flag('Whether the link is up.'),
  mode: text('NETWORK_MODE_DHCP or NETWORK_MODE_STATIC.'),
  mtu: optional(Int32('Maximum transmission unit.')),
  networkName: text('Name of the wireless network.'),
  macAddress: text('MAC address, 6 bytes, base64.'),
}
const prefix = optional(Int32('Prefix length.'))
/** Clients count on the lists, and on both addresses in each item. [contract 5.1.networks] */
const Network = Shape('webpageNetwork', {
  ...network,
  addresses: Type.Array(Shape('webpageNetworkAddress', { address: Address, broadcast: Address, prefix })),
  gateway: Type.Array(Address),
})
/** A device may leave them out: the service fills them in. */
const ReportedNetwork = Shape('ReportedNetwork', {
  ...network,
  addresses: optional(
    Type.Array(Shape('ReportedAddress', { address: optional(Address), broadcast: optional(Address), prefix }), {
      maxItems: 32,
    }),
  ),
  gateway: optional(Type.Array(Address, { maxItems: 32 })),
})

/** The fields that a device sends in its status report. The service knows the other fields by itself. */
export const reportedFields = {
  pairingSerial: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Serial number of the leader that the device is paired with, as the device reports it.',
    }),
  ),
  pairedSerials: Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), {
      maxItems: 32,
      description: 'Serial numbers of the devices that are paired with this leader, as the leader reports them.',
    }),
  ),
  supports: Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), {
      maxItems: 32,
      description:
        'Optional parts of the device protocol that the device supports. onlyIfIdle: the device checks whether it is in use before a reboot.',
    }),
  ),
  inCallStatus: optional(OneOf(['NONE', 'ZOOM', 'TEAMS', 'MEET', 'OTHER'], 'The kind of call that the device is in.')),
  primaryMode: optional(OneOf(['oob', 'zoom', 'msteams', 'avos', 'usb'], 'The application that the device runs.')),
  controllerMode: optional(
    OneOf(['controller', 'schedule'], 'The use of a pad: as a controller or as a schedule display.'),
  ),
  firmwareVersion: text('Installed firmware.'),
  latestVersion: text('Newest known firmware for the device.'),
  firmwareVersionReleaseName: text('Release name of the installed firmware.'),
  latestVersionReleaseName: text('Release name of the newest firmware.'),
  otaChannel: text('Update channel.'),
  upgradeStatus: text('State of a running upgrade.'),
  upgradeTime: text('Time of the next upgrade.'),
  upgradeModel: text('Upgrade model.'),
  hexapaBuild: text('Build identifier.'),
  automaticUpdates: flag('Whether the device installs updates automatically.'),
  hasScheduledFirmwareUpdate: flag('Whether an update is scheduled.'),
  hasUnscheduledFirmwareUpdate: flag('Whether an update is available that is not scheduled.'),
  isLatestVersionScheduledForNow: flag('Whether the newest version is scheduled to be installed now.'),
  buildType: text('Build type.'),
  localIpAddress: text('Local IP address, plain text.'),
  networks: Type.Array(ReportedNetwork, { maxItems: 32, description: 'The network interfaces of the device.' }),
  ntpServer: text('Configured time server.'),
  activeNtpServer: text('Time server in use.'),
  ntpServerReachable: flag('Whether the time server can be reached.'),
  timezone: text('Time zone of the device.'),
  remoteControlEnabled: flag('Whether remote control is on.'),
  bulkEnrolmentPending: flag('Whether a bulk enrolment is pending.'),
  orientation: text('Orientation of the screen.'),
  totalSystemStorage: bytes('System storage'),
  freeSystemStorage: bytes('Free system storage'),
  totalInternalStorage: bytes('Internal storage'),
  freeInternalStorage: bytes('Free internal storage'),
  totalExternalStorage: bytes('External storage'),
  freeExternalStorage: bytes('Free external storage'),
}

const id = Type.String({ format: 'uuid', description: 'Identifier of the endpoint.' })
const serial = Type.String({ description: 'Serial number of the device.' })
const model = Type.String({ description: 'Model code, for example NF19B1.' })
const connected = Type.Boolean({ description: 'Whether the device is connected now.' })
/** The states of an endpoint, the worst first. [contract 8.state] */
export const endpointStates = ['OFFLINE', 'UNKNOWN', 'ONLINE'] as const
export type EndpointState = (typeof endpointStates)[number]
export const EndpointStateName = OneOf(
  endpointStates,
  'ONLINE: the device is connected. UNKNOWN: a server that the device was connected to has ended, and the device still has time to connect again. OFFLINE: neither.',
)
const since = optional(
  Timestamp(
    'Since when the device is online or offline. A server restart does not change it for a device that comes back in time. Absent if the device was never connected.',
  ),
)
const roomId = optional(Int32('The room of the endpoint.'))
const roomName = text('Name of the room of the endpoint.')
const connectionTime = optional(Timestamp('Time of the last connect or disconnect.'))
const profileId = optional(Int32('The profile of the endpoint.'))

export const Endpoint = Shape('webpageEndpoint', {
  id,
  serial,
  model,
  connected,
  connectionTime,
  state: EndpointStateName,
  since,
  enrolmentTime: Timestamp('Time at which the device enrolled.'),
  roomId,
  roomName,
  profileId,
  ...reportedFields,
  networks: Type.Array(Network, {
    description: 'The network interfaces of the device; empty until the device reports them.',
  }),
})

export const BasicEndpoint = Shape('webpageBasicEndpoint', {
  id,
  serial,
  model,
  connected,
  connectionTime,
  state: EndpointStateName,
  since,
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
  latestVersion: reportedFields.latestVersion,
  pairingSerial: reportedFields.pairingSerial,
  pairedSerials: reportedFields.pairedSerials,
})

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
    summary: 'List the endpoints with basic details',
    query: { regionId: Int32('Only endpoints in this region.'), locationId: Int32('Only endpoints in this location.') },
    response: ListOf('webpageListBasicEndpointsResponse', 'endpoints', BasicEndpoint),
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
      'The credential of the device stops working immediately, its connection is closed, and its pending operations are cancelled.',
    params: { id },
    response: Empty,
    ifMatch: true,
    audit: { category: 'DEVICE', type: 'DEVICE_REMOVED' },
    example: { params: { id: known }, response: {} },
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
