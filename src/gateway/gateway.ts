// A gateway: connected to the server like a device, it reads its list of devices and supervises each of them.
import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { backOffMs, retryAfterMs } from '../client/back-off.ts'
import {
  devicePaths,
  type EnrolAnswer,
  gatewaySupport,
  type ListedGatewayTest,
  type ListedSource,
  type ListedSourceTest,
  maxDeviceStatesPerMessage,
  maxSourceStatesPerMessage,
} from '../contract/device/protocol.ts'
import { hourMs, secondMs } from '../contract/durations.ts'
import { Agent } from '../device/agent.ts'
import { EnrolmentRefusedError, requestEnrolment } from '../device/enrol.ts'
import type { AgentHandlers } from '../device/handlers.ts'
import { type ConnectionTimes, deviceBackOff } from '../device/reconnect.ts'
import { defaultRestartWithinMs } from './device-link.ts'
import { testDevice } from './device-test.ts'
import type { DriverTable } from './driver-table.ts'
import type { GatewayFolder, OwnRecord } from './folder.ts'
import { ItemSupervisor } from './item-supervisor.ts'
import { Pace } from './limited.ts'
import { GatewayNetwork } from './network.ts'
import type { Reach } from './reach.ts'
import { type DeviceList, ServerClient, ServerRefusal } from './server-client.ts'
import { SourceSupervisor } from './sources/source-supervisor.ts'
import type { SourceTable } from './sources/source-table.ts'
import { testSource } from './sources/source-test.ts'
import { type ItemReport, type SourceReport, StateReports } from './state-reports.ts'

export const gatewayModel = 'RK-GATEWAY'
/** A thousand devices start within 20 s, and connect to the server within 5 s. */
const openApartMs = 20
const connectApartMs = 5
/** The devices stay connected for this long after the gateway has lost its own connection. */
const keepDevicesMs = 10 * secondMs
/**
 * A gateway takes many devices with it: the server notices its loss within 45 s of the last packet, and it is back within 15 s after its
 * network. TCP repeats a lost packet of a new connection 1, 3 and 7 s after the first; the next time is too late, so the attempt ends before.
 */
export const serverConnection: ConnectionTimes = {
  keepAliveSeconds: 25,
  connectMs: 10 * secondMs,
  longestWaitMs: 5 * secondMs,
}
/** Two processes with one identity take over each other's connection in turn. The gateway stops after this many takeovers. */
const maxTakeovers = 3
const takeoversWithinMs = hourMs
/** After a takeover, devices connect only when the gateway's own connection has lasted this long. */
const calmAfterTakeoverMs = 5 * secondMs
/** A status report can name this many networks and hosts. */
const maxReportedReach = 32
const listBackOff = { firstMs: secondMs, maxMs: 30 * secondMs }

/** The gateway cannot go on, and trying again would not help. The message is a sentence for its owner. */
export class GatewayError extends Error {}

export interface GatewayOptions {
  readonly url: string
  /** The enrolment code of a room; needed until the gateway is enrolled. */
  readonly code?: string | undefined
  /** The serial of a gateway that this one replaces. */
  readonly serial?: string | undefined
  readonly folder: GatewayFolder
  readonly reach: Reach
  readonly version: string
  readonly drivers: DriverTable
  readonly sources: SourceTable
  readonly network?: GatewayNetwork
  /** Two minutes; tests shorten it. */
  readonly restartWithinMs?: number
  /** How soon a lost connection to the server is noticed; tests shorten it. */
  readonly connection?: ConnectionTimes
  readonly log: (line: string) => void
}

/** Runs until the signal is aborted. Rejects with a GatewayError if the gateway cannot go on. */
export async function runGateway(options: GatewayOptions, signal: AbortSignal): Promise<void> {
  const own = await enrolledRecord(options, signal)
  if (!own) return
  await new Gateway(options, own).run(signal)
}

type EnrolledRecord = OwnRecord & { readonly identity: EnrolAnswer }

/** Enrols the gateway if it is not enrolled yet. Undefined if the signal aborts first. */
async function enrolledRecord(options: GatewayOptions, signal: AbortSignal): Promise<EnrolledRecord | undefined> {
  const { folder, code, url, log } = options
  const known = folder.own
  if (known?.identity) return known as EnrolledRecord
  if (code === undefined)
    throw new GatewayError('This gateway is not enrolled. Give it the enrolment code of its room with --code.')
  const serial = options.serial ?? known?.serial ?? `RKG-${randomBytes(8).toString('hex').toUpperCase()}`
  await folder.saveOwn({ gateway: 1, serial })
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      const identity = await requestEnrolment(url, { code, serial, model: gatewayModel })
      const own = { gateway: 1, serial, identity } as const
      await folder.saveOwn(own)
      log(`enrolled as ${identity.endpointId} with the serial number ${serial}`)
      return own
    } catch (error) {
      await waitToEnrol(error, failures, log, signal)
    }
  }
  return undefined
}

