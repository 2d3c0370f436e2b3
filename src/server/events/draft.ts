// Defines an event before it is published, when its places may still be unknown.
import type { Event, SelectableEventType } from '../../contract/journal/events.ts'
import type { ChangeParts } from '../bus/event-messages.ts'
import type { EventPlaces } from './filter.ts'

/** An event as a rule reports it. Its places are looked up later, unless the rule knows them. */
export interface EventDraft extends Omit<Event, 'type' | 'at' | 'roomIds'> {
  readonly type: SelectableEventType
  /** Time in milliseconds; the time of publishing if it is left out. */
  readonly at?: number
  /** The things that the event is about, besides its endpoint. They may be deleted before their places are looked up. */
  readonly about?: EventSubjects
  /** The number of the audit entry of a change. Events that have one come in its order. */
  readonly auditNumber?: number
  /** All places of the event, from a rule that looked them up when it happened. */
  readonly places?: EventPlaces
  /** Says where the parts of a change are. */
  readonly parts?: ChangeParts
}

export interface EventSubjects {
  readonly endpoints?: readonly string[]
  readonly rooms?: readonly number[]
  readonly locations?: readonly number[]
  readonly regions?: readonly number[]
}
