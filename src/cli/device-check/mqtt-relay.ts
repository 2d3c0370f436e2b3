// Passes the MQTT packets of a device on to the server and back, and notes them. It can refuse, close, withhold and add packets.
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer as createTlsServer } from 'node:tls'
import { generate, type IConnectPacket, type IPublishPacket, type Packet, parser } from 'mqtt-packet'
import { downTopic } from '../../contract/device/protocol.ts'
import type { Connection, SeenUp } from './facts.ts'

export interface RelayAddress {
  readonly host: string
  readonly port: number
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined
}

/** How the relay treats the next CONNECT: it answers with this code, or closes the connection without an answer. */
export type Refusal = 3 | 5 | 'no answer'

/** Message ids of the relay's own messages. The server counts from 1 and does not come this far. */
const firstOwnIdNumber = 60_000

export class MqttRelay {
  /** The port of the server on this machine; undefined while it is stopped. */
  serverPort: number | undefined
  /** The next CONNECTs are refused in this way. */
  readonly refusals: Refusal[] = []
  /** PUBACKs of messages of these kinds are not passed on to the device. */
  readonly withheldKinds = new Set<string>()
  /** The connection that the service has accepted and that is still open. */
  current: RelayedConnection | undefined
  readonly #connections: Connection[]
  readonly #open = new Set<RelayedConnection>()
  #server: Server | undefined

  constructor(connections: Connection[]) {
    this.#connections = connections
  }

