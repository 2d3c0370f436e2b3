// A device of a trial: speaks MQTT with prepared packets, moves to another node when its connection ends, and logs all that it does.
import { connect, type Socket } from 'node:net'
import { downTopic, upTopic } from '../../../../src/contract/device/protocol.ts'
import { frame, frames } from '../../devices/raw-mqtt.ts'
import { FrameSplitter } from './frame-splitter.ts'
import type { CommandDelivery, ConnectionRecord, DeviceHistory, RegisterWrite, SentSample } from './histories.ts'

export interface EnrolledIdentity {
  readonly endpointId: string
  readonly credential: string
}

export interface DeviceTarget {
  readonly name: string
  readonly mqttPort: number
}

/** A message that waits for its PUBACK. Samples and reports are sent again on the next connection, a status is not. */
interface Outgoing {
  readonly kind: 'sample' | 'status' | 'operation'
  readonly body: unknown
  onSent?(): void
  onAcknowledged(): void
  /** Called if the connection ended before the PUBACK. */
  onLost?(): void
}

const packets = { connack: 2, publish: 3, puback: 4 } as const
const keepAliveSeconds = 30
const pingEveryMs = 5000
const rebootMs = 100

export interface DeviceTimes {
  readonly sampleEveryMs: number
  readonly statusEveryMs: number
  /** A device that gets no acknowledgement for so long goes elsewhere. */
  readonly acknowledgementTimeoutMs: number
  readonly reconnectMs: () => number
}

export class TrialDevice {
  readonly identity: EnrolledIdentity
  readonly #history: DeviceHistory
  readonly #times: DeviceTimes
  readonly #target: () => DeviceTarget | undefined
  readonly #outbox: Outgoing[] = []
  /** The state of each command that the device has seen. */
  readonly #commands = new Map<string, 'begun' | 'done' | 'reported'>()
  #socket: Socket | undefined
  #connection: ConnectionRecord | undefined
  #inFlight: Outgoing | undefined
  #inFlightSince = 0
  #packetId = 0
  #statusNumber = 0
  #nextSampleAt: number
  #nextSampleTime = 0
  #nextStatusTime = 0
  #lastPing = 0
  #lastReceived = 0
  #isStopped = false
  #isSampling = true

  constructor(
    identity: EnrolledIdentity,
    history: DeviceHistory,
    times: DeviceTimes,
    firstSampleAt: number,
    target: () => DeviceTarget | undefined,
  ) {
    this.identity = identity
    this.#history = history
    this.#times = times
    this.#nextSampleAt = firstSampleAt
    this.#target = target
  }

  get isConnected(): boolean {
    return this.#connection !== undefined
  }

  /** The node that it is connected to. */
  get node(): string | undefined {
    return this.#connection?.node
  }

  /** True if everything that it sent was acknowledged. */
  get isIdle(): boolean {
    return this.isConnected && !this.#inFlight && this.#outbox.length === 0
  }

  /** Sends what is due. Must be called several times a second. */
  tick(now: number): void {
    if (this.#isStopped) return
    if (!this.#socket) return
    if (!this.#connection) return
    if (this.#inFlight && now - this.#inFlightSince > this.#times.acknowledgementTimeoutMs) return void this.drop()
    if (this.#isSampling && now >= this.#nextSampleTime && this.#outbox.length < 4) {
      this.#nextSampleTime = now + this.#times.sampleEveryMs
      this.#queueSample()
    }
    if (this.#isSampling && now >= this.#nextStatusTime && this.#outbox.length < 4) {
      this.#nextStatusTime = now + this.#times.statusEveryMs
      this.#queueStatus()
    }
    if (now - this.#lastPing > pingEveryMs) {
      this.#lastPing = now
      this.#socket.write(frames.pingreq)
    }
    // Clients give up a connection whose PINGREQs are not answered. That is an end by the node.
    if (now - this.#lastReceived > keepAliveSeconds * 1000) return void this.#socket.destroy()
    this.#sendNext()
  }

  connect(): void {
    if (this.#isStopped || this.#socket) return
    const target = this.#target()
    if (!target) return void this.#connectLater()
    const socket = connect({ port: target.mqttPort, host: '127.0.0.1', noDelay: true })
    this.#socket = socket
    const splitter = new FrameSplitter()
    const { endpointId, credential } = this.identity
    socket.write(frames.connect(endpointId, credential, keepAliveSeconds))
    const [begunAt, endedAt] = [performance.now(), Number.POSITIVE_INFINITY]
    const attempt = { endpointId, node: target.name, begunAt, endedAt }
    this.#history.attempts.push(attempt)
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      this.#lastReceived = performance.now()
      for (const { firstByte, body } of splitter.push(bytes)) this.#handle(firstByte, body, target.name)
    })
    socket.once('close', () => {
      attempt.endedAt = performance.now()
      if (this.#socket !== socket) return
      this.#ended()
      this.#connectLater()
    })
    // A frozen node accepts connections and answers nothing.
    setTimeout(() => {
      if (this.#socket === socket && !this.#connection) socket.destroy()
    }, this.#times.acknowledgementTimeoutMs).unref()
  }

  /** Closes the socket without a word, and connects again later. */
  drop(): void {
    if (this.#connection) this.#connection.isEndedByDevice = true
    this.#socket?.destroy()
  }

  /** No more samples and statuses; commands are still answered. */
  stopSampling(): void {
    this.#isSampling = false
  }

  stop(): void {
    this.#isStopped = true
    this.drop()
    this.#ended()
  }

  #connectLater(): void {
    if (!this.#isStopped) setTimeout(() => this.connect(), this.#times.reconnectMs()).unref()
  }

  #ended(): void {
    if (this.#connection) this.#connection.endedAt = performance.now()
    this.#connection = undefined
    this.#socket = undefined
    const lost = this.#inFlight
    this.#inFlight = undefined
    if (lost?.onLost) lost.onLost()
    else if (lost) this.#outbox.unshift(lost)
  }

  #queueSample(): void {
    const timestamp = this.#nextSampleAt
    this.#nextSampleAt += 60
    const co2 = 400 + (timestamp % 997)
    const { endpointId } = this.identity
    const sample: SentSample = { endpointId, timestamp, co2, acknowledgedAt: undefined }
    this.#history.samples.push(sample)
    this.#outbox.push({
      kind: 'sample',
      body: { samples: [{ timestamp, co2 }] },
      onAcknowledged: () => {
        sample.acknowledgedAt = performance.now()
      },
    })
  }

  #queueStatus(): void {
    const version = ++this.#statusNumber
    const value = `f-${version}`
    let invokedAt = Number.POSITIVE_INFINITY
    const log = (outcome: RegisterWrite['outcome'], endedAt: number) =>
      this.#history.statusWrites.push({
        register: firmwareRegister(this.identity.endpointId),
        value,
        version,
        invokedAt,
        endedAt,
        outcome,
      })
    this.#outbox.push({
      kind: 'status',
      body: { firmwareVersion: value },
      onSent: () => {
        invokedAt = performance.now()
      },
      onAcknowledged: () => void log('done', performance.now()),
      onLost: () => void log('unknown', Number.POSITIVE_INFINITY),
    })
  }

