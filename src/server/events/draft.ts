// An event before it is published: what happened and, if known, where.
import type { Event, SelectableEventType } from '../../contract/events.ts'
import type { EventPlaces } from './filter.ts'

/** What somebody says that happened. Where that is, is found out later, unless it is said. */
export interface EventDraft extends Omit<Event, 'type' | 'at' | 'roomIds'> {
  readonly type: SelectableEventType
  /** In milliseconds; now, if it is not said. */
  readonly at?: number
  /** What it is about besides its endpoint: also what may be gone when somebody looks. */
  readonly about?: EventSubjects
  /** All places that it is about, from somebody who looked when it happened. */
  readonly places?: EventPlaces
}

export interface EventSubjects {
  readonly endpoints?: readonly string[]
  readonly rooms?: readonly number[]
  readonly locations?: readonly number[]
  readonly regions?: readonly number[]
}
