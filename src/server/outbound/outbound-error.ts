// Says in one word, with the host, why a request of the server to another service failed.
import { isIP } from 'node:net'

/** Nothing of the other service's answer is in here, because the error is shown to people and written into logs. */
export type OutboundReason =
  | 'address not allowed'
  | 'certificate'
  | 'https required'
  | 'redirect'
  | 'refused'
  | 'timeout'
  | 'tls'
  | 'too large'
  | 'unknown host'
  | 'unreachable'

export class OutboundError extends Error {
  readonly reason: OutboundReason
  /** With the port, if it is not the default one. */
  readonly host: string

  /** The status of the answer, if there was one. */
  readonly status: number | undefined

  constructor(reason: OutboundReason, host: string, status?: number) {
    super(`${host}: ${reason}`)
    this.reason = reason
    this.status = status
    this.host = host
  }
}

const reasonsOfCodes: Readonly<Record<string, OutboundReason>> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'unknown host',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  CERT_HAS_EXPIRED: 'certificate',
  CERT_NOT_YET_VALID: 'certificate',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate',
}

/** `fetch` wraps the error of the connection, in one layer or several. Everything unknown counts as unreachable. */
export function outboundErrorOf(error: unknown, host: string): OutboundError {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (at instanceof OutboundError) return at
    if (at.name === 'TimeoutError' || at.name === 'AbortError') return new OutboundError('timeout', host)
    const { code } = at as NodeJS.ErrnoException
    const reason = code === undefined ? undefined : (reasonsOfCodes[code] ?? (isTlsCode(code) ? 'tls' : undefined))
    if (reason) return new OutboundError(reason, host)
  }
  return new OutboundError('unreachable', host)
}

const isTlsCode = (code: string) => code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO'

/** Returns the address in a host of a URL, without brackets, or undefined if it is a name. */
export function literalAddress(hostname: string): string | undefined {
  const address = hostname.replace(/^\[|\]$/g, '')
  return isIP(address) === 0 ? undefined : address
}
