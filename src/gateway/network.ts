// The only way from a driver to a device: resolves a name once, checks the address, connects to it, and compares the certificate.
import { X509Certificate } from 'node:crypto'
import { lookup } from 'node:dns'
import { connect, isIP, type Socket } from 'node:net'
import { checkServerIdentity, connect as connectTls, createSecureContext, type TLSSocket } from 'node:tls'
import { isGloballyReachable } from '../network/global-addresses.ts'
import { embeddedIpv4 } from '../network/ipv6.ts'
import { NameLookups, type ResolveName } from '../network/name-lookups.ts'
import {
  type ConnectOptions,
  type DeviceCertificate,
  type DeviceNetwork,
  DriverFailure,
  type TlsConnection,
  type TlsConnectOptions,
} from './driver.ts'
import { isPrivateOrLoopback, type Reach } from './reach.ts'

/** Node refuses these by default. The level 0 of OpenSSL also accepts short keys and SHA-1. */
const oldTls = { minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const

/** Shared by all devices of a gateway. */
export class GatewayNetwork {
  readonly reach: Reach
  readonly #names: NameLookups

  /** Tests resolve names to addresses of their own. */
  constructor(reach: Reach, resolveName: ResolveName = lookup) {
    this.reach = reach
    this.#names = new NameLookups(resolveName)
  }

  forAttempt(): AttemptNetwork {
    return new AttemptNetwork(this.reach, this.#names)
  }

  /** The network of a source: it also reaches the names of --reach-host. */
  forSource(): AttemptNetwork {
    return new SourceNetwork(this.reach, this.#names)
  }
}

/** The network of one attempt to open a session, and of that session. */
class AttemptNetwork implements DeviceNetwork {
  protected readonly reach: Reach
  readonly #names: NameLookups
  /** The certificate that the device showed last, even if it was refused: a test answers with it. */
  shownCertificate: DeviceCertificate | undefined

  constructor(reach: Reach, names: NameLookups) {
    this.reach = reach
    this.#names = names
  }

  protected allows(address: string, _name?: string): boolean {
    return this.reach.allows(address)
  }

  async resolve(host: string): Promise<string> {
    const literal = host.replace(/^\[(.*)\]$/, '$1')
    if (isIP(literal) !== 0) {
      if (this.allows(literal)) return withoutIpv6Form(literal)
      throw this.outOfReach(literal)
    }
    const addresses = await new Promise<string[]>((resolve, reject) => {
      this.#names.resolve(host, (error, found) =>
        error ? reject(failureOf(error, host)) : resolve(found.map(({ address }) => address)),
      )
    })
    const allowed = addresses.filter((address) => this.allows(address, host)).map(withoutIpv6Form)
    const chosen = allowed.find((address) => isIP(address) === 4) ?? allowed[0]
    if (chosen !== undefined) return chosen
    throw this.outOfReach(addresses[0] ?? 'without an address', host)
  }

  async connect(options: ConnectOptions): Promise<Socket> {
    return within(options, (signal) => this.openPlain(options, signal))
  }

  async connectTls(options: TlsConnectOptions): Promise<TlsConnection> {
    const { host } = options
    return within(options, async (signal) => {
      const plain = await this.open(options, signal)
      const name = isIP(host.replace(/^\[(.*)\]$/, '$1')) === 0 ? { servername: host } : {}
      // Most devices sign their own certificate. It is judged below, before anything is sent.
      const socket = connectTls({
        ...name,
        ...(options.allowsOldTls && oldTls),
        ...givenCertificates(options, plain),
        socket: plain,
        host,
        rejectUnauthorized: false,
      })
      await opened(socket, 'secureConnect', signal)
      const certificate = certificateOf(socket, host)
      this.shownCertificate = certificate
      const refusal = refusalOf(certificate, options)
      if (!refusal) return { socket, certificate }
      socket.destroy()
      throw refusal
    })
  }

  protected openPlain(options: ConnectOptions, signal: AbortSignal): Promise<Socket> {
    return this.open(options, signal)
  }

  protected async open(
    { host, port, signal: lifetime }: ConnectOptions,
    signal: AbortSignal,
    check: (address: string) => void = () => {},
  ): Promise<Socket> {
    const address = await abortable(this.resolve(host), signal)
    check(address)
    const socket = connect({ host: address, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000 })
    // An error of a socket without a listener would end the process. Drivers add listeners of their own.
    socket.on('error', () => {})
    const end = () => socket.destroy()
    lifetime.addEventListener('abort', end, { once: true })
    socket.once('close', () => lifetime.removeEventListener('abort', end))
    return opened(socket, 'connect', signal)
  }

  protected outOfReach(address: string, name?: string): DriverFailure {
    const what = name === undefined ? address : `${name} is ${address}, which`
    // The networks come last, because a long reason is cut.
    const reason = `${what} is outside the reach of this gateway. Its option --reach names the networks that it reaches: ${this.reach}.`
    return new DriverFailure('UNREACHABLE', reason)
  }
}

/** The network of a source: a name can lead to public addresses, and a password goes to them with TLS only. */
class SourceNetwork extends AttemptNetwork {
  protected override allows(address: string, name?: string): boolean {
    return name === undefined ? this.reach.allows(address) : this.reach.allowsNamed(name, address)
  }

  protected override openPlain(options: ConnectOptions, signal: AbortSignal): Promise<Socket> {
    return this.open(options, signal, (address) => {
      if (isPrivateOrLoopback(address)) return
      const reason = `${options.host} is ${address}, a public address. The gateway connects to public addresses with TLS only: use https://, mqtts:// or wss://.`
      throw new DriverFailure('UNSUPPORTED', reason)
    })
  }

  protected override outOfReach(address: string, name?: string): DriverFailure {
    const failure = super.outOfReach(address, name)
    if (name === undefined || !isGloballyReachable(address)) return failure
    const reason = `${name} is ${address}, which is outside the reach of this gateway. Start the gateway with --reach-host ${name} to let its sources reach this name.`
    return new DriverFailure('UNREACHABLE', reason)
  }
}

/** Throws a DriverFailure if a certificate or a key cannot be read. */
function givenCertificates({ authority, clientCertificate, clientKey }: TlsConnectOptions, plain: Socket) {
  if (authority === undefined && clientCertificate === undefined) return {}
  try {
    // OpenSSL ignores an authority that it cannot read.
    if (authority !== undefined) new X509Certificate(authority)
    const options = { ca: authority, cert: clientCertificate, key: clientKey }
    return { secureContext: createSecureContext(options) }
  } catch (error) {
    plain.destroy()
    const { code = '' } = error as NodeJS.ErrnoException
    const what =
      'The certificate of the authority, the client certificate or its key cannot be read, or do not belong together'
    throw new DriverFailure('UNSUPPORTED', `${what}${code && ` (${code})`}. Give each of them as PEM.`)
  }
}

/** An IPv4 address that is written as IPv6, `::ffff:a.b.c.d`, needs an IPv4 socket. */
const withoutIpv6Form = (address: string): string =>
  (/^::ffff:/i.test(address) ? embeddedIpv4(address) : undefined) ?? address

/** Ends an attempt that takes longer than its options allow, and says so in words. */
async function within<T>(
  { host, port, timeoutMs, signal }: ConnectOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const limit = new AbortController()
  const end = () => limit.abort(signal.reason)
  signal.addEventListener('abort', end, { once: true })
  const seconds = Math.round(timeoutMs / 1000)
  const late = new DriverFailure(
    'UNREACHABLE',
    `${host} port ${port} did not answer within ${seconds} s. Check that the device is on and in this network.`,
  )
  const timer = setTimeout(() => limit.abort(late), timeoutMs)
  try {
    return await work(limit.signal)
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof DriverFailure ? error : failureOf(error as NodeJS.ErrnoException, host, port)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}

function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason)
    signal.addEventListener('abort', end, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}

/** Resolves when the socket has emitted the event; otherwise the socket is destroyed. */
function opened<S extends Socket>(socket: S, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<S> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      socket.off('error', settle).off('close', onClose).off(event, onOpen)
      signal.removeEventListener('abort', onAbort)
      if (!error) return resolve(socket)
      socket.on('error', () => {}).destroy()
      reject(error)
    }
    const onOpen = () => {
      socket.on('error', () => {})
      settle()
    }
    const onClose = () => settle(Object.assign(new Error('closed'), { code: 'ECONNRESET' }))
    const onAbort = () => settle(signal.reason)
    socket.on('error', settle).on('close', onClose).on(event, onOpen)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}

function certificateOf(socket: TLSSocket, host: string): DeviceCertificate {
  const certificate = socket.getPeerCertificate()
  const isTrusted = socket.authorized && checkServerIdentity(host, certificate) === undefined
  return { fingerprint: certificate.fingerprint256, isTrusted, validUntil: new Date(certificate.valid_to) }
}

function refusalOf(
  { fingerprint, isTrusted }: DeviceCertificate,
  { fingerprint: confirmed, allowsUntrusted }: TlsConnectOptions,
): DriverFailure | undefined {
  if (isTrusted || fingerprint === confirmed?.toUpperCase()) return undefined
  if (confirmed === undefined && allowsUntrusted) return undefined
  // A reason has at most 255 characters, and each fingerprint 95.
  const text =
    confirmed === undefined
      ? `No known authority confirms the certificate of this device. Use Test and save its fingerprint: ${fingerprint}.`
      : `Another certificate: ${fingerprint}, expected: ${confirmed.toUpperCase()}. No password was sent.`
  return new DriverFailure('CHANGED', text)
}

/** The usual errors in words. Others are named by their code. */
function failureOf(cause: NodeJS.ErrnoException, host: string, port?: number): DriverFailure {
  const { code = '', message } = cause
  const at = port === undefined ? host : `${host} port ${port}`
  const words: Record<string, string> = {
    ECONNREFUSED: `${at} refuses connections. Check that the service of the device is on, and the port.`,
    ECONNRESET: `${at} closed the connection.`,
    EPIPE: `${at} closed the connection.`,
    EHOSTUNREACH: `No route to ${host}. Check that the device is on and in this network.`,
    ENETUNREACH: `The gateway has no route to the network of ${host}. Check its network settings.`,
    ETIMEDOUT: `${at} did not answer. Check that the device is on and in this network.`,
    ENOTFOUND: `The name ${host} does not exist. Check it, or use the address of the device.`,
    EAI_AGAIN: `The name server did not answer for ${host}. Try the address of the device.`,
    EPROTO: `${at} does not answer with TLS, or only with a version that is too old.`,
  }
  const isTls = code.startsWith('ERR_SSL') || code === 'ERR_TLS_CERT_ALTNAME_INVALID'
  const text = (isTls ? words.EPROTO : words[code]) ?? `The connection to ${at} failed (${code || message}).`
  return new DriverFailure('UNREACHABLE', text, { cause })
}
