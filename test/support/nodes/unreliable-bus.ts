// A message bus for several nodes in one test process. It delivers in one order, or delays, reorders and drops messages.
import type { MessageBus, MessageListener } from '../../../src/server/bus/message-bus.ts'
import type { MessageKind, NodeMessages } from '../../../src/server/bus/messages.ts'

/** Returns after how many milliseconds a receiver gets a message; undefined drops it. */
export type BusDelivery = () => number | undefined

export const promptly: BusDelivery = () => 0
export const never: BusDelivery = () => undefined

export class UnreliableBus {
  /** Is asked for each message and each receiver but the sender. */
  delivery: BusDelivery = promptly
  readonly #members: BusMember[] = []
  readonly sent: { kind: MessageKind; body: unknown; nodeId: number }[] = []
  /** Messages that were sent, and will be delivered. */
  underWay = 0

  join(nodeId: number): BusMember {
    const member = new BusMember(nodeId, (kind, body) => this.#send(nodeId, kind, body))
    this.#members.push(member)
    return member
  }

  #send(nodeId: number, kind: MessageKind, body: object): void {
    this.sent.push({ kind, body, nodeId })
    // Between real nodes only JSON travels.
    const copy = JSON.parse(JSON.stringify(body))
    for (const member of this.#members) {
      const isSelf = member.nodeId === nodeId
      const delayMs = isSelf ? 0 : this.delivery()
      if (delayMs === undefined) continue
      this.underWay++
      setTimeout(() => {
        this.underWay--
        member.receive(kind, copy, { nodeId, isSelf })
      }, delayMs)
    }
  }
}

type AnyListener = (body: object, from: Parameters<MessageListener<MessageKind>>[1]) => void

class BusMember implements MessageBus {
  readonly nodeId: number
  readonly send: <K extends MessageKind>(kind: K, body: NodeMessages[K]) => void
  readonly #listeners: [MessageKind, AnyListener][] = []
  readonly #lostListeners: (() => void)[] = []

  constructor(nodeId: number, send: (kind: MessageKind, body: object) => void) {
    this.nodeId = nodeId
    this.send = send
  }

  heard<K extends MessageKind>(kind: K, listener: MessageListener<K>): void {
    this.#listeners.push([kind, listener as AnyListener])
  }

  lost(listener: () => void): void {
    this.#lostListeners.push(listener)
  }

  receive(kind: MessageKind, body: object, from: { nodeId: number; isSelf: boolean }): void {
    for (const [of, listener] of this.#listeners) if (of === kind) listener(body, from)
  }

  /** Does what a node notices when its session for messages was lost. */
  lose(): void {
    for (const listener of this.#lostListeners) listener()
  }
}
