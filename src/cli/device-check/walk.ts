// Walks a device through the protocol, step by step, and collects the facts that the checks judge.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { connectAsync } from 'mqtt'
import { configKeys } from '../../contract/device/config-keys.ts'
import { devicePaths } from '../../contract/device/protocol.ts'
import type { CommandType } from '../../contract/fleet/commands.ts'
import { isSame, retryAfterSeconds, saysItCan } from './checks.ts'
import { type CommandTrial, commandTrials } from './commands.ts'
import {
  type CommandFacts,
  type Connection,
  type Exchange,
  type Facts,
  messagesOf,
  type Return,
  statusOf,
} from './facts.ts'
import type { HttpRelay, StagedAnswer } from './http-relay.ts'
import type { MqttRelay, Refusal, RelayedConnection } from './mqtt-relay.ts'
import type { Step } from './steps.ts'
import type { ThrowAwayServer } from './throw-away-server.ts'

/** How long a device has, in seconds. They are generous: a device that takes longer is wrong, or gone. */
const connectSeconds = 60
const reportSeconds = 20
/** The longest wait of the back-off, and some time to connect. */
const returnSeconds = 90
/** How long a device is watched that should do nothing. */
const quietSeconds = 2
const unenrolWatchSeconds = 10
const pollMs = 25

/** Settings whose change costs a device neither its network nor its screen, and does not disturb people in the room. */
const harmlessKeys = ['nightMode', 'highContrast', 'time24h', 'hideSlideOutMenu', 'autoWakeup']
/** Keys that few devices have. */
const rareSettings = {
  usbCableInstructions: 'USB_CABLE_INSTRUCTIONS_USB_C_ONLY',
  digitalSignageTimeout: 60_000,
  framingBoundaryDepth: 3,
  colorCorrection: 'disabled',
}
const password = 'device-check-27182818'

export interface WalkOptions {
  readonly waitSeconds: number
  readonly sampleSeconds: number
  readonly steps: readonly Step[]
  readonly signal: AbortSignal
  onStep(step: Step): void
}

/** The device has gone and did not come back: the steps that follow cannot be walked. */
class DeviceGone extends Error {}

export class Walk {
  readonly #facts: Facts
  readonly #server: ThrowAwayServer
  readonly #http: HttpRelay
  readonly #mqtt: MqttRelay
  readonly #options: WalkOptions
  #isEnrolmentStaged = false
  #isUploadStaged = false

  constructor(facts: Facts, server: ThrowAwayServer, http: HttpRelay, mqtt: MqttRelay, options: WalkOptions) {
    this.#facts = facts
    this.#server = server
    this.#http = http
    this.#mqtt = mqtt
    this.#options = options
  }

  /** Answers the first enrolment with 503 and the first upload with 403. */
  stage(method: string, path: string): StagedAnswer | undefined {
    if (path === devicePaths.enrol && !this.#isEnrolmentStaged) {
      this.#isEnrolmentStaged = true
      const headers = { 'retry-after': String(retryAfterSeconds) }
      return { status: 503, code: 'UNAVAILABLE', message: 'device-check: the service is starting.', headers }
    }
    if (method === 'PUT' && path.startsWith(devicePaths.logs) && !this.#isUploadStaged) {
      this.#isUploadStaged = true
      return { status: 403, code: 'PERMISSION_DENIED', message: 'device-check: this upload address has expired.' }
    }
    return undefined
  }

  note(exchange: Exchange): void {
    if (exchange.path === devicePaths.enrol) this.#facts.enrolments.push(exchange)
    else if (exchange.path.startsWith(devicePaths.logs)) this.#facts.uploads.push(exchange)
  }

  /** Starts the server, or starts it again. */
  async startServer(): Promise<void> {
    const { port, mqttPort } = await this.#server.start()
    this.#http.serverPort = port
    this.#mqtt.serverPort = mqttPort
  }

