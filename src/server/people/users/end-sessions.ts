// Signs a person out everywhere.
import type { Tx } from '../../db/handles.ts'
import { deleteSessionsOfPersonalKeys } from '../sessions/store.ts'
import { deleteLinksOfUser } from '../sessions/user-link-store.ts'
import { deleteUserSessions } from '../sessions/user-session-store.ts'

/** Ends all sessions, also those that were opened with a personal key, and with `links` the unused links. Returns the number of sessions. */
export async function endSessions(tx: Tx, user: number, { links = false } = {}): Promise<number> {
  const own = await deleteUserSessions(tx, { user })
  const ofKeys = await deleteSessionsOfPersonalKeys(tx, { user })
  if (links) await deleteLinksOfUser(tx, { user })
  return own.length + ofKeys.length
}
