// The event feed of a node: sends the events that are published here to all nodes, and passes those that it hears to its readers. [contract 6.events]

import type { Sender } from '../bus/message-bus.ts'
import type { NodeMessages } from '../bus/messages.ts'
import type { TimeLimits } from '../core/time-limits.ts'
import { ConditionWaiter } from './condition-waiter.ts'
import type { EventDraft } from './draft.ts'
import type { EventChannel } from './event-channel.ts'
import { EventChannels } from './event-channels.ts'
import { Follows } from './follows.ts'
import { FeedJoin } from './join.ts'
import { EventOutbox, newEventName, type OutboxOptions } from './outbox.ts'
import type { EventPublisher, OrgEventPublisher } from './publisher.ts'

export interface FeedOptions extends OutboxOptions {
  readonly limits: TimeLimits
  /** The id of this node. It changes when the node was declared dead. */
  readonly nodeId: () => number
  /** Resolves with the ids of all nodes that are up. */
  readonly listNodes: () => Promise<readonly number[]>
  /** Resolves with the number of the last audit entry of an organisation. */
  readonly findAuditNumber: (org: number) => Promise<number>
  /** The event of an audit entry is waited for this long. 0 where no other process sends events. */
  readonly auditGapMs: number
}

/** An organisation is followed for this long after its last reader disconnects. */
const retentionMs = 120_000
/** The nodes are listed again after this many calls of `check`. */
const checksPerNodeList = 5

export class EventFeed implements EventPublisher {
  readonly #options: FeedOptions
  readonly #waiter = new ConditionWaiter()
  readonly #channels: EventChannels
  readonly #join: FeedJoin
  readonly #follows: Follows
  readonly #outboxes = new Map<number, EventOutbox>()
  readonly #publishers = new Map<number, OrgEventPublisher>()
  /** The audit entry that each organisation waits for, and the timer that ends this. */
  readonly #gaps = new Map<number, { readonly auditNumber: number; readonly timer: NodeJS.Timeout }>()
  #nodes = new Set<number>()
  #checks = 0

