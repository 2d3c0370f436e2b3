// A connection to an MQTT broker through the gateway's network: subscribes, and passes messages on. It never publishes.
import { randomBytes } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { Duplex, pipeline } from 'node:stream'
import { MqttClient } from 'mqtt'
import { createWebSocketStream, WebSocket } from 'ws'
import { type DeviceCertificate, DriverFailure } from '../../driver.ts'
import { type SourceContext, SourceFailure, type SourceSettings, sourceFailureOf } from '../source.ts'
import type { MqttLimits } from './limits.ts'
import { PacketGuard } from './packet-guard.ts'

export interface BrokerMessage {
  readonly topic: string
  readonly payload: Buffer
  readonly isRetained: boolean
}

interface Events {
  message: [BrokerMessage]
  /** Emitted once. */
  ended: [SourceFailure]
}

const usualPorts: Readonly<Record<string, number>> = { 'mqtt:': 1883, 'mqtts:': 8883, 'ws:': 80, 'wss:': 443 }
const maxFiltersPerPacket = 100
/** A frame of a WebSocket is in memory as a whole. */
const maxFrameBytes = 16 * 1024 * 1024
const maxRefusedTopics = 8
/** The code in a broker's answer to a subscription. */
const refusedSubscription = 0x80

export class BrokerConnection extends EventEmitter<Events> {
  readonly certificate: DeviceCertificate | undefined
  readonly #client: MqttClient
  readonly #guard: PacketGuard
  readonly #host: string
  #isOver = false
  /** The first topic filters that the broker refused. */
  readonly refusedTopics: string[] = []
  refusedTopicCount = 0

  private constructor(
    client: MqttClient,
    guard: PacketGuard,
    host: string,
    certificate: DeviceCertificate | undefined,
  ) {
    super()
    this.#client = client
    this.#guard = guard
    this.#host = host
    this.certificate = certificate
    client.on('message', (topic, payload, { retain }) => {
      if (!this.#isOver) this.emit('message', { topic, payload, isRetained: retain })
    })
    client.on('error', (error) => this.#end(`the connection to ${host} failed: ${error.message}`))
    client.on('close', () => this.#end(`${host} closed the connection`))
  }

  get skippedCount(): number {
    return this.#guard.skippedCount
  }

  get largestSkippedBytes(): number {
    return this.#guard.largestSkippedBytes
  }

  /** Rejects with a SourceFailure. */
  static async open(settings: SourceSettings, context: SourceContext, limits: MqttLimits): Promise<BrokerConnection> {
    const url = new URL(settings.url)
    try {
      const { stream, certificate } = await openStream(url, settings, context, limits)
      const guard = new PacketGuard(limits)
      const guarded = through(stream, guard)
      const client = await signIn(guarded, url.host, settings, context.signal, limits)
      return new BrokerConnection(client, guard, url.host, certificate)
    } catch (error) {
      context.signal.throwIfAborted()
      if (error instanceof DriverFailure) throw sourceFailureOf(error)
      throw error
    }
  }

  /** Resolves when the broker has answered, even if it refused some of the filters. */
  async subscribe(filters: readonly string[]): Promise<void> {
    const batches = Array.from({ length: Math.ceil(filters.length / maxFiltersPerPacket) }, (_, i) =>
      filters.slice(i * maxFiltersPerPacket, (i + 1) * maxFiltersPerPacket),
    )
    await Promise.all(batches.map((batch) => this.#subscribeBatch(batch)))
  }

  #subscribeBatch(filters: readonly string[]): Promise<void> {
    if (this.#isOver) return Promise.resolve()
    const topics = Object.fromEntries(filters.map((filter) => [filter, { qos: 0 as const }]))
    return new Promise((resolve) => {
      this.#client.subscribe(topics, (error, _, packet) => {
        if (!this.#isOver && error) {
          // One filter that is refused makes an error of the whole batch; the packet has an answer for each.
          const answers = packet?.granted ?? []
          this.#noteRefused(
            filters.filter((__, i) => (Number(answers[i] ?? refusedSubscription) & refusedSubscription) !== 0),
          )
        }
        resolve()
      })
    })
  }

  unsubscribe(filters: readonly string[]): void {
    if (filters.length === 0 || this.#isOver) return
    this.#client.unsubscribe([...filters], () => {})
  }

  close(): void {
    this.#isOver = true
    this.#client.end(true)
  }

  #noteRefused(filters: readonly string[]): void {
    this.refusedTopicCount += filters.length
    this.refusedTopics.push(...filters.slice(0, maxRefusedTopics - this.refusedTopics.length))
  }

  #end(reason: string): void {
    if (this.#isOver) return
    this.close()
    const sentence = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`
    this.emit('ended', new SourceFailure('UNREACHABLE', sentence))
  }
}

async function openStream(url: URL, settings: SourceSettings, { network, signal }: SourceContext, limits: MqttLimits) {
  const { protocol, hostname: host } = url
  const port = Number(url.port || usualPorts[protocol])
  const to = { host, port, timeoutMs: limits.connectMs, signal }
  const isTls = protocol === 'mqtts:' || protocol === 'wss:'
  const { fingerprint, authority, clientCertificate, clientKey } = settings
  const opened = isTls
    ? await network.connectTls({ ...to, fingerprint, authority, clientCertificate, clientKey })
    : { socket: await network.connect(to), certificate: undefined }
  const { socket, certificate } = opened
  if (!protocol.startsWith('ws')) return { stream: socket as Duplex, certificate }
  const path = url.pathname === '/' || url.pathname === '' ? '/mqtt' : url.pathname
  const ws = new WebSocket(`${isTls ? 'wss' : 'ws'}://${url.host}${path}`, ['mqtt'], {
    createConnection: () => socket,
    followRedirects: false,
    perMessageDeflate: false,
    maxPayload: maxFrameBytes,
  })
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(late(url.host)), limits.connectMs)
    ws.once('open', resolve)
    ws.once('unexpected-response', (_, { statusCode }) => reject(notMqtt(url, `answers ${statusCode}`)))
    ws.once('error', (error) => reject(notMqtt(url, `answers with an error (${error.message})`)))
    ws.once('close', () => clearTimeout(timer))
    ws.once('open', () => clearTimeout(timer))
  }).catch((error) => {
    ws.on('error', () => {}).terminate()
    throw error
  })
  return { stream: createWebSocketStream(ws), certificate }
}

