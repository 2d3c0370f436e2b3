// The errors of a packet that breaks the rules of MQTT, or those of topics.
import { type ReasonCode, reasonCodes } from './reasons.ts'

/** The connection must end: the packet is malformed, or comes at the wrong time. MQTT 5 tells the device the reason code. */
export class ProtocolError extends Error {
  readonly reasonCode: ReasonCode

  constructor(message: string, reasonCode: ReasonCode = reasonCodes.malformedPacket) {
    super(message)
    this.reasonCode = reasonCode
  }
}

/** The device used a topic that is not its own. The session counts and logs it. */
export class ForeignTopic extends ProtocolError {
  constructor(message: string) {
    super(message, reasonCodes.notAuthorized)
  }
}
