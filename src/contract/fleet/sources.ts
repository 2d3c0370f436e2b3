// Sources: systems that already know many devices, such as Neat Pulse or an MQTT broker. A gateway reads them. [contract 15.sources]

import Type, { type Static, type TProperties } from 'typebox'
import { csvList } from '../csv-list.ts'
import { DeviceSettings } from '../device/config-keys.ts'
import { type Sensor, sensorRanges, sensors } from '../device/models.ts'
import { operation, sourceBodyBytes } from '../operation.ts'
import {
  Bom,
  Empty,
  Int32,
  ListOf,
  MultilineText,
  maxNameLength,
  Name,
  OneOf,
  OptionalOrNull,
  Shape,
  SingleLineText,
  Timestamp,
} from '../shape.ts'
import { sourceTypes } from './drivers.ts'
import { exampleEndpointId } from './endpoints.ts'
import { Fingerprint, GatewayTestCertificate, maxReasonLength } from './gateways.ts'

const SourceTypeName = OneOf(sourceTypes, 'Type of the source. Values can be added.')

export const maxSourcesPerOrg = 20
/** A source has at most this many devices. */
export const maxSourceDevices = 5000
export const maxSourceDevicesPerRequest = 200
export const maxLinksPerRequest = 1000
export const maxTopics = 32
export const maxMappings = 20
/** A value for each sensor, and presence. */
const maxMappedValues = 8
const maxTemplateLength = 128
/** A certificate with its chain, or a private key. */
export const maxPemLength = 8192
export const maxKeyLength = 128
/** A profile of a source can have keys that are not known here. */
const maxReportedSettings = 100

/** The addresses of Neat Pulse. A gateway reaches them without an option. */
export const pulseUrls = ['https://api.pulse.neat.no', 'https://pulse.neat.no/api'] as const

export const sourceStates = ['NEW', 'CONNECTED', 'UNREACHABLE', 'REFUSED', 'CHANGED', 'FAILING', 'UNSUPPORTED'] as const
export type SourceState = (typeof sourceStates)[number]
const SourceStateName = OneOf(
  sourceStates,
  'NEW: the gateway has not tried it yet. CONNECTED: the gateway reads it. UNREACHABLE: it does not answer. REFUSED: it refused the key or the password. CHANGED: it has another certificate. FAILING: it answers, but not as it should. UNSUPPORTED: the gateway cannot read it. Values can be added.',
)

const url = SingleLineText(
  500,
  'Address: https:// or http:// for neat-pulse; mqtt://, mqtts://, ws:// or wss:// for mqtt. Without a user, a password, a query or a fragment.',
)
const mqttFilter = SingleLineText(255, 'An MQTT topic filter.')

/** The meanings that a value in a message can have. `presence` is people 0 or 1. */
export const mappedValues = [...sensors, 'presence'] as const
export type MappedValue = (typeof mappedValues)[number]

/** Which values in the messages of one model of device are which sensors. */
export const SensorMapping = Shape('SensorMapping', {
  format: OneOf(
    ['things-stack', 'chirpstack', 'json'],
    'Shape of the messages: uplinks of The Things Stack v3 or of ChirpStack v4, or any JSON.',
  ),
  model: SingleLineText(64, 'Model of the devices, as people call it.'),
  match: Type.Optional(
    SingleLineText(
      128,
      'The devices that have this mapping: a part of the name of their device profile or of their identifier. Absent means every device of this format without another mapping.',
    ),
  ),
  topic: Type.Optional(SingleLineText(255, 'json: the MQTT topic filter of the messages.')),
  device: Type.Optional(
    SingleLineText(
      maxTemplateLength,
      'json: the value that identifies the device, such as `value_json.serial`, or `topic[1]` for the second level of the topic. Absent means the whole topic.',
    ),
  ),
  time: Type.Optional(
    SingleLineText(maxTemplateLength, 'The value with the time of the measurement; absent means when it arrives.'),
  ),
  values: Type.Array(
    Shape('MappedValue', {
      sensor: OneOf(mappedValues, 'Meaning of the value.'),
      template: SingleLineText(
        maxTemplateLength,
        'Path to the value, such as `value_json.co2`. Filters such as `round(1)` can follow it.',
      ),
      unit: Type.Optional(SingleLineText(16, 'Unit of the value; absent means the unit of the sensor.')),
    }),
    { minItems: 1, maxItems: maxMappedValues, description: 'The values that are read.' },
  ),
})
export type SensorMapping = Static<typeof SensorMapping>

