// Announces that keys or sessions have changed: to the listeners of this process immediately, to other nodes by a message.
import type { MessageBus } from '../bus/message-bus.ts'

export class KeyChanges {
  readonly #bus: MessageBus
  readonly #listeners: (() => void)[] = []

  constructor(bus: MessageBus) {
    this.#bus = bus
  }

  /** The listener is also called when another node or a command has announced a change. */
  listen(listener: () => void): void {
    this.#listeners.push(listener)
    this.#bus.heard('keysChanged', (_, { isSelf }) => {
      if (!isSelf) listener()
    })
  }

  announce(): void {
    for (const listener of this.#listeners) listener()
    this.#bus.send('keysChanged', {})
  }
}
