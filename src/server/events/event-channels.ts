// The event channels of all organisations that have readers at any node. Messages between nodes open and close them on all nodes alike.
import type { EventChannelState, SentCount } from '../bus/event-messages.ts'
import type { Clock } from '../core/clock.ts'
import { EventChannel } from './event-channel.ts'

export interface EventChannelListener {
  opened(org: number): void
  closed(org: number): void
}

export class EventChannels {
  readonly #clock: Clock
  readonly #listener: EventChannelListener
  readonly #open = new Map<number, EventChannel>()
  /** Closed channels with readers here, which wait until this node follows again. */
  readonly #orphaned = new Map<number, EventChannel>()
  /** An id of a node is never used again, so a node ends once. */
  readonly #endedNodes = new Set<number>()

  constructor(clock: Clock, listener: EventChannelListener) {
    this.#clock = clock
    this.#listener = listener
  }

  get(org: number): EventChannel | undefined {
    return this.#open.get(org)
  }

  has(org: number): boolean {
    return this.#open.has(org)
  }

  get all(): readonly EventChannel[] {
    return [...this.#open.values()]
  }

  get orphaned(): readonly EventChannel[] {
    return [...this.#orphaned.values()]
  }

  addFollower(org: number, nodeId: number): void {
    if (!this.hasEnded(nodeId)) this.#openChannel(org).followers.add(nodeId)
  }

  removeFollower(org: number, nodeId: number): void {
    const channel = this.#open.get(org)
    if (!channel) return
    channel.followers.delete(nodeId)
    if (channel.followers.size === 0) this.#close(channel)
  }

  /** A node may have ended after a commit and before it sent the events, so events of any organisation may be missing. */
  endNode(nodeId: number): void {
    if (this.#endedNodes.has(nodeId)) return
    this.#endedNodes.add(nodeId)
    for (const channel of this.all) {
      if (channel.isStarted) channel.reset(`ended${nodeId}`)
      this.removeFollower(channel.org, nodeId)
    }
  }

  hasEnded(nodeId: number): boolean {
    return this.#endedNodes.has(nodeId)
  }

  /** `sent` is undefined if the node has just started. */
  join(nodeId: number, name: string, sent: readonly SentCount[] | undefined): void {
    const sentByOrg = new Map(sent?.map((count) => [count[0], count]))
    for (const channel of this.#open.values())
      channel.join(nodeId, name, sent !== undefined, sentByOrg.get(channel.org))
  }

  get states(): readonly EventChannelState[] {
    return this.all.map(({ state }) => state)
  }

  restore(states: readonly EventChannelState[], name: string): void {
    const open = new Set(states.map(({ org }) => org))
    for (const channel of this.all) if (!open.has(channel.org)) this.#close(channel)
    for (const state of states) this.#openChannel(state.org).restore(state, name)
  }

  /** Deletes closed channels whose readers have gone. */
  dropOrphans(): void {
    for (const [org, channel] of this.#orphaned) if (!channel.hasReaders) this.#orphaned.delete(org)
  }

  #openChannel(org: number): EventChannel {
    const open = this.#open.get(org)
    if (open) return open
    const channel = this.#orphaned.get(org) ?? new EventChannel(org, this.#clock)
    this.#orphaned.delete(org)
    this.#open.set(org, channel)
    this.#listener.opened(org)
    return channel
  }

  #close(channel: EventChannel): void {
    this.#open.delete(channel.org)
    channel.close()
    if (channel.hasReaders) this.#orphaned.set(channel.org, channel)
    this.#listener.closed(channel.org)
  }
}
