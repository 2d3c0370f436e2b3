// The interface through which nodes send messages to each other, and the implementation for a single process.
import type { MessageKind, NodeMessages } from './messages.ts'

export interface Sender {
  /** The id of the sending node's row, or undefined for a command of the command line. */
  readonly nodeId: number | undefined
  /** True if this process sent the message. */
  readonly isSelf: boolean
}

export type MessageListener<K extends MessageKind> = (body: NodeMessages[K], from: Sender) => void

export interface MessageBus {
  /** Sends a message to all nodes, this one included. Must be called after the commit that the message is about. */
  send<K extends MessageKind>(kind: K, body: NodeMessages[K]): void
  /** Calls the listener for every message of a kind. All nodes hear all messages in the same order. */
  heard<K extends MessageKind>(kind: K, listener: MessageListener<K>): void
  /** Calls the listener when messages may have been missed: after an interruption, once this node hears all messages again. */
  lost(listener: () => void): void
}

/** The bus of a process that is alone: on SQLite, and in commands. */
export class LocalBus implements MessageBus {
  readonly #nodeId: () => number | undefined
  readonly #listeners = new Map<MessageKind, MessageListener<MessageKind>[]>()

  constructor(nodeId: () => number | undefined) {
    this.#nodeId = nodeId
  }

  send<K extends MessageKind>(kind: K, body: NodeMessages[K]): void {
    for (const listener of this.#listeners.get(kind) ?? []) listener(body, { nodeId: this.#nodeId(), isSelf: true })
  }

  heard<K extends MessageKind>(kind: K, listener: MessageListener<K>): void {
    const listeners = this.#listeners.get(kind) ?? []
    this.#listeners.set(kind, [...listeners, listener as MessageListener<MessageKind>])
  }

  /** Nothing is lost inside a process. */
  lost(): void {}
}
