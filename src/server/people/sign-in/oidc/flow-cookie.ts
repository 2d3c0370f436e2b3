// Keeps the state of a sign-in at a provider in a sealed cookie of the browser that began it.
import type { Actor } from '../../../context/request-context.ts'
import type { Clock } from '../../../core/clock.ts'
import { publicPathOf } from '../../../core/public-path.ts'
import type { Secrets } from '../../../core/secrets.ts'
import { ownPath } from './own-path.ts'
import type { FlowSecrets } from './provider-client.ts'

const flowLifetimeSeconds = 600

/** `state` counts only together with the organisation, the issuer and the version of the settings that it was made for. */
export interface SignInFlow extends FlowSecrets {
  readonly orgId: string
  readonly issuer: string
  readonly settingsVersion: string
  /** `test` tries the settings out, and starts no session. */
  readonly purpose: 'signIn' | 'test'
  /** A path of the console. */
  readonly returnTo: string
  /** The one who asked for the test. */
  readonly testedBy?: Actor
  /** The session that the browser had. It ends, and its user may add the identity. SameSite=Strict hides it on the way back. */
  readonly previousSession?: string
}

interface FlowCookieOptions {
  readonly secrets: Secrets
  readonly clock: Pick<Clock, 'now'>
  readonly publicUrl: string
}

/** Nothing is stored in the service for a visitor who only begins to sign in, so it cannot be filled up that way. */
export class FlowCookie {
  readonly #options: FlowCookieOptions

  constructor(options: FlowCookieOptions) {
    this.#options = options
  }

  /** Returns the `Set-Cookie` header that stores the flow. A second sign-in in the same browser replaces the first. */
  store(flow: SignInFlow): string {
    const { secrets, clock } = this.#options
    const content = { ...flow, returnTo: ownPath(flow.returnTo), endsAt: clock.now() + flowLifetimeSeconds * 1000 }
    const sealed = secrets.seal(JSON.stringify(content), sealContext(flow.orgId))
    return this.#setCookie(flow.orgId, sealed.toString('base64url'), flowLifetimeSeconds)
  }

  /** Returns the `Set-Cookie` header that deletes the flow. */
  expire(orgId: string): string {
    return this.#setCookie(orgId, '', 0)
  }

  /** Reads the flow of this organisation from the `Cookie` header. Undefined if there is none, or it has ended or was changed. */
  read(cookies: string | undefined, orgId: string): SignInFlow | undefined {
    const { secrets, clock } = this.#options
    const start = `${this.#name(orgId)}=`
    const [pair, ...others] = (cookies ?? '')
      .split(';')
      .map((text) => text.trim())
      .filter((text) => text.startsWith(start))
    // If two cookies have the name, an attacker may have set one, so neither is used.
    if (pair === undefined || others.length > 0) return undefined
    try {
      const text = secrets.unseal(Buffer.from(pair.slice(start.length), 'base64url'), sealContext(orgId))
      const { endsAt, ...flow } = JSON.parse(text) as SignInFlow & { readonly endsAt: number }
      return endsAt > clock.now() && flow.orgId === orgId ? flow : undefined
    } catch {
      return undefined
    }
  }

  /** The provider leads the browser back from another site, and with SameSite=Strict the browser would not send the cookie then. */
  #setCookie(orgId: string, value: string, maxAgeSeconds: number): string {
    const path = this.#isOfHost()
      ? '/'
      : `${publicPathOf(this.#options.publicUrl)}/auth/${encodeURIComponent(orgId)}/oidc`
    const secure = this.#isSecure() ? '; Secure' : ''
    return `${this.#name(orgId)}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`
  }

  /** A browser sends the cookies of a host to all its ports, so the name has the port. With the path `/` it has the organisation too. */
  #name(orgId: string): string {
    const { port } = new URL(this.#options.publicUrl)
    const name = port === '' ? 'roomkeeper-oidc' : `roomkeeper-oidc-${port}`
    if (this.#isOfHost()) return `__Host-${name}-${orgId}`
    return this.#isSecure() ? `__Secure-${name}` : name
  }

  /**
   * The prefix `__Host-` makes the browser refuse a cookie that another host of the domain has set: with a planted flow, an attacker
   * could sign another person in as themselves. It needs HTTPS and the path `/`, so that a service below a path has to use `__Secure-`.
   */
  #isOfHost(): boolean {
    return this.#isSecure() && publicPathOf(this.#options.publicUrl) === ''
  }

  #isSecure(): boolean {
    return new URL(this.#options.publicUrl).protocol === 'https:'
  }
}

const sealContext = (orgId: string) => `sign-in flow of organisation ${orgId}`
