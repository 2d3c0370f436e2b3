// Measures the latest sample of 10,000 endpoints in one answer; the baseline is JSON.stringify of the same answer.
import { fileURLToPath } from 'node:url'
import type { Cleanup } from '../cleanup.ts'
import { fillEndpoints, writeSamples } from '../fixture/samples.ts'
import { withServices } from '../fixture/services.ts'
import { type ClientAnswer, HttpClient } from '../load/http-client.ts'
import { MqttLoad } from '../load/mqtt-load.ts'
import type { Round } from '../measure/comparison.ts'
import { type Row, summarise } from '../measure/figures.ts'
import { measureOneByOne, StringifyBaseline } from '../measure/long-answers.ts'
import type { Bench } from '../options.ts'
import {
  type DataFolder,
  enrolDevices,
  type MeasuredServer,
  startServer,
  startServerOn,
} from '../servers/roomkeeper.ts'

const endpointCount = 10_000
/** Endpoints whose device is connected and, in one variant, sends a sample before every request. */
const deviceCount = 100
const maxTurnMs = 15
const turnMeter = fileURLToPath(new URL('../preload/event-loop-turns.ts', import.meta.url))

export const bulk: Bench = async ({ quick, profiles, cleanup }) => {
  const rounds = quick ? 2 : 7
  const requests = quick ? 8 : 20
  const starts = quick ? 1 : rounds
  const folder = await fillFolder(cleanup)

  const unchanged: Round[] = []
  const changed: Round[] = []
  const server = await BulkServer.start(folder, cleanup, profiles.nodeFlags('ours'))
  const { bytes: answer } = await server.get()
  expectAllSamples(answer)
  const baseline = new StringifyBaseline(cleanup, answer)
  await server.measure(requests, true)
  for (let round = 0; round < rounds; round++) {
    unchanged.push(await profiles.during('ours', () => server.measure(requests, false)))
    await baseline.measure(requests)
    changed.push(await profiles.during('ours', () => server.measure(requests, true)))
  }
  await server.close()

  const cold = await measureColdStarts(folder, cleanup, starts)
  const turns = await measureTurns(folder, cleanup, starts, requests)
  const turnRow = (title: string, valuesMs: readonly number[]): Row => ({
    title,
    unit: 'ms CPU',
    ours: summarise(valuesMs),
    goal: { text: `at most ${maxTurnMs}`, isMet: Math.max(...valuesMs) <= maxTurnMs },
  })
  const size = `${(answer.length / 2 ** 20).toFixed(1)} MiB`
  const title = `latest samples of ${endpointCount.toLocaleString('en')} endpoints (${size})`
  const changedTitle = `${title}, ${deviceCount} new before each request`
  return [
    baseline.row(changedTitle, changed, 2),
    baseline.row(`${title}, unchanged`, unchanged, 2),
    baseline.bytesRow(changedTitle, changed),
    turnRow(`longest event loop turn, ${deviceCount} new samples before each request`, turns.changedMs),
    turnRow('longest event loop turn, unchanged', turns.unchangedMs),
    turnRow('longest event loop turn, first request after a start', turns.coldMs),
    { title: 'longest event loop turn by the wall clock, unchanged', unit: 'ms', ours: summarise(turns.clockMs) },
    { title: 'slowest concurrent /livez', unit: 'ms', ours: summarise(turns.livezMs) },
    {
      title: 'first request after a start',
      unit: 'ms CPU',
      ours: summarise(cold.map(({ cpuMicros }) => cpuMicros / 1000)),
    },
    {
      title: 'first request after a start, time to last byte',
      unit: 'ms',
      ours: summarise(cold.map(({ p50Ms }) => p50Ms)),
    },
  ] satisfies Row[]
}

/** Devices enrol over HTTP; the other endpoints and all latest samples are written into the database directly. */
async function fillFolder(cleanup: Cleanup): Promise<DataFolder> {
  const dataDir = cleanup.tempFolder()
  const server = await startServer(dataDir)
  cleanup.add(() => server.process.stop())
  const devices = await enrolDevices(server, deviceCount)
  await server.process.stop()
  await withServices(dataDir, async (services) => {
    const now = Math.floor(Date.now() / 1000)
    await writeSamples(services, await fillEndpoints(services, endpointCount), [now - 300])
  })
  return { dataDir, org: server.org, key: server.key, devices }
}

