// A bus for several nodes in one process: one order for all, with delays, cuts and deaths.
import type { MessageBus, MessageListener } from '../../../src/server/bus/message-bus.ts'
import type { MessageKind, NodeMessages } from '../../../src/server/bus/messages.ts'

interface Message {
  readonly kind: MessageKind
  readonly text: string
  readonly nodeId: number | undefined
  readonly from: TestBusPort
}

export class SharedTestBus {
  readonly #ports = new Set<TestBusPort>()
  readonly #delayMs: () => number

  /** Each message reaches each port after a delay of its own, but never before an earlier one. */
  constructor(delayMs: () => number) {
    this.#delayMs = delayMs
  }

  connect(nodeId: () => number | undefined): TestBusPort {
    const port = new TestBusPort(this, nodeId)
    this.#ports.add(port)
    return port
  }

  disconnect(port: TestBusPort): void {
    this.#ports.delete(port)
  }

  pass(message: Message): void {
    for (const port of this.#ports) port.receive(message, this.#delayMs())
  }
}

export class TestBusPort implements MessageBus {
  readonly #bus: SharedTestBus
  readonly #nodeId: () => number | undefined
  readonly #listeners = new Map<MessageKind, MessageListener<MessageKind>[]>()
  readonly #lostListeners: (() => void)[] = []
  #inbox: Message[] = []
  #timer: NodeJS.Timeout | undefined
  isCut = false
  isDead = false

  constructor(bus: SharedTestBus, nodeId: () => number | undefined) {
    this.#bus = bus
    this.#nodeId = nodeId
  }

  send<K extends MessageKind>(kind: K, body: NodeMessages[K]): void {
    if (this.isCut || this.isDead) return
    this.#bus.pass({ kind, text: JSON.stringify(body), nodeId: this.#nodeId(), from: this })
  }

  heard<K extends MessageKind>(kind: K, listener: MessageListener<K>): void {
    this.#listeners.set(kind, [...(this.#listeners.get(kind) ?? []), listener as MessageListener<MessageKind>])
  }

  lost(listener: () => void): void {
    this.#lostListeners.push(listener)
  }

  /** Everything that is sent or received from now on is lost, and so is what is under way. */
  cut(): void {
    this.isCut = true
    this.#inbox = []
  }

  mend(): void {
    if (!this.isCut) return
    this.mendSilently()
    for (const listener of this.#lostListeners) listener()
  }

  /** No real bus may do this. It shows that the tests notice missing events. */
  mendSilently(): void {
    this.isCut = false
  }

  /** Messages wait for this long, as in a process that was stopped. */
  pause(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#deliver(), ms)
  }

  die(): void {
    this.isDead = true
    this.#bus.disconnect(this)
    clearTimeout(this.#timer)
  }

  receive(message: Message, delayMs: number): void {
    if (this.isCut || this.isDead) return
    this.#inbox.push(message)
    this.#timer ??= setTimeout(() => this.#deliver(), delayMs)
  }

  #deliver(): void {
    this.#timer = undefined
    for (const { kind, text, nodeId, from } of this.#inbox.splice(0)) {
      for (const listener of this.#listeners.get(kind) ?? []) {
        listener(JSON.parse(text), { nodeId, isSelf: from === this })
      }
    }
  }
}
