// Speaks OpenID Connect with the sign-in providers of organisations: authorisation code with PKCE, refresh, back-channel logout.
import { LRUCache } from 'lru-cache'
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
} from 'openid-client'
import { minuteMs } from '../../../../contract/durations.ts'
import type { OutboundFetch } from '../../../outbound/outbound-fetch.ts'
import { identityOf, isSubject, needsUserInfo, type ProviderIdentity } from './identity-claims.ts'
import { providerErrorOf } from './library-errors.ts'
import { type ProviderLogout, verifyLogoutToken } from './logout-token.ts'
import { ProviderError } from './provider-error.ts'
import { clockToleranceSeconds, tokenVerifier, type VerifyToken } from './provider-keys.ts'

/** How long the metadata of a provider is cached. Keys are fetched again whenever a token names an unknown one. */
const discoveryTtlMs = 5 * minuteMs
const maxCachedProviders = 200

export interface ProviderSettings {
  readonly issuer: string
  readonly clientId: string
  /** A public client has none. */
  readonly clientSecret?: string
  /** `openid` is added if it is missing. */
  readonly scopes: readonly string[]
  readonly groupsClaim?: string
  /** Is another one after every change of the settings, so that nothing cached or begun with the old ones is used. */
  readonly version: string
}

/** The secrets of one sign-in. The browser keeps them in a sealed cookie between the two steps. */
export interface FlowSecrets {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface ProviderSignIn extends ProviderIdentity {
  readonly refreshToken?: string
}

interface Refreshed {
  /** Is the one for the next time. */
  readonly refreshToken: string
  /** Is not verified yet. */
  readonly idToken?: string
}

interface Provider {
  readonly host: string
  readonly config: Configuration
  readonly verify: VerifyToken
}

/** All methods reject with a ProviderError only. */
export class ProviderClient {
  readonly #providers: LRUCache<string, Provider, ProviderSettings>

  constructor(outboundFetch: OutboundFetch) {
    this.#providers = new LRUCache({
      max: maxCachedProviders,
      ttl: discoveryTtlMs,
      // Concurrent callers share one request, and a failure is not cached.
      fetchMethod: (_key, _stale, { context }) => discover(outboundFetch, context),
    })
  }

  /** Returns where to send the browser, and what to check when it comes back. */
  async begin(settings: ProviderSettings, redirectUri: string): Promise<FlowSecrets & { readonly url: string }> {
    return this.#with(settings, async ({ config }) => {
      const flow = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() }
      const url = buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: [...new Set(['openid', ...settings.scopes])].join(' '),
        code_challenge: await calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: 'S256',
        state: flow.state,
        nonce: flow.nonce,
      })
      return { ...flow, url: url.href }
    })
  }

  /** Takes the address that the browser came back to: the redirect URI with the parameters of the provider. */
  async finish(settings: ProviderSettings, callback: URL, flow: FlowSecrets): Promise<ProviderSignIn> {
    return this.#with(settings, async ({ config, verify, host }) => {
      checkCallback(config, callback.searchParams, flow, host)
      const tokens = await authorizationCodeGrant(config, callback, {
        expectedState: flow.state,
        expectedNonce: flow.nonce,
        pkceCodeVerifier: flow.verifier,
      })
      // openid-client trusts the connection to the provider, and checks all of an ID token but its signature.
      await verify(tokens.id_token ?? '', { refetch: true })
      const idToken = tokens.claims()
      if (!idToken) throw new ProviderError('token', host)
      if (!isSubject(idToken.sub)) throw new ProviderError('subject', host)
      const { groupsClaim } = settings
      const hasUserInfo = config.serverMetadata().userinfo_endpoint !== undefined
      const userInfo =
        hasUserInfo && needsUserInfo(idToken, groupsClaim)
          ? await fetchUserInfo(config, tokens.access_token, idToken.sub)
          : {}
      const refreshToken = tokens.refresh_token
      return { ...identityOf(idToken, userInfo, groupsClaim), ...(refreshToken === undefined ? {} : { refreshToken }) }
    })
  }

  /**
   * Asks the provider whether the person may still sign in. Only a ProviderError with the reason `invalid_grant` says that the person
   * may not; with others the provider gave no answer to the question. The caller stores the refresh token, and only then calls
   * verifyRefreshed: the old refresh token may not work again, whatever comes of the ID token.
   */
  async refresh(settings: ProviderSettings, refreshToken: string): Promise<Refreshed> {
    return this.#with(settings, async ({ config }) => {
      const tokens = await refreshTokenGrant(config, refreshToken)
      const idToken = tokens.id_token
      return { refreshToken: tokens.refresh_token ?? refreshToken, ...(idToken === undefined ? {} : { idToken }) }
    })
  }

  /** A provider may send an ID token with a refresh. It must be about the same person. */
  async verifyRefreshed(settings: ProviderSettings, { idToken }: Refreshed, subject: string): Promise<void> {
    if (idToken === undefined) return
    return this.#with(settings, async ({ verify, host }) => {
      const { payload } = await verify(idToken, { refetch: true })
      if (payload.sub !== subject) throw new ProviderError('subject', host)
    })
  }

  /** Verifies a token that anybody may have sent to the back-channel address. */
  async logout(settings: ProviderSettings, logoutToken: string): Promise<ProviderLogout> {
    return this.#with(settings, ({ verify, host }) => verifyLogoutToken(verify, logoutToken, host))
  }

  async #with<T>(settings: ProviderSettings, work: (provider: Provider) => Promise<T>): Promise<T> {
    const key = JSON.stringify([settings.issuer, settings.clientId, settings.version])
    try {
      const provider = await this.#providers.forceFetch(key, { context: settings })
      return await work(provider)
    } catch (error) {
      throw providerErrorOf(error, URL.parse(settings.issuer)?.host ?? settings.issuer)
    }
  }
}

