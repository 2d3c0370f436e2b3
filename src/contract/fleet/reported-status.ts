// What a device reports of itself in its status; each field is a field of its endpoint too. [contract 5.1]
import Type, { type TSchema } from 'typebox'
import { Int32, OneOf, Shape } from '../shape.ts'

export const text = (description: string) => Type.Optional(Type.String({ maxLength: 255, description }))
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const bytes = (of: string) =>
  Type.Optional(Type.String({ pattern: '^\\d{1,20}$', description: `${of}, in bytes, as a string.` }))
export const optional = <S extends TSchema>(shape: S) => Type.Optional(shape)

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
