// Says in one word, with the host, why a sign-in provider or its answer was refused.
import type { OutboundReason } from '../../../outbound/outbound-error.ts'

/** Error codes of OAuth 2.0 and OpenID Connect. Other texts of a provider are never repeated. */
export const oauthErrors = [
  'access_denied',
  'account_selection_required',
  'consent_required',
  'interaction_required',
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'invalid_scope',
  'login_required',
  'server_error',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
] as const

export type ProviderReason =
  | OutboundReason
  | (typeof oauthErrors)[number]
  /** Metadata, the callback or a token names another issuer than the settings. */
  | 'issuer'
  | 'state'
  | 'nonce'
  | 'audience'
  | 'subject'
  /** A token has expired, or is from the future. */
  | 'time'
  | 'algorithm'
  | 'signature'
  /** The text is not a token, or it lacks a claim that its kind must have, or has one that it must not have. */
  | 'token'
  /** The provider sent another status, type or shape than the standards require. */
  | 'answer'

export class ProviderError extends Error {
  readonly reason: ProviderReason
  readonly host: string

  constructor(reason: ProviderReason, host: string) {
    super(`${host}: ${reason}`)
    this.reason = reason
    this.host = host
  }
}
