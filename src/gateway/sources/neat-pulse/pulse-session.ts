// The session with Neat Pulse: reads the list and the samples every minute, everything else in turn, and passes them to the mirrored devices.
import { EventEmitter } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { minuteMs, secondMs } from '../../../contract/durations.ts'
import type { FoundDevice, SourceContent } from '../../../contract/fleet/sources.ts'
import type { AgentSettings } from '../../../device/handlers.ts'
import { DriverFailure, type DriverSession } from '../../driver.ts'
import { shortLine } from '../../short-line.ts'
import {
  type SourceContext,
  type SourceDeviceContext,
  type SourceEvents,
  SourceFailure,
  type SourceSession,
  type SourceSettings,
} from '../source.ts'
import { type DeviceSensorData, idText, isObject, type PulseDevice } from './answers.ts'
import { answerOf, inUse, MirroredDevice, type MirrorPorts } from './mirrored-device.ts'
import { mirroredSample } from './mirrored-sample.ts'
import { bareSerialOf, manufacturerOf, refusalOf } from './mirrored-status.ts'
import { PairReboots } from './pair-reboots.ts'
import { ReadingOrder } from './reading-order.ts'
import type { RequestPaces } from './request-pace.ts'
import { type PulseLists, type PulseStructure, pulseContent, readLists, readStructure } from './structure.ts'
import { Upstream } from './upstream.ts'

export interface PulseTimes {
  /** At most two requests go out within this time. */
  readonly twoWithinMs: number
  /** Between two readings of the list and of the samples. */
  readonly listMs: number
  /** Everything else is read once in this time, sooner if there is little of it: each reading then takes `readingMs` of it. */
  readonly roundMs: { readonly min: number; readonly max: number }
  readonly readingMs: number
  /** Before something that failed is tried again. */
  readonly retryMs: number
  /** The source is away if its list could not be read for so long. */
  readonly giveUpMs: number
}

/** A little less than two requests a second: requests take different times to arrive. */
export const usualPulseTimes: PulseTimes = {
  twoWithinMs: 1_010,
  listMs: minuteMs,
  roundMs: { min: 2 * minuteMs, max: 10 * minuteMs },
  readingMs: 2 * secondMs,
  retryMs: 15 * secondMs,
  giveUpMs: 45 * secondMs,
}

/** So many readings are on their way at the same time if answers are slow. */
const readerCount = 4
/** So many readings of one kind have to fail before the source counts as away. */
const maxFailedReadings = 10
/** A list that was read so recently tells whether a device is in use. */
const freshMs = 5 * secondMs
/** The source is away if the details of none of so many devices can be read. */
const maxTriedDevices = 3
/** A session that would have to wait longer for its first answer fails with the reason, before the time limit for opening is over. */
const maxOpenPauseMs = 5 * secondMs
const structureThing = 'structure'

type Lists = {
  readonly devices: readonly PulseDevice[]
  readonly sensorData: ReadonlyMap<string, DeviceSensorData | undefined>
}

export class PulseSession extends EventEmitter<SourceEvents> implements SourceSession {
  readonly #upstream: Upstream
  readonly #settings: SourceSettings
  readonly #context: SourceContext
  readonly #times: PulseTimes
  readonly #end = new AbortController()
  readonly #releasePace: () => void
  readonly #order = new ReadingOrder()
  readonly #reboots = new PairReboots()
  readonly #mirrored = new Map<string, MirroredDevice>()
  /** Devices whose details are not in the answer about their room. */
  readonly #readAlone = new Set<string>()
  #devices: ReadonlyMap<string, PulseDevice> = new Map()
  #sensorData: Lists['sensorData'] = new Map()
  /** As they were emitted last. */
  #found: ReadonlyMap<string, FoundDevice> = new Map()
  #listedAtMs = 0
  #isClosed = false
  #content: SourceContent = {}
  #hasProfiles = true
  #structure: PulseStructure | undefined
  /** The kinds of readings in turn that fail, such as those of rooms. */
  readonly #failing = new Map<string, { readonly count: number; readonly sinceMs: number }>()

