// A device connects and subscribes, and says goodbye, beside aedes alone that says yes to everybody and stores nothing.
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { Bench, BenchOptions } from '../bench.ts'
import { filledFolder } from '../fixture/data-folders.ts'
import { expectRoomFor, Fleet } from '../load/mqtt-fleet.ts'
import { costLine, type Round, type Side, senderLine, takeTurns } from '../measure/comparison.ts'
import { figure, type Line, ratios } from '../measure/figures.ts'
import { bareName, startBare, startMosquitto } from '../servers/brokers.ts'
import { type Housed, serveHouse } from '../servers/filled-server.ts'
import { idle } from './idle-devices.ts'

const devices = 5000
/** On their way at the same time: so many fit into the queue of every listening socket here. */
const atOnce = 100
/** Of a round. */
const [full, quickly] = [2000, 1000]

export const connect: Bench = async (options) => {
  // Of all three sides at once, or of one with everybody.
  expectRoomFor(Math.max(3 * full, devices))
  const house = await filledFolder(options.ending, devices)
  return [...(await comeAndGo(options, house)), ...(await idle(options, house))]
}

async function comeAndGo(options: BenchOptions, house: Housed): Promise<Line[]> {
  const { quick, profiles } = options
  const sides = await open(options, house)
  const count = quick ? quickly : full
  const rounds: Round[][] = sides.map(() => [])
  const goodbyes: number[][] = sides.map(() => [])
  // The first round is for warming up.
  for (let round = 0; round <= (quick ? 2 : 7); round++) {
    const one = await takeTurns(sides, { rounds: 1, count, profiles })
    await untilPresent(house, count)
    for (const [i, { child, fleet, name }] of sides.entries()) {
      const before = child.cpu()
      await fleet.leave()
      if (name === 'ours') await untilPresent(house, 0)
      if (round === 0) continue
      rounds[i]?.push(...(one[i] ?? []))
      goodbyes[i]?.push(((child.cpu() - before) * 1e6) / count)
    }
  }
  for (const { child } of sides) await child.stop()
  const what = 'connect and subscribe'
  const [ours = [], limit = [], ...peers] = goodbyes
  return [
    costLine(what, sides, rounds, 1.5),
    {
      what: 'the goodbye of a device',
      unit: 'µs CPU',
      ours: figure(ours),
      limit: { name: bareName, figure: figure(limit) },
      ratio: ratios(ours, limit),
      peers: peers.map((costs, i) => ({
        name: sides[i + 2]?.name ?? '',
        figure: figure(costs),
        ratio: ratios(costs, limit),
      })),
    },
    senderLine(what, sides, rounds),
  ]
}

interface Wire extends Side {
  readonly fleet: Fleet
}

/** Ours, the limit, and who else can be had, each with a fleet of its own. */
async function open({ ending, profiles }: BenchOptions, house: Housed): Promise<Wire[]> {
  const server = await serveHouse(ending, house, profiles.flags('ours'))
  const mosquitto = await startMosquitto(ending)
  const all = [
    { name: 'ours', child: server.child, port: server.mqttPort },
    await startBare(ending, profiles.flags(bareName)),
    ...(mosquitto ? [mosquitto] : []),
  ]
  return all.map(({ name, child, port }) => {
    const fleet = new Fleet(port, house.devices)
    ending.add(() => fleet.drop())
    return { name, child, fleet, send: (count) => fleet.join(count, atOnce) }
  })
}

/** Looks into the database from outside: whoever has a CONNACK is there, and soon nobody who left. */
async function untilPresent({ dataDir }: Housed, wanted: number): Promise<void> {
  const db = new Database(join(dataDir, 'roomkeeper.db'), { readonly: true })
  const present = db.prepare('select count(*) from endpoints where connected = 1').pluck()
  const deadline = performance.now() + (wanted === 0 ? 10_000 : 0)
  while (present.get() !== wanted) {
    if (performance.now() > deadline) throw new Error(`${present.get()} endpoints are connected, not ${wanted}`)
    await pause(5)
  }
  db.close()
}
