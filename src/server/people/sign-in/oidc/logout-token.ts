// Verifies the token with which a provider says that a person has signed out there. [OpenID Connect Back-Channel Logout 1.0]
import { textOf } from './identity-claims.ts'
import { ProviderError } from './provider-error.ts'
import type { VerifyToken } from './provider-keys.ts'

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'

/** An older token is a replay: the provider sends it when the person signs out. */
const maxTokenAgeSeconds = 300

export interface ProviderLogout {
  readonly issuer: string
  /** Names one session at the provider. If it is absent, all sessions of the subject have ended. */
  readonly sid?: string
  readonly subject?: string
}

export async function verifyLogoutToken(verify: VerifyToken, token: string, host: string): Promise<ProviderLogout> {
  const { payload, type } = await verify(token, {
    refetch: false,
    maxTokenAge: maxTokenAgeSeconds,
    requiredClaims: ['iss', 'aud', 'iat', 'jti', 'events'],
  })
  const { iss = '', jti, sub, sid, nonce, events } = payload
  const hasEvent =
    typeof events === 'object' && events !== null && isObject((events as Record<string, unknown>)[logoutEvent])
  const isLogoutToken = type === undefined || /^(?:application\/)?(?:jwt|logout\+jwt)$/i.test(type)
  const subject = textOf(sub)
  const session = textOf(sid)
  // A nonce is forbidden, so that an ID token can never be sent as a logout token.
  if (!hasEvent || !isLogoutToken || nonce !== undefined || textOf(jti) === undefined || !(subject ?? session)) {
    throw new ProviderError('token', host)
  }
  return {
    issuer: iss,
    ...(session === undefined ? {} : { sid: session }),
    ...(subject === undefined ? {} : { subject }),
  }
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
