// Gateways, and the devices that people list for them. [contract 13.gateways]

import Type from 'typebox'
import { csvList } from '../csv-list.ts'
import { mediumBodyBytes, operation } from '../operation.ts'
import { Bom, Empty, Int32, ListOf, maxNameLength, OneOf, Shape, SingleLineText, Timestamp } from '../shape.ts'
import { DriverDescription, DriverName, drivers, ItemDriverName, maxHostLength, maxSecretLength } from './drivers.ts'
import { EndpointStateName, exampleEndpointId } from './endpoints.ts'

/** A gateway has at most this many items. */
export const maxGatewayDevices = 1000

export const gatewayDeviceStates = [
  'NEW',
  'CONNECTED',
  'UNREACHABLE',
  'REFUSED',
  'CHANGED',
  'UNSUPPORTED',
  'DUPLICATE',
  'REMOVED',
] as const
export type GatewayDeviceState = (typeof gatewayDeviceStates)[number]
const GatewayDeviceStateName = OneOf(
  gatewayDeviceStates,
  'NEW: the gateway has not tried it yet. CONNECTED: the gateway has a session with the device. UNREACHABLE: it has none. REFUSED: the device refused user or password. CHANGED: the device has another certificate or serial number. UNSUPPORTED: the driver cannot manage it. DUPLICATE: the device is enrolled already. REMOVED: its endpoint or its room was deleted; gatewayDevicesRetry enrols it again. Values can be added.',
)

export const maxReasonLength = 255
const reason = Type.Optional(Type.String({ description: 'Why the item is in this state, in words.' }))
const id = Type.String({ format: 'uuid', description: 'Identifier of the gateway: that of its endpoint.' })
const deviceId = Type.String({ format: 'uuid', description: 'Identifier of the item.' })

const options = Type.Record(
  Type.String({ maxLength: 64 }),
  Type.Union([Type.String(), Type.Number(), Type.Boolean()]),
  {
    description: 'The options of the driver, as driversList names them.',
  },
)

export const GatewayDevice = Shape('GatewayDevice', {
  id: deviceId,
  gatewayId: Type.String({ format: 'uuid', description: 'The gateway.' }),
  driver: ItemDriverName,
  sourceId: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'The source that the device belongs to; sourceDevicesUpdate adopts it.',
    }),
  ),
  sourceKey: Type.Optional(Type.String({ description: 'Identifies the device at its source.' })),
  host: Type.String({ description: 'IP address or name of the device, or of its source.' }),
  port: Type.Integer({ description: 'Port of the device, or of its source.' }),
  username: Type.Optional(Type.String({ description: 'User with whom the gateway signs in.' })),
  secrets: Type.Array(Type.String(), { description: 'The names of the secret fields that have a value.' }),
  options,
  fingerprint: Type.Optional(Type.String({ description: 'SHA-256 of the certificate that a person confirmed.' })),
  roomId: Type.Optional(Int32('The room of the device; absent if it was deleted.')),
  roomName: Type.Optional(Type.String({ description: 'Name of the room.' })),
  name: Type.Optional(Type.String({ description: 'Name that the endpoint gets when the device enrols.' })),
  endpointId: Type.Optional(
    Type.String({ format: 'uuid', description: 'The endpoint of the device; absent until it has enrolled.' }),
  ),
  endpointName: Type.Optional(Type.String({ description: 'Name of the endpoint.' })),
  duplicateOf: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'The endpoint that the device has already, if the item is a DUPLICATE and the caller sees it.',
    }),
  ),
  state: GatewayDeviceStateName,
  reason,
  since: Timestamp('Since when the item is in this state.'),
  reachedAt: Type.Optional(
    Timestamp('When the gateway last had a session with the device at this address; absent if it never had.'),
  ),
})

