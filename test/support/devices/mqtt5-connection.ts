// A raw MQTT 5 connection, for tests of packets that no client library would send.
import { connect } from 'node:net'
import { generate, type IConnectPacket, type Packet, parser } from 'mqtt-packet'
import { onTestFinished } from 'vitest'
import { until } from '../program.ts'
import type { TestDevice } from './test-device.ts'

type Body = Record<string, unknown> & { cmd: string }

/** A connection that sends whatever a test wants, and reads packets of MQTT 5. */
export function openMqtt5(port: number) {
  const received: Body[] = []
  const reading = parser({ protocolVersion: 5 }).on('packet', (packet) => void received.push({ ...packet } as Body))
  const socket = connect(port, '127.0.0.1')
  const connection = {
    received,
    isClosed: false,
    failed: undefined as Error | undefined,
    send: (packet: Packet | Buffer) =>
      void socket.write(Buffer.isBuffer(packet) ? packet : generate(packet, { protocolVersion: 5 })),
    of: (cmd: string) => received.filter((packet) => packet.cmd === cmd),
    next: (cmd: string) => until(cmd, () => received.find((packet) => packet.cmd === cmd)),
    end: () => socket.destroy(),
  }
  socket.on('data', (chunk) => reading.parse(chunk))
  socket.on('error', (error) => {
    connection.failed = error
  })
  socket.on('close', () => {
    connection.isClosed = true
  })
  onTestFinished(() => void socket.destroy())
  return connection
}

/** The CONNECT packet of a device. */
export const login = (
  { id, credential }: Pick<TestDevice, 'id' | 'credential'>,
  more: Partial<IConnectPacket> = {},
): IConnectPacket => ({
  cmd: 'connect',
  protocolId: 'MQTT',
  protocolVersion: 5,
  clientId: '',
  clean: true,
  keepalive: 30,
  username: id,
  password: Buffer.from(credential),
  ...more,
})