const settings = {
  orgId: SingleLineText(64, 'neat-pulse: the organisation there.'),
  write: Type.Boolean({
    description:
      'neat-pulse: whether reboots, messages, log requests and settings are sent there. False means read only.',
  }),
  username: SingleLineText(255, 'mqtt: user name.'),
  topics: Type.Array(mqttFilter, {
    maxItems: maxTopics,
    description:
      'mqtt: the topic filters that are read. Absent or empty means the discovery of Home Assistant, Tasmota, Shelly and AirGradient, and the uplinks of The Things Stack and ChirpStack.',
  }),
  authority: MultilineText(
    maxPemLength,
    'Certificate of an authority of your own (PEM), which confirms the certificate of the source.',
  ),
  clientCertificate: MultilineText(
    maxPemLength,
    'mqtt: certificate with which the gateway identifies itself (PEM). It needs `clientKey`.',
  ),
  mappings: Type.Array(SensorMapping, {
    maxItems: maxMappings,
    description: 'mqtt: how messages of LoRaWAN servers and other JSON are read.',
  }),
  enrolIntoRoomId: Int32(
    'mqtt: new devices are adopted into this room without a person. Absent means that a person adopts each.',
  ),
  fingerprint: Fingerprint('SHA-256 of the certificate that the source is expected to have, as sourcesTest shows it.'),
}

/** Answers name the secrets that are set, and never show one. */
export const sourceSecretNames = ['key', 'secret', 'clientKey'] as const
export type SourceSecretName = (typeof sourceSecretNames)[number]
const secrets = {
  key: Type.String({ minLength: 1, maxLength: 255, format: 'password', description: 'neat-pulse: API key.' }),
  secret: Type.String({ minLength: 1, maxLength: 255, format: 'password', description: 'mqtt: password.' }),
  clientKey: Type.String({
    minLength: 1,
    maxLength: maxPemLength,
    format: 'lines',
    writeOnly: true,
    description: 'mqtt: private key of the client certificate (PEM).',
  }),
}

const id = Type.String({ format: 'uuid', description: 'Identifier of the source.' })
const gatewayId = Type.String({ format: 'uuid', description: 'The gateway that reads the source.' })
const name = Name('source')

const optionalSettings = {
  orgId: Type.Optional(settings.orgId),
  write: Type.Optional(settings.write),
  username: Type.Optional(settings.username),
  topics: Type.Optional(settings.topics),
  authority: Type.Optional(settings.authority),
  clientCertificate: Type.Optional(settings.clientCertificate),
  mappings: Type.Optional(settings.mappings),
  enrolIntoRoomId: Type.Optional(settings.enrolIntoRoomId),
  fingerprint: Type.Optional(settings.fingerprint),
}

const counts = Shape('SourceDeviceCounts', {
  FOUND: Int32('Devices about which no person has decided yet.'),
  ADOPTED: Int32('Devices that are endpoints here.'),
  EXCLUDED: Int32('Devices that a person does not want here.'),
  missing: Int32('Devices that the source no longer lists, of all three.'),
})

/** Counts what is at the source. */
export const SourceContent = Shape('SourceContent', {
  regions: Type.Optional(Int32('Number of regions.')),
  locations: Type.Optional(Int32('Number of locations.')),
  rooms: Type.Optional(Int32('Number of rooms.')),
  profiles: Type.Optional(Int32('Number of profiles.')),
  devices: Type.Optional(Int32('Number of devices.')),
})
export type SourceContent = Static<typeof SourceContent>

