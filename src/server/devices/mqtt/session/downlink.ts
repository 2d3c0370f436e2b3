// Sends a device what it has subscribed to: its config and its commands, which wait in the database and nowhere else.
import {
  type DownKind,
  type DownMessage,
  downTopic,
  resendAfterMs,
  type UpKind,
} from '../../../../contract/device/protocol.ts'
import type { Clock } from '../../../core/clock.ts'
import type { DeviceConnection, DeviceHandlers } from '../handlers.ts'
import type { LogThrottle } from '../limits/log-throttle.ts'
import { subscribedTo } from '../messages.ts'
import type { DeviceMetrics } from '../metrics.ts'

const retryAfterMs = 5_000
/** A device that sends many bad messages before it subscribes hears of the first ones. */
const maxUnsentAnswers = 10

export interface DownlinkOptions {
  readonly handlers: Pick<DeviceHandlers, 'waiting'>
  readonly clock: Clock
  readonly metrics: DeviceMetrics
  readonly logThrottle: LogThrottle
}

/** The session through which messages leave. */
export interface PacketSink {
  readonly isOpen: boolean
  /** Returns false if the device accepts no packet of this size. */
  publish(topic: string, payload: string, qos: 0 | 1): boolean
}

/** A device whose credential was accepted. */
export interface IdentifiedDevice {
  readonly connection: DeviceConnection
  readonly downlink: Downlink
  /** The device publishes to topics that begin like this. */
  readonly topicPrefix: string
  /** The kinds of messages in which unknown keys are no longer looked for. */
  readonly keysChecked: Set<UpKind>
}

export class Downlink {
  readonly #options: DownlinkOptions
  readonly #connection: DeviceConnection
  readonly #sink: PacketSink
  /** Answers to messages that came before the device had subscribed. */
  #unsentAnswers: DownMessage[] = []
  /** QoS by what follows the device's own topic: a kind of message, `#` or `+`. */
  readonly #subscriptions = new Map<string, 0 | 1>()
  #sentListVersion: number | undefined
  #sentConfig: { readonly version: number; readonly at: number } | undefined
  /** False only while it is certain that nothing waits for the device: then a subscription costs no query. */
  #mayHavePending = false
  #delivery: 'idle' | 'running' | 'running, then again' = 'idle'

  constructor(options: DownlinkOptions, connection: DeviceConnection, sink: PacketSink) {
    this.#options = options
    this.#connection = connection
    this.#sink = sink
  }

  /** The granted QoS; undefined if the topic is not the device's own. */
  subscribe(topic: string, qos: number): 0 | 1 | undefined {
    const filter = subscribedTo(topic, this.#connection.device.id)
    if (filter === undefined) return undefined
    const granted = qos === 0 ? 0 : 1
    this.#subscriptions.set(filter, granted)
    // A gateway that subscribes again wants to know the version of its list.
    this.#sentListVersion = undefined
    return granted
  }

  /** Must be called when the device was told that it has subscribed. */
  subscribed(): void {
    const answers = this.#unsentAnswers
    this.#unsentAnswers = []
    for (const answer of answers) this.send(answer)
    void this.deliver()
  }

  /** Returns whether there was such a subscription. */
  unsubscribe(topic: string): boolean {
    return this.#subscriptions.delete(subscribedTo(topic, this.#connection.device.id) ?? '')
  }

  /** Something may wait for the device that it was not sent. */
  wake(): void {
    this.#mayHavePending = true
    void this.deliver()
  }

  /** Does nothing if this version was sent over this connection, because it is sent again only after a while. */
  wakeForConfig(version: number): void {
    if (this.#sentConfig?.version !== version) this.wake()
  }

  /** Sends what waits. A call while another one runs makes that one look again. */
  async deliver(): Promise<void> {
    if (!this.#mayHavePending || this.#subscriptions.size === 0 || !this.#sink.isOpen) return
    if (this.#delivery !== 'idle') {
      this.#delivery = 'running, then again'
      return
    }
    const { handlers, logThrottle } = this.#options
    try {
      do {
        this.#delivery = 'running'
        const messages = await handlers.waiting(this.#connection, (kind) => this.#qosOf(kind) !== undefined)
        for (const message of messages) if (!this.#isRepetition(message)) this.send(message)
      } while (this.#isAskedAgain() && this.#sink.isOpen)
    } catch (error) {
      logThrottle.warn('could not send to a device, retrying', error as Error, this.#connection.device)
      setTimeout(() => void this.deliver(), retryAfterMs).unref()
    } finally {
      this.#delivery = 'idle'
    }
  }

  /** Sends the message, or keeps it waiting while the device has no subscription for it: config and commands wait in the database. */
  send(message: DownMessage): void {
    const { kind, body } = message
    const qos = this.#qosOf(kind)
    if (qos === undefined || !this.#sink.isOpen) {
      if (kind === 'config' || kind === 'operation' || kind === 'devices') this.#mayHavePending = true
      else if (this.#unsentAnswers.length < maxUnsentAnswers) this.#unsentAnswers.push(message)
      return
    }
    const { metrics, clock, logThrottle } = this.#options
    const { device } = this.#connection
    if (!this.#sink.publish(downTopic(device.id, kind), JSON.stringify(body), qos)) {
      const reason = new Error('it is larger than the maximum packet size of the device')
      logThrottle.warn('a message was not sent to a device', reason, device, { kind })
      return
    }
    metrics.sent.inc({ kind })
    if (kind === 'devices') this.#sentListVersion = body.version
    if (kind === 'config') this.#sentConfig = { version: body.version, at: clock.now() }
  }

  #isAskedAgain(): boolean {
    return this.#delivery === 'running, then again'
  }

  /** This version was sent on this connection; that of a config so recently that the device needs time to confirm it. */
  #isRepetition({ kind, body }: DownMessage): boolean {
    if (kind === 'devices') return this.#sentListVersion === body.version
    if (kind !== 'config' || this.#sentConfig?.version !== body.version) return false
    return this.#options.clock.now() - this.#sentConfig.at < resendAfterMs
  }

  #qosOf(kind: DownKind): 0 | 1 | undefined {
    return this.#subscriptions.get(kind) ?? this.#subscriptions.get('#') ?? this.#subscriptions.get('+')
  }
}
