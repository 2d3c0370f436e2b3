// Takes what devices publish: reads it, hands it to the handler of its kind, and acknowledges it when it is durable.
import type { IPublishPacket } from 'mqtt-packet'
import type { DownMessage } from '../../../contract/device/protocol.ts'
import type { TimeLimits } from '../../core/time-limits.ts'
import { ConnectionReplaced, type Device, type DeviceConnection, type DeviceHandlers } from './handlers.ts'
import { type BadMessageLimit, maxBeforeShutOut, maxBeforeSlowed } from './limits/bad-message-limit.ts'
import type { IngestBudget } from './limits/ingest-budget.ts'
import type { LogThrottle } from './limits/log-throttle.ts'
import { BadMessage, maxKindLength, messageRefused, readMessage } from './messages.ts'
import type { DeviceMetrics } from './metrics.ts'
import { ForeignTopic } from './packets/protocol-error.ts'
import { reasonCodes } from './packets/reasons.ts'
import type { Downlink, IdentifiedDevice } from './session/downlink.ts'
import type { MqttSession } from './session/session.ts'
import { StoreRetry } from './store-retry.ts'

interface IngestOptions {
  readonly limits: TimeLimits
  readonly received: DeviceHandlers['received']
  readonly metrics: DeviceMetrics
  readonly logThrottle: LogThrottle
  readonly budget: IngestBudget
  readonly badMessages: BadMessageLimit
}

export class Ingest {
  readonly #options: IngestOptions
  readonly #storeRetry: StoreRetry

  constructor(options: IngestOptions) {
    this.#options = options
    this.#storeRetry = new StoreRetry(options.limits)
  }

  /** `bytes` is the message's share of the ingest budget. Throws ForeignTopic, which ends the session. */
  receive(session: MqttSession, { topic, payload, qos, messageId = 0 }: IPublishPacket, bytes: number): void {
    const { budget } = this.#options
    const { identified } = session
    if (!identified || !topic.startsWith(identified.topicPrefix)) {
      budget.release(bytes)
      throw new ForeignTopic('a device may publish to its own topics only')
    }
    const { connection, downlink, topicPrefix } = identified
    const unfinished = session.acknowledgements.begin(qos, messageId)
    const finish = () => {
      budget.release(bytes)
      session.acknowledgements.finish(unfinished)
    }
    const name = topic.slice(topicPrefix.length)
    const handled = this.#handle(session, identified, name, payload as Buffer, qos)
    if (handled instanceof BadMessage) {
      if (!this.#mayStay(session, connection.device)) {
        budget.release(bytes)
        return
      }
      // The limit on bad messages bounds these answers too. Messages at QoS 0 are not answered at all.
      if (qos > 0) downlink.send({ kind: 'message-refused', body: messageRefused(name, handled) })
      // A bad message is acknowledged all the same: sending it again would not make it better.
      budget.release(bytes)
      session.acknowledgements.finish(unfinished, reasonCodes.payloadFormatInvalid)
      return
    }
    handled.then(
      (answers) => {
        for (const answer of answers) downlink.send(answer)
        if (name === 'status') noteStatus(connection, downlink)
        finish()
      },
      (error) => {
        if (error instanceof ConnectionReplaced) {
          budget.release(bytes)
          session.close('replaced')
        } else if (qos === 0) {
          this.#lost(connection, error)
          finish()
        } else {
          budget.release(bytes)
          this.#failed(session, connection, error)
        }
      },
    )
  }

  #handle(
    session: MqttSession,
    { connection, downlink, keysChecked }: IdentifiedDevice,
    name: string,
    payload: Buffer,
    qos: 0 | 1 | 2,
  ): Promise<readonly DownMessage[]> | BadMessage {
    const { received, metrics, logThrottle } = this.#options
    try {
      const { kind, message, ignoredKeys } = readMessage(name, payload, (kind) => !keysChecked.has(kind))
      metrics.received[kind]++
      // A device sends samples often, and all of them have the same keys.
      if (kind === 'sample' || ignoredKeys.length > 0) keysChecked.add(kind)
      if (ignoredKeys.length > 0) downlink.send({ kind: 'keys-ignored', body: { kind, keys: [...ignoredKeys] } })
      const store = () => received[kind](connection, message as never)
      // A message at QoS 0 may be lost: then it takes no memory during an outage.
      return qos === 0 ? store() : this.#storeRetry.run(session, store)
    } catch (error) {
      if (!(error instanceof BadMessage)) return Promise.reject(error)
      metrics.bad.inc()
      logThrottle.warn('bad message of a device', error, connection.device, { kind: name.slice(0, maxKindLength) })
      return error
    }
  }

  /** Slows a device after many bad messages; false if there were so many that its connection was closed. */
  #mayStay(session: MqttSession, device: Device): boolean {
    const { badMessages, metrics, logThrottle } = this.#options
    const verdict = badMessages.count(device.id)
    if (verdict === 'shut out') {
      const reason = `more than ${maxBeforeShutOut} bad messages in a minute`
      metrics.badMessageLimits.inc({ action: 'closed' })
      logThrottle.warn('device connection closed and refused for a minute', new Error(reason), device)
      session.fail(reason, reasonCodes.quotaExceeded)
      return false
    }
    if (verdict === 'slowed' && !session.backPressure.isSlowed) {
      session.backPressure.isSlowed = true
      metrics.badMessageLimits.inc({ action: 'slowed' })
      const reason = new Error(`more than ${maxBeforeSlowed} bad messages in a minute`)
      logThrottle.warn('device slowed to one message a second', reason, device)
    }
    return true
  }

  #lost({ device }: DeviceConnection, error: Error): void {
    this.#options.metrics.dropped.inc()
    this.#options.logThrottle.warn('a message at QoS 0 was lost', error, device)
  }

  /** Without an acknowledgement the device sends the message again on its next connection. */
  #failed(session: MqttSession, { device }: DeviceConnection, error: Error): void {
    this.#options.logThrottle.warn('a message could not be stored; the device sends it again', error, device)
    session.fail('a message could not be stored', reasonCodes.serverBusy)
  }
}

/** A reboot that needs an empty room is sent only after the first status of its device. */
function noteStatus(connection: DeviceConnection, downlink: Downlink): void {
  if (connection.hasReportedStatus) return
  connection.hasReportedStatus = true
  void downlink.deliver()
}
