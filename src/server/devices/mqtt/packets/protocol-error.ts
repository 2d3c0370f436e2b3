// The error of a packet that breaks the rules of MQTT.
import { type ReasonCode, reasonCodes } from './reasons.ts'

/** The connection must end: the packet is malformed, or comes at the wrong time. MQTT 5 tells the device the reason code. */
export class ProtocolError extends Error {
  readonly reasonCode: ReasonCode

  constructor(message: string, reasonCode: ReasonCode = reasonCodes.malformedPacket) {
    super(message)
    this.reasonCode = reasonCode
  }
}
