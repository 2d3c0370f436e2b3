// Deletes connection spans, and absences of sources, that are older than the rollups of samples.
import type { Services } from '../../context/services.ts'
import { repeatSteps } from '../../core/repeat.ts'
import { deleteAbsencesBefore, deleteFormerAbsencesBefore } from '../sources/absence-store.ts'
import { deleteOldSpanRows } from './store.ts'

const maxRowsPerDelete = 1000

export async function deleteOldSpans({ db, clock, settings }: Services, signal?: AbortSignal): Promise<void> {
  const before = clock.now() - settings.rollupRetentionSeconds * 1000
  const limit = maxRowsPerDelete
  await db.systemTransaction(async (tx) => {
    await deleteAbsencesBefore(tx, { before })
    await deleteFormerAbsencesBefore(tx, { before })
  })
  await repeatSteps(limit, () => db.systemTransaction((tx) => deleteOldSpanRows(tx, { before, limit })), signal)
}
