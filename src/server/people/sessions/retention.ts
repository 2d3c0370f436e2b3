// Deletes sessions, sign-in links and refused sign-ins whose time is over.

import { minuteMs } from '../../../contract/durations.ts'
import { sessionIdleMs } from '../../auth/keyring.ts'
import type { Services } from '../../context/services.ts'
import { deleteOldRefusals } from './refusal-store.ts'
import { refusalPauseMs } from './refusals.ts'
import { deleteExpiredLinks, deleteUnusedSessions } from './store.ts'
import { deleteExpiredUserLinks } from './user-link-store.ts'
import { deleteUnusedUserSessions } from './user-session-store.ts'

/** The last use of a session is written some seconds late, so a session in use must not be deleted too early. */
const gracePeriodMs = minuteMs

export const deleteOldSessions = (services: Services): Promise<void> =>
  services.db.systemTransaction(async (tx) => {
    const now = services.clock.now()
    const before = now - sessionIdleMs - gracePeriodMs
    await deleteUnusedSessions(tx, { before })
    await deleteUnusedUserSessions(tx, { before, now })
    await deleteExpiredLinks(tx, { now })
    await deleteExpiredUserLinks(tx, { now })
    await deleteOldRefusals(tx, { before: now - refusalPauseMs })
  })
