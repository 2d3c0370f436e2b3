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

/** The connection must end: the packet is malformed, or comes at the wrong time. */
export class ProtocolError extends Error {}

/** Names and levels of the protocol that are spoken here: MQTT 3.1.1, and 3.1, which says the same. */
const protocols = [
  { name: Buffer.from('\0\x04MQTT'), level: 4 },
  { name: Buffer.from('\0\x06MQIsdp'), level: 3 },
]

/** The packets of MQTT 3.1.1 and 3.1 differ in CONNECT only, which has a parser of its own. */
const protocolVersion = 4

export interface ConnectRequest {
  readonly keepAliveSeconds: number
  readonly username: string | undefined
  readonly password: string | undefined
}

/** A packet that a connected device may send. */
export type DevicePacket =
  | IPublishPacket
  | ISubscribePacket
  | IUnsubscribePacket
  | { readonly cmd: 'puback' | 'pubrel'; readonly messageId: number }
  | { readonly cmd: 'pingreq' | 'disconnect' }

/** Parses one whole frame at a time, so nothing of a frame stays behind, and all connections share one parser. */
class FrameParser {
  #parser: Parser | undefined
  #packet: Packet | undefined
  #error: Error | undefined

  parse(frame: Buffer): Packet {
    this.#parser ??= parser({ protocolVersion })
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

const deviceParser = new FrameParser()

/** The first packet of a connection; 'unsupported' for a version of MQTT that is not spoken here [MQTT-3.1.2-2]. */
export function readConnect(frame: Buffer, headerBytes: number): ConnectRequest | 'unsupported' {
  const body = frame.subarray(headerBytes)
  const protocol = protocols.find(({ name }) => name.equals(body.subarray(0, name.length)))
  const level = protocol && body[protocol.name.length]
  // mqtt-packet does not report an unsupported version as such.
  if (level !== undefined && level !== protocol?.level) return 'unsupported'
  // A parser remembers the CONNECT that it has seen, with its password, so each has a parser of its own.
  const packet = new FrameParser().parse(frame)
  // [MQTT-3.1.0-1]
  if (packet.cmd !== 'connect') throw new ProtocolError('the first packet is not CONNECT')
  checkConnect(packet, frame)
  const { keepalive = 0, username, password } = packet
  return { keepAliveSeconds: keepalive, username, password: password?.toString('utf8') }
}

function checkConnect({ clientId, will, username, password }: IConnectPacket, frame: Buffer): void {
  for (const text of [clientId, will?.topic, username]) checkText(text, frame)
  // [MQTT-3.1.2-14]
  if (Number(will?.qos) > 2) throw new ProtocolError('a will has QoS 3')
  // [MQTT-3.1.2-22]
  if (password && username === undefined) throw new ProtocolError('a password comes without a user name')
}

/** Any packet after CONNECT. */
export function readPacket(frame: Buffer): DevicePacket {
  // [MQTT-3.1.0-2]
  if ((frame[0] as number) >> 4 === 1) throw new ProtocolError('CONNECT comes a second time')
  const packet = deviceParser.parse(frame)
  switch (packet.cmd) {
    case 'publish':
      if (packet.qos > 0) checkId(packet.messageId)
      checkTopic(packet.topic, frame)
      return packet
    case 'subscribe':
      checkId(packet.messageId)
      // [MQTT-3.8.3-3]
      checkTopics(
        packet.subscriptions.map(({ topic }) => topic),
        frame,
      )
      return packet
    case 'unsubscribe':
      checkId(packet.messageId)
      // [MQTT-3.10.3-2]
      checkTopics(packet.unsubscriptions, frame)
      return packet
    case 'puback':
    case 'pubrel':
      checkLength(packet, 2)
      return { cmd: packet.cmd, messageId: packet.messageId as number }
    case 'pingreq':
    case 'disconnect':
      checkLength(packet, 0)
      return packet
    default:
      throw new ProtocolError(`${packet.cmd} comes from a device`)
  }
}

/** mqtt-packet gives -1 for an id that ends too early. [MQTT-2.3.1-1] */
function checkId(id: number | undefined): void {
  if (id === undefined || id <= 0) throw new ProtocolError('a packet identifier is missing or 0')
}

function checkLength(packet: Packet, bytes: number): void {
  if (packet.length !== bytes) throw new ProtocolError(`${packet.cmd} has a wrong length`)
}

function checkTopics(topics: readonly string[], frame: Buffer): void {
  if (topics.length === 0) throw new ProtocolError('a subscription names no topic')
  for (const topic of topics) checkText(topic, frame)
}

/** [MQTT-3.3.2-2] */
function checkTopic(topic: string, frame: Buffer): void {
  checkText(topic, frame)
  if (topic.includes('#') || topic.includes('+')) throw new ProtocolError('a topic has a wildcard')
}

/** Ill-formed UTF-8 becomes U+FFFD in mqtt-packet; where the device sent U+FFFD itself, its bytes are in the frame. */
function checkText(text: string | undefined, frame: Buffer): void {
  if (text === undefined) return
  // [MQTT-1.5.3-1]
  if (text.includes('\uFFFD') && !frame.includes(text)) throw new ProtocolError('a text is not UTF-8')
  // [MQTT-1.5.3-2]
  if (text.includes('\0')) throw new ProtocolError('a text has a zero')
}
