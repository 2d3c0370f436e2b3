// The device protocol: enrolment, topics and every message, as docs/device-protocol.md describes them.

import Type, { type Static, type TSchema } from 'typebox'
import { commandTypes } from '../fleet/commands.ts'
import { DriverName, ItemDriverName, sourceTypes } from '../fleet/drivers.ts'
import { type GatewayTestResult, gatewayDeviceStates, maxReasonLength } from '../fleet/gateways.ts'
import { reportedFields } from '../fleet/reported-status.ts'
import { SensorMapping, SourceContent, type SourceTestResult, sourceStates } from '../fleet/sources.ts'
import { Int32, MultilineText, OneOf, Shape, SingleLineText, Timestamp } from '../shape.ts'
import { type Sensor, sensorRanges } from './models.ts'

const serial = SingleLineText(64, 'Serial number, as printed on the device. Each device has its own.')

export const EnrolRequest = Shape('EnrolRequest', {
  code: SingleLineText(64, 'Enrolment code of the room; case, spaces and hyphens do not matter.'),
  serial,
  model: SingleLineText(64, 'Model code, for example NF19B1.'),
  pairingSerial: Type.Optional(
    SingleLineText(64, 'Serial number of the leader that the device is paired with; absent means unchanged.'),
  ),
})
export type EnrolRequest = Static<typeof EnrolRequest>

export const EnrolAnswer = Shape('EnrolAnswer', {
  endpointId: Type.String({
    format: 'uuid',
    description: 'Identifier of the endpoint. The device uses it as its MQTT user name.',
  }),
  credential: Type.String({ description: 'The MQTT password of the device. It is not sent again.' }),
  connect: Type.Array(Type.String(), {
    description: 'Addresses to connect to, in the order of preference: mqtts://, wss://, mqtt:// or ws://.',
  }),
})
export type EnrolAnswer = Static<typeof EnrolAnswer>

/** A message from a device may leave out anything, and take back what it said with null. */
const sparse = <P extends Record<string, TSchema>>(fields: P) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, shape]) => [name, Type.Optional(Type.Union([shape, Type.Null()]))]),
  )

export const StatusReport = Type.Unsafe<Record<string, unknown>>(Shape('StatusReport', sparse(reportedFields)))

export type DeviceSample = { timestamp: number; shutterClosed?: boolean | null } & { [S in Sensor]?: number | null }
export const DeviceSample = Type.Unsafe<DeviceSample>(
  Shape('DeviceSample', {
    // Whole is said twice: where infinite values are let in, to refuse one sample only, this keeps infinite times out.
    timestamp: Type.Integer({ multipleOf: 1, description: 'Time of the measurement, Unix seconds.' }),
    ...Object.fromEntries(
      Object.entries(sensorRanges).map(([name, { min, max, unit }]) => [
        name,
        Type.Optional(Type.Union([Type.Number({ description: `From ${min} to ${max} (${unit}).` }), Type.Null()])),
      ]),
    ),
    shutterClosed: Type.Optional(
      Type.Union([Type.Boolean({ description: 'Whether the privacy shutter is closed (Frames).' }), Type.Null()]),
    ),
  }),
)
export const maxSamplesPerMessage = 500
export const SampleReport = Shape('SampleReport', {
  samples: Type.Array(DeviceSample, {
    minItems: 1,
    maxItems: maxSamplesPerMessage,
    description: 'One sample, or several that waited for a connection.',
  }),
})

const configValue = Type.Union([Type.Boolean(), Type.Number(), Type.String({ maxLength: 255 })])
/** A maker may report keys of its own; Roomkeeper knows about 60. */
const maxReportedKeys = 500
export const ConfigReport = Shape('ConfigReport', {
  version: Type.Integer({
    minimum: 0,
    maximum: 2147483647,
    description: 'The version of the desired config that the device received last; 0 if none.',
  }),
  config: Type.Record(Type.String(), configValue, {
    maxProperties: maxReportedKeys,
    description: 'The current value of every key, including read-only keys, without passwords.',
  }),
  rejected: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 255 }), {
      maxProperties: maxReportedKeys,
      description: 'Keys of this version that the device refuses, each with a human-readable reason.',
    }),
  ),
})
export type ConfigReport = Static<typeof ConfigReport>

const operationId = Type.String({ format: 'uuid', description: 'Identifier of the operation.' })
export const CommandReport = Shape('OperationReport', {
  id: operationId,
  state: OneOf(['ACKNOWLEDGED', 'SUCCEEDED', 'FAILED'], 'State of the operation.'),
  error: Type.Optional(Type.String({ maxLength: 255, description: 'Human-readable reason why the operation failed.' })),
})
export type CommandReport = Static<typeof CommandReport>

