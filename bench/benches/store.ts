// The store alone, without the wire: samples checked and written in batches, beside a bare loop that writes the same rows.
import type { DeviceSample } from '../../src/contract/device.ts'
import type { Ground } from '../../src/platform/by.ts'
import { Horizon } from '../../src/resources/sensors/horizon.ts'
import { Intake } from '../../src/resources/sensors/intake.ts'
import { Latest } from '../../src/resources/sensors/latest.ts'
import { rollUp } from '../../src/resources/sensors/rollup.ts'
import { type BareRow, BareStore } from '../bare/store.ts'
import type { Bench, BenchOptions } from '../bench.ts'
import { fillEndpoints, sampleOf, withGround } from '../fixture/samples.ts'
import { atLeast, figure, interleave, type Line, ratios } from '../measure/figures.ts'
import { enrolDevices, startServer } from '../servers/roomkeeper.ts'

const fleet = 500
/** Seconds between two samples of an endpoint: thirty make a quarter. */
const apart = 30

export const store: Bench = async (options) => {
  const dataDir = options.ending.folder()
  const server = await startServer(dataDir)
  options.ending.add(() => server.child.stop())
  await enrolDevices(server, 1)
  await server.child.stop()
  return withGround(dataDir, (ground) => measure(ground, options))
}

interface Measured {
  /** Samples a second, by the clock. */
  readonly perSecond: number
  /** CPU microseconds for one. */
  readonly cpu: number
}

async function measured(count: number, work: () => Promise<void>): Promise<Measured> {
  const started = performance.now()
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return { perSecond: (count * 1000) / (performance.now() - started), cpu: (user + system) / count }
}

async function measure(ground: Ground, { quick, ending }: BenchOptions): Promise<Line[]> {
  const rounds = quick ? 2 : 7
  const batches = quick ? 40 : 120
  const sessions = await fillEndpoints(ground, fleet)
  const intake = new Intake(ground, new Latest(ground.db), new Horizon())
  const bare = new BareStore(ending.folder())
  ending.add(() => bare.close())

  const start = Math.floor((Date.now() / 1000 - 20 * 86_400) / 900) * 900
  const batchAt = (n: number) => sessions.map(({ device }) => sampleOf(device.number, start + apart * n))
  const batchesOf = (round: number) => Array.from({ length: batches }, (_, i) => batchAt(round * batches + i))

  const writeOurs = (round: number) => {
    const samples = batchesOf(round)
    return measured(batches * fleet, async () => {
      for (const batch of samples) {
        await Promise.all(
          sessions.map((session, i) => intake.receive(session, { samples: [batch[i] as DeviceSample] })),
        )
      }
    })
  }
  const writeBare = (round: number) => {
    const rows = batchesOf(round).map((batch) => batch.map((sample, i) => bareRow(i + 1, sample)))
    return measured(batches * fleet, async () => {
      for (const batch of rows) bare.write(batch)
    })
  }
  // The first round warms up.
  await writeOurs(0)
  await writeBare(0)
  await rollUp(ground)
  const rollups: number[] = []
  let [ourRound, bareRound] = [1, 1]
  const results = await interleave(
    rounds,
    async () => {
      const result = await writeOurs(ourRound++)
      rollups.push((await measured(batches * fleet, () => rollUp(ground))).cpu)
      return result
    },
    () => writeBare(bareRound++),
  )
  const stored = await ground.db.kysely
    .selectFrom('samples')
    .select((e) => e.fn.countAll<number>().as('count'))
    .execute()
  if (stored[0]?.count !== bare.count()) throw new Error(`${stored[0]?.count} samples are stored, not ${bare.count()}`)
  const late = await lateSamples(
    ground,
    (n) => sessions.map((s) => intake.receive(s, { samples: [sampleOf(s.device.number, start + n)] })),
    rounds,
  )

  const limitName = 'bare better-sqlite3'
  const both = (what: string, unit: string, value: (m: Measured) => number) => ({
    what,
    unit,
    ours: figure(results.ours.map(value)),
    limit: { name: limitName, figure: figure(results.limit.map(value)) },
    ratio: ratios(results.ours.map(value), results.limit.map(value)),
  })
  const speed = both(`samples written a second, batches of ${fleet}`, '/s', (m) => m.perSecond)
  return [
    { ...speed, goal: atLeast(speed.ratio, 0.5) },
    both('CPU of writing one sample', 'µs', (m) => m.cpu),
    { what: `CPU of rollups for one sample, one every ${apart} s`, unit: 'µs', ours: figure(rollups) },
    { what: 'CPU of rollups made anew for one late sample', unit: 'µs', ours: figure(late) },
  ]
}

/** Between the others, in quarters that are rolled up already. */
async function lateSamples(ground: Ground, send: (n: number) => Promise<unknown>[], rounds: number): Promise<number[]> {
  const costs: number[] = []
  for (let round = 0; round < rounds; round++) {
    await Promise.all(send(round * 900 + 1))
    costs.push((await measured(fleet, () => rollUp(ground))).cpu)
  }
  return costs
}

const bareRow = (endpoint: number, s: DeviceSample): BareRow => [
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
