// A message bus between nodes of one test process, whose messages a test can hold back.
import type { MessageBus, MessageListener } from '../../../src/server/bus/message-bus.ts'
import type { MessageKind, NodeMessages } from '../../../src/server/bus/messages.ts'

interface Listener {
  readonly bus: object
  readonly kind: MessageKind
  readonly call: MessageListener<MessageKind>
}

export class SharedTestBus {
  readonly #listeners: Listener[] = []

  connect(nodeId: () => number): MessageBus & { isCut: boolean; lose(): void } {
    const lost: (() => void)[] = []
    const listeners = this.#listeners
    return {
      /** While true, the node hears nothing and nobody hears it. */
      isCut: false,
      get isConnected() {
        return !this.isCut
      },
      send<K extends MessageKind>(kind: K, body: NodeMessages[K]) {
        if (this.isCut) return
        for (const { bus, call } of listeners.filter((each) => each.kind === kind)) {
          if (!(bus as { isCut: boolean }).isCut) call(body, { nodeId: nodeId(), isSelf: bus === this })
        }
      },
      heard<K extends MessageKind>(kind: K, listener: MessageListener<K>) {
        listeners.push({ bus: this, kind, call: listener as MessageListener<MessageKind> })
      },
      lost: (listener) => void lost.push(listener),
      lose: () => {
        for (const listener of lost) listener()
      },
    }
  }
}
