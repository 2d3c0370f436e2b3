// Carries out the operations on the sessions of a user and on the ways in which they sign in. [contract 11.user]

import type { Static } from 'typebox'
import type { UserSession } from '../../../contract/people/users.ts'
import { sessionIdleMs } from '../../auth/keyring.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { isoTime } from '../../core/clock.ts'
import { change } from '../audit/change.ts'
import { auditRef } from '../audit/changed.ts'
import { deleteKeysOfUser } from '../keys/store.ts'
import { listSessionsOfUser } from '../sessions/user-session-store.ts'
import { endSessions } from './end-sessions.ts'
import { requireAnotherOwnerWhoSignsIn } from './owners.ts'
import { requireUser } from './rules.ts'
import { unlinkUser } from './store.ts'
import { userView } from './view.ts'

export async function userSessionsList(ctx: RequestContext, userId: string) {
  const user = await requireUser(ctx.db, userId)
  const now = ctx.clock.now()
  // Sessions that have ended are deleted some time later.
  const current = (await listSessionsOfUser(ctx.db, { user: user.id })).filter(
    ({ used_at, expires_at }) => used_at + sessionIdleMs > now && (expires_at === null || expires_at > now),
  )
  return { sessions: current.map(sessionView) }
}

export async function userSessionsDelete(ctx: RequestContext, userId: string) {
  await change(ctx, 'userSessionsDelete', async (tx) => {
    const user = await requireUser(tx, userId)
    const sessions = await endSessions(tx, user.id)
    return { result: undefined, target: auditRef('user', { id: user.id, name: user.email }), before: { sessions } }
  })
  ctx.keysChanged()
  return {}
}

export async function usersUnlink(ctx: RequestContext, userId: string) {
  await change(ctx, 'usersUnlink', async (tx) => {
    const user = await requireUser(tx, userId)
    await requireAnotherOwnerWhoSignsIn(tx, user, 'unlinked')
    const { signsInWith } = userView(user, user.regionIds)
    await unlinkUser(tx, user.id)
    const sessions = await endSessions(tx, user.id, { links: true })
    // An intruder may have made them, and they would work again after the next sign-in.
    const keys = await deleteKeysOfUser(tx, { user: user.id })
    return {
      result: undefined,
      target: auditRef('user', { id: user.id, name: user.email }),
      before: { signsInWith, sessions },
      affected: keys.map((key) => auditRef('key', key)),
    }
  })
  ctx.keysChanged()
  return {}
}

type SessionRow = Awaited<ReturnType<typeof listSessionsOfUser>>[number]

const sessionView = ({ id, via, created_at, used_at, ip, browser }: SessionRow): Static<typeof UserSession> => ({
  id: String(id),
  via: via as Static<typeof UserSession>['via'],
  createdAt: isoTime(created_at),
  usedAt: isoTime(used_at),
  ...(ip !== null && { ip }),
  ...(browser !== null && { browser }),
})
