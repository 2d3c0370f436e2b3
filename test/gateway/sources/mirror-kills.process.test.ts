// The gateway of a mirror, and each of the two servers, is killed around commands: none is sent twice, none is lost without saying so.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { hourMs, minuteMs } from '../../../src/contract/durations.ts'
import { seededRandom } from '../../../src/simulator/seeded-random.ts'
import { type LiveDevice, startDevice } from '../../support/devices/agent-device.ts'
import { freePort } from '../../support/free-port.ts'
import { ProcessGateway } from '../../support/gateway/process-gateway.ts'
import { type Harness, send, type TestOrg } from '../../support/harness.ts'
import { isFullForm, isLongForm, runCount } from '../../support/long-form.ts'
import { type Server, siteForTest, startTimeoutMs, until } from '../../support/program.ts'
import { UpstreamProxy } from '../../support/sources/upstream-proxy.ts'

const pulseGateway = new URL('../../support/sources/pulse-gateway.ts', import.meta.url).pathname
const limitMs = runCount({ short: 4 * minuteMs, full: 20 * minuteMs, long: 3 * hourMs })

/** A server as a process, which keeps its ports when it starts again. */
class KilledServer {
  /** As it was when it first started: only then it shows its key. */
  readonly server: Server
  #running: Server
  readonly #serve: () => Promise<Server>

  private constructor(server: Server, serve: () => Promise<Server>) {
    this.server = server
    this.#running = server
    this.#serve = serve
  }

  static async start(): Promise<KilledServer> {
    const site = await siteForTest()
    const ports = ['--port', String(await freePort()), '--mqtt-port', String(await freePort())]
    const serve = () => site.serve(...ports, '--rate-limit', '0', '--log-level', 'error')
    return new KilledServer(await serve(), serve)
  }

  /** A server that has just started refuses requests until its database answers. */
  call = (method: string, path: string, body?: unknown) => {
    const { url, org, key } = this.server
    return until('an answer', async () => {
      const reply = await send(url, method, `/v1/orgs/${org}${path}`, { key, ...(body !== undefined && { body }) })
      return reply.status < 500 && reply
    })
  }

  async write(method: string, path: string, body: unknown = {}) {
    const reply = await this.call(method, path, body)
    expect(reply.status, `${method} ${path}: ${reply.text}`).toBe(200)
    return reply.body
  }

  async kill(): Promise<void> {
    await this.#running.stop('SIGKILL')
    this.#running = await this.#serve()
  }
}

/** `KILL_SEED=7` repeats the moments of a run. */
const seed = Number(process.env.KILL_SEED ?? (isLongForm ? Date.now() % 1_000_000 : 15))
let drawnCount = 0
const random = () => seededRandom(seed, drawnCount++)

/** The commands that are tried around the kills, in turn. */
const commands = ['message', 'reboot', 'logs', 'config'] as const

class KilledMirror {
  readonly there: KilledServer
  readonly here: KilledServer
  readonly gateway: ProcessGateway
  readonly proxy: UpstreamProxy
  readonly tally: Record<string, number> = {}
  readonly #devices: readonly LiveDevice[]
  readonly #endpoints: readonly string[]
  /** Each command sets another value. */
  #brightness = 0

  private constructor(
    servers: Pick<KilledMirror, 'there' | 'here' | 'gateway' | 'proxy'>,
    devices: readonly LiveDevice[],
    endpoints: readonly string[],
  ) {
    this.there = servers.there
    this.here = servers.here
    this.gateway = servers.gateway
    this.proxy = servers.proxy
    this.#devices = devices
    this.#endpoints = endpoints
  }

