// Receives events from rules after their commit, and passes them to the channel of an organisation if it has readers. [contract 6.events]

import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { EventChannel } from './channel.ts'
import type { EventDraft } from './draft.ts'
import type { LocateFunction } from './surroundings.ts'

/** Publishes the events of one organisation. */
export interface OrgEventPublisher {
  /** Returns whether events are read. If not, a rule need not make events that are costly. */
  isFollowed(): boolean
  /** Must be called after the commit. */
  publish(drafts: readonly EventDraft[]): void
  /**
   * Reserves a place in the order of events. It must be reserved while no other transaction can write, because two commits may be
   * confirmed in another order than they were made. The returned function must be called; after a rollback it gets no drafts.
   * Drafts are made only if events are read.
   */
  reserveTurn(): (drafts: () => readonly EventDraft[]) => void
}

export interface EventPublisher {
  forOrg(org: number): OrgEventPublisher
}

const notFollowed: OrgEventPublisher = { isFollowed: () => false, publish() {}, reserveTurn: () => () => {} }

/** For commands that run beside a server, whose events have no readers. */
export const noEventFeed: EventPublisher = { forOrg: () => notFollowed }

/** The events of an organisation are retained for this long after its last reader disconnects. */
const retentionMs = 120_000

export class EventFeed implements EventPublisher {
  readonly #locate: LocateFunction
  readonly #clock: Clock
  readonly #log: Log
  readonly #channels = new Map<number, EventChannel>()
  readonly #publishers = new Map<number, OrgEventPublisher>()

  constructor(locate: LocateFunction, clock: Clock, log: Log) {
    this.#locate = locate
    this.#clock = clock
    this.#log = log
  }

  forOrg(org: number): OrgEventPublisher {
    let publisher = this.#publishers.get(org)
    if (!publisher) {
      publisher = {
        isFollowed: () => this.#channels.has(org),
        publish: (drafts) => this.#publish(org, drafts),
        reserveTurn: () => this.#reserveTurn(org),
      }
      this.#publishers.set(org, publisher)
    }
    return publisher
  }

  #publish(org: number, drafts: readonly EventDraft[]): void {
    const channel = this.#channels.get(org)
    if (channel && drafts.length > 0) channel.add(drafts, this.#clock.now())
  }

  #reserveTurn(org: number): (drafts: () => readonly EventDraft[]) => void {
    const channel = this.#channels.get(org)
    const publishInTurn = channel?.reserveTurn()
    return (drafts) => {
      publishInTurn?.(drafts(), this.#clock.now())
      // A reader that connected after the turn was taken must not miss these events.
      if (this.#channels.get(org) !== channel) this.#publish(org, drafts())
    }
  }

  /** Returns the channel of an organisation, which receives all its events from now on. */
  channel(org: number): EventChannel {
    let channel = this.#channels.get(org)
    if (!channel) {
      channel = new EventChannel(org, this.#locate, this.#log)
      this.#channels.set(org, channel)
    }
    return channel
  }

  /** Deletes channels without readers. Must be called regularly. */
  dropIdle(): void {
    const now = this.#clock.now()
    for (const [org, channel] of this.#channels) {
      if (channel.idleSince(now) <= now - retentionMs) this.#drop(org, channel)
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
