// What a device that is connected and silent takes of the memory of a server, beside aedes alone.
import type { BenchOptions } from '../bench.ts'
import { Fleet } from '../load/mqtt-fleet.ts'
import { atMost, type Figure, figure, type Line, ratios } from '../measure/figures.ts'
import { bareName, startBare, startMosquitto } from '../servers/brokers.ts'
import { type Housed, serveHouse } from '../servers/filled-server.ts'
import type { Child } from '../servers/subprocess.ts'

/** Devices, when memory is looked at and when it is looked at again: what lies between is of devices alone. */
const full = { few: 1000, many: 5000 } as const
const quickly = { few: 500, many: 2500 } as const
type Numbers = typeof full | typeof quickly
const atOnce = 100

const collect = ['--import', new URL('../preload/garbage-collection.ts', import.meta.url).pathname]

interface Subject {
  readonly name: string
  readonly child: Child
  readonly port: number
}

interface Held {
  /** KiB for one more device. */
  readonly each: number
  /** MiB of the process with all of them, and with whatever garbage there is. */
  readonly all: number
}

export async function idle(options: BenchOptions, house: Housed): Promise<Line[]> {
  const numbers = options.quick ? quickly : full
  const held = new Map<string, Held[]>()
  for (let round = 0; round < (options.quick ? 1 : 5); round++) {
    for (const subject of await start(options, house)) {
      held.set(subject.name, [...(held.get(subject.name) ?? []), await hold(options, subject, house, numbers)])
    }
  }
  const line = (what: string, unit: string, of: (held: Held) => number): Line & { ratio: Figure } => {
    const [ours = [], limit = [], ...peers] = [...held.values()].map((some) => some.map(of))
    const names = [...held.keys()].slice(2)
    return {
      what,
      unit,
      ours: figure(ours),
      limit: { name: bareName, figure: figure(limit) },
      ratio: ratios(ours, limit),
      peers: peers.map((some, i) => ({
        name: names[i] ?? '',
        figure: figure(some),
        ratio: ratios(some, limit),
      })),
    }
  }
  const one = line('memory of an idle device', 'KiB', ({ each }) => each)
  const crowd = `a process with ${numbers.many.toLocaleString('en')} idle devices`
  return [{ ...one, goal: atMost(one.ratio, 1.5) }, line(crowd, 'MiB', ({ all }) => all)]
}

/** New processes: in what others have left behind there is room for these devices. */
async function start({ ending }: BenchOptions, house: Housed): Promise<Subject[]> {
  const [server, bare, mosquitto] = await Promise.all([
    serveHouse(ending, house, collect),
    startBare(ending, collect),
    startMosquitto(ending),
  ])
  return [{ name: 'ours', child: server.child, port: server.mqttPort }, bare, ...(mosquitto ? [mosquitto] : [])]
}

async function hold(
  { ending }: BenchOptions,
  { name, child, port }: Subject,
  { devices }: Housed,
  { few, many }: Numbers,
): Promise<Held> {
  const fleet = new Fleet(port, devices)
  ending.add(() => fleet.drop())
  // What Node has not collected yet belongs to no device.
  const settle = async () => {
    if (name === 'mosquitto') return
    child.signal('SIGUSR2')
    await child.printed(/collected/)
  }
  await fleet.join(few, atOnce)
  await settle()
  const before = child.memory()
  await fleet.join(many - few, atOnce)
  const all = child.memory() / 2 ** 20
  await settle()
  const each = (child.memory() - before) / (many - few) / 1024
  fleet.drop()
  await child.stop()
  return { each, all }
}
