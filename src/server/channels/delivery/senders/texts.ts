// Describes a message in words, for receivers that show it to people. Each receiver escapes the words for itself.

import { type MessageType, type NamedPlace, placeText } from '../../../../contract/channels/messages.ts'
import { modelOf } from '../../../../contract/device/models.ts'
import type { CommandType } from '../../../../contract/fleet/commands.ts'
import { readingLabel, readingText } from '../../../../contract/incidents/readings.ts'
import { capitalised, oneLine } from '../../../../contract/words.ts'
import { localTimeText } from '../../../core/time/local-time.ts'
import type { DigestContent, IncidentContent, OutgoingMessage } from './message.ts'
import { monthTitle } from './month-mail.ts'

interface MessageText {
  /** One line. */
  readonly headline: string
  /** One line with what everybody wants to know first: "Critical · since 22:28 (Lisbon) · #7". */
  readonly summary?: string
  /** Pairs of a label and a value, each on one line. */
  readonly facts: readonly (readonly [label: string, value: string])[]
  /** A sentence that says what to do, or what the message means. */
  readonly advice?: string
}

const incidentVerbs: Partial<Record<MessageType, string>> = {
  'incident.opened': 'Opened',
  'incident.changed': 'Changed',
  'incident.acknowledged': 'Acknowledged',
  'incident.resolved': 'Resolved',
  'incident.reopened': 'Reopened',
  'incident.assigned': 'Assigned to you',
}

export function messageTextOf(message: OutgoingMessage): MessageText {
  const { type, content } = message
  const { incident, digest, endpoint, operation, config, job, entry, report } = content
  if (incident) return incidentText(incidentVerbs[type] ?? type, incident, message)
  if (digest) return digestText(digest, message)
  if (endpoint) {
    const facts = factsOf([
      ['Serial number', endpoint.serial],
      ['Model', endpoint.model && modelOf(endpoint.model).name],
    ])
    const name = oneLine(endpoint.name ?? endpoint.serial ?? endpoint.id)
    return { headline: `Device ${type.replace('endpoint.', '')}: ${name}`, facts }
  }
  if (operation) {
    const headline = `${commandNames[operation.type ?? ''] ?? 'Command'} ${wordsOf(operation.state) || 'finished'}`
    return { headline, facts: deviceFacts(operation) }
  }
  if (config) {
    const headline = type === 'config.delivered' ? 'Settings delivered to a device' : 'Settings rejected by a device'
    return { headline, facts: deviceFacts(config) }
  }
  if (job) {
    const facts = factsOf([
      ['State', job.state],
      ['Reason', job.reason],
      ['Started by', job.startedBy?.name],
    ])
    return { headline: `Job ${type.replace('job.', '')}: ${oneLine(job.name ?? job.id)}`, facts }
  }
  if (entry) return { headline: `Change: ${wordsOf(entry.type)}`, facts: factsOf([['By', entry.actor?.name]]) }
  if (report) return { headline: monthTitle(report), facts: [] }
  if (type === 'heartbeat') return { headline: 'Roomkeeper is running', facts: [] }
  return {
    headline: 'Test message from Roomkeeper',
    facts: [],
    advice: 'If you can read this, messages of this channel arrive.',
  }
}

/** The headline has one of these before the state: "Restart succeeded". */
const commandNames: Readonly<Record<string, string>> = {
  REBOOT: 'Restart',
  MESSAGE: 'Message on the screen',
  COLLECT_LOGS: 'Collection of logs',
  POWER: 'Switching the power',
} satisfies Record<CommandType, string>

/** The links of a message: its own page, and the page of its room. */
export const linksOf = ({
  url,
  roomUrl,
}: OutgoingMessage): readonly { readonly text: string; readonly url: string }[] => [
  { text: 'Open in Roomkeeper', url },
  ...(roomUrl === undefined ? [] : [{ text: 'Open room', url: roomUrl }]),
]

function incidentText(verb: string, incident: IncidentContent, message: OutgoingMessage): MessageText {
  const { places = [], assignedBy } = message.content
  const { id, severity, since, hint, acknowledgedBy, readings = [] } = incident
  const summary = [
    capitalised(wordsOf(severity)),
    since && `since ${timeText(since, message)}`,
    id !== undefined && `#${oneLine(id)}`,
  ]
  return {
    headline: `${verb}: ${oneLine(incident.title ?? incident.rule)}`,
    summary: summary.filter(Boolean).join(' · '),
    facts: factsOf([
      ['Rooms', places.length > 1 ? roomsText(places, incident.roomIds?.length ?? 0) : undefined],
      ['Region', [...new Set(places.flatMap(({ regionName }) => regionName ?? []))].join(', ')],
      ...readings.map((reading) => [readingLabel(reading.name), readingText(reading)] as const),
      ['Assigned by', assignedBy?.name],
      ['Acknowledged by', acknowledgedBy?.name],
    ]),
    ...(hint !== undefined && verb !== 'Resolved' && { advice: oneLine(hint) }),
  }
}

const maxListedRooms = 5

/** The title names the room of an incident that has one; with several it cannot. */
function roomsText(places: readonly NamedPlace[], count: number): string {
  const texts = places.flatMap((place) => placeText(place) ?? [])
  const more = Math.max(count, texts.length) - maxListedRooms
  return `${texts.slice(0, maxListedRooms).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** The openings of a digest may be spread over a night: it names the first and the last. */
function digestText({ count, from, to, bySeverity }: DigestContent, message: OutgoingMessage): MessageText {
  const severities = Object.entries(bySeverity).map(([severity, n]) => `${n} ${wordsOf(severity)}`)
  return {
    headline: `${count} incidents opened`,
    facts: factsOf([
      ['From', timeText(from, message)],
      ['To', timeText(to, message)],
      ['By severity', severities.join(', ')],
    ]),
    advice: 'Sent as one message because there are so many. Updates follow one by one.',
  }
}

const timeText = (time: string, { timezone, attemptedAt }: OutgoingMessage): string =>
  localTimeText(Date.parse(time), timezone, attemptedAt)

const factsOf = (pairs: readonly (readonly [string, string | undefined])[]) =>
  pairs.flatMap(([label, value]) => (value ? [[label, oneLine(value)] as const] : []))

const deviceFacts = ({ endpointName, endpointId }: { readonly endpointName?: string; readonly endpointId?: string }) =>
  factsOf([
    ['Device', endpointName],
    ['Device ID', endpointId],
  ])

/** Makes words of a constant: ROOM_UPDATED is "room updated". */
const wordsOf = (constant: string | undefined): string => oneLine(constant).toLowerCase().replaceAll('_', ' ')
