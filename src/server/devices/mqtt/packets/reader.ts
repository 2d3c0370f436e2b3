// Reads packets of devices with mqtt-packet, and checks what MQTT demands and mqtt-packet lets pass.
//
// mqtt-packet checks the reserved flags [MQTT-2.2.2-2] [MQTT-3.8.1-1], the QoS of PUBLISH and SUBSCRIBE [MQTT-3.3.1-4]
// [MQTT-3.8.3-4], the name of the protocol [MQTT-3.1.2-1], the reserved flag of CONNECT [MQTT-3.1.2-3], the flags of a will
// that is not there [MQTT-3.1.2-13] [MQTT-3.1.2-15], and that no field ends behind its packet. The rest is checked here.
import {
  type IConnectPacket,
  type IPublishPacket,
  type ISubscribePacket,
  type IUnsubscribePacket,
  type Packet,
  type Parser,
  parser,
} from 'mqtt-packet'
import type { SendLimits } from '../session/outbound.ts'
import { checkConnectProperties, checkProperties, checkPublishProperties } from './properties.ts'
import { ProtocolError } from './protocol-error.ts'
import { reasonCodes } from './reasons.ts'
import type { ProtocolVersion } from './writer.ts'

/** Names and levels of the protocol that are spoken here: MQTT 5, MQTT 3.1.1, and 3.1, which says the same. */
const protocols: readonly { readonly name: Buffer; readonly levels: Readonly<Record<number, ProtocolVersion>> }[] = [
  { name: Buffer.from('\0\x04MQTT'), levels: { 4: 4, 5: 5 } },
  { name: Buffer.from('\0\x06MQIsdp'), levels: { 3: 4 } },
]

export interface ConnectRequest {
  readonly version: ProtocolVersion
  readonly keepAliveSeconds: number
  readonly clientId: string
  readonly username: string | undefined
  readonly password: string | undefined
  readonly limits: SendLimits
}

/** A packet that a connected device may send. */
export type DevicePacket =
  | IPublishPacket
  | ISubscribePacket
  | IUnsubscribePacket
  | { readonly cmd: 'puback'; readonly messageId: number }
  | { readonly cmd: 'pubrel'; readonly messageId: number }
  | { readonly cmd: 'pingreq' }
  | { readonly cmd: 'disconnect' }

/** Parses one whole frame at a time, so nothing of a frame stays behind, and all connections share one parser. */
class FrameParser {
  readonly #version: ProtocolVersion
  #parser: Parser | undefined
  #packet: Packet | undefined
  #error: Error | undefined

  constructor(version: ProtocolVersion) {
    this.#version = version
  }

  parse(frame: Buffer): Packet {
    this.#parser ??= parser({ protocolVersion: this.#version })
      .on('packet', (packet) => {
        this.#packet = packet
      })
      .on('error', (error: Error) => {
        this.#error = error
      })
    try {
      this.#parser.parse(frame)
    } catch (error) {
      this.#error = error as Error
    }
    const packet = this.#packet
    this.#packet = undefined
    if (packet) return packet
    const { message } = this.#error ?? new Error('Packet too short')
    this.#error = undefined
    // After an error a parser starts its next packet at the wrong place, so it is not used again.
    this.#parser = undefined
    throw new ProtocolError(message)
  }
}

/** Packets after CONNECT. MQTT 3.1.1 and 3.1 differ in CONNECT only. */
const deviceParsers: Readonly<Record<ProtocolVersion, FrameParser>> = { 4: new FrameParser(4), 5: new FrameParser(5) }

/** The version that a CONNECT asks for, before the rest of it is read. [MQTT-3.1.2-2] */
export function readVersion(frame: Buffer, headerBytes: number): ProtocolVersion | 'unsupported' {
  // [MQTT-3.1.0-1]
  if ((frame[0] as number) >> 4 !== 1) throw new ProtocolError('the first packet is not CONNECT')
  const body = frame.subarray(headerBytes)
  const protocol = protocols.find(({ name }) => name.equals(body.subarray(0, name.length)))
  const level = protocol && body[protocol.name.length]
  if (level === undefined) throw new ProtocolError('the protocol is not MQTT')
  return protocol?.levels[level] ?? 'unsupported'
}

/** A device without a client id gets its endpoint ID as one. [MQTT5-3.2.2-16] */
export const assignedClientId = ({ clientId, username }: ConnectRequest): string | undefined =>
  clientId === '' ? username : undefined

