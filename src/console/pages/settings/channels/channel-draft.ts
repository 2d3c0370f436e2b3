// The values of the form of a channel, and the request bodies that they make. [contract 10.channel]

import type { CallInput } from '../../../../client/client.ts'
import type { ChannelKind } from '../../../../contract/channels/channels.ts'
import { type ChannelEvent, defaultChannelEvents, peopleChannelEvents } from '../../../../contract/channels/messages.ts'
import { maxMailAddresses } from '../../../../contract/incidents/limits.ts'
import type { RuleId, Severity } from '../../../../contract/incidents/rule-table.ts'
import type { WeeklyHours } from '../../../../contract/weekly-hours.ts'
import { isWeeklyHours } from '../../../domain/incidents/silence/weekly-field.tsx'
import { isEmailAddress } from '../../../domain/people/person/email-address.ts'
import { canChoose, type ListedChannel } from './channel.ts'

export interface ChannelDraft {
  readonly name: string
  readonly kind: ChannelKind
  /** The URL or the integration key. Empty keeps the one that is stored. */
  readonly secret: string
  /** One e-mail address in each line. */
  readonly addresses: string
  readonly events: readonly ChannelEvent[]
  readonly minSeverity: Severity
  /** Empty: all rules. */
  readonly rules: readonly RuleId[]
  readonly regionIds: readonly number[]
  readonly locationIds: readonly number[]
  readonly hours: WeeklyHours | undefined
  /** Empty: no heartbeat. */
  readonly heartbeatMinutes: number | ''
}

export const newChannelDraft: ChannelDraft = {
  name: '',
  kind: 'webhook',
  secret: '',
  addresses: '',
  events: defaultChannelEvents,
  minSeverity: 'WARNING',
  rules: [],
  regionIds: [],
  locationIds: [],
  hours: undefined,
  heartbeatMinutes: '',
}

/** Keeps of the form what the other kind has too. A channel to people has one type of message, whatever the severity. */
export function withKind(draft: ChannelDraft, kind: ChannelKind): ChannelDraft {
  if (kind === draft.kind) return draft
  const isForPeople = kind === 'people'
  const wasForPeople = draft.kind === 'people'
  const usual = isForPeople ? peopleChannelEvents : defaultChannelEvents
  const events = isForPeople || wasForPeople ? usual : draft.events.filter((event) => canChoose(kind, event))
  const minSeverity = isForPeople ? 'INFO' : wasForPeople ? newChannelDraft.minSeverity : draft.minSeverity
  return {
    ...draft,
    kind,
    secret: '',
    events,
    minSeverity,
    heartbeatMinutes: isForPeople ? '' : draft.heartbeatMinutes,
  }
}

export const channelDraftOf = (channel: ListedChannel): ChannelDraft => ({
  name: channel.name,
  kind: channel.kind,
  secret: '',
  addresses: channel.to?.join('\n') ?? '',
  events: channel.events,
  minSeverity: channel.minSeverity,
  rules: channel.rules,
  regionIds: channel.regionIds,
  locationIds: channel.locationIds,
  hours: channel.hours,
  heartbeatMinutes: channel.heartbeatMinutes ?? '',
})

export const addressList = (text: string): string[] =>
  text
    .split(/[\s,;]+/)
    .map((address) => address.trim())
    .filter(Boolean)

/** Says what is wrong with the addresses; undefined if nothing is. */
export function addressesProblem(text: string): string | undefined {
  const addresses = addressList(text)
  const wrong = addresses.find((address) => !isEmailAddress(address))
  if (wrong !== undefined) return `“${wrong}” is not an e-mail address.`
  return addresses.length > maxMailAddresses ? `Enter at most ${maxMailAddresses} addresses.` : undefined
}

/** A stored channel has a secret already, so its field may stay empty. */
export function isChannelComplete(draft: ChannelDraft, isStored: boolean): boolean {
  const { name, kind, secret, addresses, hours } = draft
  if (name.trim() === '' || (hours && !isWeeklyHours(hours))) return false
  if (kind === 'people') return true
  if (kind === 'email') return addressList(addresses).length > 0 && addressesProblem(addresses) === undefined
  return isStored || secret.trim() !== ''
}

export function updateBody(draft: ChannelDraft): CallInput<'channelsUpdate'>['body'] {
  const { kind, secret, hours, heartbeatMinutes } = draft
  const target =
    kind === 'email'
      ? { to: addressList(draft.addresses) }
      : kind === 'people' || secret.trim() === ''
        ? {}
        : { [kind === 'pagerduty' ? 'routingKey' : 'url']: secret.trim() }
  return {
    name: draft.name.trim(),
    ...target,
    events: [...draft.events],
    minSeverity: draft.minSeverity,
    rules: [...draft.rules],
    regionIds: [...draft.regionIds],
    locationIds: [...draft.locationIds],
    hours: hours ?? null,
    heartbeatMinutes: heartbeatMinutes === '' ? null : heartbeatMinutes,
  }
}

export const createBody = (draft: ChannelDraft): CallInput<'channelsCreate'>['body'] => ({
  ...updateBody(draft),
  name: draft.name.trim(),
  kind: draft.kind,
})
