// A thousand adopted sensors at a real mosquitto, through the gateway program: memory, CPU and delay under load, and while the broker is away.
// LOAD_MINUTES and OUTAGE_MINUTES shorten it.
import { setTimeout as pause } from 'node:timers/promises'
import type { MqttClient } from 'mqtt'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { hourMs, minuteMs, secondMs } from '../../../src/contract/durations.ts'
import { processCpuMs } from '../../support/cpu-time.ts'
import { brokerPassword, brokerUser, startTestBroker, type TestBroker } from '../../support/drivers/mosquitto.ts'
import { newGatewayFolder } from '../../support/gateway/gateway-world.ts'
import { SourceCalls } from '../../support/gateway/source-calls.ts'
import { type Harness, startHarness, type TestOrg } from '../../support/harness.ts'
import { Program, startTimeoutMs, until } from '../../support/program.ts'
import { residentMiB } from '../../support/resident-memory.ts'
import { openWire, type Wire } from '../../support/severable-proxy.ts'

const sensorCount = 1_000
const messagesPerSecond = 100
const loadMinutes = Number(process.env.LOAD_MINUTES ?? 10)
const outageMinutes = Number(process.env.OUTAGE_MINUTES ?? 60)
/** The incident about a source opens after this long. */
const incidentMinutes = 10
/** The measured limit of a gateway with 1,000 devices. */
const maxMiB = 286

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** The last value that each sensor has sent. */
class Publisher {
  readonly #client: MqttClient
  readonly latest: number[] = []

  constructor(client: MqttClient) {
    this.#client = client
  }

  /** Announces all of them, as Zigbee2MQTT does. */
  async announce(): Promise<void> {
    const entity = { dev_cla: 'carbon_dioxide', unit_of_meas: 'ppm', val_tpl: '{{ value_json.co2 }}' }
    const avty = [{ t: 'zigbee2mqtt/bridge/state', val_tpl: '{{ value_json.state }}' }]
    for (let i = 0; i < sensorCount; i++) {
      const device = { ids: [`s${i}`], name: `Sensor ${i}`, mdl: 'Air' }
      const announcement = { ...entity, avty, stat_t: `zigbee2mqtt/s${i}`, uniq_id: `s${i}_co2`, dev: device }
      await this.#retain(`homeassistant/sensor/s${i}/co2/config`, announcement)
    }
    await this.#retain('zigbee2mqtt/bridge/state', { state: 'online' })
  }

  say(sensor: number, co2: number): void {
    this.latest[sensor] = co2
    this.#client.publish(`zigbee2mqtt/s${sensor}`, JSON.stringify({ co2 }))
  }

  #retain(topic: string, payload: object) {
    return this.#client.publishAsync(topic, JSON.stringify(payload), { retain: true, qos: 1 })
  }
}

class LoadedWorld {
  readonly org: TestOrg
  readonly calls: SourceCalls
  readonly gateway: Program
  readonly source: string
  /** The endpoint of each sensor. */
  readonly endpoints: readonly string[]

  private constructor(parts: Pick<LoadedWorld, 'org' | 'calls' | 'gateway' | 'source' | 'endpoints'>) {
    this.org = parts.org
    this.calls = parts.calls
    this.gateway = parts.gateway
    this.source = parts.source
    this.endpoints = parts.endpoints
  }

  static async start(broker: TestBroker, port: number): Promise<LoadedWorld> {
    const org = await harness.newOrg()
    const { body: room } = await org.call('POST', '/rooms', { body: { name: 'Everything' } })
    const args = ['--url', new URL(harness.url).origin, '--code', room.dec, '--data-dir', newGatewayFolder()]
    const gateway = new Program(['gateway', ...args, '--reach', '127.0.0.1'])
    onTestFinished(async () => void (await gateway.stop('SIGKILL')))
    const { id: gatewayId } = await until(
      'the gateway is online',
      async () => {
        const [found] = (await org.call('GET', '/gateways')).body.gateways
        return found?.state === 'ONLINE' && found
      },
      { timeoutMs: startTimeoutMs },
    )
    const calls = new SourceCalls(org.call, gatewayId, room.id)
    const signIn = { username: brokerUser, secret: brokerPassword, authority: broker.cert }
    const body = { type: 'mqtt', gatewayId, url: `mqtts://127.0.0.1:${port}`, ...signIn }
    const created = await org.call('POST', '/sources', { body })
    expect(created.status, created.text).toBe(200)
    const source: string = created.body.id
    await until('all are found', async () => (await calls.source(source)).devices.FOUND === sensorCount, {
      timeoutMs: startTimeoutMs,
    })
    const keys = Array.from({ length: sensorCount }, (_, i) => `ha/s${i}`)
    const endpoints = await calls.adopt(source, keys, 10 * minuteMs)
    return new LoadedWorld({ org, calls, gateway, source, endpoints })
  }

  /** The value of each sensor here. */
  async values(): Promise<(number | undefined)[]> {
    const { data } = (await this.org.call('GET', '/endpoints/sensor')).body
    const values = new Map<string, number | undefined>(
      data.map(({ id, endpointData }: { id: string; endpointData: { data: { co2: number }[] } | null }) => [
        id,
        endpointData?.data[0]?.co2,
      ]),
    )
    return this.endpoints.map((id) => values.get(id))
  }

  async connectedCount(): Promise<number> {
    const { endpoints } = (await this.org.call('GET', '/endpoints')).body
    const ours = new Set(this.endpoints)
    return endpoints.filter((one: { id: string; connected: boolean }) => one.connected && ours.has(one.id)).length
  }

