// Starts and ends the sessions of people, however they signed in. [contract 11.local]

import { permissionsOfRole, type Role } from '../../../contract/people/permissions.ts'
import { signInFirst } from '../../auth/failures.ts'
import { makeUserSessionSecret, tokenHash } from '../../auth/token.ts'
import type { Org } from '../../auth/token-holder.ts'
import { RequestContext, type RequestOrigin } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import type { Failure } from '../../core/failure.ts'
import { RegionAccess } from '../../core/region-access.ts'
import type { Tx } from '../../db/handles.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { updateSignedIn } from '../users/store.ts'
import { sealRefreshToken } from './refresh-token.ts'
import { deleteSurplusUserSessions, insertUserSession } from './user-session-store.ts'

/** More concurrent sessions than this do not come from one person. */
const maxSessionsPerPerson = 1000

export type SignInWay = 'oidc' | 'passkey' | 'link'

/** The person that a sign-in found. */
export interface SignedInUser {
  readonly id: number
  readonly email: string
  readonly role: Role
}

export interface UserSessionOptions {
  readonly via: SignInWay
  /** The name of the browser, as browserName() reads it from the request. */
  readonly browser?: string | undefined
  /** The latest end of a session that an identity provider vouched for. */
  readonly expiresAt?: number | undefined
  readonly oidcSid?: string | undefined
  /** Is stored sealed. */
  readonly refreshToken?: string | undefined
}

/** The context of a person who is signing in: the audit log names them as the actor. */
export const signInContext = (
  services: Services,
  org: Org,
  user: SignedInUser,
  origin: RequestOrigin,
): RequestContext =>
  new RequestContext(
    services,
    {
      org,
      actor: { type: 'USER', id: String(user.id), name: user.email },
      may: (permission) => permissionsOfRole(user.role, true)[permission],
      access: RegionAccess.everything,
      user: { id: user.id, role: user.role },
    },
    origin,
  )

export const accountDisabled = (): Failure =>
  signInFirst('This account is disabled, so it cannot sign in. Ask an owner of the organisation to enable it.')

/** Starts a session in one audited transaction with the work that proves who it is, and returns the secret of the session. */
export async function startUserSession(
  ctx: RequestContext,
  user: SignedInUser,
  { via, browser, expiresAt, oidcSid, refreshToken }: UserSessionOptions,
  verify: (tx: Tx) => Promise<void> = async () => {},
): Promise<string> {
  const secret = makeUserSessionSecret()
  await change(ctx, 'sessionStart', async (tx) => {
    await verify(tx)
    const now = ctx.clock.now()
    if (!(await updateSignedIn(tx, { user: user.id, at: now }))) throw accountDisabled()
    const hash = tokenHash(secret)
    await insertUserSession(tx, {
      hash,
      user_id: user.id,
      id: await nextId(tx, 'userSession'),
      via,
      created_at: now,
      used_at: now,
      expires_at: expiresAt ?? null,
      ip: ctx.ip ?? null,
      browser: browser ?? null,
      oidc_sid: oidcSid ?? null,
      refresh_token:
        refreshToken === undefined ? null : sealRefreshToken(ctx.secrets, { org: tx.org, hash }, refreshToken),
      checked_at: refreshToken ? now : null,
    })
    await deleteSurplusUserSessions(tx, { user: user.id, max: maxSessionsPerPerson })
    return { result: undefined, target: auditRef('user', { id: user.id, name: user.email }), after: { via } }
  })
  ctx.keysChanged()
  return secret
}
