// The driver of sources of the type mqtt: sensors at an MQTT broker. It reads only.
import type { SourceContext, SourceDriver, SourceSession, SourceSettings } from '../source.ts'
import { BrokerConnection } from './broker-connection.ts'
import { BrokerSession } from './broker-session.ts'
import { type MqttLimits, usualMqttLimits } from './limits.ts'

export class MqttDriver implements SourceDriver {
  readonly #limits: MqttLimits

  /** Tests have shorter times. */
  constructor(limits: MqttLimits = usualMqttLimits) {
    this.#limits = limits
  }

  async open(settings: SourceSettings, context: SourceContext): Promise<SourceSession> {
    const broker = await BrokerConnection.open(settings, context, this.#limits)
    const session = new BrokerSession(broker, settings, context, this.#limits)
    try {
      await session.start(settings.topics)
    } catch (error) {
      session.close()
      throw error
    }
    return session
  }
}
