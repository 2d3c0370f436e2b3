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

/** The fields of a device that are the same on both sides, written down by hand. Each of them has a value on some device. */
export const sameFields = [
  'serial',
  'model',
  'connected',
  'name',
  'kind',
  'manufacturer',
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
  'hasUnscheduledFirmwareUpdate',
  'isLatestVersionScheduledForNow',
  'buildType',
  'remoteControlEnabled',
  'bulkEnrolmentPending',
  'localIpAddress',
  'networks',
  'ntpServer',
  'activeNtpServer',
  'ntpServerReachable',
  'timezone',
  'orientation',
  'totalSystemStorage',
  'freeSystemStorage',
  'totalInternalStorage',
  'freeInternalStorage',
  'totalExternalStorage',
  'freeExternalStorage',
] as const
/** Something that differs: one of these fields, the latest sample, the settings, or whether the device is there at all. */
export interface SideDifference {
  readonly what: (typeof sameFields)[number] | 'sample' | 'config' | 'device'
  readonly text: string
}

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
  /** A Bar and a Pad in each room, and last a display of another maker, which is in the first room. */
  readonly devices: LiveDevice[] = []
  /** Names that people gave here, by the identifier of the device there. The name there is then the one that the device reports here. */
  readonly namesHere = new Map<string, string>()
  /** Rooms there. Every other one has a profile. */
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

  /** Everything that differs between the two sides. */
  async differences(): Promise<SideDifference[]> {
    const pairs = await this.pairs()
    const found = await Promise.all(pairs.map(([theirs, ours]) => this.#differencesOf(theirs, ours)))
    const { endpoints } = await this.readThere('/endpoints')
    const text = `${pairs.length} of ${endpoints.length} devices`
    return [...(endpoints.length === pairs.length ? [] : [{ what: 'device' as const, text }]), ...found.flat()]
  }

  /** The fields that have a value here, on at least one device. */
  async fieldsWithValues(): Promise<ReadonlySet<string>> {
    const devices = await Promise.all((await this.pairs()).map(([, ours]) => this.read(`/endpoints/${ours}`)))
    return new Set(sameFields.filter((name) => devices.some((device) => hasValue(device[name]))))
  }

  async #differencesOf(theirs: string, ours: string): Promise<SideDifference[]> {
    if (ours === undefined) return [{ what: 'device', text: `${theirs} is not enrolled` }]
    const [there, found] = [await this.readThere(`/endpoints/${theirs}`), await this.read(`/endpoints/${ours}`)]
    const given = this.namesHere.get(theirs)
    if (given !== undefined && found.name !== given)
      return [{ what: 'name', text: `${there.serial} was named ${given} here, and is ${found.name}` }]
    const here = given === undefined ? found : { ...found, name: found.reportedName }
    const values: [SideDifference['what'], unknown, unknown][] = sameFields.map((name) => [
      name,
      there[name],
      here[name],
    ])
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
      .map(([what, a, b]) => ({ what, text: `${there.serial} ${what}: ${textOf(a)} there, ${textOf(b)} here` }))
  }

  /** Waits until nothing differs, or nothing but what `counts` leaves out. */
  async untilSame(
    timeoutMs = 60_000,
    { counts = () => true }: { counts?: (difference: SideDifference) => boolean } = {},
  ): Promise<void> {
    let last: SideDifference[] = []
    await until(
      'both sides are the same',
      async () => {
        last = (await this.differences()).filter(counts)
        return last.length === 0
      },
      // Each comparison takes five requests for each device, from the process that runs both sides.
      { timeoutMs, everyMs: Math.max(100, 10 * this.devices.length) },
    ).catch((error: Error) => {
      const texts = last.slice(0, 20).map(({ text }) => text)
      throw new Error([`${error.message}:`, ...texts, ...this.gateway.running.lines.slice(-10)].join('\n'))
    })
  }

  async stop(): Promise<void> {
    await Promise.all(this.devices.map((device) => device.stop()))
  }

  /** Each room there has a Bar and a Pad that is paired with it, and the first one a display. Every other room has a profile. */
  async #furnish(): Promise<void> {
    const { there } = this
    const region = (await this.write(there, 'POST', '/regions', { name: 'Nordics' })).id
    const location = (await this.write(there, 'POST', '/locations', { name: 'Oslo', regionId: region })).id
    const config = { screenStandby: 600_000, time24h: true }
    const { profile } = await this.write(there, 'POST', '/profiles', { name: 'Meeting rooms', config })
    const serials = `-${this.there.id.slice(-6)}-`
    for (let i = 0; i < this.#settings.pairCount; i++) {
      const name = `Room ${i}`
      const roomId = (await this.write(there, 'POST', '/rooms', { name, locationId: location, capacity: 8 })).id
      this.rooms.push(roomId)
      if (i % 2 === 0) await this.write(there, 'PUT', `/rooms/${roomId}/profile`, { profileId: profile.id })
      const bar = {
        roomId,
        serial: `NB${serials}${i}`,
        model: 'NF19B1',
        status: { ...statusOf(i), pairedSerials: [`NP${serials}${i}`] },
        readOnly: { primaryMode: 'zoom' },
      }
      const pad = {
        roomId,
        serial: `NP${serials}${i}`,
        model: 'NF19A1',
        pairingSerial: `NB${serials}${i}`,
        status: { volume: i % 100, controllerMode: 'controller' as const },
        readOnly: { controllerMode: 'controller' },
      }
      for (const wanted of [bar, pad]) this.devices.push(await startDevice(this.#upstream, there, wanted))
      await this.devices.at(-2)?.sample({ co2: 400 + i, temp: 21.5, people: i % 3 })
    }
    const display = await startDevice(this.#upstream, there, {
      roomId: this.rooms[0] as number,
      // As a gateway here writes it: with the maker.
      serial: `ACME D${serials}0`,
      model: 'D55',
      status: displayStatus,
      readOnly: { neatOtaChannel: 'none' },
    })
    await display.sample({ temp: 22, people: 1 })
    this.devices.push(display)
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
      return found.length === this.devices.length && found
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
  firmwareVersionReleaseName: '24.1',
  latestVersionReleaseName: '24.2',
  otaChannel: 'stable',
  upgradeStatus: 'SCHEDULED',
  upgradeTime: '2026-05-05T02:00:00Z',
  upgradeModel: 'full',
  hexapaBuild: 'hexapa-7',
  automaticUpdates: true,
  hasScheduledFirmwareUpdate: true,
  hasUnscheduledFirmwareUpdate: false,
  isLatestVersionScheduledForNow: false,
  buildType: 'user',
  remoteControlEnabled: i % 2 === 0,
  bulkEnrolmentPending: false,
  localIpAddress: `192.168.1.${i % 250}`,
  networks: [
    {
      type: 'NETWORK_TYPE_ETHERNET',
      display: 'eth0',
      linkUp: true,
      mode: 'NETWORK_MODE_DHCP',
      mtu: 1500,
      macAddress: 'AAAAAAAB',
      dnsServers: ['192.168.1.1'],
      addresses: [{ address: { ipv4: 'wKgBCg==' }, prefix: 24 }],
      gateway: [{ ipv4: 'wKgBAQ==' }],
    },
    { type: 'NETWORK_TYPE_WIFI', linkUp: i % 2 === 0, networkName: 'Office', signalDbm: -40 - (i % 30) },
  ],
  ntpServer: 'time.example.org',
  activeNtpServer: 'time2.example.org',
  ntpServerReachable: true,
  timezone: 'Europe/Oslo',
  orientation: 'landscape',
  totalSystemStorage: '64000000000',
  freeSystemStorage: String(12_000_000_000 + i),
  totalInternalStorage: '32000000000',
  freeInternalStorage: String(8_000_000_000 + i),
  totalExternalStorage: '16000000000',
  freeExternalStorage: String(4_000_000_000 + i),
  peripherals: [{ id: 'mic-1', name: 'Microphone', kind: 'MICROPHONE' as const, version: '1.2', connected: true }],
  faults: [{ code: 'fan', level: 'INFO' as const, text: 'The fan is loud.' }],
})

/** Has what the devices of Neat do not have. */
const displayStatus = {
  name: 'Display by the window',
  manufacturer: 'ACME',
  kind: 'DISPLAY' as const,
  power: 'ON' as const,
  sleeps: true,
  activeInput: 'HDMI 1',
  inputs: ['HDMI 1', 'USB-C'],
  inputResolution: '3840x2160',
  sensors: ['temp' as const, 'people' as const],
  peopleIs: 'PRESENCE' as const,
  readings: [{ name: 'panelHours', value: 1234, unit: 'h' }],
  facts: [{ name: 'mount', text: 'Wall' }],
}

const hasValue = (value: unknown): boolean => value !== undefined && (!Array.isArray(value) || value.length > 0)

/** The order of keys has no meaning. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? 'nothing'
