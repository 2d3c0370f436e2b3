// Forgets sessions and sign-in links that are over.

import { sessionIdleMs } from '../../auth/keyring.ts'
import type { Services } from '../../context/services.ts'
import { deleteExpiredLinks, deleteUnused } from './store.ts'

/** A use is written some seconds later: nobody who is still there may lose the session to that. */
const grace = 60_000

export const deleteOldSessions = (services: Services): Promise<void> =>
  services.db.systemTransaction(async (tx) => {
    const now = services.clock.now()
    await deleteUnused(tx, { before: now - sessionIdleMs - grace })
    await deleteExpiredLinks(tx, { now })
  })
