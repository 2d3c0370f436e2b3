// Sends a message as an e-mail. All messages about an incident are in one thread. [contract 10.channel]
import type { IncidentContent } from './message.ts'
import type { Outcome } from './outcome.ts'
import type { SenderTools, SendRequest } from './sender.ts'
import { messageTextOf, oneLine } from './texts.ts'

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
  const { incident } = message.content
  const { headline, facts, advice } = messageTextOf(message)
  const lines = [
    headline,
    '',
    ...facts.map(([label, value]) => `${label}: ${value}`),
    ...(advice === undefined ? [] : ['', advice]),
    '',
    message.url,
  ]
  const mail = {
    to: settings.to ?? [],
    subject: `[Roomkeeper] ${incident ? threadSubject(incident) : headline}`,
    text: `${lines.join('\n')}\n`,
    id: message.id,
    ...(incident?.id !== undefined && {
      thread: { name: `incident-${incident.id}.${message.orgId}`, isFirst: message.type === 'incident.opened' },
    }),
  }
  const outcome = await mailer.send(mail, signal)
  if (!outcome.isDelivered || outcome.laterError === undefined || attempts >= maxDeferrals) return outcome
  return { isDelivered: false, status: null, error: outcome.laterError }
}

/** Mail programs show messages as one thread only if their subjects are equal, so nothing that changes is in here. */
const threadSubject = ({ id, rule, cause }: IncidentContent): string =>
  oneLine([`Incident ${id}`, rule, cause?.name].filter(Boolean).join(', '))