const late = (host: string) =>
  new SourceFailure('UNREACHABLE', `${host} accepts connections, but does not answer as an MQTT broker.`)

const notMqtt = ({ host, pathname }: URL, what: string) =>
  new SourceFailure(
    'UNSUPPORTED',
    `${host} ${what} at ${pathname} instead of opening a WebSocket for MQTT. Check the path.`,
  )

/** Reads pass the guard, and writes go straight to the stream. */
function through(stream: Duplex, guard: PacketGuard): Duplex {
  const guarded = Duplex.from({ readable: guard, writable: stream })
  pipeline(stream, guard, (error) => guarded.destroy(error ?? undefined))
  stream.once('close', () => guarded.destroy())
  guarded.once('close', () => stream.destroy())
  return guarded
}

/** The broker's answer to a sign-in, by the code of MQTT 3.1.1. */
const signInRefusals: Readonly<Record<number, readonly ['REFUSED' | 'UNREACHABLE' | 'UNSUPPORTED', string]>> = {
  1: ['UNSUPPORTED', 'does not speak MQTT 3.1.1'],
  2: ['REFUSED', 'refused the name of the client'],
  3: ['UNREACHABLE', 'is not available now'],
  4: ['REFUSED', 'refused the user or the password'],
  5: ['REFUSED', 'refused the user, the password or the client certificate'],
}

function signIn(
  stream: Duplex,
  host: string,
  { username, secret }: SourceSettings,
  signal: AbortSignal,
  limits: MqttLimits,
): Promise<MqttClient> {
  const client = new MqttClient(() => stream, {
    protocolId: 'MQTT',
    // Every broker speaks 3.1.1; The Things Stack speaks nothing else.
    protocolVersion: 4,
    // Two sources of one gateway can read the same broker.
    clientId: `roomkeeper-${randomBytes(5).toString('hex')}`,
    clean: true,
    keepalive: limits.keepaliveSeconds,
    connectTimeout: limits.connectMs,
    reconnectPeriod: 0,
    resubscribe: false,
    ...(username !== undefined && { username }),
    ...(secret !== undefined && { password: secret }),
  })
  return new Promise((resolve, reject) => {
    const settle = () => {
      signal.removeEventListener('abort', stop)
      client.off('connect', connected).off('error', failed).off('close', closed)
    }
    const fail = (failure: unknown) => {
      settle()
      client.on('error', () => {}).end(true)
      stream.on('error', () => {}).destroy()
      reject(failure)
    }
    const stop = () => fail(signal.reason)
    const connected = () => {
      settle()
      signal.addEventListener('abort', () => client.end(true), { once: true })
      resolve(client)
    }
    const failed = (error: Error & { code?: unknown }) => {
      const [state, what] = signInRefusals[Number(error.code)] ?? []
      if (state && what) fail(new SourceFailure(state, `The broker ${host} ${what}.`))
      else if (/connack timeout/i.test(error.message)) fail(late(host))
      else fail(new SourceFailure('UNSUPPORTED', `${host} does not answer as an MQTT broker: ${error.message}`))
    }
    const closed = () =>
      fail(
        new SourceFailure(
          'UNREACHABLE',
          `${host} closed the connection before it answered. Check that its port is for MQTT.`,
        ),
      )
    client.once('connect', connected).on('error', failed).once('close', closed)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
}
