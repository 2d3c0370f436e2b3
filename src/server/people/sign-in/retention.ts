// Deletes answered challenges of passkeys whose time is over.

import type { Services } from '../../context/services.ts'
import { deleteExpiredChallenges } from './passkey-store.ts'

export const deleteOldChallenges = (services: Services): Promise<void> =>
  services.db.systemTransaction(async (tx) => {
    await deleteExpiredChallenges(tx, { now: services.clock.now() })
  })
