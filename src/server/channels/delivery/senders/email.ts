// Sends a message as an e-mail. All messages about an incident are in one thread. [contract 10.channel]

import { type NamedPlace, placeText } from '../../../../contract/channels/messages.ts'
import { ruleNames } from '../../../../contract/incidents/rule-names.ts'
import type { RuleId } from '../../../../contract/incidents/rule-table.ts'
import { oneLine } from '../../../../contract/words.ts'
import type { Mail } from '../../../outbound/mailer.ts'
import type { IncidentContent, OutgoingMessage } from './message.ts'
import { monthMail } from './month-mail.ts'
import type { Outcome } from './outcome.ts'
import type { SenderTools, SendRequest } from './sender.ts'
import { messageTextOf } from './texts.ts'

/**
 * If a mail server defers one recipient, the mail is sent again to all of them with the same Message-ID. After this many attempts (two
 * hours) it counts as delivered, so that the others get no more copies.
 */
const maxDeferrals = 4

export async function sendMail(
  { mailer }: SenderTools,
  { message, settings, attempts, signal }: SendRequest,
): Promise<Outcome> {
  if (!mailer) return { isDelivered: false, status: null, error: 'no SMTP server is set' }
  const mail = { to: settings.to ?? [], id: message.id, ...mailOf(message) }
  const outcome = await mailer.send(mail, signal)
  if (!outcome.isDelivered || outcome.laterError === undefined || attempts >= maxDeferrals) return outcome
  return { isDelivered: false, status: null, error: outcome.laterError }
}

/** A mailbox that refuses mail for good is not the fault of the channel, so others are told, and its delivery has a note. */
export async function sendMailToPerson({ mailer }: SenderTools, request: SendRequest): Promise<Outcome> {
  const { message, signal } = request
  const { address } = message.content.recipient ?? {}
  if (!mailer) return { isDelivered: false, status: null, error: 'no SMTP server is set' }
  if (address === undefined) return { isDelivered: true, status: null, note: 'no recipient' }
  const outcome = await mailer.send({ to: [address], id: message.id, ...mailOf(message) }, signal)
  if (outcome.isDelivered || !outcome.isRefusedForGood) return outcome
  return { isDelivered: true, status: null, note: outcome.error }
}

function mailOf(message: OutgoingMessage): Pick<Mail, 'subject' | 'text' | 'html' | 'thread'> {
  const { type } = message
  const { incident, report } = message.content
  if (report) return monthMail(report, message.url)
  const { headline, summary, facts, advice } = messageTextOf(message)
  const { url, roomUrl } = message
  const lines = [
    headline,
    '',
    ...(summary === undefined ? [] : [summary]),
    ...facts.map(([label, value]) => `${label}: ${value}`),
    ...(advice === undefined ? [] : ['', advice]),
    '',
    url,
    ...(roomUrl === undefined ? [] : [`Room: ${roomUrl}`]),
  ]
  return {
    subject: `[Roomkeeper] ${incident && type !== 'incident.assigned' ? threadSubject(incident, message.content.places) : headline}`,
    text: `${lines.join('\n')}\n`,
    ...(incident?.id !== undefined &&
      type !== 'incident.assigned' && {
        thread: { name: `incident-${incident.id}.${message.orgId}`, isFirst: message.type === 'incident.opened' },
      }),
  }
}

/** Mail programs show messages as one thread only if their subjects are equal, so no count and no value is in here. */
function threadSubject({ id, rule, cause }: IncidentContent, places: readonly NamedPlace[] = []): string {
  // The places that are still affected come first, so the order changes.
  const [place] = places.toSorted((a, b) => (a.roomId ?? 0) - (b.roomId ?? 0))
  const isInRoom = cause?.level === 'ROOM' || cause?.level === 'ENDPOINT'
  const where = (isInRoom && place && placeText(place)) || cause?.name
  return oneLine([`Incident ${id}: ${ruleNames[rule as RuleId] ?? rule}`, where].filter(Boolean).join(', '))
}