export const Source = Shape('Source', {
  id,
  type: SourceTypeName,
  gatewayId,
  gatewayName: Type.Optional(Type.String({ description: 'Name of the gateway.' })),
  name,
  url,
  ...optionalSettings,
  secrets: Type.Array(Type.String(), { description: 'The names of the secrets that have a value.' }),
  state: SourceStateName,
  reason: Type.Optional(Type.String({ description: 'Why the source is in this state, in words.' })),
  since: Timestamp('Since when the source is in this state.'),
  reachedAt: Type.Optional(Timestamp('When the gateway last had a session with the source; absent if it never had.')),
  devices: counts,
  content: Type.Optional(SourceContent),
})
export type Source = Static<typeof Source>

/** The answer of a gateway that tried a source. */
export const SourceTestResult = Shape('SourceTestResult', {
  found: Type.Optional(
    Shape('SourceTestFinding', {
      version: Type.Optional(SingleLineText(100, 'Name and version of the system, if it tells them.')),
      content: Type.Optional(SourceContent),
      certificate: Type.Optional(GatewayTestCertificate),
      notes: Type.Optional(
        Type.Array(SingleLineText(255, 'A sentence.'), {
          maxItems: 16,
          description: 'Sentences about what does not work, and what to change.',
        }),
      ),
    }),
  ),
  state: Type.Optional(
    OneOf(
      ['UNREACHABLE', 'REFUSED', 'CHANGED', 'FAILING', 'UNSUPPORTED'],
      'The state that a source would have; absent if the test succeeded, or if the gateway gave no answer.',
    ),
  ),
  reason: Type.Optional(SingleLineText(maxReasonLength, 'Why the test failed, in words.')),
})
export type SourceTestResult = Static<typeof SourceTestResult>

// The regions, locations, rooms and profiles of a source.

const theirId = (noun: string) => SingleLineText(64, `Identifier of the ${noun} at the source.`)
/** Texts of a source are stored as they are. */
const theirText = (maxLength: number, description: string) => Type.String({ maxLength, format: 'any', description })
const theirName = theirText(255, 'Name at the source.')
const things = {
  region: { id: theirId('region'), name: theirName },
  location: { id: theirId('location'), name: theirName, regionId: Type.Optional(theirId('region')) },
  room: {
    id: theirId('room'),
    name: theirName,
    locationId: Type.Optional(theirId('location')),
    profileId: Type.Optional(theirId('profile')),
    capacity: Type.Optional(Int32('Capacity at the source.')),
  },
  profile: {
    id: theirId('profile'),
    name: theirName,
    description: Type.Optional(theirText(1024, 'Description at the source.')),
  },
}
const linkedId = Type.Optional(
  Int32('Identifier of the thing here that it is linked to; absent if it is not linked, or was deleted here.'),
)

const structureList = <P extends TProperties>(title: string, noun: string, properties: P) =>
  Type.Array(Shape(title, properties), { maxItems: maxSourceDevices, description: `The ${noun}s of the source.` })

/** A part of a structure has at most this many things, and this many profiles, which have up to a hundred settings. */
export const maxThingsPerPart = 500
export const maxProfilesPerPart = 40
const partOf = <P extends TProperties>(title: string, noun: string, maxItems: number, properties: P) =>
  Type.Optional(Type.Array(Shape(title, properties), { maxItems, description: `The ${noun}s of this part.` }))

/** A gateway reports a structure in parts. */
export const StructurePart = Shape('SourceStructurePart', {
  revision: Type.Integer({ minimum: 0, maximum: 2147483647, description: 'The revision of the source.' }),
  readAt: Timestamp('When the gateway read the structure. It is the same in all parts of one structure.'),
  isLast: Type.Boolean({
    description:
      'Whether the structure is complete with this part. Things that are in none of its parts are then gone.',
  }),
  regions: partOf('SourceRegionReport', 'region', maxThingsPerPart, things.region),
  locations: partOf('SourceLocationReport', 'location', maxThingsPerPart, things.location),
  rooms: partOf('SourceRoomReport', 'room', maxThingsPerPart, things.room),
  profiles: partOf('SourceProfileReport', 'profile', maxProfilesPerPart, {
    ...things.profile,
    config: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.Boolean(), Type.Number(), Type.String({ maxLength: 255 })]), {
        maxProperties: maxReportedSettings,
        description:
          'Settings of the profile. The service ignores keys and values that it does not know, and passwords.',
      }),
    ),
  }),
})
export type StructurePart = Static<typeof StructurePart>
export type StructureThings = Required<Pick<StructurePart, 'regions' | 'locations' | 'rooms' | 'profiles'>>
/** The whole structure, which structureParts cuts into parts. */
export type ReportedStructure = StructureThings & Pick<StructurePart, 'revision'>

