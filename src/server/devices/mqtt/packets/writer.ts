// Writes packets to devices with mqtt-packet, in the version of MQTT that the device speaks.
import { generate, type IConnackPacket, writeToStream } from 'mqtt-packet'
import { maxPacketBytes } from '../../../../contract/device/protocol.ts'
import { maxUnansweredMessages } from '../limits/back-pressure.ts'
import { type ReasonCode, type RefusalReason, reasonCodes, refusals } from './reasons.ts'

// The cache holds a buffer for every number up to 65,535: several MiB for two bytes in a packet.
writeToStream.cacheNumbers = false

/** 4 is MQTT 3.1.1. */
export type ProtocolVersion = 4 | 5
export type Acknowledgement = 'puback' | 'pubrec' | 'pubcomp'

/** The limits and missing features that CONNACK announces in MQTT 5. Features that are not mentioned are available. */
const serverProperties: NonNullable<IConnackPacket['properties']> = {
  sessionExpiryInterval: 0,
  receiveMaximum: maxUnansweredMessages,
  retainAvailable: false,
  maximumPacketSize: maxPacketBytes,
  topicAliasMaximum: 0,
  subscriptionIdentifiersAvailable: false,
  sharedSubscriptionAvailable: false,
}

export class PacketWriter {
  readonly #options: { readonly protocolVersion: ProtocolVersion }

  constructor(protocolVersion: ProtocolVersion) {
    this.#options = { protocolVersion }
  }

  /** Sessions are not stored, so the flag "session present" is never set. A device without a client id is assigned one in MQTT 5. */
  accepted(assignedClientIdentifier?: string): Buffer {
    const properties = { ...serverProperties, ...(assignedClientIdentifier && { assignedClientIdentifier }) }
    return this.#connack(0, reasonCodes.success, properties)
  }

  refused(reason: RefusalReason, maxBytes?: number): Buffer {
    const { returnCode, reasonCode, text } = refusals[reason]
    return this.#withReason(text, maxBytes, (properties) => this.#connack(returnCode, reasonCode, properties))
  }

  /** The answer to a CONNECT that breaks the rules of MQTT 5. In MQTT 3.1.1 there is none. */
  badConnect(reasonCode: ReasonCode, text: string): Buffer {
    return this.#connack(0, reasonCode, { reasonString: text })
  }

  /** MQTT 5 only: in MQTT 3.1.1 a server ends a connection without a word. */
  disconnect(reasonCode: ReasonCode, text: string, maxBytes?: number): Buffer {
    return this.#withReason(text, maxBytes, (properties) =>
      generate({ cmd: 'disconnect', reasonCode, properties }, this.#options),
    )
  }

  pingresp(): Buffer {
    return generate({ cmd: 'pingresp' }, this.#options)
  }

  acknowledgement(cmd: Acknowledgement, messageId: number, reasonCode: ReasonCode): Buffer {
    return generate({ cmd, messageId, reasonCode }, this.#options)
  }

  suback(messageId: number, granted: number[]): Buffer {
    return generate({ cmd: 'suback', messageId, granted }, this.#options)
  }

  /** In MQTT 3.1.1 it says nothing about the topics. */
  unsuback(messageId: number, granted: number[]): Buffer {
    return generate({ cmd: 'unsuback', messageId, granted }, this.#options)
  }

  publish(topic: string, payload: string, qos: 0 | 1, messageId: number): Buffer {
    return generate({ cmd: 'publish', topic, payload, qos, messageId, dup: false, retain: false }, this.#options)
  }

  #connack(returnCode: number, reasonCode: ReasonCode, properties: NonNullable<IConnackPacket['properties']>): Buffer {
    return generate({ cmd: 'connack', returnCode, reasonCode, sessionPresent: false, properties }, this.#options)
  }

  /** A reason string is left out if the packet would be larger than the device accepts. [MQTT5-3.2.2-19] [MQTT5-3.14.2-3] */
  #withReason(
    reasonString: string,
    maxBytes = Number.POSITIVE_INFINITY,
    write: (properties: { reasonString?: string }) => Buffer,
  ): Buffer {
    const packet = write({ reasonString })
    return packet.length > maxBytes ? write({}) : packet
  }
}

export const packetWriters: Readonly<Record<ProtocolVersion, PacketWriter>> = {
  4: new PacketWriter(4),
  5: new PacketWriter(5),
}
