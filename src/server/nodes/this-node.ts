// The identity of this process among the nodes: the id of its row and its name.
import { randomBytes } from 'node:crypto'

/** Names a process. Unlike the id of its row, it does not change while the process lives. */
export const newProcessName = (): string => randomBytes(4).toString('hex')

/** The database sessions of a process carry this name, so that they can be ended when the process is declared dead. */
export const sessionNameOf = (processName: string): string => `roomkeeper ${processName}`

export class ThisNode {
  readonly name: string
  #id: number
  readonly #replacedListeners: (() => void | Promise<void>)[] = []
  readonly #newRowListeners: (() => void)[] = []
  readonly #disconnectedListeners: (() => void)[] = []

  constructor(name: string, id: number) {
    this.name = name
    this.#id = id
  }

  /** The id of the present row. It changes when the node was declared dead and goes on with a new row. */
  get id(): number {
    return this.#id
  }

  /**
   * Calls the listener when this node was declared dead, before it goes on with a new row. Until then no unaudited commit of this
   * process succeeds.
   */
  onReplaced(listener: () => void | Promise<void>): void {
    this.#replacedListeners.push(listener)
  }

  /** Calls the listener when this node, after it was declared dead, has its new row. */
  onNewRow(listener: () => void): void {
    this.#newRowListeners.push(listener)
  }

  /** Calls the listener when the session for messages is lost. `MessageBus.lost` tells when it is back. */
  onDisconnected(listener: () => void): void {
    this.#disconnectedListeners.push(listener)
  }

  noteDisconnected(): void {
    for (const listener of this.#disconnectedListeners) listener()
  }

  /** Calls the listeners of `onReplaced`, takes the id of the new row, then calls those of `onNewRow`. */
  async replace(takeRow: () => Promise<number>): Promise<void> {
    for (const listener of this.#replacedListeners) await listener()
    this.#id = await takeRow()
    for (const listener of this.#newRowListeners) listener()
  }
}