export const SourceStructure = Shape('SourceStructure', {
  readAt: Type.Optional(Timestamp('When the gateway read it; absent if it never did.')),
  regions: structureList('SourceRegion', 'region', { ...things.region, linkedId }),
  locations: structureList('SourceLocation', 'location', { ...things.location, linkedId }),
  rooms: structureList('SourceRoom', 'room', { ...things.room, linkedId }),
  profiles: structureList('SourceProfile', 'profile', {
    ...things.profile,
    config: Type.Optional(DeviceSettings),
    linkedId,
  }),
})
export type SourceStructure = Static<typeof SourceStructure>

export const linkedKinds = ['region', 'location', 'room', 'profile'] as const
export type LinkedKind = (typeof linkedKinds)[number]
const SourceLink = Shape('SourceLink', {
  kind: OneOf(linkedKinds, 'Kind of the things that are linked.'),
  theirId: theirId('thing'),
  linkedId: Type.Union([Int32('Identifier of the thing here.'), Type.Null()], {
    description: 'Null removes the link.',
  }),
})

// The devices of a source.

const sampleValues = Shape(
  'SourceDeviceValues',
  Object.fromEntries(
    sensors.map((sensor) => [
      sensor,
      Type.Optional(Type.Number({ description: `From ${sensorRanges[sensor].min} to ${sensorRanges[sensor].max}.` })),
    ]),
  ) as Record<Sensor, ReturnType<typeof Type.Optional<ReturnType<typeof Type.Number>>>>,
)

const deviceKey = SingleLineText(maxKeyLength, 'Identifies the device at its source.')
const reported = {
  key: deviceKey,
  name: Type.Optional(SingleLineText(100, 'Name of the device at the source.')),
  manufacturer: Type.Optional(SingleLineText(100, 'Maker of the device.')),
  model: SingleLineText(64, 'Model of the device.'),
  serial: Type.Optional(SingleLineText(64, 'Serial number; absent if it has none.')),
  theirRoomId: Type.Optional(theirId('room')),
  sensors: Type.Optional(
    Type.Array(OneOf(sensors, 'A sensor.'), { maxItems: sensors.length, description: 'Sensors of the device.' }),
  ),
  values: Type.Optional(sampleValues),
  measuredAt: Type.Optional(Timestamp('When the values were measured.')),
  topic: Type.Optional(SingleLineText(255, 'mqtt: a topic of the device.')),
  format: Type.Optional(
    OneOf(
      ['home-assistant', 'tasmota', 'shelly', 'airgradient', 'things-stack', 'chirpstack', 'json'],
      'mqtt: shape of its messages. Values can be added.',
    ),
  ),
  mapping: Type.Optional(SingleLineText(64, 'mqtt: the model of the mapping that reads its messages.')),
  lastMessage: Type.Optional(
    Type.String({
      maxLength: 4096,
      format: 'any',
      description: 'mqtt: the latest message, cut after 4,096 characters. Lists have it only with `key`.',
    }),
  ),
  notUnderstood: Type.Optional(
    Type.Array(SingleLineText(255, 'A sentence with the text that was not understood.'), {
      maxItems: 16,
      description: 'Parts of the device that the gateway could not read.',
    }),
  ),
  refusedBecause: Type.Optional(
    SingleLineText(maxReasonLength, 'Why the device cannot be adopted, such as one that is mirrored there itself.'),
  ),
  isMissing: Type.Optional(
    Type.Boolean({ description: 'Whether the source no longer lists the device; absent means false.' }),
  ),
}

