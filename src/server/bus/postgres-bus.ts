// Messages between nodes as notifications of PostgreSQL: gathered, one statement at a time, in one order for all nodes.
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import type { MessageBus, MessageListener } from './message-bus.ts'
import type { MessageKind, NodeMessages } from './messages.ts'
import { asciiJson, cutIntoParts, PartReader, readPart } from './notification-parts.ts'

/** Messages that wait during an interruption. Past this they are dropped, and every node is told so by a gap in the numbers. */
const maxWaitingBytes = 1024 * 1024
/** Messages that share a batch. A single message may be longer. */
const maxBatchBytes = 128 * 1024

const retryPauseMs = 100

/** Sends notifications in one transaction, in their order. Rejects if they may not have been sent. */
export type Notify = (notifications: readonly string[]) => Promise<unknown>

export interface PostgresBusOptions {
  /** Names this process. */
  readonly process: string
  readonly nodeId: () => number | undefined
  readonly notify: Notify
  /** Is called with the error of a listener. */
  readonly onError: (error: unknown) => void
}

export class PostgresBus implements MessageBus {
  readonly #options: PostgresBusOptions
  readonly #listeners = new Map<MessageKind, MessageListener<MessageKind>[]>()
  readonly #lostListeners: (() => void)[] = []
  readonly #senders = new Map<string, PartReader>()
  /** Messages as JSON. */
  #waiting: string[] = []
  #waitingBytes = 0
  #lastNumber = 0
  /** The batch whose arrival is not confirmed. */
  #unconfirmed: readonly string[] | undefined
  #sending: Promise<void> | undefined
  #isConnected = false

  constructor(options: PostgresBusOptions) {
    this.#options = options
  }

  get isConnected(): boolean {
    return this.#isConnected
  }

  send<K extends MessageKind>(kind: K, body: NodeMessages[K]): void {
    this.#add(asciiJson([kind, body]))
  }

  /** Sends a batch even if there is no message, so that this node can check that it hears itself. */
  sendBeat(): void {
    this.#add('')
  }

  heard<K extends MessageKind>(kind: K, listener: MessageListener<K>): void {
    const listeners = this.#listeners.get(kind) ?? []
    this.#listeners.set(kind, [...listeners, listener as MessageListener<MessageKind>])
  }

  lost(listener: () => void): void {
    this.#lostListeners.push(listener)
  }

  /** Is called when the session listens, for the first time or again. */
  connect({ isFirst }: { readonly isFirst: boolean }): void {
    this.#isConnected = true
    this.#startSending()
    if (!isFirst) this.#tellLost()
  }

  /** Is called when the session is lost. Messages wait until it is back. */
  disconnect(): void {
    this.#isConnected = false
    for (const sender of this.#senders.values()) sender.allowGap()
  }

  /** Is called for every notification. Returns true if this process sent it. */
  receive(notification: string): boolean {
    const part = readPart(notification)
    if (!part) return false
    const isSelf = part.process === this.#options.process
    let sender = this.#senders.get(part.process)
    if (!sender) {
      sender = new PartReader()
      this.#senders.set(part.process, sender)
    }
    const { text, isGap } = sender.add(part)
    // A command sends once and ends.
    if (part.nodeId === undefined && part.part === part.parts) this.#senders.delete(part.process)
    if (isGap) this.#tellLost()
    if (text !== undefined) {
      for (const [kind, body] of JSON.parse(text) as [MessageKind, never][]) {
        for (const listener of this.#listeners.get(kind) ?? []) {
          this.#try(() => listener(body, { nodeId: part.nodeId, isSelf }))
        }
      }
    }
    return isSelf
  }

  /** Waits until all messages are sent, but not for long. */
  async flush(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs
    while (this.#sending && performance.now() < deadline) {
      await Promise.race([this.#sending, sleep(deadline - performance.now(), undefined, { ref: false })])
    }
  }

  #add(message: string): void {
    this.#waiting.push(message)
    this.#waitingBytes += message.length
    if (!this.#isConnected && this.#waitingBytes > maxWaitingBytes) {
      this.#waiting = []
      this.#waitingBytes = 0
      this.#unconfirmed = undefined
      this.#lastNumber++
    }
    this.#startSending()
  }

  #startSending(): void {
    if (!this.#isConnected || this.#sending) return
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = undefined
      // Messages may have come between the last look at the queue and now.
      if (this.#isConnected && (this.#unconfirmed || this.#waiting.length > 0)) this.#startSending()
    })
  }

  async #sendAll(): Promise<void> {
    // Messages of the same turn of the event loop share a batch.
    await immediate()
    while (this.#isConnected) {
      this.#unconfirmed ??= this.#nextBatch()
      if (!this.#unconfirmed) return
      try {
        await this.#options.notify(this.#unconfirmed)
        this.#unconfirmed = undefined
      } catch {
        // Usually the session is lost. The batch is sent again under its number, because it may have arrived.
        await sleep(retryPauseMs, undefined, { ref: false })
      }
    }
  }

  #nextBatch(): readonly string[] | undefined {
    if (this.#waiting.length === 0) return undefined
    let count = 0
    let bytes = 0
    for (const { length } of this.#waiting) {
      if (count > 0 && bytes + length > maxBatchBytes) break
      count++
      bytes += length
    }
    const messages = this.#waiting.splice(0, count)
    this.#waitingBytes -= bytes
    const { process, nodeId } = this.#options
    const head = { process, nodeId: nodeId(), number: ++this.#lastNumber }
    return cutIntoParts(head, `[${messages.filter((message) => message !== '').join(',')}]`)
  }

  #tellLost(): void {
    for (const listener of this.#lostListeners) this.#try(listener)
  }

  #try(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#options.onError(error)
    }
  }
}
