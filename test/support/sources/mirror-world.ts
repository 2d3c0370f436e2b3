// Two Roomkeepers: one plays Neat Pulse and has devices, the other mirrors them through a gateway, with a proxy in between.
import { expect } from 'vitest'
import { applySourcePlan } from '../../../src/apply/apply-source-plan.ts'
import { readOrganisation } from '../../../src/apply/read-organisation.ts'
import { neatPulseWith } from '../../../src/gateway/sources/neat-pulse/neat-pulse.ts'
import type { PulseTimes } from '../../../src/gateway/sources/neat-pulse/pulse-session.ts'
import type { SourceTable } from '../../../src/gateway/sources/source-table.ts'
import { planSource } from '../../../src/plan/source/source-plan.ts'
import { type LiveDevice, startDevice } from '../devices/agent-device.ts'
import { GatewayWorld } from '../gateway/gateway-world.ts'
import { type Harness, startHarness, type TestOrg } from '../harness.ts'
import { until } from '../program.ts'
import { quickPulseTimes } from './pulse-source.ts'
import { UpstreamProxy } from './upstream-proxy.ts'

/** The fields of a device that are the same on both sides, written down by hand. */
const sameFields = [
  'serial',
  'model',
  'connected',
  'name',
  'kind',
  'hardwareVersion',
  'appVersion',
  'startedAt',
  'power',
  'sleeps',
  'activeInput',
  'inputs',
  'inputResolution',
  'volume',
  'muted',
  'sensors',
  'peopleIs',
  'peripherals',
  'faults',
  'readings',
  'facts',
  'pairingSerial',
  'pairedSerials',
  'inCallStatus',
  'primaryMode',
  'controllerMode',
  'firmwareVersion',
  'latestVersion',
  'firmwareVersionReleaseName',
  'latestVersionReleaseName',
  'otaChannel',
  'upgradeStatus',
  'upgradeTime',
  'upgradeModel',
  'hexapaBuild',
  'automaticUpdates',
  'hasScheduledFirmwareUpdate',
  'localIpAddress',
  'networks',
  'ntpServer',
  'activeNtpServer',
  'ntpServerReachable',
  'timezone',
  'orientation',
  'totalSystemStorage',
  'freeSystemStorage',
] as const

export interface MirrorSettings {
  readonly pairCount: number
  readonly write?: boolean
  readonly times?: PulseTimes
}

export class MirrorWorld {
  readonly there: TestOrg
  readonly here: TestOrg
  readonly harness: Harness
  readonly proxy: UpstreamProxy
  readonly gateway: GatewayWorld
  readonly key: string
  readonly devices: LiveDevice[] = []
  /** Rooms there. */
  readonly rooms: number[] = []
  source = ''
  readonly #upstream: Harness
  readonly #settings: MirrorSettings

  private constructor(
    peers: Pick<MirrorWorld, 'there' | 'here' | 'harness' | 'proxy' | 'gateway' | 'key'>,
    upstream: Harness,
    settings: MirrorSettings,
  ) {
    this.there = peers.there
    this.here = peers.here
    this.harness = peers.harness
    this.proxy = peers.proxy
    this.gateway = peers.gateway
    this.key = peers.key
    this.#upstream = upstream
    this.#settings = settings
  }

  static async start(harness: Harness, upstream: Harness, settings: MirrorSettings): Promise<MirrorWorld> {
    const [there, here] = [await upstream.newOrg(), await harness.newOrg()]
    const proxy = await UpstreamProxy.start(upstream.url)
    const gateway = await GatewayWorld.start(harness, here, { sources: pulseTable(settings.times) })
    const key = await there.newKey({ name: 'Mirror' })
    const world = new MirrorWorld({ there, here, harness, proxy, gateway, key }, upstream, settings)
    await world.#furnish()
    await world.#connect()
    return world
  }

  /** Reads there. */
  readThere = async (path: string) => (await this.there.call('GET', path)).body
  read = async (path: string) => (await this.here.call('GET', path)).body

  async write(org: TestOrg, method: string, path: string, body: object = {}) {
    const reply = await org.call(method, path, { body })
    expect(reply.status, `${method} ${path}: ${reply.text}`).toBe(200)
    return reply.body
  }

  async sourceState(): Promise<string> {
    return (await this.read(`/sources/${this.source}`)).state
  }

  /** The identifiers of each device: there, and here. */
  async pairs(): Promise<[string, string][]> {
    const { devices } = await this.read(`/sources/${this.source}/devices?state=ADOPTED`)
    return devices.map(({ key, endpointId }: { key: string; endpointId: string }) => [key, endpointId])
  }

