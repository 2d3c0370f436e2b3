// The title and the hint of an incident: sentences for people, made of its rule, its cause and what the caller sees of it. Messages, work
// list, wall and phone show this title. [contract 10.states]
import { modelOf } from '../../contract/device/models.ts'
import { settingName } from '../../contract/device/setting-names.ts'
import { placedRoomName } from '../../contract/fleet/room-name.ts'
import { type Reading, readingLabel, readingValue } from '../../contract/incidents/readings.ts'
import type { RuleId } from '../../contract/incidents/rule-table.ts'
import { capitalised, humanize, oneLine } from '../../contract/words.ts'
import { shortened } from '../core/text.ts'
import type { Cause, FindingDetail, UnmanagedReason } from './engine/types.ts'
import { readingsOf } from './readings.ts'
import type { SubjectRow } from './store.ts'

export interface TitledIncident {
  readonly rule: RuleId
  readonly cause: Cause
  readonly detail: FindingDetail
  /** The subjects that the caller sees and that are still affected, or all that ever were if none is. A title names nothing else. */
  readonly subjects: readonly TitledSubject[]
  /** The name of a location, if the caller sees it. */
  readonly locationName: (id: number) => string | undefined
  /** Names a device without a name beside the name of its room, if no other device can be meant. */
  readonly nameInRoom: (subject: TitledSubject) => string | undefined
}
export type TitledSubject = Pick<
  SubjectRow,
  'subject_type' | 'subject_id' | 'name' | 'room_id' | 'room_name' | 'location_id'
>

/** Names are texts of users: the longest would hide the rest of the line. */
const maxNameCharacters = 60
const maxTitleCharacters = 300
const maxFaultCharacters = 100
/** A title names so many devices. It counts them if there are more. */
export const maxNamedDevices = 3

/** One line that says what is wrong, and where. */
export const titleOf = (incident: TitledIncident): string =>
  shortened(titles[incident.rule](incident), maxTitleCharacters)

/** One or two sentences that say what to do. */
export function hintOf({ rule, cause, detail }: Pick<TitledIncident, 'rule' | 'cause' | 'detail'>): string {
  if (rule !== 'device.offline') return hints[rule]
  if (detail.overslept) return overslept
  if (!detail.restart) return offlineHints[cause.level]
  return (detail.restart as { readonly node?: string }).node === undefined ? afterRestart : afterNodeEnded
}

const titles: Record<RuleId, (incident: TitledIncident) => string> = {
  'device.offline': offlineTitle,
  'device.flapping': withDevices('keeps disconnecting', 'keep disconnecting'),
  'config.rejected': rejectedTitle,
  'config.undelivered': withDevices('has not confirmed its settings', 'have not confirmed their settings'),
  'air.beyond': airTitle,
  'room.crowded': (incident) => {
    const { people, capacity } = incident.detail
    const isKnown = typeof people === 'number' && typeof capacity === 'number'
    return `${roomName(incident)} is crowded${isKnown ? `: ${numberText(people)} people, capacity ${numberText(capacity)}` : ''}`
  },
  'sensor.silent': withDevices('sends no sensor data', 'send no sensor data'),
  'storage.low': (incident) => {
    const { storage, freePercent } = incident.detail
    const { text, isOne } = devicesOf(incident)
    const which = typeof storage === 'string' ? `${storage} ` : ''
    return `${text} ${isOne ? 'is' : 'are'} low on ${which}storage${typeof freePercent === 'number' ? `: ${freePercent} % free` : ''}`
  },
  'device.fault': faultTitle,
  'peripheral.missing': missingTitle,
  'gateway.device': unmanagedTitle,
  'source.failing': sourceTitle,
  'firmware.behind': withDevices('does not run the latest firmware', 'do not run the latest firmware'),
  'clock.unreachable': withDevices('cannot reach its time server', 'cannot reach their time server'),
  'credential.refused': (incident) => `Wrong credentials were sent for ${devicesOf(incident).text}`,
  'credential.shared': (incident) => `Two devices connect as ${devicesOf(incident).text}`,
  'certificate.expiring': ({ detail: { expiresAt } }) =>
    typeof expiresAt === 'number'
      ? `The TLS certificate of this service expires on ${new Date(expiresAt).toISOString().slice(0, 10)}`
      : 'The TLS certificate of this service expires soon',
  'channel.failing': ({ cause }) => `The channel ${cleaned(cause.name)} delivers nothing`,
  'job.stopped': ({ cause }) => `The job ${cleaned(cause.name)} was stopped: too many rooms failed`,
}

