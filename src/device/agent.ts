// The device agent that makers embed: keeps a connection, reports, receives configs and executes each command once.
import { EventEmitter } from 'node:events'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { connect, type MqttClient } from 'mqtt'
import { backOffMs } from '../client/back-off.ts'
import * as wire from '../contract/device/protocol.ts'
import type { AgentHandlers, AgentState, AgentStorage, CommandOutcome, StartedCommand } from './handlers.ts'
import {
  type ConnectionTimes,
  deviceBackOff,
  isEncrypted,
  retryWaitMs,
  usableAddresses,
  usualConnectionTimes,
} from './reconnect.ts'
import { SampleQueue } from './sample-queue.ts'

/** The CONNACK codes of a credential that the service does not know: of MQTT 3.1.1 and of MQTT 5. */
const notAuthorizedCodes: readonly unknown[] = [5, 0x87]
/** The code of a DISCONNECT after another connection with the same credential. */
const replacedCode = 0x8e
/** From here on a code of MQTT 5 is a refusal. */
const firstRefusalCode = 0x80
const succeeded = (id: string): CommandOutcome => ({ id, state: 'SUCCEEDED' })

/** With this many failures the back-off has reached its maximum. */
const failuresForLongestWait = 6
const disconnectTimeoutMs = 2_000
const maxOutcomesKept = 100
const maxErrorCharacters = 255
/** A week, at one sample a minute. */
const maxQueuedSamplesByDefault = 10_000
/** A connection on which an acknowledgement is missing for so long is replaced. */
const acknowledgementTimeoutMs = wire.keepAliveSeconds.usual * 1_500

export interface AgentOptions {
  readonly identity: wire.EnrolAnswer
  /** The status of the device when the agent is created. */
  readonly status: wire.UpMessage<'status'>
  readonly storage: AgentStorage
  readonly handlers: AgentHandlers
  /** How many samples are kept in memory until the service has stored them (10,000). When more come, the oldest are dropped. */
  readonly maxQueuedSamples?: number
  /**
   * Tells what became of a reboot, or of a change of the power, that was handed to the device; undefined leaves it open. It is for an agent
   * that does not run on its device. Without it, a start of the agent shows that the device has restarted.
   */
  readonly outcomeOf?: (command: StartedCommand) => Pick<wire.CommandReport, 'state' | 'error'> | undefined
  /**
   * Saves each command before its handler is called, and calls no handler twice, not even for logs. For a gateway whose devices cannot tell
   * what became of a command; it needs `outcomeOf`.
   */
  readonly commandsOnce?: boolean | undefined
  /** MQTT 3.1.1 (4) unless given. With MQTT 5 the service says when another connection has replaced this one. */
  readonly mqttVersion?: 4 | 5
  /** How soon the agent notices that its connection is lost, and connects again. Shorter times cost the service more. */
  readonly connection?: ConnectionTimes
}

interface Events {
  /** The agent has subscribed and receives everything from now on. */
  connected: []
  disconnected: [reason: Error | undefined]
  /** The endpoint was unenrolled and the agent has stopped. Delete the identity; enrol again with a new code. */
  unenrolled: []
  /**
   * The service does not know the credential. Show that at the device; keep the identity, because the service may have lost its
   * database for a while. The agent tries again: for 7 days with back-off, then once an hour.
   */
  credentialRefused: [since: Date]
  /** Another connection with the same credential has replaced this one. Only with MQTT 5; `disconnected` follows. */
  replaced: []
  /** The list of devices has changed. Only for a gateway. */
  devicesChanged: [wire.DeviceListChanged]
  samplesRefused: [wire.SampleRefused]
  /** The queue was full, and this many of the oldest samples were dropped. `droppedSamples` counts all of them. */
  samplesDropped: [count: number]
  /** For the maker's log: the service did not understand a message, which is a mistake in the device. */
  messageRefused: [wire.MessageRefused]
  /** For the maker's log: the service does not know these keys of a message. It comes once for each kind of message and connection. */
  keysIgnored: [wire.KeysIgnored]
  /** For the maker's log: a message that cannot be parsed, or storage that fails. */
  warning: [unknown]
}

