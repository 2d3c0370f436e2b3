// Says which fields each kind of channel has, checks them, and masks what is secret in them. [contract 10.channel] [contract 10.outbound]

import type { ChannelKind } from '../../contract/channels/channels.ts'
import type { ChannelEvent } from '../../contract/channels/messages.ts'
import type { Violation } from '../../contract/error.ts'
import type { OutboundClient } from '../outbound/outbound-fetch.ts'

/** The destination of a channel. */
export interface ChannelTarget {
  readonly url?: string
  readonly to?: readonly string[]
  readonly routingKey?: string
}
type TargetField = keyof ChannelTarget

/** Every kind needs exactly one field, but `people`: each of its messages has its own receiver. */
const fieldOfKind: Readonly<Record<ChannelKind, TargetField | undefined>> = {
  webhook: 'url',
  email: 'to',
  teams: 'url',
  slack: 'url',
  pagerduty: 'routingKey',
  people: undefined,
}

/** PagerDuty has an address of its own for accounts in the European Union. */
const defaultUrls: Readonly<Partial<Record<ChannelKind, string>>> = {
  pagerduty: 'https://events.pagerduty.com/v2/enqueue',
}

/** Fills in the address of a kind that has a usual one. */
export const withDefaultUrl = (kind: ChannelKind, target: ChannelTarget): ChannelTarget => {
  const url = target.url ?? defaultUrls[kind]
  return url === undefined ? target : { ...target, url }
}

const targetFields: readonly TargetField[] = ['url', 'to', 'routingKey']

export function targetViolations(
  kind: ChannelKind,
  target: ChannelTarget,
  findProblem: OutboundClient['findProblem'],
): Violation[] {
  const wrong = targetFields.flatMap((field): Violation[] => {
    const [isGiven, isNeeded] = [target[field] !== undefined, fieldOfKind[kind] === field]
    if (isNeeded && !isGiven) return [{ field, error: `is required for a channel of the kind ${kind}` }]
    const isOptional = field === 'url' && defaultUrls[kind] !== undefined
    if (isGiven && !isNeeded && !isOptional)
      return [{ field, error: `does not apply to channels of the kind ${kind}. Leave it out` }]
    return []
  })
  if (wrong.length > 0) return wrong
  return [
    ...(target.url === undefined ? [] : urlViolations(target.url, findProblem)),
    ...(target.to ?? []).flatMap((address, i) =>
      mailAddress.test(address) ? [] : [{ field: `to[${i}]`, error: 'must be a plain e-mail address' }],
    ),
    ...(target.routingKey === undefined || /^[\w+-]+$/.test(target.routingKey)
      ? []
      : [{ field: 'routingKey', error: 'must be an integration key of letters and digits' }]),
  ]
}

/** Messages that only one kind can send: the report of a month has tables, which only mail can show, and an assignment is told to a person. */
const kindOfEvent: Readonly<Partial<Record<ChannelEvent, ChannelKind>>> = {
  'report.month': 'email',
  'incident.assigned': 'people',
}

/** Which messages a kind can send. Heartbeats have no receiver in a channel to people. */
export function messageViolations(
  kind: ChannelKind,
  {
    events = [],
    heartbeatMinutes,
  }: { readonly events?: readonly ChannelEvent[]; readonly heartbeatMinutes?: number | null },
): Violation[] {
  const wrong = events.flatMap((event): Violation[] => {
    const only = kindOfEvent[event]
    if (only !== undefined && only !== kind)
      return [{ field: 'events', error: `${event} goes to channels of the kind ${only} only. Leave it out` }]
    if (kind === 'people' && only !== kind)
      return [{ field: 'events', error: `${event} concerns no single person. Leave it out` }]
    return []
  })
  if (kind !== 'people' || typeof heartbeatMinutes !== 'number') return wrong
  return [...wrong, { field: 'heartbeatMinutes', error: 'does not apply to channels of the kind people. Leave it out' }]
}

/** No display names, no lists, no comments: each address is one recipient. */
const mailAddress = /^[^\s@<>()[\],;:\\"\p{Cc}]+@[^\s@<>()[\],;:\\"\p{Cc}]+$/u

function urlViolations(text: string, findProblem: OutboundClient['findProblem']): Violation[] {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || /[\s#…]/.test(text)) {
    return [{ field: 'url', error: 'must be an address such as https://hooks.example.org/path, without a fragment' }]
  }
  if (url.username !== '' || url.password !== '') {
    return [{ field: 'url', error: 'must not contain a user name or a password' }]
  }
  switch (findProblem(url)?.reason) {
    case undefined:
      return []
    case 'https required':
      return [{ field: 'url', error: 'must begin with https://. The operator can allow http with --outbound-allow' }]
    default:
      return [
        {
          field: 'url',
          error: 'must be a public address. The operator can allow others with --outbound-allow',
        },
      ]
  }
}

const mask = '…'

/** Path and query of an address are secret: they often contain a token. */
export const maskUrl = (url: string): string => `${new URL(url).origin}/${mask}`
export const maskedRoutingKey = mask
