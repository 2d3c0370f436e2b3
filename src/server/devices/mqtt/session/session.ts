// One MQTT session, from an accepted socket to its end: what may happen in each of its states.
//
//      a socket is accepted
//               v
//   +-----------------------+    anything but CONNECT, none within 10 s,
//   | connecting            |    CONNACK 1, 2, 3 or 5
//   |  reads one CONNECT,   |    or CONNACK 0 and UNENROL ------------------+
//   |  pauses until CONNACK |                                              |
//   +-----------------------+                                              v
//               |                                                 +-----------------+
//               |  CONNACK 0: the device's presence is durable    | closing         |   socket
//               v                                                 |  ignores input, |-----------> gone
//   +-----------------------+    DISCONNECT, a protocol error,    |  sends what is  |   closed
//   | connected             |    another connection of the        |  left, for 2 s  |
//   |  reads packets within |    device, an unenrolment,          +-----------------+
//   |  its back-pressure    |    1.5 keep-alives of silence, 20 s          ^
//   |                       |    of unread answers, bad messages, a        |
//   |                       |    foreign topic, a database that fails      |
//   +-----------------------+----------------------------------------------+
// A socket that closes by itself, or because the service stops, ends a session in any state. No session outlives its socket.
//
// Why was this device disconnected? `SessionEnd` (end.ts) keeps the first reason. `reason` is in the log line `device disconnected`, `why`
// in the connection history (`endpointsConnections`). Codes and texts are in packets/reasons.ts.
//
//   verb                  when                                   the device gets                                recorded (reason: why)
//   --------------------  -------------------------------------  ---------------------------------------------  ----------------------------------
//   fail(reason, code)    it broke the protocol, used a foreign  MQTT 5: the code in CONNACK or DISCONNECT      the reason: REFUSED
//                         topic, sent too many bad messages,     3.1.1: its socket is closed                    the reason: REFUSED
//                         was silent for 1.5 keep-alives,                                                       the reason: LOST
//                         or a message could not be stored                                                      the reason: SERVER_ENDED
//   close(ending)         the service ends a connection whose    MQTT 5: DISCONNECT with the ending's code      the ending:
//                         device is not to blame                 3.1.1: its socket is closed
//     'replaced'          another connection of the device, at   0x8E                                           replaced: REPLACED
//                         any node, or a new credential
//     'unenrolled'        its endpoint was deleted               UNENROL, then 0x98                             unenrolled: UNENROLLED
//     'released'          it was removed from its gateway        0x98                                           released: RELEASED
//     'database away'     no answer of the database for 45 s     0x88                                           database away: SERVER_ENDED
//     'shutting down'     the service stops, or the node was     0x8B                                           no line at a stop; or "this node
//                         declared dead                                                                         was declared dead": SERVER_ENDED
//   #drop(reason)         it reads nothing for 20 s (`fail` of   nothing: the socket is closed                  the reason: LOST (of `fail`: see
//                         MQTT 3.1.1 calls it too)                                                              above, the first reason stays)
//   #sendLast(packet)     CONNECT is refused, or the device was  CONNACK with a code; CONNACK 0 and UNENROL     `device refused`, if refused;
//                         unenrolled before it connected         (MQTT 5: and 0x98)                             no span: it never was connected
//   #receiveDisconnect()  the device sends DISCONNECT            the acknowledgements that it waits for         DISCONNECT: DISCONNECTED
//   (none)                the socket ends or breaks by itself    nothing                                        the device closed the connection,
//                                                                                                               or the socket's error: LOST
//
// Every verb enters the state closing (`ignoreInput`). Outside this file, device-connections.ts and shut-down-in-turn.ts call `close`, and ingest.ts `close` and `fail`.
import type { Duplex } from 'node:stream'
import type { IPublishPacket, ISubscribePacket, IUnsubscribePacket } from 'mqtt-packet'
import { maxPacketBytes, upTopic } from '../../../../contract/device/protocol.ts'
import type { TimeLimits } from '../../../core/time-limits.ts'
import type { DeviceConnection } from '../handlers.ts'
import { BackPressure } from '../limits/back-pressure.ts'
import type { IngestBudget } from '../limits/ingest-budget.ts'
import type { RefusalCause } from '../limits/refusal-log.ts'
import type { DeviceMetrics } from '../metrics.ts'
import { type FixedHeader, type FrameHandler, FrameReader } from '../packets/frame-reader.ts'
import { ForeignTopic, ProtocolError } from '../packets/protocol-error.ts'
import { assignedClientId, type ConnectRequest, readConnect, readPacket, readVersion } from '../packets/reader.ts'
import { type ConnectOutcome, type EndingReason, type ReasonCode, reasonCodes } from '../packets/reasons.ts'
import { Acknowledgements } from './acknowledgements.ts'
import type { Downlink, IdentifiedDevice, PacketSink } from './downlink.ts'
import { SessionEnd } from './end.ts'
import { Outbound } from './outbound.ts'

