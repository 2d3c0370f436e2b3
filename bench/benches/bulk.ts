// The latest sample of 10,000 endpoints in one answer, beside JSON.stringify of the same answer.
import { fileURLToPath } from 'node:url'
import type { Bench } from '../bench.ts'
import type { Ending } from '../cleanup.ts'
import { fillEndpoints, withGround, writeSamples } from '../fixture/samples.ts'
import { type Answer, HttpClient } from '../load/http-client.ts'
import { type Identity, Load } from '../load/mqtt-load.ts'
import type { Round } from '../measure/comparison.ts'
import { figure, type Line } from '../measure/figures.ts'
import { oneByOne, Stringified } from '../measure/long-answers.ts'
import { enrolDevices, type Server, startServer } from '../servers/roomkeeper.ts'

const endpoints = 10_000
/** Of these, so many are connected and send a sample before every request, in one of the variants. */
const fleet = 100
const file = (name: string) => fileURLToPath(new URL(name, import.meta.url))

interface House {
  readonly dataDir: string
  readonly org: string
  readonly key: string
  readonly devices: readonly Identity[]
}

export const bulk: Bench = async ({ quick, profiles, ending }) => {
  const rounds = quick ? 2 : 7
  const requests = quick ? 8 : 20
  /** Each of these starts a server. */
  const starts = quick ? 1 : rounds
  const house = await fill(ending)

  const still: Round[] = []
  const moving: Round[] = []
  const open = await Open.start(house, ending, profiles.flags('ours'))
  const { bytes: answer } = await open.get()
  expectAll(answer)
  const limit = new Stringified(ending, answer)
  await open.getMany(requests, true)
  for (let round = 0; round < rounds; round++) {
    still.push(await profiles.during('ours', () => open.getMany(requests, false)))
    await limit.measure(requests)
    moving.push(await profiles.during('ours', () => open.getMany(requests, true)))
  }
  await open.close()

  const cold = await coldStarts(house, ending, starts)
  const held = await longestTurns(house, ending, starts, requests)
  const turn = (what: string, values: readonly number[]): Line => ({
    what,
    unit: 'ms',
    ours: figure(values),
    goal: { text: 'at most 15', isMet: Math.max(...values) <= 15 },
  })
  const what = `one answer (${(answer.length / 2 ** 20).toFixed(1)} MiB)`
  return [
    limit.line(`${what}, ${fleet} samples new`, moving, 2),
    limit.line(`${what}, nothing new`, still, 2),
    limit.bytesLine(`${what}, ${fleet} samples new`, moving),
    turn(`longest turn of the event loop, its CPU, ${fleet} samples new`, held.moving),
    turn('longest turn of the event loop, its CPU, nothing new', held.still),
    turn('longest turn during the first request after a start, its CPU', held.cold),
    { what: 'longest turn of the event loop, by the clock, nothing new', unit: 'ms', ours: figure(held.clock) },
    { what: 'longest answer of /livez meanwhile', unit: 'ms', ours: figure(held.livez) },
    { what: 'first request after a start', unit: 'ms CPU', ours: figure(cold.map(({ cpu }) => cpu / 1000)) },
    { what: 'first request after a start, until its last byte', unit: 'ms', ours: figure(cold.map(({ p50 }) => p50)) },
  ] satisfies Line[]
}

/** Devices enrol over the wire; the other endpoints, and their latest samples, are put beside them. */
async function fill(ending: Ending): Promise<House> {
  const dataDir = ending.folder()
  const server = await startServer(dataDir)
  ending.add(() => server.child.stop())
  const devices = await enrolDevices(server, fleet)
  await server.child.stop()
  await withGround(dataDir, async (ground) => {
    const now = Math.floor(Date.now() / 1000)
    await writeSamples(ground, await fillEndpoints(ground, endpoints), [now - 300])
  })
  return { dataDir, org: server.org, key: server.key, devices }
}

/** A server on that house, somebody who asks, and devices that send. */
class Open {
  readonly server: Server
  readonly http: HttpClient
  readonly path: string
  readonly #house: House
  #load: Load | undefined

  private constructor(house: House, server: Server) {
    this.#house = house
    this.server = server
    this.http = new HttpClient(server.url)
    this.path = `/v1/orgs/${house.org}/endpoints/sensor`
  }

  static async start(house: House, ending: Ending, node: readonly string[] = []): Promise<Open> {
    const server = await startServer(house.dataDir, node)
    ending.add(() => server.child.stop())
    const open = new Open(house, server)
    ending.add(() => open.close())
    // A connection, and the key: what remains is the answer.
    await open.http.send('GET', `/v1/orgs/${house.org}/rooms`, house)
    return open
  }

  get(): Promise<Answer> {
    return this.http.send('GET', this.path, this.#house)
  }

  /** With `isMoving` so many samples come before each that no whole answer can be kept. */
  getMany(count: number, isMoving: boolean): Promise<Round> {
    const move = async () => {
      if (isMoving) await (await this.#devices()).send(1)
    }
    return oneByOne(this.server.child, count, () => this.get(), move)
  }

  async close(): Promise<void> {
    this.#load?.close()
    this.http.close()
    await this.server.child.stop()
  }

  async #devices(): Promise<Load> {
    const start = Math.floor(Date.now() / 1000) - 200
    this.#load ??= await Load.connect(this.server.mqttPort, this.#house.devices, (n) => start + n)
    return this.#load
  }
}

async function coldStarts(house: House, ending: Ending, rounds: number): Promise<Round[]> {
  const cold: Round[] = []
  for (let round = 0; round < rounds; round++) {
    const open = await Open.start(house, ending)
    cold.push(await open.getMany(1, false))
    await open.close()
  }
  return cold
}

/** In servers of their own, because watching costs. */
async function longestTurns(house: House, ending: Ending, rounds: number, requests: number) {
  const held: Record<'cold' | 'moving' | 'still' | 'clock' | 'livez', number[]> = {
    cold: [],
    moving: [],
    still: [],
    clock: [],
    livez: [],
  }
  for (let round = 0; round < rounds; round++) {
    const open = await Open.start(house, ending, ['--import', file('../preload/event-loop-turns.ts')])
    const { child, url } = open.server
    const longest = async (): Promise<{ cpu: number; clock: number }> => {
      child.signal('SIGUSR2')
      const [, text = ''] = await child.printed(/longest turn (.*)\n/)
      return JSON.parse(text)
    }
    await longest()
    await open.get()
    held.cold.push((await longest()).cpu)
    await open.getMany(requests, true)

    await longest()
    await open.getMany(requests, true)
    held.moving.push((await longest()).cpu)

    const other = new HttpClient(url)
    let [isDone, livez] = [false, 0]
    const asking = open.getMany(requests, false).finally(() => {
      isDone = true
    })
    while (!isDone) livez = Math.max(livez, (await other.send('GET', '/livez')).ms)
    await asking
    other.close()
    const { cpu, clock } = await longest()
    held.still.push(cpu)
    held.clock.push(clock)
    held.livez.push(livez)
    await open.close()
  }
  return held
}

function expectAll(answer: Buffer): void {
  const { data } = JSON.parse(answer.toString())
  const withSample = data.filter((entry: { endpointData: unknown }) => entry.endpointData !== null).length
  if (withSample !== endpoints) throw new Error(`${withSample} endpoints have a sample, not ${endpoints}`)
}