/** As a gateway reports it. */
export const FoundDevice = Shape('FoundDevice', reported)
export type FoundDevice = Static<typeof FoundDevice>
export const FoundDevices = Shape('FoundDevices', {
  revision: Type.Integer({ minimum: 0, maximum: 2147483647, description: 'The revision of the source.' }),
  devices: Type.Array(FoundDevice, {
    maxItems: maxSourceDevicesPerRequest,
    description: 'Devices that are new or have changed. Those that are not named stay as they are.',
  }),
  listed: Type.Optional(
    Type.Array(deviceKey, {
      maxItems: 2 * maxSourceDevices,
      description: 'The keys of a complete list, if the gateway has one: all other devices of the source are missing.',
    }),
  ),
})
export type FoundDevices = Static<typeof FoundDevices>

export const sourceDeviceStates = ['FOUND', 'ADOPTED', 'EXCLUDED'] as const
export type SourceDeviceState = (typeof sourceDeviceStates)[number]

export const SourceDevice = Shape('SourceDevice', {
  ...reported,
  state: OneOf(
    sourceDeviceStates,
    'FOUND: no person has decided about it yet. ADOPTED: it is an endpoint here. EXCLUDED: a person does not want it here, or has deleted its endpoint.',
  ),
  isMissing: Type.Boolean({ description: 'Whether the source no longer lists the device.' }),
  deviceId: Type.Optional(Type.String({ format: 'uuid', description: 'ADOPTED: its item at the gateway.' })),
  deviceState: Type.Optional(Type.String({ description: 'ADOPTED: state of that item.' })),
  reason: Type.Optional(Type.String({ description: 'ADOPTED: why the item is in this state, in words.' })),
  endpointId: Type.Optional(
    Type.String({ format: 'uuid', description: 'ADOPTED: its endpoint; absent until it has enrolled.' }),
  ),
  roomId: Type.Optional(Int32('ADOPTED: its room.')),
  roomName: Type.Optional(Type.String({ description: 'ADOPTED: name of its room.' })),
  theirRoomName: Type.Optional(Type.String({ description: 'Name of its room at the source.' })),
  linkedRoomId: Type.Optional(Int32('The room here that is linked to its room at the source.')),
  foundAt: Timestamp('When the gateway first reported it.'),
})
export type SourceDevice = Static<typeof SourceDevice>

const decision = Shape('SourceDeviceDecision', {
  key: deviceKey,
  state: Type.Optional(
    OneOf(
      ['ADOPTED', 'EXCLUDED', 'FOUND'],
      'ADOPTED needs a room. FOUND takes an exclusion back. An ADOPTED device is removed with gatewayDevicesDelete.',
    ),
  ),
  roomId: Type.Optional(Int32('The room of the device; for one that is ADOPTED already, the room that it moves to.')),
  name: OptionalOrNull(SingleLineText(maxNameLength, 'Name that the endpoint gets when the device enrols.')),
})

const source: Source = {
  id: '7d0f1a52-2c58-4b0e-8c25-0d0e9b1f6a11',
  type: 'neat-pulse',
  gatewayId: exampleEndpointId,
  name: 'Neat Pulse',
  url: pulseUrls[0],
  orgId: 'aBcD123',
  write: false,
  secrets: ['key'],
  state: 'CONNECTED',
  since: '2026-05-04T08:15:30.000Z',
  reachedAt: '2026-05-04T08:15:30.000Z',
  devices: { FOUND: 3, ADOPTED: 41, EXCLUDED: 0, missing: 0 },
  content: { regions: 2, locations: 5, rooms: 38, profiles: 3, devices: 44 },
}
const device: SourceDevice = {
  key: 'b6a0c1de-7f9a-4f0d-9a38-5d2a9cf1c001',
  name: 'Fjord Bar',
  manufacturer: 'Neat',
  model: 'NF19B1',
  serial: 'NB12042000123',
  theirRoomId: '12',
  state: 'FOUND',
  isMissing: false,
  theirRoomName: 'Fjord',
  linkedRoomId: 7,
  foundAt: '2026-05-04T08:15:30.000Z',
}
const params = { id }
const exampleParams = { id: source.id }
const optionalSecrets = {
  key: OptionalOrNull(secrets.key),
  secret: OptionalOrNull(secrets.secret),
  clientKey: OptionalOrNull(secrets.clientKey),
}
const nullableSettings = {
  orgId: OptionalOrNull(settings.orgId),
  write: OptionalOrNull(settings.write),
  username: OptionalOrNull(settings.username),
  topics: OptionalOrNull(settings.topics),
  authority: OptionalOrNull(settings.authority),
  clientCertificate: OptionalOrNull(settings.clientCertificate),
  mappings: OptionalOrNull(settings.mappings),
  enrolIntoRoomId: OptionalOrNull(settings.enrolIntoRoomId),
  fingerprint: OptionalOrNull(settings.fingerprint),
}
const shared = { tag: 'Sources', everywhere: true } as const