  /** Returns the port. */
  async listen({ host, port, tls }: RelayAddress): Promise<number> {
    const accept = (socket: Duplex) => this.accept(socket)
    const server = tls ? createTlsServer(tls, accept) : createServer(accept)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, resolve)
    })
    this.#server = server
    return (server.address() as AddressInfo).port
  }

  accept(socket: Duplex): void {
    const connection = new RelayedConnection(this, socket, (facts) => this.#connections.push(facts))
    this.#open.add(connection)
    socket.once('close', () => {
      this.#open.delete(connection)
      if (this.current === connection) this.current = undefined
    })
  }

  close(): void {
    for (const connection of this.#open) connection.close()
    this.#server?.close()
  }
}

export class RelayedConnection {
  facts: Connection | undefined
  readonly #relay: MqttRelay
  readonly #device: Duplex
  readonly #onConnect: (facts: Connection) => void
  #server: Duplex | undefined
  #version = 4
  /** Messages of the device that the server has not acknowledged, by message id. */
  readonly #unacknowledged = new Map<number, SeenUp>()
  #nextOwnId = firstOwnIdNumber
  /** The device has sent DISCONNECT. */
  #isLeaving = false

  constructor(relay: MqttRelay, device: Duplex, onConnect: (facts: Connection) => void) {
    this.#relay = relay
    this.#device = device
    this.#onConnect = onConnect
    const fromDevice = parser()
    fromDevice.on('packet', (packet) => this.#fromDevice(packet))
    fromDevice.on('error', (error: Error) => this.#end('service', `It sent a malformed packet: ${error.message}.`))
    device.on('data', (bytes: Buffer) => void fromDevice.parse(bytes))
    device.on('error', () => {})
    device.once('close', () => this.#end('device'))
  }

  /** Ends the connection without DISCONNECT, as bad networks do. */
  close(): void {
    this.#end('check')
  }

  /** Sends the device a message that the server did not send. */
  send(kind: string, body: unknown): void {
    const topic = downTopic(this.facts?.username ?? '', kind as '#')
    const messageId = this.#nextOwnId++
    const payload = JSON.stringify(body)
    this.#toDevice({ cmd: 'publish', topic, payload, qos: 1, dup: false, retain: false, messageId })
    this.facts?.down.push({ atMs: performance.now(), kind, body })
  }

  #fromDevice(packet: Packet): void {
    if (packet.cmd === 'disconnect') this.#isLeaving = true
    if (packet.cmd === 'connect') this.#connect(packet)
    else if (packet.cmd === 'publish') this.#publish(packet)
    else if (packet.cmd === 'subscribe')
      for (const { topic, qos } of packet.subscriptions) this.facts?.subscriptions.push({ topic, qos })
    if (packet.cmd === 'puback' && (packet.messageId ?? 0) >= firstOwnIdNumber) return
    this.#toServer(packet)
  }

  #connect(packet: IConnectPacket): void {
    this.#version = packet.protocolVersion ?? 4
    const refusal = this.#relay.refusals.shift() ?? (this.#relay.serverPort === undefined ? 'no answer' : undefined)
    this.facts = {
      openedAtMs: performance.now(),
      username: packet.username ?? '',
      password: packet.password?.toString() ?? '',
      connack: undefined,
      isStaged: refusal !== undefined,
      subscriptions: [],
      up: [],
      down: [],
      endedAtMs: undefined,
      endedBy: undefined,
      isEndExpected: false,
      endReason: undefined,
    }
    this.#onConnect(this.facts)
    if (refusal === undefined) this.#connectServer()
    else this.#refuse(refusal)
  }

  #connectServer(): void {
    const server = connect(this.#relay.serverPort ?? 0, '127.0.0.1')
    this.#server = server
    const fromServer = parser({ protocolVersion: this.#version })
    fromServer.on('packet', (answer) => this.#fromServer(answer))
    server.on('data', (bytes: Buffer) => void fromServer.parse(bytes))
    server.on('error', () => {})
    server.once('close', () => this.#end('service'))
  }

  #refuse(refusal: Refusal): void {
    if (refusal !== 'no answer' && this.facts) {
      this.facts.connack = refusal
      const isNew = this.#version === 5
      const code = isNew ? { reasonCode: refusal === 5 ? 0x87 : 0x88 } : { returnCode: refusal }
      this.#toDevice({ cmd: 'connack', sessionPresent: false, ...code })
    }
    this.#end('check')
  }

  #publish({ topic, payload, qos, dup, messageId }: IPublishPacket): void {
    const text = payload.toString()
    const message: SeenUp = {
      atMs: performance.now(),
      kind: topic.slice(topic.lastIndexOf('/') + 1),
      qos,
      isDup: dup,
      text,
      body: parsed(text),
      isBeforeSubscribe: this.facts?.subscriptions.length === 0,
      isAckWithheld: false,
    }
    this.facts?.up.push(message)
    if (messageId !== undefined) this.#unacknowledged.set(messageId, message)
  }

  #fromServer(packet: Packet): void {
    const { facts } = this
    if (!facts) return
    if (packet.cmd === 'connack') {
      facts.connack = packet.reasonCode ?? packet.returnCode ?? 0
      if (facts.connack === 0) this.#relay.current = this
    } else if (packet.cmd === 'disconnect') {
      facts.endReason = packet.properties?.reasonString
    } else if (packet.cmd === 'publish') {
      const kind = packet.topic.slice(packet.topic.lastIndexOf('/') + 1)
      facts.down.push({ atMs: performance.now(), kind, body: parsed(packet.payload.toString()) })
    } else if (packet.cmd === 'puback' && packet.messageId !== undefined) {
      const message = this.#unacknowledged.get(packet.messageId)
      this.#unacknowledged.delete(packet.messageId)
      if (message && this.#relay.withheldKinds.has(message.kind)) {
        message.isAckWithheld = true
        return
      }
    }
    this.#toDevice(packet)
  }

  #toServer(packet: Packet): void {
    this.#pass(this.#server, packet)
  }

  #toDevice(packet: Packet): void {
    this.#pass(this.#device, packet)
  }

  #pass(to: Duplex | undefined, packet: Packet): void {
    if (!to || to.destroyed) return
    try {
      to.write(generate(packet, { protocolVersion: this.#version }))
    } catch (error) {
      this.#end('service', `It sent a packet that MQTT does not allow: ${(error as Error).message}.`)
    }
  }

  #end(by: 'device' | 'service' | 'check', reason?: string): void {
    if (this.facts && this.facts.endedAtMs === undefined) {
      this.facts.endedAtMs = performance.now()
      this.facts.endedBy = this.#isLeaving ? 'device' : by
      this.facts.endReason ??= reason
      if (by === 'check') this.facts.isEndExpected = true
    }
    this.#server?.end()
    // The last bytes, such as a CONNACK, still go out.
    this.#device.end(() => this.#device.destroy())
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