/** A sentence about the devices of an incident, with the verb for one and for several. */
function withDevices(one: string, several: string): (incident: TitledIncident) => string {
  return (incident) => {
    const { text, isOne } = devicesOf(incident)
    return `${text} ${isOne ? one : several}`
  }
}

function offlineTitle(incident: TitledIncident): string {
  const { cause, detail, subjects } = incident
  const count = subjects.length
  if (detail.restart) {
    const { node } = detail.restart as { readonly node?: string }
    return `${counted(count)} did not come back after ${node === undefined ? 'a restart of the service' : `node ${cleaned(node)} ended`}`
  }
  if (detail.overslept) return withDevices('has not woken up', 'have not woken up')(incident)
  switch (cause.level) {
    case 'GATEWAY':
      return gatewayTitle(incident)
    case 'ROOM':
      return `${roomName(incident)} is offline${count > 1 ? `: ${counted(count)}` : ''}`
    case 'LOCATION':
      return `${cleaned(cause.name)} is offline: ${counted(count)}`
    case 'ORGANISATION':
      return `${locationsOf(incident)} are offline: ${counted(count)}`
    default:
      return withDevices('is offline', 'are offline')(incident)
  }
}

/** "Gateway Oslo is offline: 62 devices in 31 rooms cannot be seen". A caller may not see the gateway, or none of its devices. */
function gatewayTitle({ cause, subjects }: TitledIncident): string {
  const gateway = subjects.find(({ subject_id }) => subject_id === cause.id)
  const devices = subjects.filter((subject) => subject !== gateway)
  const name = gateway && cleaned(gateway.name)
  const subject = name === undefined ? 'A gateway' : /^gateway\b/i.test(name) ? name : `Gateway ${name}`
  if (devices.length === 0) return `${subject} is offline`
  const rooms = new Set(devices.flatMap(({ room_id }) => room_id ?? [])).size
  const place = rooms === 0 ? '' : rooms === 1 ? ' in 1 room' : ` in ${numberText(rooms)} rooms`
  return `${subject} is offline: ${counted(devices.length)}${place} cannot be seen`
}

/** "Oslo and Berlin", "Oslo, Berlin and 3 more locations": those with most devices first. */
function locationsOf({ subjects, locationName }: TitledIncident): string {
  const counts = new Map<number, number>()
  for (const { location_id: id } of subjects) if (id !== null) counts.set(id, (counts.get(id) ?? 0) + 1)
  const sorted = [...counts].sort(([a, countOfA], [b, countOfB]) => countOfB - countOfA || a - b)
  const names = sorted.flatMap(([id]) => locationName(id) ?? [])
  const shown = names.slice(0, 2).map(cleaned)
  if (shown.length < 2) return 'Several locations'
  const more = sorted.length - shown.length
  return more === 0
    ? listOf(shown)
    : `${shown.join(', ')} and ${numberText(more)} more location${more === 1 ? '' : 's'}`
}

function rejectedTitle(incident: TitledIncident): string {
  const { cause, detail } = incident
  const { text, isOne } = devicesOf(incident, '')
  const keys = detail.keys ?? []
  const settings =
    keys.length === 0
      ? `${isOne ? 'its' : 'their'} settings`
      : listOf(
          keys.map((key) => cleaned(settingName(key))),
          'settings',
        )
  return `${text} rejected ${settings}${causeSuffix(cause, 'of')}`
}

