// Deletes incidents that are older than the service keeps them, and silences that ended as long ago. [contract 10.states]
import { dayMs } from '../../contract/durations.ts'
import type { Services } from '../context/services.ts'
import { repeatSteps } from '../core/repeat.ts'
import { deleteEndedIncidents } from './retention-store.ts'
import { deleteOldSilences } from './silences/store.ts'

/** A statement deletes no more, because an incident may have thousands of subjects. */
const incidentsPerStatement = 50

export async function deleteOldIncidents(
  { db, clock }: Services,
  retentionDays: number,
  signal: AbortSignal,
): Promise<void> {
  const before = clock.now() - retentionDays * dayMs
  await db.systemTransaction((tx) => deleteOldSilences(tx, { before }))
  const limit = incidentsPerStatement
  await repeatSteps(limit, () => db.systemTransaction((tx) => deleteEndedIncidents(tx, { before, limit })), signal)
}
