// A device's side of the wire, for makers to embed: connects and comes back, reports, receives, executes once.
import { EventEmitter } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { connect, type MqttClient } from 'mqtt'
import * as wire from '../contract/device.ts'
import { longestPause, pauseAfter } from './back-off.ts'
import type { Handlers, Kept, Memory, Outcome } from './handlers.ts'

/** The answer to CONNECT that says that the credential is dead; on any other the device keeps trying. */
const credentialIsDead = 5
const succeeded = (id: string): Outcome => ({ id, state: 'SUCCEEDED' })

export interface AgentOptions {
  readonly identity: wire.EnrolAnswer
  /** What is known about the device at the start. */
  readonly status: wire.UpMessage<'status'>
  readonly memory: Memory
  readonly handlers: Handlers
}

interface Events {
  /** It is subscribed: from now on everything arrives. */
  connected: []
  disconnected: [reason: Error | undefined]
  /** The credential is dead and the agent has stopped: forget the identity, enrol again if somebody gives a code. */
  unenrolled: []
  refused: [wire.SampleRefused]
  /** For the maker's log: a message that cannot be read, memory that does not save. */
  trouble: [unknown]
}

export class Agent extends EventEmitter<Events> {
  readonly #options: AgentOptions
  #kept: Kept = { version: 0, outcomes: [] }
  readonly #underWay = new Set<string>()
  /** Outcomes that the service has not confirmed, the last of each operation: said again with the next connection. */
  readonly #unsaid = new Map<string, Outcome>()
  /** Configs are applied one after the other, in the order in which they came. */
  #applying = Promise.resolve()
  /** Set while it is started; its end ends whatever is under way. */
  #life: AbortController | undefined
  #client: MqttClient | undefined
  #unconfirmed = 0
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  #address = 0

  constructor(options: AgentOptions) {
    super()
    this.#options = { ...options, status: { ...options.status } }
  }

  get isConnected(): boolean {
    return this.#client?.connected ?? false
  }

