// Devices that connect, subscribe and then listen: MQTT 3.1.1 by hand over sockets, as cheap as it can be.
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { downTopic } from '../../src/contract/device.ts'
import type { Run } from '../measure/comparison.ts'
import { connectFrame, frame, type Identity, text } from './mqtt-load.ts'

const types = { connack: 2, publish: 3, puback: 4, suback: 9 } as const
const subscribeId = Buffer.from([0, 1])
const goodbye = Buffer.from([0xe0, 0])

/** As the protocol says: once, to everything of its own, with QoS 1. */
const subscribeFrame = ({ id }: Identity) => frame(0x82, subscribeId, text(downTopic(id, '#')), Buffer.from([1]))

/** Called with the payload of what comes down. */
export type OnMessage = (device: Listener, payload: Buffer) => void

export class Listener {
  readonly identity: Identity
  readonly #socket: Socket
  readonly #onMessage: OnMessage
  /** The start of a frame that has not come whole. */
  #rest: Buffer | undefined
  #isLeaving = false
  #onAnswer: () => void = () => {}
  onReady: () => void = () => {}
  onTrouble: (error: Error) => void = () => {}

  constructor(port: number, identity: Identity, onMessage: OnMessage) {
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
    this.#socket.on('error', (error) => this.onTrouble(error))
    this.#socket.on('close', () => {
      if (!this.#isLeaving) this.onTrouble(new Error('the server ended a connection'))
    })
    this.#socket.write(connectFrame(identity))
  }

  /** With QoS 1; resolves with its PUBACK. One at a time. */
  publish(topic: string, payload: string): Promise<void> {
    this.#socket.write(frame(0x32, text(topic), Buffer.from([0, 2]), Buffer.from(payload)))
    return new Promise((resolve) => {
      this.#onAnswer = resolve
    })
  }

  /** Resolves when the server has closed the connection, too. */
  leave(): Promise<void> {
    this.#isLeaving = true
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()))
    this.#socket.write(goodbye)
    return closed
  }

  /** Without a word. */
  drop(): void {
    this.#isLeaving = true
    this.#socket.destroy()
  }

  #read(bytes: Buffer): void {
    const all = this.#rest ? Buffer.concat([this.#rest, bytes]) : bytes
    let at = 0
    for (;;) {
      const end = endOf(all, at)
      if (end === undefined) break
      this.#take(all, at, end)
      at = end
    }
    // The memory behind the bytes is used again for the next ones.
    this.#rest = at < all.length ? Buffer.from(all.subarray(at)) : undefined
  }

  #take(all: Buffer, at: number, end: number): void {
    const type = (all[at] as number) >> 4
    const last = all[end - 1]
    if (type === types.connack && last === 0) this.#socket.write(subscribeFrame(this.identity))
    else if (type === types.suback && last === 1) this.onReady()
    else if (type === types.puback) this.#onAnswer()
    else if (type === types.publish) this.#hear(all, at, end)
    else this.onTrouble(new Error(`the server answered ${all.toString('hex', at, end)}`))
  }

  #hear(all: Buffer, at: number, end: number): void {
    const body = (all[at + 1] as number) < 128 ? at + 2 : at + 3
    const id = body + 2 + all.readUInt16BE(body)
    const isQos1 = ((all[at] as number) & 0b110) === 0b010
    if (isQos1) this.#socket.write(Buffer.from([0x40, 2, all[id] as number, all[id + 1] as number]))
    this.#onMessage(this, all.subarray(isQos1 ? id + 2 : id, end))
  }
}

/** Where the frame ends that begins there; undefined if it has not come whole. Nothing here is longer than 16 KiB. */
function endOf(all: Buffer, at: number): number | undefined {
  if (all.length < at + 2) return undefined
  const low = all[at + 1] as number
  if (low >= 128 && all.length < at + 3) return undefined
  const end = low < 128 ? at + 2 + low : at + 3 + (low & 127) + (all[at + 2] as number) * 128
  return end <= all.length ? end : undefined
}

/** Before so many sockets are opened in one process. Node has raised its limit as far as it may. */
export function expectRoomFor(sockets: number): void {
  const [, limit = ''] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  const wanted = sockets + 200
  if (limit !== 'unlimited' && Number(limit) < wanted) {
    throw new Error(`A process may have ${limit} open files here, and ${wanted} are needed: ulimit -n ${wanted}.`)
  }
}

export class Fleet {
  readonly #port: number
  readonly #identities: readonly Identity[]
  #connected: Listener[] = []
  #next = 0
  onMessage: OnMessage = () => {}

  /** Devices connect one after the other, in that order, and then from the beginning again. */
  constructor(port: number, identities: readonly Identity[]) {
    this.#port = port
    this.#identities = identities
  }

  get devices(): readonly Listener[] {
    return this.#connected
  }

  /** So many more, so many of them under way at once. Each is there when its SUBACK has come, with the QoS that it asked for. */
  join(count: number, atOnce: number): Promise<Run> {
    const latencies = new Float64Array(count)
    let [begun, done] = [0, 0]
    const started = performance.now()
    return new Promise((resolve, reject) => {
      const begin = () => {
        if (begun === count) return
        begun++
        const at = performance.now()
        const identity = this.#identities[this.#next++ % this.#identities.length] as Identity
        const device = new Listener(this.#port, identity, (from, payload) => this.onMessage(from, payload))
        this.#connected.push(device)
        device.onTrouble = reject
        device.onReady = () => {
          latencies[done++] = performance.now() - at
          begin()
          if (done === count) resolve({ latencies, seconds: (performance.now() - started) / 1000 })
        }
      }
      for (let i = 0; i < atOnce; i++) begin()
    })
  }

  /** Resolves when the server has closed every connection. */
  async leave(): Promise<void> {
    const leaving = this.#connected
    this.#connected = []
    await Promise.all(leaving.map((device) => device.leave()))
  }

  drop(): void {
    for (const device of this.#connected) device.drop()
    this.#connected = []
  }
}
