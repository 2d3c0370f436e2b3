// The faults of a trial: each one is done to a cluster, logged with its time, and over when its promise resolves.
import { setTimeout as pause } from 'node:timers/promises'
import type { SeededChoices } from '../../endurance/random.ts'
import { messageSession } from '../fault-proxy.ts'
import type { NodeCluster } from '../node-cluster.ts'
import type { PostgresServer, StopMode } from '../postgres-server.ts'
import type { ServerNode } from '../server-node.ts'
import type { FaultKind, FaultRecord } from './histories.ts'

export class Faults {
  readonly records: FaultRecord[] = []
  readonly #cluster: NodeCluster

  constructor(cluster: NodeCluster) {
    this.#cluster = cluster
  }

  /** kill -9, and a start of the same node after a while. */
  kill(node: ServerNode, downMs: number): Promise<void> {
    return this.#record('kill', node, async () => {
      await node.kill()
      await pause(downMs)
      await node.start()
    })
  }

  /** An orderly stop, and a start, as in an upgrade. */
  restart(node: ServerNode): Promise<void> {
    return this.#record('stop', node, async () => {
      await node.stop()
      await node.start()
    })
  }

  pause(node: ServerNode, forMs: number): Promise<void> {
    return this.#record('pause', node, async () => {
      node.pause()
      await pause(forMs)
      node.resume()
    })
  }

  cutDatabase(node: ServerNode, forMs: number): Promise<void> {
    return this.#disturb('cutDatabase', node, forMs, () => node.proxy.cut())
  }

  swallowDatabase(node: ServerNode, forMs: number): Promise<void> {
    return this.#disturb('swallowDatabase', node, forMs, () => node.proxy.swallow())
  }

  /** The node's statements arrive, but it hears no answer. */
  swallowAnswers(node: ServerNode, forMs: number): Promise<void> {
    return this.#disturb('swallowDatabase', node, forMs, () => node.proxy.swallow(undefined, 'toClient'))
  }

  delayDatabase(node: ServerNode, forMs: number, delayMs: number): Promise<void> {
    return this.#disturb('delayDatabase', node, forMs, () => node.proxy.delay(delayMs))
  }

  cutMessages(node: ServerNode, forMs: number): Promise<void> {
    return this.#disturb('cutMessages', node, forMs, () => node.proxy.cut(messageSession))
  }

  restartPostgres(mode: StopMode, downMs: number): Promise<void> {
    return this.#record('restartPostgres', undefined, async () => {
      const { postgres } = this.#cluster
      await postgres.stop(mode)
      await pause(downMs)
      await postgres.startAgain()
    })
  }

  failOver(standby: PostgresServer): Promise<void> {
    return this.#record('failOver', undefined, () => this.#cluster.failOver(standby))
  }

  #disturb(kind: FaultKind, node: ServerNode, forMs: number, begin: () => void): Promise<void> {
    return this.#record(kind, node, async () => {
      begin()
      await pause(forMs)
      node.proxy.mend()
    })
  }

  async #record(kind: FaultKind, node: ServerNode | undefined, work: () => Promise<void>): Promise<void> {
    const record = { kind, node: node?.name, from: performance.now(), to: Number.POSITIVE_INFINITY }
    this.records.push(record)
    await work()
    record.to = performance.now()
  }
}

/** Every fault that the long form chooses from, with times that are drawn again for each. */
export const randomFaults: readonly ((faults: Faults, node: ServerNode, choices: SeededChoices) => Promise<void>)[] = [
  (faults, node, choices) => faults.kill(node, choices.below(10_000)),
  (faults, node) => faults.restart(node),
  (faults, node) => faults.pause(node, 20_000),
  (faults, node, choices) => faults.pause(node, 1000 + choices.below(10_000)),
  (faults, node, choices) => faults.cutDatabase(node, 1000 + choices.below(20_000)),
  (faults, node, choices) => faults.swallowDatabase(node, 1000 + choices.below(20_000)),
  (faults, node, choices) => faults.swallowAnswers(node, 1000 + choices.below(20_000)),
  (faults, node, choices) => faults.delayDatabase(node, 5000 + choices.below(10_000), 20 + choices.below(200)),
  (faults, node, choices) => faults.cutMessages(node, choices.below(10_000)),
  (faults, _, choices) => faults.restartPostgres('fast', choices.below(10_000)),
  (faults, _, choices) => faults.restartPostgres('kill', choices.below(10_000)),
]