export const LogsReport = Shape('LogsReport', {
  id: operationId,
  state: OneOf(
    ['UPLOADED', 'URL_WANTED'],
    'UPLOADED: the device has uploaded the log bundle. URL_WANTED: the upload address no longer works, and the device needs a new one.',
  ),
})
export type LogsReport = Static<typeof LogsReport>

export const DesiredConfig = Shape('DesiredConfig', {
  version: Int32('Number of the version. The device sends it back in its config report.'),
  config: Type.Record(Type.String(), configValue, {
    description: 'All keys to set, including passwords. A key that is absent goes back to its default.',
  }),
})
export type DesiredConfig = Static<typeof DesiredConfig>

export const DeviceCommandMessage = Shape('OperationCommand', {
  id: Type.String({
    format: 'uuid',
    description:
      'Identifier of the operation. The device sends it back in its reports, and remembers it, so that it executes no command twice except COLLECT_LOGS.',
  }),
  type: OneOf([...commandTypes, 'UNENROL'], 'The command.'),
  deadline: Timestamp('Time after which the device must not begin.'),
  onlyIfIdle: Type.Optional(
    Type.Literal(true, { description: 'REBOOT: do it only if the device is not in use; else report FAILED `in use`.' }),
  ),
  message: Type.Optional(MultilineText(1024, 'MESSAGE: the text for the screen.')),
  on: Type.Optional(Type.Boolean({ description: 'POWER: whether to switch on; false switches off.' })),
  logs: Type.Optional(
    Shape(
      'LogsWanted',
      {
        supportId: Type.String({ description: 'The support case that the logs are for.' }),
        inCallLogs: Type.Boolean({ description: 'Whether to include logs of calls.' }),
        uploadUrl: Type.String({ description: 'Address for the PUT request that uploads the log bundle (gzip).' }),
      },
      { description: 'COLLECT_LOGS: the logs to upload, and the upload address.' },
    ),
  ),
})
export type DeviceCommandMessage = Static<typeof DeviceCommandMessage>

export const SampleRefused = Shape('SampleRefused', {
  refused: Type.Array(
    Shape('RefusedSample', {
      timestamp: Type.Integer({ description: 'Timestamp of the refused sample.' }),
      reason: Type.String({ description: 'Human-readable reason.' }),
    }),
    { description: 'Samples of one message that were not stored. Do not send them again.' },
  ),
})
export type SampleRefused = Static<typeof SampleRefused>

export const MessageRefused = Shape('MessageRefused', {
  kind: Type.String({ description: 'The last part of the topic of the invalid message, up to 40 characters.' }),
  reason: Type.String({ description: 'Human-readable message: what is wrong.' }),
  field: Type.String({
    description:
      'JSON Pointer (RFC 6901) to the invalid value, up to 200 characters; empty for the message as a whole.',
  }),
  allowed: Type.Optional(Type.Array(Type.String(), { description: 'The allowed values, if they can be listed.' })),
})
export type MessageRefused = Static<typeof MessageRefused>

export const maxIgnoredKeys = 32
export const KeysIgnored = Shape('KeysIgnored', {
  kind: Type.String({ description: 'The last part of the topic of the message.' }),
  keys: Type.Array(Type.String(), {
    maxItems: maxIgnoredKeys,
    description: 'JSON Pointers (RFC 6901) to keys that the service does not know, up to 200 characters each.',
  }),
})
export type KeysIgnored = Static<typeof KeysIgnored>

/** A list of this many states goes into one message. */
export const maxDeviceStatesPerMessage = 100
export const DevicesReport = Shape('DevicesReport', {
  devices: Type.Array(
    Shape('GatewayDeviceReport', {
      id: Type.String({ format: 'uuid', description: 'Identifier of the item.' }),
      revision: Type.Integer({ minimum: 0, maximum: 2147483647, description: 'The revision that was tried.' }),
      state: OneOf(
        ['CONNECTED', 'UNREACHABLE', 'REFUSED', 'CHANGED', 'UNSUPPORTED', 'DUPLICATE'],
        'State of the item. The service decides DUPLICATE by itself, when the device enrols.',
      ),
      reason: Type.Optional(
        SingleLineText(maxReasonLength, 'Human-readable reason, which tells a technician what to do.'),
      ),
    }),
    { minItems: 1, maxItems: maxDeviceStatesPerMessage, description: 'Items whose state has changed.' },
  ),
})
export type DevicesReport = Static<typeof DevicesReport>

export const DeviceListChanged = Shape('DeviceListChanged', {
  version: Int32('Version of the list of devices. The gateway reads the list if it has another version.'),
})
export type DeviceListChanged = Static<typeof DeviceListChanged>

