// The wire: who is connected, what they may say, and what is said to them.
import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'aedes'
import { type DownMessage, largestPacket } from '../contract/device.ts'
import { type Clock, isoTime } from '../platform/clock.ts'
import type { Devices } from '../platform/devices.ts'
import type { Log } from '../platform/log.ts'
import { Admission, prepare, Refused, refusalOf } from './admission.ts'
import { Broker } from './broker.ts'
import { Connection } from './connection.ts'
import type { DeviceHandlers, Session } from './handlers.ts'
import { Mentions } from './mentions.ts'
import type { LinkMetrics } from './metrics.ts'
import { Pressure } from './pressure.ts'
import { Receiver } from './receiver.ts'

export interface LinkOptions {
  readonly handlers: DeviceHandlers
  readonly clock: Clock
  readonly log: Log
  readonly metrics: LinkMetrics
}

const retryAfter = 5_000
/** Long enough for a last word to leave, short enough to be "at once". */
const farewell = 100

export class Link implements Devices {
  readonly #options: LinkOptions
  readonly #broker: Broker
  readonly #admission: Admission
  readonly #receiver: Receiver
  readonly #mentions: Mentions
  readonly #pressure = new Pressure()
  readonly #connections = new WeakMap<Duplex, Connection>()
  /** All that are open, strangers included. */
  readonly #open = new Set<Connection>()
  /** The one connection of each device that counts. */
  readonly #current = new Map<string, Connection>()
  readonly #leaving = new Set<Promise<void>>()
  #ticking: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: LinkOptions) {
    const { metrics, log, clock, handlers } = options
    const pressure = this.#pressure
    this.#options = options
    this.#mentions = new Mentions(log, clock)
    this.#admission = new Admission({ ...options, pressure })
    this.#receiver = new Receiver({
      received: handlers.received,
      metrics,
      mentions: this.#mentions,
      pressure,
      say: (connection, message) => this.#say(connection, message),
    })
    metrics.watch('devices_connected', 'Devices that are connected now.', () => this.#current.size)
    metrics.watch('devices_waiting', 'Devices that wait because too much is under way.', () => pressure.waiting)
    metrics.watch('device_bytes_under_way', 'Received and not dealt with yet, in bytes.', () => pressure.underWay)
    this.#broker = new Broker({
      preConnect: (client, packet, done) => {
        prepare(this.#of(client), packet)
        done(null, true)
      },
      authenticate: (client, username, password, done) => {
        const connection = this.#of(client)
        this.#admit(connection, username, password?.toString()).then(
          () => done(null, true),
          (error) => {
            if (!(error instanceof Refused))
              this.#mentions.warn('nobody can connect', error, connection.session?.device)
            done(refusalOf(error), null)
          },
        )
      },
      authorizeSubscribe: (client, subscription, done) => {
        const qos = this.#of(client).listenTo(subscription.topic, subscription.qos)
        if (qos !== undefined) return done(null, { ...subscription, qos })
        metrics.foreign.inc()
        done(new Error('a device may subscribe to its own topics only'))
      },
      authorizePublish: (_client, _packet, done) => done(new Error('what is published does not come here')),
    })
    this.#broker.on('clientReady', (client) => this.#of(client).gate.open(largestPacket))
    this.#broker.on('subscribe', (_subscriptions, client) => void this.#serve(this.#of(client)))
    this.#broker.on('unsubscribe', (topics, client) => {
      for (const topic of topics) this.#of(client).stopListeningTo(topic)
    })
    const broken = (_client: Client, error: Error) => {
      metrics.broken.inc()
      log.debug({ reason: error.message }, 'a device connection broke')
    }
    this.#broker.on('clientError', broken).on('connectionError', broken)
  }

  async listen(): Promise<void> {
    await this.#broker.listen()
    this.#ticking = setInterval(() => this.#tick(), 1000).unref()
  }

  /** A new connection, over whatever carries bytes. */
  take(stream: Duplex, address: string): void {
    if (this.#closed) return void stream.destroy()
    const connection = new Connection(address, {
      stream,
      pressure: this.#pressure,
      onPublished: (first, body) => this.#receiver.receive(connection, first, body),
      onDropped: () => this.#options.metrics.dropped.inc(),
    })
    this.#connections.set(stream, connection)
    this.#open.add(connection)
    stream.once('close', () => {
      this.#open.delete(connection)
      this.#left(connection)
    })
    connection.client = this.#broker.handle(stream)
  }

  isConnected(endpointId: string): boolean {
    return this.#current.has(endpointId)
  }

  wake(endpointIds: Iterable<string>): void {
    for (const id of endpointIds) {
      const connection = this.#current.get(id)
      if (connection) void this.#serve(connection)
    }
  }

  cut(endpointIds: Iterable<string>, why: 'unenrolled' | 'replaced' = 'unenrolled'): void {
    const deadline = isoTime(this.#options.clock.now() + 60_000)
    for (const id of endpointIds) {
      const connection = this.#current.get(id)
      if (!connection) continue
      if (why === 'unenrolled') {
        this.#say(connection, { kind: 'operation', body: { id: randomUUID(), type: 'UNENROL', deadline } })
      }
      this.#left(connection)
      this.#end(connection, farewell)
    }
  }

  /** Nobody new, everybody out; resolves when their absence is written. */
  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#ticking)
    await new Promise<void>((resolve) => this.#broker.close(resolve))
    for (const connection of this.#current.values()) this.#left(connection)
    for (const { stream } of this.#open) stream.destroy()
    await Promise.all(this.#leaving)
  }

  #of(client: Client): Connection {
    return this.#connections.get(client.conn) as Connection
  }

  #tick(): void {
    for (const connection of this.#open) {
      connection.gate.tick()
      if (connection.isSilent) connection.cutOff('nothing was heard for one and a half keep-alives')
    }
  }

  async #admit(connection: Connection, username: string | undefined, password: string | undefined): Promise<void> {
    const device = await this.#admission.identify(connection, username, password)
    if (this.#closed || connection.client.closed) throw new Refused('later')
    const { handlers, clock, log } = this.#options
    const session = { device, since: clock.now(), credential: password ?? '' }
    connection.begin(session)
    // Now, not after the write: from here on only this one counts, whatever becomes of it.
    const before = this.#current.get(device.id)
    this.#current.set(device.id, connection)
    if (before) this.#end(before)
    let isAlive = false
    try {
      isAlive = await handlers.connected(session)
    } finally {
      if (!isAlive) this.#left(connection)
    }
    if (!isAlive) throw await this.#admission.dead(connection, username)
    if (connection.isOver) throw new Refused('later')
    log.debug({ org: device.org.id, endpoint: device.id }, 'device connected')
  }

  /** Says what waits. It is in the database: what cannot be asked now is asked later. */
  async #serve(connection: Connection): Promise<void> {
    const { handlers, clock } = this.#options
    const { session } = connection
    if (!session || !connection.isListening) return
    connection.askAgain = true
    if (connection.isAsking) return
    connection.isAsking = true
    try {
      while (connection.askAgain && this.#current.get(session.device.id) === connection) {
        connection.askAgain = false
        for (const message of await handlers.waiting(session, (kind) => connection.listensTo(kind))) {
          if (!connection.isRepetition(message, clock.now())) this.#say(connection, message)
        }
      }
    } catch (error) {
      this.#mentions.warn('nothing could be sent, trying again', error as Error, session.device)
      setTimeout(() => void this.#serve(connection), retryAfter).unref()
    } finally {
      connection.isAsking = false
    }
  }

  #say(connection: Connection, message: DownMessage): void {
    const { metrics, clock } = this.#options
    if (connection.say(message, clock.now())) metrics.sent.inc({ kind: message.kind })
  }

  #left(connection: Connection): void {
    const { session } = connection
    connection.isOver = true
    if (!session || !this.#forget(connection)) return
    const leaving: Promise<void> = this.#writeAbsence(session).finally(() => this.#leaving.delete(leaving))
    this.#leaving.add(leaving)
  }

  /** Again and again, until it is written, or no longer true. */
  async #writeAbsence(session: Session): Promise<void> {
    const { handlers } = this.#options
    while (!this.#current.has(session.device.id)) {
      try {
        return await handlers.disconnected(session)
      } catch (error) {
        this.#mentions.warn('absence was not written yet', error as Error, session.device)
        if (this.#closed) return
        await sleep(retryAfter)
      }
    }
  }

  /** Nothing that it says counts from now on. */
  #end(connection: Connection, after = 0): void {
    connection.isOver = true
    setTimeout(() => connection.client.close(), after).unref()
  }

  #forget(connection: Connection): boolean {
    const id = connection.session?.device.id
    return id !== undefined && this.#current.get(id) === connection && this.#current.delete(id)
  }
}
