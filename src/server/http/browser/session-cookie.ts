// Reads and writes the console's session cookie, and checks that a request with it comes from the console's own pages. [contract 9.cookie]
import type { FastifyRequest } from 'fastify'
import { daySeconds } from '../../../contract/durations.ts'
import { signInFirst } from '../../auth/failures.ts'
import type { Failure } from '../../core/failure.ts'
import { publicPathOf } from '../../core/public-path.ts'

/** The server decides when a session ends, so the cookie must only live longer than any session. */
const cookieMaxAgeSeconds = 30 * daySeconds

export class SessionCookie {
  readonly #publicUrl: () => string

  constructor(publicUrl: () => string) {
    this.#publicUrl = publicUrl
  }

  /** Returns the secret in the request's cookie, which may be invalid. */
  read(request: FastifyRequest): string | undefined {
    const { cookie } = request.headers
    return cookie === undefined ? undefined : valueIn(cookie, this.#nameFor(request))
  }

  /** Returns the `Set-Cookie` header that stores a session in the browser. */
  store(request: FastifyRequest, secret: string): string {
    return this.#setCookie(request, secret, cookieMaxAgeSeconds)
  }

  /** Returns the `Set-Cookie` header that deletes it. */
  expire(request: FastifyRequest): string {
    return this.#setCookie(request, '', 0)
  }

  /** Protects against CSRF: a browser sends the cookie with requests of any page, but only the console's own pages may use it. */
  originProblem(request: FastifyRequest): Failure | undefined {
    const { 'sec-fetch-site': site, origin } = request.headers
    if (site !== undefined) {
      if (site === 'same-origin') return undefined
      return signInFirst(
        'The session cookie was not accepted, because the request does not come from a page of the console. Open the console and try there, or send an API key in the header Authorization.',
      )
    }
    if (origin === undefined) {
      return signInFirst(
        'The session cookie was not accepted, because the request has no Sec-Fetch-Site or Origin header. Browsers send one over HTTPS and on localhost: open the console there.',
      )
    }
    if (this.#origins(request).includes(origin.toLowerCase())) return undefined
    return signInFirst(
      'The session cookie was not accepted, because the request comes from a page of another origin. Behind a proxy, set --public-url to the address that people open.',
    )
  }

  #setCookie(request: FastifyRequest, value: string, maxAgeSeconds: number): string {
    const secure = this.#isSecure(request) ? '; Secure' : ''
    const path = this.#pathFor(request)
    return `${this.#nameFor(request)}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`
  }

  /**
   * A browser sends the cookies of a host to all its ports, so the name contains the port that the browser sees.
   * The prefix `__Host-` makes the browser refuse a cookie that another host of the domain has set. It does not allow a path, so
   * that a service below a path has to use `__Secure-`.
   */
  #nameFor(request: FastifyRequest): string {
    const isSecure = this.#isSecure(request)
    const port = URL.parse(`${isSecure ? 'https' : 'http'}://${request.host}`)?.port
    if (!isSecure) return `roomkeeper-${port || 80}`
    const prefix = this.#pathFor(request) === '/' ? '__Host-' : '__Secure-'
    return port ? `${prefix}roomkeeper-${port}` : `${prefix}roomkeeper`
  }

  /** Services below different paths of one host must not overwrite each other's cookies. */
  #pathFor(request: FastifyRequest): string {
    return `${publicPathOf(this.#publicUrlOf(request)?.href ?? '')}/`
  }

  /** A proxy that serves HTTPS to the browser may forward plain HTTP. */
  #isSecure(request: FastifyRequest): boolean {
    if (request.protocol === 'https') return true
    return this.#publicUrlOf(request)?.protocol === 'https:'
  }

  /** Returns the public URL if the request was sent to its host. */
  #publicUrlOf(request: FastifyRequest): URL | undefined {
    const url = URL.parse(this.#publicUrl())
    return url && url.host === URL.parse(`${url.protocol}//${request.host}`)?.host ? url : undefined
  }

  /** Addresses are parsed, because a proxy may add the default port to a host, and a browser never does. */
  #origins(request: FastifyRequest): (string | undefined)[] {
    return [`${request.protocol}://${request.host}`, this.#publicUrl()].map((url) => URL.parse(url)?.origin)
  }
}

/** Returns the value of one cookie of a request. If two have the name, an attacker may have set one, so neither is used. */
function valueIn(cookies: string, name: string): string | undefined {
  const [value, ...others] = cookies
    .split(';')
    .map((pair) => pair.trim())
    .filter((text) => text.startsWith(`${name}=`))
  return others.length === 0 ? value?.slice(name.length + 1) : undefined
}
