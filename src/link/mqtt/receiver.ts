// What a device published: read, handed to those whom it concerns, and answered when it is durable.
import { isUtf8 } from 'node:buffer'
import type { DownMessage } from '../../contract/device.ts'
import type { DeviceHandlers, Session } from '../handlers.ts'
import type { Connection } from './connection.ts'
import type { Pressure } from './ingest-budget.ts'
import type { Mentions } from './log-throttle.ts'
import { BadMessage, isKind, readMessage } from './messages.ts'
import type { LinkMetrics } from './metrics.ts'

interface ReceiverOptions {
  readonly received: DeviceHandlers['received']
  readonly metrics: LinkMetrics
  readonly mentions: Mentions
  readonly pressure: Pressure
  readonly say: (connection: Connection, message: DownMessage) => void
}

const pubrel = 6

/** [MQTT-1.5.3-1] [MQTT-1.5.3-2] [MQTT-3.3.2-2] */
const isTopic = (text: Buffer): boolean => isUtf8(text) && !/[#+\0]/.test(text.toString('latin1'))

export class Receiver {
  readonly #options: ReceiverOptions

  constructor(options: ReceiverOptions) {
    this.#options = options
  }

  /** A PUBLISH or PUBREL: its first byte, and what comes after the length. */
  receive(connection: Connection, first: number, body: Buffer): void {
    if (first >> 4 === pubrel) {
      if (body.length === 2) connection.answers.complete(body.readUInt16BE(0))
      else connection.cutOff('a packet is malformed')
      return
    }
    // Its end is on its way, with a last word perhaps: nothing that it says counts, and nothing hurries.
    if (connection.isOver) return void this.#options.pressure.free(body.length)
    const wrong = this.#publish(connection, (first >> 1) & 3, body)
    if (wrong === undefined) return
    this.#options.pressure.free(body.length)
    connection.cutOff(wrong)
  }

  /** Why the connection must end; undefined if the message is on its way. */
  #publish(connection: Connection, qos: number, body: Buffer): string | undefined {
    const { session } = connection
    if (!session) return 'the device is gone'
    const topicEnd = body.length < 2 ? 2 : 2 + body.readUInt16BE(0)
    const start = qos === 0 ? topicEnd : topicEnd + 2
    if (qos === 3 || body.length < start) return 'a packet is malformed'
    const name = connection.kindOf(body.toString('latin1', 2, topicEnd))
    if (name === undefined) {
      this.#options.metrics.foreign.inc()
      return 'a device may publish to its own topics only'
    }
    if (!isKind(name) && !isTopic(body.subarray(2, topicEnd))) return 'a packet is malformed'
    const id = qos === 0 ? 0 : body.readUInt16BE(topicEnd)
    // [MQTT-2.3.1-1]
    if (qos > 0 && id === 0) return 'a packet is malformed'
    const { pressure } = this.#options
    const question = connection.answers.ask(qos, id)
    const settle = (isDone: boolean) => {
      pressure.free(body.length)
      if (isDone) connection.answers.dealtWith(question)
      else connection.cutOff('a message could not be dealt with')
    }
    const dealing = this.#handOver(session, name, body.subarray(start))
    if (dealing) this.#whenDealtWith(connection, session, dealing, qos === 0, settle)
    // A bad one is acknowledged all the same: sending it again would not make it better.
    else settle(true)
    return undefined
  }

  /** Undefined for a bad message. */
  #handOver(session: Session, name: string, payload: Buffer): Promise<readonly DownMessage[]> | undefined {
    const { received, metrics, mentions } = this.#options
    try {
      const { kind, message } = readMessage(name, payload)
      metrics.received[kind]++
      return received[kind](session, message as never)
    } catch (error) {
      if (!(error instanceof BadMessage)) return Promise.reject(error)
      metrics.bad.inc()
      mentions.warn('bad message of a device', error, session.device, { kind: name.slice(0, 40) })
      return undefined
    }
  }

  #whenDealtWith(
    connection: Connection,
    session: Session,
    dealing: Promise<readonly DownMessage[]>,
    mayBeLost: boolean,
    settle: (isDone: boolean) => void,
  ): void {
    const { metrics, mentions, say } = this.#options
    dealing.then(
      (answers) => {
        for (const answer of answers) say(connection, answer)
        settle(true)
      },
      (error) => {
        const what = mayBeLost ? 'a message was lost' : 'a message could not be dealt with; the device sends it again'
        mentions.warn(what, error, session.device)
        if (mayBeLost) metrics.dropped.inc()
        settle(mayBeLost)
      },
    )
  }
}
