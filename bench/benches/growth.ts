// What the same work costs when there is more of everything, beside itself with the least.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { modelOf } from '../../src/contract/models.ts'
import type { Ground } from '../../src/platform/by.ts'
import { slots } from '../../src/resources/sensors/buckets.ts'
import { rowOf } from '../../src/resources/sensors/check.ts'
import { insertSamples, updateLatest, valuesOf } from '../../src/resources/sensors/store.ts'
import type { Bench, BenchOptions } from '../bench.ts'
import { type Filled, filledFolder } from '../fixture/data-folders.ts'
import { type House, houseModel } from '../fixture/organisation.ts'
import { sampleOf, withGround } from '../fixture/samples.ts'
import { requestOf } from '../load/http-load.ts'
import { Load } from '../load/mqtt-load.ts'
import type { Side } from '../measure/comparison.ts'
import { httpSide } from '../measure/http-comparison.ts'
import { growing, roundsOf } from '../measure/size-comparison.ts'
import { serveHouse } from '../servers/filled-server.ts'
import type { Server } from '../servers/roomkeeper.ts'
import { auditGrowth } from './growth-audit-log.ts'

const sizes = [1_000, 10_000, 100_000]
/** So many are connected and send, at every size, one message in flight each. */
const fleet = 200

interface Open {
  readonly name: string
  readonly filled: Filled
  readonly server: Server
}

export const growth: Bench = async (options) => {
  const { quick } = options
  const all: Open[] = []
  for (const size of sizes) all.push(await open(options, size))
  const reads = quick ? 2_000 : 12_000
  const endpoints = await asked(options, all, ({ devices }) => devices.map(({ id }) => `endpoints/${id}`))
  const lines = await growing('endpointsGet', endpoints, options, reads)
  const rooms = await asked(options, all, ({ rooms }) => rooms.map((id) => `rooms/${id}`))
  lines.push(...(await growing('roomsGet', rooms, options, reads)))
  lines.push(...(await samples(options, all)))
  for (const { server } of all) await server.child.stop()
  return [...lines, ...(await auditGrowth(options))]
}

async function open({ ending, profiles }: BenchOptions, size: number): Promise<Open> {
  const name = `${size.toLocaleString('en')} endpoints`
  const filled = await filledFolder(ending, size)
  await withGround(filled.dataDir, (ground) => fillLatest(ground, filled.house))
  const server = await serveHouse(ending, filled, profiles.flags(name))
  return { name, filled, server }
}

/** Everybody sent a sample an hour ago. */
async function fillLatest({ db }: Ground, { org, devices }: House): Promise<void> {
  const hourAgo = Math.floor(Date.now() / 1000) - 3600
  const model = modelOf(houseModel)
  const rows = devices.map((_, i) => ({ endpoint: i + 1, row: rowOf(sampleOf(i + 1, hourAgo), model) }))
  await db.telemetry(async (on) => {
    await insertSamples(
      on,
      rows.map(({ endpoint, row }) => valuesOf(row, org.key, slots.at(hourAgo), endpoint)),
    )
    await updateLatest(
      on,
      rows.map(({ endpoint, row }) => valuesOf(row, org.key, endpoint)),
    )
  })
}

/** In a quick run not all of a large house is asked for, but so many from all over it. */
const mostQuick = 2_000

/** Asks for everything in a house in turn, in no order that the database knows. All of it was asked for before. */
const asked = async (
  { quick, ending }: BenchOptions,
  all: readonly Open[],
  pathsOf: (house: House) => readonly string[],
): Promise<Side[]> => {
  const sides: Side[] = []
  // The largest first: its warm-up is so long that the server would end what others have open and do not use.
  for (const { name, filled, server } of all.toReversed()) {
    const { org, key, house } = filled
    const paths = shuffled(pathsOf(house)).slice(0, quick ? mostQuick : undefined)
    let next = 0
    const request = () => requestOf('GET', `/v1/orgs/${org}/${paths[next++ % paths.length]}`, { key })
    sides.push(
      await httpSide(ending, { ...server, name }, { request, warmUp: Math.max(paths.length, quick ? 2_000 : 20_000) }),
    )
  }
  return sides.toReversed()
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => [Math.random(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item)
}

async function samples(options: BenchOptions, all: readonly Open[]) {
  const { quick, ending } = options
  const warmUp = quick ? 15 : 40
  /** A second apart, in the present quarter or the one before: hardly any rollup comes between. */
  const start = Math.floor(Date.now() / 1000) - 600
  const sides: Side[] = []
  for (const { name, filled, server } of all) {
    const { devices } = filled.house
    // From all over the house, as those who happen to send.
    const senders = Array.from(
      { length: fleet },
      (_, i) => devices[(i * devices.length) / fleet] as (typeof devices)[0],
    )
    const load = await Load.connect(server.mqttPort, senders, (n) => start + n)
    ending.add(() => load.close())
    await load.send(warmUp)
    sides.push({ name, child: server.child, send: (count) => load.send(count / fleet) })
  }
  const [slices, each] = [4, quick ? 5 : 10]
  const lines = await growing('a durable QoS 1 sample', sides, options, slices * each * fleet)
  for (const { filled } of all) {
    expectSamples(filled, (warmUp + roundsOf(quick) * slices * each) * fleet)
  }
  return lines
}

/** What was acknowledged is there: otherwise the figures are of something else. */
function expectSamples({ dataDir, house }: Filled, sent: number): void {
  const db = new Database(join(dataDir, 'roomkeeper.db'), { readonly: true })
  const { stored } = db.prepare('select count(*) as stored from samples').get() as { stored: number }
  db.close()
  const expected = house.devices.length + sent
  if (stored !== expected) throw new Error(`${expected} samples were acknowledged, ${stored} are stored`)
}
