// Decides which user an account of the provider belongs to, and whether that user may sign in. [contract 11.oidc]

import type { Role } from '../../../../contract/people/permissions.ts'
import { emailKey } from '../../../../contract/text.ts'
import type { OrgReader } from '../../../db/handles.ts'
import { listRegions } from '../../../fleet/regions/store.ts'
import type { ProviderGroupRole, ProviderIdentitySettings } from '../../identity/settings.ts'
import { findUserByIdentity, hasIdentity } from '../../users/identity-store.ts'
import { findUserByEmail, listRegionsOfUser } from '../../users/store.ts'
import type { ProviderIdentity } from './identity-claims.ts'

/** Each has a sentence on the page that the person sees. */
export type AdmissionRefusal =
  | 'disabled'
  | 'no group'
  | 'no address'
  | 'unverified address'
  | 'other identity'
  | 'owner'
  | 'not invited'
  | 'unknown'

interface Grant {
  readonly role: Role
  readonly allRegions: boolean
  readonly regionIds: readonly number[]
}

/** Role and regions before and after a change by the groups. */
interface Regrant {
  readonly before: Grant
  readonly after: Grant
}

interface AdmittedUser {
  readonly id: number
  readonly email: string
  readonly role: Role
}

export type AdmissionDecision =
  | { readonly kind: 'refuse'; readonly reason: AdmissionRefusal }
  /** The identity leads to the user already. */
  | { readonly kind: 'known'; readonly user: AdmittedUser; readonly regrant: Regrant | undefined }
  | { readonly kind: 'link'; readonly user: AdmittedUser; readonly regrant: Regrant | undefined }
  | { readonly kind: 'create'; readonly email: string; readonly grant: Grant }

const refuse = (reason: AdmissionRefusal): AdmissionDecision => ({ kind: 'refuse', reason })

/** `sessionUserId` is the user of the session that the browser had when the sign-in began: they may add their own identity. */
export async function decideAdmission(
  on: OrgReader,
  settings: ProviderIdentitySettings,
  identity: ProviderIdentity,
  sessionUserId: number | undefined,
): Promise<AdmissionDecision> {
  const known = await findUserByIdentity(on, { issuer: identity.issuer, subject: identity.subject })
  if (known) return admit(on, 'known', known, settings, identity)
  const { email } = identity
  if (email === undefined) return refuse('no address')
  const isVerified = identity.emailVerified || settings.trustedDomains.includes(domainOf(email))
  if (!isVerified) return refuse('unverified address')
  const user = await findUserByEmail(on, { key: emailKey(email) })
  if (!user) {
    const grant = await grantOf(on, settings, identity)
    // With roles by group an invitation would not help a person who is in none of the groups.
    if (!grant && settings.groupRoles.length > 0) return refuse('no group')
    return grant && settings.createUsers ? { kind: 'create', email, grant } : refuse('unknown')
  }
  // An e-mail address never leads to a user who has an identity: the address may belong to another person today.
  if (await hasIdentity(on, { user: user.id })) return refuse('other identity')
  if (user.id === sessionUserId) return admit(on, 'link', user, settings, identity)
  if (user.role === 'owner') return refuse('owner')
  if (user.state !== 'INVITED' || user.invited_at === null) {
    return refuse(user.state === 'DISABLED' ? 'disabled' : 'not invited')
  }
  return admit(on, 'link', user, settings, identity)
}

type UserRow = NonNullable<Awaited<ReturnType<typeof findUserByIdentity>>>

async function admit(
  on: OrgReader,
  kind: 'known' | 'link',
  { id, email, role, state, all_regions }: UserRow,
  settings: ProviderIdentitySettings,
  identity: ProviderIdentity,
): Promise<AdmissionDecision> {
  if (state === 'DISABLED') return refuse('disabled')
  const user = { id, email, role: role as Role }
  // Groups make no owner, and unmake none.
  if (role === 'owner' || settings.groupRoles.length === 0) return { kind, user, regrant: undefined }
  const grant = await grantOf(on, settings, identity)
  if (!grant) return refuse('no group')
  const before: Grant = {
    role: user.role,
    allRegions: all_regions === 1,
    regionIds: await listRegionsOfUser(on, id),
  }
  const isSame = JSON.stringify(before) === JSON.stringify(grant)
  return { kind, user: { ...user, role: grant.role }, regrant: isSame ? undefined : { before, after: grant } }
}

/** The first entry of the table counts whose group the person has. Regions that were deleted since are left out. */
async function grantOf(
  on: OrgReader,
  { groupRoles }: ProviderIdentitySettings,
  { groups }: ProviderIdentity,
): Promise<Grant | undefined> {
  const match: ProviderGroupRole | undefined = groupRoles.find(({ group }) => groups.includes(group))
  if (!match) return undefined
  const { role, allRegions = false, regionIds = [] } = match
  const existing = regionIds.length === 0 ? [] : (await listRegions(on)).map(({ id }) => id)
  return { role, allRegions, regionIds: existing.filter((id) => regionIds.includes(id)).sort((a, b) => a - b) }
}

const domainOf = (email: string) => email.slice(email.lastIndexOf('@') + 1).toLowerCase()