  async run(): Promise<void> {
    const walked: Record<Step, () => Promise<void>> = {
      enrolment: () => this.#enrolment(),
      connection: () => this.#connection(),
      samples: () => this.#samples(),
      reconnect: () => this.#reconnect(),
      outage: () => this.#outage(),
      config: () => this.#config(),
      commands: () => this.#commands(),
      answers: () => this.#answers(),
      takeover: () => this.#takeover(),
      acknowledgement: () => this.#acknowledgement(),
      unenrolment: () => this.#unenrolment(),
    }
    try {
      for (const step of this.#options.steps) {
        this.#options.onStep(step)
        this.#facts.walked.add(step)
        await walked[step]()
      }
    } catch (error) {
      if (!(error instanceof DeviceGone) && !this.#options.signal.aborted) throw error
    }
  }

  async #enrolment(): Promise<void> {
    const { enrolments } = this.#facts
    await this.#until(() => enrolments.length > 0, this.#options.waitSeconds)
    if (enrolments.length === 0) throw new DeviceGone()
    const isEnrolled = () => enrolments.some(({ isStaged, status }) => !isStaged && status === 200)
    // A device that does not try again by itself can be enrolled again by hand.
    if (!(await this.#until(isEnrolled, this.#options.waitSeconds))) throw new DeviceGone()
    const { body } = await this.#server.client.endpointsBasicList()
    this.#facts.endpointId = body.endpoints[0]?.id
  }

  async #connection(): Promise<void> {
    await this.#until(() => (this.#mqtt.current?.facts?.subscriptions.length ?? 0) > 0, connectSeconds)
    if (!this.#mqtt.current) throw new DeviceGone()
    // A device that reports after SUBSCRIBE has some time to do so.
    await this.#until(() => messagesOf(this.#facts, 'status').length > 0, 2)
    await this.#until(() => messagesOf(this.#facts, 'config').length > 0, 2)
  }

  async #samples(): Promise<void> {
    const { sampleSeconds } = this.#options
    this.#facts.samplesWaitedSeconds = sampleSeconds
    await this.#until(() => messagesOf(this.#facts, 'sample').length > 0, sampleSeconds)
    // The answer about a sample comes before its PUBACK.
    await this.#pause(0.5)
  }

  async #reconnect(): Promise<void> {
    const back = await this.#watchReturn([3], async (connection) => connection.close())
    this.#facts.reconnect = back
    if (!back.connection) throw new DeviceGone()
  }