  async openRules(): Promise<string[]> {
    const { incidents } = (await this.org.call('GET', '/incidents?state=OPEN')).body
    return incidents.map(({ rule }: { rule: string }) => rule)
  }

  async untilAllAre(publisher: Publisher): Promise<void> {
    await until(
      'every sensor has its last value here',
      async () => {
        const values = await this.values()
        return values.every((value, i) => value === publisher.latest[i])
      },
      { timeoutMs: 2 * minuteMs, everyMs: secondMs },
    )
  }
}

const print = (name: string, figures: object) => process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`)

test(
  `${sensorCount} adopted sensors with ${messagesPerSecond} messages a second, and a broker that is away for ${outageMinutes} minutes`,
  async () => {
    const broker = await startTestBroker()
    onTestFinished(() => broker.stop())
    const client = await broker.connect()
    onTestFinished(() => void client.end(true))
    const publisher = new Publisher(client)
    await publisher.announce()
    const wire = await openWire(`http://127.0.0.1:${broker.tlsPort}`)
    onTestFinished(() => wire.close())
    const world = await LoadedWorld.start(broker, wire.port)
    const afterLoad = await load(world, publisher)
    await outage(world, publisher, broker, wire, afterLoad)
  },
  (loadMinutes + outageMinutes) * minuteMs + hourMs,
)

/** Returns the memory afterwards. */
async function load(world: LoadedWorld, publisher: Publisher): Promise<number> {
  const { pid } = world.gateway
  const count = loadMinutes * 60 * messagesPerSecond
  const cpuBeforeMs = processCpuMs(pid)
  const startMs = performance.now()
  /** When each value was said, by sensor. */
  const saidAtMs = Array.from({ length: sensorCount }, () => new Map<number, number>())
  const delaysMs: number[] = []
  let [isOver, known] = [false, await world.values()]
  /** Looks each second which values have come here. A gateway sends the latest values of a device once a minute. */
  const follow = async () => {
    while (!isOver) {
      await pause(secondMs)
      const values = await world.values()
      const now = performance.now()
      for (const [i, value] of values.entries()) {
        const atMs = value === undefined || value === known[i] ? undefined : saidAtMs[i]?.get(value)
        if (atMs !== undefined) delaysMs.push(now - atMs)
      }
      known = values
    }
  }
  const following = follow()
  for (let sent = 0; sent < count; ) {
    await pause(20)
    const due = Math.min(count, Math.floor(((performance.now() - startMs) / secondMs) * messagesPerSecond))
    for (; sent < due; sent++) {
      // Each sensor sends every ten seconds.
      const [sensor, co2] = [sent % sensorCount, 400 + Math.floor(sent / sensorCount)]
      saidAtMs[sensor]?.set(co2, performance.now())
      publisher.say(sensor, co2)
    }
  }
  await world.untilAllAre(publisher)
  isOver = true
  await following
  const sorted = delaysMs.toSorted((a, b) => a - b)
  const memory = residentMiB(pid)
  print('load', {
    minutes: loadMinutes,
    messages: count,
    cpuPercent: Number(((processCpuMs(pid) - cpuBeforeMs) / (performance.now() - startMs)) * 100).toFixed(1),
    gatewayMiB: memory,
    stored: sorted.length,
    medianMs: Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
    longestMs: Math.round(sorted.at(-1) ?? 0),
  })
  expect(sorted.length).toBeGreaterThanOrEqual(sensorCount * Math.floor(loadMinutes))
  expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(20 * secondMs)
  expect(memory.most).toBeLessThanOrEqual(maxMiB)
  expect(await world.connectedCount()).toBe(sensorCount)
  return memory.now
}

/** The broker is away, and comes back without its retained messages. */
async function outage(world: LoadedWorld, publisher: Publisher, broker: TestBroker, wire: Wire, beforeMiB: number) {
  const { calls, source, gateway } = world
  const before = wire.connectionCount
  await broker.kill()
  await calls.isInState(source, 'UNREACHABLE')
  await until('all are unknown', async () => (await world.connectedCount()) === 0, { timeoutMs: 2 * minuteMs })
  await pause(outageMinutes * minuteMs)
  const states = new Set(
    (await world.org.call('GET', '/endpoints')).body.endpoints
      .filter(({ id }: { id: string }) => world.endpoints.includes(id))
      .map(({ state }: { state?: string }) => state),
  )
  expect([...states]).toEqual(['UNKNOWN'])
  expect(await world.openRules()).toEqual(outageMinutes > incidentMinutes ? ['source.failing'] : [])
  const attempts = wire.connectionCount - before
  const duringMiB = residentMiB(gateway.pid)
  expect((await calls.source(source)).devices).toMatchObject({ FOUND: 0, ADOPTED: sensorCount, missing: 0 })
  await broker.start()
  const startMs = performance.now()
  await publisher.announce()
  await until('all are back', async () => (await world.connectedCount()) === sensorCount, { timeoutMs: 5 * minuteMs })
  const backSeconds = Math.round((performance.now() - startMs) / secondMs)
  for (let i = 0; i < sensorCount; i++) publisher.say(i, 500 + i)
  await world.untilAllAre(publisher)
  print('outage', { minutes: outageMinutes, attempts, beforeMiB, duringMiB, backSeconds })
  // At most one a minute after the first ones, which are sooner.
  expect(attempts).toBeLessThanOrEqual(outageMinutes * 2 + 6)
  expect(attempts).toBeGreaterThanOrEqual(outageMinutes / 2)
  expect(duringMiB.now).toBeLessThanOrEqual(beforeMiB + 20)
}
