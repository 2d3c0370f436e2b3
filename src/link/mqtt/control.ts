// What a device sends beside messages: who it is, what it wants to hear, that it is still there, and goodbye.
import { largestPacket } from '../../contract/device.ts'
import { Refused, refusalOf, refusals } from './admission.ts'
import type { Connection } from './connection.ts'
import type { Mentions } from './log-throttle.ts'
import type { LinkMetrics } from './metrics.ts'
import {
  type Connect,
  connack,
  pingresp,
  readConnect,
  readSubscribe,
  readUnsubscribe,
  suback,
  unsuback,
} from './packets.ts'

/** First bytes, with the bits that belong to them. [MQTT-2.2.2-2] */
const types = {
  connect: 0x10,
  puback: 0x40,
  subscribe: 0x82,
  unsubscribe: 0xa2,
  pingreq: 0xc0,
  disconnect: 0xe0,
} as const

interface ControlOptions {
  readonly metrics: LinkMetrics
  readonly mentions: Mentions
  /** Resolves when it is connected, and that is durable. */
  readonly admit: (connection: Connection, connect: Connect) => Promise<void>
  /** It wants to hear something. */
  readonly serve: (connection: Connection) => void
}

export class Control {
  readonly #options: ControlOptions

  constructor(options: ControlOptions) {
    this.#options = options
  }

  /** Any frame but PUBLISH and PUBREL: its first byte, and what comes after the length. */
  receive(connection: Connection, first: number, body: Buffer): void {
    if (connection.isOver) return
    const wrong =
      connection.keepAlive === undefined ? this.#connect(connection, first, body) : this.#take(connection, first, body)
    if (wrong !== undefined) connection.cutOff(wrong)
  }

  /** Why the connection must end; undefined if all is well. */
  #connect(connection: Connection, first: number, body: Buffer): string | undefined {
    const connect = first === types.connect ? readConnect(body) : undefined
    // [MQTT-3.1.0-1]
    if (!connect) return 'it does not begin with CONNECT'
    if (connect === 'unknown') {
      connection.endWith(connack(refusals.unknown))
      return undefined
    }
    connection.keepAlive = connect.keepAlive
    const { admit, mentions } = this.#options
    admit(connection, connect).then(
      () => {
        connection.write(connack(0))
        connection.gate.open(largestPacket)
      },
      (error) => {
        if (!(error instanceof Refused)) mentions.warn('nobody can connect', error, connection.session?.device)
        connection.endWith(connack(refusalOf(error)))
      },
    )
    return undefined
  }

  #take(connection: Connection, first: number, body: Buffer): string | undefined {
    if (first === types.subscribe) return this.#subscribe(connection, body)
    if (first === types.unsubscribe) return this.#unsubscribe(connection, body)
    if (first === types.pingreq && body.length === 0) connection.write(pingresp)
    else if (first === types.disconnect && body.length === 0) connection.end()
    // A PUBACK means nothing: what the device did with a message comes in its reports.
    else if (first !== types.puback || body.length !== 2) return 'a packet is malformed, or comes at the wrong time'
    return undefined
  }

  #subscribe(connection: Connection, body: Buffer): string | undefined {
    const packet = readSubscribe(body)
    if (!packet) return 'a packet is malformed'
    const granted = packet.subscriptions.map(({ topic, qos }) => connection.listenTo(topic, qos))
    if (!granted.every((qos) => qos !== undefined)) {
      this.#options.metrics.foreign.inc()
      return 'a device may subscribe to its own topics only'
    }
    connection.write(suback(packet.id, granted))
    this.#options.serve(connection)
    return undefined
  }

  #unsubscribe(connection: Connection, body: Buffer): string | undefined {
    const packet = readUnsubscribe(body)
    if (!packet) return 'a packet is malformed'
    for (const topic of packet.topics) connection.stopListeningTo(topic)
    connection.write(unsuback(packet.id))
    return undefined
  }
}
