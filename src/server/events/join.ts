// Brings the event feed of this node to the state that the other nodes have, at its start and after it may have missed messages.
import type { EventChannelState, SentCount } from '../bus/event-messages.ts'
import type { MessageBus, Sender } from '../bus/message-bus.ts'
import { newEventName } from './outbox.ts'

/** The message is sent again, and the list of nodes read again, after this time. */
const retryMs = 1000
/** A feed that could not join for so many messages begins again instead of storing more of them. */
const maxWaitingMessages = 20_000

export interface JoinOptions {
  readonly bus: MessageBus
  /** The id of this node. */
  readonly nodeId: () => number
  /** Resolves with the ids of the other nodes that are up. */
  readonly listOtherNodes: () => Promise<readonly number[]>
  /** Takes over a state. `name` is the position of the message at which the other nodes had it. */
  readonly restore: (states: readonly EventChannelState[], name: string) => void
  readonly onJoined: () => void
  readonly countSent: () => readonly SentCount[]
}

/**
 * The phases: `lost` until this node hears its own message, because only what follows it is surely heard; `joining` until a node
 * answers with its state at that message; then `joined`. Messages that are heard while joining are applied after that state, in their order.
 * If no node has a state, one of them sends `feedEmpty`: at that message all nodes that hear it begin with no channels.
 */
export class FeedJoin {
  readonly #options: JoinOptions
  #phase: 'lost' | 'joining' | 'joined' = 'lost'
  #name = ''
  #waiting: (() => void)[] = []
  /** Other nodes that have no state either. */
  readonly #stateless = new Set<number>()
  #others: readonly number[] | undefined
  #hasSentEmpty = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: JoinOptions) {
    this.#options = options
  }

  get isJoined(): boolean {
    return this.#phase === 'joined'
  }

  /** `isBack` is true if this node may have sent events before. */
  begin(isBack: boolean): void {
    this.#phase = 'lost'
    this.#name = newEventName()
    this.#waiting = []
    this.#stateless.clear()
    this.#others = undefined
    this.#hasSentEmpty = false
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.begin(isBack), retryMs)
    const { bus, countSent } = this.#options
    bus.send('feedJoin', { name: this.#name, ...(isBack && { sent: countSent() }) })
  }

  /** Applies a message now, or after the state that is waited for. A message that is heard too early is part of that state. */
  apply(message: () => void): void {
    if (this.#phase === 'joined') message()
    else if (this.#phase === 'joining') this.#waiting.push(message)
    if (this.#waiting.length > maxWaitingMessages) this.begin(true)
  }

  /** Returns whether this node has heard its own message, and therefore everything after it. */
  get isListening(): boolean {
    return this.#phase !== 'lost'
  }

  hearOwnJoin(name: string): void {
    if (name !== this.#name || this.#phase !== 'lost') return
    this.#phase = 'joining'
    void this.#readNodes(false)
  }

  /** Joined nodes obey it too: the sender may not know that they have joined, and all must have the same state. */
  hearEmpty(): void {
    if (this.#phase === 'lost') return
    this.#waiting = []
    this.#finish([])
  }

  hearState(name: string, states: readonly EventChannelState[] | undefined, from: Sender): void {
    if (name !== this.#name || this.#phase !== 'joining') return
    if (states) this.#finish(states)
    else if (from.nodeId !== undefined) this.addStateless(from.nodeId)
  }

  /** Notes a node that has joined later than this one, or has ended: it cannot give a state. */
  addStateless(nodeId: number): void {
    this.#stateless.add(nodeId)
    this.#emptyIfStateless(false)
  }

  end(): void {
    clearTimeout(this.#timer)
  }

  async #readNodes(isRetry: boolean): Promise<void> {
    const name = this.#name
    clearTimeout(this.#timer)
    const others = await this.#options.listOtherNodes().catch(() => undefined)
    if (name !== this.#name || this.#phase !== 'joining') return
    this.#others = others
    this.#timer = setTimeout(() => void this.#readNodes(true), retryMs)
    this.#emptyIfStateless(isRetry)
  }

  /** The node with the lowest id sends the message; the others send it too if they are still joining after a while. */
  #emptyIfStateless(isRetry: boolean): void {
    if (this.#phase !== 'joining' || !this.#others?.every((id) => this.#stateless.has(id))) return
    const { bus, nodeId } = this.#options
    const isFirst = !this.#hasSentEmpty && this.#others.every((id) => id > nodeId())
    if (!isFirst && !isRetry) return
    this.#hasSentEmpty = true
    bus.send('feedEmpty', {})
  }

  #finish(states: readonly EventChannelState[]): void {
    clearTimeout(this.#timer)
    this.#options.restore(states, this.#name)
    this.#phase = 'joined'
    for (const message of this.#waiting.splice(0)) message()
    this.#options.onJoined()
  }
}