/** "Projector 004711 in Fjord (Oslo) reports a fault: lamp worn out (lamp.end)". The text is the device's own. */
function faultTitle(incident: TitledIncident): string {
  const { text, isOne } = devicesOf(incident)
  const { code, text: reported } = incident.detail.fault ?? {}
  const words = shortened(oneLine(reported), maxFaultCharacters)
  const verb = isOne ? 'reports' : 'report'
  if (code === undefined) return `${text} ${verb} a fault`
  return words === '' ? `${text} ${verb} the fault ${code}` : `${text} ${verb} a fault: ${words} (${code})`
}

/** "Camera Quad is missing in Fjord (Oslo)", "Camera Quad and 2 × Speaker Pod are missing in Fjord (Oslo)" */
function missingTitle(incident: TitledIncident): string {
  const names = (incident.detail.peripherals ?? []).map(peripheralName)
  const counts = [...Map.groupBy(names, (name) => name)].map(([name, { length }]) =>
    length === 1 ? name : `${length} × ${name}`,
  )
  const text = capitalised(names.length === 0 ? 'a peripheral' : listOf(counts.sort()))
  const place = placeOf(incident)
  const owner = place === '' ? ` of ${devicesOf(incident).text}` : ''
  return `${text}${owner} ${names.length > 1 ? 'are' : 'is'} missing${place}`
}

/** "Gateway 0815 in Fjord (Oslo) cannot manage 3 devices: 2 refuse the password, 1 was never reached" */
function unmanagedTitle(incident: TitledIncident): string {
  const { text } = devicesOf(incident)
  const reasons = incident.detail.unmanaged ?? []
  const counts = Map.groupBy(reasons, (reason) => reason)
  const phrases = unmanagedPhrases.flatMap(([reason, one, several]) => {
    const count = counts.get(reason)?.length ?? 0
    return count === 0 ? [] : [`${numberText(count)} ${count === 1 ? one : several}`]
  })
  return `${text} cannot manage ${counted(Math.max(1, reasons.length))}${phrases.length > 0 ? `: ${phrases.join(', ')}` : ''}`
}

const unmanagedPhrases: readonly (readonly [reason: UnmanagedReason, one: string, several: string])[] = [
  ['REFUSED', 'refuses the password', 'refuse the password'],
  ['CHANGED', 'is another device or has another certificate', 'are other devices or have other certificates'],
  ['DUPLICATE', 'is enrolled elsewhere', 'are enrolled elsewhere'],
  ['NEVER_REACHED', 'was never reached', 'were never reached'],
]

/** "Gateway 0815 in Fjord (Oslo) cannot read Neat Pulse: It refused the key." */
function sourceTitle(incident: TitledIncident): string {
  const { name = '', reason } = incident.detail.source ?? {}
  const why = reason === undefined ? '' : `: ${shortened(oneLine(reason), maxFaultCharacters)}`
  return `${devicesOf(incident).text} cannot read ${cleaned(name)}${why}`
}

/** "Camera Quad". The kind is left out where the name has it. */
function peripheralName({ name, kind }: NonNullable<FindingDetail['peripherals']>[number]): string {
  const shown = cleaned(name)
  if (shown === '') return kind === 'OTHER' ? 'a peripheral' : humanize(kind)
  const isNamed = kind === 'OTHER' || shown.toLowerCase().includes(kind.toLowerCase())
  return isNamed ? shown : `${humanize(kind)} ${shown}`
}

/** "High CO₂ and low humidity in Fern (Lisbon): 1,743 ppm, 18.0 %" */
function airTitle(incident: TitledIncident): string {
  const { detail } = incident
  const readings = readingsOf(detail)
  if (readings.length > 0) {
    const values = readings.map(({ name, value }) => readingValue(name, value)).join(', ')
    return `${outliersText(readings)} in ${roomName(incident)}: ${values}`
  }
  const names = (detail.sensors ?? []).map((sensor) => sensorInSentence(sensor as Reading['name']))
  if (names.length === 0) return `The air in ${roomName(incident)} is outside its limits`
  const isOne = names.length === 1
  return `${capitalised(listOf(names))} in ${roomName(incident)} ${isOne ? 'is outside its limit' : 'are outside their limits'}`
}

