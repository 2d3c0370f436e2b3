// The settings of an organisation's identity provider, as they are stored and used. [contract 11.oidc]

import { hourMs } from '../../../contract/durations.ts'
import type { Role } from '../../../contract/people/permissions.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { OrgReader } from '../../db/handles.ts'
import { findIdentityRow } from './store.ts'

export interface ProviderGroupRole {
  readonly group: string
  readonly role: Exclude<Role, 'owner'>
  readonly allRegions?: boolean
  readonly regionIds?: readonly number[]
}

/** The client secret is stored beside them, sealed. */
export interface ProviderIdentitySettings {
  readonly issuer?: string
  readonly clientId?: string
  readonly scopes: readonly string[]
  readonly groupsClaim: string
  readonly groupRoles: readonly ProviderGroupRole[]
  readonly trustedDomains: readonly string[]
  readonly createUsers: boolean
  readonly passkeys: boolean
  readonly enabled: boolean
}

export const defaultIdentitySettings: ProviderIdentitySettings = {
  scopes: ['openid', 'email', 'profile'],
  groupsClaim: 'groups',
  groupRoles: [],
  trustedDomains: [],
  createUsers: false,
  passkeys: true,
  enabled: false,
}

export interface StoredIdentity {
  /** 0 while nothing is stored. */
  readonly version: number
  readonly settings: ProviderIdentitySettings
  readonly clientSecret: string | undefined
  /** The hash of the settings that were tested last. */
  readonly testedHash: string | null
  readonly testedAt: number | null
}

export async function readIdentity(on: OrgReader, secrets: Secrets): Promise<StoredIdentity> {
  const row = await findIdentityRow(on)
  return {
    version: row?.version ?? 0,
    settings: settingsIn(row),
    clientSecret: row?.client_secret ? secrets.unseal(row.client_secret, clientSecretContext(on.org)) : undefined,
    testedHash: row?.tested_settings ?? null,
    testedAt: row?.tested_at ?? null,
  }
}

/** Settings that are not stored have their defaults. */
export const settingsIn = (row: { readonly settings: string } | undefined): ProviderIdentitySettings => ({
  ...defaultIdentitySettings,
  ...(row ? (JSON.parse(row.settings) as Partial<ProviderIdentitySettings>) : {}),
})

export const sealClientSecret = (secrets: Secrets, org: number, secret: string): Buffer =>
  secrets.seal(secret, clientSecretContext(org))

export const clientSecretContext = (org: number) => `client secret of organisation ${org}`

/**
 * Identifies everything that decides who may sign in. A test counts for the settings with the same hash only, and so do the state
 * of a sign-in that has begun and cached metadata of the provider.
 */
export function identityHash(secrets: Secrets, { settings, clientSecret }: HashedIdentity): string {
  const { passkeys: _, enabled: __, ...tested } = settings
  const names = Object.keys(defaultIdentitySettings).concat('issuer', 'clientId').sort()
  const text = JSON.stringify([names.map((name) => tested[name as keyof typeof tested] ?? null), clientSecret ?? null])
  return secrets.mac('identity settings', text).toString('base64url')
}
type HashedIdentity = Pick<StoredIdentity, 'settings' | 'clientSecret'>

const testValidMs = hourMs

export const isTested = (secrets: Secrets, identity: StoredIdentity, now: number): boolean =>
  identity.testedAt !== null &&
  identity.testedAt + testValidMs > now &&
  identity.testedHash === identityHash(secrets, identity)