  /** The service stops; the device meets no server, then one that does not know it, then the real one. */
  async #outage(): Promise<void> {
    const back = await this.#watchReturn([], async () => {
      const { length } = this.#facts.connections
      this.#http.serverPort = undefined
      this.#mqtt.serverPort = undefined
      await this.#server.stop()
      await this.#until(() => this.#facts.connections.length > length, returnSeconds)
      this.#mqtt.refusals.push(5)
      await this.startServer()
    })
    this.#facts.outage = back
    if (!back.connection) throw new DeviceGone()
  }

  async #config(): Promise<void> {
    let skipped = saysItCan(this.#facts, 'config') ? undefined : 'The device says in `actions` that it takes no config.'
    const changes: NonNullable<Facts['config']>['changes'][number][] = []
    const note = (lastVersion: number) => {
      this.#facts.config = { changes, password, lastVersion, endedAtMs: performance.now(), ...(skipped && { skipped }) }
    }
    if (skipped) return note(0)
    const { config: reported = {} } = messagesOf(this.#facts, 'config').at(-1)?.body ?? {}
    // A device that names its settings is sent no others.
    const { configKeys: named } = statusOf(this.#facts)
    const has = (name: string) => !Array.isArray(named) || named.includes(name)
    const key = harmlessKeys.find((name) => has(name) && typeof reported[name] === 'boolean') ?? 'nightMode'
    if (!has(key)) {
      skipped = 'The device has none of the settings that this check changes.'
      return note(0)
    }
    const isForeign = (name: string) => name in configKeys && has(name) && reported[name] === undefined
    const rare = Object.entries(rareSettings).find(([name]) => isForeign(name))
    const secret = has('settingsPassword') ? { settingsPassword: password } : {}
    const before = reported[key]
    const change = async (what: 'set' | 'foreign' | 'unset', name: string, value: unknown, body: object) => {
      const id = this.#facts.endpointId ?? ''
      await this.#server.client.endpointsApplyConfig({ id, body: body as Record<string, never> })
      const { version } = (await this.#server.client.configStateGet({ id })).body
      const find = () => messagesOf(this.#facts, 'config').findLast((message) => message.body?.version === version)
      await this.#until(() => find() !== undefined, reportSeconds)
      changes.push({ what, key: name, value, before, version, report: find() })
      return find() ? version : 0
    }
    let last = await change('set', key, before !== true, { [key]: before !== true, ...secret })
    if (rare) last = (await change('foreign', rare[0], rare[1], { [rare[0]]: rare[1] })) || last
    const all = [key, ...Object.keys(secret), ...(rare ? [rare[0]] : [])]
    last = (await change('unset', key, undefined, Object.fromEntries(all.map((name) => [name, null])))) || last
    note(last)
  }

  async #commands(): Promise<void> {
    for (const [type, row] of Object.entries(commandTrials) as [CommandType, CommandTrial][]) {
      this.#facts.commands.set(type, await this.#command(type, row))
      if (type === 'REBOOT') await this.#repeat('REBOOT', 'reboot again')
    }
    await this.#repeat('MESSAGE', 'again')
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
    await this.#send('expired', { type: 'MESSAGE', message: 'Too late.', deadline: hourAgo }, quietSeconds)
    await this.#send('unknown', { type: 'DEVICE_CHECK' }, reportSeconds)
  }

  /** Asks for a command through the API, as an operator does. */
  async #command(type: CommandType, row: CommandTrial): Promise<CommandFacts> {
    const skip = (skipped: string) => ({ skipped, id: '', reports: [], sentOn: undefined, isConnectionLost: false })
    if (!saysItCan(this.#facts, row.action))
      return skip(`The device says in \`actions\` that it cannot do ${row.action}.`)
    const { facts: connection } = await this.#connected()
    const from = performance.now()
    // A reboot ends the connection.
    connection.isEndExpected = type === 'REBOOT'
    await row.ask(this.#server.client, this.#facts.endpointId ?? '')
    const commandOf = () =>
      connection.down.find(({ kind, atMs, body }) => kind === 'operation' && atMs >= from && body?.type === type)
    await this.#until(() => commandOf() !== undefined, reportSeconds)
    const id: string = commandOf()?.body.id ?? ''
    const isFinal = (state: unknown) => state === 'SUCCEEDED' || state === 'FAILED' || state === 'UPLOADED'
    await this.#until(
      () => this.#reports(id, from).some(({ message }) => isFinal(message.body?.state)),
      row.limitSeconds,
    )
    await this.#connected()
    connection.isEndExpected = connection.endedAtMs !== undefined
    return { id, reports: this.#reports(id, from), sentOn: connection, isConnectionLost: connection.isEndExpected }
  }

  /** Sends a command again that was carried out, as the service does if a report was lost. */
  async #repeat(type: CommandType, name: string): Promise<void> {
    const command = this.#facts.commands.get(type)
    if (!command?.reports.some(({ message }) => message.body?.state === 'SUCCEEDED')) return
    const sent = command.sentOn?.down.find(({ body }) => body?.id === command.id)?.body
    await this.#send(
      name,
      { ...sent, deadline: new Date(Date.now() + 60_000).toISOString() },
      reportSeconds,
      type === 'REBOOT',
    )
  }

  /** Sends a command that the service does not know about, and waits for its outcome. */
  async #send(name: string, command: Record<string, unknown>, waitSeconds: number, canReboot = false): Promise<void> {
    const connection = await this.#connected()
    const id = (command.id as string | undefined) ?? randomUUID()
    const from = performance.now()
    connection.send('operation', { deadline: new Date(Date.now() + 60_000).toISOString(), ...command, id })
    const isReported = () => this.#reports(id, from).some(({ message }) => message.body?.state !== 'ACKNOWLEDGED')
    await this.#until(isReported, waitSeconds)
    // A device that reboots does so after its report.
    if (canReboot) await this.#pause(quietSeconds)
    const isConnectionLost = connection.facts.endedAtMs !== undefined
    const reports = this.#reports(id, from)
    this.#facts.staged.set(name, { id, reports, sentOn: connection.facts, isConnectionLost })
  }

  #reports(id: string, fromMs: number): CommandFacts['reports'] {
    return this.#facts.connections.flatMap((connection) =>
      connection.up
        .filter(
          ({ kind, atMs, body }) => (kind === 'operation' || kind === 'logs') && atMs >= fromMs && body?.id === id,
        )
        .map((message) => ({ connection, message })),
    )
  }

  /** Messages that the document allows and that are rare: unknown kinds and keys, refusals. */
  async #answers(): Promise<void> {
    const connection = await this.#connected()
    const by = 'device-check'
    const refused = messagesOf(this.#facts, 'status').at(-1)
    const refusedTimestamp = messagesOf(this.#facts, 'sample').at(-1)?.body?.samples?.at(-1)?.timestamp
    const fromMs = performance.now()
    connection.send('device-check', { note: 'A device ignores kinds that it does not know.' })
    connection.send('keys-ignored', { kind: 'status', keys: ['/brand'], by })
    connection.send('message-refused', { kind: 'status', reason: 'The message was not stored.', field: '', by })
    const reason = 'The sample was not stored.'
    const timestamp = refusedTimestamp ?? Math.floor(Date.now() / 1000)
    connection.send('sample-refused', { refused: [{ timestamp, reason }], by })
    await this.#pause(quietSeconds)
    this.#facts.answers = { fromMs, untilMs: performance.now(), refused, refusedTimestamp }
    if (this.#mqtt.current !== connection) {
      this.#facts.staged.set('alive', { id: '', reports: [], sentOn: undefined, isConnectionLost: true })
      return
    }
    await this.#send('alive', { type: 'DEVICE_CHECK', by }, reportSeconds)
  }

  /** A second connection with the same credential replaces that of the device, twice. */
  async #takeover(): Promise<void> {
    const waitsMs: number[] = []
    let back: Return | undefined
    for (const _ of [1, 2]) {
      back = await this.#watchReturn([], async ({ facts }) => {
        const { username = '', password: credential = '' } = facts ?? {}
        const address = `mqtt://127.0.0.1:${this.#mqtt.serverPort}`
        const options = { username, password: credential, clientId: 'device-check', reconnectPeriod: 0 }
        const other = await connectAsync(address, options)
        other.on('error', () => {})
        await this.#until(() => facts?.endedAtMs !== undefined, reportSeconds)
        other.end(true)
      })
      waitsMs.push(...back.waitsMs)
      this.#facts.takeover = { waitsMs, connection: back.connection }
      if (!back.connection) throw new DeviceGone()
    }
  }

  /** PUBACKs are withheld, and the connection is cut: the device cannot know whether its messages arrived. */
  async #acknowledgement(): Promise<void> {
    const connection = await this.#connected()
    const facts = connection.facts as Connection
    for (const kind of ['sample', 'operation']) this.#mqtt.withheldKinds.add(kind)
    const withheld = () => facts.up.filter(({ isAckWithheld }) => isAckWithheld)
    const has = (kind: string) => withheld().some((message) => message.kind === kind)
    await this.#send('withheld', { type: 'DEVICE_CHECK' }, reportSeconds)
    await this.#until(() => has('operation'), reportSeconds)
    const samples = messagesOf(this.#facts, 'sample').length > 0
    if (samples) await this.#until(() => has('sample'), this.#options.sampleSeconds)
    const lost = withheld()
    const back = await this.#watchReturn([], async () => {
      connection.close()
      this.#mqtt.withheldKinds.clear()
    })
    this.#facts.lostAck = { return: back, withheld: lost }
    if (!back.connection) throw new DeviceGone()
    const isBack = () => lost.every((message) => back.connection?.up.some((other) => isSame(message, other)))
    await this.#until(isBack, reportSeconds)
  }

  async #unenrolment(): Promise<void> {
    const { facts: connection } = await this.#connected()
    connection.isEndExpected = true
    await this.#server.client.endpointsDelete({ id: this.#facts.endpointId ?? '' })
    await this.#until(() => connection.endedAtMs !== undefined, reportSeconds)
    this.#facts.unenrolled = { atMs: performance.now(), watchedSeconds: unenrolWatchSeconds }
    await this.#pause(unenrolWatchSeconds)
  }

  /** Lets `disturb` end the connection, refuses the next attempts in the given ways, and waits for the device. */
  async #watchReturn(
    refusals: readonly Refusal[],
    disturb: (connection: RelayedConnection) => Promise<void>,
  ): Promise<Return> {
    const connection = await this.#connected()
    const { connections } = this.#facts
    const first = connections.indexOf(connection.facts)
    connection.facts.isEndExpected = true
    this.#mqtt.refusals.push(...refusals)
    await disturb(connection)
    const later = () => connections.slice(first + 1)
    const find = () => later().find(({ connack, subscriptions }) => connack === 0 && subscriptions.length > 0)
    await this.#until(() => find() !== undefined, returnSeconds)
    const attempts = connections.slice(first, find() ? connections.indexOf(find() as Connection) + 1 : undefined)
    const waitsMs = attempts.slice(1).map(({ openedAtMs }, i) => openedAtMs - (attempts[i]?.endedAtMs ?? openedAtMs))
    return { waitsMs, connection: find() }
  }

  /** Returns the open connection over which the device has subscribed, as soon as there is one. */
  async #connected(): Promise<RelayedConnection & { readonly facts: Connection }> {
    const current = () => {
      const connection = this.#mqtt.current
      return connection?.facts && connection.facts.subscriptions.length > 0 ? connection : undefined
    }
    await this.#until(() => current() !== undefined, returnSeconds)
    const connection = current()
    if (!connection) throw new DeviceGone()
    return connection as RelayedConnection & { readonly facts: Connection }
  }

  /** Waits until the condition holds, and returns whether it does. */
  async #until(holds: () => boolean, seconds: number): Promise<boolean> {
    const endMs = performance.now() + seconds * 1000
    while (!holds() && performance.now() < endMs) await this.#pause(pollMs / 1000)
    return holds()
  }

  #pause(seconds: number): Promise<void> {
    return pause(seconds * 1000, undefined, { signal: this.#options.signal })
  }
}
