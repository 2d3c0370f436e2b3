// Checks of ports, of the public address, and of the way that a device would take to the service.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get as httpsGet } from 'node:https'
import { createServer } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { connectAsync } from 'mqtt'
import type { ServeOptions } from '../../server/config/server-options.ts'
import { isLoopbackHost } from '../../server/core/loopback.ts'
import { connectAddresses } from '../../server/devices/mqtt/listeners.ts'
import { atLocalhost, hasDefaultAtLocalhost } from '../../server/http/listen.ts'
import { type DoctorFinding, failed, ok, reasonOf, warning } from './finding.ts'

const answerTimeoutMs = 5_000
/** The CONNACK codes of a wrong credential: an MQTT service has read it. */
const credentialRefusedCodes: readonly unknown[] = [4, 5]

export async function checkNetwork(options: ServeOptions): Promise<DoctorFinding[]> {
  const scheme = options.tlsCert === undefined ? 'http' : 'https'
  const local = `${scheme}://${reachableHost(options.host)}:${options.port}`
  const isRunning = options.port !== 0 && (await isRoomkeeper(local, true)) === undefined
  const publicUrl = options.publicUrl ?? (hasDefaultAtLocalhost(options) ? atLocalhost(local) : local)
  return [
    ...(await checkPorts(options, isRunning)),
    await checkPublicAddress(options, publicUrl, isRunning),
    ...(await checkDevicesView(options, publicUrl, isRunning)),
  ]
}

/** Returns undefined if a Roomkeeper answers there, or the reason why not. The certificate counts only where others see it. */
async function isRoomkeeper(url: string, isLocal: boolean): Promise<string | undefined> {
  try {
    const { status, text } = await (isLocal && url.startsWith('https:') ? getUnverified : get)(`${url}/livez`)
    return text === '{"ok":true}' ? undefined : `the answer (status ${status}) is not that of Roomkeeper`
  } catch (error) {
    return reasonOf(error)
  }
}

async function get(url: string): Promise<{ status: number | undefined; text: string }> {
  const response = await fetch(url, { signal: AbortSignal.timeout(answerTimeoutMs), redirect: 'manual' })
  return { status: response.status, text: await response.text() }
}

/** fetch cannot ignore a certificate, and the one of the public name is not valid for a local address. */
async function getUnverified(url: string): Promise<{ status: number | undefined; text: string }> {
  const options = { rejectUnauthorized: false, agent: false, signal: AbortSignal.timeout(answerTimeoutMs) } as const
  const request = httpsGet(url, options)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return { status: response.statusCode, text: await textOf(response) }
}

async function checkPorts(options: ServeOptions, isRunning: boolean): Promise<DoctorFinding[]> {
  const { host, mqttHost } = options
  const wanted = [
    { option: '--port', port: options.port, host },
    { option: '--health-port', port: options.healthPort, host: options.healthHost },
    { option: '--mqtt-port', port: options.mqttPort, host: mqttHost },
    { option: '--mqtt-tls-port', port: options.mqttTlsPort, host: mqttHost },
  ]
  const findings = wanted.map(async ({ option, port, host: address }) => {
    if (port === 'off' || port === 0) return []
    const subject = `port ${port}`
    const code = await listenCode(port, address)
    if (code === undefined) {
      return isRunning
        ? [warning(subject, `Nothing uses it, although a server runs: it was started with another ${option}.`)]
        : [ok(subject, `It is free for ${option}.`)]
    }
    if (code === 'EADDRINUSE') {
      return isRunning
        ? [ok(subject, 'A running Roomkeeper uses it.')]
        : [failed(subject, `Another program uses it. Stop that, or choose another with ${option}.`)]
    }
    if (code === 'EACCES') return [failed(subject, `This user may not open it. Choose one above 1023 with ${option}.`)]
    return [failed(subject, `It cannot be opened on ${address} (${code}). Choose an address of this machine.`)]
  })
  return (await Promise.all(findings)).flat()
}

/** Returns the code of the error with which a port cannot be opened. */
const listenCode = (port: number, host: string) =>
  new Promise<string | undefined>((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)))
  })

async function checkPublicAddress(options: ServeOptions, url: string, isRunning: boolean): Promise<DoctorFinding> {
  const subject = 'public address'
  if (!isRunning)
    return warning(subject, `${url} was not tried, because no server runs here. Start it, then run this again.`)
  const reason = await isRoomkeeper(url, false)
  if (reason !== undefined) {
    return failed(
      subject,
      `${url} does not reach this server: ${reason}. Check --public-url, the proxy, the name and the certificate.`,
    )
  }
  if (options.publicUrl !== undefined) return ok(subject, `${url} leads to a Roomkeeper.`)
  return isLoopbackHost(options.host)
    ? warning(subject, `Only this machine can use ${url}. Set --public-url before others do, and before devices enrol.`)
    : warning(subject, `Links and devices get ${url}. Set --public-url to the address that they can reach.`)
}

async function checkDevicesView(
  options: ServeOptions,
  publicUrl: string,
  isRunning: boolean,
): Promise<DoctorFinding[]> {
  const subject = 'devices'
  const portOf = (port: number | 'off') => (port === 'off' || port === 0 ? undefined : port)
  const listeners = { mqttPort: portOf(options.mqttPort), mqttsPort: portOf(options.mqttTlsPort), close: () => {} }
  const addresses = connectAddresses(publicUrl, listeners, options)
  if (!isRunning) return [warning(subject, `${addresses.join(' and ')} were not tried, because no server runs here.`)]
  return Promise.all(
    addresses.map(async (address) => {
      const reason = await deviceRefusal(address)
      return reason === undefined
        ? ok(subject, `A device can connect to ${address}.`)
        : failed(
            subject,
            `A device cannot connect to ${address}: ${reason}. Check the proxy, the firewall and the certificate.`,
          )
    }),
  )
}

/** Connects as a device with a wrong credential would. The service must read and refuse it; any other end is returned as the reason. */
async function deviceRefusal(address: string): Promise<string | undefined> {
  const id = randomUUID()
  try {
    const client = await connectAsync(
      address,
      {
        clientId: id,
        username: id,
        password: 'doctor',
        protocolVersion: 4,
        connectTimeout: answerTimeoutMs,
        reconnectPeriod: 0,
      },
      false,
    )
    await client.endAsync(true)
    return 'a wrong credential was accepted, so this is not Roomkeeper'
  } catch (error) {
    return credentialRefusedCodes.includes((error as { code?: unknown }).code) ? undefined : reasonOf(error)
  }
}

const reachableHost = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