async function waitToEnrol(
  error: unknown,
  failures: number,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { message } = error as Error
  const refusal = error instanceof EnrolmentRefusedError ? error : undefined
  if (refusal?.isFinal) throw new GatewayError(`The server did not enrol this gateway: ${message}`)
  const waitMs = (refusal && retryAfterMs(refusal.cause.headers)) ?? backOffMs(failures, deviceBackOff)
  const reason = refusal ? message : ((error as Error & { cause?: Error }).cause?.message ?? message)
  log(`not enrolled yet, next attempt in ${Math.ceil(waitMs / 1000)} s: ${reason}`)
  await pause(waitMs, undefined, { signal }).catch(() => {})
}

class Gateway {
  readonly #options: GatewayOptions
  readonly #identity: EnrolAnswer
  readonly #server: ServerClient
  readonly #network: GatewayNetwork
  readonly #agent: Agent
  readonly #reports: StateReports<ItemReport>
  readonly #sourceReports: StateReports<SourceReport>
  readonly #sources = new Map<string, SourceSupervisor>()
  readonly #items = new Map<string, ItemSupervisor>()
  /** Items that were removed, until their agents are disconnected. */
  readonly #leaving = new Map<string, Promise<void>>()
  readonly #openPace = new Pace(openApartMs)
  readonly #connectPace = new Pace(connectApartMs)
  readonly #testsSeen = new Set<string>()
  readonly #end = new AbortController()
  #failure: GatewayError | undefined
  #isConnected = false
  #areDevicesAllowed = false
  #listVersion: number | undefined
  /** The version that the server named last; undefined if the list was read since then. */
  #wantedVersion: number | undefined
  #isReading = false
  #connectionTimer: NodeJS.Timeout | undefined
  #takeoverTimesMs: number[] = []