  #sendNext(): void {
    if (this.#inFlight || !this.#socket || !this.#connection) return
    const next = this.#outbox.shift()
    if (!next) return
    this.#inFlight = next
    this.#inFlightSince = performance.now()
    this.#packetId = (this.#packetId % 60_000) + 1
    next.onSent?.()
    const topic = upTopic(this.identity.endpointId, next.kind)
    this.#socket.write(frames.publish(topic, JSON.stringify(next.body), 1, this.#packetId))
  }

  #handle(firstByte: number, body: Buffer, node: string): void {
    const type = firstByte >> 4
    if (type === packets.connack) this.#connected(body[1] ?? 1, node)
    else if (type === packets.puback) this.#acknowledged(body.readUInt16BE(0))
    else if (type === packets.publish) this.#delivered(body)
  }

  #connected(code: number, node: string): void {
    if (code !== 0) return void this.#socket?.destroy()
    const { endpointId } = this.identity
    this.#connection = { endpointId, node, connackAt: performance.now(), endedAt: Number.POSITIVE_INFINITY }
    this.#history.connections.push(this.#connection)
    this.#socket?.write(frames.subscribe(downTopic(endpointId, '#'), 1))
    this.#lastPing = performance.now()
    for (const [id, state] of this.#commands) if (state === 'done') this.#report(id)
  }

  #acknowledged(packetId: number): void {
    if (!this.#inFlight || packetId !== this.#packetId) return
    const done = this.#inFlight
    this.#inFlight = undefined
    done.onAcknowledged()
    this.#sendNext()
  }

  #delivered(body: Buffer): void {
    const at = 2 + body.readUInt16BE(0)
    const topic = body.toString('utf8', 2, at)
    this.#socket?.write(frame(0x40, body.subarray(at, at + 2)))
    if (!topic.endsWith('/operation')) return
    const { id, type, deadline } = JSON.parse(body.toString('utf8', at + 2))
    const delivery: CommandDelivery = { commandId: id, endpointId: this.identity.endpointId, at: performance.now() }
    this.#history.deliveries.push(delivery)
    const known = this.#commands.get(id)
    if (known === 'begun') return
    if (known) return void this.#report(id)
    if (Date.parse(deadline) < Date.now()) return
    if (type === 'REBOOT') return void this.#reboot(delivery)
    this.#commands.set(id, 'done')
    this.#history.executions.push(delivery)
    this.#report(id)
  }

  #reboot(delivery: CommandDelivery): void {
    const { commandId } = delivery
    this.#commands.set(commandId, 'begun')
    this.#outbox.push({
      kind: 'operation',
      body: { id: commandId, state: 'ACKNOWLEDGED' },
      onAcknowledged: () => {
        this.#history.executions.push(delivery)
        this.#commands.set(commandId, 'done')
        setTimeout(() => this.drop(), rebootMs).unref()
      },
    })
    this.#sendNext()
  }

  #report(id: string): void {
    this.#outbox.push({
      kind: 'operation',
      body: { id, state: 'SUCCEEDED' },
      onAcknowledged: () => {
        this.#commands.set(id, 'reported')
        this.#history.finished.set(id, performance.now())
      },
    })
    this.#sendNext()
  }
}

export const firmwareRegister = (endpointId: string): string => `firmware of ${endpointId}`
