// Knows which devices are connected, lets them in and out, and keeps their presence in the database true.
import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { type DeviceCommandMessage, downTopic } from '../../../contract/device/protocol.ts'
import { tokenHash } from '../../auth/token.ts'
import type { DisconnectReason, LocalDevices } from '../../context/connected-devices.ts'
import { type Clock, isoTime } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { TimeLimits } from '../../core/time-limits.ts'
import { Admission, Refused, Unenrolled } from './admission.ts'
import { DisconnectWriter } from './disconnect-writer.ts'
import { type Device, type DeviceConnection, type DeviceHandlers, isNamed, type Presence } from './handlers.ts'
import { Ingest } from './ingest.ts'
import { BadMessageLimit } from './limits/bad-message-limit.ts'
import { IngestBudget } from './limits/ingest-budget.ts'
import { LogThrottle } from './limits/log-throttle.ts'
import { RefusalLog } from './limits/refusal-log.ts'
import type { DeviceMetrics } from './metrics.ts'
import type { ConnectRequest } from './packets/reader.ts'
import type { ConnectOutcome } from './packets/reasons.ts'
import { Downlink, type DownlinkOptions } from './session/downlink.ts'
import { MqttSession, type SessionOptions } from './session/session.ts'
import { shutDownInTurn } from './shut-down-in-turn.ts'

export interface DeviceConnectionsOptions {
  readonly handlers: DeviceHandlers
  readonly clock: Clock
  readonly limits: TimeLimits
  readonly log: Log
  readonly metrics: DeviceMetrics
  /** Returns for how many milliseconds the database has not answered; 0 while it answers. */
  readonly outageMs: () => number
}

/** The other end of the wire, whatever is spoken on it. The address is undefined when the connection is closed. */
type Peer = { readonly remoteAddress?: string | undefined }

/** Long enough for a last packet to leave, short enough to count as immediate. */
const unenrolDelayMs = 100
const unenrolDeadlineMs = 60_000

/** Tells a device that its endpoint was deleted. It is not stored: the endpoint's row is gone. */
const unenrolCommand = (now: number): DeviceCommandMessage => ({
  id: randomUUID(),
  type: 'UNENROL',
  deadline: isoTime(now + unenrolDeadlineMs),
})

export class DeviceConnections implements LocalDevices {
  readonly #services: DeviceConnectionsOptions & DownlinkOptions
  readonly #admission: Admission
  readonly #badMessages: BadMessageLimit
  readonly #sessionOptions: SessionOptions
  /** All connections that have a socket, with their peers. */
  readonly #sessions = new Map<MqttSession, Peer>()
  /** The current session of each device. */
  readonly #current = new Map<string, MqttSession>()
  /** For connections whose number is not known yet: the highest number that a connection at another node has replaced. */
  readonly #replacedNumbers = new WeakMap<DeviceConnection, number>()
  readonly #disconnects: DisconnectWriter
  #ticking: NodeJS.Timeout | undefined
  /** True when the service stops: no connection is accepted. */
  #isReleasing = false
  #isClosed = false

