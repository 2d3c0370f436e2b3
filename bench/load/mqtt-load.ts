// Devices made as cheap as possible: MQTT 3.1.1 by hand over sockets, one prepared packet each, one message in flight each.
import { connect, type Socket } from 'node:net'
import type { Run } from '../measure/comparison.ts'

export interface Identity {
  readonly id: string
  readonly credential: string
}

/** When the n-th sample of a device was measured, in Unix seconds. */
export type Times = (n: number) => number

/** What a Bar measures. The digits of the time, the first value and the packet's number change from message to message. */
const payload =
  '{"samples":[{"timestamp":1700000000,"co2":1420,"humidity":36.5,"illumination":120,"people":3,"temp":22.5,"voc":502}]}'
const [timeAt, valueAt] = [payload.indexOf('17000'), payload.indexOf('1420') + 1]

const keepAlive = 300

export function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])
}

export function frame(first: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const length = body.length < 128 ? [body.length] : [(body.length & 127) | 128, body.length >> 7]
  return Buffer.concat([Buffer.from([first, ...length]), body])
}

export const connectFrame = ({ id, credential }: Identity) =>
  frame(
    0x10,
    text('MQTT'),
    Buffer.from([4, 0xc2, keepAlive >> 8, keepAlive & 255]),
    text(id),
    text(id),
    text(credential),
  )

class LoadDevice {
  readonly #socket: Socket
  readonly #packet: Buffer
  readonly #times: Times
  /** Every answer that may come has four bytes: CONNACK, PUBACK. */
  readonly #answer = Buffer.alloc(4)
  #received = 0
  #sent = 0
  #sentAt = 0
  onAnswer: (latency: number) => void = () => {}
  onTrouble: (error: Error) => void = () => {}

  constructor(port: number, identity: Identity, times: Times) {
    this.#packet = frame(0x32, text(`v1/${identity.id}/up/sample`), Buffer.from([0, 1]), Buffer.from(payload))
    this.#times = times
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: Buffer.alloc(64),
        callback: (count, bytes) => {
          this.#read(bytes as Buffer, count)
          return true
        },
      },
    })
    this.#socket.on('error', (error) => this.onTrouble(error))
    this.#socket.on('close', () => this.onTrouble(new Error('the server ended a connection')))
    this.#sentAt = performance.now()
    this.#socket.write(connectFrame(identity))
  }

  /** One more sample, later than the one before. */
  send(): void {
    const packet = this.#packet
    const n = this.#sent++
    const start = packet.length - payload.length
    digits(packet, start + timeAt, 10, this.#times(n))
    digits(packet, start + valueAt, 3, n % 1000)
    packet.writeUInt16BE((n % 65535) + 1, start - 2)
    this.#sentAt = performance.now()
    this.#socket.write(packet)
  }

  close(): void {
    this.onTrouble = () => {}
    this.#socket.destroy()
  }

  #read(bytes: Buffer, count: number): void {
    for (let i = 0; i < count; i++) {
      this.#answer[this.#received++] = bytes[i] as number
      if (this.#received < 4) continue
      this.#received = 0
      const [type, , , code] = this.#answer
      if (type === 0x40 || (type === 0x20 && code === 0)) this.onAnswer(performance.now() - this.#sentAt)
      else this.onTrouble(new Error(`the server answered ${this.#answer.toString('hex')}`))
    }
  }
}

function digits(packet: Buffer, at: number, count: number, value: number): void {
  for (let i = at + count - 1, rest = value; i >= at; i--) {
    packet[i] = 48 + (rest % 10)
    rest = Math.floor(rest / 10)
  }
}

export class Load {
  readonly #devices: readonly LoadDevice[]

  private constructor(devices: readonly LoadDevice[]) {
    this.#devices = devices
  }

  /** Connected when every device has its CONNACK. */
  static async connect(port: number, identities: readonly Identity[], times: Times): Promise<Load> {
    const devices: LoadDevice[] = []
    // A few at a time: a listening socket has a queue of limited length.
    for (let at = 0; at < identities.length; at += 50) {
      await Promise.all(
        identities.slice(at, at + 50).map((identity) => {
          const device = new LoadDevice(port, identity, times)
          devices.push(device)
          return new Promise<void>((resolve, reject) => {
            device.onAnswer = () => resolve()
            device.onTrouble = reject
          })
        }),
      )
    }
    return new Load(devices)
  }

  /** So many samples of each device, the next one as soon as the one before is acknowledged. */
  send(each: number): Promise<Run> {
    const latencies = new Float64Array(each * this.#devices.length)
    let acknowledged = 0
    const started = performance.now()
    return new Promise((resolve, reject) => {
      for (const device of this.#devices) {
        let left = each
        device.onTrouble = reject
        device.onAnswer = (latency) => {
          latencies[acknowledged++] = latency
          if (--left > 0) device.send()
          if (acknowledged === latencies.length) resolve({ latencies, seconds: (performance.now() - started) / 1000 })
        }
        device.send()
      }
    })
  }

  close(): void {
    for (const device of this.#devices) device.close()
  }
}
