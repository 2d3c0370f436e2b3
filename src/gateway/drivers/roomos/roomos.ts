// The driver of Cisco RoomOS: codecs, boards and desks, by JSON-RPC 2.0 over their WebSocket, with subscriptions and without polling.
import { EventEmitter } from 'node:events'
import { realSerial } from '../../../contract/device/placeholders.ts'
import { inUseError, type UpMessage } from '../../../contract/device/protocol.ts'
import type { AgentSettings } from '../../../device/handlers.ts'
import {
  type DeviceCertificate,
  type DeviceIdentity,
  type Driver,
  type DriverContext,
  DriverFailure,
  type DriverItem,
  type DriverSession,
  type SessionEvents,
} from '../../driver.ts'
import { changedFields } from '../changed-fields.ts'
import { switchOption } from '../item-options.ts'
import { Codec } from './codec.ts'
import { HeldFaults, presentFaults } from './faults.ts'
import { type RoomosLimits, roomosLimits } from './limits.ts'
import { assignmentsFor, codecSettings } from './settings.ts'
import { type CodecStatusOptions, codecModel, codecSample, codecStatus } from './status.ts'
import { openXapi, switchesAtCodec, type XapiConnection, XapiError, xapiErrors } from './xapi-connection.ts'
import { alertLimits, commands, configurationReads, pathParts, statusReads, statusSubscriptions } from './xapi-paths.ts'
import { TooManyValues } from './xapi-tree.ts'

export const makeRoomosDriver = (limits: RoomosLimits = roomosLimits): Driver => ({
  async open(item, context) {
    const statusOptions = { losesPowerWithDisplay: switchOption(item, 'losesPowerWithDisplay') }
    const { socket, certificate } = await connect(item, context, limits)
    const connection = await openXapi(socket, item, limits, context.signal)
    const overdue = new DriverFailure('UNREACHABLE', 'The codec answers too slowly.')
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(overdue), limits.openMs)
    })
    try {
      return await Promise.race([RoomosSession.open(connection, item, { certificate, limits, statusOptions }), late])
    } catch (error) {
      connection.close()
      throw failureOf(error)
    } finally {
      clearTimeout(timer)
    }
  },
})

export const roomos = makeRoomosDriver()

async function connect(
  { host, port, fingerprint }: DriverItem,
  { network, signal }: DriverContext,
  limits: RoomosLimits,
) {
  try {
    return await network.connectTls({ host, port, fingerprint, timeoutMs: limits.connectMs, signal })
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: string }
    if (!(error instanceof DriverFailure) || code !== 'ECONNREFUSED') throw error
    throw new DriverFailure(error.state, `${error.message} If this is the codec, HTTPS is off. ${switchesAtCodec}`, {
      cause: error.cause,
    })
  }
}

const tooManyValues = () =>
  new DriverFailure('UNSUPPORTED', 'The codec sent more values than a codec has. The session was ended.')

function failureOf(error: unknown): DriverFailure {
  if (error instanceof DriverFailure) return error
  if (error instanceof TooManyValues) return tooManyValues()
  if (error instanceof XapiError && error.code === xapiErrors.notReady) {
    return new DriverFailure('UNREACHABLE', 'The codec is still starting.')
  }
  throw error
}

type Kind = 'Status' | 'Configuration'

interface SessionOptions {
  readonly certificate: DeviceCertificate
  readonly limits: RoomosLimits
  readonly statusOptions: CodecStatusOptions
}

class RoomosSession extends EventEmitter<SessionEvents> implements DriverSession {
  readonly #connection: XapiConnection
  readonly #codec = new Codec()
  readonly #limits: RoomosLimits
  readonly #username: string
  readonly #statusOptions: CodecStatusOptions
  readonly power?: NonNullable<DriverSession['power']>
  readonly #faults: HeldFaults
  /** The subtrees that the user is not allowed to read. */
  readonly #denied = new Set<string>()
  /** Subtrees that are read again and again, because the codec allows no more subscriptions. */
  readonly #unsubscribed: { readonly kind: Kind; readonly path: string }[] = []
  #subscriptionCount = 0
  #identity: DeviceIdentity | undefined
  #startedAt: Date | undefined
  #clockErrorMs = 0
  #isRestarting = false
  #reported: UpMessage<'status'> = {}
  #reportedSettings = ''
  #statusTimer: NodeJS.Timeout | undefined
  #heldTimer: NodeJS.Timeout | undefined
  #sampleTimer: NodeJS.Timeout | undefined
  #readAgainTimer: NodeJS.Timeout | undefined

