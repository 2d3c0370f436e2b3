// Lists the sessions of a signed-in person, and ends one of them. [contract 11.local]

import type { OwnSession } from '../../../contract/people/sign-in.ts'
import { contextOf, type RequestOrigin } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { mustFind } from '../../core/failure.ts'
import { parseInt32 } from '../../core/int32.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import type { UserCaller } from './browser-sessions.ts'
import { listOpenSessions, sessionView } from './session-view.ts'
import { deleteUserSessionById } from './user-session-store.ts'

export async function listOwnSessions(
  { db, clock }: Services,
  { org, user, session }: UserCaller,
): Promise<{ sessions: OwnSession[] }> {
  const now = clock.now()
  const rows = await listOpenSessions(db.forOrg(org.key), { user: user.id, now, current: session.hash })
  return {
    sessions: rows.map((row) => {
      const current = row.hash.equals(session.hash)
      return { ...sessionView(current ? { ...row, used_at: now } : row), current }
    }),
  }
}

/** Ends one session of the person, in this browser or another one. */
export async function endOwnSession(
  services: Services,
  person: UserCaller,
  sessionId: string,
  origin: RequestOrigin,
): Promise<{ isCurrent: boolean }> {
  const { sessions } = await listOwnSessions(services, person)
  const session = mustFind(
    sessions.find(({ id }) => id === sessionId),
    `session ${sessionId}`,
  )
  await change(contextOf(services, person, origin), 'sessionRevoke', async (tx) => {
    const id = parseInt32(sessionId) ?? 0
    mustFind(await deleteUserSessionById(tx, { user: person.user.id, id }), `session ${sessionId}`)
    const { via, createdAt, browser } = session
    return {
      result: undefined,
      target: auditRef('user', person.actor),
      before: { session: sessionId, via, createdAt, ...(browser !== undefined && { browser }) },
    }
  })
  services.keysChanged()
  return { isCurrent: session.current }
}
