// Compares our server on PostgreSQL with its baseline, and adds the CPU of PostgreSQL itself to every row.
import type { Organisation } from '../fixture/organisation.ts'
import { HttpClient } from '../load/http-client.ts'
import { HttpLoad, type RequestSource } from '../load/http-load.ts'
import { MqttLoad } from '../load/mqtt-load.ts'
import type { BenchOptions } from '../options.ts'
import type { PostgresCluster } from '../servers/postgres-cluster.ts'
import type { MeasuredServer } from '../servers/roomkeeper.ts'
import type { Subprocess } from '../servers/subprocess.ts'
import { type Contender, measureInTurns, type Round } from './comparison.ts'
import type { Row } from './figures.ts'
import { watchPostgres } from './postgres-watch.ts'

export const baselineName = 'bare pg'
const deviceCount = 500
const slotSeconds = 900
const maxRatio = 2

export interface PostgresSetup {
  readonly cluster: PostgresCluster
  readonly server: MeasuredServer
  readonly organisation: Organisation
  readonly baseline: Subprocess
  readonly baselineUrl: string
  readonly baselineMqttPort: number
  /** Our database and the baseline's copy of it. */
  readonly databaseUrls: readonly string[]
  readonly dataDir: string
}

interface HttpWork {
  /** Makes the requests of one contender. */
  readonly makeSource: () => RequestSource
  /** Requests of a round. */
  readonly count: number
  readonly warmUp: number
  readonly connections?: number
  /** The goal for the CPU of our server, as a multiple of the baseline. */
  readonly goal?: number
}

export class PostgresComparison {
  readonly #options: BenchOptions
  readonly #setup: PostgresSetup
  readonly #rounds: number
  /** Samples that each of the two servers has acknowledged. */
  samplesPerContender = 0

  constructor(options: BenchOptions, setup: PostgresSetup) {
    this.#options = options
    this.#setup = setup
    this.#rounds = options.quick ? 2 : 5
  }

  async http(
    title: string,
    { makeSource, count, warmUp, connections = 10, goal = maxRatio }: HttpWork,
  ): Promise<Row[]> {
    const contenders = await this.#httpContenders(makeSource, connections)
    for (const { send } of contenders) await send(warmUp)
    const watched = watchPostgres(this.#setup.cluster, contenders)
    const slices = Math.min(4, count)
    const plan = { rounds: this.#rounds, count, slices, profiles: this.#options.profiles }
    return watched.rows(title, await measureInTurns(watched.contenders, plan), { server: goal })
  }

  /** Renames a room before each request; the cost of that is not counted. The baseline has no cache to invalidate. */
  async changedList(title: string, base: string, request: Buffer): Promise<Row[]> {
    const { server, organisation } = this.#setup
    const http = new HttpClient(server.url)
    this.#options.cleanup.add(() => http.close())
    const { contenders, rows } = watchPostgres(this.#setup.cluster, await this.#httpContenders(() => request, 1))
    const results: Round[][] = contenders.map(() => [])
    for (let round = 0; round < this.#rounds * 2; round++) {
      const room = organisation.rooms[round] as number
      const name = `Renamed ${round}`
      await http.send('PUT', `${base}/rooms/${room}`, { key: server.key, body: { name } })
      const plan = { rounds: 1, count: 1, slices: 1, profiles: this.#options.profiles }
      const measured = await measureInTurns(contenders, plan)
      for (const [i, rounds] of results.entries()) rounds.push(...(measured[i] ?? []))
      const { bytes } = await http.send('GET', `${base}/endpoints`, { key: server.key })
      if (!bytes.includes(`"${name}"`)) throw new Error(`The list does not contain the room name "${name}".`)
    }
    return rows(title, results, { server: maxRatio })
  }

  /**
   * Samples are a second apart, in a slot that is not over, so no rollup is made during the measurement. Half the time by
   * which a device's clock may be ahead is enough for all of them.
   */
  async samples(): Promise<Row[]> {
    const { quick, cleanup, profiles } = this.#options
    const { server, organisation, baseline, baselineMqttPort } = this.#setup
    const [warmUp, samplesPerDevice, slices] = [quick ? 20 : 40, quick ? 3 : 8, 4]
    const now = Math.floor(Date.now() / 1000)
    const start = Math.max(now - (now % slotSeconds), now - 300)
    const makeContender = async (name: string, process: Subprocess, port: number): Promise<Contender> => {
      const load = await MqttLoad.connect(port, organisation.devices.slice(0, deviceCount), (n) => start + n)
      cleanup.add(() => load.close())
      await load.send(warmUp)
      return { name, process, send: (count) => load.send(count / deviceCount) }
    }
    const { contenders, rows } = watchPostgres(this.#setup.cluster, [
      await makeContender('ours', server.process, server.mqttPort),
      await makeContender(baselineName, baseline, baselineMqttPort),
    ])
    const count = slices * samplesPerDevice * deviceCount
    const results = await measureInTurns(contenders, { rounds: this.#rounds, count, slices, profiles })
    this.samplesPerContender = (warmUp + this.#rounds * slices * samplesPerDevice) * deviceCount
    return rows(`durable QoS 1 sample, ${deviceCount} devices`, results, { server: maxRatio })
  }

  async #httpContenders(makeSource: () => RequestSource, connections: number): Promise<Contender[]> {
    const { server, baseline, baselineUrl } = this.#setup
    const makeContender = async (name: string, process: Subprocess, url: string): Promise<Contender> => {
      const load = await HttpLoad.connect(url, connections)
      this.#options.cleanup.add(() => load.close())
      const request = makeSource()
      return { name, process, send: (count) => load.send(count, request) }
    }
    return [
      await makeContender('ours', server.process, server.url),
      await makeContender(baselineName, baseline, baselineUrl),
    ]
  }
}