function outliersText(readings: readonly Reading[]): string {
  const isHigh = ({ value, max }: Reading) => max !== undefined && value > max
  const sides = [
    ['high', readings.filter(isHigh)],
    ['low', readings.filter((reading) => !isHigh(reading))],
  ] as const
  const texts = sides.flatMap(([side, ofSide]) =>
    ofSide.length === 0 ? [] : [`${side} ${listOf(ofSide.map(({ name }) => sensorInSentence(name)))}`],
  )
  return capitalised(listOf(texts))
}

/** CO₂ and VOC keep their capitals. */
function sensorInSentence(name: Reading['name']): string {
  const label = readingLabel(name)
  return label.slice(1) === label.slice(1).toLowerCase() && name !== 'co2' ? label.toLowerCase() : label
}

interface Phrase {
  readonly text: string
  readonly isOne: boolean
}

/** The devices of an incident as the subject of a sentence: one or a pair by name, more by their number, with the place of all. */
function devicesOf(incident: TitledIncident, suffix = causeSuffix(incident.cause, 'with')): Phrase {
  const { cause, subjects } = incident
  const [first] = subjects
  if (!first) return { text: cause.level === 'ENDPOINT' ? cleaned(cause.name) : 'A device', isOne: true }
  const place = placeOf(incident)
  if (subjects.length <= maxNamedDevices && subjects.every((s) => s.room_id === first.room_id)) {
    const names = distinctNames(incident)
    if (names) return { text: `${listOf(names)}${place}`, isOne: subjects.length === 1 }
  }
  const kind = cause.level === 'MODEL' ? `${cleaned(modelOf(cause.name).name)} devices` : 'devices'
  return { text: `${numberText(subjects.length)} ${kind}${place}${suffix}`, isOne: false }
}

/** The names of the devices in one room, as short as they can be; undefined if two devices have the same name. */
function distinctNames({ subjects, nameInRoom }: TitledIncident): readonly string[] | undefined {
  const labels = subjects.map(({ name }) => name)
  const short = subjects.map((subject) => nameInRoom(subject) ?? subject.name)
  return [short, labels].map((names) => names.map(cleaned)).find((names) => new Set(names).size === names.length)
}

const causeSuffix = ({ level, name }: Cause, preposition: 'of' | 'with'): string => {
  if (level === 'PROFILE') return ` ${preposition} the profile ${cleaned(name)}`
  if (level !== 'JOB') return ''
  return ` ${preposition === 'of' ? 'set by' : 'of'} the job ${cleaned(name)}`
}

/** " in Coral (Boston Seaport)", " in Boston Seaport": the smallest place that all subjects are in, as far as its name is known. */
function placeOf({ cause, subjects, locationName }: TitledIncident): string {
  const [first] = subjects
  const location = first?.location_id == null ? undefined : locationName(first.location_id)
  if (first?.room_name != null && subjects.every(({ room_id }) => room_id === first.room_id)) {
    return ` in ${roomInLocation(first.room_name, location)}`
  }
  if (location !== undefined && subjects.every(({ location_id }) => location_id === first?.location_id)) {
    return ` in ${cleaned(location)}`
  }
  return cause.level === 'LOCATION' || cause.level === 'ROOM' ? ` in ${cleaned(cause.name)}` : ''
}

/** The room that is the cause of an incident: "Coral (Boston Seaport)". */
function roomName({ cause, subjects, locationName }: TitledIncident): string {
  const id = subjects[0]?.location_id ?? undefined
  return roomInLocation(cause.name, id === undefined ? undefined : locationName(id))
}

const roomInLocation = (room: string, location: string | undefined): string =>
  placedRoomName(cleaned(room), location && cleaned(location))

const cleaned = (name: string): string => shortened(oneLine(name), maxNameCharacters)
const numberText = (number: number): string => number.toLocaleString('en-GB')
const counted = (count: number): string => (count === 1 ? '1 device' : `${numberText(count)} devices`)