const Gateway = Shape('Gateway', {
  id,
  name: Type.Optional(Type.String({ description: 'Name of the endpoint.' })),
  serial: Type.String({ description: 'Serial number of the gateway.' }),
  roomId: Type.Optional(Int32('The room of the gateway.')),
  roomName: Type.Optional(Type.String({ description: 'Name of the room.' })),
  locationId: Type.Optional(Int32('The location of the gateway.')),
  locationName: Type.Optional(Type.String({ description: 'Name of the location.' })),
  version: Type.Optional(Type.String({ description: 'Version of the gateway program.' })),
  state: EndpointStateName,
  since: Type.Optional(Timestamp('Since when the gateway is in this state.')),
  devices: Shape(
    'GatewayDeviceCounts',
    Object.fromEntries(gatewayDeviceStates.map((state) => [state, Type.Optional(Int32('Number of items.'))])) as Record<
      GatewayDeviceState,
      ReturnType<typeof Type.Optional<ReturnType<typeof Int32>>>
    >,
    { description: 'The number of items that the caller sees, by state; states without an item are left out.' },
  ),
  reach: Type.Array(Type.String(), {
    description:
      'The networks that the gateway can reach, and the hosts that only its sources can reach, as its own options say; empty until it reports them.',
  }),
})

export const fingerprintPattern = '^[0-9A-F]{2}(:[0-9A-F]{2}){31}$'
export const Fingerprint = (description: string) => Type.String({ pattern: fingerprintPattern, description })

export const GatewayTestCertificate = Shape('GatewayTestCertificate', {
  fingerprint: Fingerprint('SHA-256 of the certificate.'),
  isTrusted: Type.Boolean({ description: 'Whether a known authority confirms it for this host.' }),
  validUntil: Timestamp('End of the certificate.'),
})

/** The result of a test: what the gateway found when it tried the device. */
export const GatewayTestResult = Shape('GatewayTestResult', {
  found: Type.Optional(
    Shape('GatewayTestFinding', {
      manufacturer: Type.Optional(SingleLineText(100, 'Maker of the device.')),
      model: Type.Optional(SingleLineText(64, 'Model of the device; absent if only its certificate was seen.')),
      serial: Type.Optional(SingleLineText(64, 'Serial number of the device.')),
      firmwareVersion: Type.Optional(SingleLineText(255, 'Installed firmware.')),
      certificate: Type.Optional(GatewayTestCertificate),
      notes: Type.Optional(
        Type.Array(SingleLineText(255, 'A sentence.'), {
          maxItems: 16,
          description: 'Sentences about what does not work, and what to change on the device.',
        }),
      ),
    }),
  ),
  state: Type.Optional(
    OneOf(
      ['UNREACHABLE', 'REFUSED', 'CHANGED', 'UNSUPPORTED'],
      'The state that an item would have; absent if the test succeeded, or if the gateway gave no answer.',
    ),
  ),
  reason: Type.Optional(SingleLineText(maxReasonLength, 'Why the test failed, in words.')),
})

export const hostPattern = '^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$|^[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*$'

/** Bare, because an Update also takes null, which clears a value. */
const inputs = {
  host: Type.String({
    minLength: 1,
    maxLength: maxHostLength,
    pattern: hostPattern,
    description: 'IP address or name of the device, without a port.',
  }),
  port: Type.Integer({ minimum: 1, maximum: 65535, description: 'Port of the device, instead of the default.' }),
  username: SingleLineText(255, 'User with whom the gateway signs in.'),
  secret: Type.String({ minLength: 1, maxLength: maxSecretLength, format: 'password', description: 'Password.' }),
  options: Type.Record(
    Type.String({ maxLength: 64 }),
    Type.Union([Type.String({ maxLength: 255 }), Type.Number(), Type.Boolean(), Type.Null()]),
    { maxProperties: 32, description: 'Options of the driver, as driversList names them. Null restores the default.' },
  ),
  name: SingleLineText(maxNameLength, 'Name that the endpoint gets when the device enrols.'),
  fingerprint: Fingerprint(
    'SHA-256 of the certificate that the device is expected to have, as gatewayDevicesTest shows it.',
  ),
}
const roomId = Int32('The room that the device is in. After the enrolment an Update moves the endpoint.')
const orNull = <S extends (typeof inputs)[keyof typeof inputs]>(shape: S) =>
  Type.Optional(Type.Union([shape, Type.Null()]))

