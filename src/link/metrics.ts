// What Prometheus can ask about devices: how many are connected, what they say, and what was refused.
import { Counter, Gauge, type Registry } from 'prom-client'

export interface LinkMetrics {
  readonly received: Counter<'kind'>
  readonly sent: Counter<'kind'>
  readonly bad: Counter
  readonly foreign: Counter
  readonly refused: Counter<'reason'>
  readonly broken: Counter
  watchConnections(count: () => number): void
}

export function makeLinkMetrics(registry: Registry): LinkMetrics {
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, labelNames: L[] = []) =>
    new Counter<L>({ name: `roomkeeper_device_${name}`, help, labelNames, registers })
  return {
    received: counter('messages_received_total', 'Messages from devices, by kind.', ['kind']),
    sent: counter('messages_sent_total', 'Messages to devices, by kind.', ['kind']),
    bad: counter('bad_messages_total', 'Messages from devices that do not fit their schema.'),
    foreign: counter('foreign_topics_total', 'Connections ended for a topic that is not their own.'),
    refused: counter('refused_total', 'Connections that were refused, by reason.', ['reason']),
    broken: counter('broken_connections_total', 'Connections that ended without a goodbye.'),
    watchConnections: (count) => {
      new Gauge({
        name: 'roomkeeper_devices_connected',
        help: 'Devices that are connected now.',
        registers,
        collect() {
          this.set(count())
        },
      })
    },
  }
}
