// Forgets sessions and sign-in links that are over.
import { sessionIdle } from '../../auth/keyring.ts'
import type { Ground } from '../../context/request-context.ts'
import { deleteExpiredLinks, deleteUnused } from './store.ts'

/** A use is written some seconds later: nobody who is still there may lose the session to that. */
const grace = 60_000

export const forgetSessions = (ground: Ground): Promise<void> =>
  ground.db.telemetry(async (telemetry) => {
    const now = ground.clock.now()
    await deleteUnused(telemetry, now - sessionIdle - grace)
    await deleteExpiredLinks(telemetry, now)
  })
