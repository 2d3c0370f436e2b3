// Measures the memory that a server needs for a connected, silent device; the baseline is bare aedes.
import { fileURLToPath } from 'node:url'
import { MqttFleet } from '../load/mqtt-fleet.ts'
import { atMost, type Figure, type Row, ratioByRound, summarise } from '../measure/figures.ts'
import type { BenchOptions } from '../options.ts'
import { bareBrokerName, type RunningBroker, startBareBroker, startMosquitto } from '../servers/brokers.ts'
import { type DataFolder, startServerOn } from '../servers/roomkeeper.ts'

/** Memory is read with `few` and with `many` devices; the difference belongs to the devices alone. */
const fullCounts = { few: 1000, many: 5000 } as const
const quickCounts = { few: 500, many: 2500 } as const
type DeviceCounts = typeof fullCounts | typeof quickCounts
const concurrency = 100

const collectOnSignal = ['--import', fileURLToPath(new URL('../preload/garbage-collection.ts', import.meta.url))]

interface Memory {
  /** Growth for one device, after garbage collection. */
  readonly perDeviceKiB: number
  /** Resident memory of the process with all devices, garbage included. */
  readonly processMiB: number
}

export async function measureIdleDevices(options: BenchOptions, folder: DataFolder): Promise<Row[]> {
  const counts = options.quick ? quickCounts : fullCounts
  const results = new Map<string, Memory[]>()
  for (let round = 0; round < (options.quick ? 1 : 5); round++) {
    for (const broker of await startServers(options, folder)) {
      const memory = await measureMemory(options, broker, folder, counts)
      results.set(broker.name, [...(results.get(broker.name) ?? []), memory])
    }
  }
  const makeRow = (title: string, unit: string, value: (memory: Memory) => number): Row & { ratio: Figure } => {
    const [ours = [], baseline = [], ...peers] = [...results.values()].map((rounds) => rounds.map(value))
    const peerNames = [...results.keys()].slice(2)
    return {
      title,
      unit,
      ours: summarise(ours),
      baseline: { name: bareBrokerName, figure: summarise(baseline) },
      ratio: ratioByRound(ours, baseline),
      peers: peers.map((values, i) => ({
        name: peerNames[i] ?? '',
        figure: summarise(values),
        ratio: ratioByRound(values, baseline),
      })),
    }
  }
  const perDevice = makeRow('memory per idle device', 'KiB', ({ perDeviceKiB }) => perDeviceKiB)
  const processTitle = `memory of a process with ${counts.many.toLocaleString('en')} idle devices`
  return [
    { ...perDevice, goal: atMost(perDevice.ratio, 1.5) },
    makeRow(processTitle, 'MiB', ({ processMiB }) => processMiB),
  ]
}

/** Starts new processes for each round, because a used process has free memory in its heap for more devices. */
async function startServers({ cleanup }: BenchOptions, folder: DataFolder): Promise<RunningBroker[]> {
  const [server, bare, mosquitto] = await Promise.all([
    startServerOn(cleanup, folder, collectOnSignal),
    startBareBroker(cleanup, collectOnSignal),
    startMosquitto(cleanup),
  ])
  return [{ name: 'ours', process: server.process, port: server.mqttPort }, bare, ...(mosquitto ? [mosquitto] : [])]
}

async function measureMemory(
  { cleanup }: BenchOptions,
  { name, process: subprocess, port }: RunningBroker,
  { devices }: DataFolder,
  { few, many }: DeviceCounts,
): Promise<Memory> {
  const fleet = new MqttFleet(port, devices)
  cleanup.add(() => fleet.drop())
  // Garbage that Node has not collected yet belongs to no device. Mosquitto has none.
  const collectGarbage = async () => {
    if (name === 'mosquitto') return
    subprocess.signal('SIGUSR2')
    await subprocess.waitForOutput(/collected/)
  }
  await fleet.connect(few, concurrency)
  await collectGarbage()
  const bytesBefore = subprocess.residentBytes()
  await fleet.connect(many - few, concurrency)
  const processMiB = subprocess.residentBytes() / 2 ** 20
  await collectGarbage()
  const perDeviceKiB = (subprocess.residentBytes() - bytesBefore) / (many - few) / 1024
  fleet.drop()
  await subprocess.stop()
  return { perDeviceKiB, processMiB }
}
