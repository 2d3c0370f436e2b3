// Measures three nodes on one PostgreSQL, each under the load that one node alone has in the baseline.
import { cycle, HttpLoad, makeRequest, type RequestSource } from '../load/http-load.ts'
import type { LoadResult } from '../load/load-result.ts'
import { MqttFleet } from '../load/mqtt-fleet.ts'
import { MqttLoad } from '../load/mqtt-load.ts'
import { type Contender, measureInTurns, type Round } from '../measure/comparison.ts'
import type { Row } from '../measure/figures.ts'
import { watchPostgres } from '../measure/postgres-watch.ts'
import type { Bench, BenchOptions } from '../options.ts'
import { copyPostgresDatabase, type FilledDatabase, fillDatabase, MeasuredNodeGroup } from '../servers/node-group.ts'
import { PostgresCluster } from '../servers/postgres-cluster.ts'
import { measureNodeMessages } from './node-messages.ts'
import { measureCrossNodeReboots } from './node-reboots.ts'

const endpointCount = 6_000
const groupSize = 3
const connectionsPerNode = 10
const devicesPerNode = 500
const maxRatio = 1.15
const slotSeconds = 900

export const nodes: Bench = async (options) => {
  let cluster: PostgresCluster
  try {
    cluster = await PostgresCluster.start(options.cleanup)
  } catch (error) {
    process.stdout.write(`The bench nodes is left out: ${(error as Error).message}\n`)
    return []
  }
  const filled = await fillDatabase(options, cluster, 'three', endpointCount)
  const copy = await copyPostgresDatabase(cluster, filled, 'one')
  const three = await MeasuredNodeGroup.start(options, filled, groupSize)
  const one = await MeasuredNodeGroup.start(options, copy, 1)
  const comparison = new NodeComparison(options, cluster, filled, three, one)
  const rows = [
    ...(await comparison.reads()),
    ...(await comparison.writes()),
    ...(await comparison.connects()),
    ...(await comparison.samples()),
  ]
  await one.stop()
  rows.push(...(await comparison.messages()))
  rows.push(...(await measureCrossNodeReboots(options, filled, three)))
  return rows
}

class NodeComparison {
  readonly #options: BenchOptions
  readonly #cluster: PostgresCluster
  readonly #filled: FilledDatabase
  readonly #groups: readonly { readonly name: string; readonly group: MeasuredNodeGroup }[]
  readonly #rounds: number

