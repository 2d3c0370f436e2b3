// Turns the stored settings of an organisation into what the client of its provider needs.

import type { Secrets } from '../../../core/secrets.ts'
import { identityHash, type StoredIdentity } from '../../identity/settings.ts'
import type { ProviderSettings } from './provider-client.ts'

/** Returns undefined while no provider is set up. */
export function providerSettingsOf(secrets: Secrets, identity: StoredIdentity): ProviderSettings | undefined {
  const { settings, clientSecret } = identity
  const { issuer, clientId, scopes, groupsClaim } = settings
  if (issuer === undefined || clientId === undefined) return undefined
  return {
    issuer,
    clientId,
    ...(clientSecret === undefined ? {} : { clientSecret }),
    scopes,
    groupsClaim,
    version: identityHash(secrets, identity),
  }
}
