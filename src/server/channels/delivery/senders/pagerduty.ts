// Sends a message to the Events API v2 of PagerDuty: incidents and tests as alerts, everything else as change events. [contract 10.channel]
import { placeText } from '../../../../contract/channels/messages.ts'
import { oneLine } from '../../../../contract/words.ts'
import { isoTime } from '../../../core/clock.ts'
import { shortened } from '../../../core/text.ts'
import type { IncidentContent, OutgoingMessage } from './message.ts'
import type { Outcome } from './outcome.ts'
import { postJson } from './post-json.ts'
import type { SenderTools, SendRequest } from './sender.ts'
import { linksOf, messageTextOf } from './texts.ts'

/** Alerts go to the address of the channel, which ends with the first path. Change events go to the second path of the same host. */
const [alertPath, changePath] = [/\/v2\/enqueue$/, '/v2/change/enqueue'] as const
const maxSummaryCharacters = 1024

/** PagerDuty knows these severities, and `error`. */
const severities: Readonly<Record<string, string>> = { CRITICAL: 'critical', WARNING: 'warning', INFO: 'info' }

export async function sendToPagerDuty(
  { fetch }: SenderTools,
  { message, secrets, now, signal }: SendRequest,
): Promise<Outcome> {
  const { incident } = message.content
  const isTest = message.type === 'test'
  const isAlert = incident !== undefined || isTest
  const alertUrl = secrets.url ?? ''
  const url = isAlert ? alertUrl : alertUrl.replace(alertPath, changePath)
  const send = (event: object) =>
    postJson(fetch, { url, body: JSON.stringify({ routing_key: secrets.routingKey, ...event }), now, signal })
  const outcome = await send(isAlert ? alertOf(message, incident) : changeOf(message))
  // Nothing happens after a test that could resolve its alert.
  return isTest && outcome.isDelivered ? send({ event_action: 'resolve', dedup_key: message.id }) : outcome
}

/** All messages about an incident have its id as their key, so that PagerDuty has one alert for it. */
function alertOf(message: OutgoingMessage, incident: IncidentContent | undefined): object {
  const { headline, summary, facts, advice } = messageTextOf(message)
  const [place] = message.content.places ?? []
  return {
    event_action: actionOf(message, incident),
    dedup_key: incident?.id ?? message.id,
    client: 'Roomkeeper',
    client_url: message.url,
    links: linksOf(message).map(({ text, url }) => ({ href: url, text })),
    payload: {
      summary: shortened(oneLine(incident?.title ?? headline), maxSummaryCharacters),
      source: (place && placeText(place)) || incident?.cause?.name || 'Roomkeeper',
      severity: severities[incident?.severity ?? 'INFO'] ?? 'info',
      timestamp: isoTime(message.createdAt),
      ...(incident?.rule !== undefined && { class: incident.rule }),
      custom_details: {
        ...(summary !== undefined && { Summary: summary }),
        ...Object.fromEntries(facts),
        ...(advice !== undefined && { Hint: advice }),
      },
    },
  }
}

function actionOf({ type }: OutgoingMessage, incident: IncidentContent | undefined): string {
  const state = incident?.state
  if (type === 'incident.resolved' || state === 'RESOLVED' || state === 'MERGED') return 'resolve'
  return state === 'ACKNOWLEDGED' ? 'acknowledge' : 'trigger'
}

function changeOf(message: OutgoingMessage): object {
  const { headline, facts } = messageTextOf(message)
  return {
    payload: {
      summary: shortened(headline, maxSummaryCharacters),
      source: 'Roomkeeper',
      timestamp: isoTime(message.createdAt),
      custom_details: Object.fromEntries(facts),
    },
    links: linksOf(message).map(({ text, url }) => ({ href: url, text })),
  }
}