  static async start(): Promise<KilledMirror> {
    const [there, here] = [await KilledServer.start(), await KilledServer.start()]
    const { id: roomId } = await there.write('POST', '/rooms', { name: 'Fjord' })
    const harness = { url: there.server.url, clock: { now: Date.now } } as Harness
    const org = { call: (method, path, { body } = {}) => there.call(method, path, body) } as TestOrg
    const devices = [
      await startDevice(harness, org, { roomId, serial: 'NB-KILLED-1', model: 'NF19B1' }),
      await startDevice(harness, org, {
        roomId,
        serial: 'NP-KILLED-1',
        model: 'NF19A1',
        pairingSerial: 'NB-KILLED-1',
      }),
    ]
    const proxy = await UpstreamProxy.start(there.server.url)
    // Many of the kills come while a request or its answer is on its way.
    proxy.writeDelayMs = 200
    const room = await here.write('POST', '/rooms', { name: 'Fjord' })
    const gateway = new ProcessGateway(here.server.url, room.dec, pulseGateway)
    const { id: gatewayId } = await until(
      'the gateway is online',
      async () => {
        const [found] = (await here.call('GET', '/gateways')).body.gateways
        return found?.state === 'ONLINE' && found
      },
      { timeoutMs: startTimeoutMs },
    )
    const { org: orgId, key } = there.server
    const body = { type: 'neat-pulse', gatewayId, url: proxy.url, orgId, key, write: true }
    const { id } = await here.write('POST', '/sources', body)
    await until(
      'both are found',
      async () => (await here.call('GET', `/sources/${id}/devices`)).body.devices.length === 2,
    )
    const decisions = devices.map((device) => ({ key: device.id, state: 'ADOPTED', roomId: room.id }))
    await here.write('PUT', `/sources/${id}/devices`, { devices: decisions })
    const endpoints = await until('both are enrolled', async () => {
      const found: { key: string; endpointId?: string }[] = (await here.call('GET', `/sources/${id}/devices`)).body
        .devices
      const ids = devices.flatMap((device) => found.find((one) => one.key === device.id)?.endpointId ?? [])
      return ids.length === 2 && ids
    })
    return new KilledMirror({ there, here, gateway, proxy }, devices, endpoints)
  }

  async untilReady(): Promise<void> {
    await until(
      'both are online on both sides',
      async () => {
        const listed = await Promise.all([this.there, this.here].map((side) => side.call('GET', '/endpoints')))
        const both = listed.flatMap(({ body }) => body.endpoints ?? [])
        return both.filter(({ connected }: { connected: boolean }) => connected).length >= 5
      },
      { timeoutMs: startTimeoutMs },
    )
  }

