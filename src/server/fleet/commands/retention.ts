// Deletes commands a while after they reached a final state. [contract 8.operations]
import { dayMs } from '../../../contract/durations.ts'
import type { Services } from '../../context/services.ts'
import { repeatSteps } from '../../core/repeat.ts'
import { deleteOldCommandRows } from './retention-store.ts'

const commandRetentionDays = 90
const maxRowsPerDelete = 1000

export async function deleteOldCommands({ db, clock }: Services, signal?: AbortSignal): Promise<void> {
  const before = clock.now() - commandRetentionDays * dayMs
  const limit = maxRowsPerDelete
  await repeatSteps(limit, () => db.systemTransaction((tx) => deleteOldCommandRows(tx, { before, limit })), signal)
}