  constructor(
    options: BenchOptions,
    cluster: PostgresCluster,
    filled: FilledDatabase,
    three: MeasuredNodeGroup,
    one: MeasuredNodeGroup,
  ) {
    this.#options = options
    this.#cluster = cluster
    this.#filled = filled
    this.#groups = [
      { name: `${groupSize} nodes`, group: three },
      { name: '1 node', group: one },
    ]
    this.#rounds = options.quick ? 2 : 7
  }

  reads(): Promise<Row[]> {
    const { org, key, organisation } = this.#filled
    const requests = organisation.devices
      .slice(0, 1_000)
      .map(({ id }) => makeRequest('GET', `/v1/orgs/${org}/endpoints/${id}`, { key }))
    const { quick } = this.#options
    return this.#http('endpointsGet, unchanged', () => cycle(requests), quick ? 600 : 4_000)
  }

  writes(): Promise<Row[]> {
    const { org, key } = this.#filled
    let created = 0
    const createRegion = () =>
      makeRequest('POST', `/v1/orgs/${org}/regions`, { key, body: { name: `Region ${created++}` } })
    return this.#http('regionsCreate', () => createRegion, this.#options.quick ? 100 : 400)
  }

  async samples(): Promise<Row[]> {
    const samplesPerDevice = this.#options.quick ? 2 : 4
    const slices = 4
    const contenders: Contender[] = []
    for (const { name, group } of this.#groups) {
      const loads = await this.#connectSampleLoads(group, 0)
      await sendToAll(loads.map((load) => load.send(10)))
      contenders.push({
        name,
        process: group,
        send: (count) => sendToAll(loads.map((load) => load.send(count / devicesPerNode))),
      })
    }
    const count = slices * samplesPerDevice * devicesPerNode
    return this.#measure(`durable QoS 1 sample, ${devicesPerNode} devices a node`, contenders, count)
  }

  /** After each round the devices disconnect again, which is not counted. */
  async connects(): Promise<Row[]> {
    const count = this.#options.quick ? 200 : 1_000
    const fleetsOf = this.#groups.map(({ group }) =>
      group.servers.map(({ mqttPort }, i) => new MqttFleet(mqttPort, this.#devicesOf(i))),
    )
    const fleets = fleetsOf.flat()
    this.#options.cleanup.add(() => {
      for (const fleet of fleets) fleet.drop()
    })
    const contenders = this.#groups.map(
      ({ name, group }, i): Contender => ({
        name,
        process: group,
        send: (n) => sendToAll((fleetsOf[i] ?? []).map((fleet) => fleet.connect(n, 50))),
      }),
    )
    const watched = watchPostgres(this.#cluster, contenders)
    const results: Round[][] = contenders.map(() => [])
    for (let round = 0; round < this.#rounds; round++) {
      const plan = { rounds: 1, slices: 1, count, profiles: this.#options.profiles }
      const measured = await measureInTurns(watched.contenders, plan)
      for (const [i, rounds] of results.entries()) rounds.push(...(measured[i] ?? []))
      await Promise.all(fleets.map((fleet) => fleet.disconnect()))
    }
    return watched.rows('connect and subscribe', results, { server: maxRatio, postgres: maxRatio })
  }

  async messages(): Promise<Row[]> {
    const [first] = this.#groups
    const group = first?.group as MeasuredNodeGroup
    // These devices have sent nothing yet: a sample that is older than the latest one makes no event.
    const loads = await this.#connectSampleLoads(group, devicesPerNode)
    const send = (perDevice: number) => sendToAll(loads.map((load) => load.send(perDevice)))
    return measureNodeMessages(this.#options, this.#cluster, this.#filled, group, send)
  }

  async #http(title: string, makeSource: () => RequestSource, count: number): Promise<Row[]> {
    const contenders: Contender[] = []
    for (const { name, group } of this.#groups) {
      const loads = await Promise.all(group.servers.map(({ url }) => HttpLoad.connect(url, connectionsPerNode)))
      this.#options.cleanup.add(() => {
        for (const load of loads) load.close()
      })
      const source = makeSource()
      await sendToAll(loads.map((load) => load.send(count, source)))
      contenders.push({ name, process: group, send: (n) => sendToAll(loads.map((load) => load.send(n, source))) })
    }
    return this.#measure(title, contenders, count)
  }

  async #measure(title: string, contenders: readonly Contender[], count: number): Promise<Row[]> {
    const watched = watchPostgres(this.#cluster, contenders)
    const plan = { rounds: this.#rounds, count, profiles: this.#options.profiles }
    const results: Round[][] = await measureInTurns(watched.contenders, plan)
    return watched.rows(title, results, { server: maxRatio, postgres: maxRatio })
  }

  /** Samples are a second apart, in a slot that is not over, so no rollup is made during the measurement. */
  async #connectSampleLoads({ servers }: MeasuredNodeGroup, firstDevice: number): Promise<MqttLoad[]> {
    const now = Math.floor(Date.now() / 1000)
    const start = Math.max(now - (now % slotSeconds), now - 300)
    const loads = await Promise.all(
      servers.map(({ mqttPort }, i) =>
        MqttLoad.connect(
          mqttPort,
          this.#devicesOf(i).slice(firstDevice, firstDevice + devicesPerNode),
          (n) => start + n,
        ),
      ),
    )
    this.#options.cleanup.add(() => {
      for (const load of loads) load.close()
    })
    return loads
  }

  /** Every node has devices of its own. */
  #devicesOf(node: number) {
    const { devices } = this.#filled.organisation
    const perNode = Math.floor(devices.length / groupSize)
    return devices.slice(node * perNode, (node + 1) * perNode)
  }
}

/** Waits for the loads of all nodes, and returns their results as one. */
async function sendToAll(loads: readonly Promise<LoadResult>[]): Promise<LoadResult> {
  const results = await Promise.all(loads)
  return {
    latenciesMs: Float64Array.from(results.flatMap(({ latenciesMs }) => [...latenciesMs])),
    seconds: Math.max(...results.map(({ seconds }) => seconds)),
  }
}
