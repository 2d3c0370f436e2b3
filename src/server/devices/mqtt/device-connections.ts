// Knows which devices are connected, lets them in and out, and keeps their presence in the database true.
import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type DeviceCommandMessage, downTopic } from '../../../contract/device/protocol.ts'
import { tokenHash } from '../../auth/token.ts'
import type { ConnectedDevices } from '../../context/connected-devices.ts'
import { type Clock, isoTime } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { Admission, Refused, Unenrolled } from './admission.ts'
import { BadMessageLimit } from './bad-message-limit.ts'
import { Downlink, type DownlinkOptions } from './downlink.ts'
import type { Device, DeviceConnection, DeviceHandlers, Presence } from './handlers.ts'
import { Ingest } from './ingest.ts'
import { IngestBudget } from './ingest-budget.ts'
import { LogThrottle } from './log-throttle.ts'
import type { DeviceMetrics } from './metrics.ts'
import type { ConnectRequest } from './packet-reader.ts'
import type { ConnectOutcome } from './reasons.ts'
import { RefusalLog } from './refusal-log.ts'
import { MqttSession, type SessionOptions } from './session.ts'
import { maxOutageMs } from './store-again.ts'

export interface DeviceConnectionsOptions {
  readonly handlers: DeviceHandlers
  readonly clock: Clock
  readonly log: Log
  readonly metrics: DeviceMetrics
  /** How long the database has not answered; 0 while it does. */
  readonly outageMs: () => number
}

/** The other end of the wire, whatever is spoken on it. */
interface Peer {
  /** Undefined when the connection is closed. */
  readonly remoteAddress?: string | undefined
}

const retryAfterMs = 5_000
/** Long enough for a last packet to leave, short enough to count as immediate. */
const unenrolDelayMs = 100
const unenrolDeadlineMs = 60_000
/** A few devices need not wait for half a minute. */
const minReleasesPerSecond = 100
const releaseIntervalMs = 50

export class DeviceConnections implements ConnectedDevices {
  readonly #services: DeviceConnectionsOptions & DownlinkOptions
  readonly #admission: Admission
  readonly #badMessages: BadMessageLimit
  readonly #sessionOptions: SessionOptions
  /** All that have a socket, with their peers. */
  readonly #sessions = new Map<MqttSession, Peer>()
  /** The current session of each device. */
  readonly #current = new Map<string, MqttSession>()
  readonly #persisting = new Set<Promise<void>>()
  #ticking: NodeJS.Timeout | undefined
  /** True when the service stops: no connection is accepted. */
  #isReleasing = false
  #isClosed = false