const item = {
  id: '0b9d7c52-6b1e-4a43-9d0c-5d1f3b1f7e20',
  gatewayId: exampleEndpointId,
  driver: 'roomos',
  host: '10.20.4.17',
  port: 443,
  username: 'roomkeeper',
  secrets: ['secret'],
  options: {},
  roomId: 7,
  roomName: 'Fjord',
  state: 'CONNECTED',
  since: '2026-05-04T08:15:30.000Z',
  reachedAt: '2026-05-04T08:15:30.000Z',
}
const params = { id, deviceId }
const exampleParams = { id: exampleEndpointId, deviceId: item.id }
const exampleBody = { driver: 'roomos', host: '10.20.4.17', username: 'roomkeeper', secret: 'correct horse', roomId: 7 }

export const gatewayOperations = {
  driversList: operation({
    method: 'GET',
    path: '/drivers',
    tag: 'Gateways',
    scope: 'read',
    summary: 'List the drivers of gateways: what each manages, reads and does, and the fields of its items',
    response: ListOf('GatewayDriverList', 'drivers', DriverDescription),
    example: { response: { drivers: [drivers.reach] } },
  }),
  gatewaysList: operation({
    method: 'GET',
    path: '/gateways',
    tag: 'Gateways',
    scope: 'read',
    summary: 'List the gateways, each with the number of its devices by state',
    response: ListOf('GatewayList', 'gateways', Gateway),
    example: {
      response: {
        gateways: [
          {
            id: exampleEndpointId,
            serial: 'GW-0001',
            roomId: 7,
            roomName: 'Fjord',
            version: '0.4.0',
            state: 'ONLINE',
            since: '2026-05-04T08:15:30.000Z',
            devices: { CONNECTED: 12, REFUSED: 1 },
            reach: ['10.20.0.0/16'],
          },
        ],
      },
    },
  }),
  gatewayDevicesList: operation({
    method: 'GET',
    path: '/gateways/{id}/devices',
    tag: 'Gateways',
    scope: 'read',
    summary: 'List the items of a gateway, in the order in which they were added',
    description: 'Items in rooms that the caller does not see are left out.',
    params: { id },
    query: { bom: Bom },
    response: ListOf('GatewayDeviceList', 'devices', GatewayDevice),
    csv: true,
    csvList: csvList('gateway-devices', 'devices', GatewayDevice),
    example: { params: { id: exampleEndpointId }, response: { devices: [item] } },
  }),
  gatewayDevicesGet: operation({
    method: 'GET',
    path: '/gateways/{id}/devices/{deviceId}',
    tag: 'Gateways',
    scope: 'read',
    summary: 'Read one item of a gateway',
    params,
    response: GatewayDevice,
    versioned: true,
    example: { params: exampleParams, response: item },
  }),
  gatewayDevicesCreate: operation({
    method: 'POST',
    path: '/gateways/{id}/devices',
    tag: 'Gateways',
    scope: 'write',
    summary: 'Add a device to a gateway, which connects to it and enrols it',
    description: `A gateway has at most ${maxGatewayDevices} items.`,
    params: { id },
    body: Shape('GatewayDeviceCreateRequest', {
      driver: DriverName,
      host: inputs.host,
      port: orNull(inputs.port),
      username: orNull(inputs.username),
      secret: orNull(inputs.secret),
      options: Type.Optional(inputs.options),
      roomId,
      name: orNull(inputs.name),
      fingerprint: orNull(inputs.fingerprint),
    }),
    bodyLimitBytes: mediumBodyBytes,
    response: GatewayDevice,
    versioned: true,
    audit: { category: 'DEVICE', type: 'GATEWAY_DEVICE_CREATED' },
    example: {
      params: { id: exampleEndpointId },
      body: exampleBody,
      response: { ...item, state: 'NEW', reachedAt: undefined },
    },
  }),
  gatewayDevicesUpdate: operation({
    method: 'PUT',
    path: '/gateways/{id}/devices/{deviceId}',
    tag: 'Gateways',
    scope: 'write',
    summary: 'Change an item of a gateway',
    description:
      'An absent key keeps its value; null clears it. A change of driver, host, port or of an option that has `bindsSecrets` deletes secrets and fingerprint, unless the request has new ones. `roomId` moves the endpoint. The gateway then tries the item again; another name or room alone does not have it send a refused password again.',
    params,
    body: Shape(
      'GatewayDeviceUpdateRequest',
      {
        driver: Type.Optional(DriverName),
        host: Type.Optional(inputs.host),
        port: orNull(inputs.port),
        username: orNull(inputs.username),
        secret: orNull(inputs.secret),
        options: Type.Optional(inputs.options),
        roomId: Type.Optional(roomId),
        name: orNull(inputs.name),
        fingerprint: orNull(inputs.fingerprint),
      },
      { minProperties: 1 },
    ),
    bodyLimitBytes: mediumBodyBytes,
    response: GatewayDevice,
    versioned: true,
    ifMatch: true,
    audit: { category: 'DEVICE', type: 'GATEWAY_DEVICE_UPDATED' },
    example: { params: exampleParams, body: { secret: 'correct horse' }, response: { ...item, state: 'NEW' } },
  }),
  gatewayDevicesDelete: operation({
    method: 'DELETE',
    path: '/gateways/{id}/devices/{deviceId}',
    tag: 'Gateways',
    scope: 'write',
    summary: 'Remove an item from a gateway',
    description:
      'The credential of its endpoint stops working. Without `unenrol=true` the endpoint stays, OFFLINE and without a gateway.',
    params,
    query: { unenrol: Type.Boolean({ description: 'Whether to unenrol the endpoint too.' }) },
    response: Empty,
    ifMatch: true,
    audit: { category: 'DEVICE', type: 'GATEWAY_DEVICE_REMOVED' },
    example: { params: exampleParams, query: { unenrol: true }, response: {} },
  }),
  gatewayDevicesRetry: operation({
    method: 'POST',
    path: '/gateways/{id}/devices/{deviceId}/retry',
    tag: 'Gateways',
    scope: 'write',
    summary: 'Have the gateway try a device again now',
    description: 'A device that was REMOVED enrols again.',
    params,
    response: GatewayDevice,
    versioned: true,
    ifMatch: true,
    audit: { category: 'DEVICE', type: 'GATEWAY_DEVICE_RETRIED' },
    example: { params: exampleParams, response: item },
  }),
  gatewayDevicesTest: operation({
    method: 'POST',
    path: '/gateways/{id}/devices/test',
    tag: 'Gateways',
    scope: 'write',
    summary: 'Have the gateway try a device now, and read what it found',
    description:
      'The answer comes within 20 s. A gateway makes one test at a time, and 20 in a minute. With `deviceId` the stored values of that item are tried, as far as the request has no others; its stored secrets only at its stored address.',
    params: { id },
    body: Shape('GatewayDeviceTestRequest', {
      deviceId: Type.Optional(Type.String({ format: 'uuid', description: 'An item of the gateway.' })),
      driver: Type.Optional(DriverName),
      host: Type.Optional(inputs.host),
      port: orNull(inputs.port),
      username: orNull(inputs.username),
      secret: orNull(inputs.secret),
      options: Type.Optional(inputs.options),
      fingerprint: orNull(inputs.fingerprint),
    }),
    bodyLimitBytes: mediumBodyBytes,
    response: GatewayTestResult,
    repeat: 'later',
    audit: { category: 'DEVICE', type: 'GATEWAY_DEVICE_TESTED' },
    example: {
      params: { id: exampleEndpointId },
      body: { driver: 'roomos', host: '10.20.4.17', username: 'roomkeeper', secret: 'correct horse' },
      response: {
        found: {
          manufacturer: 'Cisco',
          model: 'Cisco Codec Pro',
          serial: 'FOC1234ABCD',
          firmwareVersion: 'ce11.14.5.0',
          notes: ['Counting people outside of calls is off: RoomAnalytics PeopleCountOutOfCall.'],
        },
      },
    },
  }),
}
