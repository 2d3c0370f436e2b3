// Verifies tokens with the public keys of a sign-in provider. Only asymmetric algorithms count: everybody knows public keys.
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose'
import { timeLimits } from '../../../core/time-limits.ts'
import type { OutboundFetch } from '../../../outbound/outbound-fetch.ts'
import { ProviderError } from './provider-error.ts'

/** Providers' clocks may be wrong by this much. */
export const clockToleranceSeconds = 60

const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

/** After a fetch of the keys, forged tokens with unknown key ids cause no further one for this long. */
const keyCooldownMs = 5_000
/** The fetch ends by itself after its own time limit. */
const keyTimeoutMs = timeLimits.outboundRequestMs

/** `refetch` is for tokens that come from the provider itself, whose keys may have been rotated a moment ago. */
export type VerifyToken = (
  token: string,
  options: { readonly refetch: boolean } & Pick<JWTVerifyOptions, 'maxTokenAge' | 'requiredClaims'>,
) => Promise<{ readonly payload: JWTPayload; readonly type: string | undefined }>

export function tokenVerifier(
  outboundFetch: OutboundFetch,
  { keysUrl, issuer, audience }: { readonly keysUrl: URL; readonly issuer: string; readonly audience: string },
): VerifyToken {
  const keys = createRemoteJWKSet(keysUrl, {
    cooldownDuration: keyCooldownMs,
    timeoutDuration: keyTimeoutMs,
    [customFetch]: (url, { headers, method, signal }) => outboundFetch(url, { headers, method, signal }),
  })
  return async (token, { refetch, ...options }) => {
    const verify = () =>
      jwtVerify(token, keys, { ...options, algorithms, issuer, audience, clockTolerance: clockToleranceSeconds })
    const verified = await verify().catch(async (error) => {
      if (!refetch || !(error instanceof errors.JWKSNoMatchingKey)) throw error
      await keys.reload()
      return verify()
    })
    const { payload, protectedHeader } = verified
    // jose does not refuse an `iat` in the future.
    if ((payload.iat ?? 0) > Math.floor(Date.now() / 1000) + clockToleranceSeconds) {
      throw new ProviderError('time', keysUrl.host)
    }
    return { payload, type: protectedHeader.typ }
  }
}
