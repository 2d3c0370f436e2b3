// Where devices connect: MQTT over TCP, over TLS, and over WebSocket on the HTTP port.
import type { Server as HttpServer, IncomingMessage } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { createWebSocketStream, WebSocketServer } from 'ws'
import { devicePaths, largestPacket } from '../../contract/device.ts'
import { Refusal } from '../../platform/failure.ts'
import { listenRefusal } from '../../platform/http/listen.ts'
import { isLoopbackHost } from '../../platform/loopback.ts'
import type { ServeOptions } from '../../platform/options.ts'
import type { Link } from './device-connections.ts'

export interface Doors {
  readonly mqttPort: number | undefined
  readonly mqttsPort: number | undefined
  /** No new connections; those that are there stay. */
  close(): void
}

/** A fleet that comes back at once must not find the door shut: who is turned away there tries again after seconds, then minutes. */
const backlog = 4096

export async function openDoors(
  link: Link,
  options: ServeOptions,
  tls: { readonly cert: Buffer; readonly key: Buffer } | undefined,
): Promise<Doors> {
  const servers: Server[] = []
  const open = async (server: Server, option: string, port: number) => {
    servers.push(server)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ port, host: options.mqttHost, backlog }, resolve)
    }).catch((error) => {
      throw listenRefusal(error, { port, host: options.mqttHost }, { port: option, host: '--mqtt-host' })
    })
    return (server.address() as AddressInfo).port
  }
  const close = () => {
    for (const server of servers) if (server.listening) server.close()
  }
  const take = (socket: Socket) => {
    socket.setNoDelay(true)
    link.take(socket, socket)
  }
  const { mqttPort, mqttTlsPort } = options
  if (mqttTlsPort !== 'off' && !tls) throw new Refusal('--mqtt-tls-port needs --tls-cert and --tls-key.')
  try {
    return {
      mqttPort: mqttPort === 'off' ? undefined : await open(createServer(take), '--mqtt-port', mqttPort),
      mqttsPort:
        mqttTlsPort === 'off' || !tls
          ? undefined
          : await open(createTlsServer({ ...tls, handshakeTimeout: 10_000 }, take), '--mqtt-tls-port', mqttTlsPort),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

/** Other requests to upgrade are answered as if they had not asked. */
export const isDeviceUpgrade = ({ url }: IncomingMessage): boolean => url?.split('?')[0] === devicePaths.mqtt

export function openWebSocket(link: Link, http: HttpServer): void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: largestPacket + 5,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has('mqtt') ? 'mqtt' : offered.has('mqttv3.1') ? 'mqttv3.1' : false),
  })
  http.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      link.take(createWebSocketStream(webSocket), request.socket)
    })
  })
}

/** The addresses that a device is told, encrypted ones first; none that it could not reach. */
export function connectAddresses(publicUrl: string, doors: Doors, mqttHost: string): string[] {
  const { protocol, hostname, host } = new URL(publicUrl)
  const isReachable = !isLoopbackHost(mqttHost) || isLoopbackHost(hostname)
  const web = `${protocol === 'https:' ? 'wss' : 'ws'}://${host}${devicePaths.mqtt}`
  const [mqtts, mqtt] = (['mqttsPort', 'mqttPort'] as const).map((door) => {
    const port = doors[door]
    return port !== undefined && isReachable ? [`${door === 'mqttsPort' ? 'mqtts' : 'mqtt'}://${hostname}:${port}`] : []
  }) as [string[], string[]]
  return protocol === 'https:' ? [...mqtts, web, ...mqtt] : [...mqtts, ...mqtt, web]
}
