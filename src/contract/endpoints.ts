// The endpoint record: what a managed device looks like in an answer. [contract 5.1]

import Type, { type TSchema } from 'typebox'
import { Int32, OneOf, Shape, Time } from './shape.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const bytes = (of: string) => Type.Optional(Type.String({ description: `${of}, in bytes, as a string.` }))
const optional = <S extends TSchema>(shape: S) => Type.Optional(shape)

const Address = Shape('webpageIpAddress', { ipv4: text('IPv4 address, base64.'), ipv6: text('IPv6 address, base64.') })
const Network = Shape('webpageNetwork', {
  type: text('NETWORK_TYPE_ETHERNET or NETWORK_TYPE_WIFI.'),
  display: text('Name of the interface.'),
  linkUp: flag('Whether the link is up.'),
  mode: text('NETWORK_MODE_DHCP or NETWORK_MODE_STATIC.'),
  mtu: optional(Int32('Maximum transmission unit.')),
  networkName: text('Name of the wireless network.'),
  macAddress: text('MAC address, 6 bytes, base64.'),
  addresses: Type.Array(
    Shape('webpageNetworkAddress', { address: Address, broadcast: Address, prefix: optional(Int32('Prefix length.')) }),
  ),
  gateway: Type.Array(Address),
})

export const Endpoint = Shape('webpageEndpoint', {
  id: Type.String({ format: 'uuid', description: 'Identifier of the endpoint.' }),
  serial: Type.String({ description: 'Serial number of the device.' }),
  pairingSerial: text('Serial number of the leader it is paired with.'),
  model: Type.String({ description: 'Model code, for example NF19B1.' }),
  connected: Type.Boolean({ description: 'Whether the device is connected now.' }),
  connectionTime: optional(Time('Last connect or disconnect.')),
  enrolmentTime: Time('When the device enrolled.'),
  roomId: optional(Int32('The room it is in.')),
  roomName: text('Name of that room.'),
  profileId: optional(Int32('The profile it has.')),
  inCallStatus: optional(OneOf(['NONE', 'ZOOM', 'TEAMS', 'MEET', 'OTHER'], 'Which kind of call it is in.')),
  primaryMode: optional(OneOf(['oob', 'zoom', 'msteams', 'avos', 'usb'], 'Which application it runs.')),
  controllerMode: optional(OneOf(['controller', 'schedule'], 'What a pad is used as.')),
  firmwareVersion: text('Installed firmware.'),
  latestVersion: text('Newest firmware known for it.'),
  firmwareVersionReleaseName: text('Release name of the installed firmware.'),
  latestVersionReleaseName: text('Release name of the newest firmware.'),
  otaChannel: text('Update channel.'),
  upgradeStatus: text('State of a running upgrade.'),
  upgradeTime: text('When an upgrade is due.'),
  upgradeModel: text('Upgrade model.'),
  hexapaBuild: text('Build identifier.'),
  automaticUpdates: flag('Whether it updates by itself.'),
  hasScheduledFirmwareUpdate: flag('Whether an update is scheduled.'),
  hasUnscheduledFirmwareUpdate: flag('Whether an update waits without a schedule.'),
  isLatestVersionScheduledForNow: flag('Whether the newest version is to be installed now.'),
  buildType: text('Build type.'),
  localIpAddress: text('Local IP address, plain text.'),
  networks: Type.Array(Network),
  ntpServer: text('Configured time server.'),
  activeNtpServer: text('Time server in use.'),
  ntpServerReachable: flag('Whether the time server answers.'),
  timezone: text('Time zone of the device.'),
  remoteControlEnabled: flag('Whether remote control is on.'),
  bulkEnrolmentPending: flag('Whether a bulk enrolment is under way.'),
  orientation: text('Orientation of the screen.'),
  totalSystemStorage: bytes('System storage'),
  freeSystemStorage: bytes('Free system storage'),
  totalInternalStorage: bytes('Internal storage'),
  freeInternalStorage: bytes('Free internal storage'),
  totalExternalStorage: bytes('External storage'),
  freeExternalStorage: bytes('Free external storage'),
})
