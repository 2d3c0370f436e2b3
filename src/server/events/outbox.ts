// Collects the events that this process publishes in one organisation, looks up their places and sends them to all nodes.

import { randomBytes } from 'node:crypto'
import type { Event } from '../../contract/journal/events.ts'
import type { ChangeParts, EventItem, SentCount } from '../bus/event-messages.ts'
import type { MessageBus } from '../bus/message-bus.ts'
import { type Clock, isoTime } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { EventDraft } from './draft.ts'
import type { EventPlaces } from './filter.ts'
import { findPlaces, type LocateFunction } from './find-places.ts'

/** Events of this period are sent together. */
const batchIntervalMs = 100
/** Limits the events that are sent together. Further ones follow immediately, after readers had a turn to read. */
const maxDraftsPerBatch = 1000

type TimedDraft = EventDraft & { readonly at: number }

export interface OutboxOptions {
  readonly bus: MessageBus
  readonly locate: LocateFunction
  readonly clock: Clock
  readonly log: Log
}

/** A random name never means two things. */
export const newEventName = (): string => randomBytes(6).toString('hex')

export class EventOutbox {
  readonly #org: number
  readonly #options: OutboxOptions
  #name = newEventName()
  /** How many events were sent under this name. */
  #sent = 0
  #drafts: TimedDraft[] = []
  #timer: NodeJS.Timeout | undefined
  #publishing: Promise<void> | undefined
  #isEnded = false

  constructor(org: number, options: OutboxOptions) {
    this.#org = org
    this.#options = options
  }

  add(drafts: readonly EventDraft[]): void {
    const now = this.#options.clock.now()
    for (const draft of drafts) this.#drafts.push({ ...draft, at: draft.at ?? now })
    if (this.#drafts.length > 0) this.#schedule(batchIntervalMs)
  }

  /** Counts from 1 again, under another name. */
  rename(name: string): void {
    this.#name = name
    this.#sent = 0
  }

  /** Tells every node whether it has missed an event. */
  get sentCount(): SentCount {
    return [this.#org, this.#name, this.#sent]
  }

  /** Sends all collected events immediately. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#publishing
    while (this.#drafts.length > 0) await this.#publish()
  }

  end(): void {
    this.#isEnded = true
    this.#drafts = []
    clearTimeout(this.#timer)
  }

  /** Resolves when no batch is being sent any more. */
  get ended(): Promise<void> {
    return this.#publishing ?? Promise.resolve()
  }

  #schedule(delayMs: number): void {
    if (this.#isEnded || this.#publishing || this.#timer) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#publishing = this.#publish().finally(() => {
        this.#publishing = undefined
        if (this.#drafts.length > 0) this.#schedule(this.#drafts.length < maxDraftsPerBatch ? batchIntervalMs : 0)
      })
    }, delayMs)
  }

  async #publish(): Promise<void> {
    const drafts = dropSuperseded(this.#drafts.splice(0, maxDraftsPerBatch))
    let places: readonly EventPlaces[]
    try {
      places = await findPlaces(this.#org, drafts, this.#options.locate)
    } catch (error) {
      // Without their places, the events cannot be filtered, so all readers must reload.
      this.#options.log.warn(
        { reason: (error as Error).message },
        'places of events not found: readers are told to reload',
      )
      // A reset in place of the event of a change has its audit number, so that no node waits for that event.
      const changes = drafts.filter(({ auditNumber }) => auditNumber !== undefined)
      const replaced = changes.length > 0 ? changes : drafts.slice(0, 1)
      if (!this.#isEnded) this.#send(replaced.map(({ at, auditNumber }) => resetItem(at, auditNumber)))
      return
    }
    if (!this.#isEnded) this.#send(drafts.map((draft, i) => itemOf(draft, places[i] as EventPlaces)))
  }

  #send(items: readonly EventItem[]): void {
    const first = this.#sent + 1
    this.#sent += items.length
    this.#options.bus.send('events', { org: this.#org, name: this.#name, first, items })
  }
}

function itemOf(
  { type, at, auditNumber, parts, about: _, places: __, ...rest }: TimedDraft,
  { rooms, locations, regions }: EventPlaces,
): EventItem {
  return makeItem({ type, at: isoTime(at), roomIds: [...rooms], ...rest }, locations, regions, auditNumber, parts)
}

const resetItem = (at: number, auditNumber?: number): EventItem =>
  makeItem({ type: 'reset', at: isoTime(at), roomIds: [] }, [], [], auditNumber)

const makeItem = (
  event: Event,
  locations: readonly number[],
  regions: readonly number[],
  auditNumber: number | undefined,
  parts?: ChangeParts,
): EventItem => {
  if (auditNumber === undefined) return [event, locations, regions]
  return parts ? [event, locations, regions, auditNumber, parts] : [event, locations, regions, auditNumber]
}

/** Drops all but the last sample and the last status change of each endpoint. */
function dropSuperseded(drafts: readonly TimedDraft[]): TimedDraft[] {
  const seen = new Set<string>()
  const remaining: TimedDraft[] = []
  for (const draft of drafts.toReversed()) {
    if (draft.type === 'sample' || draft.type === 'status') {
      const key = `${draft.type} ${draft.endpointId}`
      if (seen.has(key)) continue
      seen.add(key)
    }
    remaining.push(draft)
  }
  return remaining.reverse()
}
