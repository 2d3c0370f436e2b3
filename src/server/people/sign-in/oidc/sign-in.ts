// Signs a person in who comes back from the provider: finds or makes the user, starts the session, or refuses. [contract 11.oidc]

import { dayMs } from '../../../../contract/durations.ts'
import { emailKey } from '../../../../contract/text.ts'
import type { Org } from '../../../auth/token-holder.ts'
import type { RequestOrigin } from '../../../context/request-context.ts'
import type { Services } from '../../../context/services.ts'
import type { OrgReader, Tx } from '../../../db/handles.ts'
import { nextId } from '../../../db/queries/next-id.ts'
import { change } from '../../../journal/audit/change.ts'
import { auditRef } from '../../../journal/audit/change-result.ts'
import { identityHash, type ProviderIdentitySettings, readIdentity } from '../../identity/settings.ts'
import { systemSignInContext } from '../../sessions/sign-in-context.ts'
import { type SignedInUser, signInContext, startUserSession } from '../../sessions/user-sessions.ts'
import { findUserByIdentity, insertIdentity, updateUserByGroup } from '../../users/identity-store.ts'
import { insertUser, raiseUserVersion, updateRegionsOfUser } from '../../users/store.ts'
import { type AdmissionDecision, type AdmissionRefusal, decideAdmission } from './admission.ts'
import type { ProviderIdentity } from './identity-claims.ts'
import type { ProviderSignIn } from './provider-client.ts'

/** A session that a provider vouched for ends after this time, however much it is used. */
const sessionLifetimeMs = dayMs

export interface SignInRequest {
  readonly org: Org
  readonly settings: ProviderIdentitySettings
  /** The hash of the settings with which the sign-in began. */
  readonly settingsVersion: string
  readonly signedIn: ProviderSignIn
  readonly sessionUserId: number | undefined
  readonly browser: string | undefined
  readonly origin: RequestOrigin
}

/** The person may not sign in. */
export class SignInRefused extends Error {
  readonly reason: AdmissionRefusal

  constructor(reason: AdmissionRefusal) {
    super(reason)
    this.reason = reason
  }
}

/** An owner has turned the provider off, or changed its settings, since the sign-in began. */
export class SettingsChanged extends Error {}

/** The provider may take its time to answer, so the settings are looked at again before a refusal, and in each transaction. */
async function requireSameSettings(
  on: OrgReader,
  { secrets }: Services,
  { settingsVersion }: SignInRequest,
): Promise<void> {
  const identity = await readIdentity(on, secrets)
  if (!identity.settings.enabled || identityHash(secrets, identity) !== settingsVersion) throw new SettingsChanged()
}

/** Returns the secret of the new session. Throws SignInRefused if the person may not sign in, or SettingsChanged. */
export async function signInByProvider(services: Services, request: SignInRequest): Promise<string> {
  const { org, signedIn, browser, origin } = request
  const user = await admitUser(services, request)
  const { issuer, subject, sid, refreshToken } = signedIn
  return startUserSession(
    signInContext(services, org, user, origin),
    user,
    {
      via: 'oidc',
      browser,
      expiresAt: services.clock.now() + sessionLifetimeMs,
      oidcSid: sid,
      refreshToken,
    },
    async (tx) => {
      await requireSameSettings(tx, services, request)
      // The user may have been disabled or unlinked since the decision.
      const current = await findUserByIdentity(tx, { issuer, subject })
      if (current?.id !== user.id) throw new SignInRefused('unknown')
      if (current.state === 'DISABLED') throw new SignInRefused('disabled')
    },
  )
}

const changeIds = {
  known: 'userUpdateBySignIn',
  link: 'userLink',
  create: 'userCreateBySignIn',
} as const

/** Decides without a transaction first, because most sign-ins change nothing; a change decides again inside of its own. */
async function admitUser(services: Services, request: SignInRequest): Promise<SignedInUser> {
  const { org, settings, signedIn, sessionUserId, origin } = request
  const reader = services.db.forOrg(org.key)
  const first = await decideAdmission(reader, settings, signedIn, sessionUserId)
  if (first.kind === 'refuse') {
    await requireSameSettings(reader, services, request)
    throw new SignInRefused(first.reason)
  }
  if (first.kind === 'known' && !first.regrant) return first.user
  const ctx =
    first.kind === 'create'
      ? systemSignInContext(services, org, origin)
      : signInContext(services, org, first.user, origin)
  return change(ctx, changeIds[first.kind], async (tx) => {
    await requireSameSettings(tx, services, request)
    const decision = await decideAdmission(tx, settings, signedIn, sessionUserId)
    if (decision.kind === 'refuse') throw new SignInRefused(decision.reason)
    const user = await applyAdmission(tx, decision, signedIn, services.clock.now())
    const regrant = decision.kind === 'create' ? { before: undefined, after: decision.grant } : decision.regrant
    return {
      result: user,
      target: auditRef('user', { id: user.id, name: user.email }),
      ...(regrant?.before && { before: { ...regrant.before } }),
      after: { ...regrant?.after, issuer: signedIn.issuer, subject: signedIn.subject },
    }
  })
}

async function applyAdmission(
  tx: Tx,
  decision: Exclude<AdmissionDecision, { kind: 'refuse' }>,
  { issuer, subject, name }: ProviderIdentity,
  at: number,
): Promise<SignedInUser> {
  if (decision.kind === 'create') {
    const { email, grant } = decision
    const id = await nextId(tx, 'user')
    await insertUser(tx, {
      id,
      email,
      email_key: emailKey(email),
      name: name ?? null,
      role: grant.role,
      all_regions: grant.allRegions ? 1 : 0,
      state: 'ACTIVE',
      // A group let the person in, and no owner invited them: another provider must not lead to them by their address.
      invited_at: null,
    })
    await updateRegionsOfUser(tx, id, grant.regionIds)
    await insertIdentity(tx, { issuer, subject, user: id, at })
    return { id, email, role: grant.role }
  }
  const { user, regrant, kind } = decision
  if (kind === 'link') await insertIdentity(tx, { issuer, subject, user: user.id, at })
  if (regrant) {
    const { role, allRegions, regionIds } = regrant.after
    await updateUserByGroup(tx, { id: user.id, role, all_regions: allRegions ? 1 : 0, regionIds })
  } else await raiseUserVersion(tx, { user: user.id })
  return user
}
