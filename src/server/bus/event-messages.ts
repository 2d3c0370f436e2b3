// The bodies of the messages with which the event feeds of all nodes keep one order of events.
import type { Event } from '../../contract/journal/events.ts'
import type { AuditCategory } from '../../contract/operation.ts'

/** An event with the locations and regions that it is about. An event of a change also has the number of its audit entry, and says where its parts are. */
export type EventItem = readonly [
  event: Event,
  locations: readonly number[],
  regions: readonly number[],
  auditNumber?: number,
  parts?: ChangeParts,
]

/** The category of a change, and the regions of what its event names, by which readers get it whole, in part or not at all. */
export interface ChangeParts {
  readonly category: AuditCategory
  /** The region of each room of the event, and of each location, in their order; null for one that is in no region. */
  readonly rooms: readonly (number | null)[]
  readonly locations: readonly (number | null)[]
  readonly target: readonly number[]
}

export interface EventsMessage {
  readonly org: number
  /** Names the sender in this organisation. The id of an event is this name and the number of the event. */
  readonly name: string
  /** The number of the first item. Numbers of a name are consecutive, so that a lost message is noticed. */
  readonly first: number
  readonly items: readonly EventItem[]
}

/** An item with its id, as it waits for the event of an earlier audit entry. */
export interface NumberedItem {
  readonly name: string
  readonly number: number
  readonly item: EventItem
}

/** How many events a node has sent in an organisation under its name. */
export type SentCount = readonly [org: number, name: string, number: number]

/** Everything that a node must know of an organisation to go on exactly as the other nodes do. */
export interface EventChannelState {
  readonly org: number
  /** The ids of the nodes that follow. */
  readonly followers: readonly number[]
  /** The ids of the nodes that are known to send the events of the organisation. */
  readonly senders: readonly number[]
  /** The last number of each name. */
  readonly heard: readonly (readonly [name: string, number: number])[]
  /** The number of the audit entry whose event comes next; undefined if that is not known yet. */
  readonly nextAuditNumber?: number | undefined
  readonly held: readonly NumberedItem[]
}
