// Deletes incidents that are older than the service keeps them, and silences that ended before the oldest rollups. [contract 10.states]
import { dayMs } from '../../contract/durations.ts'
import type { Services } from '../context/services.ts'
import { repeatSteps } from '../core/repeat.ts'
import { deleteEndedIncidents } from './retention-store.ts'
import { deleteSilencesBefore, endSilencesOfGonePlaces } from './silences/store.ts'

/** A statement deletes no more, because an incident may have thousands of subjects. */
const incidentsPerStatement = 50

export async function deleteOldIncidents(
  { db, clock }: Services,
  retentionDays: number,
  signal: AbortSignal,
): Promise<void> {
  const before = clock.now() - retentionDays * dayMs
  const limit = incidentsPerStatement
  await repeatSteps(limit, () => db.systemTransaction((tx) => deleteEndedIncidents(tx, { before, limit })), signal)
}

/** Reports count ended silences, so they stay as long as rollups. [contract 10.past] */
export async function deleteOldSilences({ db, clock, settings }: Services): Promise<void> {
  const now = clock.now()
  const before = now - settings.rollupRetentionSeconds * 1000
  await db.systemTransaction(async (tx) => {
    await endSilencesOfGonePlaces(tx, now)
    await deleteSilencesBefore(tx, { before })
  })
}