  constructor(options: DeviceConnectionsOptions) {
    const { metrics, log, clock, handlers } = options
    const budget = new IngestBudget()
    const logThrottle = new LogThrottle(log, clock)
    const badMessages = new BadMessageLimit(clock)
    const refusals = new RefusalLog(log, clock, metrics)
    const ingest = new Ingest({ received: handlers.received, metrics, logThrottle, budget, badMessages })
    this.#services = { ...options, logThrottle }
    this.#admission = new Admission({ handlers, clock, refusals, metrics, budget, badMessages })
    this.#badMessages = badMessages
    this.#sessionOptions = {
      budget,
      metrics,
      onConnect: (session, request) => this.#connect(session, request),
      onPublish: (session, packet, bytes) => ingest.receive(session, packet, bytes),
      onRefused: (session, cause) =>
        refusals.record(cause, { address: this.#addressOf(session), device: session.identified?.connection.device }),
    }
    metrics.watch('devices_connected', 'Devices that are connected now.', () => this.#current.size)
    metrics.watch('devices_waiting', 'Devices that wait for the ingest budget.', () => budget.queueLength)
    metrics.watch('device_bytes_under_way', 'Bytes of messages that are not finished.', () => budget.bytesInFlight)
  }

  /** Begins to watch timeouts: once a second for all sessions, instead of a timer for each. */
  start(): void {
    this.#ticking = setInterval(() => {
      if (this.#services.outageMs() >= maxOutageMs) this.#sendElsewhere()
      for (const session of this.#sessions.keys()) {
        if (session.backPressure.isSlowed) this.#updateSlowed(session)
        session.tick()
      }
    }, 1000).unref()
  }

  /** A node that is cut off from the database is of no use to its devices. They may reach another one. */
  #sendElsewhere(): void {
    for (const session of this.#current.values()) session.close('database away')
  }

  accept(socket: Duplex, peer: Peer): void {
    if (this.#isReleasing) return void socket.destroy()
    const { metrics, log } = this.#services
    const session = new MqttSession(socket, this.#sessionOptions)
    this.#sessions.set(session, peer)
    socket.on('error', (error) => {
      metrics.broken.inc()
      session.endReason ??= error.message
      log.debug({ reason: error.message }, 'device connection broke')
    })
    socket.once('close', () => {
      this.#sessions.delete(session)
      this.#disconnected(session)
      this.#logEnd(session)
    })
    session.start()
  }

  isConnected(endpointId: string): boolean {
    return this.#current.has(endpointId)
  }

  wake(endpointIds: Iterable<string>): void {
    for (const id of endpointIds) this.#current.get(id)?.identified?.downlink.wake()
  }

  cut(endpointIds: Iterable<string>, why: 'unenrolled' | 'replaced' = 'unenrolled'): void {
    for (const id of endpointIds) {
      const session = this.#current.get(id)
      if (!session) continue
      if (why === 'unenrolled') {
        session.identified?.downlink.send({ kind: 'operation', body: this.#unenrolCommand() })
      }
      session.close(why, unenrolDelayMs)
      this.#disconnected(session)
    }
  }

  /**
   * Accepts no new connections, and ends those that are open over a time that grows with their number, up to `maxMs`: devices that
   * all came to the other nodes at once would have to wait there.
   */
  async release(maxMs: number): Promise<void> {
    this.#isReleasing = true
    const sessions = [...this.#sessions.keys()]
    const durationMs = Math.min(maxMs, (sessions.length / minReleasesPerSecond) * 1000)
    const startedAt = performance.now()
    for (let released = 0; released < sessions.length; ) {
      const part = durationMs === 0 ? 1 : (performance.now() - startedAt) / durationMs
      const due = Math.min(sessions.length, Math.ceil(part * sessions.length))
      for (const session of sessions.slice(released, due)) session.shutDown()
      released = Math.max(released, due)
      if (released < sessions.length) await sleep(releaseIntervalMs)
    }
  }

  /** Ends all connections and accepts no new ones. Writes nothing: the end of the node's row disconnects all of its devices. */
  async close(): Promise<void> {
    this.#isReleasing = true
    this.#isClosed = true
    clearInterval(this.#ticking)
    for (const session of this.#sessions.keys()) session.shutDown()
    this.#current.clear()
    await Promise.all(this.#persisting)
  }

  async #connect(session: MqttSession, request: ConnectRequest): Promise<ConnectOutcome> {
    try {
      await this.#admit(session, request)
      return 'accepted'
    } catch (error) {
      if (error instanceof Refused) return error.reason
      if (error instanceof Unenrolled) {
        return { topic: downTopic(error.device.id, 'operation'), lastMessage: JSON.stringify(this.#unenrolCommand()) }
      }
      // A device is not to blame for any other error, so it may try again.
      const device = session.identified?.connection.device
      this.#services.logThrottle.warn('a device could not connect', error as Error, device)
      return 'try later'
    }
  }

  async #admit(session: MqttSession, request: ConnectRequest): Promise<void> {
    const address = this.#addressOf(session)
    const device = await this.#admission.identify(address, request)
    if (this.#isClosed || session.socket.destroyed) throw new Refused('try later')
    const { handlers, log } = this.#services
    const { connection, downlink } = this.#identify(session, device, request)
    // The session before this one ends before the presence is written, even if this one is refused after all.
    const before = this.#current.get(device.id)
    this.#current.set(device.id, session)
    before?.close('replaced')
    let presence: Presence | undefined
    try {
      presence = await handlers.connected(connection)
    } finally {
      if (presence) Object.assign(connection, { nodeId: presence.nodeId, number: presence.number })
      if (!presence) this.#disconnected(session)
      // The connection ended, or was replaced, while its presence was written.
      if (this.#current.get(device.id) !== session) this.#persistEnd(connection)
    }
    if (!presence) throw await this.#admission.refuseCredential(address, request.username)
    if (presence.mayHavePending) downlink.wake()
    log.debug({ org: device.org.id, endpoint: device.id }, 'device connected')
  }

  #unenrolCommand(): DeviceCommandMessage {
    const deadline = isoTime(this.#services.clock.now() + unenrolDeadlineMs)
    return { id: randomUUID(), type: 'UNENROL', deadline }
  }

  #addressOf(session: MqttSession): string {
    return this.#sessions.get(session)?.remoteAddress ?? ''
  }

  #identify(session: MqttSession, device: Device, { password = '' }: ConnectRequest) {
    const connection: DeviceConnection = {
      device,
      since: this.#services.clock.now(),
      credentialHash: tokenHash(password),
      nodeId: 0,
      number: 0,
    }
    const downlink = new Downlink(this.#services, connection, session)
    session.identify(connection, downlink)
    this.#updateSlowed(session)
    return { connection, downlink }
  }

  #updateSlowed(session: MqttSession): void {
    const { device } = session.identified?.connection ?? {}
    session.backPressure.isSlowed = device !== undefined && this.#badMessages.isSlowed(device.id)
  }

  #disconnected(session: MqttSession): void {
    session.beginClosing()
    const { connection } = session.identified ?? {}
    if (!connection || this.#current.get(connection.device.id) !== session) return
    this.#current.delete(connection.device.id)
    // While the presence is being written, its number is not known yet.
    if (connection.number > 0) this.#persistEnd(connection)
  }

  #persistEnd(connection: DeviceConnection): void {
    const persisting: Promise<void> = this.#persistDisconnect(connection).finally(() =>
      this.#persisting.delete(persisting),
    )
    this.#persisting.add(persisting)
  }

  /** One line for each connection that ends, except at a stop of the service, which ends all of them. */
  #logEnd({ wasConnected, identified, endReason = 'the device closed the connection' }: MqttSession): void {
    if (!wasConnected || !identified || this.#isReleasing) return
    const { org, id, serial } = identified.connection.device
    this.#services.log.info({ org: org.id, endpoint: id, serial, reason: endReason }, 'device disconnected')
  }

  /** Tries until it is written, until the device is connected again, or until the service stops, which ends the node's row. */
  async #persistDisconnect(connection: DeviceConnection): Promise<void> {
    const { handlers, logThrottle } = this.#services
    while (!this.#isClosed && !this.#current.has(connection.device.id)) {
      try {
        return await handlers.disconnected(connection)
      } catch (error) {
        logThrottle.warn('disconnect not persisted, retrying', error as Error, connection.device)
        if (!this.#isClosed) await sleep(retryAfterMs)
      }
    }
  }
}
