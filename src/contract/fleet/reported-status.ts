// The fields of a status report, which the endpoint has too. [contract 5.1]
import Type, { type TSchema } from 'typebox'
import { deviceActions, endpointKinds, sensors } from '../device/models.ts'
import { Int32, OneOf, Shape, Timestamp } from '../shape.ts'

export const optionalText = (description: string) => Type.Optional(Type.String({ maxLength: 255, description }))
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const bytes = (of: string) =>
  Type.Optional(Type.String({ pattern: '^\\d{1,20}$', description: `${of}, in bytes, as a string.` }))
export const optional = <S extends TSchema>(shape: S) => Type.Optional(shape)

const Address = Shape('webpageIpAddress', {
  ipv4: optionalText('IPv4 address, base64.'),
  ipv6: optionalText('IPv6 address, base64.'),
})
const network = {
  type: optionalText('NETWORK_TYPE_ETHERNET or NETWORK_TYPE_WIFI.'),
  display: optionalText('Name of the interface.'),
  linkUp: flag('Whether the link is up.'),
  mode: optionalText('NETWORK_MODE_DHCP or NETWORK_MODE_STATIC.'),
  mtu: optional(Int32('Maximum transmission unit.')),
  networkName: optionalText('Name of the wireless network.'),
  macAddress: optionalText('MAC address, 6 bytes, base64.'),
  dnsServers: optional(
    Type.Array(Type.String({ maxLength: 64 }), { maxItems: 4, description: 'Name servers, plain text.' }),
  ),
  signalDbm: optional(Int32('Strength of the wireless signal, in dBm.')),
}
const prefix = optional(Int32('Prefix length.'))
/** Clients count on the lists, and on both addresses in each item. [contract 5.1.networks] */
export const Network = Shape('webpageNetwork', {
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

export const powerStates = ['ON', 'STANDBY', 'OFF', 'CHANGING'] as const
export type PowerState = (typeof powerStates)[number]

export const faultLevels = ['INFO', 'WARNING', 'CRITICAL'] as const
export type FaultLevel = (typeof faultLevels)[number]

const peripheralKinds = ['CAMERA', 'MICROPHONE', 'SPEAKER', 'PANEL', 'DISPLAY', 'SENSOR', 'USB', 'OTHER'] as const
export type PeripheralKind = (typeof peripheralKinds)[number]

/** The name of a reading or of a fact, such as `lampHours`. */
const quantityName = Type.String({
  pattern: '^[a-z][a-zA-Z0-9]{0,39}$',
  description: 'A lower-case letter, then up to 39 letters and digits, such as lampHours.',
})

const Peripheral = Shape('Peripheral', {
  id: Type.String({ minLength: 1, maxLength: 64, description: 'Identifier of the peripheral at its device.' }),
  name: Type.String({ minLength: 1, maxLength: 100, description: 'Name of the peripheral.' }),
  kind: OneOf(peripheralKinds, 'Kind of the peripheral.'),
  serial: Type.Optional(Type.String({ maxLength: 64, description: 'Serial number.' })),
  version: optionalText('Installed firmware.'),
  connected: Type.Boolean({ description: 'Whether the device can use the peripheral now.' }),
})
const Fault = Shape('Fault', {
  code: Type.String({
    pattern: '^[A-Za-z0-9._-]{1,64}$',
    description: 'Identifies the kind of fault on all devices: 1 to 64 letters, digits, dots, underscores and hyphens.',
  }),
  level: OneOf(faultLevels, 'Severity of the fault.'),
  text: Type.String({ maxLength: 255, description: 'The fault in words, for a person on site.' }),
})
const Reading = Shape('Reading', {
  name: quantityName,
  value: Type.Number({ description: 'The latest value.' }),
  unit: Type.String({ maxLength: 16, description: 'Unit of the value; empty if it has none.' }),
})
const Fact = Shape('Fact', {
  name: quantityName,
  text: Type.String({ maxLength: 255, description: 'The fact in words.' }),
})

/** The fields that a device sends in its status report. The service knows the other fields by itself. */
export const reportedFields = {
  name: optional(Type.String({ maxLength: 100, description: 'Name that the device gives itself.' })),
  manufacturer: optionalText('Maker of the device.'),
  kind: optional(OneOf(endpointKinds, 'Kind of the device; OTHER if absent. CONTROL is a control processor.')),
  hardwareVersion: optionalText('Revision of the hardware.'),
  appVersion: optionalText('Version of the meeting application.'),
  startedAt: optional(Timestamp('Time of the last start of the device.')),
  power: optional(OneOf(powerStates, 'Whether the device is on.')),
  sleeps: flag('Whether the device can leave the network while its power is STANDBY or OFF.'),
  activeInput: optionalText('The input that the device shows.'),
  inputs: optional(
    Type.Array(Type.String({ maxLength: 100 }), { maxItems: 32, description: 'The inputs of the device.' }),
  ),
  inputResolution: optionalText('Resolution of the signal that the device receives; empty if there is none.'),
  volume: optional(Type.Integer({ minimum: 0, maximum: 100, description: 'Volume, in per cent.' })),
  muted: flag('Whether the sound is off.'),
  sensors: optional(
    Type.Array(OneOf(sensors, 'A value of a sample.'), {
      maxItems: sensors.length,
      description: 'Values that the device measures.',
    }),
  ),
  peopleIs: optional(
    OneOf(['COUNT', 'PRESENCE'], 'PRESENCE: `people` of its samples is only 0 or 1. COUNT if absent.'),
  ),
  actions: optional(
    Type.Array(OneOf(deviceActions, 'An action.'), {
      maxItems: deviceActions.length,
      description: 'Actions that the device can carry out; the first four if absent, none if empty.',
    }),
  ),
  configKeys: optional(
    Type.Array(Type.String({ maxLength: 64 }), {
      maxItems: 200,
      description: 'The settings that the device has; all of them if absent.',
    }),
  ),
  peripherals: optional(
    Type.Array(Peripheral, {
      maxItems: 32,
      description: 'Cameras, microphones, panels and other parts that are connected to the device.',
    }),
  ),
  faults: optional(Type.Array(Fault, { maxItems: 32, description: 'Faults that the device has now.' })),
  readings: optional(
    Type.Array(Reading, {
      maxItems: 16,
      description: 'Latest values that no other field has. They are not air values.',
    }),
  ),
  facts: optional(Type.Array(Fact, { maxItems: 16, description: 'Texts that no other field has.' })),
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
        'Optional parts of the device protocol that the device supports. onlyIfIdle: the device checks whether it is in use before a reboot. gateway: the device manages devices of others.',
    }),
  ),
  reach: optional(
    Type.Array(Type.String({ maxLength: 253 }), {
      maxItems: 32,
      description:
        'The networks that a gateway can reach, such as 10.20.0.0/16, and the hosts that only its sources can reach, such as broker.example.org.',
    }),
  ),
  inCallStatus: optional(OneOf(['NONE', 'ZOOM', 'TEAMS', 'MEET', 'OTHER'], 'The kind of call that the device is in.')),
  primaryMode: optional(OneOf(['oob', 'zoom', 'msteams', 'avos', 'usb'], 'The application that the device runs.')),
  controllerMode: optional(
    OneOf(['controller', 'schedule'], 'The use of a pad: as a controller or as a schedule display.'),
  ),
  firmwareVersion: optionalText('Installed firmware.'),
  latestVersion: optionalText('Newest known firmware for the device.'),
  firmwareVersionReleaseName: optionalText('Release name of the installed firmware.'),
  latestVersionReleaseName: optionalText('Release name of the newest firmware.'),
  otaChannel: optionalText('Update channel.'),
  upgradeStatus: optionalText('State of a running upgrade.'),
  upgradeTime: optionalText('Time of the next upgrade.'),
  upgradeModel: optionalText('Upgrade model.'),
  hexapaBuild: optionalText('Build identifier.'),
  automaticUpdates: flag('Whether the device installs updates automatically.'),
  hasScheduledFirmwareUpdate: flag('Whether an update is scheduled.'),
  hasUnscheduledFirmwareUpdate: flag('Whether an update is available that is not scheduled.'),
  isLatestVersionScheduledForNow: flag('Whether the newest version is scheduled to be installed now.'),
  buildType: optionalText('Build type.'),
  localIpAddress: optionalText('Local IP address, plain text.'),
  networks: Type.Array(ReportedNetwork, { maxItems: 32, description: 'The network interfaces of the device.' }),
  ntpServer: optionalText('Configured time server.'),
  activeNtpServer: optionalText('Time server in use.'),
  ntpServerReachable: flag('Whether the time server can be reached.'),
  timezone: optionalText('Time zone of the device.'),
  remoteControlEnabled: flag('Whether remote control is on.'),
  bulkEnrolmentPending: flag('Whether a bulk enrolment is pending.'),
  orientation: optionalText('Orientation of the screen.'),
  totalSystemStorage: bytes('System storage'),
  freeSystemStorage: bytes('Free system storage'),
  totalInternalStorage: bytes('Internal storage'),
  freeInternalStorage: bytes('Free internal storage'),
  totalExternalStorage: bytes('External storage'),
  freeExternalStorage: bytes('Free external storage'),
}
