// The facts about the messages that wait for a channel, and from when on each can be sent. [contract 10.delivery]
import type { ChannelEvent, MessageType } from '../../../../contract/channels/messages.ts'
import type { Severity } from '../../../../contract/incidents/rule-table.ts'
import type { IncidentState } from '../../../../contract/incidents/states.ts'
import { openingDelayMs } from '../../../journal/outbox/outbox.ts'

/** A message that waits for the channel. */
export interface WaitingRow {
  readonly message: number
  readonly type: MessageType
  /** Messages with the same key are sent in the order of their numbers. */
  readonly order_key: string
  readonly incident_id: number | null
  readonly created_at: number
  readonly next_at: number | null
  readonly attempts: number
  /** Null before the first attempt. Only such a message can be cancelled. */
  readonly sequence: number | null
  readonly replayed_at: number | null
}

export interface IncidentFacts {
  readonly state: IncidentState
  readonly severity: Severity
  readonly opened_at: number
  readonly resolved_at: number | null
  readonly updated_at: number
  /** The person who has it, unless that person is disabled. */
  readonly assignee: number | null
}

/** A digest that has not been delivered yet. Everything about its incidents comes after it. */
export interface WaitingDigest {
  readonly message: number
  readonly nextAt: number
}

/** An `incident.opened` of the last minutes, or one that still waits. */
interface OpeningRow extends Pick<WaitingRow, 'message' | 'incident_id' | 'created_at' | 'next_at' | 'sequence'> {
  readonly state: string
}

/** The messages must have been read before the incidents: decisions rely on incidents being the newer of the two. */
export interface DeliveryFacts<R extends WaitingRow = WaitingRow> {
  readonly now: number
  /** The types that the channel has chosen. */
  readonly events: readonly ChannelEvent[]
  readonly takesDigests: boolean
  readonly due: readonly R[]
  /** Messages that are not due, but come before one that is. */
  readonly earlier: readonly WaitingRow[]
  /** In order of time. */
  readonly openings: readonly OpeningRow[]
  readonly incidents: ReadonlyMap<number, IncidentFacts>
  /** The incidents that the channel was told about, with the digest that it waits for. */
  readonly announced: ReadonlyMap<number, WaitingDigest | undefined>
  readonly lastDigestAt: number | undefined
  /** The first time from `from` on at which neither a silence nor the channel's hours hold a message about the incident. */
  readonly freeAt: (incidentId: number | null, from: number) => number
}

/** An opening that a digest has. */
export interface GatheredOpening {
  readonly message: number
  readonly incident: number
}

/** A time in the future was written by a clock that was ahead: there is nothing to wait for. */
const endOfFirstMinute = (openedAt: number, now: number): number =>
  openedAt > now + openingDelayMs ? now : openedAt + openingDelayMs

/** Everything about an incident waits for its first minute. */
export function messageReadyAt({ type, incident_id }: WaitingRow, { now, incidents, freeAt }: DeliveryFacts): number {
  if (type === 'test' || type === 'heartbeat') return now
  // An assignment waits for no silence, and not for the first minute of the incident.
  if (type === 'incident.assigned') return freeAt(null, now)
  const incident = incident_id === null ? undefined : incidents.get(incident_id)
  return freeAt(incident_id, Math.max(now, incident ? endOfFirstMinute(incident.opened_at, now) : now))
}

/** An opening waits for a minute after it was written, even if its incident opened earlier and has just reopened or reached the channel. */
export function openingReadyAt(
  { incident_id, created_at }: Pick<WaitingRow, 'incident_id' | 'created_at'>,
  { now, incidents, freeAt }: DeliveryFacts,
): number {
  const openedAt = incidents.get(incident_id as number)?.opened_at ?? now
  return freeAt(incident_id, Math.max(now, endOfFirstMinute(openedAt, now), endOfFirstMinute(created_at, now)))
}