  constructor(options: DeviceConnectionsOptions) {
    const { metrics, log, clock, limits, handlers } = options
    const budget = new IngestBudget()
    const logThrottle = new LogThrottle(log, clock)
    const badMessages = new BadMessageLimit(clock)
    const refusals = new RefusalLog(log, clock, metrics)
    const ingest = new Ingest({ limits, received: handlers.received, metrics, logThrottle, budget, badMessages })
    this.#services = { ...options, logThrottle }
    this.#disconnects = new DisconnectWriter({ handlers, logThrottle, isConnected: (id) => this.#current.has(id) })
    this.#admission = new Admission({ handlers, clock, refusals, metrics, budget, badMessages })
    this.#badMessages = badMessages
    this.#sessionOptions = {
      limits,
      budget,
      metrics,
      onConnect: (session, request) => this.#connect(session, request),
      onPublish: (session, packet, bytes) => ingest.receive(session, packet, bytes),
      onRefused: (session, cause) =>
        refusals.record(cause, { address: this.#addressOf(session), device: session.identified?.connection.device }),
    }
    metrics.watch('devices_connected', 'Devices that are connected now.', () => this.#current.size)
    budget.register(metrics)
  }

  /** Begins to watch timeouts: once a second for all sessions, instead of a timer for each. */
  start(): void {
    this.#ticking = setInterval(() => {
      if (this.#services.outageMs() >= this.#services.limits.storeOutageMs) this.#sendElsewhere()
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
      session.ended.note(error.message, 'LOST')
      log.debug({ reason: error.message }, 'device connection broke')
    })
    socket.once('close', () => {
      this.#sessions.delete(session)
      this.#disconnected(session)
      this.#logEnd(session)
    })
    session.start()
  }

  wake(endpointIds: Iterable<string>): void {
    for (const id of endpointIds) this.#current.get(id)?.identified?.downlink.wake()
  }

  /** Wakes a device whose config has this version, unless it was sent that version over its connection. */
  wakeForConfig(endpointId: string, version: number): void {
    this.#current.get(endpointId)?.identified?.downlink.wakeForConfig(version)
  }

  cut(endpointIds: Iterable<string>, why: DisconnectReason = 'unenrolled'): void {
    for (const id of endpointIds) {
      const session = this.#current.get(id)
      if (!session) continue
      if (why === 'unenrolled') {
        session.identified?.downlink.send({ kind: 'operation', body: unenrolCommand(this.#services.clock.now()) })
      }
      session.close(why, unenrolDelayMs)
      this.#disconnected(session)
    }
  }

  /** Accepts no new connections, and ends those that are open one after the other, within `maxMs`. */
  async release(maxMs: number): Promise<void> {
    this.#isReleasing = true
    await shutDownInTurn([...this.#sessions.keys()], maxMs)
  }

  recheck(endpointIds: readonly string[], why: 'replaced' | 'released'): void {
    const ids = endpointIds.filter((id) => this.#current.has(id))
    if (ids.length === 0) return
    this.reconcile(ids, why).catch(({ message: reason }) =>
      this.#services.log.warn({ reason }, 'connections of devices not checked, trying again within a minute'),
    )
  }

  /** Closes connections that the database does not name: all of them, or those of some endpoints. */
  async reconcile(endpointIds?: readonly string[], why: 'replaced' | 'released' = 'replaced'): Promise<void> {
    // Connections that begin during the read are not in its result.
    const sessions = endpointIds ? endpointIds.map((id) => this.#current.get(id)) : [...this.#current.values()]
    const open = sessions.filter((session) => (session?.identified?.connection.number ?? 0) > 0)
    if (open.length === 0) return
    const stored = await this.#services.handlers.listOwn(endpointIds)
    for (const session of open) {
      const { connection } = session?.identified ?? {}
      if (!session || !connection || isNamed(connection, stored)) continue
      session.close(why)
      this.#disconnected(session)
    }
  }

  endReplaced(endpointId: string, { nodeId, number }: { readonly nodeId: number; readonly number: number }): void {
    const session = this.#current.get(endpointId)
    const { connection } = session?.identified ?? {}
    if (!session || !connection) return
    // The message may be quicker than the answer to this node's own write, which has the number.
    if (connection.number === 0) this.#replacedNumbers.set(connection, number)
    else if (connection.number === number && connection.nodeId === nodeId) this.#closeReplaced(session, endpointId)
  }

  /** Ends all connections, because the row of this node was declared dead. Writes nothing. */
  dropAll(): void {
    for (const session of this.#sessions.keys()) {
      session.ended.note('this node was declared dead', 'SERVER_ENDED')
      session.close('shutting down')
    }
    this.#current.clear()
  }

  /** Ends all connections and accepts no new ones. Writes nothing: the end of the node's row disconnects all of its devices. */
  async close(): Promise<void> {
    this.#isReleasing = true
    this.#isClosed = true
    clearInterval(this.#ticking)
    for (const session of this.#sessions.keys()) session.close('shutting down')
    this.#current.clear()
    await this.#disconnects.close()
  }

  async #connect(session: MqttSession, request: ConnectRequest): Promise<ConnectOutcome> {
    try {
      await this.#admit(session, request)
      return 'accepted'
    } catch (error) {
      if (error instanceof Refused) return error.reason
      if (error instanceof Unenrolled) {
        return {
          topic: downTopic(error.device.id, 'operation'),
          lastMessage: JSON.stringify(unenrolCommand(this.#services.clock.now())),
        }
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
    // The earlier session is closed first, even if this one is refused later.
    const before = this.#current.get(device.id)
    this.#current.set(device.id, session)
    if (before) handlers.attempted('replaced', device.id, this.#addressOf(before))
    before?.close('replaced')
    let presence: Presence | undefined
    try {
      presence = await handlers.connected(connection)
    } finally {
      if (presence) Object.assign(connection, { nodeId: presence.nodeId, number: presence.number })
      if (!presence) this.#disconnected(session)
      else if ((this.#replacedNumbers.get(connection) ?? 0) >= presence.number) this.#closeReplaced(session, device.id)
      // The connection ended, or was replaced, while its presence was written.
      if (this.#current.get(device.id) !== session) this.#disconnects.write(connection, session.ended.why)
    }
    if (!presence) throw await this.#admission.refuseCredential(address, request.username)
    if (presence.mayHavePending) downlink.wake()
    log.debug({ org: device.org.id, endpoint: device.id }, 'device connected')
  }

  #addressOf(session: MqttSession): string {
    return this.#sessions.get(session)?.remoteAddress ?? ''
  }

  #identify(session: MqttSession, device: Device, { password = '' }: ConnectRequest) {
    const connection: DeviceConnection = {
      device,
      since: this.#services.clock.now(),
      credentialHash: tokenHash(password).toString('hex'),
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

  /** Closes a session without writing that it has ended, because the endpoint's row names another connection. */
  #closeReplaced(session: MqttSession, endpointId: string): void {
    if (this.#current.get(endpointId) === session) this.#current.delete(endpointId)
    this.#services.handlers.attempted('replaced', endpointId, this.#addressOf(session))
    session.close('replaced')
  }

  #disconnected(session: MqttSession): void {
    session.ignoreInput()
    const { connection } = session.identified ?? {}
    if (!connection || this.#current.get(connection.device.id) !== session) return
    this.#current.delete(connection.device.id)
    // While the presence is being written, its number is not known yet. When the service stops, only the node's row is written.
    if (connection.number > 0 && !this.#isReleasing) this.#disconnects.write(connection, session.ended.why)
  }

  /** One line for each connection that ends, except at a stop of the service, which ends all of them. */
  #logEnd({ wasConnected, identified, ended }: MqttSession): void {
    if (!wasConnected || !identified || this.#isReleasing) return
    const { org, id, serial } = identified.connection.device
    const { reason = 'the device closed the connection' } = ended
    this.#services.log.info({ org: org.id, endpoint: id, serial, reason }, 'device disconnected')
  }
}
