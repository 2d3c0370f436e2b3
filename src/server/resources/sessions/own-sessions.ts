// Lists the sessions of a signed-in person, and ends one of them. [contract 11.local]

import type { OwnSession } from '../../../contract/people/sign-in.ts'
import { sessionIdleMs } from '../../auth/keyring.ts'
import { contextOf, type RequestOrigin } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { isoTime } from '../../core/clock.ts'
import { mustFind } from '../../core/failure.ts'
import { parseInt32 } from '../../http/input/input.ts'
import { change } from '../audit/change.ts'
import { auditRef } from '../audit/changed.ts'
import type { SignedInPerson } from './browser-sessions.ts'
import { deleteSessionOfUser, listSessionsOfUser } from './user-session-store.ts'
import type { SignInWay } from './user-sessions.ts'

/** The list has no session that has ended by time, even if it was not deleted yet. */
export async function listOwnSessions(
  { db, clock }: Services,
  { org, user, session }: SignedInPerson,
): Promise<{ sessions: OwnSession[] }> {
  const now = clock.now()
  const rows = await listSessionsOfUser(db.forOrg(org.key), { user: user.id })
  // The last use of the current session is written some seconds late.
  const isCurrent = (row: (typeof rows)[number]) => row.hash.equals(session.hash)
  const isOpen = (row: (typeof rows)[number]) =>
    isCurrent(row) || (row.used_at + sessionIdleMs > now && (row.expires_at === null || row.expires_at > now))
  return {
    sessions: rows.filter(isOpen).map((row) => ({
      id: String(row.id),
      via: row.via as SignInWay,
      createdAt: isoTime(row.created_at),
      usedAt: isoTime(isCurrent(row) ? now : row.used_at),
      ...(row.ip !== null && { ip: row.ip }),
      ...(row.browser !== null && { browser: row.browser }),
      current: isCurrent(row),
    })),
  }
}

/** Ends one session of the person, in this browser or another one. */
export async function endOwnSession(
  services: Services,
  person: SignedInPerson,
  sessionId: string,
  origin: RequestOrigin,
): Promise<{ isCurrent: boolean }> {
  const { sessions } = await listOwnSessions(services, person)
  const session = mustFind(
    sessions.find(({ id }) => id === sessionId),
    `session ${sessionId}`,
  )
  await change(contextOf(services, person, origin), 'sessionRevoke', async (tx) => {
    const isDeleted = await deleteSessionOfUser(tx, { user: person.user.id, id: parseInt32(sessionId) ?? 0 })
    mustFind(isDeleted || undefined, `session ${sessionId}`)
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
