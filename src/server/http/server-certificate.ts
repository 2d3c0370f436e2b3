// Reads the certificate and its key, and gives a renewed one to the listeners without closing their connections.
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, type Server } from 'node:tls'
import { Gauge, type Registry } from 'prom-client'
import type { ServeOptions } from '../config/server-options.ts'
import { StartupError } from '../core/failure.ts'
import type { Log } from '../core/log.ts'

export interface TlsFiles {
  readonly cert: Buffer
  readonly key: Buffer
}

interface TlsPaths {
  readonly cert: string
  readonly key: string
}

/** Returns undefined if the options ask for no HTTPS. */
export function loadCertificate(options: ServeOptions, log: Log): ServerCertificate | undefined {
  const paths = pathsIn(options)
  return paths && new ServerCertificate(paths, readPair(paths), log)
}

/** Returns undefined if the options ask for no HTTPS. */
export function readTlsFiles(options: ServeOptions): TlsFiles | undefined {
  const paths = pathsIn(options)
  return paths && readPair(paths)
}

function pathsIn({ tlsCert, tlsKey }: ServeOptions): TlsPaths | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined)
    throw new StartupError('HTTPS needs both --tls-cert and --tls-key.')
  return { cert: tlsCert, key: tlsKey }
}

export class ServerCertificate {
  readonly #paths: TlsPaths
  readonly #log: Log
  readonly #listeners = new Set<Server>()
  #current: TlsFiles
  /** The last problem that was found, so that it is logged once, and only if it lasts. */
  #problem: { readonly text: string; readonly isLogged: boolean } | undefined

  constructor(paths: TlsPaths, current: TlsFiles, log: Log) {
    this.#paths = paths
    this.#current = current
    this.#log = log
  }

  get files(): TlsFiles {
    return this.#current
  }

  /** When the certificate in use expires, in milliseconds. */
  get expiresAt(): number {
    return expiryOf(this.#current).getTime()
  }

  /** The listener gets every renewed certificate for its new connections. */
  attach(listener: Server): void {
    this.#listeners.add(listener)
    // Node only reports a handshake that fails or takes too long, and leaves the connection open.
    listener.on('tlsClientError', (_error, socket) => socket.destroy())
  }

  /**
   * Reads the files, by their paths, so that a symbolic link may point elsewhere by now. Programs that renew certificates write
   * two files, one after the other: a pair that does not fit together is a problem only if the next check finds it again.
   */
  check({ isRequested = false } = {}): void {
    try {
      const files = readPair(this.#paths)
      const isUnchanged = files.cert.equals(this.#current.cert) && files.key.equals(this.#current.key)
      if (!isUnchanged) refuseExpired(this.#paths, files)
      this.#problem = undefined
      if (isUnchanged) {
        if (isRequested) this.#log.info({ expires: expiryOf(files) }, 'certificate files are unchanged')
        return
      }
      for (const listener of this.#listeners) listener.setSecureContext(files)
      this.#current = files
      this.#log.info({ expires: expiryOf(files) }, 'certificate renewed')
    } catch (error) {
      this.#noteProblem((error as Error).message, isRequested)
    }
  }

  watchExpiry(registry: Registry): void {
    const expiry = () => this.expiresAt / 1000
    new Gauge({
      name: 'roomkeeper_tls_certificate_expiry_timestamp_seconds',
      help: 'When the certificate in use expires, in Unix time.',
      registers: [registry],
      collect() {
        this.set(expiry())
      },
    })
  }

  #noteProblem(text: string, isRequested: boolean): void {
    const isSame = this.#problem?.text === text
    const isLogged = isSame && this.#problem?.isLogged === true
    const logNow = isRequested || (isSame && !isLogged)
    this.#problem = { text, isLogged: isLogged || logNow }
    if (logNow) this.#log.error({ reason: text }, 'certificate not renewed, the one before stays in use')
  }
}

function readPair(paths: TlsPaths): TlsFiles {
  const files = { cert: read('--tls-cert', paths.cert), key: read('--tls-key', paths.key) }
  try {
    createSecureContext(files)
  } catch (error) {
    throw new StartupError(
      `Cannot use --tls-cert ${paths.cert} with --tls-key ${paths.key}: ${(error as Error).message}. They must be a PEM certificate and its own key.`,
    )
  }
  return files
}

function read(option: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new StartupError(`Cannot read ${option} ${file} (${(error as NodeJS.ErrnoException).code}).`)
  }
}

function refuseExpired(paths: TlsPaths, files: TlsFiles): void {
  const expires = expiryOf(files)
  if (expires.getTime() > Date.now()) return
  throw new StartupError(
    `The certificate in --tls-cert ${paths.cert} expired at ${expires.toISOString()}. Put a renewed certificate there.`,
  )
}

/** The server's own certificate is the first one of the chain. */
const expiryOf = ({ cert }: TlsFiles): Date => new X509Certificate(cert).validToDate