  constructor(options: GatewayOptions, own: EnrolledRecord) {
    this.#options = options
    this.#identity = this.#withOwnAddress(own.identity)
    this.#server = new ServerClient(options.url, own.identity)
    this.#network = options.network ?? new GatewayNetwork(options.reach)
    setMaxListeners(0, this.#end.signal)
    this.#agent = new Agent({
      identity: this.#identity,
      status: {
        name: hostname().slice(0, 100),
        manufacturer: 'Roomkeeper',
        kind: 'GATEWAY',
        firmwareVersion: options.version,
        startedAt: new Date().toISOString(),
        actions: [],
        supports: [gatewaySupport],
        reach: [...options.reach.ranges, ...options.reach.hosts].slice(0, maxReportedReach),
      },
      storage: {
        load: () => this.#options.folder.own?.agent,
        save: (agent) => this.#options.folder.saveOwn({ ...(this.#options.folder.own ?? own), agent }),
      },
      handlers: ownHandlers,
      mqttVersion: 5,
      connection: options.connection ?? serverConnection,
    })
    this.#reports = new StateReports(maxDeviceStatesPerMessage, (devices) => this.#agent.reportDevices({ devices }))
    this.#sourceReports = new StateReports(maxSourceStatesPerMessage, (sources) =>
      this.#agent.reportSources({ sources }),
    )
  }

  async run(signal: AbortSignal): Promise<void> {
    const { log, reach, url } = this.#options
    const end = () => this.#end.abort()
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
    const hosts = reach.hosts.length > 0 ? `; its sources also reach ${reach.hosts.join(', ')}` : ''
    log(`gateway for ${url}, reaches ${reach}${hosts}`)
    this.#listen()
    await this.#agent.start()
    await aborted(this.#end.signal)
    signal.removeEventListener('abort', end)
    clearTimeout(this.#connectionTimer)
    this.#reports.close()
    this.#sourceReports.close()
    await Promise.all([...[...this.#items.values()].map((item) => item.stop()), ...this.#leaving.values()])
    await Promise.all([...this.#sources.values()].map((source) => source.stop()))
    await this.#agent.stop()
    if (this.#failure) throw this.#failure
    log('stopped')
  }

  #listen(): void {
    const { log } = this.#options
    const agent = this.#agent
    agent.on('connected', () => this.#connected())
    agent.on('disconnected', (reason) => this.#disconnected(reason))
    agent.on('replaced', () => this.#takenOver())
    agent.on('devicesChanged', ({ version }) => {
      this.#wantedVersion = version
      void this.#readList()
    })
    agent.on('credentialRefused', (since) =>
      log(
        `the server has refused the credential since ${since.toISOString()}: the gateway was enrolled again elsewhere, or the server has another database`,
      ),
    )
    agent.on('unenrolled', () => {
      const failure = new GatewayError('This gateway was deleted in the server. Its credentials were deleted here too.')
      this.#options.folder.clear().then(
        () => this.#fail(failure),
        () => this.#fail(failure),
      )
    })
    agent.on('messageRefused', ({ kind, field, reason }) => log(`the server refused ${kind} ${field}: ${reason}`))
    agent.on('keysIgnored', ({ kind, keys }) => log(`the server does not know ${keys.join(', ')} of ${kind}`))
    agent.on('warning', (error) => log(`warning: ${error instanceof Error ? error.message : String(error)}`))
  }

  #connected(): void {
    this.#options.log('connected')
    clearTimeout(this.#connectionTimer)
    this.#isConnected = true
    this.#reports.open()
    this.#sourceReports.open()
    const waitMs = this.#takeoverTimesMs.length > 0 ? calmAfterTakeoverMs : 0
    this.#connectionTimer = setTimeout(() => this.#allowDevices(true), waitMs)
  }

  #disconnected(reason: Error | undefined): void {
    if (this.#isConnected) this.#options.log(`disconnected: ${reason?.message || 'the connection was closed'}`)
    else this.#options.log(`not connected: ${reason?.message || 'the connection was closed'}`)
    if (!this.#isConnected) return
    this.#isConnected = false
    this.#reports.close()
    this.#sourceReports.close()
    clearTimeout(this.#connectionTimer)
    this.#connectionTimer = setTimeout(() => this.#allowDevices(false), keepDevicesMs)
  }

  /** Two processes with the same identity close each other's connections in turn, and the connections of all devices with them. */
  #takenOver(): void {
    const now = performance.now()
    this.#takeoverTimesMs = [...this.#takeoverTimesMs.filter((at) => now - at < takeoversWithinMs), now]
    this.#allowDevices(false)
    const count = this.#takeoverTimesMs.length
    this.#options.log(`another process with the identity of this gateway has connected (${count} of ${maxTakeovers})`)
    if (count < maxTakeovers) return
    this.#fail(
      new GatewayError(
        `Another process uses the identity of this gateway, perhaps a copy of its folder. This one stops. Delete one of the two folders.`,
      ),
    )
  }

  #allowDevices(isAllowed: boolean): void {
    this.#areDevicesAllowed = isAllowed
    for (const item of this.#items.values()) item.allowConnection(isAllowed)
  }

  #fail(failure: GatewayError): void {
    this.#failure ??= failure
    this.#end.abort()
  }

  /** Reads the list until it has the version that the server named last. */
  async #readList(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    const { signal } = this.#end
    for (let failures = 0; this.#wantedVersion !== undefined && !signal.aborted; ) {
      const wanted = this.#wantedVersion
      if (wanted === this.#listVersion) {
        this.#wantedVersion = undefined
        break
      }
      try {
        const list = await this.#server.readList(signal)
        if (this.#wantedVersion === wanted && list.isWhole) this.#wantedVersion = undefined
        this.#listVersion = list.isWhole ? list.version : undefined
        failures = 0
        this.#apply(list)
      } catch (error) {
        if (signal.aborted) break
        this.#options.log(`list of devices not read: ${(error as Error).message}`)
        const askedMs = error instanceof ServerRefusal ? error.retryAfterMs : undefined
        await pause(askedMs ?? backOffMs(failures++, listBackOff), undefined, { signal }).catch(() => {})
      }
    }
    this.#isReading = false
  }

  /** Makes the supervisors match the list: one for each source and each item, with its newest values. */
  #apply({ devices, tests, sources, sourceTests, isWhole }: DeviceList): void {
    this.#applySources(sources)
    const listed = new Set(devices.map(({ id }) => id))
    const known = isWhole ? [...this.#items.keys(), ...this.#options.folder.deviceIds] : []
    for (const id of new Set(known)) if (!listed.has(id)) this.#remove(id)
    for (const device of devices) {
      const item = this.#items.get(device.id)
      if (item) item.update(device)
      else this.#add(device)
      if (device.state === 'REMOVED') this.#reports.forget(device.id)
      else this.#reports.compare(device)
    }
    for (const test of tests) void this.#testDevice(test)
    for (const test of sourceTests) void this.#testSource(test)
  }

  /** All sources are on the first page, so none can be missing because the list changed while it was read. */
  #applySources(sources: readonly ListedSource[]): void {
    const listed = new Set(sources.map(({ id }) => id))
    for (const id of new Set([...this.#sources.keys(), ...this.#options.folder.sourceIds]))
      if (!listed.has(id)) this.#removeSource(id)
    for (const source of sources) {
      const known = this.#sources.get(source.id)
      if (known) known.update(source)
      else this.#addSource(source)
      this.#sourceReports.compare(source)
    }
  }

  #addSource(source: ListedSource): void {
    const { folder, log } = this.#options
    const supervisor = new SourceSupervisor(source, {
      sources: this.#options.sources,
      network: this.#network,
      folder,
      server: this.#server,
      own: this.#own,
      adoptedKeys: (id) => [...this.#items.values()].flatMap((item) => item.keyAt(id) ?? []),
      report: (report) => {
        if (this.#sources.get(source.id) === supervisor) this.#sourceReports.report(report)
      },
      acknowledged: (id, limitMs) => this.#sourceReports.acknowledged(id, limitMs),
      log,
    })
    this.#sources.set(source.id, supervisor)
    supervisor.start()
  }

  #removeSource(id: string): void {
    const source = this.#sources.get(id)
    this.#sources.delete(id)
    this.#sourceReports.forget(id)
    void Promise.resolve(source?.stop())
      .then(() => this.#options.folder.deleteSource(id))
      .catch((error: Error) => this.#options.log(`file of a removed source not deleted: ${error.message}`))
  }

  /** A source that is this installation is refused. */
  get #own() {
    return { endpointId: this.#identity.endpointId, url: this.#options.url }
  }

  #add(device: DeviceList['devices'][number]): void {
    const item = new ItemSupervisor(device, {
      drivers: this.#options.drivers,
      network: this.#network,
      folder: this.#options.folder,
      server: this.#server,
      source: (id) => this.#sources.get(id),
      addresses: (identity) => this.#withOwnAddress(identity),
      restartWithinMs: this.#options.restartWithinMs ?? defaultRestartWithinMs,
      connection: this.#options.connection ?? serverConnection,
      openPace: this.#openPace,
      connectPace: this.#connectPace,
      report: (report) => {
        if (this.#items.get(device.id) === item) this.#reports.report(report)
      },
      forgetReport: (id) => this.#reports.forget(id),
      log: this.#options.log,
    })
    this.#items.set(device.id, item)
    item.allowConnection(this.#areDevicesAllowed)
    // An item with the same id can have been removed just now.
    void (this.#leaving.get(device.id) ?? Promise.resolve()).then(() => {
      if (this.#items.get(device.id) === item && !this.#end.signal.aborted) item.start()
    })
  }

  #remove(id: string): void {
    const item = this.#items.get(id)
    this.#items.delete(id)
    this.#reports.forget(id)
    const left = Promise.resolve(item?.stop())
      .then(() => this.#options.folder.deleteDevice(id))
      .catch((error: Error) => this.#options.log(`file of a removed device not deleted: ${error.message}`))
      .finally(() => this.#leaving.delete(id))
    this.#leaving.set(id, left)
  }

  #testDevice(test: ListedGatewayTest): Promise<void> {
    const options = { drivers: this.#options.drivers, network: this.#network }
    return this.#test(test.id, {
      subject: `${test.host} (${test.driver})`,
      ask: () => testDevice(test, options),
      send: (answer) => this.#server.answerTest(test.id, answer, this.#end.signal),
    })
  }

  #testSource(test: ListedSourceTest): Promise<void> {
    const { sources, log } = this.#options
    const options = { sources, network: this.#network, own: this.#own, log }
    return this.#test(test.id, {
      subject: `${test.url} (${test.type})`,
      ask: () => testSource(test, options),
      send: (answer) => this.#server.answerSourceTest(test.id, answer, this.#end.signal),
    })
  }

  async #test<A extends { readonly reason?: string | undefined }>(
    id: string,
    { subject, ask, send }: { subject: string; ask: () => Promise<A>; send: (answer: A) => Promise<void> },
  ): Promise<void> {
    if (this.#testsSeen.has(id)) return
    this.#testsSeen.add(id)
    const answer = await ask()
    this.#options.log(`test of ${subject}: ${answer.reason ?? 'it answered'}`)
    // The caller waits for 20 s only: an answer that cannot be sent is not sent again.
    await send(answer).catch((error) =>
      this.#options.log(`test of ${subject} not answered: ${(error as Error).message}`),
    )
    setTimeout(() => this.#testsSeen.delete(id), hourMs).unref()
  }

  /** The addresses of an enrolment can be out of date, so the WebSocket at the address of the API is added. */
  #withOwnAddress(identity: EnrolAnswer): EnrolAnswer {
    const { protocol, host, pathname } = new URL(this.#options.url)
    const ownAddress = `${protocol === 'https:' ? 'wss' : 'ws'}://${host}${pathname.replace(/\/+$/, '')}${devicePaths.mqtt}`
    return { ...identity, connect: [...new Set([...identity.connect, ownAddress])] }
  }
}

const refuse = () => {
  throw new Error('A gateway does not do this.')
}

/** The gateway reports no actions, so the server asks for none of these. */
const ownHandlers: AgentHandlers = {
  settings: () => ({}),
  applyConfig: refuse,
  reboot: refuse,
  showMessage: refuse,
  collectLogs: refuse,
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
