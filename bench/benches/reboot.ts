// A reboot, from the HTTP request to the message at one of 5,000 connected devices, beside publish to subscriber on aedes alone.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { downTopic, upTopic } from '../../src/contract/device.ts'
import type { Bench, BenchOptions } from '../bench.ts'
import { filledFolder } from '../fixture/data-folders.ts'
import { HttpLoad, requestOf } from '../load/http-load.ts'
import { expectRoomFor, Fleet, type Listener } from '../load/mqtt-fleet.ts'
import { costLine, type Round, type Run, type Side, takeTurns } from '../measure/comparison.ts'
import { figure, type Line, ratios } from '../measure/figures.ts'
import { bareName, type RunningBroker, startBare, startMosquitto } from '../servers/brokers.ts'
import { type Housed, serveHouse } from '../servers/filled-server.ts'

const devices = 5000
const atOnce = 100
/** As long as the command that a device gets from us. */
const command = JSON.stringify({
  id: '0b0f3c52-6d3c-4c3e-8c55-0d5b5f0e8f10',
  type: 'REBOOT',
  deadline: '2026-05-04T08:20:30.000Z',
})

export const reboot: Bench = async (options) => {
  const { quick, profiles } = options
  // Of all three sides.
  expectRoomFor(3 * devices)
  const house = await filledFolder(options.ending, devices)
  const mosquitto = await startMosquitto(options.ending)
  const ours = await openOurs(options, house)
  const sides = [
    ours,
    await openBroker(options, house, await startBare(options.ending, profiles.flags(bareName))),
    ...(mosquitto ? [await openBroker(options, house, mosquitto)] : []),
  ]
  for (const { send } of sides) await send(quick ? 100 : 300)
  const done: Round[][] = sides.map(() => [])
  let acknowledged = 0
  for (let round = 0; round < (quick ? 2 : 7); round++) {
    const one = await takeTurns(sides, { rounds: 1, count: quick ? 200 : 500, profiles })
    for (const [i, rounds] of done.entries()) rounds.push(...(one[i] ?? []))
    // Otherwise the server would say it again, and that would be counted.
    acknowledged = await ours.acknowledge()
  }
  for (const { child } of sides) await child.stop()
  expectAcknowledged(house, acknowledged)
  const what = `a reboot, ${devices.toLocaleString('en')} devices connected`
  const latency = (name: 'p50' | 'p99'): Line => {
    const [mine = [], limit = [], ...peers] = done.map((rounds) => rounds.map((round) => round[name]))
    return {
      what: `${what}: request to message, ${name}`,
      unit: 'ms',
      isQuoted: true,
      ours: figure(mine),
      limit: { name: `${bareName}, publish to subscriber`, figure: figure(limit) },
      ratio: ratios(mine, limit),
      peers: peers.map((some, i) => ({
        name: sides[i + 2]?.name ?? '',
        figure: figure(some),
        ratio: ratios(some, limit),
      })),
    }
  }
  return [latency('p50'), latency('p99'), costLine(what, sides, done)]
}

/** Asks for each device, one after the other; it is done when the device has its message and whoever asked an answer. */
async function oneByOne(
  fleet: Fleet,
  devices: readonly Listener[],
  ask: (device: Listener) => Promise<unknown>,
  onHeard: (device: Listener, payload: string) => void = () => {},
): Promise<Run> {
  const latencies: number[] = []
  const started = performance.now()
  for (const device of devices) {
    const at = performance.now()
    const message = new Promise<void>((resolve, reject) => {
      fleet.onMessage = (from, bytes) => {
        latencies.push(performance.now() - at)
        const payload = bytes.toString()
        onHeard(from, payload)
        if (from === device && payload.includes('REBOOT')) resolve()
        else reject(new Error(`another message came: ${payload}`))
      }
    })
    await Promise.all([message, ask(device)])
  }
  return { latencies: Float64Array.from(latencies), seconds: (performance.now() - started) / 1000 }
}

/** Everybody connected; each call takes as many devices as are asked for, nobody twice. */
async function gather({ ending }: BenchOptions, port: number, house: Housed) {
  const fleet = new Fleet(port, house.devices)
  ending.add(() => fleet.drop())
  await fleet.join(devices, atOnce)
  let taken = 0
  return {
    fleet,
    take(count: number): readonly Listener[] {
      if (taken + count > devices) throw new Error('there are not so many devices')
      taken += count
      return fleet.devices.slice(taken - count, taken)
    },
  }
}

interface Ours extends Side {
  /** Every device says that it has heard what it was told; how many there were until now. */
  acknowledge(): Promise<number>
}

async function openOurs(options: BenchOptions, house: Housed): Promise<Ours> {
  const { ending, profiles } = options
  const { org, key } = house
  const { child, url, mqttPort } = await serveHouse(ending, house, profiles.flags('ours'))
  const http = await HttpLoad.connect(url, 1)
  ending.add(() => http.close())
  const { fleet, take } = await gather(options, mqttPort, house)
  const heard = new Map<Listener, string>()
  const ask = ({ identity }: Listener) =>
    http.send(1, requestOf('POST', `/v1/orgs/${org}/endpoints/${identity.id}/reboot`, { key }))
  let acknowledged = 0
  return {
    name: 'ours',
    child,
    send: (count) => oneByOne(fleet, take(count), ask, (device, payload) => heard.set(device, JSON.parse(payload).id)),
    async acknowledge() {
      for (const [device, id] of heard) {
        await device.publish(upTopic(device.identity.id, 'operation'), JSON.stringify({ id, state: 'ACKNOWLEDGED' }))
      }
      acknowledged += heard.size
      heard.clear()
      return acknowledged
    },
  }
}

async function openBroker(options: BenchOptions, house: Housed, broker: RunningBroker): Promise<Side> {
  const { fleet, take } = await gather(options, broker.port, house)
  const publishers = new Fleet(broker.port, [{ id: 'publisher', credential: 'none' }])
  options.ending.add(() => publishers.drop())
  await publishers.join(1, 1)
  const [publisher] = publishers.devices
  const ask = async ({ identity }: Listener) => publisher?.publish(downTopic(identity.id, 'operation'), command)
  return { name: broker.name, child: broker.child, send: (count) => oneByOne(fleet, take(count), ask) }
}

/** Otherwise the figures are of something else. */
function expectAcknowledged({ dataDir }: Housed, count: number): void {
  const db = new Database(join(dataDir, 'roomkeeper.db'), { readonly: true })
  const states = db.prepare('select type, state, count(*) as count from operations group by type, state').all()
  db.close()
  const wanted = JSON.stringify([{ type: 'REBOOT', state: 'ACKNOWLEDGED', count }])
  if (JSON.stringify(states) !== wanted) throw new Error(`operations are ${JSON.stringify(states)}, not ${wanted}`)
}
