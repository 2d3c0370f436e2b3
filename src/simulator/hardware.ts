// The status that a simulated device reports, such as firmware, networks and storage.
import type { UpMessage } from '../contract/device/protocol.ts'
import type { AgentSettings } from '../device/handlers.ts'
import type { FleetDevice } from './plan.ts'
import { between, pick, seededRandom } from './seeded-random.ts'

/** Firmware releases, newest first; most devices have the newest. */
const releases = [
  { name: '26.2', build: '20260401.0001' },
  { name: '26.1', build: '20260115.0003' },
  { name: '25.4', build: '20251020.0002' },
] as const
const gigabyte = 1_000_000_000
export const timeServer = 'pool.ntp.org'

export const channelOf = ({ seed }: FleetDevice) => (seededRandom(seed, 1) < 0.9 ? 'stable' : 'preview')

export function initialStatus(device: FleetDevice, settings: AgentSettings): UpMessage<'status'> {
  const { model, seed, room, pairingSerial, pairedSerials, controllerMode } = device
  const at = (salt: number) => seededRandom(seed, salt)
  const [newest] = releases
  const installed = at(2) < 0.8 ? newest : pick(releases, at(3))
  const firmware = (build: string) => `NF${model[4]}1.${build}`
  const isBehind = installed !== newest
  return {
    ...(pairingSerial !== undefined && { pairingSerial }),
    ...(pairedSerials && { pairedSerials }),
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
    totalSystemStorage: String(4 * gigabyte),
    freeSystemStorage: String(between(gigabyte / 2, 2 * gigabyte, at(5))),
    totalInternalStorage: String(26 * gigabyte),
    freeInternalStorage: String(between(8 * gigabyte, 22 * gigabyte, at(6))),
    ...statusFromSettings(settings),
  }
}

/** The fields of the status that are settings too. */
export const statusFromSettings = ({ automaticUpdates, ntpServer, timezone }: AgentSettings) => ({
  automaticUpdates,
  ntpServer,
  timezone,
})

/** Most devices are wired. */
export const isWireless = ({ seed }: FleetDevice): boolean => seededRandom(seed, 22) < 0.12

/** Addresses are reported as base64 of their bytes; only `localIpAddress` is text. [contract 5.1] */
export function networksOf(device: FleetDevice) {
  const { seed, room } = device
  const byte = (salt: number) => between(0, 255, seededRandom(seed, salt))
  const subnet = [10, room.location % 256, byte(20) % 16]
  const address = [...subnet, 10 + (byte(21) % 240)]
  const usesWifi = isWireless(device)
  const mac = (last: number) => base64([0x3c, 0xe8, 0x24, byte(23), byte(24), (byte(25) & 0xfe) | last])
  const inUse = {
    linkUp: true,
    mode: 'NETWORK_MODE_DHCP',
    mtu: 1500,
    addresses: [{ address: { ipv4: base64(address) }, broadcast: { ipv4: base64([...subnet, 255]) }, prefix: 24 }],
    gateway: [{ ipv4: base64([...subnet, 1]) }],
    dnsServers: [`10.${subnet[1]}.0.53`],
  }
  const unused = { linkUp: false, mode: 'NETWORK_MODE_DHCP', mtu: 1500, addresses: [], gateway: [] }
  return {
    localIpAddress: address.join('.'),
    networks: [
      {
        ...(usesWifi ? unused : inUse),
        type: 'NETWORK_TYPE_ETHERNET',
        display: 'eth0',
        networkName: '',
        macAddress: mac(0),
      },
      {
        ...(usesWifi ? inUse : unused),
        type: 'NETWORK_TYPE_WIFI',
        display: 'wlan0',
        networkName: usesWifi ? 'Office' : '',
        ...(usesWifi && { signalDbm: between(-78, -48, seededRandom(seed, 26)) }),
        macAddress: mac(1),
      },
    ],
  }
}
const base64 = (bytes: readonly number[]) => Buffer.from(bytes).toString('base64')
