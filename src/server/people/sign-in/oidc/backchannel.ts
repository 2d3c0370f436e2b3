// Ends sessions when the provider says over the back channel that a person has signed out there. [contract 11.oidc]

import type { Org } from '../../../auth/token-holder.ts'
import type { RequestOrigin } from '../../../context/request-context.ts'
import type { Services } from '../../../context/services.ts'
import type { Tx } from '../../../db/handles.ts'
import { change } from '../../../journal/audit/change.ts'
import { auditRef } from '../../../journal/audit/change-result.ts'
import {
  deleteProviderSessionsOfUser,
  deleteSessionsBySid,
  deleteSessionsWithoutSid,
} from '../../sessions/provider-session-store.ts'
import { systemSignInContext } from '../../sessions/sign-in-context.ts'
import { findUserByIdentity } from '../../users/identity-store.ts'
import { findUser } from '../../users/store.ts'
import type { ProviderLogout } from './logout-token.ts'

/** A logout of a session that is not known, or has ended already, is no error and leaves no entry. */
export async function endProviderSessions(
  services: Services,
  org: Org,
  logout: ProviderLogout,
  origin: RequestOrigin,
): Promise<void> {
  const nothingEnded = new Error('no session has ended')
  try {
    await change(systemSignInContext(services, org, origin), 'sessionRevoke', async (tx) => {
      const ended = await deleteSessions(tx, logout)
      const [first] = ended
      if (!first) throw nothingEnded
      const user = await findUser(tx, { id: first.user_id })
      return {
        result: undefined,
        target: auditRef('user', { id: first.user_id, name: user?.email ?? '' }),
        after: { reason: 'signed out at the provider', sessions: ended.map(({ id }) => String(id)) },
      }
    })
  } catch (error) {
    if (error !== nothingEnded) throw error
    return
  }
  services.keysChanged()
}

async function deleteSessions(tx: Tx, { issuer, sid, subject }: ProviderLogout) {
  const named = sid === undefined ? [] : await deleteSessionsBySid(tx, { sid })
  if (named.length > 0 || subject === undefined) return named
  const user = await findUserByIdentity(tx, { issuer, subject })
  if (!user) return []
  // Some providers send `sid` in logout tokens but not in ID tokens. Such a session can be found only by its user.
  return sid === undefined
    ? deleteProviderSessionsOfUser(tx, { user: user.id })
    : deleteSessionsWithoutSid(tx, { user: user.id })
}