export function readConnect(frame: Buffer, version: ProtocolVersion): ConnectRequest {
  // A parser remembers the CONNECT that it has seen, with its password, so each has a parser of its own.
  const packet = new FrameParser(version).parse(frame)
  if (packet.cmd !== 'connect') throw new ProtocolError('the first packet is not CONNECT')
  checkConnect(packet, frame, version)
  const { keepalive = 0, clientId, username, password, properties = {} } = packet
  const { receiveMaximum, maximumPacketSize } = properties
  return {
    version,
    keepAliveSeconds: keepalive,
    clientId,
    username,
    password: password?.toString('utf8'),
    limits: {
      receiveMaximum: receiveMaximum ?? Number.POSITIVE_INFINITY,
      maxBytes: maximumPacketSize ?? Number.POSITIVE_INFINITY,
    },
  }
}

function checkConnect(packet: IConnectPacket, frame: Buffer, version: ProtocolVersion): void {
  const { clientId, will, username, password } = packet
  for (const text of [clientId, will?.topic, username]) checkText(text, frame)
  // [MQTT-3.1.2-14]
  if (Number(will?.qos) > 2) throw new ProtocolError('a will has QoS 3')
  if (version === 5) checkConnectProperties(packet)
  // [MQTT-3.1.2-22] MQTT 5 allows it.
  else if (password && username === undefined) throw new ProtocolError('a password comes without a user name')
}

/** Any packet after CONNECT. */
export function readPacket(frame: Buffer, version: ProtocolVersion): DevicePacket {
  // [MQTT-3.1.0-2]
  if ((frame[0] as number) >> 4 === 1) {
    throw new ProtocolError('CONNECT comes a second time', reasonCodes.protocolError)
  }
  const packet = deviceParsers[version].parse(frame)
  switch (packet.cmd) {
    case 'publish':
      if (packet.qos > 0) checkId(packet.messageId)
      checkTopic(packet.topic, frame)
      if (version === 5) checkPublishProperties(packet)
      return packet
    case 'subscribe':
      checkId(packet.messageId)
      if (version === 5) checkSubscribe(packet)
      // [MQTT-3.8.3-3]
      checkTopics(
        packet.subscriptions.map(({ topic }) => topic),
        frame,
      )
      return packet
    case 'unsubscribe':
      checkId(packet.messageId)
      if (version === 5) checkProperties('unsubscribe', packet.properties)
      // [MQTT-3.10.3-2]
      checkTopics(packet.unsubscriptions, frame)
      return packet
    case 'puback':
    case 'pubrel':
      checkLength(packet, 2, version)
      if (version === 5) checkProperties(packet.cmd, packet.properties)
      return { cmd: packet.cmd, messageId: packet.messageId as number }
    case 'pingreq':
      checkLength(packet, 0, 4)
      return packet
    case 'disconnect':
      checkLength(packet, 0, version)
      if (version === 5) checkProperties('disconnect', packet.properties)
      return packet
    default:
      throw new ProtocolError(`${packet.cmd} comes from a device`, reasonCodes.protocolError)
  }
}

/** mqtt-packet gives -1 for an id that ends too early. [MQTT-2.3.1-1] */
function checkId(id: number | undefined): void {
  if (id === undefined || id <= 0) throw new ProtocolError('a packet identifier is missing or 0')
}

/** In MQTT 5 a reason code and properties may follow. */
function checkLength(packet: Packet, bytes: number, version: ProtocolVersion): void {
  const { length = 0 } = packet
  if (version === 5 ? length < bytes : length !== bytes) throw new ProtocolError(`${packet.cmd} has a wrong length`)
}

function checkSubscribe({ properties, subscriptions }: ISubscribePacket): void {
  checkProperties('subscribe', properties)
  if (properties?.subscriptionIdentifier !== undefined) {
    const problem = 'subscription identifiers are not supported'
    throw new ProtocolError(problem, reasonCodes.subscriptionIdentifiersNotSupported)
  }
  if (subscriptions.some(({ topic }) => topic.startsWith('$share/'))) {
    throw new ProtocolError('shared subscriptions are not supported', reasonCodes.sharedSubscriptionsNotSupported)
  }
}

function checkTopics(topics: readonly string[], frame: Buffer): void {
  if (topics.length === 0) throw new ProtocolError('a subscription names no topic', reasonCodes.protocolError)
  for (const topic of topics) checkText(topic, frame)
}

/** [MQTT-3.3.2-2] */
function checkTopic(topic: string, frame: Buffer): void {
  checkText(topic, frame)
  if (topic.includes('#') || topic.includes('+')) {
    throw new ProtocolError('a topic has a wildcard', reasonCodes.topicNameInvalid)
  }
}

/** Ill-formed UTF-8 becomes U+FFFD in mqtt-packet; where the device sent U+FFFD itself, its bytes are in the frame. */
function checkText(text: string | undefined, frame: Buffer): void {
  if (text === undefined) return
  // [MQTT-1.5.3-1]
  if (text.includes('\uFFFD') && !frame.includes(text)) throw new ProtocolError('a text is not UTF-8')
  // [MQTT-1.5.3-2]
  if (text.includes('\0')) throw new ProtocolError('a text has a zero')
}
