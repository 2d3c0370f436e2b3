// Listens for devices: MQTT over TCP, over TLS, and over WebSocket on the HTTP port.
import type { Server as HttpServer, IncomingMessage } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { createWebSocketStream, WebSocketServer } from 'ws'
import { devicePaths, maxPacketBytes } from '../../../contract/device/protocol.ts'
import { addressMatcher } from '../../../network/address-list.ts'
import type { ServeOptions } from '../../config/server-options.ts'
import { StartupError } from '../../core/failure.ts'
import { isLocalhost, isLoopbackHost } from '../../core/loopback.ts'
import { publicPathOf } from '../../core/public-path.ts'
import type { TimeLimits } from '../../core/time-limits.ts'
import { hasDefaultAtLocalhost, listenError } from '../../http/listen.ts'
import { openWithTwin } from '../../http/loopback-twin.ts'
import type { ServerCertificate } from '../../http/server-certificate.ts'
import { ProxiedSockets, type SocketClient } from '../proxy-protocol/proxied-sockets.ts'
import type { DeviceConnections } from './device-connections.ts'

export interface MqttListeners {
  readonly mqttPort: number | undefined
  readonly mqttsPort: number | undefined
  /** Takes no new connections. Those that are open stay open. */
  close(): void
}

/** Connections that the kernel holds until they are accepted: one that it turns away is tried again after seconds, then minutes. */
const maxBacklog = 4096
/** A session ends its half itself, after it has read what came before the end of the other half. */
const allowHalfOpen = true
const maxFixedHeaderBytes = 5

export async function openMqttListeners(
  connections: DeviceConnections,
  options: ServeOptions,
  certificate: ServerCertificate | undefined,
  limits: TimeLimits,
): Promise<MqttListeners> {
  const servers: Server[] = []
  const closers: (() => void)[] = []
  const host = options.mqttHost === 'localhost' ? '127.0.0.1' : options.mqttHost
  // Devices that enrol get the name localhost then.
  const isNamed = options.publicMqttUrl === undefined && hasDefaultAtLocalhost(options)
  const hasTwin = options.mqttHost === 'localhost' || (isNamed && isLocalhost(host))
  const open = async (server: Server, option: string, port: number) => {
    servers.push(server)
    const openAt = (at: number) =>
      new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen({ port: at, host, backlog: maxBacklog }, resolve)
      })
    try {
      if (hasTwin) closers.push(await openWithTwin(server, { port, host, backlog: maxBacklog, open: openAt }))
      else await openAt(port)
    } catch (error) {
      const { address = options.mqttHost } = error as { address?: string }
      throw listenError(error as Error, { port, host: address }, { port: option, host: '--mqtt-host' })
    }
    return (server.address() as AddressInfo).port
  }
  const proxied = new ProxiedSockets(addressMatcher(options.trustProxy ?? []), limits)
  const close = () => {
    for (const closeTwin of closers) closeTwin()
    for (const server of servers) if (server.listening) server.close()
    proxied.close()
  }
  const take = (socket: Socket, client: SocketClient) => {
    socket.setNoDelay(true)
    connections.accept(socket, client)
  }
  const plainServer = () => createServer({ allowHalfOpen }, (socket) => proxied.receive(socket, take))
  const tlsServer = (from: ServerCertificate) => proxiedTlsServer(from, { proxied, limits }, take)
  const { mqttPort, mqttTlsPort } = options
  if (mqttTlsPort !== 'off' && !certificate) throw new StartupError('--mqtt-tls-port needs --tls-cert and --tls-key.')
  try {
    return {
      mqttPort: mqttPort === 'off' ? undefined : await open(plainServer(), '--mqtt-port', mqttPort),
      mqttsPort:
        mqttTlsPort === 'off' || !certificate
          ? undefined
          : await open(tlsServer(certificate), '--mqtt-tls-port', mqttTlsPort),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

/** The header of a balancer comes before TLS, so the sockets are accepted by a plain server and then given to one for TLS. */
function proxiedTlsServer(
  certificate: ServerCertificate,
  { proxied, limits }: { readonly proxied: ProxiedSockets; readonly limits: TimeLimits },
  take: (socket: Socket, client: SocketClient) => void,
): Server {
  /** The key is the address and port of the connection, which are unique while it is open. */
  const clients = new Map<string, SocketClient>()
  const keyOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`
  const options = { ...certificate.files, allowHalfOpen, handshakeTimeout: limits.tlsHandshakeMs }
  const tls = createTlsServer(options, (socket) => take(socket, clients.get(keyOf(socket)) ?? socket))
  certificate.attach(tls)
  return createServer({ allowHalfOpen }, (socket) =>
    proxied.receive(socket, (accepted, client) => {
      const key = keyOf(accepted)
      clients.set(key, client)
      accepted.once('close', () => clients.delete(key))
      tls.emit('connection', accepted)
    }),
  )
}

/** Requests to upgrade any other path are answered as plain requests. */
export const isDeviceUpgrade = ({ url }: IncomingMessage): boolean => url?.split('?')[0] === devicePaths.mqtt

export function openWebSocket(connections: DeviceConnections, http: HttpServer): void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxPacketBytes + maxFixedHeaderBytes,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has('mqtt') ? 'mqtt' : offered.has('mqttv3.1') ? 'mqttv3.1' : false),
  })
  http.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      connections.accept(createWebSocketStream(webSocket), request.socket)
    })
  })
}

/**
 * The addresses that a device is given: encrypted ones first, and none that it could not reach. With --public-mqtt-url, those are
 * given instead of the ports of this server.
 */
export function connectAddresses(
  publicUrl: string,
  listeners: Pick<MqttListeners, 'mqttPort' | 'mqttsPort'>,
  { mqttHost, publicMqttUrl }: Pick<ServeOptions, 'mqttHost' | 'publicMqttUrl'>,
): string[] {
  const { protocol, hostname, host } = new URL(publicUrl)
  const isReachable = !isLoopbackHost(mqttHost) || isLoopbackHost(hostname)
  const addressOf = (scheme: string, port: number | undefined) =>
    port !== undefined && isReachable ? [`${scheme}://${hostname}:${port}`] : []
  const named = (scheme: string) => publicMqttUrl?.filter((url) => url.startsWith(`${scheme}:`))
  const mqtts = named('mqtts') ?? addressOf('mqtts', listeners.mqttsPort)
  const mqtt = named('mqtt') ?? addressOf('mqtt', listeners.mqttPort)
  const isEncrypted = protocol === 'https:'
  const web = `${isEncrypted ? 'wss' : 'ws'}://${host}${publicPathOf(publicUrl)}${devicePaths.mqtt}`
  return isEncrypted ? [...mqtts, web, ...mqtt] : [...mqtts, ...mqtt, web]
}