  /** Everything that differs between the two sides, in words. */
  async differences(): Promise<string[]> {
    const pairs = await this.pairs()
    const found = await Promise.all(pairs.map(([theirs, ours]) => this.#differencesOf(theirs, ours)))
    const { endpoints } = await this.readThere('/endpoints')
    const missing = endpoints.length === pairs.length ? [] : [`${pairs.length} of ${endpoints.length} devices`]
    return [...missing, ...found.flat()]
  }

  async #differencesOf(theirs: string, ours: string): Promise<string[]> {
    if (ours === undefined) return [`${theirs} is not enrolled`]
    const [there, here] = [await this.readThere(`/endpoints/${theirs}`), await this.read(`/endpoints/${ours}`)]
    const values: [string, unknown, unknown][] = sameFields.map((name) => [name, there[name], here[name]])
    if (there.connected) {
      const sample = async (org: TestOrg, id: string) => {
        const { status, body } = await org.call('GET', `/endpoints/${id}/sensor`)
        return status === 200 ? body.endpointData : undefined
      }
      values.push(['sample', await sample(this.there, theirs), await sample(this.here, ours)])
      const { reported } = await this.read(`/endpoints/${ours}/config/state`)
      values.push(['config', await this.readThere(`/endpoints/${theirs}/config`), reported])
    }
    // An offline device cannot report what was changed about it.
    const compared = there.connected ? values : values.filter(([name]) => name === 'connected' || name === 'serial')
    return compared
      .filter(([, a, b]) => textOf(a) !== textOf(b))
      .map(([name, a, b]) => `${there.serial} ${name}: ${textOf(a)} there, ${textOf(b)} here`)
  }

  async untilSame(timeoutMs = 60_000): Promise<void> {
    let last: string[] = []
    await until(
      'both sides are the same',
      async () => {
        last = await this.differences()
        return last.length === 0
      },
      { timeoutMs },
    ).catch((error: Error) => {
      const lines = this.gateway.running.lines.slice(-10)
      throw new Error(`${error.message}:\n${last.slice(0, 20).join('\n')}\n${lines.join('\n')}`)
    })
  }

  async stop(): Promise<void> {
    await Promise.all(this.devices.map((device) => device.stop()))
  }

  /** Each room there has a Bar and a Pad that is paired with it. */
  async #furnish(): Promise<void> {
    const { there } = this
    const region = (await this.write(there, 'POST', '/regions', { name: 'Nordics' })).id
    const location = (await this.write(there, 'POST', '/locations', { name: 'Oslo', regionId: region })).id
    const serials = `-${this.there.id.slice(-6)}-`
    for (let i = 0; i < this.#settings.pairCount; i++) {
      const name = `Room ${i}`
      const roomId = (await this.write(there, 'POST', '/rooms', { name, locationId: location, capacity: 8 })).id
      this.rooms.push(roomId)
      const bar = {
        roomId,
        serial: `NB${serials}${i}`,
        model: 'NF19B1',
        status: statusOf(i),
        readOnly: { primaryMode: 'zoom' },
      }
      const pad = {
        roomId,
        serial: `NP${serials}${i}`,
        model: 'NF19A1',
        pairingSerial: `NB${serials}${i}`,
        status: { volume: i },
      }
      for (const wanted of [bar, pad]) this.devices.push(await startDevice(this.#upstream, there, wanted))
      await this.devices.at(-2)?.sample({ co2: 400 + i, temp: 21.5, people: i % 3 })
    }
  }

  /** Makes everything that the source has, as a person does who applies the whole plan. */
  async #applyPlan(): Promise<void> {
    const { client, id: organisation } = this.here
    const sections = { organisation, regions: [], locations: [], rooms: [], profiles: [] }
    const { body: structure } = await client.sourcesStructure({ id: this.source })
    const plan = planSource(structure, await readOrganisation(client, sections))
    const results = await applySourcePlan(client, this.source, plan, { isChosen: () => true })
    expect(results.filter(({ state }) => state !== 'done')).toEqual([])
  }

  async #connect(): Promise<void> {
    const { here, gateway, proxy, key } = this
    const { write = false, pairCount } = this.#settings
    const body = { type: 'neat-pulse', gatewayId: gateway.id, url: proxy.url, orgId: this.there.id, key, write }
    this.source = (await this.write(here, 'POST', '/sources', body)).id
    const at = `/sources/${this.source}`
    const devices = await until('all devices are found', async () => {
      const found = (await this.read(`${at}/devices`)).devices
      return found.length === 2 * pairCount && found
    })
    await until('the structure', async () => (await this.read(`${at}/structure`)).rooms.length === pairCount)
    await this.#applyPlan()
    const { rooms } = await this.read(`${at}/structure`)
    const roomIds = new Map(rooms.map(({ id, linkedId }: { id: string; linkedId: number }) => [id, linkedId]))
    const decisions = devices.map(({ key, theirRoomId }: { key: string; theirRoomId: string }) => ({
      key,
      state: 'ADOPTED',
      roomId: roomIds.get(theirRoomId),
    }))
    for (let i = 0; i < decisions.length; i += 100)
      await this.write(here, 'PUT', `${at}/devices`, { devices: decisions.slice(i, i + 100) })
  }
}

export const pulseTable = (times: PulseTimes = quickPulseTimes): SourceTable => ({
  'neat-pulse': async () => neatPulseWith(times),
})

/** Starts the two services of a file. */
export const startTwo = async () => ({ upstream: await startHarness(), harness: await startHarness() })

const statusOf = (i: number) => ({
  name: `Bar ${i}`,
  hardwareVersion: 'B2',
  appVersion: '6.2.0',
  startedAt: new Date(Date.UTC(2026, 4, 4, 8, i)).toISOString(),
  power: 'ON' as const,
  volume: i % 100,
  muted: i % 2 === 0,
  inCallStatus: 'NONE' as const,
  primaryMode: 'zoom' as const,
  firmwareVersion: 'NFB1.20260401.0001',
  latestVersion: 'NFB1.20260501.0001',
  otaChannel: 'stable',
  automaticUpdates: true,
  localIpAddress: `192.168.1.${i % 250}`,
  networks: [{ type: 'NETWORK_TYPE_ETHERNET', linkUp: true, mtu: 1500, dnsServers: ['192.168.1.1'] }],
  ntpServer: 'time.example.org',
  ntpServerReachable: true,
  timezone: 'Europe/Oslo',
  totalSystemStorage: '64000000000',
  freeSystemStorage: String(12_000_000_000 + i),
  faults: [{ code: 'fan', level: 'INFO' as const, text: 'The fan is loud.' }],
})

/** The order of keys has no meaning. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? 'nothing'
