// Follows what happens in an organisation: opens when somebody iterates, ends when the server does, never comes back by itself.
import type { Event } from '../contract/events.ts'
import { BlockReader } from './server-sent-events.ts'

export interface StreamOptions {
  /** Go on after this one; what cannot be told any more makes the first event a `reset`. */
  readonly lastEventId?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** The server has answered: from now on nothing is missed. */
  readonly onOpen?: (() => void) | undefined
}

export interface ReceivedEvent {
  readonly id: string
  readonly event: Event
}

/** `open` makes the request; it throws for an answer that is not a success. */
export class EventStream implements AsyncIterable<ReceivedEvent> {
  readonly #open: () => Promise<Response>
  readonly #onOpen: () => void
  #lastEventId: string | undefined

  constructor({ lastEventId, onOpen = () => {} }: StreamOptions, open: () => Promise<Response>) {
    this.#lastEventId = lastEventId
    this.#onOpen = onOpen
    this.#open = open
  }

  /** Where to go on: known soon after opening, also when nothing has happened yet. */
  get lastEventId(): string | undefined {
    return this.#lastEventId
  }

  /** Leaving the loop ends the request. */
  async *[Symbol.asyncIterator](): AsyncGenerator<ReceivedEvent, void, void> {
    const { body } = await this.#open()
    if (!body) return
    this.#onOpen()
    const pieces = body.getReader()
    const blocks = new BlockReader()
    try {
      for (;;) {
        const { value, done } = await pieces.read()
        if (done) return
        for (const { id, data } of blocks.read(value)) {
          this.#lastEventId = id ?? this.#lastEventId
          if (data !== undefined) yield { id: this.#lastEventId ?? '', event: JSON.parse(data) as Event }
        }
      }
    } finally {
      await pieces.cancel().catch(() => {})
    }
  }
}
