// Decides which channels a message goes to. [contract 10.channel]
import type { ChannelEvent } from '../../../contract/channels/messages.ts'
import { isAtLeast, type RuleId, type Severity } from '../../../contract/incidents/rule-table.ts'

/** Which messages are wanted. Empty lists of rules and places mean all of them. */
export interface MessageFilter {
  readonly events: readonly ChannelEvent[]
  readonly minSeverity: Severity
  /** Channels that version 0.2 wrote have none. */
  readonly rules?: readonly RuleId[]
  readonly regionIds: readonly number[]
  readonly locationIds: readonly number[]
}

/** Says which messages one channel wants. The filters of all channels are stored together, in the head of the audit log. */
export interface ChannelFilter extends MessageFilter {
  readonly channelId: number
}

export interface FilteredMessage {
  readonly type: ChannelEvent
  readonly severity?: Severity
  /** The rule of an incident. */
  readonly rule?: RuleId
  readonly regionIds: readonly (number | null)[]
  readonly locationIds: readonly (number | null)[]
  /** This channel does not get it. */
  readonly exceptChannel?: number
  /** If set, only channels that did not want the incident as it was before get the message. */
  readonly previousAudience?: Pick<FilteredMessage, 'severity' | 'regionIds' | 'locationIds'>
}

export const channelFilterOf = (channelId: number, filter: MessageFilter): ChannelFilter => ({
  channelId,
  events: filter.events,
  minSeverity: filter.minSeverity,
  ...(filter.rules !== undefined && filter.rules.length > 0 && { rules: filter.rules }),
  regionIds: filter.regionIds,
  locationIds: filter.locationIds,
})

/** A channel that is disabled wants its messages too: they wait until it is enabled again. */
export function wantsMessage(filter: ChannelFilter, { previousAudience, ...message }: FilteredMessage): boolean {
  if (previousAudience && wantsMessage(filter, { ...message, ...previousAudience })) return false
  if (filter.channelId === message.exceptChannel) return false
  if (!filter.events.includes(message.type)) return false
  if (message.severity && !isAtLeast(message.severity, filter.minSeverity)) return false
  if (message.rule && filter.rules && filter.rules.length > 0 && !filter.rules.includes(message.rule)) return false
  return overlaps(filter.regionIds, message.regionIds) && overlaps(filter.locationIds, message.locationIds)
}

/** A channel with an empty list gets all places. A message with an empty list is about the whole organisation. */
const overlaps = (wanted: readonly number[], places: readonly (number | null)[]): boolean =>
  wanted.length === 0 || places.length === 0 || places.some((id) => id !== null && wanted.includes(id))