  private constructor(settings: SourceSettings, context: SourceContext, times: PulseTimes, paces: RequestPaces) {
    super()
    this.#settings = settings
    this.#context = context
    this.#times = times
    const signal = AbortSignal.any([context.signal, this.#end.signal])
    const { pace, release } = paces.acquire(settings)
    this.#releasePace = release
    this.#upstream = new Upstream(settings, { network: context.network, signal }, pace)
  }

  static async open(
    settings: SourceSettings,
    context: SourceContext,
    times: PulseTimes,
    paces: RequestPaces,
  ): Promise<PulseSession> {
    const session = new PulseSession(settings, context, times, paces)
    try {
      await session.#open()
      return session
    } catch (error) {
      session.close()
      throw error
    }
  }

  get certificate() {
    return this.#upstream.certificate
  }

  summary() {
    const refusedCount = [...this.#devices.values()].filter((device) => this.#refusal(device) !== undefined).length
    const notes = [
      ...(this.#settings.write ? [] : ['Read only: nothing is changed there.']),
      ...(this.#hasProfiles ? [] : ['The API key does not show the profiles, so the plan has none.']),
      ...(refusedCount > 0 ? [`${refusedCount} devices are gateways, or mirrored there, and cannot be adopted.`] : []),
    ]
    return { content: this.#content, notes }
  }

  openDevice(key: string, { signal, memory }: SourceDeviceContext): Promise<DriverSession> {
    return Promise.resolve().then(() => {
      signal.throwIfAborted()
      const listed = this.#devices.get(key)
      if (!listed) throw this.#noLongerListed()
      const refusal = this.#refusal(listed)
      if (refusal !== undefined) throw new DriverFailure('UNSUPPORTED', refusal)
      this.#mirrored.get(key)?.close()
      const device = new MirroredDevice(this.#upstream.host, listed, memory, this.#portsOf(key))
      this.#mirrored.set(key, device)
      signal.addEventListener('abort', () => device.close(), { once: true })
      this.#orderReadings()
      return device
    })
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#end.abort(new Error('The session is closed.'))
    this.#releasePace()
    void this.#upstream.close()
  }

  async #open(): Promise<void> {
    const { url } = this.#settings
    const { own } = this.#context
    if (URL.canParse(own.url) && new URL(own.url).origin === new URL(url).origin) throw this.#isOwnInstallation()
    this.#upstream.requireNoPause(maxOpenPauseMs)
    const lists = await this.#readLists()
    this.#keep(lists)
    const structureLists = await readLists(this.#upstream, 'list')
    this.#takeStructureLists(structureLists, lists.devices.length)
    await this.#tryDetails(lists.devices)
    // The caller first listens to this session.
    setImmediate(() => this.#start(lists))
  }

  /** An answer that has changed is a failure now, and not only when its turn comes. One device alone can have a fault of its own. */
  async #tryDetails(devices: readonly PulseDevice[]): Promise<void> {
    const tried = devices.filter((device) => this.#refusal(device) === undefined).slice(0, maxTriedDevices)
    for (const [i, device] of tried.entries()) {
      try {
        await this.#tryDevice(device)
        return
      } catch (error) {
        if (i === tried.length - 1) throw error
      }
    }
  }

  async #tryDevice({ id, roomId }: PulseDevice): Promise<void> {
    await this.#upstream.object('list', pathOf(id))
    await this.#upstream.object('list', `${pathOf(id)}/config`)
    if (roomId !== undefined) this.#endpointsOf(await this.#upstream.object('list', `/rooms/${roomId}`))
  }

  #start(lists: Lists): void {
    if (this.#end.signal.aborted) return
    this.#take(lists)
    this.emit('content', this.#content)
    this.#order.hurry(structureThing)
    void this.#readLoop()
    for (let i = 0; i < readerCount; i++) void this.#turnLoop()
  }

  async #readLoop(): Promise<void> {
    const { listMs, retryMs, giveUpMs } = this.#times
    const { signal } = this.#end
    let failingSinceMs: number | undefined
    let startedAtMs = performance.now()
    while (!signal.aborted) {
      const sinceStartMs = performance.now() - startedAtMs
      const waitMs = failingSinceMs === undefined ? listMs - sinceStartMs : retryMs
      await pause(Math.max(0, waitMs), undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      startedAtMs = performance.now()
      try {
        this.#take(await this.#readLists())
        failingSinceMs = undefined
      } catch (error) {
        if (signal.aborted) return
        const failure = this.#failureOf(error)
        failingSinceMs ??= startedAtMs
        const isTransient = failure.state === 'UNREACHABLE' || failure.state === 'FAILING'
        if (!isTransient || performance.now() - failingSinceMs >= giveUpMs) {
          this.#fail(failure)
          return
        }
        this.#context.log(`${failure.message} Trying again.`)
      }
    }
  }

  /** Rejects if the list is not complete: a device that is missing in it must be missing at the source. */
  async #readLists(): Promise<Lists> {
    const devices = await this.#upstream.devices('list')
    const sensorData = await this.#upstream.sensorData()
    const listed = new Set(devices.map(({ id }) => id))
    if (listed.has(this.#context.own.endpointId)) throw this.#isOwnInstallation()
    const { host } = this.#upstream
    if (devices.length === 0 && (this.#context.deviceCount ?? 0) > 0)
      throw new SourceFailure('FAILING', `${host} sent an empty list of devices, and had some before.`)
    const expected = new Set([...sensorData.keys(), ...this.#devices.keys(), ...(this.#context.knownKeys?.() ?? [])])
    const absent = [...expected].filter((id) => !listed.has(id))
    // A cut answer can lack devices at either end, or in between.
    for (const id of new Set([absent[0], absent[absent.length >> 1], absent.at(-1)])) {
      if (id === undefined) continue
      if (await this.#upstream.object('list', pathOf(id)))
        throw new SourceFailure('FAILING', `${host} sent a list of devices that is not complete.`)
    }
    this.#listedAtMs = performance.now()
    return { devices, sensorData }
  }

  #take({ devices, sensorData }: Lists): void {
    const before = this.#devices
    this.#keep({ devices, sensorData })
    const found = devices.map((device) => this.#foundDevice(device))
    const changed = found.filter((device) => !isDeepStrictEqual(this.#found.get(device.key), device))
    this.#found = new Map(found.map((device) => [device.key, device]))
    if (changed.length > 0) this.emit('found', changed)
    this.emit('listed', [...this.#devices.keys()])
    this.#takeContent({ ...this.#content, devices: devices.length })
    this.#orderReadings()
    for (const device of this.#mirrored.values()) this.#update(device)
    if (devices.some((device) => device.fields.roomName !== before.get(device.id)?.fields.roomName))
      this.#order.hurry(structureThing)
  }

  #keep({ devices, sensorData }: Lists): void {
    this.#devices = new Map(devices.map((device) => [device.id, device]))
    this.#sensorData = sensorData
  }

  #update(device: MirroredDevice): void {
    const { id, listed: before } = device
    const listed = this.#devices.get(id)
    if (!listed) {
      device.end(this.#noLongerListed())
      return
    }
    if (!isDeepStrictEqual(before.fields, listed.fields)) this.#order.hurry(this.#detailsThing(listed))
    if (before.fields.configState !== listed.fields.configState || (!before.connected && listed.connected))
      this.#order.hurry(`config ${id}`)
    device.takeListed(listed)
    this.#passSample(device)
  }

  #passSample(device: MirroredDevice): void {
    const data = this.#sensorData.get(device.id)
    const sample = data && mirroredSample(device.listed, data)
    if (sample) device.takeSample(sample)
  }

  #foundDevice(listed: PulseDevice): FoundDevice {
    const { id, model, roomId, fields } = listed
    const serial = bareSerialOf(listed)
    const refusedBecause = this.#refusal(listed)
    const name = typeof fields.name === 'string' ? shortLine(fields.name, 100) : ''
    return {
      key: id,
      model: shortLine(model, 64),
      manufacturer: shortLine(manufacturerOf(listed), 100),
      ...(name !== '' && { name }),
      ...(serial !== undefined && { serial: shortLine(serial, 64) }),
      ...(roomId !== undefined && roomId.length <= 64 && { theirRoomId: roomId }),
      ...(refusedBecause !== undefined && { refusedBecause }),
    }
  }

  #refusal(device: PulseDevice): string | undefined {
    return refusalOf(device, this.#context.own.endpointId)
  }

  /** Rooms have the details of all their devices, and take one request. */
  #detailsThing({ id, roomId }: PulseDevice): string {
    return roomId === undefined || this.#readAlone.has(id) ? `device ${id}` : `room ${roomId}`
  }

  #orderReadings(): void {
    const devices = [...this.#mirrored.values()].map(({ id, listed }) => this.#devices.get(id) ?? listed)
    const configs = devices.map(({ id }) => `config ${id}`)
    this.#order.keep([structureThing, ...devices.map((device) => this.#detailsThing(device)), ...configs])
  }

  async #turnLoop(): Promise<void> {
    const { signal } = this.#end
    const { roundMs, readingMs, retryMs, giveUpMs } = this.#times
    while (!signal.aborted) {
      const minAgeMs = Math.min(roundMs.max, Math.max(roundMs.min, this.#order.size * readingMs))
      const next = this.#order.next(performance.now(), minAgeMs)
      if (!next) {
        await pause(this.#times.twoWithinMs, undefined, { signal }).catch(() => {})
        continue
      }
      this.#order.startReading(next.thing, performance.now())
      const [what = ''] = next.thing.split(' ')
      try {
        await this.#read(next.thing, next.hasChanged ? 'changed' : 'round')
        this.#order.succeeded(next.thing)
        this.#failing.delete(what)
      } catch (error) {
        if (signal.aborted) return
        const failure = this.#failureOf(error)
        this.#context.log(`${next.thing} was not read: ${failure.message}`)
        const now = performance.now()
        const { count: before, sinceMs } = this.#failing.get(what) ?? { count: 0, sinceMs: now }
        const count = before + 1
        this.#failing.set(what, { count, sinceMs })
        if (count >= maxFailedReadings && now - sinceMs >= giveUpMs) {
          this.#fail(failure)
          return
        }
        if (count <= readerCount) {
          this.#order.failed(next.thing, now, retryMs)
          continue
        }
        // The fault is not in this thing alone: the source may be failing.
        await pause(retryMs, undefined, { signal }).catch(() => {})
        this.#order.hurry(next.thing)
      }
    }
  }

  async #read(thing: string, kind: 'changed' | 'round'): Promise<void> {
    const [what, id = ''] = thing.split(/ (.*)/)
    if (what === structureThing) return this.#readStructure()
    if (what === 'config') {
      const settings = await this.#upstream.object(kind, `${pathOf(id)}/config`)
      if (settings) this.#mirrored.get(id)?.takeSettings(settings)
      return
    }
    if (what === 'device') {
      const details = await this.#upstream.object(kind, pathOf(id))
      if (details) this.#mirrored.get(id)?.takeDetails(details)
      return
    }
    const room = await this.#upstream.object(kind, `/rooms/${encodeURIComponent(id)}`)
    for (const details of this.#endpointsOf(room)) {
      const device = this.#mirrored.get(String(details.id))
      if (!device) continue
      if (Array.isArray(details.networks)) device.takeDetails(details)
      else this.#readAlone.add(device.id)
    }
    this.#orderReadings()
  }

  #endpointsOf(room: Awaited<ReturnType<Upstream['object']>>) {
    if (!room) return []
    const { endpoints } = room
    if (Array.isArray(endpoints) && endpoints.every((one) => isObject(one) && idText(one.id) !== undefined))
      return endpoints.filter(isObject)
    throw new SourceFailure('FAILING', `${this.#upstream.host} sent a room without a list of its devices.`)
  }

  async #readStructure(): Promise<void> {
    const lists = await readLists(this.#upstream, 'round')
    const rooms = new Set(lists.rooms.map(({ id }) => idText(id)))
    // A list that is not complete would make a plan with rooms missing.
    if ([...this.#devices.values()].some(({ roomId }) => roomId !== undefined && !rooms.has(roomId))) return
    const structure = await readStructure(this.#upstream, lists)
    this.#takeStructureLists(lists, this.#devices.size)
    if (isDeepStrictEqual(structure, this.#structure)) return
    this.#structure = structure
    if (!this.#end.signal.aborted) this.emit('structure', structure)
  }

  #takeStructureLists(lists: PulseLists, deviceCount: number): void {
    this.#hasProfiles = lists.profiles !== undefined
    this.#takeContent(pulseContent(lists, deviceCount))
  }

  #takeContent(content: SourceContent): void {
    if (isDeepStrictEqual(content, this.#content)) return
    this.#content = content
    this.emit('content', content)
  }

  #portsOf(id: string): MirrorPorts {
    return {
      write: this.#settings.write === true,
      retryMs: this.#times.retryMs,
      applyConfig: async (config) => {
        const outcome = await this.#upstream.applyConfig(id, config)
        this.#order.hurry(`config ${id}`)
        return outcome
      },
      readSettings: () =>
        this.#upstream.object('changed', `${pathOf(id)}/config`).then(
          (settings) => settings as AgentSettings | undefined,
          () => undefined,
        ),
      reboot: (device, onlyIfIdle) => this.#reboot(device, onlyIfIdle),
      message: (text) => this.#upstream.message(id, text),
      bugReport: (inCallLogs) => this.#upstream.bugReport(id, inCallLogs),
      isInUse: (device) => this.#isInUse(device),
      closed: (device) => {
        if (this.#mirrored.get(id) !== device) return
        this.#mirrored.delete(id)
        this.#orderReadings()
      },
    }
  }

  #reboot(device: MirroredDevice, onlyIfIdle: boolean): Promise<void> {
    const others = this.#groupOf(device.listed).flatMap(({ id }) => {
      const other = id === device.id ? undefined : this.#mirrored.get(id)
      return other?.reboot ? [other] : []
    })
    return this.#reboots.reboot(device, others, async () => {
      if (onlyIfIdle && (await this.#isGroupInUse(device.listed))) throw inUse()
      answerOf(await this.#upstream.reboot(device.id))
    })
  }

  async #isInUse(device: MirroredDevice): Promise<boolean> {
    return this.#reboots.isCovered(device) ? false : this.#isGroupInUse(device.listed)
  }

  /** Whether a device of the pair group is in a call, or sees people. */
  async #isGroupInUse(listed: PulseDevice): Promise<boolean> {
    if (performance.now() - this.#listedAtMs > freshMs) this.#take(await this.#readLists())
    return this.#groupOf(listed).some((member) => {
      const { inCallStatus } = member.fields
      const data = this.#sensorData.get(member.id)
      const sample = data && mirroredSample(member, data)
      const isRecent = sample !== undefined && Date.now() - sample.timestamp * secondMs < 2 * minuteMs
      const isInCall = typeof inCallStatus === 'string' && inCallStatus !== '' && inCallStatus !== 'NONE'
      return isInCall || (isRecent && (sample.people ?? 0) > 0)
    })
  }

  /** The device and everything that is paired with it. */
  #groupOf(listed: PulseDevice): PulseDevice[] {
    const leader = leaderSerialOf(listed)
    return [...this.#devices.values()].filter((other) => leaderSerialOf(other) === leader)
  }

  #failureOf(error: unknown): SourceFailure {
    if (error instanceof SourceFailure) return error
    return new SourceFailure(
      'FAILING',
      `The answers of ${this.#upstream.host} cannot be read: ${(error as Error).message}`,
    )
  }

  #fail(failure: SourceFailure): void {
    if (this.#end.signal.aborted) return
    this.#end.abort(failure)
    this.emit('ended', failure)
  }

  #noLongerListed(): DriverFailure {
    return new DriverFailure('UNREACHABLE', `${this.#upstream.host} no longer lists this device.`)
  }

  #isOwnInstallation(): SourceFailure {
    const reason = `${this.#upstream.host} is the installation that this gateway belongs to. Its devices are here already.`
    return new SourceFailure('UNSUPPORTED', reason)
  }
}

const pathOf = (id: string): string => `/endpoints/${encodeURIComponent(id)}`

/** The serial number of the leader of the pair group, which is that of the device itself if it is not paired. */
const leaderSerialOf = ({ id, serial, fields: { pairingSerial } }: PulseDevice): string =>
  typeof pairingSerial === 'string' && pairingSerial !== '' ? pairingSerial : (serial ?? id)
