// The wire: who is connected, what they may say, and what is said to them.
import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DownMessage } from '../../contract/device.ts'
import { type Clock, isoTime } from '../../platform/clock.ts'
import type { Devices } from '../../platform/devices.ts'
import type { Log } from '../../platform/log.ts'
import type { Arrival, DeviceHandlers, Session } from '../handlers.ts'
import { Admission, Refused } from './admission.ts'
import { Connection, type Takes } from './connection.ts'
import { Control } from './control.ts'
import { Pressure } from './ingest-budget.ts'
import { Mentions } from './log-throttle.ts'
import type { LinkMetrics } from './metrics.ts'
import type { Connect } from './packets.ts'
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
  readonly #admission: Admission
  readonly #takes: Takes
  readonly #mentions: Mentions
  readonly #pressure = new Pressure()
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
    const receiver = new Receiver({
      received: handlers.received,
      metrics,
      mentions: this.#mentions,
      pressure,
      say: (connection, message) => this.#say(connection, message),
    })
    const control = new Control({
      metrics,
      mentions: this.#mentions,
      admit: (connection, connect) => this.#admit(connection, connect),
      serve: (connection) => void this.#serve(connection),
    })
    this.#takes = {
      pressure,
      published: (connection, first, body) => receiver.receive(connection, first, body),
      controlled: (connection, first, body) => control.receive(connection, first, body),
      dropped: () => metrics.dropped.inc(),
    }
    metrics.watch('devices_connected', 'Devices that are connected now.', () => this.#current.size)
    metrics.watch('devices_waiting', 'Devices that wait because too much is under way.', () => pressure.waiting)
    metrics.watch('device_bytes_under_way', 'Received and not dealt with yet, in bytes.', () => pressure.underWay)
  }

  listen(): void {
    this.#ticking = setInterval(() => {
      for (const connection of this.#open) connection.tick()
    }, 1000).unref()
  }

  /** A new connection, over whatever carries bytes, to whoever is at the other end. */
  take(stream: Duplex, peer: { readonly remoteAddress?: string | undefined }): void {
    if (this.#closed) return void stream.destroy()
    const { metrics, log } = this.#options
    const connection = new Connection(stream, peer, this.#takes)
    this.#open.add(connection)
    stream.on('error', (error) => {
      metrics.broken.inc()
      log.debug({ reason: error.message }, 'a device connection broke')
    })
    stream.once('end', () => stream.destroy())
    stream.once('close', () => {
      this.#open.delete(connection)
      this.#left(connection)
    })
  }

  isConnected(endpointId: string): boolean {
    return this.#current.has(endpointId)
  }

  wake(endpointIds: Iterable<string>): void {
    for (const id of endpointIds) {
      const connection = this.#current.get(id)
      if (!connection) continue
      connection.mayWait = true
      void this.#serve(connection)
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
    for (const connection of this.#current.values()) this.#left(connection)
    for (const { stream } of this.#open) stream.destroy()
    await Promise.all(this.#leaving)
  }

  async #admit(connection: Connection, connect: Connect): Promise<void> {
    const device = await this.#admission.identify(connection, connect)
    if (this.#closed || connection.stream.destroyed) throw new Refused('later')
    const { handlers, clock, log } = this.#options
    const session = { device, since: clock.now(), credential: connect.password ?? '' }
    connection.begin(session)
    // Now, not after the write: from here on only this one counts, whatever becomes of it.
    const before = this.#current.get(device.id)
    this.#current.set(device.id, connection)
    if (before) this.#end(before)
    let arrival: Arrival | undefined
    try {
      arrival = await handlers.connected(session)
    } finally {
      if (!arrival) this.#left(connection)
    }
    if (!arrival) throw await this.#admission.dead(connection, connect.username)
    connection.mayWait ||= arrival.mayWait
    if (connection.isOver) throw new Refused('later')
    log.debug({ org: device.org.id, endpoint: device.id }, 'device connected')
  }

  /** Says what waits. It is in the database: what cannot be asked now is asked later. */
  async #serve(connection: Connection): Promise<void> {
    const { handlers, clock } = this.#options
    const { session } = connection
    if (!session || !connection.isListening || !connection.mayWait) return
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
    // It does not listen yet.
    else connection.mayWait = true
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
    setTimeout(() => connection.stream.destroy(), after).unref()
  }

  #forget(connection: Connection): boolean {
    const id = connection.session?.device.id
    return id !== undefined && this.#current.get(id) === connection && this.#current.delete(id)
  }
}
