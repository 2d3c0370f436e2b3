// Deletes idempotency keys of more than 24 hours ago. [contract 7.once]
import type { Services } from '../../context/services.ts'
import { keyRetentionMs } from './rules.ts'
import { deleteOldKeys, hasOldKey } from './store.ts'

const maxRowsPerDelete = 1000

export async function deleteOldIdempotencyKeys({ db, clock }: Services): Promise<void> {
  const until = clock.now() - keyRetentionMs
  while (await hasOldKey(db.system, { until })) {
    await db.systemTransaction((tx) => deleteOldKeys(tx, { until, limit: maxRowsPerDelete }))
  }
}
