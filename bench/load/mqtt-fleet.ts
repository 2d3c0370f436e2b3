// Devices that connect, subscribe and listen, at minimal cost: MQTT 3.1.1 by hand over sockets.
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { downTopic } from '../../src/contract/device/protocol.ts'
import type { LoadResult } from './load-result.ts'
import { type BenchDevice, connectFrame, encodeFrame, encodeString } from './mqtt-frames.ts'

const packetTypes = { connack: 2, publish: 3, puback: 4, suback: 9 } as const
const subscribePacketId = Buffer.from([0, 1])
const disconnectFrame = Buffer.from([0xe0, 0])

/** The device protocol asks for one subscription to all topics of the device, with QoS 1. */
const subscribeFrame = ({ id }: BenchDevice) =>
  encodeFrame(0x82, subscribePacketId, encodeString(downTopic(id, '#')), Buffer.from([1]))

/** Called with the payload of each message that the server publishes to the device. */
export type OnMessage = (device: ListeningDevice, payload: Buffer) => void

export class ListeningDevice {
  readonly identity: BenchDevice
  readonly #socket: Socket
  readonly #onMessage: OnMessage
  /** The start of a frame that has not arrived completely. */
  #partialFrame: Buffer | undefined
  #isDisconnecting = false
  #onPuback: () => void = () => {}
  onSubscribed: () => void = () => {}
  onError: (error: Error) => void = () => {}

  constructor(port: number, identity: BenchDevice, onMessage: OnMessage) {
    this.identity = identity
    this.#onMessage = onMessage
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafeSlow(512),
        callback: (count, bytes) => {
          this.#read((bytes as Buffer).subarray(0, count))
          return true
        },
      },
    })
    this.#socket.on('error', (error) => this.onError(error))
    this.#socket.on('close', () => {
      if (!this.#isDisconnecting) this.onError(new Error('The server closed a connection.'))
    })
    this.#socket.write(connectFrame(identity))
  }

  /** Publishes with QoS 1 and resolves with the PUBACK. Only one message may be in flight. */
  publish(topic: string, payload: string): Promise<void> {
    this.#socket.write(encodeFrame(0x32, encodeString(topic), Buffer.from([0, 2]), Buffer.from(payload)))
    return new Promise((resolve) => {
      this.#onPuback = resolve
    })
  }

  /** Sends DISCONNECT and resolves when the server has closed the connection. */
  disconnect(): Promise<void> {
    this.#isDisconnecting = true
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()))
    this.#socket.write(disconnectFrame)
    return closed
  }

  /** Closes the socket without DISCONNECT. */
  drop(): void {
    this.#isDisconnecting = true
    this.#socket.destroy()
  }

  #read(bytes: Buffer): void {
    const all = this.#partialFrame ? Buffer.concat([this.#partialFrame, bytes]) : bytes
    let at = 0
    for (;;) {
      const end = frameEnd(all, at)
      if (end === undefined) break
      this.#handleFrame(all, at, end)
      at = end
    }
    // The bytes are copied because Node reuses the read buffer.
    this.#partialFrame = at < all.length ? Buffer.from(all.subarray(at)) : undefined
  }

  #handleFrame(all: Buffer, at: number, end: number): void {
    const type = (all[at] as number) >> 4
    const last = all[end - 1]
    if (type === packetTypes.connack && last === 0) this.#socket.write(subscribeFrame(this.identity))
    else if (type === packetTypes.suback && last === 1) this.onSubscribed()
    else if (type === packetTypes.puback) this.#onPuback()
    else if (type === packetTypes.publish) this.#handlePublish(all, at, end)
    else this.onError(new Error(`The server sent an unexpected packet: ${all.toString('hex', at, end)}`))
  }

  #handlePublish(all: Buffer, at: number, end: number): void {
    const body = (all[at + 1] as number) < 128 ? at + 2 : at + 3
    const id = body + 2 + all.readUInt16BE(body)
    const isQos1 = ((all[at] as number) & 0b110) === 0b010
    if (isQos1) this.#socket.write(Buffer.from([0x40, 2, all[id] as number, all[id + 1] as number]))
    this.#onMessage(this, all.subarray(isQos1 ? id + 2 : id, end))
  }
}

/** Returns the end of the frame that begins at `at`, or undefined if it is not complete. Frames are shorter than 16 KiB. */
function frameEnd(all: Buffer, at: number): number | undefined {
  if (all.length < at + 2) return undefined
  const low = all[at + 1] as number
  if (low >= 128 && all.length < at + 3) return undefined
  const end = low < 128 ? at + 2 + low : at + 3 + (low & 127) + (all[at + 2] as number) * 128
  return end <= all.length ? end : undefined
}

/** Fails if this process may not open so many sockets. Node has raised its soft limit to the hard limit by itself. */
export function requireOpenFiles(sockets: number): void {
  const [, limit = ''] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  const required = sockets + 200
  if (limit !== 'unlimited' && Number(limit) < required) {
    throw new Error(
      `This process may open ${limit} files, but needs ${required}. Raise the limit: ulimit -n ${required}.`,
    )
  }
}

export class MqttFleet {
  readonly #port: number
  readonly #identities: readonly BenchDevice[]
  #connected: ListeningDevice[] = []
  #next = 0
  onMessage: OnMessage = () => {}

  /** Devices connect in the order of their identities, and start again from the first. */
  constructor(port: number, identities: readonly BenchDevice[]) {
    this.#port = port
    this.#identities = identities
  }

  get devices(): readonly ListeningDevice[] {
    return this.#connected
  }

  /** Connects `count` more devices. A device counts as connected when its SUBACK grants QoS 1. */
  connect(count: number, concurrency: number): Promise<LoadResult> {
    const latenciesMs = new Float64Array(count)
    let [started, connected] = [0, 0]
    const startedAt = performance.now()
    return new Promise((resolve, reject) => {
      const connectNext = () => {
        if (started === count) return
        started++
        const deviceStartedAt = performance.now()
        const identity = this.#identities[this.#next++ % this.#identities.length] as BenchDevice
        const device = new ListeningDevice(this.#port, identity, (from, payload) => this.onMessage(from, payload))
        this.#connected.push(device)
        device.onError = reject
        device.onSubscribed = () => {
          latenciesMs[connected++] = performance.now() - deviceStartedAt
          connectNext()
          if (connected === count) resolve({ latenciesMs, seconds: (performance.now() - startedAt) / 1000 })
        }
      }
      for (let i = 0; i < concurrency; i++) connectNext()
    })
  }

  /** Resolves when the server has closed every connection. */
  async disconnect(): Promise<void> {
    const devices = this.#connected
    this.#connected = []
    await Promise.all(devices.map((device) => device.disconnect()))
  }

  drop(): void {
    for (const device of this.#connected) device.drop()
    this.#connected = []
  }
}
