// Measures the sample store without MQTT; the baseline is a loop that writes the same rows with better-sqlite3.

import type { DeviceSample } from '../../src/contract/device/protocol.ts'
import type { Services } from '../../src/server/context/services.ts'
import type { EventPublisher } from '../../src/server/events/publisher.ts'
import { SampleIntake } from '../../src/server/sensors/ingest/intake.ts'
import { LatestSampleCache } from '../../src/server/sensors/latest/cache.ts'
import { Horizon } from '../../src/server/sensors/rollups/horizon.ts'
import { rollUp } from '../../src/server/sensors/rollups/roll-up.ts'
import { type BareRow, BareStore } from '../bare/store.ts'
import { fillEndpoints, makeBenchSample } from '../fixture/samples.ts'
import { withServices } from '../fixture/services.ts'
import { atLeast, interleave, type Row, ratioByRound, summarise } from '../measure/figures.ts'
import type { Bench, BenchOptions } from '../options.ts'
import { enrolDevices, startServer } from '../servers/roomkeeper.ts'

const samplesPerBatch = 500
/** At this interval a slot of a quarter of an hour has thirty samples. */
const sampleIntervalSeconds = 30
const slotSeconds = 900

export const store: Bench = async (options) => {
  const dataDir = options.cleanup.tempFolder()
  const server = await startServer(dataDir)
  options.cleanup.add(() => server.process.stop())
  await enrolDevices(server, 1)
  await server.process.stop()
  return withServices(dataDir, (services) => measureStore({ ...services, feed: noReaders }, options))
}

/** Publishes nothing, like a server without readers of events. The default of `withServices` would publish every event. */
const noReaders: EventPublisher = {
  forOrg: () => ({ isFollowed: () => false, publish: () => {} }),
  close: async () => {},
}

interface Measurement {
  /** Samples per second by the wall clock. */
  readonly perSecond: number
  /** CPU time of one sample. */
  readonly cpuMicros: number
}

async function measure(count: number, work: () => Promise<void>): Promise<Measurement> {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return { perSecond: (count * 1000) / (performance.now() - startedAt), cpuMicros: (user + system) / count }
}

async function measureStore(services: Services, { quick, cleanup }: BenchOptions): Promise<Row[]> {
  const rounds = quick ? 2 : 7
  const batches = quick ? 40 : 120
  const connections = await fillEndpoints(services, samplesPerBatch)
  const intake = new SampleIntake(services, new LatestSampleCache(services), new Horizon())
  const bare = new BareStore(cleanup.tempFolder())
  cleanup.add(() => bare.close())

  const start = Math.floor((Date.now() / 1000 - 20 * 86_400) / slotSeconds) * slotSeconds
  const batchAt = (n: number) =>
    connections.map(({ device }) => makeBenchSample(device.number, start + sampleIntervalSeconds * n))
  const batchesOf = (round: number) => Array.from({ length: batches }, (_, i) => batchAt(round * batches + i))

  const writeOurs = (round: number) => {
    const samples = batchesOf(round)
    return measure(batches * samplesPerBatch, async () => {
      for (const batch of samples) {
        await Promise.all(
          connections.map((connection, i) => intake.receive(connection, { samples: [batch[i] as DeviceSample] })),
        )
      }
    })
  }
  const writeBare = (round: number) => {
    const rows = batchesOf(round).map((batch) => batch.map((sample, i) => makeBareRow(i + 1, sample)))
    return measure(batches * samplesPerBatch, async () => {
      for (const batch of rows) bare.write(batch)
    })
  }
  // The first round only warms up.
  await writeOurs(0)
  await writeBare(0)
  await rollUp(services)
  const rollupMicros: number[] = []
  let [ourRound, bareRound] = [1, 1]
  const results = await interleave(
    rounds,
    async () => {
      const result = await writeOurs(ourRound++)
      rollupMicros.push((await measure(batches * samplesPerBatch, () => rollUp(services))).cpuMicros)
      return result
    },
    () => writeBare(bareRound++),
  )
  const stored = await services.db.system.kysely
    .selectFrom('samples')
    .select((e) => e.fn.countAll<number>().as('count'))
    .execute()
  if (stored[0]?.count !== bare.count()) {
    throw new Error(`${stored[0]?.count} samples are stored instead of ${bare.count()}.`)
  }
  const lateMicros = await measureLateSamples(
    services,
    (n) => connections.map((c) => intake.receive(c, { samples: [makeBenchSample(c.device.number, start + n)] })),
    rounds,
  )

  const makeRow = (title: string, unit: string, value: (m: Measurement) => number) => ({
    title,
    unit,
    ours: summarise(results.ours.map(value)),
    baseline: { name: 'bare better-sqlite3', figure: summarise(results.baseline.map(value)) },
    ratio: ratioByRound(results.ours.map(value), results.baseline.map(value)),
  })
  const throughput = makeRow(`samples written in batches of ${samplesPerBatch}`, 'per second', (m) => m.perSecond)
  return [
    { ...throughput, goal: atLeast(throughput.ratio, 0.5) },
    makeRow('sample written', 'µs CPU', (m) => m.cpuMicros),
    {
      title: `rollups per sample, one sample every ${sampleIntervalSeconds} s`,
      unit: 'µs CPU',
      ours: summarise(rollupMicros),
    },
    { title: 'rollups recomputed for one late sample', unit: 'µs CPU', ours: summarise(lateMicros) },
  ]
}

/** Sends samples into slots that are rolled up already and measures the rollups that follow. */
async function measureLateSamples(
  services: Services,
  send: (secondsAfterStart: number) => Promise<unknown>[],
  rounds: number,
): Promise<number[]> {
  const micros: number[] = []
  for (let round = 0; round < rounds; round++) {
    await Promise.all(send(round * slotSeconds + 1))
    micros.push((await measure(samplesPerBatch, () => rollUp(services))).cpuMicros)
  }
  return micros
}

const makeBareRow = (endpoint: number, s: DeviceSample): BareRow => [
  endpoint,
  s.timestamp,
  s.co2 ?? null,
  Math.round((s.humidity ?? 0) * 10),
  s.illumination ?? null,
  s.people ?? null,
  Math.round((s.temp ?? 0) * 10),
  s.voc ?? null,
  null,
  0,
]
