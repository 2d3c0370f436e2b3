// The name under which browsers store passkeys for this service, or why they cannot. [contract 11.local]
import { isIP } from 'node:net'

export interface RelyingParty {
  /** The host of the public URL: browsers offer a passkey only to pages of this host. */
  readonly id: string
  /** The only address from which answers of authenticators are accepted. */
  readonly origin: string
}

/** The addresses that decide in which ways people can sign in. */
export interface SignInAddresses {
  /** The value of --public-url. Without it people have no address that an identity provider could lead them back to. */
  readonly publicUrl: string | undefined
  /** The address at which passkeys can be used: --public-url, or localhost. It is known when the server listens. */
  readonly passkeyUrl: () => string | undefined
}

/** Takes the address at which people open the console, not one that is only assumed. */
export function relyingPartyOf(publicUrl: string | undefined): RelyingParty | undefined {
  if (publicUrl === undefined || passkeyProblemOf(publicUrl) !== undefined) return undefined
  const { hostname, origin } = new URL(publicUrl)
  return { id: hostname, origin }
}

/** Returns why passkeys cannot be used, and what to do, or undefined if they can. */
export function passkeyProblemOf(publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined) {
    return 'Passkeys are off, because the server does not know its address. Start it with --public-url.'
  }
  const { hostname, protocol } = new URL(publicUrl)
  if (isIP(hostname.replaceAll(/^\[|\]$/g, '')) !== 0) {
    return `Passkeys are off, because browsers bind them to a name and ${hostname} is an IP address. Set --public-url to an address with a host name.`
  }
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  if (protocol !== 'https:' && !isLocal) {
    return 'Passkeys are off, because browsers allow them over HTTPS only. Set --public-url to an https address.'
  }
  return undefined
}

/** Returns why people cannot sign in with a company account, and what to do, or undefined if they can. [contract 11.oidc] */
export const providerProblemOf = (publicUrl: string | undefined): string | undefined =>
  publicUrl === undefined
    ? 'Sign-in with a company account is off, because the server does not know its address. Start it with --public-url.'
    : undefined