const maxListed = 3
/** "A, B and C", or "A, B, C and 4 more settings". */
function listOf(names: readonly string[], noun = ''): string {
  if (names.length > maxListed) {
    return `${names.slice(0, maxListed).join(', ')} and ${names.length - maxListed} more ${noun}`.trimEnd()
  }
  return [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' and ')
}

const afterRestart =
  'The service was restarted, and most devices did not come back. Check that they reach it: address, ports, certificate, firewall, load balancer. Devices keep trying.'
const afterNodeEnded =
  'A node of the service ended, and most of its devices did not come back. Check that they reach the other nodes: address, ports, certificate, firewall, load balancer. Devices keep trying.'

const overslept =
  'The device went to sleep and has not been seen for many days. Check that it still has power and network; switch it on once.'

const offlineHints: Record<Cause['level'], string> = {
  ENDPOINT:
    "Check the power and the network cable of the device. If the room's other devices work, power-cycle this one.",
  ROOM: 'No device of the room is connected. Check its power, its switch and its network sockets.',
  LOCATION:
    'Many rooms went offline together. Check the power, the switches and the internet connection of the location.',
  GATEWAY:
    'Check the machine that the gateway runs on: its power, its network, and that the gateway program runs. The devices behind it may work; nothing is known about them until the gateway is back.',
  ORGANISATION:
    'Many locations went offline together. Check the connection of this service to the internet, its DNS name and its firewall first, then the network that the locations share.',
  MODEL: 'Check what the devices have in common, such as a new firmware.',
  PROFILE: 'Check what the profile sets for the network.',
  CHANNEL: 'Check the channel.',
  JOB: 'Check the job.',
}

const hints: Record<Exclude<RuleId, 'device.offline'>, string> = {
  'device.flapping':
    'Check the network cable, the power supply and the wireless signal of the device. See the connection history of the device.',
  'config.rejected':
    'Read the reason on the settings of the device, then correct or remove the setting, in the profile if one locks it.',
  'config.undelivered':
    'The device is connected but has not confirmed its settings. Restart it; if that does not help, collect its logs.',
  'air.beyond': 'Ventilate the room, or ask facilities to check ventilation and heating.',
  'room.crowded': 'Offer a larger room, and check that the capacity of the room is right.',
  'sensor.silent': 'Restart the device. If that does not help, its sensor may be broken: collect its logs.',
  'storage.low':
    'Restart the device. If that does not help, collect its logs and ask its maker what fills the storage.',
  'device.fault':
    'Look up the code in the manual of the device, and repair or replace the part that the fault names, such as a lamp, a filter or a fan. If nothing seems wrong, restart the device and see whether it reports the fault again.',
  'peripheral.missing':
    'Check that the part is still in the room, switched on, and plugged in at both ends; then try another cable or socket. If it was removed on purpose, resolve the incident.',
  'gateway.device':
    'Open the gateway in the settings: each device has a reason. Correct its address or password, confirm its new certificate, or remove it, then try again.',
  'source.failing':
    'Open the source in the settings, and make a test: it says what to change, such as the address, the key or the certificate. The devices of the source are unknown until it is back; nothing of them is deleted.',
  'firmware.behind':
    'Check that automatic updates are on, and that the devices reach the update server of their maker.',
  'clock.unreachable':
    'Check the time server in the settings, and that the network lets UDP port 123 pass. A wrong clock breaks TLS and sign-in.',
  'credential.refused':
    'If the device was reset, enrol it again. If not, another device may be trying to connect in its name: look up the addresses in the log of the service.',
  'credential.shared':
    'A copy of the device may be connected with its credential. Enrol the right device again, which ends the credential of the copy.',
  'certificate.expiring': 'Renew the certificate. The service reads the new files by itself.',
  'channel.failing':
    'Look at the deliveries of the channel for the reason, correct the channel, and send a test. Waiting messages are then delivered.',
  'job.stopped':
    'Open the job to see which rooms failed and why. Then resume the job, retry the failed rooms, or roll it back.',
}
