// Sample load at minimal cost: MQTT 3.1.1 by hand over sockets, one prepared packet and one message in flight per device.
import { connect, type Socket } from 'node:net'
import type { LoadResult } from './load-result.ts'
import { type BenchDevice, connectFrame, encodeFrame, encodeString } from './mqtt-frames.ts'

/** Returns the time of a device's n-th sample in Unix seconds. */
export type SampleTimes = (n: number) => number

/** One sample of a Bar. Only the digits of the time, of the first value and of the packet id change between messages. */
const payload =
  '{"samples":[{"timestamp":1700000000,"co2":1420,"humidity":36.5,"illumination":120,"people":3,"temp":22.5,"voc":502}]}'
const [timeOffset, valueOffset] = [payload.indexOf('17000'), payload.indexOf('1420') + 1]

/** The queue of a listening socket is limited, so devices connect in groups. */
const connectGroupSize = 50

class LoadDevice {
  readonly #socket: Socket
  readonly #packet: Buffer
  readonly #times: SampleTimes
  /** CONNACK and PUBACK, the only expected answers, have four bytes each. */
  readonly #answer = Buffer.alloc(4)
  #received = 0
  #sent = 0
  #sentAt = 0
  onAnswer: (latencyMs: number) => void = () => {}
  onError: (error: Error) => void = () => {}

  constructor(port: number, identity: BenchDevice, times: SampleTimes) {
    this.#packet = encodeFrame(
      0x32,
      encodeString(`v1/${identity.id}/up/sample`),
      Buffer.from([0, 1]),
      Buffer.from(payload),
    )
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
    this.#socket.on('error', (error) => this.onError(error))
    this.#socket.on('close', () => this.onError(new Error('The server closed a connection.')))
    this.#sentAt = performance.now()
    this.#socket.write(connectFrame(identity))
  }

  /** Sends the next sample. */
  send(): void {
    const packet = this.#packet
    const n = this.#sent++
    const start = packet.length - payload.length
    writeDigits(packet, start + timeOffset, 10, this.#times(n))
    writeDigits(packet, start + valueOffset, 3, n % 1000)
    packet.writeUInt16BE((n % 65535) + 1, start - 2)
    this.#sentAt = performance.now()
    this.#socket.write(packet)
  }

  close(): void {
    this.onError = () => {}
    this.#socket.destroy()
  }

  #read(bytes: Buffer, count: number): void {
    for (let i = 0; i < count; i++) {
      this.#answer[this.#received++] = bytes[i] as number
      if (this.#received < 4) continue
      this.#received = 0
      const [type, , , code] = this.#answer
      if (type === 0x40 || (type === 0x20 && code === 0)) this.onAnswer(performance.now() - this.#sentAt)
      else this.onError(new Error(`The server sent an unexpected packet: ${this.#answer.toString('hex')}`))
    }
  }
}

function writeDigits(packet: Buffer, at: number, count: number, value: number): void {
  for (let i = at + count - 1, rest = value; i >= at; i--) {
    packet[i] = 48 + (rest % 10)
    rest = Math.floor(rest / 10)
  }
}

export class MqttLoad {
  readonly #devices: readonly LoadDevice[]

  private constructor(devices: readonly LoadDevice[]) {
    this.#devices = devices
  }

  /** Resolves when every device has its CONNACK. */
  static async connect(port: number, identities: readonly BenchDevice[], times: SampleTimes): Promise<MqttLoad> {
    const devices: LoadDevice[] = []
    for (let at = 0; at < identities.length; at += connectGroupSize) {
      await Promise.all(
        identities.slice(at, at + connectGroupSize).map((identity) => {
          const device = new LoadDevice(port, identity, times)
          devices.push(device)
          return new Promise<void>((resolve, reject) => {
            device.onAnswer = () => resolve()
            device.onError = reject
          })
        }),
      )
    }
    return new MqttLoad(devices)
  }

  /** Sends `samplesPerDevice` samples from each device, the next as soon as the one before is acknowledged. */
  send(samplesPerDevice: number): Promise<LoadResult> {
    const latenciesMs = new Float64Array(samplesPerDevice * this.#devices.length)
    let acknowledged = 0
    const startedAt = performance.now()
    return new Promise((resolve, reject) => {
      for (const device of this.#devices) {
        let remaining = samplesPerDevice
        device.onError = reject
        device.onAnswer = (latencyMs) => {
          latenciesMs[acknowledged++] = latencyMs
          if (--remaining > 0) device.send()
          if (acknowledged === latenciesMs.length) {
            resolve({ latenciesMs, seconds: (performance.now() - startedAt) / 1000 })
          }
        }
        device.send()
      }
    })
  }

  /** Sends so many samples, the devices in turn, at a fixed rate. A device whose last sample is not acknowledged yet is an error. */
  sendAtRate(perSecond: number, count: number): Promise<LoadResult> {
    const latenciesMs = new Float64Array(count)
    const waiting = new Set<LoadDevice>()
    let [sent, acknowledged] = [0, 0]
    const startedAt = performance.now()
    return new Promise<LoadResult>((resolve, reject) => {
      for (const device of this.#devices) {
        device.onError = reject
        device.onAnswer = (latencyMs) => {
          waiting.delete(device)
          latenciesMs[acknowledged++] = latencyMs
          if (acknowledged === count) resolve({ latenciesMs, seconds: (performance.now() - startedAt) / 1000 })
        }
      }
      const sendDue = () => {
        const due = Math.min(count, Math.floor(((performance.now() - startedAt) * perSecond) / 1000))
        for (; sent < due; sent++) {
          const device = this.#devices[sent % this.#devices.length] as LoadDevice
          if (waiting.has(device))
            return reject(new Error(`The server does not keep up with ${perSecond} samples a second.`))
          waiting.add(device)
          device.send()
        }
        if (sent < count) setTimeout(sendDue, 1)
      }
      sendDue()
    })
  }

  close(): void {
    for (const device of this.#devices) device.close()
  }
}
