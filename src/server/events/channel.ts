// Holds the events of one organisation: collects, locates and numbers them, and retains them so that readers can resume.

import { randomBytes } from 'node:crypto'
import type { Event, EventType } from '../../contract/events.ts'
import { isoTime } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { EventDraft } from './draft.ts'
import type { EventFilter, EventPlaces } from './filter.ts'
import { findPlaces, type LocateFunction } from './surroundings.ts'

/** Events of this period are published together. */
const batchIntervalMs = 100
/** Limits the events that are published together. Further ones follow at once, after readers had a turn to read. */
const maxDraftsPerBatch = 1000
/** Limits the events that are retained for readers that reconnect or read slowly. A change of ten thousand endpoints at once fits. */
const maxRetainedEvents = 20_000
const maxRetainedBytes = 8 * 1024 * 1024
/** A reader receives about this much at once. */
const readSizeBytes = 64 * 1024

/** An event as it is sent, with the properties that filters select by. */
interface Frame {
  readonly type: EventType
  readonly places: EventPlaces
  readonly bytes: Buffer
}

/** Several frames that are sent in one write. */
export interface EventBatch {
  readonly bytes: Buffer
  readonly events: number
  /** The position after the batch. */
  readonly to: number
}

const nowhere: EventPlaces = { rooms: [], locations: [], regions: [] }

type TimedDraft = EventDraft & { readonly at: number }

export class EventChannel {
  readonly #org: number
  readonly #locate: LocateFunction
  readonly #log: Log
  /** Distinguishes this channel's event ids from those of an earlier channel, before a restart or an idle period. */
  readonly #name = randomBytes(6).toString('hex')
  readonly #turns: { drafts?: readonly EventDraft[] }[] = []
  #drafts: TimedDraft[] = []
  #timer: NodeJS.Timeout | undefined
  #publishing: Promise<void> | undefined
  #isEnded = false
  /** Positions count events: the first `#dropped` events are deleted, the others are here. */
  readonly #frames: Frame[] = []
  #dropped = 0
  #bytes = 0
  /** Batches by position and filter, set only while all readers are being notified. */
  #sharedBatches: Map<string, EventBatch> | undefined
  readonly #readers = new Set<() => void>()
  #idleSince: number | undefined

  constructor(org: number, locate: LocateFunction, log: Log) {
    this.#org = org
    this.#locate = locate
    this.#log = log
  }

  add(drafts: readonly EventDraft[], now: number): void {
    for (const draft of drafts) this.#drafts.push({ ...draft, at: draft.at ?? now })
    if (this.#drafts.length > 0) this.#schedule(batchIntervalMs)
  }

  /** Reserves a place in the order of events. Drafts of later turns wait until those of earlier turns are given. */
  reserveTurn(): (drafts: readonly EventDraft[], now: number) => void {
    const turn: { drafts?: readonly EventDraft[] } = {}
    this.#turns.push(turn)
    return (drafts, now) => {
      turn.drafts = drafts
      for (let next = this.#turns[0]; next?.drafts; next = this.#turns[0]) {
        this.#turns.shift()
        this.add(next.drafts, now)
      }
    }
  }

  /** Calls `onMore` whenever there are new events to read. The returned function ends that. */
  follow(onMore: () => void): () => void {
    this.#readers.add(onMore)
    this.#idleSince = undefined
    return () => void this.#readers.delete(onMore)
  }

  /** The time since when the channel has no reader; infinite while it has one. */
  idleSince(now: number): number {
    if (this.#readers.size > 0) return Number.POSITIVE_INFINITY
    this.#idleSince ??= now
    return this.#idleSince
  }

  /** The position after all published events. */
  get position(): number {
    return this.#dropped + this.#frames.length
  }

  idAt(position: number): string {
    return `${this.#name}-${position}`
  }

  /** Returns the position of an id; undefined if the events after it are not, or no longer, available here. */
  positionOf(id: string): number | undefined {
    const [name, number = ''] = id.split('-', 2)
    if (name !== this.#name || !/^\d{1,15}$/.test(number) || id !== `${name}-${number}`) return undefined
    const position = Number(number)
    return this.has(position) ? position : undefined
  }

  /** Returns whether all events after this position are still available. */
  has(position: number): boolean {
    return position >= this.#dropped && position <= this.position
  }

  /** Reads the next events after a position that match the filter. Readers with the same position and filter share the bytes. */
  read(from: number, filter: EventFilter): EventBatch {
    const key = `${from} ${filter.key}`
    const batch = this.#sharedBatches?.get(key) ?? this.#join(from, filter)
    this.#sharedBatches?.set(key, batch)
    return batch
  }

  end(): void {
    this.#isEnded = true
    clearTimeout(this.#timer)
  }

  /** Resolves when no batch is being published any more. */
  get ended(): Promise<void> {
    return this.#publishing ?? Promise.resolve()
  }

  #join(from: number, filter: EventFilter): EventBatch {
    const chosen: Buffer[] = []
    let length = 0
    let to = from
    for (; to < this.position && length < readSizeBytes; to++) {
      const { type, places, bytes } = this.#frames[to - this.#dropped] as Frame
      if (!filter.matches(type, places)) continue
      chosen.push(bytes)
      length += bytes.length
    }
    return { bytes: Buffer.concat(chosen, length), events: chosen.length, to }
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
    try {
      const places = await findPlaces(this.#org, drafts, this.#locate)
      for (const [i, draft] of drafts.entries()) this.#append(draft, places[i] ?? nowhere)
    } catch (error) {
      // Without their places, the events cannot be filtered, so all readers must reload.
      this.#log.warn({ reason: (error as Error).message }, 'places of events not found: readers are told to reload')
      this.#append({ type: 'reset', at: drafts[0]?.at ?? 0 }, nowhere)
    }
    this.#dropOldest()
    this.#sharedBatches = new Map()
    for (const onMore of this.#readers) onMore()
    this.#sharedBatches = undefined
  }

  #append(
    { type, at, about: _, places: __, ...rest }: Omit<TimedDraft, 'type'> & { type: EventType },
    places: EventPlaces,
  ): void {
    const event: Event = { type, at: isoTime(at), roomIds: [...places.rooms], ...rest }
    const bytes = eventFrame(this.idAt(this.position + 1), event)
    this.#frames.push({ type, places, bytes })
    this.#bytes += bytes.length
  }

  #dropOldest(): void {
    let count = 0
    while (this.#frames.length - count > maxRetainedEvents || this.#bytes > maxRetainedBytes) {
      this.#bytes -= this.#frames[count]?.bytes.length ?? 0
      count++
    }
    this.#frames.splice(0, count)
    this.#dropped += count
  }
}

export const eventFrame = (id: string, event: Event): Buffer =>
  Buffer.from(`id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

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