/** The states of this many sources go into one message. */
export const maxSourceStatesPerMessage = 20
export const SourcesReport = Shape('SourcesReport', {
  sources: Type.Array(
    Shape('GatewaySourceReport', {
      id: Type.String({ format: 'uuid', description: 'Identifier of the source.' }),
      revision: Type.Integer({ minimum: 0, maximum: 2147483647, description: 'The revision that was tried.' }),
      state: OneOf(
        sourceStates.filter((state) => state !== 'NEW'),
        'State of the source. In every state but CONNECTED its devices cannot be seen.',
      ),
      reason: Type.Optional(
        SingleLineText(maxReasonLength, 'Human-readable reason, which tells a technician what to do.'),
      ),
      content: Type.Optional(SourceContent),
    }),
    { minItems: 1, maxItems: maxSourceStatesPerMessage, description: 'Sources whose state has changed.' },
  ),
})
export type SourcesReport = Static<typeof SourcesReport>

const gatewayTarget = {
  host: Type.String({ description: 'IP address or name of the device.' }),
  port: Type.Integer({ description: 'Port of the device.' }),
  username: Type.Optional(Type.String({ description: 'User with whom to sign in.' })),
  secret: Type.Optional(Type.String({ description: 'Password, in plain text.' })),
  options: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
    description: 'All options of the driver, with defaults and secret ones.',
  }),
  fingerprint: Type.Optional(
    Type.String({ description: 'SHA-256 of the certificate that a person confirmed, such as AB:CD:….' }),
  ),
}
export const ListedGatewayDevice = Shape('ListedGatewayDevice', {
  id: Type.String({ format: 'uuid', description: 'Identifier of the item.' }),
  revision: Type.Integer({ description: 'Grows when a person changes the item, or wants it to be tried again.' }),
  targetRevision: Type.Integer({
    description:
      'The revision at which the item was last to be tried: a person changed how it is reached, or wanted it to be tried again. A change of only name or room keeps it.',
  }),
  driver: ItemDriverName,
  ...gatewayTarget,
  sourceId: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'The source that the device belongs to; then it has no address of its own.',
    }),
  ),
  sourceKey: Type.Optional(Type.String({ description: 'Identifies the device at its source.' })),
  roomId: Type.Optional(Int32('The room of the device.')),
  name: Type.Optional(Type.String({ description: 'Name that a person gave to the item.' })),
  state: OneOf(gatewayDeviceStates, 'State of the item. A gateway does not connect to one that is REMOVED.'),
  endpointId: Type.Optional(Type.String({ format: 'uuid', description: 'Its endpoint, if the device has enrolled.' })),
})
export type ListedGatewayDevice = Static<typeof ListedGatewayDevice>

export const ListedGatewayTest = Shape('ListedGatewayTest', {
  id: Type.String({ format: 'uuid', description: 'Identifier of the test.' }),
  driver: DriverName,
  ...gatewayTarget,
})
export type ListedGatewayTest = Static<typeof ListedGatewayTest>

/** A source as its gateway reads it: its secrets are in plain text. */
const sourceTarget = {
  type: OneOf(sourceTypes, 'Type of the source.'),
  url: Type.String({ description: 'Address of the source.' }),
  orgId: Type.Optional(Type.String({ description: 'neat-pulse: the organisation there.' })),
  key: Type.Optional(Type.String({ description: 'neat-pulse: API key.' })),
  write: Type.Optional(Type.Boolean({ description: 'neat-pulse: whether anything is sent there.' })),
  username: Type.Optional(Type.String({ description: 'mqtt: user name.' })),
  secret: Type.Optional(Type.String({ description: 'mqtt: password.' })),
  clientCertificate: Type.Optional(Type.String({ description: 'mqtt: certificate of the gateway (PEM).' })),
  clientKey: Type.Optional(Type.String({ description: 'mqtt: private key of that certificate (PEM).' })),
  authority: Type.Optional(Type.String({ description: 'Certificate of an authority that confirms the source (PEM).' })),
  fingerprint: Type.Optional(Type.String({ description: 'SHA-256 of the certificate that a person confirmed.' })),
  topics: Type.Optional(Type.Array(Type.String(), { description: 'mqtt: the topic filters that are read.' })),
  mappings: Type.Optional(
    Type.Array(SensorMapping, { description: 'mqtt: how messages of LoRaWAN servers and other JSON are read.' }),
  ),
}
export const ListedSource = Shape('ListedSource', {
  id: Type.String({ format: 'uuid', description: 'Identifier of the source.' }),
  revision: Type.Integer({ description: 'Grows when a person changes the source, or wants it to be tried again.' }),
  targetRevision: Type.Integer({
    description:
      'The revision at which the source was last to be tried: a person changed its address, account, key, password or certificates, or wanted it to be tried again. Other changes keep it.',
  }),
  state: OneOf(sourceStates, 'State of the source.'),
  deviceCount: Type.Optional(
    Int32(
      'How many devices of the source the service knows. A gateway that has reported more sends all of them again.',
    ),
  ),
  hasStructure: Type.Optional(
    Type.Boolean({ description: 'Whether the service has the regions, locations, rooms and profiles of the source.' }),
  ),
  ...sourceTarget,
})
export type ListedSource = Static<typeof ListedSource>

