// MQTT 3.1.1 beside messages: what a device's packets say, and the packets that it gets. Bodies are what comes after the length.
import { isUtf8 } from 'node:buffer'

/** What a device says of itself. Its client id and its will are of no interest. */
export interface Connect {
  readonly keepAlive: number
  readonly username: string | undefined
  readonly password: string | undefined
}

export interface Subscription {
  readonly topic: string
  readonly qos: number
}

/** Reads a body from its beginning; once something is not there, or not as it must be, `isWrong` stays. */
class Cursor {
  isWrong = false
  readonly #body: Buffer
  #at = 0

  constructor(body: Buffer) {
    this.#body = body
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#body.length
  }

  byte(): number {
    return this.#take(1) ? (this.#body[this.#at - 1] as number) : 0
  }

  number(): number {
    return this.#take(2) ? this.#body.readUInt16BE(this.#at - 2) : 0
  }

  bytes(): Buffer {
    const length = this.number()
    return this.#take(length) ? this.#body.subarray(this.#at - length, this.#at) : this.#body.subarray(0, 0)
  }

  /** [MQTT-1.5.3-1] [MQTT-1.5.3-2] */
  text(): string {
    const bytes = this.bytes()
    if (!isUtf8(bytes) || bytes.includes(0)) this.isWrong = true
    return bytes.toString('utf8')
  }

  #take(count: number): boolean {
    if (this.#at + count > this.#body.length) this.isWrong = true
    else this.#at += count
    return !this.isWrong
  }
}

/** Versions by the name under which they come; the first is from before there was a standard, and says the same. */
const levels: Readonly<Record<string, number>> = { MQIsdp: 3, MQTT: 4 }

/** Undefined for what is no CONNECT; 'unknown' for a version of it that is not ours. [MQTT-3.1.2-1] [MQTT-3.1.2-2] */
export function readConnect(body: Buffer): Connect | 'unknown' | undefined {
  const cursor = new Cursor(body)
  const name = cursor.text()
  const level = cursor.byte()
  if (cursor.isWrong || !Object.hasOwn(levels, name)) return undefined
  if (levels[name] !== level) return 'unknown'
  const flags = cursor.byte()
  const keepAlive = cursor.number()
  const has = (flag: number) => (flags & flag) !== 0
  const [willQos, hasWill, hasPassword, hasUsername] = [(flags >> 3) & 3, has(0x04), has(0x40), has(0x80)]
  // [MQTT-3.1.2-3] [MQTT-3.1.2-13] [MQTT-3.1.2-14] [MQTT-3.1.2-15] [MQTT-3.1.2-22]
  if (has(0x01) || willQos === 3 || (!hasWill && (flags & 0x38) !== 0) || (hasPassword && !hasUsername))
    return undefined
  cursor.text()
  if (hasWill) {
    cursor.text()
    cursor.bytes()
  }
  const username = hasUsername ? cursor.text() : undefined
  const password = hasPassword ? cursor.bytes().toString('utf8') : undefined
  return cursor.isWrong ? undefined : { keepAlive, username, password }
}

/** Undefined for what is no SUBSCRIBE. [MQTT-2.3.1-1] [MQTT-3.8.3-3] [MQTT-3.8.3-4] */
export function readSubscribe(body: Buffer): { id: number; subscriptions: Subscription[] } | undefined {
  const cursor = new Cursor(body)
  const id = cursor.number()
  const subscriptions: Subscription[] = []
  while (!cursor.isAtEnd && !cursor.isWrong) subscriptions.push({ topic: cursor.text(), qos: cursor.byte() })
  const isWrong = cursor.isWrong || id === 0 || subscriptions.length === 0 || subscriptions.some(({ qos }) => qos > 2)
  return isWrong ? undefined : { id, subscriptions }
}

/** Undefined for what is no UNSUBSCRIBE. [MQTT-2.3.1-1] [MQTT-3.10.3-2] */
export function readUnsubscribe(body: Buffer): { id: number; topics: string[] } | undefined {
  const cursor = new Cursor(body)
  const id = cursor.number()
  const topics: string[] = []
  while (!cursor.isAtEnd && !cursor.isWrong) topics.push(cursor.text())
  return cursor.isWrong || id === 0 || topics.length === 0 ? undefined : { id, topics }
}

/** By the code: nobody changes them, so everybody gets the same bytes. */
const connacks = Array.from({ length: 6 }, (_, code) => Buffer.from([0x20, 2, 0, code]))
export const connack = (code: number): Buffer => connacks[code] as Buffer
export const pingresp = Buffer.from([0xd0, 0])

export const suback = (id: number, granted: readonly number[]): Buffer =>
  Buffer.from([0x90, ...lengthOf(2 + granted.length), id >> 8, id & 255, ...granted])
export const unsuback = (id: number): Buffer => Buffer.from([0xb0, 2, id >> 8, id & 255])

/** A message to a device. The id is of no meaning at QoS 0. */
export function publish(topic: string, payload: string, qos: 0 | 1, id: number): Buffer {
  const [topicLength, payloadLength] = [Buffer.byteLength(topic), Buffer.byteLength(payload)]
  const length = lengthOf(2 + topicLength + 2 * qos + payloadLength)
  const bytes = Buffer.allocUnsafe(1 + length.length + 2 + topicLength + 2 * qos + payloadLength)
  bytes[0] = 0x30 | (qos << 1)
  bytes.set(length, 1)
  let at = bytes.writeUInt16BE(topicLength, 1 + length.length)
  at += bytes.write(topic, at)
  if (qos > 0) at = bytes.writeUInt16BE(id, at)
  bytes.write(payload, at)
  return bytes
}

/** Seven bits in each byte, the lowest first. */
function lengthOf(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; ; rest >>= 7) {
    if (rest < 128) return [...bytes, rest]
    bytes.push((rest & 127) | 128)
  }
}
