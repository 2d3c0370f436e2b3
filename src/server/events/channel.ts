// The events of one organisation: collected, placed, numbered, and kept for a while, so that readers can go on where they were.

import { randomBytes } from 'node:crypto'
import type { Event, EventType } from '../../contract/events.ts'
import { isoTime } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { EventDraft } from './draft.ts'
import type { EventFilter, EventPlaces } from './filter.ts'
import { findPlaces, type LocateFunction } from './surroundings.ts'

/** In milliseconds: what happens within this time is told together. */
const pause = 100
/** Told together at most: what is more comes right after, when readers had a chance to take it. */
const mostTogether = 1000
/** Kept for those who come back, and for those who read slowly: a change of ten thousand endpoints at once fits. */
const mostKept = 20_000
const mostBytesKept = 8 * 1024 * 1024
/** Of what a reader is given at once, in bytes. */
const pieceSize = 64 * 1024

/** An event as it is sent, and what readers choose it by. */
interface Frame {
  readonly type: EventType
  readonly places: EventPlaces
  readonly bytes: Buffer
}

/** Several frames that are sent in one piece. */
export interface EventBatch {
  readonly bytes: Buffer
  readonly events: number
  /** The position after it. */
  readonly to: number
}

const nowhere: EventPlaces = { rooms: [], locations: [], regions: [] }

type Timed = EventDraft & { readonly at: number }

export class EventChannel {
  readonly #org: number
  readonly #locate: LocateFunction
  readonly #log: Log
  /** Ids of another channel, of before a start or before it was forgotten, mean nothing here. */
  readonly #name = randomBytes(6).toString('hex')
  readonly #turns: { drafts?: readonly EventDraft[] }[] = []
  #drafts: Timed[] = []
  #timer: NodeJS.Timeout | undefined
  #telling: Promise<void> | undefined
  #isEnded = false
  /** Positions count events: `#dropped` of them are gone, the rest is here. */
  readonly #frames: Frame[] = []
  #dropped = 0
  #bytes = 0
  /** Only while readers are told that there is more. */
  #shared: Map<string, EventBatch> | undefined
  readonly #readers = new Set<() => void>()
  #leftAt: number | undefined

  constructor(org: number, locate: LocateFunction, log: Log) {
    this.#org = org
    this.#locate = locate
    this.#log = log
  }

  add(drafts: readonly EventDraft[], now: number): void {
    for (const draft of drafts) this.#drafts.push({ ...draft, at: draft.at ?? now })
    if (this.#drafts.length > 0) this.#schedule(pause)
  }

  /** Who took theirs before is told before; whoever is not ready yet is waited for. */
  turn(): (drafts: readonly EventDraft[], now: number) => void {
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

  /** `onMore` is called when there is more to read; what it returns ends that. */
  follow(onMore: () => void): () => void {
    this.#readers.add(onMore)
    this.#leftAt = undefined
    return () => void this.#readers.delete(onMore)
  }

  /** Since when nobody reads; in the future while somebody does. */
  idleSince(now: number): number {
    if (this.#readers.size > 0) return Number.POSITIVE_INFINITY
    this.#leftAt ??= now
    return this.#leftAt
  }

  /** The position after everything that was told. */
  get position(): number {
    return this.#dropped + this.#frames.length
  }

  idAt(position: number): string {
    return `${this.#name}-${position}`
  }

  /** The position that an id stands for; undefined if what came after it is not known here, or no more. */
  positionOf(id: string): number | undefined {
    const [name, number = ''] = id.split('-', 2)
    if (name !== this.#name || !/^\d{1,15}$/.test(number) || id !== `${name}-${number}`) return undefined
    const position = Number(number)
    return this.has(position) ? position : undefined
  }

  /** Whether everything after this position is still here. */
  has(position: number): boolean {
    return position >= this.#dropped && position <= this.position
  }

  /** What follows a position, of what the filter wants: a piece of some size. Readers of the same share the same bytes. */
  read(from: number, filter: EventFilter): EventBatch {
    const key = `${from} ${filter.key}`
    const piece = this.#shared?.get(key) ?? this.#join(from, filter)
    this.#shared?.set(key, piece)
    return piece
  }

  end(): void {
    this.#isEnded = true
    clearTimeout(this.#timer)
  }

  /** Resolves when nothing of it is under way any more. */
  get ended(): Promise<void> {
    return this.#telling ?? Promise.resolve()
  }

  #join(from: number, filter: EventFilter): EventBatch {
    const chosen: Buffer[] = []
    let length = 0
    let to = from
    for (; to < this.position && length < pieceSize; to++) {
      const { type, places, bytes } = this.#frames[to - this.#dropped] as Frame
      if (!filter.matches(type, places)) continue
      chosen.push(bytes)
      length += bytes.length
    }
    return { bytes: Buffer.concat(chosen, length), events: chosen.length, to }
  }

  #schedule(ms: number): void {
    if (this.#isEnded || this.#telling || this.#timer) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#telling = this.#tell().finally(() => {
        this.#telling = undefined
        if (this.#drafts.length > 0) this.#schedule(this.#drafts.length < mostTogether ? pause : 0)
      })
    }, ms)
  }

  async #tell(): Promise<void> {
    const drafts = newestOnly(this.#drafts.splice(0, mostTogether))
    try {
      const places = await findPlaces(this.#org, drafts, this.#locate)
      for (const [i, draft] of drafts.entries()) this.#append(draft, places[i] ?? nowhere)
    } catch (error) {
      // Whom it concerns is not known: everybody has to look for themselves.
      this.#log.warn({ reason: (error as Error).message }, 'events could not be placed: readers are told to read anew')
      this.#append({ type: 'reset', at: drafts[0]?.at ?? 0 }, nowhere)
    }
    this.#shorten()
    this.#shared = new Map()
    for (const onMore of this.#readers) onMore()
    this.#shared = undefined
  }

  #append(
    { type, at, about: _, places: __, ...rest }: Omit<Timed, 'type'> & { type: EventType },
    places: EventPlaces,
  ): void {
    const event: Event = { type, at: isoTime(at), roomIds: [...places.rooms], ...rest }
    const bytes = eventFrame(this.idAt(this.position + 1), event)
    this.#frames.push({ type, places, bytes })
    this.#bytes += bytes.length
  }

  #shorten(): void {
    let many = 0
    while (this.#frames.length - many > mostKept || this.#bytes > mostBytesKept) {
      this.#bytes -= this.#frames[many]?.bytes.length ?? 0
      many++
    }
    this.#frames.splice(0, many)
    this.#dropped += many
  }
}

export const eventFrame = (id: string, event: Event): Buffer =>
  Buffer.from(`id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

/** Of the samples of an endpoint the last one, and that its status changed only once. */
function newestOnly(drafts: readonly Timed[]): Timed[] {
  const seen = new Set<string>()
  const kept: Timed[] = []
  for (const draft of drafts.toReversed()) {
    if (draft.type === 'sample' || draft.type === 'status') {
      const key = `${draft.type} ${draft.endpointId}`
      if (seen.has(key)) continue
      seen.add(key)
    }
    kept.push(draft)
  }
  return kept.reverse()
}