export const ListedSourceTest = Shape('ListedSourceTest', {
  id: Type.String({ format: 'uuid', description: 'Identifier of the test.' }),
  ...sourceTarget,
})
export type ListedSourceTest = Static<typeof ListedSourceTest>

export const GatewayDeviceList = Shape('GatewayDeviceListPage', {
  version: Int32('Version of the list.'),
  devices: Type.Array(ListedGatewayDevice, { description: 'Items of this page.' }),
  tests: Type.Array(ListedGatewayTest, { description: 'Tests that wait for an answer; on the first page only.' }),
  sources: Type.Optional(
    Type.Array(ListedSource, { description: 'The sources that the gateway reads; on the first page only.' }),
  ),
  sourceTests: Type.Optional(
    Type.Array(ListedSourceTest, {
      description: 'Tests of sources that wait for an answer; on the first page only.',
    }),
  ),
  nextPageToken: Type.Optional(Type.String({ description: 'Present if there are more items.' })),
})
export type GatewayDeviceList = Static<typeof GatewayDeviceList>

export const GatewayEnrolRequest = Shape('GatewayEnrolRequest', {
  serial: Type.Optional(SingleLineText(64, 'Serial number that the device reports; absent if it reports none.')),
  model: SingleLineText(64, 'Model that the device reports.'),
  manufacturer: Type.Optional(SingleLineText(100, 'Maker that the device reports.')),
})
export type GatewayEnrolRequest = Static<typeof GatewayEnrolRequest>
export type GatewayTestAnswer = Static<typeof GatewayTestResult>
export type SourceTestAnswer = SourceTestResult

/** The kinds of messages, by their name below the device's own topics. */
export const upMessages = {
  status: StatusReport,
  sample: SampleReport,
  config: ConfigReport,
  operation: CommandReport,
  logs: LogsReport,
  devices: DevicesReport,
  sources: SourcesReport,
}
export type UpKind = keyof typeof upMessages
export type UpMessage<K extends UpKind> = Static<(typeof upMessages)[K]>
export const downMessages = {
  config: DesiredConfig,
  operation: DeviceCommandMessage,
  'sample-refused': SampleRefused,
  'message-refused': MessageRefused,
  'keys-ignored': KeysIgnored,
  devices: DeviceListChanged,
}
export type DownKind = keyof typeof downMessages
export type DownMessage = { [K in DownKind]: { kind: K; body: Static<(typeof downMessages)[K]> } }[DownKind]

export const upTopic = (endpointId: string, kind: UpKind | ''): string => `v1/${endpointId}/up/${kind}`
export const downTopic = (endpointId: string, kind: DownKind | '#'): string => `v1/${endpointId}/down/${kind}`

/** The HTTP paths of the device protocol. */
export const devicePaths = {
  enrol: '/device/v1/enrol',
  mqtt: '/device/v1/mqtt',
  logs: '/device/v1/logs',
  gatewayDevices: '/device/v1/gateway/devices',
  gatewayTests: '/device/v1/gateway/tests',
  /** …/{id}/devices and …/{id}/structure: what a gateway found at a source. */
  gatewaySources: '/device/v1/gateway/sources',
  gatewaySourceTests: '/device/v1/gateway/source-tests',
} as const

/** A device that has this in `supports` is a gateway: it gets a list of devices. */
export const gatewaySupport = 'gateway'

/** A device that has this in `supports` checks whether it is in use before a reboot with the key of the same name. */
export const onlyIfIdle = 'onlyIfIdle'
/** The error with which it refuses such a reboot. */
export const inUseError = 'in use'

/** A keep-alive is required, because otherwise a dead connection would never be detected. */
export const keepAliveSeconds = { min: 5, max: 300, usual: 30 } as const
/** A device that was told something and said nothing for so long is told again. In milliseconds. */
export const resendAfterMs = 30_000
/** A message stays on the screen for this long, unless a person closes it or another message replaces it. */
export const messageShownMs = 60_000
/** The largest MQTT packet: 500 samples fit. */
export const maxPacketBytes = 128 * 1024
export const maxBundleBytes = 64 * 1024 * 1024
