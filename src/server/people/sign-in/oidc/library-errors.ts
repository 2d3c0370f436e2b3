// Turns the errors of the libraries for OpenID Connect into a ProviderError.
import { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError } from 'openid-client'
import { OutboundError, outboundErrorOf } from '../../../outbound/outbound-error.ts'
import { oauthErrors, ProviderError, type ProviderReason } from './provider-error.ts'

const reasonsOfClaims: Readonly<Record<string, ProviderReason>> = {
  iss: 'issuer',
  issuer: 'issuer',
  aud: 'audience',
  azp: 'audience',
  nonce: 'nonce',
  sub: 'subject',
  exp: 'time',
  nbf: 'time',
  iat: 'time',
}

/** The codes of the errors of jose, and those of openid-client that say more than "answer". */
const reasonsOfCodes: Readonly<Record<string, ProviderReason>> = {
  ERR_JWT_EXPIRED: 'time',
  ERR_JWT_INVALID: 'token',
  ERR_JWS_INVALID: 'token',
  ERR_JWT_CLAIM_VALIDATION_FAILED: 'token',
  ERR_JOSE_ALG_NOT_ALLOWED: 'algorithm',
  ERR_JOSE_NOT_SUPPORTED: 'algorithm',
  ERR_JWKS_NO_MATCHING_KEY: 'signature',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'signature',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'signature',
  ERR_JWKS_TIMEOUT: 'timeout',
}

/** Turns what openid-client, jose and the outbound guard throw into one error. Its text has nothing of the provider's answer. */
export function providerErrorOf(error: unknown, host: string): ProviderError {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (at instanceof ProviderError) return at
    if (at instanceof OutboundError) return new ProviderError(at.reason, at.host)
    const reason = reasonOf(at)
    if (reason) return new ProviderError(reason, host)
  }
  return new ProviderError('answer', host)
}

function reasonOf(error: Error): ProviderReason | undefined {
  if (error instanceof ResponseBodyError || error instanceof AuthorizationResponseError) {
    return oauthErrors.find((code) => code === error.error) ?? 'answer'
  }
  // A challenge at the token endpoint means that the client id or its secret is wrong.
  if (error instanceof WWWAuthenticateChallengeError) return 'invalid_client'
  if (error.name === 'TimeoutError' || error.name === 'AbortError')
    return outboundErrorOf(error, '').reason as 'timeout'
  const { code, claim, cause } = error as { code?: string; claim?: string; cause?: ErrorDetails }
  const details: ErrorDetails = cause instanceof Error ? {} : (cause ?? {})
  const reason = reasonsOfClaims[claim ?? details.claim ?? details.attribute ?? '']
  if (reason) return reason
  // openid-client gives the header of a token only with an algorithm that it refuses.
  if (details.header !== undefined) return 'algorithm'
  if (details.claims !== undefined) return 'token'
  return code === undefined ? undefined : reasonsOfCodes[code]
}

/** openid-client names the part of a token or of metadata that is wrong as the cause of the error. */
interface ErrorDetails {
  readonly claim?: string
  readonly attribute?: string
  readonly header?: unknown
  readonly claims?: unknown
}
