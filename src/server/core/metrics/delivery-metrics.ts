// The Prometheus metrics of messages to channels: attempts by kind and outcome, and how many wait. [contract 10.delivery]
import { Counter, Gauge, type Registry } from 'prom-client'

/** Returns the function that counts an attempt. */
export function watchDeliveries(
  registry: Registry,
  countWaitingByKind: () => Promise<Readonly<Record<string, number>> | undefined>,
): (kind: string, outcome: string) => void {
  const registers = [registry]
  const attempts = new Counter({
    name: 'roomkeeper_deliveries_total',
    help: 'Attempts to deliver a message to a channel, by kind of the channel and outcome.',
    labelNames: ['kind', 'outcome'],
    registers,
  })
  new Gauge({
    name: 'roomkeeper_deliveries_waiting',
    help: 'Messages that wait for their delivery, by kind of the channel.',
    labelNames: ['kind'],
    registers,
    async collect() {
      const counts = (await countWaitingByKind()) ?? {}
      this.reset()
      for (const [kind, count] of Object.entries(counts)) this.set({ kind }, count)
    },
  })
  return (kind, outcome) => attempts.inc({ kind, outcome })
}
