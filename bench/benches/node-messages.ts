// Measures what the messages between nodes cost PostgreSQL for each sample, and what NATS would spend on the same messages.
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { notificationChannel } from '../../src/server/nodes/control-session.ts'
import { EventStreamClients } from '../load/event-streams.ts'
import type { LoadResult } from '../load/load-result.ts'
import { atMost, type Peer, type Row, ratioByRound, summarise } from '../measure/figures.ts'
import type { BenchOptions } from '../options.ts'
import { type NatsPeer, startNats } from '../servers/nats.ts'
import type { FilledDatabase, MeasuredNodeGroup } from '../servers/node-group.ts'
import type { PostgresCluster } from '../servers/postgres-cluster.ts'

/** PostgreSQL spends at most this much of the CPU of samples on messages between nodes. */
const maxMessageShare = 0.25
/** Events are gathered for 100 ms, then sent to all nodes and to the reader. */
const eventDelayMs = 400
/** Samples of a device that share a batch are one event, so a reader receives fewer events than there are samples. */
const minEventShare = 0.5

interface Notification {
  readonly atMs: number
  readonly payload: string
}

/** Messages and samples use different PostgreSQL sessions, so their CPU can be measured separately. */
export async function measureNodeMessages(
  { quick, cleanup }: BenchOptions,
  cluster: PostgresCluster,
  { org, key }: FilledDatabase,
  { servers, databaseUrl }: MeasuredNodeGroup,
  sendSamples: (perDevice: number) => Promise<LoadResult>,
): Promise<Row[]> {
  // Nodes send samples to each other only while someone reads the events of the organisation.
  const stream = await EventStreamClients.open(servers[0]?.url ?? '', `/v1/orgs/${org}/events?types=sample`, key, 1)
  cleanup.add(() => stream.close())
  await sendSamples(10)
  const [messageMicros, sampleMicros]: [number[], number[]] = [[], []]
  const [rounds, samplesPerDevice] = quick ? [2, 4] : [7, 12]
  for (let round = 0; round < rounds; round++) {
    const [all, messages] = [cluster.cpuSeconds(), await cluster.cpuSecondsOfNodeSessions(databaseUrl)]
    const eventsBefore = stream.eventCount
    const { latenciesMs } = await sendSamples(samplesPerDevice)
    await pause(eventDelayMs)
    const events = stream.eventCount - eventsBefore
    if (events < minEventShare * latenciesMs.length)
      throw new Error(`${latenciesMs.length} samples led to ${events} events: the messages were not measured.`)
    const spentOnMessages = (await cluster.cpuSecondsOfNodeSessions(databaseUrl)) - messages
    const spent = cluster.cpuSeconds() - all
    messageMicros.push((spentOnMessages * 1e6) / latenciesMs.length)
    sampleMicros.push(((spent - spentOnMessages) * 1e6) / latenciesMs.length)
  }
  const nats = await startNats(cleanup, servers.length)
  const ratio = ratioByRound(messageMicros, sampleMicros)
  const peers: Peer[] = []
  if (nats) {
    const { notifications, samples } = await record(databaseUrl, () => sendSamples(samplesPerDevice))
    const natsMicros: number[] = []
    for (let round = 0; round < rounds; round++)
      natsMicros.push((await replay(nats, notifications, servers.length)) / samples)
    peers.push({ name: nats.name, figure: summarise(natsMicros), ratio: ratioByRound(natsMicros, sampleMicros) })
  }
  return [
    {
      title: `messages of ${servers.length} nodes for a sample, while a reader follows events: PostgreSQL`,
      unit: 'µs CPU',
      ours: summarise(messageMicros),
      baseline: { name: 'the sample itself', figure: summarise(sampleMicros) },
      ratio,
      goal: atMost(ratio, maxMessageShare),
      peers,
    },
  ]
}

/** Records the notifications of a round that is not measured, because an additional listener costs PostgreSQL CPU. */
async function record(
  databaseUrl: string,
  send: () => Promise<LoadResult>,
): Promise<{ notifications: Notification[]; samples: number }> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const notifications: Notification[] = []
    client.on('notification', ({ payload = '' }) => notifications.push({ atMs: performance.now(), payload }))
    await client.query(`LISTEN ${notificationChannel}`)
    const { latenciesMs } = await send()
    return { notifications, samples: latenciesMs.length }
  } finally {
    await client.end()
  }
}

/** Publishes the notifications with the same gaps, from the clients in turn, and returns the CPU of the NATS server in µs. */
async function replay(nats: NatsPeer, notifications: readonly Notification[], clientCount: number): Promise<number> {
  const cpuBefore = nats.process.cpuSeconds()
  const startMs = performance.now()
  const firstMs = notifications[0]?.atMs ?? 0
  for (const [i, { atMs, payload }] of notifications.entries()) {
    const waitMs = atMs - firstMs - (performance.now() - startMs)
    if (waitMs > 1) await pause(waitMs)
    nats.publish(i % clientCount, payload)
  }
  await nats.drain()
  return (nats.process.cpuSeconds() - cpuBefore) * 1e6
}
