// Says which ways to sign in the sign-in page may offer, and why others are off. [contract 11.local]

import type { SignInWays } from '../../../contract/people/sign-in.ts'
import type { Services } from '../../context/services.ts'
import { passkeyProblemOf, providerProblemOf, relyingPartyOf } from '../../core/relying-party.ts'
import { listOrgs } from '../orgs/store.ts'
import { listIdentityProviders } from './provider-store.ts'

interface StoredSettings {
  readonly passkeys?: boolean
  readonly enabled?: boolean
}

/** An organisation may turn passkeys off; without settings they are on. */
export const allowsPasskeys = (settings: string | null | undefined): boolean =>
  !settings || (JSON.parse(settings) as StoredSettings).passkeys !== false

/** `publicUrl` is the value of --public-url. */
export async function listSignInWays({ db }: Services, publicUrl: string | undefined): Promise<SignInWays> {
  const rows = await listIdentityProviders(db.system)
  const providersReason = providerProblemOf(publicUrl)
  const isEnabled = ({ settings }: (typeof rows)[number]) => (JSON.parse(settings) as StoredSettings).enabled === true
  return {
    passkeys: await passkeyWay(),
    providers:
      publicUrl === undefined
        ? []
        : rows
            .filter(isEnabled)
            .map(({ orgId, orgName }) => ({ orgId, orgName, url: `${publicUrl}/auth/${orgId}/oidc` })),
    ...(providersReason !== undefined && { providersReason }),
  }

  async function passkeyWay(): Promise<SignInWays['passkeys']> {
    const party = relyingPartyOf(publicUrl)
    if (!party) return { available: false, reason: passkeyProblemOf(publicUrl) ?? '' }
    const isOffEverywhere =
      rows.some(({ settings }) => !allowsPasskeys(settings)) &&
      rows.filter(({ settings }) => !allowsPasskeys(settings)).length === (await listOrgs(db.system)).length
    if (isOffEverywhere) return { available: false, reason: passkeysTurnedOff }
    return { available: true, origin: party.origin }
  }
}

export const passkeysTurnedOff =
  'Passkeys are turned off in this organisation. Sign in with the company account or a link, or ask an owner to turn them on.'