  /** When the device is up, also after a reboot. */
  async start(): Promise<void> {
    if (this.#life) return
    const life = new AbortController()
    this.#life = life
    this.#failures = 0
    const trouble = (error: unknown) => void this.emit('trouble', error)
    this.#kept = (await Promise.try(() => this.#options.memory.load()).catch(trouble)) ?? this.#kept
    // Only a reboot is remembered before it is over, and now it is.
    const reboots = this.#kept.outcomes.filter(({ state }) => state === 'ACKNOWLEDGED')
    for (const { id } of reboots) await this.#finish(succeeded(id)).catch(trouble)
    if (!life.signal.aborted) this.#connect(life)
  }

  /** Says goodbye. What is not confirmed by then is given up, and its promise rejects. */
  async stop(): Promise<void> {
    const client = this.#client
    this.#end()
    if (!client) return
    const closed = new Promise((resolve) => client.stream.once('close', resolve))
    client.end(!client.connected || this.#unconfirmed > 0)
    await Promise.race([closed, pause(2_000, undefined, { ref: false })])
    client.stream.destroy()
  }

  /** Cuts the wire without a word, as bad networks do; it comes back by itself. */
  drop(): void {
    this.#client?.stream.destroy()
  }

  /** What changed; null takes a field back. While it is offline, the next connection says it. */
  reportStatus(changes: wire.UpMessage<'status'>): void {
    Object.assign(this.#options.status, changes)
    this.#publish('status', changes).catch(() => {})
  }

  /** After a person changed a setting on the device itself. While it is offline, the next connection says it. */
  reportConfig(): void {
    const { version, rejected } = this.#kept
    const config = this.#options.handlers.settings()
    this.#publish('config', { version, config, ...(rejected && { rejected }) }).catch(() => {})
  }

  /** Up to 500 at once. Resolves when they are safe; when it rejects, send them again. */
  sample(samples: wire.DeviceSample[]): Promise<void> {
    return this.#publish('sample', { samples })
  }

  #connect(life: AbortController): void {
    const { endpointId, credential, connect: addresses } = this.#options.identity
    const who = { protocolVersion: 4, clientId: endpointId, username: endpointId, password: credential } as const
    // The pauses are ours, and a new connection starts from nothing.
    const how = { ...who, keepalive: wire.keepAliveSeconds.usual, reconnectPeriod: 0, resubscribe: false }
    const client = connect(addresses[this.#address % addresses.length] ?? '', how)
    this.#client = client
    let since: number | undefined
    let reason: (Error & { code?: number | string }) | undefined
    client.on('error', (error) => {
      reason ??= error
      client.end(true)
    })
    client.on('message', (topic, payload) => this.#receive(topic, payload.toString(), life.signal))
    client.once('connect', () => {
      since = performance.now()
      // Said before it subscribes, so that the service sends nothing that the device has already.
      this.reportConfig()
      this.reportStatus({ ...this.#options.status })
      for (const outcome of this.#unsaid.values()) void this.#say(outcome)
      client.subscribe(wire.downTopic(endpointId, '#'), { qos: 1 }, (error) => {
        if (error) client.end(true)
        else if (!life.signal.aborted) this.emit('connected')
      })
    })
    client.once('close', () => {
      client.end(true) // rejects what was not confirmed
      if (life.signal.aborted) return
      if (reason?.code === credentialIsDead) return this.#unenrolled()
      this.#client = undefined
      if (since === undefined) this.#address++
      else if (performance.now() - since >= longestPause) this.#failures = 0
      this.#timer = setTimeout(() => this.#connect(life), pauseAfter(this.#failures++))
      this.emit('disconnected', reason)
    })
  }

  #receive(topic: string, text: string, signal: AbortSignal): void {
    const kind = topic.slice(topic.lastIndexOf('/') + 1) as wire.DownKind
    Promise.try(() => {
      const body = JSON.parse(text)
      if (kind === 'operation') return this.#execute(body, signal)
      if (kind === 'sample-refused') return void this.emit('refused', body)
      const applied = this.#applying.then(() => this.#apply(body))
      this.#applying = applied.catch(() => {})
      return applied
    }).catch((error) => this.emit('trouble', error))
  }

  async #apply({ version, config }: wire.DesiredConfig): Promise<void> {
    const refuseAll = ({ message }: Error) =>
      Object.fromEntries(Object.keys(config).map((key) => [key, message.slice(0, 255)]))
    const rejected = await (async () => this.#options.handlers.applyConfig(config, version))().catch(refuseAll)
    await this.#keep({ version, rejected })
    this.reportConfig()
  }

  async #execute(command: wire.DeviceCommandMessage, signal: AbortSignal): Promise<void> {
    const { id, type, deadline } = command
    if (type === 'UNENROL') return this.#unenrolled()
    const known = this.#kept.outcomes.find((outcome) => outcome.id === id)
    // Whoever asks for logs again does not have them.
    if (known && type !== 'COLLECT_LOGS') return this.#say(known)
    if (this.#underWay.has(id) || Date.parse(deadline) <= Date.now()) return
    this.#underWay.add(id)
    try {
      // Acknowledged means that it will not be forgotten: else it would reboot again and again.
      if (type === 'REBOOT') await this.#finish({ id, state: 'ACKNOWLEDGED' })
      await this.#do(command, signal)
    } catch (error) {
      if (!signal.aborted) await this.#finish({ id, state: 'FAILED', error: (error as Error).message.slice(0, 255) })
    } finally {
      this.#underWay.delete(id)
    }
  }

  async #do({ id, type, message = '', logs }: wire.DeviceCommandMessage, signal: AbortSignal): Promise<void> {
    const { identity, handlers } = this.#options
    if (type === 'REBOOT') return handlers.reboot()
    if (type === 'MESSAGE') {
      await handlers.showMessage(message)
      return this.#finish(succeeded(id))
    }
    if (!logs) throw new Error(`This device does not know the operation ${type}.`)
    const proof = btoa(`${identity.endpointId}:${identity.credential}`)
    const headers = { authorization: `Basic ${proof}`, 'content-type': 'application/gzip' }
    const body = await handlers.collectLogs(logs)
    const put = { method: 'PUT', redirect: 'error', duplex: 'half', headers, body, signal } as RequestInit
    const { ok, status, body: rest } = await fetch(logs.uploadUrl, put).catch(() => new Response(null, { status: 503 }))
    await rest?.cancel()
    if (ok) return this.#finish({ id, state: 'UPLOADED' })
    if (status < 500 && status !== 403 && status !== 429) throw new Error(`The service refused the bundle (${status}).`)
    await pause(pauseAfter(status === 403 ? 0 : 6), undefined, { signal, ref: false })
    this.#underWay.delete(id) // it comes again, with a new address
    await this.#say({ id, state: 'URL_WANTED' })
  }

  async #finish(outcome: Outcome): Promise<void> {
    this.#unsaid.set(outcome.id, outcome)
    const others = this.#kept.outcomes.filter(({ id }) => id !== outcome.id)
    await this.#keep({ outcomes: [...others, outcome].slice(-100) })
    await this.#say(outcome)
  }

  async #say(outcome: Outcome): Promise<void> {
    const isLogs = outcome.state === 'UPLOADED' || outcome.state === 'URL_WANTED'
    const forget = () => this.#unsaid.get(outcome.id) === outcome && this.#unsaid.delete(outcome.id)
    await this.#publish(isLogs ? 'logs' : 'operation', outcome).then(forget, () => {})
  }

  async #keep(news: Partial<Kept>): Promise<void> {
    this.#kept = { ...this.#kept, ...news }
    await this.#options.memory.save(this.#kept)
  }

  async #publish<K extends wire.UpKind>(kind: K, body: wire.UpMessage<K>): Promise<void> {
    const client = this.#client
    if (!client?.connected) throw new Error('The device is not connected.')
    const topic = wire.upTopic(this.#options.identity.endpointId, kind)
    this.#unconfirmed++
    await client.publishAsync(topic, JSON.stringify(body), { qos: 1 }).finally(() => this.#unconfirmed--)
  }

  #unenrolled(): void {
    this.#client?.end(true)
    this.#end()
    this.emit('unenrolled')
  }

  #end(): void {
    this.#life?.abort()
    this.#life = undefined
    this.#client = undefined
    clearTimeout(this.#timer)
  }
}
