// Records refused sign-ins of known people in the audit log, at most once an hour for each identity. [contract 11.local]

import { hourMs } from '../../../contract/durations.ts'
import type { Org } from '../../auth/token-holder.ts'
import type { RequestOrigin } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { change } from '../../journal/audit/change.ts'
import type { AuditRef } from '../../journal/audit/change-result.ts'
import { findRefusal, writeRefusal } from './refusal-store.ts'
import { systemSignInContext } from './sign-in-context.ts'
import type { SignInWay } from './user-sessions.ts'

/** Attempts in quick succession must not fill the audit log. */
export const refusalPauseMs = hourMs

export interface RefusedSignIn {
  /** Names the person or account whose attempts are counted together. */
  readonly identity: string
  readonly target: AuditRef
  readonly via: SignInWay
  /** A sentence or a code, without anything secret. */
  readonly reason: string
}

export async function recordRefusedSignIn(
  services: Services,
  org: Org,
  { identity, target, via, reason }: RefusedSignIn,
  origin: RequestOrigin,
): Promise<void> {
  const now = services.clock.now()
  const before = now - refusalPauseMs
  const last = await findRefusal(services.db.forOrg(org.key), { identity })
  if (last && last.refused_at > before) return
  const alreadyRecorded = new Error('another request has recorded this refusal')
  try {
    await change(systemSignInContext(services, org, origin), 'signInRefuse', async (tx) => {
      if (!(await writeRefusal(tx, { identity, at: now, before }))) throw alreadyRecorded
      return { result: undefined, target, after: { via, reason } }
    })
  } catch (error) {
    if (error !== alreadyRecorded) throw error
  }
}
