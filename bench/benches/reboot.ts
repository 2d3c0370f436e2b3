// Measures a reboot from the HTTP request to the message at one of 5,000 devices; the baseline is publish to subscriber on bare aedes.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { downTopic, upTopic } from '../../src/contract/device/protocol.ts'
import { copyFilledFolder } from '../fixture/data-folders.ts'
import { deliverOneByOne } from '../load/deliver-one-by-one.ts'
import { HttpLoad, makeRequest } from '../load/http-load.ts'
import { type ListeningDevice, MqttFleet, requireOpenFiles } from '../load/mqtt-fleet.ts'
import { type Contender, cpuRow, measureInTurns, type Round } from '../measure/comparison.ts'
import { type Row, ratioByRound, summarise } from '../measure/figures.ts'
import type { Bench, BenchOptions } from '../options.ts'
import { bareBrokerName, type RunningBroker, startBareBroker, startMosquitto } from '../servers/brokers.ts'
import { type DataFolder, startServerOn } from '../servers/roomkeeper.ts'

const deviceCount = 5000
const concurrency = 100
/** This payload is as long as the command that our server sends to a device. */
const command = JSON.stringify({
  id: '0b0f3c52-6d3c-4c3e-8c55-0d5b5f0e8f10',
  type: 'REBOOT',
  deadline: '2026-05-04T08:20:30.000Z',
})

export const reboot: Bench = async (options) => {
  const { quick, profiles, cleanup } = options
  // All three servers have all devices at the same time.
  requireOpenFiles(3 * deviceCount)
  const folder = await copyFilledFolder(cleanup, deviceCount)
  const mosquitto = await startMosquitto(cleanup)
  const ours = await startOurs(options, folder)
  const contenders = [
    ours,
    await makeBrokerContender(options, folder, await startBareBroker(cleanup, profiles.nodeFlags(bareBrokerName))),
    ...(mosquitto ? [await makeBrokerContender(options, folder, mosquitto)] : []),
  ]
  for (const { send } of contenders) await send(quick ? 100 : 300)
  const results: Round[][] = contenders.map(() => [])
  let acknowledged = 0
  for (let round = 0; round < (quick ? 2 : 7); round++) {
    const measured = await measureInTurns(contenders, { rounds: 1, count: quick ? 200 : 500, profiles })
    for (const [i, rounds] of results.entries()) rounds.push(...(measured[i] ?? []))
    // Without acknowledgement the server would repeat its commands, and the repetition would be measured too.
    acknowledged = await ours.acknowledge()
  }
  for (const contender of contenders) await contender.process.stop()
  expectAcknowledged(folder, acknowledged)
  const title = `reboot with ${deviceCount.toLocaleString('en')} connected devices`
  const latencyRow = (name: string, value: (round: Round) => number): Row => {
    const [oursMs = [], baselineMs = [], ...peers] = results.map((rounds) => rounds.map(value))
    return {
      title: `${title}: request to message, ${name}`,
      unit: 'ms',
      ours: summarise(oursMs),
      baseline: { name: `${bareBrokerName}, publish to subscriber`, figure: summarise(baselineMs) },
      ratio: ratioByRound(oursMs, baselineMs),
      peers: peers.map((peerMs, i) => ({
        name: contenders[i + 2]?.name ?? '',
        figure: summarise(peerMs),
        ratio: ratioByRound(peerMs, baselineMs),
      })),
    }
  }
  return [
    latencyRow('p50', ({ p50Ms }) => p50Ms),
    latencyRow('p99', ({ p99Ms }) => p99Ms),
    cpuRow(title, contenders, results),
  ]
}

/** Connects all devices. Each call of `take` returns devices that were not returned before. */
async function connectFleet({ cleanup }: BenchOptions, port: number, folder: DataFolder) {
  const fleet = new MqttFleet(port, folder.devices)
  cleanup.add(() => fleet.drop())
  await fleet.connect(deviceCount, concurrency)
  let taken = 0
  return {
    fleet,
    take(count: number): readonly ListeningDevice[] {
      if (taken + count > deviceCount) throw new Error(`The rounds need more than ${deviceCount} devices.`)
      taken += count
      return fleet.devices.slice(taken - count, taken)
    },
  }
}

interface OurContender extends Contender {
  /** Every device acknowledges its command. Returns the number of acknowledgements until now. */
  acknowledge(): Promise<number>
}

async function startOurs(options: BenchOptions, folder: DataFolder): Promise<OurContender> {
  const { cleanup, profiles } = options
  const { org, key } = folder
  const server = await startServerOn(cleanup, folder, profiles.nodeFlags('ours'))
  const http = await HttpLoad.connect(server.url, 1)
  cleanup.add(() => http.close())
  const { fleet, take } = await connectFleet(options, server.mqttPort, folder)
  const delivered = new Map<ListeningDevice, string>()
  const rebootDevice = ({ identity }: ListeningDevice) =>
    http.send(1, makeRequest('POST', `/v1/orgs/${org}/endpoints/${identity.id}/reboot`, { key }))
  let acknowledged = 0
  return {
    name: 'ours',
    process: server.process,
    send: (count) =>
      deliverOneByOne(fleet, take(count), rebootDevice, (device, payload) =>
        delivered.set(device, JSON.parse(payload).id),
      ),
    async acknowledge() {
      for (const [device, id] of delivered) {
        await device.publish(upTopic(device.identity.id, 'operation'), JSON.stringify({ id, state: 'ACKNOWLEDGED' }))
      }
      acknowledged += delivered.size
      delivered.clear()
      return acknowledged
    },
  }
}

async function makeBrokerContender(
  options: BenchOptions,
  folder: DataFolder,
  broker: RunningBroker,
): Promise<Contender> {
  const { fleet, take } = await connectFleet(options, broker.port, folder)
  const publishers = new MqttFleet(broker.port, [{ id: 'publisher', credential: 'none' }])
  options.cleanup.add(() => publishers.drop())
  await publishers.connect(1, 1)
  const [publisher] = publishers.devices
  const publishTo = async ({ identity }: ListeningDevice) =>
    publisher?.publish(downTopic(identity.id, 'operation'), command)
  return {
    name: broker.name,
    process: broker.process,
    send: (count) => deliverOneByOne(fleet, take(count), publishTo),
  }
}

/** Every command must be in the database, acknowledged. */
function expectAcknowledged({ dataDir }: DataFolder, count: number): void {
  const db = new Database(join(dataDir, 'roomkeeper.db'), { readonly: true })
  const states = db.prepare('select type, state, count(*) as count from operations group by type, state').all()
  db.close()
  const expected = JSON.stringify([{ type: 'REBOOT', state: 'ACKNOWLEDGED', count }])
  if (JSON.stringify(states) !== expected) {
    throw new Error(`The stored commands are ${JSON.stringify(states)} instead of ${expected}.`)
  }
}