  constructor(options: FeedOptions) {
    this.#options = options
    const { bus, clock, limits, nodeId, listNodes, findAuditNumber } = options
    const listOtherNodes = async () => (await listNodes()).filter((id) => id !== nodeId())
    this.#channels = new EventChannels(clock, {
      opened: (org) => this.#outboxes.get(org)?.rename(newEventName()),
      closed: (org) => this.#stopSending(org),
    })
    this.#join = new FeedJoin({
      bus,
      nodeId,
      listOtherNodes,
      restore: (states, name) => this.#channels.restore(states, name),
      onJoined: () => this.#continue(),
      countSent: () => [...this.#outboxes.values()].map(({ sentCount }) => sentCount),
    })
    this.#follows = new Follows({
      bus,
      limits,
      channels: this.#channels,
      waiter: this.#waiter,
      // A node that was declared dead follows again when it has another id.
      mayFollow: () => this.#join.isJoined && !this.#channels.hasEnded(nodeId()),
      listOtherNodes,
      findAuditNumber,
    })
  }

  /** Must be called before events are published. Resolves when this node knows who follows what. */
  async start(): Promise<void> {
    this.#listen()
    this.#join.begin(false)
    // Events that are published from now on may be lost, if this node still does not hear the others.
    if (!(await this.#waiter.until(() => this.#join.isJoined, this.#options.limits.feedJoinMs))) this.rejoin()
  }

  /** Must be called when messages may have been missed, or this node got another id. */
  rejoin(): void {
    this.#join.begin(true)
  }

  forOrg(org: number): OrgEventPublisher {
    let publisher = this.#publishers.get(org)
    if (!publisher) {
      publisher = {
        isFollowed: () => this.#isFollowed(org),
        publish: (drafts) => this.#publish(org, drafts),
      }
      this.#publishers.set(org, publisher)
    }
    return publisher
  }

  /** Returns the channel of an organisation if it has all events from now on; otherwise `follow` must be awaited. */
  channel(org: number): EventChannel | undefined {
    const channel = this.#channels.get(org)
    return this.#join.isJoined && this.#follows.isComplete(org) && channel?.isStarted ? channel : undefined
  }

  /** Resolves when `channel` returns the channel. Rejects if the database or the messages are not available. */
  follow(org: number): Promise<void> {
    return this.#follows.follow(org)
  }

  /** Gives up organisations without readers, and follows again those whose channel was lost. Must be called every second. */
  async check(): Promise<void> {
    if (!this.#join.isJoined) return
    const { bus, clock, nodeId } = this.#options
    const now = clock.now()
    for (const channel of this.#channels.all) {
      const { org, followers } = channel
      if (!followers.has(nodeId()) || this.#follows.isPending(org)) continue
      if (channel.idleSince(now) > now - retentionMs) continue
      this.#follows.delete(org)
      bus.send('unfollow', { org })
    }
    this.#followAgain()
    if (++this.#checks % checksPerNodeList === 0) await this.#findEndedNodes().catch(() => {})
  }

  async close(): Promise<void> {
    this.#join.end()
    for (const { timer } of this.#gaps.values()) clearTimeout(timer)
    await Promise.all([...this.#outboxes.values()].map((outbox) => outbox.flush()))
    for (const outbox of this.#outboxes.values()) outbox.end()
  }

  /** Before it has joined, this node does not know who follows, so it sends everything. */
  #isFollowed(org: number): boolean {
    return this.#channels.has(org) || !this.#join.isJoined
  }

  #publish(org: number, drafts: readonly EventDraft[]): void {
    if (drafts.length > 0 && this.#isFollowed(org)) this.#outbox(org).add(drafts)
  }

  #outbox(org: number): EventOutbox {
    const outbox = this.#outboxes.get(org) ?? new EventOutbox(org, this.#options)
    this.#outboxes.set(org, outbox)
    return outbox
  }

  #listen(): void {
    const { bus } = this.#options
    const apply = (org: number, work: (channel: EventChannel) => void) =>
      this.#join.apply(() => {
        const channel = this.#channels.get(org)
        if (!channel) return
        work(channel)
        this.#watchGap(channel)
      })
    bus.heard('events', (message, { nodeId }) =>
      apply(message.org, (channel) => channel.hear(message, nodeId !== undefined)),
    )
    bus.heard('followStart', ({ org, name, auditNumber }) => {
      apply(org, (channel) => channel.start(name, auditNumber))
      this.#waiter.check()
    })
    bus.heard('auditGap', ({ org, auditNumber, name }) => apply(org, (channel) => channel.skip(name, auditNumber)))
    bus.heard('follow', (message, from) => this.#hearFollow(message, from))
    bus.heard('following', ({ org, name }, { nodeId }) => {
      if (nodeId === undefined) return
      apply(org, (channel) => channel.addSender(nodeId, name))
      this.#follows.hearAnswer(name, nodeId)
      this.#waiter.check()
    })
    bus.heard('unfollow', ({ org }, { nodeId }) =>
      this.#join.apply(() => nodeId !== undefined && this.#channels.removeFollower(org, nodeId)),
    )
    bus.heard('feedJoin', (message, from) => this.#hearJoin(message, from))
    bus.heard('feedState', ({ name, channels }, from) => {
      this.#join.hearState(name, channels, from)
      this.#waiter.check()
    })
    bus.heard('feedEmpty', () => this.#join.hearEmpty())
    bus.heard('nodeEnded', ({ nodeId }) => {
      this.#join.apply(() => this.#channels.endNode(nodeId))
      this.#join.addStateless(nodeId)
      this.#follows.endNode(nodeId)
      this.#waiter.check()
    })
    bus.lost(() => this.rejoin())
  }

  #hearFollow({ org, name }: NodeMessages['follow'], { nodeId, isSelf }: Sender): void {
    if (nodeId === undefined || !this.#join.isListening) return
    this.#join.apply(() => {
      const isNew = !this.#channels.has(org)
      this.#channels.addFollower(org, nodeId)
      // The first event of the node that opened the channel has the number after the first position.
      if (isNew && isSelf) this.#outbox(org).rename(name)
    })
    if (isSelf) this.#follows.hearOwnFollow(name)
    this.#options.bus.send('following', { org, name })
    this.#waiter.check()
  }

  #hearJoin({ name, sent }: NodeMessages['feedJoin'], { nodeId, isSelf }: Sender): void {
    if (isSelf) this.#join.hearOwnJoin(name)
    else if (nodeId !== undefined && this.#join.isListening) {
      this.#follows.hearJoin(nodeId)
      const isJoined = this.#join.isJoined
      this.#join.apply(() => this.#channels.join(nodeId, name, sent))
      this.#options.bus.send('feedState', isJoined ? { name, channels: this.#channels.states } : { name })
      if (!isJoined) this.#join.addStateless(nodeId)
    }
    this.#waiter.check()
  }

  /** Is called when this node has joined. */
  #continue(): void {
    for (const org of this.#outboxes.keys()) if (!this.#channels.has(org)) this.#stopSending(org)
    for (const channel of this.#channels.all) this.#watchGap(channel)
    this.#followAgain()
    this.#waiter.check()
  }

  /** Readers whose channel was closed, or whose node has another id now, need a follower again. */
  #followAgain(): void {
    const { nodeId, log } = this.#options
    this.#channels.dropOrphans()
    const unfollowed = this.#channels.all.filter((channel) => channel.hasReaders && !channel.followers.has(nodeId()))
    for (const { org } of [...this.#channels.orphaned, ...unfollowed]) {
      this.follow(org).catch((error: Error) => log.warn({ reason: error.message }, 'events not followed yet, retrying'))
    }
  }

  /** Stops sending the events of an organisation, and drops what is stored for them. */
  #stopSending(org: number): void {
    this.#follows.delete(org)
    this.#outboxes.get(org)?.end()
    this.#outboxes.delete(org)
    clearTimeout(this.#gaps.get(org)?.timer)
    this.#gaps.delete(org)
  }

  /** Every node sends the message, and the first one counts: so all of them give up the entry at the same place. */
  #watchGap({ org, missing }: EventChannel): void {
    const gap = this.#gaps.get(org)
    if (gap?.auditNumber === missing) return
    clearTimeout(gap?.timer)
    this.#gaps.delete(org)
    if (missing === undefined) return
    const { bus, auditGapMs } = this.#options
    const giveUp = () => bus.send('auditGap', { org, auditNumber: missing, name: newEventName() })
    if (auditGapMs === 0) giveUp()
    else this.#gaps.set(org, { auditNumber: missing, timer: setTimeout(giveUp, auditGapMs) })
  }

  /** Finds nodes that ended without a message. Every node may send it, and only the first one has an effect. It rejects while the database is not available. */
  async #findEndedNodes(): Promise<void> {
    if (this.#channels.all.length === 0) return
    const known = new Set([...this.#nodes, ...this.#channels.all.flatMap(({ followers }) => [...followers])])
    const up = new Set(await this.#options.listNodes())
    this.#nodes = up
    for (const nodeId of known.difference(up)) {
      if (!this.#channels.hasEnded(nodeId)) this.#options.bus.send('nodeEnded', { nodeId })
    }
  }
}