async function discover(outboundFetch: OutboundFetch, settings: ProviderSettings): Promise<Provider> {
  const { clientId, clientSecret } = settings
  const issuer = new URL(settings.issuer)
  const { host } = issuer
  // openid-client would take such an address for the metadata, and then not compare the issuer.
  if (issuer.pathname.includes('/.well-known/')) throw new ProviderError('issuer', host)
  const isInsecure = issuer.protocol === 'http:'
  const config = await discovery(
    issuer,
    clientId,
    { [clockTolerance]: clockToleranceSeconds },
    (server, ...rest) => clientAuthOf(server, clientSecret)(server, ...rest),
    {
      [customFetch]: fetchFor(outboundFetch),
      // The outbound guard decides where plain HTTP is allowed. A provider with HTTPS must not lead to addresses without it.
      execute: isInsecure ? [allowInsecureRequests] : [],
    },
  )
  const metadata = config.serverMetadata()
  // openid-client makes an exception for directories with several tenants, where every tenant could sign in.
  if (new URL(metadata.issuer).href !== issuer.href) throw new ProviderError('issuer', host)
  const endpoints = [metadata.authorization_endpoint, metadata.token_endpoint, metadata.jwks_uri]
  const protocols = isInsecure ? ['http:', 'https:'] : ['https:']
  if (endpoints.some((url) => !protocols.includes(URL.parse(url ?? '')?.protocol ?? ''))) {
    throw new ProviderError('answer', host)
  }
  const keysUrl = new URL(metadata.jwks_uri ?? '')
  return {
    host,
    config,
    verify: tokenVerifier(outboundFetch, { keysUrl, issuer: metadata.issuer, audience: clientId }),
  }
}

/** A provider that does not name its methods supports HTTP Basic. */
function clientAuthOf(server: Parameters<ClientAuth>[0], secret: string | undefined): ClientAuth {
  if (secret === undefined || secret === '') return None()
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  return methods.includes('client_secret_basic') ? ClientSecretBasic(secret) : ClientSecretPost(secret)
}

const fetchFor =
  (outboundFetch: OutboundFetch): CustomFetch =>
  (url, { method, headers, body, signal }) =>
    outboundFetch(url, {
      method,
      headers,
      ...(body instanceof URLSearchParams ? { body } : {}),
      ...(signal ? { signal } : {}),
    })

/** openid-client checks both too, but its errors do not say which was wrong. [RFC 9207] */
function checkCallback(config: Configuration, params: URLSearchParams, flow: FlowSecrets, host: string): void {
  const states = params.getAll('state')
  if (states.length !== 1 || states[0] !== flow.state) throw new ProviderError('state', host)
  const { issuer, authorization_response_iss_parameter_supported: isAnnounced } = config.serverMetadata()
  const issuers = params.getAll('iss')
  const isRight = issuers.length === 0 ? !isAnnounced : issuers.length === 1 && issuers[0] === issuer
  if (!isRight) throw new ProviderError('issuer', host)
}
