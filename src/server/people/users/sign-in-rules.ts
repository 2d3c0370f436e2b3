// Carries out the operations on the sessions of a user and on the ways in which they sign in. [contract 11.user]

import type { RequestContext } from '../../context/request-context.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { deleteKeysOfUser } from '../keys/store.ts'
import { listOpenSessions, sessionView } from '../sessions/session-view.ts'
import { endSessions } from './end-sessions.ts'
import { requireAnotherOwnerWhoSignsIn } from './owners.ts'
import { requireUser } from './rules.ts'
import { unlinkUser } from './store.ts'
import { userView } from './view.ts'

export async function userSessionsList(ctx: RequestContext, userId: string) {
  const user = await requireUser(ctx.db, userId)
  const rows = await listOpenSessions(ctx.db, { user: user.id, now: ctx.clock.now() })
  return { sessions: rows.map(sessionView) }
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

export const usersUnlink = (ctx: RequestContext, userId: string) =>
  change(ctx, 'usersUnlink', async (tx) => {
    const user = await requireUser(tx, userId)
    await requireAnotherOwnerWhoSignsIn(tx, user, 'unlinked')
    const { signsInWith } = userView(user, user.regionIds)
    await unlinkUser(tx, user.id)
    const sessions = await endSessions(tx, user.id, { links: true })
    // An intruder may have made them, and they would work again after the next sign-in.
    const keys = await deleteKeysOfUser(tx, { user: user.id })
    return {
      result: {},
      afterCommit: () => ctx.keysChanged(),
      target: auditRef('user', { id: user.id, name: user.email }),
      before: { signsInWith, sessions },
      affected: keys.map((key) => auditRef('key', key)),
    }
  })
