// The wire: who is connected, what they may say, and what is said to them.
import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, PublishPacket } from 'aedes'
import { type DownMessage, largestPacket } from '../contract/device.ts'
import { Buckets } from '../platform/auth/bucket.ts'
import { type Clock, isoTime } from '../platform/clock.ts'
import type { Devices } from '../platform/devices.ts'
import type { Log } from '../platform/log.ts'
import { Admission, prepare, Refused, refusalOf } from './admission.ts'
import { Broker } from './broker.ts'
import { Connection } from './connection.ts'
import { Gate } from './gate.ts'
import type { DeviceHandlers, Session } from './handlers.ts'
import { BadMessage, kindOf, readMessage } from './messages.ts'
import type { LinkMetrics } from './metrics.ts'

export interface LinkOptions {
  readonly handlers: DeviceHandlers
  readonly clock: Clock
  readonly log: Log
  readonly metrics: LinkMetrics
}

const retryAfter = 5_000
const nothing = Buffer.alloc(0)
/** Long enough for a last word to leave, short enough to be "at once". */
const farewell = 100

export class Link implements Devices {
  readonly #options: LinkOptions
  readonly #broker: Broker
  readonly #admission: Admission
  readonly #connections = new WeakMap<Duplex, Connection>()
  /** All that are open, strangers included. */
  readonly #open = new Set<Duplex>()
  /** The one connection of each device that counts. */
  readonly #current = new Map<string, Connection>()
  readonly #mentions = new Buckets({ rate: 1 / 60, burst: 1 })
  readonly #leaving = new Set<Promise<void>>()
  #closed = false

  constructor(options: LinkOptions) {
    const { metrics, log } = options
    this.#options = options
    this.#admission = new Admission(options)
    metrics.watchConnections(() => this.#current.size)
    this.#broker = new Broker({
      preConnect: (client, packet, done) => {
        prepare(this.#of(client), packet)
        done(null, true)
      },
      authenticate: (client, username, password, done) => {
        this.#admit(this.#of(client), username, password?.toString()).then(
          () => done(null, true),
          (error) => done(refusalOf(error), null),
        )
      },
      authorizeSubscribe: (client, subscription, done) => {
        const qos = this.#of(client).listenTo(subscription.topic, subscription.qos)
        if (qos !== undefined) return done(null, { ...subscription, qos })
        metrics.foreign.inc()
        done(new Error('a device may subscribe to its own topics only'))
      },
      authorizePublish: (client, packet, done) => {
        const connection = this.#of(client as Client)
        connection.gate.inFlight++
        const outcome = this.#receive(connection, packet).catch((error: Error) => error)
        // [MQTT-4.6.0-2]
        connection.answered = connection.answered.then(async () => {
          const error = await outcome
          connection.gate.inFlight--
          done(error ?? null)
        })
      },
    })
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

  listen(): Promise<void> {
    return this.#broker.listen()
  }

  /** A new connection, over whatever carries bytes. */
  take(stream: Duplex, address: string): void {
    if (this.#closed) return void stream.destroy()
    const gate = new Gate(stream, () => stream.destroy(new Error('a packet is larger than allowed')))
    const connection = new Connection(gate, address)
    this.#connections.set(stream, connection)
    this.#open.add(stream)
    stream.once('close', () => {
      this.#open.delete(stream)
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
    await new Promise<void>((resolve) => this.#broker.close(resolve))
    for (const connection of this.#current.values()) this.#left(connection)
    for (const stream of this.#open) stream.destroy()
    await Promise.all(this.#leaving)
  }

  #of(client: Client): Connection {
    return this.#connections.get(client.conn) as Connection
  }

  async #admit(connection: Connection, username: string | undefined, password: string | undefined): Promise<void> {
    const device = await this.#admission.identify(connection, username, password)
    if (this.#closed || connection.client.closed) throw new Refused('later')
    const { handlers, clock, log } = this.#options
    connection.session = { device, since: clock.now(), credential: password ?? '' }
    // Now, not after the write: from here on only this one counts, whatever becomes of it.
    const before = this.#current.get(device.id)
    this.#current.set(device.id, connection)
    if (before) this.#end(before)
    let isAlive = false
    try {
      isAlive = await handlers.connected(connection.session)
    } finally {
      if (!isAlive) this.#left(connection)
    }
    if (!isAlive) throw await this.#admission.dead(connection, username)
    if (connection.isOver) throw new Refused('later')
    connection.gate.open(largestPacket)
    log.debug({ org: device.org.id, endpoint: device.id }, 'device connected')
  }

  async #receive(connection: Connection, packet: PublishPacket): Promise<void> {
    const { handlers, metrics, log, clock } = this.#options
    const { session } = connection
    if (!session || connection.isOver || this.#current.get(session.device.id) !== connection) {
      throw new Error('the device is gone')
    }
    const payload = packet.payload as Buffer
    // Of QoS 2 the broker keeps the packet until the second word of the device: it needs the number only.
    packet.payload = nothing
    const name = kindOf(packet.topic, session.device.id)
    if (name === undefined) {
      metrics.foreign.inc()
      throw new Error('a device may publish to its own topics only')
    }
    try {
      const { kind, message } = readMessage(name, payload)
      metrics.received.inc({ kind })
      for (const answer of await handlers.received[kind](session, message as never)) this.#say(connection, answer)
    } catch (error) {
      const isBad = error instanceof BadMessage
      const { org, id, serial } = session.device
      const now = clock.now()
      if (this.#mentions.of(`${id} ${isBad}`, now).take(now)) {
        const what = isBad ? 'bad message of a device' : 'a message could not be dealt with; the device sends it again'
        const reason = (error as Error).message
        log.warn({ org: org.id, endpoint: id, serial, kind: name.slice(0, 40), reason }, what)
      }
      // A bad one is acknowledged all the same: sending it again would not make it better.
      if (!isBad) throw error
      metrics.bad.inc()
    }
  }

  /** Says what waits. It is in the database: what cannot be asked now is asked later. */
  async #serve(connection: Connection): Promise<void> {
    const { handlers, clock, log } = this.#options
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
      log.warn({ endpoint: session.device.id, reason: (error as Error).message }, 'nothing could be sent, trying again')
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
    if (!session || !this.#forget(connection)) return
    const leaving: Promise<void> = this.#writeAbsence(session).finally(() => this.#leaving.delete(leaving))
    this.#leaving.add(leaving)
  }

  /** Again and again, until it is written, or no longer true. */
  async #writeAbsence(session: Session): Promise<void> {
    const { handlers, log } = this.#options
    while (!this.#current.has(session.device.id)) {
      try {
        return await handlers.disconnected(session)
      } catch (error) {
        log.warn({ endpoint: session.device.id, reason: (error as Error).message }, 'absence was not written yet')
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
