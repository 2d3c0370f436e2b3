// Follows the events of an organisation, and checks the shape of each.
import { expect, onTestFinished } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { EventStream, ReceivedEvent, StreamOptions } from '../../src/client/event-stream.ts'
import type { Event, EventType } from '../../src/contract/journal/events.ts'
import { operationAt } from './contract/answer-checks.ts'
import { until } from './program.ts'

type Query = Parameters<Client['eventsStream']>[0]

const isEvent = operationAt('GET', '/v1/orgs/any/events')?.validator()

export class Follower {
  readonly received: ReceivedEvent[] = []
  readonly stream: EventStream
  /** Why it ended; undefined while it has not. */
  ended: 'by the server' | unknown
  readonly #stop = new AbortController()
  #taken = 0

  constructor(client: Client, query: Query, options: StreamOptions) {
    this.stream = client.eventsStream(query, { ...options, signal: this.#stop.signal })
    void this.#read()
  }

  get events(): Event[] {
    return this.received.map(({ event }) => event)
  }

  of(type: EventType): Event[] {
    return this.events.filter((event) => event.type === type)
  }

  /** The next event of a type that was not taken yet; events before it are skipped. */
  async next(type: EventType, fits: (event: Event) => boolean = () => true): Promise<Event> {
    const at = await until(`an event ${type}`, () => {
      const found = this.events.findIndex((e, i) => i >= this.#taken && e.type === type && fits(e))
      return found >= 0 && found + 1
    })
    this.#taken = at
    return this.events[at - 1] as Event
  }

  leave(): void {
    this.#stop.abort()
  }

  async #read(): Promise<void> {
    try {
      for await (const item of this.stream) {
        expect(isEvent?.(item.event), JSON.stringify([item.event, isEvent?.errors])).toBe(true)
        this.received.push(item)
      }
      this.ended = 'by the server'
    } catch (error) {
      this.ended = error
    }
  }
}

/** Resolves when nothing is missed any more. */
export async function follow(client: Client, query: Query = {}, options: StreamOptions = {}): Promise<Follower> {
  let isOpen = false
  const follower = new Follower(client, query, {
    ...options,
    onOpen: () => {
      isOpen = true
    },
  })
  onTestFinished(() => follower.leave())
  await until('an open stream', () => {
    if (follower.ended) throw follower.ended
    return isOpen
  })
  return follower
}
