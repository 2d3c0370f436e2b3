// A QoS 1 sample from socket to commit to PUBACK, beside a bare broker that says yes to everything and stores nothing.
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import type { Bench } from './bench.ts'
import { Child } from './child.ts'
import { atMost, figure, interleave, type Line, percentile, ratios } from './figures.ts'
import { Load, type Times } from './mqtt-load.ts'
import { enrolDevices, startServer } from './server.ts'

const fleet = 500
const bareBroker = fileURLToPath(new URL('./bare/broker.ts', import.meta.url))

/** As far apart as a device's samples usually are, in seconds. */
const apart = 30
/**
 * From twenty days ago on, one after the other: the clock of the machine could not be hurried. Their quarters are over, so
 * rollups follow soon; they are counted for themselves.
 */
const catchingUp = (): Times => {
  const start = Math.floor(Date.now() / 1000) - 20 * 86_400
  return (n) => start + apart * n
}

/** What one side did in one round. */
interface Round {
  /** CPU seconds of the server, and of who sends. */
  readonly server: number
  readonly sender: number
  readonly seconds: number
  readonly latencies: readonly number[]
}

class Side {
  readonly child: Child
  readonly load: Load
  readonly rounds: Round[] = []

  constructor(child: Child, load: Load) {
    this.child = child
    this.load = load
  }

  async send(each: number): Promise<Round> {
    const before = this.child.cpu()
    const own = process.cpuUsage()
    const { latencies, seconds } = await this.load.send(each)
    const server = this.child.cpu() - before
    const { user, system } = process.cpuUsage(own)
    return { server, sender: (user + system) / 1e6, seconds, latencies: [...latencies] }
  }
}

const together = (slices: readonly Round[]): Round => ({
  server: slices.reduce((sum, slice) => sum + slice.server, 0),
  sender: slices.reduce((sum, slice) => sum + slice.sender, 0),
  seconds: slices.reduce((sum, slice) => sum + slice.seconds, 0),
  latencies: slices.flatMap((slice) => slice.latencies),
})

export const ingest: Bench = async ({ quick, profiles, ending }) => {
  const rounds = quick ? 3 : 7
  /** Both sides take turns within a round too: what else the machine does weighs on both. */
  const slices = 4
  const each = quick ? 12 : 20
  const warmUp = 60

  const dataDir = ending.folder()
  const server = await startServer(dataDir, profiles.flags('ours'))
  ending.add(() => server.child.stop())
  const devices = await enrolDevices(server, fleet)
  const broker = new Child('the bare broker', [...profiles.flags('bare aedes'), bareBroker])
  ending.add(() => broker.stop())
  const [, brokerPort] = await broker.printed(/listening on (\d+)/)
  const times = catchingUp()
  const sideOf = async (child: Child, port: number) => {
    const load = await Load.connect(port, devices, times)
    ending.add(() => load.close())
    await load.send(warmUp)
    return new Side(child, load)
  }
  const ours = await sideOf(server.child, server.mqttPort)
  const bare = await sideOf(broker, Number(brokerPort))

  const rollups: number[] = []
  await untilRolledUp(dataDir)
  for (let round = 0; round < rounds; round++) {
    const before = server.child.cpu()
    const done = await interleave(
      slices,
      () => profiles.during('ours', () => ours.send(each)),
      () => profiles.during('bare aedes', () => bare.send(each)),
    )
    const [of, beside] = [together(done.ours), together(done.limit)]
    ours.rounds.push(of)
    bare.rounds.push(beside)
    await untilRolledUp(dataDir)
    rollups.push(((server.child.cpu() - before - of.server) * 1e6) / of.latencies.length)
  }
  await server.child.stop()
  await broker.stop()
  expectStored(dataDir, (warmUp + rounds * slices * each) * fleet)
  return lines(ours.rounds, bare.rounds, rollups)
}

function lines(ours: readonly Round[], bare: readonly Round[], rollups: readonly number[]): Line[] {
  const line = (what: string, unit: string, value: (round: Round) => number) => ({
    what,
    unit,
    ours: figure(ours.map(value)),
    limit: { name: 'bare aedes', figure: figure(bare.map(value)) },
    ratio: ratios(ours.map(value), bare.map(value)),
  })
  const microseconds = (seconds: number, { latencies }: Round) => (seconds * 1e6) / latencies.length
  const cost = line(`server CPU of a durable QoS 1 sample, ${fleet} devices`, 'µs', (r) => microseconds(r.server, r))
  const rollup = `server CPU of rollups afterwards, for one sample, one every ${apart} s`
  return [
    { ...cost, goal: atMost(cost.ratio, 1.6) },
    { what: rollup, unit: 'µs', ours: figure(rollups) },
    line('samples a second', '/s', (r) => r.latencies.length / r.seconds),
    line('PUBACK after, p50', 'ms', (r) => percentile(r.latencies, 0.5)),
    line('PUBACK after, p99', 'ms', (r) => percentile(r.latencies, 0.99)),
    line('CPU of who sends, for one sample', 'µs', (r) => microseconds(r.sender, r)),
  ]
}

/** Looks into the database from outside: the job that makes rollups comes every ten seconds, and then a round has peace. */
async function untilRolledUp(dataDir: string): Promise<void> {
  const db = new Database(join(dataDir, 'roomkeeper.db'), { readonly: true })
  const due = db.prepare('SELECT 1 FROM sample_due LIMIT 1')
  const deadline = performance.now() + 60_000
  while (due.get() !== undefined) {
    if (performance.now() > deadline) throw new Error('rollups are not made')
    await pause(100)
  }
  db.close()
}

/** What was acknowledged is there: otherwise the figures are of something else. */
function expectStored(dataDir: string, count: number): void {
  const db = new Database(join(dataDir, 'roomkeeper.db'), { readonly: true })
  const { stored } = db.prepare('select count(*) as stored from samples').get() as { stored: number }
  db.close()
  if (stored !== count) throw new Error(`${count} samples were acknowledged, ${stored} are stored`)
}