  static async open(connection: XapiConnection, item: DriverItem, options: SessionOptions) {
    const session = new RoomosSession(connection, item, options)
    await session.#start(options.certificate)
    return session
  }

  private constructor(
    connection: XapiConnection,
    { username = '' }: DriverItem,
    { limits, statusOptions }: SessionOptions,
  ) {
    super()
    this.#statusOptions = statusOptions
    // Its power is not reported, so nothing would show that a switch has succeeded.
    if (!statusOptions.losesPowerWithDisplay) this.power = (on) => this.#switchPower(on)
    this.#connection = connection
    this.#limits = limits
    this.#username = username
    this.#faults = new HeldFaults(limits.faultHeldMs)
  }

  get identity(): DeviceIdentity {
    if (!this.#identity) throw new Error('The session is not open.')
    return this.#identity
  }

  status(): UpMessage<'status'> {
    const present = presentFaults(this.#codec, this.#clockErrorMs)
    const faults = this.#faults.update(present, performance.now())
    if (faults.length > present.length)
      this.#heldTimer ??= setTimeout(() => this.#reportAgain(), this.#limits.faultHeldMs)
    return codecStatus(this.#codec, this.#startedAt, faults, this.#statusOptions)
  }

  settings(): AgentSettings {
    return codecSettings(this.#codec)
  }

  async apply(config: AgentSettings): Promise<Record<string, string> | undefined> {
    const rejected: Record<string, string> = {}
    for (const key of Object.keys(config)) {
      const assignments = assignmentsFor(this.#codec, key, config)
      const reason = typeof assignments === 'string' ? assignments : await this.#write(assignments)
      if (reason !== undefined) rejected[key] = reason
    }
    this.#reportedSettings = JSON.stringify(this.settings())
    this.#changed()
    return Object.keys(rejected).length > 0 ? rejected : undefined
  }

  async reboot({ onlyIfIdle }: { readonly onlyIfIdle: boolean }): Promise<void> {
    if (onlyIfIdle && (await this.isInUse())) throw new Error(inUseError)
    try {
      await this.#restart(onlyIfIdle)
    } catch (error) {
      // The codec can go before it answers; its uptime says whether it restarted.
      if (!(error instanceof DriverFailure)) throw error
    }
    this.#isRestarting = true
  }

  async message(text: string, durationMs: number): Promise<void> {
    const { maxTextCharacters, maxDurationSeconds } = alertLimits
    // A parameter cannot hold line breaks.
    const line = text.replaceAll(/\s*[\r\n]+\s*/g, ' ').trim()
    if (line.length > maxTextCharacters) {
      throw new Error(`A codec shows at most ${maxTextCharacters} characters, and this message has ${line.length}.`)
    }
    // 0 would show it until a person clears it.
    const seconds = Math.min(maxDurationSeconds, Math.max(1, Math.round(durationMs / 1_000)))
    await this.#command('alert', { Text: line, Duration: seconds })
  }

  async isInUse(): Promise<boolean> {
    if (this.#unsubscribed.length > 0) await this.#readUnsubscribed()
    return this.#codec.isInUse
  }

  close(): void {
    this.#stopTimers()
    this.#connection.close()
  }

  /** Subscribes before it reads, so no change in between is lost. */
  async #start(certificate: DeviceCertificate): Promise<void> {
    const connection = this.#connection
    let failure: DriverFailure | undefined
    connection.on('feedback', (change) => this.#feedback(change))
    connection.on('ended', (reason) => {
      failure = reason
      this.#ended(reason)
    })
    await Promise.all(
      statusSubscriptions.map((path) =>
        this.#subscribe(
          'Status',
          path,
          statusReads.filter((read) => `${path} `.startsWith(`${read} `)),
        ),
      ),
    )
    await this.#subscribe('Configuration', '', configurationReads)
    await Promise.all(statusReads.map((path) => this.#read('Status', path)))
    await Promise.all(configurationReads.map((path) => this.#read('Configuration', path)))
    if (failure) throw failure
    const { status } = this.#codec
    const uptimeSeconds = status.number('SystemUnit Uptime')
    if (uptimeSeconds !== undefined && uptimeSeconds >= 0) this.#startedAt = startOf(uptimeSeconds)
    const clockMs = Date.parse(status.text('Time SystemTime') ?? '')
    if (!Number.isNaN(clockMs)) this.#clockErrorMs = clockMs - Date.now()
    this.#identity = this.#identify(certificate)
    this.#reported = this.status()
    this.#reportedSettings = JSON.stringify(this.settings())
    const sample = () => {
      const reading = codecSample(this.#codec, Date.now())
      if (reading) this.emit('sample', reading)
    }
    // The first one comes when the caller has added its listeners.
    this.#sampleTimer = setTimeout(() => {
      this.#sampleTimer = setInterval(sample, this.#limits.sampleMs)
      sample()
    })
    if (this.#unsubscribed.length > 0)
      this.#readAgainTimer = setInterval(() => this.#readAgain(), this.#limits.readAgainMs)
  }

  #identify(certificate: DeviceCertificate): DeviceIdentity {
    const { status } = this.#codec
    const model = codecModel(this.#codec)
    if (model === undefined) {
      throw new DriverFailure(
        'UNSUPPORTED',
        'The device does not say which product it is, as every codec does. Check the address.',
      )
    }
    const serial = realSerial(status.text('SystemUnit Hardware Module SerialNumber'))
    return {
      manufacturer: 'Cisco',
      model,
      ...(serial !== undefined && { serial: serial.slice(0, 64) }),
      firmwareVersion: status.text('SystemUnit Software Version'),
      certificate,
      notes: this.#notes(),
    }
  }

  /** Sentences about what a technician can switch on. */
  #notes(): string[] {
    const codec = this.#codec
    const limits = this.#limits
    const denied = [...this.#denied].sort().join(', ')
    return [
      ...(codec.isSet('RoomAnalytics PeopleCountOutOfCall', 'Off')
        ? ['People are counted during calls only. To count them always, set RoomAnalytics PeopleCountOutOfCall to On.']
        : []),
      ...(codec.isSet('RoomAnalytics PeoplePresenceDetector', 'Off')
        ? ['Presence is not detected outside of calls. Set RoomAnalytics PeoplePresenceDetector to On.']
        : []),
      ...(this.#unsubscribed.length === 0
        ? []
        : [
            `The codec allows only ${this.#subscriptionCount} subscriptions. What it does not push is read every ${limits.readAgainMs / 1_000} seconds.`,
          ]),
      ...(denied === ''
        ? []
        : [`The user ${this.#username} is not allowed to read ${denied}. Give the user the roles Admin and User.`]),
    ]
  }

  /** Subscribes to a subtree, or to a whole tree. If the codec allows no more subscriptions, `reads` are read again and again. */
  async #subscribe(kind: Kind, path: string, reads: readonly string[]): Promise<void> {
    const query = [kind, ...(path === '' ? [] : pathParts(path))]
    try {
      await this.#connection.ask('xFeedback/Subscribe', { Query: query })
      this.#subscriptionCount++
    } catch (error) {
      if (error instanceof XapiError && error.code === xapiErrors.tooManySubscriptions) {
        const isNew = (read: string) => !this.#unsubscribed.some((one) => one.kind === kind && one.path === read)
        this.#unsubscribed.push(...reads.filter(isNew).map((read) => ({ kind, path: read })))
      } else this.#lacks(error, query)
    }
  }

  #readAgain(): void {
    this.#readUnsubscribed().catch((error) => {
      // A codec that is not ready now is asked the next time.
      if (error instanceof XapiError) return
      this.#connection.fail(error instanceof DriverFailure ? error : tooManyValues())
    })
  }

  async #readUnsubscribed(): Promise<void> {
    await Promise.all(this.#unsubscribed.map(({ kind, path }) => this.#read(kind, path)))
    this.#changed()
  }

  async #read(kind: Kind, path: string): Promise<void> {
    const parts = pathParts(path)
    const tree = kind === 'Status' ? this.#codec.status : this.#codec.configuration
    try {
      // An empty list can be absent.
      tree.replace(parts, (await this.#connection.ask('xGet', { Path: [kind, ...parts] })) ?? {})
    } catch (error) {
      this.#lacks(error, [kind, ...parts])
    }
  }

  /** The driver does without a path that the release or the product lacks. */
  #lacks(error: unknown, path: readonly (string | number)[]): void {
    if (!(error instanceof XapiError) || error.code === xapiErrors.notReady) throw error
    if (error.code === xapiErrors.noPermission) this.#denied.add(path.slice(1, 3).join(' ') || 'the settings')
  }

  #feedback(change: Readonly<Record<string, unknown>>): void {
    if (change.Status !== undefined) this.#codec.status.merge(change.Status)
    if (change.Configuration !== undefined) this.#codec.configuration.merge(change.Configuration)
    this.#changed()
  }

  /** Reports at most once in a while what has changed since the last report. */
  #changed(): void {
    if (this.#identity) this.#statusTimer ??= setTimeout(() => this.#report(), this.#limits.statusMs)
  }

  /** A fault that was held has ended, and no feedback says so. */
  #reportAgain(): void {
    this.#heldTimer = undefined
    this.#report()
  }

  #report(): void {
    clearTimeout(this.#statusTimer)
    this.#statusTimer = undefined
    const status = this.status()
    const changes = changedFields(this.#reported, status)
    this.#reported = status
    if (changes) this.emit('status', changes)
    const settings = JSON.stringify(this.settings())
    if (settings === this.#reportedSettings) return
    this.#reportedSettings = settings
    this.emit('settings')
  }

  /** Returns why the codec did not take it. */
  async #write(assignments: readonly { readonly path: string; readonly value: string | number }[]) {
    for (const { path, value } of assignments) {
      try {
        await this.#connection.ask('xSet', { Path: ['Configuration', ...pathParts(path)], Value: value })
        this.#codec.configuration.set(path, String(value))
      } catch (error) {
        if (!(error instanceof XapiError)) throw error
        return refusalOf(error, path, value, this.#username)
      }
    }
    return undefined
  }

  async #restart(onlyIfIdle: boolean): Promise<void> {
    if (!onlyIfIdle) return this.#command('restart')
    try {
      await this.#command('restartIfIdle')
    } catch (error) {
      if (!(error instanceof XapiError)) throw error
      // One product of release 9.15 lacks the parameter: what the codec reports has been checked above.
      if (error.code === xapiErrors.badParameters) return this.#command('restart')
      if (error.code === xapiErrors.failed) throw new Error(inUseError)
      throw error
    }
  }

  async #switchPower(on: boolean): Promise<void> {
    await this.#command(on ? 'deactivateStandby' : 'activateStandby')
  }

  async #command(name: keyof typeof commands, params: Readonly<Record<string, string | number>> = {}): Promise<void> {
    const command = commands[name]
    const method = `xCommand/${command.path.replaceAll(' ', '/')}`
    try {
      await this.#connection.ask(method, { ...command.params, ...params })
    } catch (error) {
      if (!(error instanceof XapiError) || error.code !== xapiErrors.noPermission) throw error
      throw new Error(
        `The user ${this.#username} is not allowed to do this at the codec. Give the user the role Admin.`,
      )
    }
  }

  #ended(failure: DriverFailure): void {
    // A codec reports its standby, and can leave the network immediately.
    if (this.#statusTimer) this.#report()
    this.#stopTimers()
    if (!this.#identity) return
    this.emit('ended', this.#isRestarting ? new DriverFailure('UNREACHABLE', 'The codec is restarting.') : failure)
  }

  #stopTimers(): void {
    clearTimeout(this.#statusTimer)
    clearTimeout(this.#heldTimer)
    clearTimeout(this.#sampleTimer)
    clearInterval(this.#readAgainTimer)
  }
}

/** Whole seconds, like the uptime of a codec. */
const startOf = (uptimeSeconds: number) => new Date(Math.floor(Date.now() / 1_000 - uptimeSeconds) * 1_000)

function refusalOf({ code, message }: XapiError, path: string, value: string | number, username: string): string {
  if (code === xapiErrors.noSuchPath) return `This codec does not have the setting ${path}.`
  if (code === xapiErrors.noPermission)
    return `The user ${username} is not allowed to change ${path}. Give the user the role Admin.`
  if (code === xapiErrors.illegalValue) return `This codec does not accept ${value} for ${path}.`
  return `The codec refused ${path}: ${message || `error ${code}`}`.slice(0, 255)
}