/** A server on that folder, with an HTTP client and devices that send samples. */
class BulkServer {
  readonly server: MeasuredServer
  readonly http: HttpClient
  readonly path: string
  readonly #folder: DataFolder
  #load: MqttLoad | undefined

  private constructor(folder: DataFolder, server: MeasuredServer) {
    this.#folder = folder
    this.server = server
    this.http = new HttpClient(server.url)
    this.path = `/v1/orgs/${folder.org}/endpoints/sensor`
  }

  static async start(folder: DataFolder, cleanup: Cleanup, nodeFlags: readonly string[] = []): Promise<BulkServer> {
    const bulkServer = new BulkServer(folder, await startServerOn(cleanup, folder, nodeFlags))
    cleanup.add(() => bulkServer.close())
    // This request opens the connection and makes the key known, so that the first measured one pays only for its answer.
    await bulkServer.http.send('GET', `/v1/orgs/${folder.org}/rooms`, folder)
    return bulkServer
  }

  get(): Promise<ClientAnswer> {
    return this.http.send('GET', this.path, this.#folder)
  }

  /** With `isChanging` every device sends a sample before each request, so that no whole answer can be cached. */
  measure(count: number, isChanging: boolean): Promise<Round> {
    const sendSamples = async () => {
      if (isChanging) await (await this.#devices()).send(1)
    }
    return measureOneByOne(this.server.process, count, () => this.get(), sendSamples)
  }

  async close(): Promise<void> {
    this.#load?.close()
    this.http.close()
    await this.server.process.stop()
  }

  async #devices(): Promise<MqttLoad> {
    const start = Math.floor(Date.now() / 1000) - 200
    this.#load ??= await MqttLoad.connect(this.server.mqttPort, this.#folder.devices, (n) => start + n)
    return this.#load
  }
}

async function measureColdStarts(folder: DataFolder, cleanup: Cleanup, starts: number): Promise<Round[]> {
  const rounds: Round[] = []
  for (let start = 0; start < starts; start++) {
    const server = await BulkServer.start(folder, cleanup)
    rounds.push(await server.measure(1, false))
    await server.close()
  }
  return rounds
}

/** Uses separate servers, because measuring every turn costs CPU. */
async function measureTurns(folder: DataFolder, cleanup: Cleanup, starts: number, requests: number) {
  const turns: Record<'coldMs' | 'changedMs' | 'unchangedMs' | 'clockMs' | 'livezMs', number[]> = {
    coldMs: [],
    changedMs: [],
    unchangedMs: [],
    clockMs: [],
    livezMs: [],
  }
  for (let start = 0; start < starts; start++) {
    const server = await BulkServer.start(folder, cleanup, ['--import', turnMeter])
    const { process: subprocess, url } = server.server
    /** Returns the longest turn since the previous call. */
    const takeLongest = async (): Promise<{ cpuMs: number; clockMs: number }> => {
      subprocess.signal('SIGUSR2')
      const [, text = ''] = await subprocess.waitForOutput(/longest turn (.*)\n/)
      return JSON.parse(text)
    }
    await takeLongest()
    await server.get()
    turns.coldMs.push((await takeLongest()).cpuMs)
    await server.measure(requests, true)

    await takeLongest()
    await server.measure(requests, true)
    turns.changedMs.push((await takeLongest()).cpuMs)

    const otherClient = new HttpClient(url)
    let [isDone, livezMs] = [false, 0]
    const measured = server.measure(requests, false).finally(() => {
      isDone = true
    })
    while (!isDone) livezMs = Math.max(livezMs, (await otherClient.send('GET', '/livez')).ms)
    await measured
    otherClient.close()
    const { cpuMs, clockMs } = await takeLongest()
    turns.unchangedMs.push(cpuMs)
    turns.clockMs.push(clockMs)
    turns.livezMs.push(livezMs)
    await server.close()
  }
  return turns
}

function expectAllSamples(answer: Buffer): void {
  const { data } = JSON.parse(answer.toString())
  const withSample = data.filter((entry: { endpointData: unknown }) => entry.endpointData !== null).length
  if (withSample !== endpointCount)
    throw new Error(`${withSample} endpoints have a sample instead of ${endpointCount}.`)
}
