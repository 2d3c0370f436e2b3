// Gives up messages that waited for 30 days, and deletes old ones. [contract 10.delivery]

import type { Services } from '../../context/services.ts'
import { repeatSteps } from '../../core/repeat.ts'
import { deleteMessagesBefore, giveUpBefore } from './all-messages-store.ts'
import { deliveryRetentionMs } from './retry-schedule.ts'

/** One commit has this many rows, so that other writes do not wait for long. */
const maxCommitRows = 1000

export async function deleteOldMessages({ db, clock }: Services, signal?: AbortSignal): Promise<void> {
  const before = clock.now() - deliveryRetentionMs
  const givenUpBefore = before - deliveryRetentionMs
  const limit = maxCommitRows
  const giveUp = () => db.systemTransaction((tx) => giveUpBefore(tx, { before, limit }))
  const deleteSome = () => db.systemTransaction((tx) => deleteMessagesBefore(tx, { before, givenUpBefore, limit }))
  await repeatSteps(limit, giveUp, signal)
  await repeatSteps(limit, deleteSome, signal)
}
