// The Prometheus metrics about devices: how many are connected, what they send, and what was refused.
import { Counter, Gauge, type Registry } from 'prom-client'
import { type UpKind, upMessages } from '../../../contract/device/protocol.ts'

export interface DeviceMetrics {
  /** Plain numbers, because there are many messages; a counter takes them over when Prometheus asks. */
  readonly received: Record<UpKind, number>
  readonly sent: Counter<'kind'>
  readonly bad: Counter
  readonly badMessageLimits: Counter<'action'>
  readonly dropped: Counter
  readonly foreign: Counter
  readonly refused: Counter<'reason'>
  readonly broken: Counter
  watch(name: `device${string}`, help: string, count: () => number): void
}

export function makeDeviceMetrics(registry: Registry): DeviceMetrics {
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, labelNames: L[] = []) =>
    new Counter<L>({ name: `roomkeeper_device_${name}`, help, labelNames, registers })
  const received = Object.fromEntries(Object.keys(upMessages).map((kind) => [kind, 0])) as Record<UpKind, number>
  new Counter({
    name: 'roomkeeper_device_messages_received_total',
    help: 'Messages from devices, by kind.',
    labelNames: ['kind'],
    registers,
    collect() {
      this.reset()
      for (const [kind, count] of Object.entries(received)) this.inc({ kind }, count)
    },
  })
  return {
    received,
    sent: counter('messages_sent_total', 'Messages to devices, by kind.', ['kind']),
    bad: counter('bad_messages_total', 'Messages from devices that do not fit their schema.'),
    badMessageLimits: counter(
      'bad_message_limits_total',
      'Connections that were slowed or closed because their device sent too many bad messages, by action.',
      ['action'],
    ),
    dropped: counter(
      'dropped_total',
      'Messages at QoS 0 that were lost: the ingest budget was used up, or the database failed.',
    ),
    foreign: counter('foreign_topics_total', 'Connections closed because of a topic that is not their own.'),
    refused: counter('refused_total', 'Connections that were refused, by reason.', ['reason']),
    broken: counter('broken_connections_total', 'Connections that broke, or that were closed because of an error.'),
    watch: (name, help, count) => {
      new Gauge({
        name: `roomkeeper_${name}`,
        help,
        registers,
        collect() {
          this.set(count())
        },
      })
    },
  }
}