  /** Sends a command, kills around it, and compares what the server says of it with what went out. */
  async kill(turn: number, waitMs: number, kill: () => Promise<void>): Promise<void> {
    await this.untilReady()
    const command = commands[turn % commands.length] as (typeof commands)[number]
    const when = `${command} ${turn}, killed after ${waitMs} ms`
    const [bar, pad] = this.#devices as [LiveDevice, LiveDevice]
    const known = new Set((await this.#operations()).map(({ id }) => id))
    const before = { writes: this.proxy.writes.length, reboots: bar.reboots + pad.reboots }
    const [endpoint = ''] = this.#endpoints
    const text = `Message ${turn}`
    const asked = this.#ask(command, text).catch(() => undefined)
    if (turn % 3 !== 2) await asked
    await pause(waitMs)
    await kill()
    const answer = await asked
    const sent = () => this.proxy.writes.length - before.writes
    if (command === 'config') {
      const state = await until(
        `${when}: the settings have an end`,
        async () => {
          const found = (await this.here.call('GET', `/endpoints/${endpoint}/config/state`)).body
          return (found.state === 'DELIVERED' || found.state === 'FAILED') && found
        },
        { timeoutMs: startTimeoutMs },
      )
      expect(sent(), when).toBeLessThanOrEqual(1)
      this.#count(`${command} ${state.state}`)
      // Without an answer to the person the settings can be those of an earlier turn.
      if (answer === undefined) return
      if (state.state === 'FAILED') {
        if (sent() === 1) this.#expectNotKnown(when, Object.values<string>(state.rejected).join())
        return
      }
      expect(sent(), when).toBe(1)
      expect((await this.there.call('GET', `/endpoints/${bar.id}/config`)).body, when).toMatchObject(state.desired)
      return
    }
    const operations = await this.#ended(when, known)
    const states: string[] = operations.map(({ state }) => state)
    expect(sent(), `${when}: ${JSON.stringify(operations)}`).toBeLessThanOrEqual(1)
    if (states.includes('SUCCEEDED')) expect(sent(), when).toBe(1)
    if (states.length === 0) expect(sent(), when).toBe(0)
    for (const { state, error = '' } of operations) {
      this.#count(`${command} ${state}`)
      if (state === 'SUCCEEDED') continue
      expect(error, when).not.toBe('')
      if (sent() === 1) this.#expectNotKnown(when, error)
    }
    if (command === 'message') expect(bar.messages.filter((one) => one === text).length, when).toBeLessThanOrEqual(1)
    expect(bar.reboots + pad.reboots - before.reboots, when).toBeLessThanOrEqual(command === 'reboot' ? 2 : 0)
  }

  async #ask(command: (typeof commands)[number], message: string): Promise<unknown> {
    const [endpoint = ''] = this.#endpoints
    const { url, org, key } = this.here.server
    const post = async (path: string, body: unknown) => {
      const reply = await send(url, 'POST', `/v1/orgs/${org}${path}`, { key, body })
      return reply.status === 200 ? reply.body : undefined
    }
    if (command === 'message') return post('/endpoints/send_message', { message, endpointIds: [endpoint] })
    if (command === 'reboot') return post(`/endpoints/${endpoint}/reboot`, {})
    if (command === 'logs') return post('/endpoints/generate_bug_report', [endpoint])
    return post(`/endpoints/${endpoint}/config`, { brightness: (++this.#brightness % 100) / 100 })
  }

  /** All operations of both devices. */
  async #operations(): Promise<{ id: string; state: string; error?: string }[]> {
    const lists = await Promise.all(
      this.#endpoints.map(
        async (id) => (await this.here.call('GET', `/endpoints/${id}/operations`)).body.operations ?? [],
      ),
    )
    return lists.flat()
  }

  /** The operations that are not among those known, when all have ended. There are none if the server was killed before it stored them. */
  async #ended(when: string, known: ReadonlySet<string>): Promise<{ state: string; error?: string }[]> {
    return until(
      `${when}: the commands have an end`,
      async () => {
        const all = await this.#operations()
        const isOpen = all.some(({ state }) => ['QUEUED', 'SENT', 'ACKNOWLEDGED'].includes(state))
        return !isOpen && all.filter(({ id }) => !known.has(id))
      },
      { timeoutMs: startTimeoutMs },
    )
  }

  /** The last request went out, and its command failed: so says its error, unless the other side refused it in words. */
  #expectNotKnown(when: string, error: string): void {
    const { status = 0 } = this.proxy.writes.at(-1) ?? {}
    const isRefused = status >= 400 && status < 500
    if (!isRefused) expect(error, when).toMatch(/not known/)
  }

  #count(what: string): void {
    this.tally[what] = (this.tally[what] ?? 0) + 1
  }

  async stop(): Promise<void> {
    await Promise.all(this.#devices.map((device) => device.stop()))
    if (isFullForm)
      process.stdout.write(`seed ${seed}: ${JSON.stringify(this.tally)}, ${this.proxy.writes.length} requests\n`)
  }
}

const latestMs = 1_500

/** How long after each command the process is killed: one moment in each of so many equal parts of the time, in any order. */
const momentsOf = (count: number): number[] =>
  Array.from({ length: count }, (_, i) => ({ ms: Math.floor(((i + random()) / count) * latestMs), place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ ms }) => ms)

test(
  'no command is sent twice, and none is lost without saying so, if the gateway is killed',
  async () => {
    const mirror = await KilledMirror.start()
    for (const [turn, ms] of momentsOf(runCount({ short: 1, full: 12, long: 50 })).entries())
      await mirror.kill(turn, ms, async () => {
        await mirror.gateway.kill()
        mirror.gateway.restart()
      })
    await mirror.stop()
  },
  limitMs,
)

test(
  'no command is sent twice, and none is lost without saying so, if one of the servers is killed',
  async () => {
    const mirror = await KilledMirror.start()
    const count = runCount({ short: 1, full: 4, long: 20 })
    const [here, there] = [momentsOf(count), momentsOf(count)]
    for (let turn = 0; turn < count; turn++) {
      await mirror.kill(turn, here[turn] ?? 0, () => mirror.here.kill())
      if (isFullForm) await mirror.kill(turn + 2, there[turn] ?? 0, () => mirror.there.kill())
    }
    await mirror.stop()
  },
  limitMs,
)
