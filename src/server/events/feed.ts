// What happens, for whoever follows it: rules say it after their commit, and nobody pays who is not listened to. [contract 6.events]
import type { Event, SelectableEventType } from '../../contract/events.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { EventChannel } from './channel.ts'
import type { EventPlaces } from './filter.ts'
import type { LocateFunction } from './surroundings.ts'

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

/** What rules know of those who follow. */
export interface EventPublisher {
  /** Whether anybody would notice: what is costly to say need not be said otherwise. */
  isHeard(org: number): boolean
  /** Call it after the commit. */
  publish(org: number, drafts: readonly EventDraft[]): void
  /**
   * A place in the order of what is told, to be taken while nobody else can write: two commits may be confirmed in another
   * order than they were made. What it returns must be called, after a rollback with nothing. Drafts are asked for only if
   * somebody follows.
   */
  turn(org: number): (drafts: () => readonly EventDraft[]) => void
}

/** For commands that work beside a server. */
export const noEventFeed: EventPublisher = { isHeard: () => false, publish() {}, turn: () => () => {} }

/** For how long after its last reader left an organisation's events are kept, in milliseconds. */
const keptFor = 120_000

export class EventFeed implements EventPublisher {
  readonly #locate: LocateFunction
  readonly #clock: Clock
  readonly #log: Log
  readonly #channels = new Map<number, EventChannel>()

  constructor(locate: LocateFunction, clock: Clock, log: Log) {
    this.#locate = locate
    this.#clock = clock
    this.#log = log
  }

  isHeard(org: number): boolean {
    return this.#channels.has(org)
  }

  publish(org: number, drafts: readonly EventDraft[]): void {
    const channel = this.#channels.get(org)
    if (channel && drafts.length > 0) channel.add(drafts, this.#clock.now())
  }

  turn(org: number): (drafts: () => readonly EventDraft[]) => void {
    const channel = this.#channels.get(org)
    const settle = channel?.turn()
    return (drafts) => {
      settle?.(drafts(), this.#clock.now())
      // Who came meanwhile has not missed it either.
      if (this.#channels.get(org) !== channel) this.publish(org, drafts())
    }
  }

  /** From now on nothing that happens in the organisation is missed. */
  channel(org: number): EventChannel {
    let channel = this.#channels.get(org)
    if (!channel) {
      channel = new EventChannel(org, this.#locate, this.#log)
      this.#channels.set(org, channel)
    }
    return channel
  }

  /** To be called now and then. */
  dropIdle(): void {
    const now = this.#clock.now()
    for (const [org, channel] of this.#channels) {
      if (channel.idleSince(now) <= now - keptFor) this.#drop(org, channel)
    }
  }

  async close(): Promise<void> {
    const channels = [...this.#channels]
    for (const [org, channel] of channels) this.#drop(org, channel)
    await Promise.all(channels.map(([, channel]) => channel.ended))
  }

  #drop(org: number, channel: EventChannel): void {
    this.#channels.delete(org)
    channel.end()
  }
}
