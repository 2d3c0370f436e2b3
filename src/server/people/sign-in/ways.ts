// Says which ways to sign in the sign-in page may offer, and why passkeys are off. [contract 11.local]

import type { SignInWays } from '../../../contract/people/sign-in.ts'
import type { Services } from '../../context/services.ts'
import { passkeyProblemOf, relyingPartyOf, type SignInAddresses } from '../../core/relying-party.ts'
import { listOrgs } from '../../journal/orgs/store.ts'
import { listIdentityProviders } from './provider-store.ts'

interface StoredSettings {
  readonly passkeys?: boolean
  readonly enabled?: boolean
}

/** An organisation may turn passkeys off; without settings they are on. */
export const allowsPasskeys = (settings: string | null | undefined): boolean =>
  !settings || (JSON.parse(settings) as StoredSettings).passkeys !== false

export async function listSignInWays(
  { db }: Services,
  { publicUrl, passkeyUrl }: SignInAddresses,
): Promise<SignInWays> {
  const rows = await listIdentityProviders(db.system)
  const isEnabled = ({ settings }: (typeof rows)[number]) => (JSON.parse(settings) as StoredSettings).enabled === true
  return {
    passkeys: await passkeyWay(),
    providers:
      publicUrl === undefined
        ? []
        : rows
            .filter(isEnabled)
            .map(({ orgId, orgName }) => ({ orgId, orgName, url: `${publicUrl}/auth/${orgId}/oidc` })),
  }

  async function passkeyWay(): Promise<SignInWays['passkeys']> {
    const url = passkeyUrl()
    const party = relyingPartyOf(url)
    if (!party || url === undefined) return { available: false, reason: passkeyProblemOf(url) ?? '' }
    const isOffEverywhere =
      rows.some(({ settings }) => !allowsPasskeys(settings)) &&
      rows.filter(({ settings }) => !allowsPasskeys(settings)).length === (await listOrgs(db.system)).length
    if (isOffEverywhere) return { available: false, reason: passkeysTurnedOff }
    return { available: true, origin: party.origin, url }
  }
}

export const passkeysTurnedOff =
  'Passkeys are turned off in this organisation. Sign in with the company account or a link, or ask an owner to turn them on.'
