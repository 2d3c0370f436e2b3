// What a simulated device is like: firmware, networks and storage that it reports, settings that it comes with.
import { type ConfigKey, configKeys } from '../contract/config-keys.ts'
import type { UpMessage } from '../contract/device.ts'
import type { DeviceSettings } from '../device/handlers.ts'
import { between, chance, pick } from './chance.ts'
import type { PlannedDevice } from './plan.ts'

/** Newest first; most devices have the newest. */
const releases = [
  { name: '26.2', build: '20260401.0001' },
  { name: '26.1', build: '20260115.0003' },
  { name: '25.4', build: '20251020.0002' },
] as const
const GB = 1_000_000_000
const timeServer = 'pool.ntp.org'

const channelOf = ({ seed }: PlannedDevice) => (chance(seed, 1) < 0.9 ? 'stable' : 'preview')

export function statusOf(device: PlannedDevice, settings: DeviceSettings): UpMessage<'status'> {
  const { model, seed, room, pairingSerial, controllerMode } = device
  const at = (what: number) => chance(seed, what)
  const [newest] = releases
  const installed = at(2) < 0.8 ? newest : pick(releases, at(3))
  const firmware = (build: string) => `NF${model[4]}1.${build}`
  const isBehind = installed !== newest
  return {
    ...(pairingSerial !== undefined && { pairingSerial }),
    ...(controllerMode && { controllerMode }),
    inCallStatus: 'NONE',
    primaryMode: room.primaryMode,
    firmwareVersion: firmware(installed.build),
    firmwareVersionReleaseName: installed.name,
    latestVersion: firmware(newest.build),
    latestVersionReleaseName: newest.name,
    otaChannel: channelOf(device),
    upgradeStatus: 'IDLE',
    hasScheduledFirmwareUpdate: isBehind && at(4) < 0.5,
    hasUnscheduledFirmwareUpdate: isBehind && at(4) >= 0.5,
    isLatestVersionScheduledForNow: false,
    buildType: 'user',
    ...networksOf(device),
    activeNtpServer: timeServer,
    ntpServerReachable: true,
    remoteControlEnabled: true,
    bulkEnrolmentPending: false,
    orientation: controllerMode === 'schedule' ? 'portrait' : 'landscape',
    totalSystemStorage: String(4 * GB),
    freeSystemStorage: String(between(GB / 2, 2 * GB, at(5))),
    totalInternalStorage: String(26 * GB),
    freeInternalStorage: String(between(8 * GB, 22 * GB, at(6))),
    ...followingSettings(settings),
  }
}

/** Fields of the status that are settings at the same time. */
export const followingSettings = ({ automaticUpdates, ntpServer, timezone }: DeviceSettings) => ({
  automaticUpdates,
  ntpServer,
  timezone,
})

/** Addresses are base64 of their bytes; only `localIpAddress` is for people. [contract 5.1] */
function networksOf({ seed, room }: PlannedDevice) {
  const byte = (what: number) => between(0, 255, chance(seed, what))
  const subnet = [10, room.location % 256, byte(20) % 16]
  const address = [...subnet, 10 + (byte(21) % 240)]
  const isWireless = chance(seed, 22) < 0.12
  const mac = (last: number) => base64([0x3c, 0xe8, 0x24, byte(23), byte(24), (byte(25) & 0xfe) | last])
  const inUse = {
    linkUp: true,
    mode: 'NETWORK_MODE_DHCP',
    mtu: 1500,
    addresses: [{ address: { ipv4: base64(address) }, broadcast: { ipv4: base64([...subnet, 255]) }, prefix: 24 }],
    gateway: [{ ipv4: base64([...subnet, 1]) }],
  }
  const unused = { linkUp: false, mode: 'NETWORK_MODE_DHCP', mtu: 1500, addresses: [], gateway: [] }
  return {
    localIpAddress: address.join('.'),
    networks: [
      {
        ...(isWireless ? unused : inUse),
        type: 'NETWORK_TYPE_ETHERNET',
        display: 'eth0',
        networkName: '',
        macAddress: mac(0),
      },
      {
        ...(isWireless ? inUse : unused),
        type: 'NETWORK_TYPE_WIFI',
        display: 'wlan0',
        networkName: isWireless ? 'Office' : '',
        macAddress: mac(1),
      },
    ],
  }
}
const base64 = (bytes: readonly number[]) => Buffer.from(bytes).toString('base64')

const initially: DeviceSettings = {
  autoWakeup: true,
  automaticUpdates: true,
  bluetooth: true,
  brightness: 0.8,
  deepNoiseSuppression: true,
  layoutMaxPersons: 9,
  logLevel: 'info',
  ntpServer: timeServer,
  padMicEnabled: true,
  screenStandby: 600_000,
  time24h: true,
}
const byType = (key: ConfigKey) => {
  if (key.type === 'boolean') return false
  if (key.type === 'enum') return key.values?.[1] ?? ''
  return key.type === 'string' ? (key.values?.[0] ?? '-') : (key.min ?? 0)
}
/** From the table of keys, so that a new key is there by itself. Passwords are never reported. */
const factorySettings: DeviceSettings = Object.fromEntries(
  Object.entries(configKeys).flatMap(([name, key]) => (key.secret ? [] : [[name, initially[name] ?? byType(key)]])),
)

/** What it is set to as long as nobody says otherwise. */
export const defaultsOf = (device: PlannedDevice): DeviceSettings => ({
  ...factorySettings,
  timezone: device.room.timezone,
  primaryMode: device.room.primaryMode,
  neatOtaChannel: channelOf(device),
  scheduledUpdateDelay: 0,
  framingBoundaryHfovRatio: 1,
  multiDevicePbp: false,
  ...(device.pairingSerial !== undefined && { pairingSerial: device.pairingSerial }),
  ...(device.controllerMode && { controllerMode: device.controllerMode }),
})