export class Agent extends EventEmitter<Events> {
  readonly #options: AgentOptions
  readonly #samples: SampleQueue
  #state: AgentState = { version: 0, outcomes: [] }
  #saving: Promise<void> = Promise.resolve()
  readonly #runningCommands = new Set<string>()
  /** With `commandsOnce`: logs that could not be uploaded, by the id of their command. */
  readonly #collectedLogs = new Map<string, Readable | Buffer>()
  /** The latest outcome of each command that the service has not confirmed; sent again on the next connection. */
  readonly #unconfirmedOutcomes = new Map<string, CommandOutcome>()
  /** Configs are applied one after the other, in the order in which they arrive. */
  #configQueue = Promise.resolve()
  /** Set while the agent is started; aborting it ends all work in progress. */
  #lifetime: AbortController | undefined
  #client: MqttClient | undefined
  #isSubscribed = false
  #unconfirmed = 0
  #reconnectTimer: NodeJS.Timeout | undefined
  #failures = 0
  #addressIndex = 0

  constructor(options: AgentOptions) {
    super()
    const supports = options.handlers.isInUse && { supports: [wire.onlyIfIdle] }
    this.#options = { ...options, status: { ...supports, ...options.status } }
    this.#samples = new SampleQueue(
      options.maxQueuedSamples ?? maxQueuedSamplesByDefault,
      (count) => void this.emit('samplesDropped', count),
    )
  }

  get isConnected(): boolean {
    return this.#client?.connected ?? false
  }

  /** How many samples the service has not stored yet. */
  get queuedSamples(): number {
    return this.#samples.length
  }

  /** How many samples were dropped because the queue was full. */
  get droppedSamples(): number {
    return this.#samples.dropped
  }

  /** Call when the device has started, also after a reboot. */
  async start(): Promise<void> {
    if (this.#lifetime) return
    const lifetime = new AbortController()
    this.#lifetime = lifetime
    this.#failures = 0
    const warn = (error: unknown) => void this.emit('warning', error)
    this.#state = (await (async () => this.#options.storage.load())().catch(warn)) ?? this.#state
    await this.decideStarted().catch(warn)
    if (!lifetime.signal.aborted) this.#connect(lifetime)
  }

  /** Records the outcomes of saved commands that are known now. Returns how many are still open. */
  async decideStarted(): Promise<number> {
    const { outcomeOf } = this.#options
    let openCount = 0
    for (const known of this.#state.outcomes) {
      const started = this.#state.started?.find(({ id }) => id === known.id)
      // The process ended before the service had confirmed the outcome.
      if (started && known.state !== 'ACKNOWLEDGED') this.#unconfirmedOutcomes.set(known.id, known)
      // Without `commandsOnce` only reboots and changes of the power are saved: on the device itself they are done when its agent starts.
      if (known.state !== 'ACKNOWLEDGED') continue
      // A handler that restarts the agent by itself still runs when the agent starts. Collected logs wait for a new upload address.
      if (outcomeOf && (this.#runningCommands.has(known.id) || this.#collectedLogs.has(known.id))) continue
      const outcome = outcomeOf && started ? outcomeOf(started) : succeeded(known.id)
      if (outcome) await this.#recordOutcome({ ...outcome, id: known.id } as CommandOutcome)
      else openCount++
    }
    return openCount
  }

  /** Disconnects cleanly. Messages that are not confirmed by then are dropped, and their promises reject. */
  async stop(): Promise<void> {
    const client = this.#client
    this.#end()
    if (!client) return
    const closed = new Promise((resolve) => client.stream.once('close', resolve))
    client.end(!client.connected || this.#unconfirmed > 0)
    await Promise.race([closed, pause(disconnectTimeoutMs, undefined, { ref: false })])
    client.stream.destroy()
  }

  /** Drops the connection without DISCONNECT, as bad networks do; the agent reconnects. */
  drop(): void {
    this.#client?.stream.destroy()
  }

  /**
   * Reports the fields that changed; null clears a field. While offline, the report is sent on the next connection. Resolves when the service
   * has stored it, or when the connection is gone.
   */
  async reportStatus(changes: wire.UpMessage<'status'>): Promise<void> {
    Object.assign(this.#options.status, changes)
    await this.#publish('status', changes).catch(() => {})
  }

  /** Call after a setting was changed on the device. While offline, the report is sent on the next connection. */
  reportConfig(): void {
    const { version, rejected } = this.#state
    const config = this.#options.handlers.settings()
    this.#publish('config', { version, config, ...(rejected && { rejected }) }).catch(() => {})
  }

  /**
   * Queues up to 500 samples and sends them, in order. While offline they wait for the next connection. Resolves when the service has
   * stored them, except those that it refused. Rejects if the queue was full and dropped them, or if the agent is stopped before that.
   */
  sample(samples: wire.DeviceSample[]): Promise<void> {
    const stored = this.#lifetime ? this.#samples.add(samples) : Promise.reject(new Error('The agent is stopped.'))
    // A rejection without a handler would end the maker's process.
    stored.catch(() => {})
    this.#sendSamples()
    return stored
  }

  /** Reports states of a gateway's devices. Resolves when the service has stored them; rejects if the connection ends before. */
  reportDevices(report: wire.DevicesReport): Promise<void> {
    return this.#publish('devices', report)
  }

  /** Reports states of a gateway's sources, in the same way. */
  reportSources(report: wire.SourcesReport): Promise<void> {
    return this.#publish('sources', report)
  }

  /** The first samples of a connection wait until the device has subscribed, to receive the answers about them. */
  #sendSamples(): void {
    if (this.#isSubscribed) void this.#samples.send((samples) => this.#publish('sample', { samples }))
  }

  #connect(lifetime: AbortController): void {
    const { endpointId, credential, connect: allAddresses } = this.#options.identity
    const addresses = usableAddresses(allAddresses, this.#state.hasHadTls ?? false)
    const address = addresses[this.#addressIndex % addresses.length] ?? ''
    const credentials = {
      protocolVersion: this.#options.mqttVersion ?? 4,
      clientId: endpointId,
      username: endpointId,
      password: credential,
    } as const
    const times = this.#options.connection ?? usualConnectionTimes
    const client = connect(address, {
      ...credentials,
      keepalive: times.keepAliveSeconds,
      connectTimeout: times.connectMs,
      // The agent does its own reconnecting, and subscribes again on each connection.
      reconnectPeriod: 0,
      resubscribe: false,
    })
    this.#client = client
    let since: number | undefined
    let reason: (Error & { code?: number | string }) | undefined
    client.on('error', (error) => {
      reason ??= error
      client.end(true)
    })
    client.on('disconnect', ({ reasonCode, properties }) => {
      reason ??= Object.assign(new Error(properties?.reasonString ?? 'The service ended the connection.'), {
        code: reasonCode ?? 0,
      })
      if (reasonCode === replacedCode && !lifetime.signal.aborted) this.emit('replaced')
    })
    client.on('message', (topic, payload) => this.#receive(topic, payload.toString(), lifetime.signal))
    client.once('connect', () => {
      since = performance.now()
      if (isEncrypted(address) && !this.#state.hasHadTls) this.#remember({ hasHadTls: true })
      // Reported before subscribing, so that the service does not send a config that the device already has.
      this.reportConfig()
      void this.reportStatus({ ...this.#options.status })
      for (const outcome of this.#unconfirmedOutcomes.values()) void this.#reportOutcome(outcome)
      client.subscribe(wire.downTopic(endpointId, '#'), { qos: 1 }, (error) => {
        if (error) client.end(true)
        else if (!lifetime.signal.aborted) this.#subscribed()
      })
    })
    client.once('close', () => {
      client.end(true) // rejects publishes that were not confirmed
      if (lifetime.signal.aborted) return
      this.#client = undefined
      this.#isSubscribed = false
      if (since === undefined) this.#addressIndex++
      else if (performance.now() - since >= deviceBackOff.maxMs) this.#failures = 0
      if (notAuthorizedCodes.includes(reason?.code)) this.#credentialRefused()
      const { refusedSince } = this.#state
      const refusedForMs = refusedSince === undefined ? undefined : Date.now() - refusedSince
      const waitMs = retryWaitMs(this.#failures++, refusedForMs, times)
      this.#reconnectTimer = setTimeout(() => this.#connect(lifetime), waitMs)
      this.emit('disconnected', reason)
    })
  }

  #subscribed(): void {
    if (this.#state.refusedSince !== undefined) this.#remember({ refusedSince: undefined })
    this.#isSubscribed = true
    this.emit('connected')
    this.#sendSamples()
  }

  #credentialRefused(): void {
    const since = this.#state.refusedSince ?? Date.now()
    if (this.#state.refusedSince === undefined) this.#remember({ refusedSince: since })
    this.emit('credentialRefused', new Date(since))
  }

  /** Saves without making anybody wait. */
  #remember(changes: Partial<AgentState>): void {
    this.#saveState(changes).catch((error) => this.emit('warning', error))
  }

  #receive(topic: string, text: string, signal: AbortSignal): void {
    const kind = topic.slice(topic.lastIndexOf('/') + 1) as wire.DownKind
    const handle = async () => {
      const body = JSON.parse(text)
      if (kind === 'operation') return this.#executeCommand(body, signal)
      if (kind === 'sample-refused') return void this.emit('samplesRefused', body)
      if (kind === 'message-refused') return this.#messageRefused(body)
      if (kind === 'keys-ignored') return void this.emit('keysIgnored', body)
      if (kind === 'devices') return void this.emit('devicesChanged', body)
      // A device ignores kinds that it does not know.
      if (kind !== 'config') return undefined
      const applied = this.#configQueue.then(() => this.#apply(body))
      this.#configQueue = applied.catch(() => {})
      return applied
    }
    handle().catch((error) => this.emit('warning', error))
  }

  #messageRefused(refusal: wire.MessageRefused): void {
    if (refusal.kind === 'sample') this.#samples.markRefused()
    this.emit('messageRefused', refusal)
  }

  async #apply({ version, config }: wire.DesiredConfig): Promise<void> {
    const rejectAll = ({ message }: Error) =>
      Object.fromEntries(Object.keys(config).map((key) => [key, message.slice(0, maxErrorCharacters)]))
    const rejected = await (async () => this.#options.handlers.applyConfig(config, version))().catch(rejectAll)
    await this.#saveState({ version, rejected })
    this.reportConfig()
  }

  async #executeCommand(command: wire.DeviceCommandMessage, signal: AbortSignal): Promise<void> {
    const { id, type, deadline } = command
    const { commandsOnce = false } = this.#options
    if (type === 'UNENROL') return this.#unenrolled()
    const known = this.#state.outcomes.find((outcome) => outcome.id === id)
    // A known command is answered with its outcome. Logs are collected again, because asking again means that they did not arrive.
    const isUploadedAgain = type === 'COLLECT_LOGS' && (!commandsOnce || this.#collectedLogs.has(id))
    if (known && !isUploadedAgain) return this.#reportOutcome(known)
    if (this.#runningCommands.has(id) || Date.parse(deadline) <= Date.now()) return
    this.#runningCommands.add(id)
    try {
      if (command.onlyIfIdle && (await this.#options.handlers.isInUse?.())) throw new Error(wire.inUseError)
      // Saved before the device restarts or goes off, so it does not execute the same command again when it is back.
      if (type === 'REBOOT' || type === 'POWER' || (commandsOnce && !known))
        await this.#recordOutcome({ id, state: 'ACKNOWLEDGED' }, { id, type, on: command.on, atMs: Date.now() })
      await this.#runCommand(command, signal)
    } catch (error) {
      if (!signal.aborted)
        await this.#recordOutcome({ id, state: 'FAILED', error: (error as Error).message.slice(0, maxErrorCharacters) })
    } finally {
      this.#runningCommands.delete(id)
    }
  }

  async #runCommand(
    { id, type, onlyIfIdle, message = '', on, logs }: wire.DeviceCommandMessage,
    signal: AbortSignal,
  ): Promise<void> {
    const { identity, handlers } = this.#options
    if (type === 'REBOOT') return handlers.reboot({ onlyIfIdle: onlyIfIdle === true })
    if (type === 'MESSAGE') {
      await handlers.showMessage(message, wire.messageShownMs)
      return this.#recordEnd(succeeded(id), signal)
    }
    if (type === 'POWER' && handlers.power) {
      await handlers.power(on === true)
      return this.#recordEnd(succeeded(id), signal)
    }
    if (!logs) throw new Error(`This device does not support the operation ${type}.`)
    const userPass = btoa(`${identity.endpointId}:${identity.credential}`)
    const headers = { authorization: `Basic ${userPass}`, 'content-type': 'application/gzip' }
    const body = this.#collectedLogs.get(id) ?? (await handlers.collectLogs(logs))
    this.#collectedLogs.delete(id)
    const put = { method: 'PUT', redirect: 'error', duplex: 'half', headers, body, signal } as RequestInit
    const { ok, status, body: rest } = await fetch(logs.uploadUrl, put).catch(() => new Response(null, { status: 503 }))
    await rest?.cancel()
    if (ok) return this.#recordEnd({ id, state: 'UPLOADED' }, signal)
    if (status < 500 && status !== 403 && status !== 429)
      throw new Error(`The service refused the log bundle (${status}).`)
    await pause(backOffMs(status === 403 ? 0 : failuresForLongestWait, deviceBackOff), undefined, {
      signal,
      ref: false,
    })
    if (this.#options.commandsOnce) this.#collectedLogs.set(id, body)
    this.#runningCommands.delete(id) // the service sends the command again, with a new upload address
    await this.#reportOutcome({ id, state: 'URL_WANTED' })
  }

  /** A command that ends after its agent was stopped has no outcome if the next agent can have decided about it. */
  async #recordEnd(outcome: CommandOutcome, signal: AbortSignal): Promise<void> {
    if (!this.#options.commandsOnce || !signal.aborted) await this.#recordOutcome(outcome)
  }

  async #recordOutcome(outcome: CommandOutcome, started?: StartedCommand): Promise<void> {
    this.#unconfirmedOutcomes.set(outcome.id, outcome)
    const others = this.#state.outcomes.filter(({ id }) => id !== outcome.id)
    const isKept = started && this.#options.outcomeOf
    await this.#saveState({
      outcomes: [...others, outcome].slice(-maxOutcomesKept),
      ...(isKept && { started: [...(this.#state.started ?? []), started].slice(-maxOutcomesKept) }),
    })
    await this.#reportOutcome(outcome)
  }

  async #reportOutcome(outcome: CommandOutcome): Promise<void> {
    const isLogs = outcome.state === 'UPLOADED' || outcome.state === 'URL_WANTED'
    const confirm = () => {
      if (this.#unconfirmedOutcomes.get(outcome.id) === outcome) this.#unconfirmedOutcomes.delete(outcome.id)
      const others = this.#state.started?.filter(({ id }) => id !== outcome.id)
      if (outcome.state !== 'ACKNOWLEDGED' && others?.length !== this.#state.started?.length)
        this.#remember({ started: others })
    }
    await this.#publish(isLogs ? 'logs' : 'operation', outcome).then(confirm, () => {})
  }

  /** Saves one after the other, so that an older state never replaces a newer one. */
  async #saveState(changes: Partial<AgentState>): Promise<void> {
    this.#state = { ...this.#state, ...changes }
    this.#saving = this.#saving.catch(() => {}).then(() => this.#options.storage.save(this.#state))
    await this.#saving
  }

  async #publish<K extends wire.UpKind>(kind: K, body: wire.UpMessage<K>): Promise<void> {
    const client = this.#client
    if (!client?.connected) throw new Error('The device is not connected.')
    const topic = wire.upTopic(this.#options.identity.endpointId, kind)
    this.#unconfirmed++
    const overdue = setTimeout(() => client.stream.destroy(), acknowledgementTimeoutMs)
    // With MQTT 5 a bad message is acknowledged with a refusal: `message-refused` says why, and it is not sent again.
    const ignoreRefusal = (error: Error & { code?: unknown }) => {
      if (typeof error.code !== 'number' || error.code < firstRefusalCode) throw error
    }
    const sent = client.publishAsync(topic, JSON.stringify(body), { qos: 1 }).then(() => {}, ignoreRefusal)
    await sent.finally(() => {
      clearTimeout(overdue)
      this.#unconfirmed--
    })
  }

  #unenrolled(): void {
    this.#client?.end(true)
    this.#end()
    this.emit('unenrolled')
  }

  #end(): void {
    this.#lifetime?.abort()
    this.#lifetime = undefined
    this.#client = undefined
    this.#isSubscribed = false
    clearTimeout(this.#reconnectTimer)
    this.#samples.rejectAll(new Error('The agent is stopped.'))
  }
}
