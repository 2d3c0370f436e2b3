// Shows the open sessions of a person, to owners and to the person. [contract 11.user] [contract 11.local]

import type { Static } from 'typebox'
import type { UserSession } from '../../../contract/people/users.ts'
import { sessionIdleMs } from '../../auth/keyring.ts'
import { isoTime } from '../../core/clock.ts'
import type { OrgReader } from '../../db/handles.ts'
import { listSessionsOfUser } from './user-session-store.ts'

type SessionRow = Awaited<ReturnType<typeof listSessionsOfUser>>[number]

/** Sessions that have ended by time are deleted some time later. The last use of the `current` one is written some seconds late. */
export async function listOpenSessions(
  on: OrgReader,
  { user, now, current }: { user: number; now: number; current?: Buffer },
): Promise<SessionRow[]> {
  const isCurrent = ({ hash }: SessionRow) => current !== undefined && hash.equals(current)
  const isOpen = ({ used_at, expires_at }: SessionRow) =>
    used_at + sessionIdleMs > now && (expires_at === null || expires_at > now)
  return (await listSessionsOfUser(on, { user })).filter((row) => isCurrent(row) || isOpen(row))
}

export const sessionView = ({ id, via, created_at, used_at, ip, browser }: SessionRow): Static<typeof UserSession> => ({
  id: String(id),
  via: via as Static<typeof UserSession>['via'],
  createdAt: isoTime(created_at),
  usedAt: isoTime(used_at),
  ...(ip !== null && { ip }),
  ...(browser !== null && { browser }),
})
