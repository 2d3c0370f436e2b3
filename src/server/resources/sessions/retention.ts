// Deletes sessions and sign-in links that have expired.

import { sessionIdleMs } from '../../auth/keyring.ts'
import type { Services } from '../../context/services.ts'
import { deleteExpiredLinks, deleteUnusedSessions } from './store.ts'

/** The last use of a session is written some seconds late, so a session in use must not be deleted too early. */
const gracePeriodMs = 60_000

export const deleteOldSessions = (services: Services): Promise<void> =>
  services.db.systemTransaction(async (tx) => {
    const now = services.clock.now()
    await deleteUnusedSessions(tx, { before: now - sessionIdleMs - gracePeriodMs })
    await deleteExpiredLinks(tx, { now })
  })
