// Makes this node a follower of an organisation: all living nodes must know it before a reader's stream begins.

import type { MessageBus } from '../bus/message-bus.ts'
import { Failure } from '../core/failure.ts'
import type { TimeLimits } from '../core/time-limits.ts'
import type { ConditionWaiter } from './condition-waiter.ts'
import type { EventChannels } from './event-channels.ts'
import { newEventName } from './outbox.ts'

export interface FollowOptions {
  readonly bus: MessageBus
  readonly limits: TimeLimits
  readonly channels: EventChannels
  readonly waiter: ConditionWaiter
  readonly mayFollow: () => boolean
  readonly listOtherNodes: () => Promise<readonly number[]>
  /** Resolves with the number of the last audit entry of an organisation. */
  readonly findAuditNumber: (org: number) => Promise<number>
}

interface Handshake {
  readonly answered: Set<number>
  /** Set when this node has heard its own message. */
  isHeard: boolean
}

export class Follows {
  readonly #options: FollowOptions
  /** Handshakes by the name that their messages carry. */
  readonly #handshakes = new Map<string, Handshake>()
  readonly #pending = new Map<number, Promise<void>>()
  /** The organisations that all nodes know to be followed here. */
  readonly #complete = new Set<number>()

  constructor(options: FollowOptions) {
    this.#options = options
  }

  isComplete(org: number): boolean {
    return this.#complete.has(org)
  }

  isPending(org: number): boolean {
    return this.#pending.has(org)
  }

  /** Resolves when every living node sends the events of the organisation. */
  follow(org: number): Promise<void> {
    let pending = this.#pending.get(org)
    if (!pending) {
      pending = this.#follow(org).finally(() => this.#pending.delete(org))
      this.#pending.set(org, pending)
    }
    return pending
  }

  /** Is called when this node gives up an organisation, or its channel is closed. */
  delete(org: number): void {
    this.#complete.delete(org)
  }

  hearOwnFollow(name: string): void {
    const handshake = this.#handshakes.get(name)
    if (handshake) handshake.isHeard = true
  }

  hearAnswer(name: string, nodeId: number): void {
    this.#handshakes.get(name)?.answered.add(nodeId)
  }

  /** A node that joins learns who follows. If it joins before this node's message, it answers that message. */
  hearJoin(nodeId: number): void {
    for (const { answered, isHeard } of this.#handshakes.values()) if (isHeard) answered.add(nodeId)
  }

  endNode(nodeId: number): void {
    for (const { answered } of this.#handshakes.values()) answered.add(nodeId)
  }

  async #follow(org: number): Promise<void> {
    const { bus, limits, channels, waiter, mayFollow, listOtherNodes, findAuditNumber } = this.#options
    const mustHear = async (isTrue: () => boolean) => {
      if (!(await waiter.until(isTrue, limits.ownMessageMs))) throw noMessages()
    }
    const name = newEventName()
    const handshake: Handshake = { answered: new Set(), isHeard: false }
    this.#handshakes.set(name, handshake)
    try {
      await mustHear(mayFollow)
      bus.send('follow', { org, name })
      const others = await listOtherNodes()
      await mustHear(() => handshake.isHeard)
      await waiter.until(() => others.every((id) => handshake.answered.has(id)), limits.followAnswerMs)
      const isStarted = () => channels.get(org)?.isStarted === true
      if (!isStarted()) bus.send('followStart', { org, name, auditNumber: await findAuditNumber(org) })
      await mustHear(isStarted)
      this.#complete.add(org)
    } finally {
      this.#handshakes.delete(name)
    }
  }
}

const noMessages = (): Failure =>
  new Failure('UNAVAILABLE', 'This node is not connected to the others at the moment. Try again in a few seconds.', {
    retryAfterSeconds: 2,
  })
