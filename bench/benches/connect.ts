// Measures devices that connect, subscribe and disconnect; the baseline is aedes that accepts every login and stores nothing.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { copyFilledFolder } from '../fixture/data-folders.ts'
import { MqttFleet, requireOpenFiles } from '../load/mqtt-fleet.ts'
import { type Contender, cpuRow, generatorRow, measureInTurns, type Round } from '../measure/comparison.ts'
import { type Row, ratioByRound, summarise } from '../measure/figures.ts'
import type { Bench, BenchOptions } from '../options.ts'
import { bareBrokerName, startBareBroker, startMosquitto } from '../servers/brokers.ts'
import { type DataFolder, startServerOn } from '../servers/roomkeeper.ts'
import { measureIdleDevices } from './idle-devices.ts'

const deviceCount = 5000
/** So many connections fit into the queue of every listening socket here. */
const concurrency = 100
const devicesPerRound = 2000
const devicesPerQuickRound = 1000
const disconnectTimeoutMs = 10_000
const disconnectPollMs = 5

export const connect: Bench = async (options) => {
  // Either all three servers have a round's devices at the same time, or one server has all devices.
  requireOpenFiles(Math.max(3 * devicesPerRound, deviceCount))
  const folder = await copyFilledFolder(options.cleanup, deviceCount)
  return [...(await measureConnects(options, folder)), ...(await measureIdleDevices(options, folder))]
}

async function measureConnects(options: BenchOptions, folder: DataFolder): Promise<Row[]> {
  const { quick, profiles } = options
  const contenders = await startContenders(options, folder)
  const count = quick ? devicesPerQuickRound : devicesPerRound
  const rounds: Round[][] = contenders.map(() => [])
  const disconnectMicros: number[][] = contenders.map(() => [])
  // Round 0 only warms up.
  for (let round = 0; round <= (quick ? 2 : 7); round++) {
    const measured = await measureInTurns(contenders, { rounds: 1, count, profiles })
    await waitForConnected(folder, count)
    for (const [i, { process: subprocess, fleet, name }] of contenders.entries()) {
      const secondsBefore = subprocess.cpuSeconds()
      await fleet.disconnect()
      if (name === 'ours') await waitForConnected(folder, 0)
      if (round === 0) continue
      rounds[i]?.push(...(measured[i] ?? []))
      disconnectMicros[i]?.push(((subprocess.cpuSeconds() - secondsBefore) * 1e6) / count)
    }
  }
  for (const contender of contenders) await contender.process.stop()
  const title = 'connect and subscribe'
  const [ours = [], baseline = [], ...peers] = disconnectMicros
  return [
    cpuRow(title, contenders, rounds, 1.5),
    {
      title: 'disconnect',
      unit: 'µs CPU',
      ours: summarise(ours),
      baseline: { name: bareBrokerName, figure: summarise(baseline) },
      ratio: ratioByRound(ours, baseline),
      peers: peers.map((micros, i) => ({
        name: contenders[i + 2]?.name ?? '',
        figure: summarise(micros),
        ratio: ratioByRound(micros, baseline),
      })),
    },
    generatorRow(title, contenders, rounds),
  ]
}

interface MqttContender extends Contender {
  readonly fleet: MqttFleet
}

/** Starts our server, the baseline and mosquitto if it is available, each with a fleet of its own. */
async function startContenders({ cleanup, profiles }: BenchOptions, folder: DataFolder): Promise<MqttContender[]> {
  const server = await startServerOn(cleanup, folder, profiles.nodeFlags('ours'))
  const mosquitto = await startMosquitto(cleanup)
  const servers = [
    { name: 'ours', process: server.process, port: server.mqttPort },
    await startBareBroker(cleanup, profiles.nodeFlags(bareBrokerName)),
    ...(mosquitto ? [mosquitto] : []),
  ]
  return servers.map(({ name, process, port }) => {
    const fleet = new MqttFleet(port, folder.devices)
    cleanup.add(() => fleet.drop())
    return { name, process, fleet, send: (count) => fleet.connect(count, concurrency) }
  })
}

/** Reads the database directly: a CONNACK means that the connection is stored; a disconnect may be stored a little later. */
async function waitForConnected({ dataDir }: DataFolder, expected: number): Promise<void> {
  const db = new Database(join(dataDir, 'roomkeeper.db'), { readonly: true })
  const connected = db
    .prepare('select count(*) from endpoints e join nodes d on d.id = e.node_id where d.state = ?')
    .pluck()
    .bind('up')
  const deadline = performance.now() + (expected === 0 ? disconnectTimeoutMs : 0)
  while (connected.get() !== expected) {
    if (performance.now() > deadline) {
      throw new Error(`${connected.get()} endpoints are connected instead of ${expected}.`)
    }
    await sleep(disconnectPollMs)
  }
  db.close()
}
