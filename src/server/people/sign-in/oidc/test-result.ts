// Finishes the test of an identity provider: says who would sign in, and notes a test by an owner. [contract 11.oidc]

import { emailKey } from '../../../../contract/text.ts'
import type { Org } from '../../../auth/token-holder.ts'
import { type Actor, RequestContext, type RequestOrigin } from '../../../context/request-context.ts'
import type { Services } from '../../../context/services.ts'
import { RegionAccess } from '../../../core/region-access.ts'
import type { OrgReader } from '../../../db/handles.ts'
import { change } from '../../../journal/audit/change.ts'
import { auditRef } from '../../../journal/audit/change-result.ts'
import type { ProviderIdentitySettings } from '../../identity/settings.ts'
import { identityHash, readIdentity } from '../../identity/settings.ts'
import { updateTested } from '../../identity/store.ts'
import { hasIdentity } from '../../users/identity-store.ts'
import { findUserByEmail } from '../../users/store.ts'
import { type AdmissionDecision, decideAdmission } from './admission.ts'
import type { ProviderIdentity } from './identity-claims.ts'

interface TestRun {
  readonly org: Org
  /** The hash of the settings that the test was begun with. */
  readonly hash: string
  readonly actor: Actor
  readonly identity: ProviderIdentity
}

/** The test links nothing: it changes no user, and starts no session. */
export async function finishTest(
  services: Services,
  { org, hash, actor, identity }: TestRun,
  origin: RequestOrigin,
): Promise<{ readonly decision: AdmissionDecision; readonly isPassed: boolean }> {
  const { secrets, clock } = services
  const who = { org, actor, may: () => false, access: RegionAccess.everything }
  return change(new RequestContext(services, who, origin), 'identityTestFinish', async (tx) => {
    const stored = await readIdentity(tx, secrets)
    const decision = await decideForTest(tx, stored.settings, identity)
    const isOwner = (decision.kind === 'known' || decision.kind === 'link') && decision.user.role === 'owner'
    const isPassed = isOwner && identityHash(secrets, stored) === hash
    if (isPassed) await updateTested(tx, { hash, at: clock.now() })
    return {
      result: { decision, isPassed },
      target: auditRef('identity', { id: org.id, name: identity.issuer }),
      after: { step: 'finished', passed: isPassed, subject: identity.subject, outcome: decision.kind },
    }
  })
}

/** An owner adds their own identity while they are signed in, so the test takes them for signed in. */
async function decideForTest(
  on: OrgReader,
  settings: ProviderIdentitySettings,
  identity: ProviderIdentity,
): Promise<AdmissionDecision> {
  const byAddress = await findUserByEmail(on, { key: emailKey(identity.email ?? '') })
  const isOwner = byAddress?.role === 'owner' && !(await hasIdentity(on, { user: byAddress.id }))
  return decideAdmission(on, settings, identity, isOwner ? byAddress.id : undefined)
}
