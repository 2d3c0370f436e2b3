// The gateway, or the server, is killed around a reboot: no reboot happens twice, none is lost without saying so, and a gateway that is away is one incident.
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hourMs, minuteMs, secondMs } from '../../src/contract/durations.ts'
import { freePort } from '../support/free-port.ts'
import { LineDevice } from '../support/gateway/line-device.ts'
import { ProcessGateway } from '../support/gateway/process-gateway.ts'
import { type Harness, quickTasks, type Reply, send, startHarness } from '../support/harness.ts'
import { isLongForm, runCount } from '../support/long-form.ts'
import { siteForTest, startTimeoutMs, until } from '../support/program.ts'

const settleMs = 10 * minuteMs

const limitMs = runCount({ short: 4 * minuteMs, full: 20 * minuteMs, long: 2 * hourMs })

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
})
afterAll(() => harness.close())

type Call = (method: string, path: string, body?: object) => Promise<Reply>

const withBody = (body: object | undefined) => (body ? { body } : {})

/** How long after the request for a reboot the process is killed. */
const killMoments = (count: number): number[] =>
  Array.from({ length: count }, (_, i) => {
    const round = Math.floor(i / firstMoments.length)
    return (firstMoments[i % firstMoments.length] as number) + 7 * round
  })
/** In milliseconds; each round is a little later. */
const firstMoments = [40, 0, 12, 150, 5, 80, 25, 300, 2, 60, 110, 500] as const
/** An answer of the server takes about as long. */
const answerMs = 20

/** A gateway with devices in a room. Their reboots are compared with what the server says of them. */
class KilledGateway {
  readonly process: ProcessGateway
  /** The states of all reboots that the server knows, newest first. */
  outcomes: string[] = []
  readonly #endpointIds: string[] = []
  readonly #devices: LineDevice[] = []
  readonly #call: Call

  private constructor(url: string, code: string, call: Call) {
    this.process = new ProcessGateway(url, code)
    this.#call = call
  }

  static async start(url: string, call: Call, serials: readonly string[]): Promise<KilledGateway> {
    const { body: room } = await call('POST', '/rooms', { name: 'Fjord' })
    const world = new KilledGateway(url, room.dec, call)
    const gatewayId = await until(
      'the gateway is online',
      async () => {
        const { gateways } = (await call('GET', '/gateways')).body
        return gateways[0]?.state === 'ONLINE' && gateways[0].id
      },
      { timeoutMs: startTimeoutMs },
    )
    const at = `/gateways/${gatewayId}/devices`
    for (const serial of serials) {
      const device = await LineDevice.start(serial)
      const target = { driver: 'roomos', host: '127.0.0.1', port: device.port, username: 'a', secret: device.password }
      const { body: item } = await call('POST', at, { ...target, roomId: room.id })
      world.#devices.push(device)
      const { endpointId } = await until('it is connected', async () => {
        const found = (await call('GET', `${at}/${item.id}`)).body
        return found.state === 'CONNECTED' && found
      })
      world.#endpointIds.push(endpointId)
    }
    return world
  }

  get reboots(): number {
    return this.#device.reboots
  }

