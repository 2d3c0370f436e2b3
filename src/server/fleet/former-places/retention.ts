// Deletes deleted rooms and former change windows that are older than the rollups of samples. [contract 10.past]
import type { Services } from '../../context/services.ts'
import { deleteRoomsBefore, deleteWindowsBefore } from './store.ts'

export async function deleteFormerPlaces({ db, clock, settings }: Services): Promise<void> {
  const before = clock.now() - settings.rollupRetentionSeconds * 1000
  await db.systemTransaction(async (tx) => {
    await deleteRoomsBefore(tx, { before })
    await deleteWindowsBefore(tx, { before })
  })
}