const maxConnectBytes = 4096
/** Long enough for a last packet to leave. */
const shutDownDelayMs = 100

/** The states that are drawn above. */
type SessionState =
  | { readonly name: 'connecting'; seconds: number; hasConnect: boolean }
  | { readonly name: 'connected'; readonly keepAliveSeconds: number; unreadSeconds: number }
  | { readonly name: 'closing'; seconds: number }

/** Settings and callbacks that all sessions share. */
export interface SessionOptions {
  readonly limits: TimeLimits
  readonly budget: IngestBudget
  readonly metrics: DeviceMetrics
  /** Resolves when the device is connected and that is durable, or with the reason why it is refused. Never rejects. */
  readonly onConnect: (session: MqttSession, request: ConnectRequest) => Promise<ConnectOutcome>
  /** Finishes the message, and releases its bytes of the ingest budget. */
  readonly onPublish: (session: MqttSession, packet: IPublishPacket, bytes: number) => void
  /** Counts and logs a refusal that the session decides itself. */
  readonly onRefused: (session: MqttSession, cause: RefusalCause) => void
}

export class MqttSession implements FrameHandler, PacketSink {
  readonly socket: Duplex
  readonly acknowledgements: Acknowledgements
  readonly backPressure: BackPressure
  readonly #options: SessionOptions
  readonly #reader: FrameReader
  readonly #outbound = new Outbound((packet) => this.write(packet))
  #state: SessionState = { name: 'connecting', seconds: 0, hasConnect: false }
  /** Set once the credential is accepted, before CONNACK. */
  #identified: IdentifiedDevice | undefined
  /** The reason why the connection ends, if the device violated the protocol or is gone. */
  #failure: Error | undefined
  readonly ended = new SessionEnd()
  wasConnected = false

