// Describes a message in words, for receivers that show it to people. Each receiver escapes the words for itself.
import type { CommandType } from '../../../../../contract/device/commands.ts'
import type { MessageType } from '../../../../../contract/incidents/messages.ts'
import type { DigestContent, IncidentContent, OutgoingMessage } from './message.ts'

interface MessageText {
  /** One line. */
  readonly headline: string
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
}

export function messageTextOf({ type, content }: OutgoingMessage): MessageText {
  const { incident, digest, endpoint, operation, config, job, entry } = content
  if (incident) return incidentText(incidentVerbs[type] ?? type, incident)
  if (digest) return digestText(digest)
  if (endpoint) {
    const facts = factsOf([
      ['Serial number', endpoint.serial],
      ['Model', endpoint.model],
    ])
    return { headline: `Device ${type.replace('endpoint.', '')}: ${oneLine(endpoint.serial ?? endpoint.id)}`, facts }
  }
  if (operation) {
    const headline = `${commandNames[operation.type ?? ''] ?? 'Command'} ${wordsOf(operation.state) || 'finished'}`
    return { headline, facts: factsOf([['Device ID', operation.endpointId]]) }
  }
  if (config) {
    const headline = type === 'config.delivered' ? 'Settings delivered to a device' : 'Settings rejected by a device'
    return { headline, facts: factsOf([['Device ID', config.endpointId]]) }
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
} satisfies Record<CommandType, string>

const incidentText = (verb: string, incident: IncidentContent): MessageText => ({
  headline: `${verb}: ${oneLine(incident.title ?? incident.rule)}`,
  facts: factsOf([
    ['Severity', incident.severity],
    ['Since', incident.since],
    ['Acknowledged by', incident.acknowledgedBy?.name],
    ['Incident', incident.id],
  ]),
  ...(incident.hint !== undefined && verb !== 'Resolved' && { advice: oneLine(incident.hint) }),
})

/** The openings of a digest may be spread over a night, so that it names the first and the last. */
function digestText({ count, from, to, bySeverity }: DigestContent): MessageText {
  const severities = Object.entries(bySeverity).map(([severity, n]) => `${n} ${wordsOf(severity)}`)
  return {
    headline: `${count} incidents opened`,
    facts: factsOf([
      ['From', from],
      ['To', to],
      ['By severity', severities.join(', ')],
    ]),
    advice: 'Sent as one message because there are so many. Updates follow one by one.',
  }
}

const factsOf = (pairs: readonly (readonly [string, string | undefined])[]) =>
  pairs.flatMap(([label, value]) => (value ? [[label, oneLine(value)] as const] : []))

/** Names and notes may have line breaks and control characters, which would begin a header or a line of their own. */
export const oneLine = (text: string | undefined): string => (text ?? '').replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()

/** Makes words of a constant: ROOM_UPDATED is "room updated". */
const wordsOf = (constant: string | undefined): string => oneLine(constant).toLowerCase().replaceAll('_', ' ')