export const sourceOperations = {
  sourcesList: operation({
    ...shared,
    method: 'GET',
    path: '/sources',
    scope: 'write',
    summary: 'List the sources, each with its state and the number of its devices',
    response: ListOf('SourceList', 'sources', Source),
    example: { response: { sources: [source] } },
  }),
  sourcesGet: operation({
    ...shared,
    method: 'GET',
    path: '/sources/{id}',
    scope: 'write',
    summary: 'Read one source',
    params,
    response: Source,
    versioned: true,
    example: { params: exampleParams, response: source },
  }),
  sourcesCreate: operation({
    ...shared,
    method: 'POST',
    path: '/sources',
    scope: 'write',
    summary: 'Connect a source, which a gateway reads',
    description: `An organisation has at most ${maxSourcesPerOrg} sources. Nothing of a source becomes an endpoint, a room or a profile until a person says so.`,
    body: Shape('SourceCreateRequest', {
      type: SourceTypeName,
      gatewayId,
      name: Type.Optional(name),
      url: Type.Optional(url),
      ...nullableSettings,
      ...optionalSecrets,
    }),
    bodyLimitBytes: sourceBodyBytes,
    response: Source,
    versioned: true,
    audit: { category: 'DEVICE', type: 'SOURCE_CREATED' },
    example: {
      body: { type: 'neat-pulse', gatewayId: exampleEndpointId, orgId: 'aBcD123', key: 'correct horse' },
      response: { ...source, state: 'NEW', reachedAt: undefined, content: undefined },
    },
  }),
  sourcesUpdate: operation({
    ...shared,
    method: 'PUT',
    path: '/sources/{id}',
    scope: 'write',
    summary: 'Change a source',
    description:
      'An absent key keeps its value; null clears it. A change of `url` deletes all secrets and the fingerprint, unless the request has new ones. The gateway then tries the source again, also after an empty change.',
    params,
    body: Shape('SourceUpdateRequest', {
      name: Type.Optional(name),
      url: Type.Optional(url),
      ...nullableSettings,
      ...optionalSecrets,
    }),
    bodyLimitBytes: sourceBodyBytes,
    response: Source,
    versioned: true,
    ifMatch: true,
    audit: { category: 'DEVICE', type: 'SOURCE_UPDATED' },
    example: { params: exampleParams, body: { write: true }, response: { ...source, write: true } },
  }),
  sourcesDelete: operation({
    ...shared,
    method: 'DELETE',
    path: '/sources/{id}',
    scope: 'write',
    summary: 'Remove a source with its links and devices',
    description:
      'The credentials of its endpoints stop working. Without `unenrol=true` the endpoints stay, OFFLINE and without a gateway. Rooms and profiles that were made from it stay.',
    params,
    query: { unenrol: Type.Boolean({ description: 'Whether to unenrol its endpoints too.' }) },
    response: Empty,
    ifMatch: true,
    audit: { category: 'DEVICE', type: 'SOURCE_DELETED' },
    example: { params: exampleParams, response: {} },
  }),
  sourcesTest: operation({
    ...shared,
    method: 'POST',
    path: '/sources/test',
    scope: 'write',
    summary: 'Have a gateway try a source now, and read what it found',
    description:
      'The answer comes within 20 s. A gateway makes one test at a time, and 20 in a minute, with those of its devices. With `sourceId` the stored values are tried, as far as the request has no others; stored secrets only at the stored address.',
    body: Shape('SourceTestRequest', {
      sourceId: Type.Optional(id),
      type: Type.Optional(SourceTypeName),
      gatewayId: Type.Optional(gatewayId),
      url: Type.Optional(url),
      ...nullableSettings,
      ...optionalSecrets,
    }),
    bodyLimitBytes: sourceBodyBytes,
    response: SourceTestResult,
    repeat: 'later',
    audit: { category: 'DEVICE', type: 'SOURCE_TESTED' },
    example: {
      body: { type: 'neat-pulse', gatewayId: exampleEndpointId, orgId: 'aBcD123', key: 'correct horse' },
      response: { found: { content: source.content } },
    },
  }),
  sourcesStructure: operation({
    ...shared,
    method: 'GET',
    path: '/sources/{id}/structure',
    scope: 'write',
    summary: 'Read the regions, locations, rooms and profiles of a source, and what they are linked to here',
    params,
    response: SourceStructure,
    example: {
      params: exampleParams,
      response: {
        readAt: '2026-05-04T08:15:30.000Z',
        regions: [{ id: '1', name: 'Nordics', linkedId: 3 }],
        locations: [{ id: '4', name: 'Oslo', regionId: '1', linkedId: 5 }],
        rooms: [{ id: '12', name: 'Fjord', locationId: '4', linkedId: 7 }],
        profiles: [],
      },
    },
  }),
  sourcesLink: operation({
    ...shared,
    method: 'PUT',
    path: '/sources/{id}/links',
    scope: 'write',
    summary: 'Say which region, location, room or profile here belongs to one of the source',
    description: `At most ${maxLinksPerRequest} links. Links that are not named stay as they are. A thing here has one link in each source.`,
    params,
    body: Shape('SourceLinksRequest', {
      links: Type.Array(SourceLink, { minItems: 1, maxItems: maxLinksPerRequest, description: 'The links.' }),
    }),
    bodyLimitBytes: sourceBodyBytes,
    response: Empty,
    audit: { category: 'DEVICE', type: 'SOURCE_LINKED' },
    example: {
      params: exampleParams,
      body: { links: [{ kind: 'room', theirId: '12', linkedId: 7 }] },
      response: {},
    },
  }),
  sourceDevicesList: operation({
    ...shared,
    method: 'GET',
    path: '/sources/{id}/devices',
    scope: 'write',
    summary: 'List the devices that a gateway found at a source, in the order in which it found them',
    params,
    query: {
      state: OneOf(sourceDeviceStates, 'Only devices in this state.'),
      key: Type.String({ maxLength: maxKeyLength, description: 'Only this device.' }),
      bom: Bom,
    },
    response: ListOf('SourceDeviceList', 'devices', SourceDevice),
    csv: true,
    csvList: csvList('source-devices', 'devices', SourceDevice),
    example: { params: exampleParams, response: { devices: [device] } },
  }),
  sourceDevicesUpdate: operation({
    ...shared,
    method: 'PUT',
    path: '/sources/{id}/devices',
    scope: 'write',
    summary: 'Adopt devices of a source into rooms, exclude them, or take an exclusion back',
    description: `At most ${maxSourceDevicesPerRequest} devices, and all of them or none. The gateway then enrols those that are adopted.`,
    params,
    body: Shape('SourceDevicesRequest', {
      devices: Type.Array(decision, {
        minItems: 1,
        maxItems: maxSourceDevicesPerRequest,
        description: 'A decision for each device.',
      }),
    }),
    bodyLimitBytes: sourceBodyBytes,
    response: ListOf('SourceDevicesAnswer', 'devices', SourceDevice),
    audit: { category: 'DEVICE', type: 'SOURCE_DEVICES_UPDATED' },
    example: {
      params: exampleParams,
      body: { devices: [{ key: device.key, state: 'ADOPTED', roomId: 7 }] },
      response: { devices: [{ ...device, state: 'ADOPTED', roomId: 7, roomName: 'Fjord' }] },
    },
  }),
}