  constructor(socket: Duplex, options: SessionOptions) {
    this.socket = socket
    this.#options = options
    this.#reader = new FrameReader(socket, this, maxConnectBytes)
    this.backPressure = new BackPressure(socket, options.budget, () => this.#reader.proceed())
    this.acknowledgements = new Acknowledgements(socket, (messages) => this.#answered(messages))
  }

  start(): void {
    this.socket.on('drain', () => this.#reader.proceed())
    this.socket.once('close', () => this.backPressure.close())
    this.#reader.start()
  }

  get isOpen(): boolean {
    return this.#state.name !== 'closing' && this.socket.writable
  }

  get identified(): IdentifiedDevice | undefined {
    return this.#identified
  }

  identify(connection: DeviceConnection, downlink: Downlink): void {
    this.#identified = { connection, downlink, topicPrefix: upTopic(connection.device.id, ''), keysChecked: new Set() }
  }

  admit(header: FixedHeader): 'read' | 'skip' | 'wait' {
    if (this.#state.name === 'closing') return 'skip'
    if (this.#state.name === 'connecting') return this.#state.hasConnect ? 'wait' : 'read'
    const decision = this.backPressure.admit(header)
    if (decision === 'skip') this.#options.metrics.dropped.inc()
    return decision
  }

  receive(frame: Buffer, header: FixedHeader): void {
    try {
      if (this.#state.name === 'connecting') this.#connect(frame, header)
      else if (this.#state.name === 'connected') this.#receivePacket(frame, header)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      if (error instanceof ForeignTopic) {
        this.#options.metrics.foreign.inc()
        this.#options.onRefused(this, 'foreign topic')
      }
      this.fail(error.message, error.reasonCode)
    }
  }

  rejectLarge({ remainingBytes }: FixedHeader): void {
    if (this.#state.name === 'closing') return
    const isMalformed = remainingBytes === Number.POSITIVE_INFINITY
    const reason = isMalformed ? 'a packet is malformed' : 'a packet is larger than allowed'
    this.fail(reason, isMalformed ? reasonCodes.malformedPacket : reasonCodes.packetTooLarge)
  }

  inputEnded(): void {
    this.socket.destroy(this.#failure)
  }

  publish(topic: string, payload: string, qos: 0 | 1): boolean {
    return this.#outbound.publish(topic, payload, qos)
  }

  write(packet: Buffer): void {
    if (this.socket.writable) this.socket.write(packet)
  }

  /** Called once a second. */
  tick(): void {
    const state = this.#state
    const { limits } = this.#options
    if (state.name === 'closing') {
      // The close of a WebSocket needs a reply of the other side, which may be gone.
      if (++state.seconds * 1000 > limits.mqttCloseMs) this.socket.destroy(this.#failure)
    } else if (state.name === 'connecting') {
      if (++state.seconds * 1000 > limits.mqttConnectMs && !state.hasConnect) {
        this.fail('CONNECT did not come in time', reasonCodes.protocolError)
      }
    } else {
      this.backPressure.tick()
      state.unreadSeconds = this.socket.writableNeedDrain ? state.unreadSeconds + 1 : 0
      if (state.unreadSeconds * 1000 > limits.mqttUnreadMs) this.#drop('the device does not read what it is sent')
      // One and a half keep-alives without a byte from the device or an acknowledgement to it, and a second for the rounding. [MQTT-3.1.2-24]
      else if (++this.#reader.quietSeconds > state.keepAliveSeconds * 1.5 + 1) {
        this.fail('the keep-alive has passed', reasonCodes.keepAliveTimeout)
      }
    }
  }

  /** Ends the connection, because the device broke the protocol or is gone. MQTT 5 says why, MQTT 3.1.1 just closes. */
  fail(reason: string, reasonCode: ReasonCode): void {
    this.ended.noteFailure(reason, reasonCode)
    if (this.#outbound.version === 4 || this.#state.name === 'closing') {
      this.#drop(reason)
      return
    }
    this.#failure = new Error(reason)
    if (this.#state.name === 'connecting') this.#sendLast(this.#outbound.writer.badConnect(reasonCode, reason))
    else this.#sendLast(this.#outbound.disconnect(reasonCode, reason))
  }

  /** Ends the connection of a device that is not to blame; in MQTT 3.1.1 after a delay, so a last message can leave. */
  close(ending: EndingReason, delayMs = 0): void {
    this.ended.noteEnding(ending)
    const isTold = this.#mayDisconnect
    if (isTold) this.#sendLast(this.#outbound.disconnectBecause(ending))
    this.ignoreInput()
    if (ending === 'shutting down') this.#destroySoon(isTold)
    else if (!this.socket.writableEnded) setTimeout(() => this.socket.destroy(), delayMs).unref()
  }

  /** A service that stops does not wait for the device to close its side. */
  #destroySoon(isTold: boolean): void {
    if (isTold) setTimeout(() => this.socket.destroy(), shutDownDelayMs)
    else this.socket.destroy()
  }

  /** MQTT 5 alone has a DISCONNECT of the server. */
  get #mayDisconnect(): boolean {
    return this.#outbound.version === 5 && this.#state.name === 'connected'
  }

  /** Ignores everything that the device sends from now on. */
  ignoreInput(): void {
    if (this.#state.name !== 'closing') this.#state = { name: 'closing', seconds: 0 }
  }

  /** Ends the connection without a word. */
  #drop(reason: string): void {
    this.ended.note(reason, 'LOST')
    this.ignoreInput()
    this.socket.destroy(new Error(reason))
  }

  #connect(frame: Buffer, { headerBytes }: FixedHeader): void {
    const version = readVersion(frame, headerBytes)
    if (version === 'unsupported') {
      this.#options.onRefused(this, 'version')
      this.#sendLast(this.#outbound.refusal('unsupported version'))
      return
    }
    this.#outbound.version = version
    const request = readConnect(frame, version)
    this.#outbound.limits = request.limits
    this.acknowledgements.writer = this.#outbound.writer
    this.#state = { name: 'connecting', seconds: 0, hasConnect: true }
    this.#reader.maxRemainingBytes = maxPacketBytes
    void this.#options.onConnect(this, request).then((outcome) => {
      if (typeof outcome === 'object') this.#sendUnenrol(request, outcome.topic, outcome.lastMessage)
      else if (outcome !== 'accepted') this.#sendLast(this.#outbound.refusal(outcome))
      // The device may have connected again, or been unenrolled, while its presence was written.
      else if (this.#state.name === 'closing') this.#sendLast(this.#outbound.refusal('try later'))
      else this.#accept(request)
    })
  }

  #accept(request: ConnectRequest): void {
    this.wasConnected = true
    this.#state = { name: 'connected', keepAliveSeconds: request.keepAliveSeconds, unreadSeconds: 0 }
    this.write(this.#outbound.writer.accepted(assignedClientId(request)))
    this.#reader.proceed()
  }

  /** Accepts an unenrolled device only to tell it so. Some devices wait for an answer before they subscribe, so this comes first. */
  #sendUnenrol(request: ConnectRequest, topic: string, lastMessage: string): void {
    const { writer, version } = this.#outbound
    const packets = [writer.accepted(assignedClientId(request)), writer.publish(topic, lastMessage, 1, 1)]
    if (version === 5) packets.push(this.#outbound.disconnectBecause('unenrolled'))
    this.#sendLast(Buffer.concat(packets))
  }

  /**
   * Ends the connection after a last packet. Input is read and ignored until the device closes its side: to close a socket with
   * unread input would reset the connection, and the device could lose the packet.
   */
  #sendLast(packet: Buffer): void {
    this.ignoreInput()
    if (this.socket.writable) this.socket.end(packet)
    this.#reader.proceed()
  }

  #receivePacket(frame: Buffer, { remainingBytes }: FixedHeader): void {
    const packet = readPacket(frame, this.#outbound.version)
    if (packet.cmd === 'publish') {
      this.backPressure.messageArrived(remainingBytes)
      this.#options.onPublish(this, packet, remainingBytes)
    } else if (packet.cmd === 'pubrel') this.acknowledgements.release(packet.messageId)
    else if (packet.cmd === 'subscribe') this.#subscribe(packet)
    else if (packet.cmd === 'unsubscribe') this.#unsubscribe(packet)
    else if (packet.cmd === 'pingreq') this.write(this.#outbound.writer.pingresp())
    else if (packet.cmd === 'disconnect') this.#receiveDisconnect()
    // A PUBACK says only that a message arrived. The reports of the device say what it did with it.
    else this.#outbound.acknowledged(packet.messageId)
  }

  #subscribe({ messageId = 0, subscriptions }: ISubscribePacket): void {
    const { downlink } = this.#identified ?? {}
    const granted = subscriptions.map(({ topic, qos }) => downlink?.subscribe(topic, qos))
    if (!granted.every((qos) => qos !== undefined)) {
      throw new ForeignTopic('a device may subscribe to its own topics only')
    }
    this.write(this.#outbound.writer.suback(messageId, granted))
    downlink?.subscribed()
  }

  #unsubscribe({ messageId = 0, unsubscriptions }: IUnsubscribePacket): void {
    const { downlink } = this.#identified ?? {}
    const codes = unsubscriptions.map((topic) =>
      downlink?.unsubscribe(topic) ? reasonCodes.success : reasonCodes.noSubscriptionExisted,
    )
    this.write(this.#outbound.writer.unsuback(messageId, codes))
  }

  /** Pending acknowledgements are still sent. */
  #receiveDisconnect(): void {
    this.ended.note('DISCONNECT', 'DISCONNECTED')
    this.ignoreInput()
    this.socket.end(() => this.socket.destroy())
  }

  #answered(messages: number): void {
    this.#reader.quietSeconds = 0
    this.backPressure.answered(messages)
  }
}
