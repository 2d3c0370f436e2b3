// The event stream of an organisation as an async iterable. The request starts with the iteration; it does not reconnect.
import type { Event } from '../contract/journal/events.ts'
import { BlockReader } from './server-sent-events.ts'

export interface StreamOptions {
  /** Resume after this event. If the server no longer has the events since then, the first event is a `reset`. */
  readonly lastEventId?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Called when the server has answered; no event is missed from then on. */
  readonly onOpen?: (() => void) | undefined
  /** Called when anything arrives, also the comment that the server sends while nothing happens. */
  readonly onHeard?: (() => void) | undefined
}

export interface ReceivedEvent {
  readonly id: string
  readonly event: Event
}

/** `open` sends the request and throws for a response other than 200. */
export class EventStream implements AsyncIterable<ReceivedEvent> {
  readonly #open: () => Promise<Response>
  readonly #onOpen: () => void
  readonly #onHeard: () => void
  #lastEventId: string | undefined

  constructor({ lastEventId, onOpen = () => {}, onHeard = () => {} }: StreamOptions, open: () => Promise<Response>) {
    this.#lastEventId = lastEventId
    this.#onOpen = onOpen
    this.#onHeard = onHeard
    this.#open = open
  }

  /** The position to resume from. The server sends one soon after opening, even before the first event. */
  get lastEventId(): string | undefined {
    return this.#lastEventId
  }

  /** Leaving the loop ends the request. */
  async *[Symbol.asyncIterator](): AsyncGenerator<ReceivedEvent, void, void> {
    const { body } = await this.#open()
    if (!body) return
    this.#onOpen()
    const chunks = body.getReader()
    const blocks = new BlockReader()
    try {
      for (;;) {
        const { value, done } = await chunks.read()
        if (done) return
        this.#onHeard()
        for (const { id, data } of blocks.read(value)) {
          this.#lastEventId = id ?? this.#lastEventId
          if (data !== undefined) yield { id: this.#lastEventId ?? '', event: JSON.parse(data) as Event }
        }
      }
    } finally {
      await chunks.cancel().catch(() => {})
    }
  }
}
