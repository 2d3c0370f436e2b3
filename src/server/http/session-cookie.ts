// The console's cookie: its name and attributes, and the proof that a request comes from the console itself. [contract 9.cookie]
import type { FastifyRequest } from 'fastify'
import { Failure } from '../core/failure.ts'

/** The server decides when a session ends; the browser only must not forget it before. */
const keptFor = 30 * 86_400

const challenge = { headers: { 'WWW-Authenticate': 'Bearer realm="roomkeeper"' } }

export const signInFirst = (sentence: string): Failure => new Failure('UNAUTHENTICATED', sentence, challenge)
export const sessionEnded = (): Failure => signInFirst('The session has ended. Sign in again.')

export class SessionCookie {
  readonly #publicUrl: () => string

  constructor(publicUrl: () => string) {
    this.#publicUrl = publicUrl
  }

  /** The secret that the request's cookie holds, whatever it is worth. */
  read(request: FastifyRequest): string | undefined {
    const { cookie } = request.headers
    return cookie === undefined ? undefined : valueIn(cookie, this.#nameFor(request))
  }

  /** The `Set-Cookie` that lets a browser keep a session. */
  keep(request: FastifyRequest, secret: string): string {
    return this.#setting(request, secret, keptFor)
  }

  /** The `Set-Cookie` that lets it forget. */
  forget(request: FastifyRequest): string {
    return this.#setting(request, '', 0)
  }

  /** A browser sends the cookie for whoever asks it to: only the console's own pages may. */
  strangerProblem(request: FastifyRequest): Failure | undefined {
    const { 'sec-fetch-site': site, origin } = request.headers
    if (site !== undefined) {
      if (site === 'same-origin') return undefined
      return signInFirst(
        'This request does not come from a page of the console, so nobody is signed in here. Open the console and try there, or send an API key in the header Authorization.',
      )
    }
    if (origin === undefined) {
      return signInFirst(
        'The request does not say where it comes from, so nobody is signed in here. Browsers say it over HTTPS and on localhost: open the console there.',
      )
    }
    if (this.#origins(request).includes(origin.toLowerCase())) return undefined
    return signInFirst(
      'This request comes from a page at another address than this one, so nobody is signed in here. If a proxy is in between, set --public-url to the address that people open.',
    )
  }

  #setting(request: FastifyRequest, value: string, seconds: number): string {
    const secure = this.#isSecure(request) ? '; Secure' : ''
    return `${this.#nameFor(request)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`
  }

  /**
   * A browser gives the cookies of a host to all its ports, so the port that it sees is in the name.
   * With the prefix it refuses one that another host of the same domain has set.
   */
  #nameFor(request: FastifyRequest): string {
    const isSecure = this.#isSecure(request)
    const port = URL.parse(`${isSecure ? 'https' : 'http'}://${request.host}`)?.port
    if (!isSecure) return `roomkeeper-${port || 80}`
    return port ? `__Host-roomkeeper-${port}` : '__Host-roomkeeper'
  }

  /** A proxy that speaks HTTPS to the browser may speak plain HTTP to us. */
  #isSecure(request: FastifyRequest): boolean {
    if (request.protocol === 'https') return true
    const url = URL.parse(this.#publicUrl())
    return url?.protocol === 'https:' && url.host === URL.parse(`https://${request.host}`)?.host
  }

  /** Parsed, because a proxy may name the usual port of a host, and a browser never does. */
  #origins(request: FastifyRequest): (string | undefined)[] {
    return [`${request.protocol}://${request.host}`, this.#publicUrl()].map((url) => URL.parse(url)?.origin)
  }
}

/** The value of one cookie among those of a request. Of two with its name one was planted, and nobody can say which. */
function valueIn(cookies: string, name: string): string | undefined {
  const [value, ...others] = cookies
    .split(';')
    .map((pair) => pair.trim())
    .filter((text) => text.startsWith(`${name}=`))
  return others.length === 0 ? value?.slice(name.length + 1) : undefined
}
