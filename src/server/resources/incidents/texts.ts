// The title and the hint of an incident: sentences for people, made of its rule, its cause and what the caller sees of it. [contract 10.states]
import type { RuleId } from '../../../contract/incidents/rule-table.ts'
import type { Cause, FindingDetail } from './engine/types.ts'

export interface TitledIncident {
  readonly rule: RuleId
  readonly cause: Cause
  readonly detail: FindingDetail
  /** How many subjects the caller sees: those that are still affected, or all that ever were if none is. */
  readonly subjectCount: number
}

/** One line that says what is wrong. */
export const titleOf = (incident: TitledIncident): string => titles[incident.rule](incident)

/** One or two sentences that say what to do. */
export function hintOf({ rule, cause, detail }: TitledIncident): string {
  if (rule !== 'device.offline') return hints[rule]
  if (!detail.restart) return offlineHints[cause.level]
  return (detail.restart as { readonly node?: string }).node === undefined ? afterRestart : afterNodeEnded
}

const titles: Record<RuleId, (incident: TitledIncident) => string> = {
  'device.offline': offlineTitle,
  'device.flapping': ({ cause }) => `${cause.name} keeps disconnecting`,
  'config.rejected': rejectedTitle,
  'config.undelivered': (incident) =>
    `${devices(incident)} ${have(incident)} not confirmed ${incident.subjectCount === 1 ? 'its' : 'their'} settings`,
  'air.beyond': ({ cause, detail: { sensors = [] } }) =>
    `The air in ${cause.name} is outside its limits${sensors.length === 0 ? '' : `: ${listOf(sensors.map(sensorName))}`}`,
  'room.crowded': ({ cause, detail: { people, capacity } }) =>
    typeof people === 'number' && typeof capacity === 'number'
      ? `${cause.name} is crowded: ${people} people, capacity ${capacity}`
      : `${cause.name} is crowded`,
  'sensor.silent': (incident) => `${devices(incident)} ${incident.subjectCount === 1 ? 'sends' : 'send'} no samples`,
  'storage.low': ({ cause, detail: { storage, freePercent } }) =>
    `${cause.name} is low on ${typeof storage === 'string' ? `${storage} ` : ''}storage${typeof freePercent === 'number' ? `: ${freePercent} % free` : ''}`,
  'firmware.behind': (incident) => `${devices(incident)} ${have(incident)} not the latest firmware`,
  'clock.unreachable': (incident) =>
    `${devices(incident)} ${incident.subjectCount === 1 ? 'does not reach its' : 'do not reach their'} time server`,
  'credential.refused': ({ cause }) => `Wrong credentials were sent for ${cause.name}`,
  'credential.shared': ({ cause }) => `Two devices connect as ${cause.name}`,
  'certificate.expiring': ({ detail: { expiresAt } }) =>
    typeof expiresAt === 'number'
      ? `The TLS certificate of this service expires on ${new Date(expiresAt).toISOString().slice(0, 10)}`
      : 'The TLS certificate of this service expires soon',
  'channel.failing': ({ cause }) => `The channel ${cause.name} delivers nothing`,
  'job.stopped': ({ cause }) => `The job ${cause.name} was stopped: too many rooms failed`,
}

function offlineTitle({ cause: { level, name }, subjectCount: count, detail }: TitledIncident): string {
  if (detail.restart) {
    const { node } = detail.restart as { readonly node?: string }
    return `${counted(count)} did not come back after ${node === undefined ? 'a restart of the service' : `node ${node} ended`}`
  }
  switch (level) {
    case 'LOCATION':
      return `${name} is offline: ${counted(count)}`
    case 'ORGANISATION':
      return `Several locations are offline: ${counted(count)}`
    default:
      return count > 1 ? `${name} is offline: ${counted(count)}` : `${name} is offline`
  }
}

function rejectedTitle({ cause: { level, name }, subjectCount: count, detail: { keys = [] } }: TitledIncident): string {
  const settings = keys.length === 0 ? 'its settings' : `the setting${keys.length > 1 ? 's' : ''} ${listOf(keys)}`
  if (level === 'PROFILE') return `${counted(count)} rejected ${settings} of the profile ${name}`
  return level === 'JOB' ? `${counted(count)} rejected ${settings} (job ${name})` : `${name} rejected ${settings}`
}

const counted = (count: number) => (count === 1 ? '1 device' : `${count} devices`)
const have = ({ subjectCount }: TitledIncident) => (subjectCount === 1 ? 'has' : 'have')

/** The subject of a sentence about the endpoints of a cause. */
function devices({ cause: { level, name }, subjectCount: count }: TitledIncident): string {
  switch (level) {
    case 'MODEL':
      return `${counted(count)} of the model ${name}`
    case 'PROFILE':
      return `${counted(count)} with the profile ${name}`
    case 'LOCATION':
    case 'ROOM':
      return `${counted(count)} in ${name}`
    case 'ORGANISATION':
      return counted(count)
    default:
      return name
  }
}

const maxListed = 3
const listOf = (names: readonly string[]): string =>
  names.length <= maxListed
    ? names.join(', ')
    : `${names.slice(0, maxListed).join(', ')} and ${names.length - maxListed} more`

const sensorNames: Readonly<Record<string, string>> = { co2: 'CO₂', voc: 'VOC', temp: 'temperature' }
const sensorName = (sensor: string): string => sensorNames[sensor] ?? sensor

const afterRestart =
  'The service was restarted, and most devices did not come back. Check that they reach it: address, ports, certificate, firewall, load balancer. Devices keep trying.'
const afterNodeEnded =
  'A node of the service ended, and most of its devices did not come back. Check that they reach the other nodes: address, ports, certificate, firewall, load balancer. Devices keep trying.'

const offlineHints: Record<Cause['level'], string> = {
  ENDPOINT:
    'Check the power and the network cable of the device. If other devices of the room work, power-cycle this one on site.',
  ROOM: 'No device of the room is connected. Check its power, its switch and its network sockets.',
  LOCATION:
    'Many rooms went offline together. Check the power, the switches and the internet connection of the location.',
  ORGANISATION:
    'Many locations went offline together. Check the connection of this service to the internet, its DNS name and its firewall first, then the network that the locations share.',
  MODEL: 'Check what the devices have in common, such as a new firmware.',
  PROFILE: 'Check what the profile sets for the network.',
  CHANNEL: 'Check the channel.',
  JOB: 'Check the job.',
}

const hints: Record<Exclude<RuleId, 'device.offline'>, string> = {
  'device.flapping':
    'Check the network cable, the power supply and the wireless signal of the device. The connections of the endpoint show when it was away.',
  'config.rejected':
    'Read the reason on the settings of the device, then correct or remove the setting, in the profile if one locks it.',
  'config.undelivered':
    'The device is connected but has not confirmed its settings. Restart it; if that does not help, collect its logs.',
  'air.beyond': 'Air the room, or ask the building management to check ventilation and heating.',
  'room.crowded': 'Offer a larger room, and check that the capacity of the room is right.',
  'sensor.silent': 'Restart the device. If that does not help, its sensor may be broken: collect its logs.',
  'storage.low':
    'Restart the device. If that does not help, collect its logs and ask its maker what fills the storage.',
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
    'Open the job to see which rooms failed and why. Then resume the job, retry the failed rooms, or undo it.',
}
