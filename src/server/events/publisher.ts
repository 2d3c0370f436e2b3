// The interface through which rules publish events, and its implementation for commands, which run beside the nodes.
import type { EventDraft } from './draft.ts'
import { EventOutbox, type OutboxOptions } from './outbox.ts'

/** Publishes the events of one organisation. */
export interface OrgEventPublisher {
  /** Returns whether events are read. If not, a rule need not make events that are costly. */
  isFollowed(): boolean
  /** Must be called after the commit. */
  publish(drafts: readonly EventDraft[]): void
}

export interface EventPublisher {
  forOrg(org: number): OrgEventPublisher
  /** Sends everything that was published, and ends. */
  close(): Promise<void>
}

/** A command does not know who follows, so it sends all of its events. Nodes ignore those without a follower. */
export class CommandEvents implements EventPublisher {
  readonly #options: OutboxOptions
  readonly #outboxes = new Map<number, EventOutbox>()

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  forOrg(org: number): OrgEventPublisher {
    return {
      isFollowed: () => true,
      publish: (drafts) => {
        const outbox = this.#outboxes.get(org) ?? new EventOutbox(org, this.#options)
        this.#outboxes.set(org, outbox)
        outbox.add(drafts)
      },
    }
  }

  async close(): Promise<void> {
    for (const outbox of this.#outboxes.values()) await outbox.flush()
  }
}
