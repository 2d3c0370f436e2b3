// Turns the values of a codec into the fields of our status and samples.
import { isIPv4, isIPv6 } from 'node:net'
import type { DeviceSample, UpMessage } from '../../../contract/device/protocol.ts'
import type { PeripheralKind, PowerState } from '../../../contract/fleet/reported-status.ts'
import { ipv6Bytes } from '../../../network/ipv6.ts'
import type { Codec } from './codec.ts'
import type { CodecFault } from './faults.ts'
import { codecKeys } from './settings.ts'

interface Peripheral {
  readonly id: string
  readonly name: string
  readonly kind: PeripheralKind
  readonly serial?: string
  readonly version?: string
  readonly connected: boolean
}

const maxItems = 32
const maxNameServers = 4
const cut = (text: string | undefined, maxCharacters = 255) => text?.trim().slice(0, maxCharacters) || undefined

export const codecModel = (codec: Codec): string | undefined =>
  cut(codec.status.text('SystemUnit ProductPlatform'), 64) ?? cut(codec.status.text('SystemUnit ProductId'), 64)

export interface CodecStatusOptions {
  /** It leaves the network when a person switches the display off, even while it is awake. */
  readonly losesPowerWithDisplay: boolean
}

/** Everything that is known now. Fields without a value are absent. */
export function codecStatus(
  codec: Codec,
  startedAt: Date | undefined,
  faults: readonly CodecFault[],
  { losesPowerWithDisplay }: CodecStatusOptions,
): UpMessage<'status'> {
  const { status, configuration } = codec
  const configKeys = codecKeys(codec)
  const volume = status.number('Audio Volume')
  const muted = status.text('Audio VolumeMute') === undefined ? undefined : codec.is('Audio VolumeMute', 'On')
  const fields: Record<string, unknown> = {
    name: cut(configuration.text('SystemUnit Name'), 100) ?? cut(status.text('SystemUnit BroadcastName'), 100),
    manufacturer: 'Cisco',
    kind: 'CODEC',
    hardwareVersion:
      cut(status.text('SystemUnit Hardware MainBoard Revision')) ??
      cut(status.text('SystemUnit Hardware Module CompatibilityLevel')),
    firmwareVersion: cut(status.text('SystemUnit Software Version')),
    firmwareVersionReleaseName: cut(status.text('SystemUnit Software DisplayName')),
    startedAt: startedAt?.toISOString(),
    // A device that was on when it left is offline, so its power is taken back: without one it is asleep.
    power: losesPowerWithDisplay ? null : powerOf(codec),
    sleeps: losesPowerWithDisplay || sleepsIn(codec),
    inCallStatus: inCallStatusOf(codec),
    ...inputsOf(codec),
    volume: volume === undefined ? undefined : Math.min(100, Math.max(0, Math.round(volume))),
    muted,
    ...sensorsOf(codec),
    actions: [
      'reboot',
      'message',
      ...(losesPowerWithDisplay ? [] : ['power']),
      ...(configKeys.length > 0 ? ['config'] : []),
    ],
    configKeys,
    peripherals: peripheralsOf(codec),
    faults,
    facts: factsOf(codec),
    upgradeStatus: upgradeStatusOf(codec),
    ...networkOf(codec),
    ntpServer: cut(configuration.text('NetworkServices NTP Server[n] Address', '1')),
    activeNtpServer: cut(status.text('NetworkServices NTP CurrentAddress')),
    ntpServerReachable: ntpReachable(codec),
    timezone: cut(configuration.text('Time Zone')),
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** The codec reports the state of its standby: Off means that it is awake. */
function powerOf(codec: Codec): PowerState | undefined {
  if (codec.is('Standby State', 'Off')) return 'ON'
  if (codec.is('Standby State', 'EnteringStandby')) return 'CHANGING'
  const isStandby = codec.is('Standby State', 'Standby') || codec.is('Standby State', 'Halfwake')
  return isStandby ? 'STANDBY' : undefined
}

/** Only deep sleep leaves the network; networked standby does not. */
const sleepsIn = (codec: Codec): boolean =>
  codec.isSet('Standby Level DeepSleep Mode', 'On') ||
  codec.isSet('Standby Level DeepSleep Mode', 'OutsideOfficeHours') ||
  codec.is('Standby Level', 'DeepSleep')

/** Teams is known; Zoom, Meet and Webex by SIP or WebRTC cannot be told apart. */
function inCallStatusOf(codec: Codec): string | undefined {
  if (codec.is('MicrosoftTeams Calling InCall', 'True')) return 'TEAMS'
  if (codec.isInCall) return 'OTHER'
  const knowsCalls = codec.status.text('SystemUnit State NumberOfActiveCalls') !== undefined
  return knowsCalls || codec.status.text('MicrosoftTeams Calling InCall') !== undefined ? 'NONE' : undefined
}

function inputsOf(codec: Codec) {
  const { status, configuration } = codec
  const connectors = status.ids('Video Input Connector[n]').slice(0, maxItems)
  if (connectors.length === 0) return {}
  const nameOf = (id: string) => {
    const type = status.text('Video Input Connector[n] Type', id)
    const isNamed = type !== undefined && !codec.is('Video Input Connector[n] Type', 'Unknown', id)
    return cut(configuration.text('Video Input Connector[n] Name', id), 100) ?? `${isNamed ? type : 'Input'} ${id}`
  }
  const source = status.text('Video Input MainVideoSource')
  const active = connectors.find((id) => status.text('Video Input Connector[n] SourceId', id) === source)
  const width = source === undefined ? undefined : status.number('Video Input Source[n] Resolution Width', source)
  const height = source === undefined ? undefined : status.number('Video Input Source[n] Resolution Height', source)
  return {
    inputs: connectors.map(nameOf),
    activeInput: active === undefined ? undefined : nameOf(active),
    inputResolution: width && height ? `${width}x${height}` : '',
  }
}

function sensorsOf(codec: Codec) {
  const hasCount = codec.status.text('RoomAnalytics PeopleCount Current') !== undefined
  const hasPresence = codec.status.text('RoomAnalytics PeoplePresence') !== undefined
  const sensors = [
    ...(codec.humidity === undefined ? [] : ['humidity']),
    ...(hasCount || hasPresence ? ['people'] : []),
    ...(codec.temperature === undefined ? [] : ['temp']),
  ]
  return { sensors, peopleIs: codec.detectsPresenceOnly ? 'PRESENCE' : 'COUNT' }
}

/** Undefined if there is nothing to report. */
export function codecSample(codec: Codec, nowMs: number): DeviceSample | undefined {
  const presence = codec.presence === undefined ? codec.people : Number(codec.presence)
  const people = codec.detectsPresenceOnly ? presence : codec.people
  const { temperature: temp, humidity } = codec
  const isKnown = { people: isIn(people, 0, 10_000), temp: isIn(temp, -40, 85), humidity: isIn(humidity, 0, 100) }
  if (!isKnown.people && !isKnown.temp && !isKnown.humidity) return undefined
  return {
    timestamp: Math.floor(nowMs / 1_000),
    ...(people !== undefined && isKnown.people && { people: codec.detectsPresenceOnly ? Math.min(1, people) : people }),
    ...(temp !== undefined && isKnown.temp && { temp }),
    ...(humidity !== undefined && isKnown.humidity && { humidity }),
  }
}
const isIn = (value: number | undefined, min: number, max: number) =>
  value !== undefined && value >= min && value <= max

const kindsOfPeripherals: readonly [Parameters<typeof typeIs>[1], PeripheralKind][] = [
  ['TouchPanel', 'PANEL'],
  ['RoomScheduler', 'PANEL'],
  ['ControlSystem', 'PANEL'],
  ['Camera', 'CAMERA'],
  ['SpeakerTracker', 'CAMERA'],
  ['AudioMicrophone', 'MICROPHONE'],
  ['AudioAmplifier', 'SPEAKER'],
  ['Headset', 'SPEAKER'],
  ['InputDevice', 'USB'],
]
const typeIs = (
  codec: Codec,
  type: Parameters<typeof codec.is<'Peripherals ConnectedDevice[n] Type'>>[1],
  id: string,
) => codec.is('Peripherals ConnectedDevice[n] Type', type, id)

function peripheralsOf(codec: Codec): Peripheral[] {
  const { status } = codec
  const devices = status.ids('Peripherals ConnectedDevice[n]').map((id) => ({
    // The number of an item changes with each connection; the id of the device does not.
    id: cut(`device-${status.text('Peripherals ConnectedDevice[n] ID', id) ?? id}`, 64) as string,
    name: cut(status.text('Peripherals ConnectedDevice[n] Name', id), 100) ?? 'Peripheral',
    kind: kindsOfPeripherals.find(([type]) => typeIs(codec, type, id))?.[1] ?? 'OTHER',
    ...optional('serial', cut(status.text('Peripherals ConnectedDevice[n] SerialNumber', id), 64)),
    ...optional('version', cut(status.text('Peripherals ConnectedDevice[n] SoftwareInfo', id))),
    connected: codec.is('Peripherals ConnectedDevice[n] Status', 'Connected', id),
  }))
  const cameras = status.ids('Cameras Camera[n]').flatMap((id) => {
    const words = ['Cameras Camera[n] Manufacturer', 'Cameras Camera[n] Model'] as const
    const name = words.flatMap((path) => cut(status.text(path, id)) ?? []).join(' ')
    const connected = codec.is('Cameras Camera[n] Connected', 'True', id)
    // A codec lists every socket for a camera; an empty one has no model.
    if (!connected && name === '') return []
    return {
      id: `camera-${id}`,
      name: cut(name, 100) ?? `Camera ${id}`,
      kind: 'CAMERA' as const,
      ...optional('serial', cut(status.text('Cameras Camera[n] SerialNumber', id), 64)),
      ...optional('version', cut(status.text('Cameras Camera[n] SoftwareID', id))),
      connected,
    }
  })
  const microphonePath = 'Audio Input Connectors Microphone[n] ConnectionStatus'
  const microphones = status.ids('Audio Input Connectors Microphone[n]').flatMap((id) => {
    const connected = codec.is(microphonePath, 'Connected', id)
    // Unknown is a connector that cannot tell.
    if (!connected && !codec.is(microphonePath, 'NotConnected', id)) return []
    return { id: `microphone-${id}`, name: `Microphone ${id}`, kind: 'MICROPHONE' as const, connected }
  })
  const displays = status.ids('Video Output Connector[n]').flatMap((id) => {
    const name = cut(status.text('Video Output Connector[n] ConnectedDevice Name', id), 100)
    const connected = codec.is('Video Output Connector[n] Connected', 'True', id)
    if (!codec.is('Video Output Connector[n] Type', 'HDMI', id) || (!connected && name === undefined)) return []
    return { id: `display-${id}`, name: name ?? `Display ${id}`, kind: 'DISPLAY' as const, connected }
  })
  return [...devices, ...cameras, ...microphones, ...displays].slice(0, maxItems)
}

const optional = <K extends string>(key: K, value: string | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { [key in K]?: string }

function factsOf({ status, configuration }: Codec) {
  return [
    { name: 'product', text: cut(status.text('SystemUnit ProductId')) },
    { name: 'assetId', text: cut(configuration.text('SystemUnit CustomDeviceId')) },
    { name: 'lastShutdown', text: cut(status.text('SystemUnit LastShutdownReason')) },
    { name: 'presentation', text: cut(status.text('Conference Presentation Mode')) },
  ].filter(({ text }) => text !== undefined)
}

function upgradeStatusOf(codec: Codec): string | undefined {
  const status = codec.status.text('Provisioning Software UpgradeStatus Status')
  if (status === undefined) return undefined
  if (codec.is('Provisioning Software UpgradeStatus Status', 'None')) return 'None'
  const phase = codec.status.text('Provisioning Software UpgradeStatus Phase')
  const isNamed = phase !== undefined && !codec.is('Provisioning Software UpgradeStatus Phase', 'None')
  return cut(isNamed ? `${status}: ${phase}` : status)
}

/** Unknown says nothing, and a codec whose time server is off has none to reach. */
function ntpReachable(codec: Codec): boolean | undefined {
  const path = 'NetworkServices NTP Status'
  if (codec.status.text(path) === undefined || codec.is(path, 'Unknown') || codec.is(path, 'Off')) return undefined
  return codec.is(path, 'Synced')
}

function networkOf(codec: Codec) {
  const { status } = codec
  const networks = status.ids('Network[n]').slice(0, maxItems)
  const addressOf = (id: string) => cut(status.text('Network[n] IPv4 Address', id))
  const localIpAddress = networks.map(addressOf).find((address) => address !== undefined)
  return { localIpAddress, networks: networks.map((id) => interfaceOf(codec, id)) }
}

function interfaceOf(codec: Codec, id: string) {
  const { status, configuration } = codec
  const ipv4 = status.text('Network[n] IPv4 Address', id)
  const ipv6 = status.text('Network[n] IPv6 Address', id)
  const isWireless = codec.is('Network[n] ActiveInterface', 'WLAN', id)
  const mac = status.text(isWireless ? 'Network[n] Wifi MacAddress' : 'Network[n] Ethernet MacAddress', id)
  const prefix = prefixOf(status.text('Network[n] IPv4 SubnetMask', id))
  const gateways = [status.text('Network[n] IPv4 Gateway', id), status.text('Network[n] IPv6 Gateway', id)]
  const dnsServers = status
    .ids(`Network[${id}] DNS Server[n]`)
    .flatMap((server) => cut(status.text('Network[n] DNS Server[n] Address', id, server), 64) ?? [])
  const isDhcp = codec.isSet('Network[n] IPv4 Assignment', 'DHCP', id)
  const isStatic = codec.isSet('Network[n] IPv4 Assignment', 'Static', id)
  const signalDbm = isWireless ? status.number('Network[n] Wifi RSSI', id) : undefined
  const fields: Record<string, unknown> = {
    type: isWireless ? 'NETWORK_TYPE_WIFI' : 'NETWORK_TYPE_ETHERNET',
    display: isWireless ? `WLAN ${id}` : `LAN ${id}`,
    linkUp: isIPv4(ipv4 ?? '') || isIPv6(ipv6 ?? ''),
    mode: isDhcp ? 'NETWORK_MODE_DHCP' : isStatic ? 'NETWORK_MODE_STATIC' : undefined,
    mtu: configuration.number('Network[n] MTU', id),
    networkName: isWireless ? cut(status.text('Network[n] Wifi SSID', id)) : undefined,
    macAddress:
      mac && /^([0-9a-f]{2}[:-]?){6}$/i.test(mac) ? base64(Buffer.from(mac.replaceAll(/[:-]/g, ''), 'hex')) : undefined,
    dnsServers: dnsServers.slice(0, maxNameServers),
    signalDbm: signalDbm === undefined ? undefined : Math.round(signalDbm),
    addresses: [
      ...addressesOf(ipv4).map((address) => ({ address, ...(prefix !== undefined && { prefix }) })),
      ...addressesOf(ipv6).map((address) => ({ address })),
    ],
    gateway: gateways.flatMap(addressesOf),
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** Addresses are reported as base64 of their bytes. [contract 5.1] */
function addressesOf(text: string | undefined): ({ ipv4: string } | { ipv6: string })[] {
  if (text === undefined) return []
  if (isIPv4(text)) return [{ ipv4: base64(Buffer.from(text.split('.').map(Number))) }]
  // With its prefix or its zone: 2001:db8::1/64, fe80::1%eth0.
  const [address = ''] = text.split(/[/%]/)
  return isIPv6(address) ? [{ ipv6: base64(ipv6Bytes(address)) }] : []
}

const base64 = (bytes: Buffer) => bytes.toString('base64')

function prefixOf(mask: string | undefined): number | undefined {
  if (mask === undefined || !isIPv4(mask)) return undefined
  const bits = mask
    .split('.')
    .map((part) => Number(part).toString(2).padStart(8, '0'))
    .join('')
  return /^1*0*$/.test(bits) ? bits.replaceAll('0', '').length : undefined
}
