// Retains the last events of one organisation as bytes, so that readers can resume, and finds the position of an event id.
import type { Event, EventType } from '../../contract/journal/events.ts'
import type { ChangeParts } from '../bus/event-messages.ts'
import { isoTime } from '../core/clock.ts'
import type { ChangeEvent, EventFilter, EventPlaces } from './filter.ts'

/** Limits the events that are retained for readers that reconnect or read slowly. A change of ten thousand endpoints in one commit fits. */
export const maxRetainedEvents = 20_000
const maxRetainedBytes = 8 * 1024 * 1024
/** A reader receives about this much in one step. */
const readSizeBytes = 64 * 1024

/** An event as it is sent, with the properties that filters select by. A mark has an id, but no type and no bytes. */
interface Frame {
  readonly name: string
  readonly number: number
  readonly type: EventType | undefined
  readonly places: EventPlaces
  readonly bytes: Buffer
  /** Set for a change, of which some readers get a part only. */
  readonly change?: ChangeEvent | undefined
}

/** Several frames that are sent in one write. */
export interface EventBatch {
  readonly bytes: Buffer
  readonly events: number
  /** The position after the batch. */
  readonly to: number
}

const nowhere: EventPlaces = { rooms: [], locations: [], regions: [] }
const dataField = 'data: '
const noBytes = Buffer.alloc(0)

export class EventRing {
  /** The id of the position before the first retained frame. */
  #startId: string
  /** Positions count frames: the first `#dropped` frames are deleted, the others are here. */
  readonly #frames: Frame[] = []
  #dropped = 0
  #bytes = 0
  #resetPosition = 0

  constructor(startId: string) {
    this.#startId = startId
  }

  /** The position after all frames. */
  get position(): number {
    return this.#dropped + this.#frames.length
  }

  /** The position before the last reset. A reader that is not that far goes on with the reset. */
  get resetPosition(): number {
    return this.#resetPosition
  }

  idAt(position: number): string {
    const frame = this.#frames[position - this.#dropped - 1]
    return frame ? eventId(frame.name, frame.number) : this.#startId
  }

  /** Returns the position of an id; undefined if the events after it are not, or no longer, available here. */
  positionOf(id: string): number | undefined {
    const [, name, digits] = /^([0-9a-z]{1,40})-(\d{1,15})$/.exec(id) ?? []
    if (id === this.#startId) return this.#dropped
    const number = Number(digits)
    const index = this.#frames.findLastIndex((frame) => frame.number === number && frame.name === name)
    return index < 0 || id !== this.idAt(this.#dropped + index + 1) ? undefined : this.#dropped + index + 1
  }

  /** Returns whether all events after this position are still available. */
  has(position: number): boolean {
    return position >= this.#dropped && position <= this.position
  }

  append(name: string, number: number, event: Event, places: EventPlaces, parts?: ChangeParts): void {
    const bytes = eventFrame(eventId(name, number), event)
    const change = event.type === 'structure' ? { event, parts } : undefined
    this.#frames.push({ name, number, type: event.type, places, bytes, change })
    this.#bytes += bytes.length
  }

  /** Adds an id that is no event, so that a reader of a node that began here can resume here at this node too. */
  mark(name: string): void {
    this.#frames.push({ name, number: 0, type: undefined, places: nowhere, bytes: noBytes })
  }

  /** Deletes everything. The only position has this id then. */
  clear(startId: string): void {
    this.#drop(this.#frames.length)
    this.#startId = startId
  }

  /** Deletes everything, because events may be missing, and tells the readers. */
  reset(name: string, number: number, at: number): void {
    this.#drop(this.#frames.length)
    this.#resetPosition = this.#dropped
    this.append(name, number, { type: 'reset', at: isoTime(at), roomIds: [] }, nowhere)
  }

  /** Deletes the oldest frames if there are too many. */
  trim(): void {
    let count = 0
    let bytes = this.#bytes
    while (this.#frames.length - count > maxRetainedEvents || bytes > maxRetainedBytes) {
      bytes -= this.#frames[count]?.bytes.length ?? 0
      count++
    }
    this.#drop(count)
  }

  /** Reads the next events after a position that match the filter. */
  read(from: number, filter: EventFilter): EventBatch {
    const chosen: Buffer[] = []
    let length = 0
    let to = from
    for (; to < this.position && length < readSizeBytes; to++) {
      const { name, number, type, places, bytes: whole, change } = this.#frames[to - this.#dropped] as Frame
      const view = type && filter.view(type, places, change)
      if (!view) continue
      const id = eventId(name, number)
      let bytes = view === 'whole' ? whole : eventFrame(id, view)
      if (type === 'sample' && filter.isOnLegacyBase) bytes = withoutMeasured(id, bytes)
      chosen.push(bytes)
      length += bytes.length
    }
    return { bytes: Buffer.concat(chosen, length), events: chosen.length, to }
  }

  #drop(count: number): void {
    if (count === 0) return
    this.#startId = this.idAt(this.#dropped + count)
    for (const { bytes } of this.#frames.splice(0, count)) this.#bytes -= bytes.length
    this.#dropped += count
  }
}

export const eventId = (name: string, number: number): string => `${name}-${number}`

/** Few readers use the legacy base, so what they do not get is taken out of the bytes that the others get. */
function withoutMeasured(id: string, bytes: Buffer): Buffer {
  const text = bytes.toString()
  const { measured: _, ...event }: Event = JSON.parse(text.slice(text.indexOf(dataField) + dataField.length))
  return eventFrame(id, event)
}

/**
 * The bytes have memory of their own. A small Buffer.from() is a part of a block of 64 KiB that it shares with others, and an event
 * that is retained would keep the whole block.
 */
export function eventFrame(id: string, event: Event): Buffer {
  const text = `id: ${id}\nevent: ${event.type}\n${dataField}${JSON.stringify(event)}\n\n`
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}