  get #device(): LineDevice {
    return this.#devices[0] as LineDevice
  }

  get #endpoint(): string {
    return `/endpoints/${this.#endpointIds[0]}`
  }

  /** Whether the gateway and all of its devices are in this state for the server. */
  async areConnected(isConnected: boolean): Promise<boolean> {
    const { endpoints } = (await this.#call('GET', '/endpoints')).body
    return endpoints.every((endpoint: { connected: boolean }) => endpoint.connected === isConnected)
  }

  /** The reboots of the first device. */
  async operations(): Promise<{ id: string; state: string }[]> {
    return (await this.#call('GET', `${this.#endpoint}/operations`)).body.operations
  }

  /** Resolves when all are connected, and a restart can be told from the one before: an uptime is exact to two seconds. */
  async untilReady(): Promise<void> {
    await until('all are online', () => this.areConnected(true), { timeoutMs: startTimeoutMs })
    await pause(Math.max(0, this.#device.startedAtMs + 2_500 - Date.now()))
  }

  /** Asks for a reboot of the first device. Returns the id of the operation; undefined if the server did not answer. */
  async reboot(): Promise<string | undefined> {
    const reply = await this.#call('POST', `${this.#endpoint}/reboot`).catch(() => undefined)
    return reply?.body.operations[0].id
  }

  /** Waits until every reboot that the server knows has an end, and compares them with what the device did. */
  async compareReboots(when: string): Promise<void> {
    const states = await until(
      'each reboot has an end',
      async () => {
        const found: string[] = (await this.operations()).map(({ state }) => state)
        return found.every((state) => /SUCCEEDED|FAILED|EXPIRED/.test(state)) && found
      },
      { timeoutMs: startTimeoutMs },
    )
    this.outcomes = states
    const succeeded = states.filter((state) => state === 'SUCCEEDED')
    expect(this.reboots, `${when}: ${states}`).toBe(succeeded.length)
  }
}

test(
  'a gateway that is killed around a reboot repeats none and loses none, and is one incident until it is back [contract 10.gateway]',
  async () => {
    const org = await harness.newOrg()
    const call: Call = (method, path, body) => org.call(method, path, withBody(body))
    const world = await KilledGateway.start(harness.url, call, ['KILLED-1', 'KILLED-2', 'KILLED-3'])
    const incidents = async (query: string) => (await call('GET', `/incidents?${query}`)).body.incidents
    // Incidents about connections wait until the service has settled after its start.
    harness.clock.advance(settleMs)
    const count = runCount({ short: 2, full: 20, long: 100 })
    for (const [i, waitMs] of killMoments(count).entries()) {
      await world.untilReady()
      await world.reboot()
      await pause(waitMs)
      await world.process.kill()
      world.process.restart()
      await world.compareReboots(`the gateway was killed after ${waitMs} ms`)
      // Six disconnects within an hour would be an incident of their own.
      harness.clock.advance(hourMs / 3)
      // A reboot is open for five minutes, and an incident opens after five, so the incident has a kill of its own.
      if (i % 4 !== 1) continue
      await world.untilReady()
      const from = new Date(harness.clock.now()).toISOString()
      await world.process.kill()
      await until('the server knows', () => world.areConnected(false))
      harness.clock.advance(5 * minuteMs + 30 * secondMs)
      const [incident] = await until('the incident', async () => {
        const found = await incidents('')
        return found.length > 0 && found
      })
      expect(incident).toMatchObject({ rule: 'device.offline', cause: { level: 'GATEWAY' } })
      world.process.restart()
      await world.untilReady()
      harness.clock.advance(3 * minuteMs)
      await until('the incident has ended', async () => (await incidents('')).length === 0)
      harness.clock.advance(settleMs)
      // The rules run once a second.
      await pause(2 * secondMs)
      expect(await incidents(`state=all&from=${from}`), 'one incident, and none for the devices').toHaveLength(1)
    }
    if (isLongForm)
      process.stdout.write(`gateway killed ${count} times: ${tally(world.outcomes)}, ${world.reboots} reboots\n`)
    expect(world.outcomes).toHaveLength(count)
    expect(world.outcomes).toContain('SUCCEEDED')
  },
  limitMs,
)

test(
  'a server that is killed around a reboot through a gateway repeats none and loses none',
  async () => {
    const site = await siteForTest()
    const [port, mqttPort] = [String(await freePort()), String(await freePort())]
    const serve = () => site.serve('--port', port, '--mqtt-port', mqttPort, '--rate-limit', '0', '--log-level', 'error')
    let server = await serve()
    const { org, key } = server
    // A server that has just started refuses requests until its database answers.
    const call: Call = (method, path, body) =>
      until('an answer', async () => {
        const reply = await send(server.url, method, `/v1/orgs/${org}${path}`, { key, ...withBody(body) })
        return reply.status !== 503 && reply
      })
    const world = await KilledGateway.start(server.url, call, ['SERVED-1'])
    const count = runCount({ short: 1, full: 10, long: 50 })
    const accepted: string[] = []
    for (const waitMs of killMoments(count)) {
      await world.untilReady()
      // The earliest kills come while the server answers.
      const asked = world.reboot().then((id) => id !== undefined && accepted.push(id))
      if (waitMs > answerMs) await asked
      await pause(waitMs)
      await server.stop('SIGKILL')
      await asked
      server = await serve()
      await world.compareReboots(`the server was killed after ${waitMs} ms`)
    }
    const known = new Set((await world.operations()).map(({ id }) => id))
    expect(
      accepted.filter((id) => !known.has(id)),
      'reboots that the server forgot',
    ).toEqual([])
    expect((await call('GET', '/incidents?state=all')).body.incidents).toEqual([])
    if (isLongForm)
      process.stdout.write(`server killed ${count} times: ${tally(world.outcomes)}, ${world.reboots} reboots\n`)
    expect(world.outcomes).toContain('SUCCEEDED')
  },
  limitMs,
)

const tally = (states: readonly string[]): string =>
  [...Map.groupBy(states, (state) => state)].map(([state, { length }]) => `${length} ${state}`).join(', ')
