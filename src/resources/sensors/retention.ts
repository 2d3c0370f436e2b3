// Forgets samples that are older than what is kept, a piece at a time, so that nobody waits long for it.
import type { Ground } from '../../platform/by.ts'
import { listOrgs } from '../orgs/store.ts'
import { deleteSlot, findOldestSlot } from './store.ts'

/** How long samples are kept, in seconds. */
export const kept = 30 * 24 * 3600

/** To be called every hour. */
export async function forgetSamples({ db, clock }: Ground): Promise<void> {
  const before = Math.floor(clock.now() / 1000) - kept
  for (const { key } of await listOrgs(db)) {
    for (;;) {
      const slot = await findOldestSlot(db, key, before)
      if (slot === undefined) break
      await db.telemetry((telemetry) => deleteSlot(telemetry, key, slot))
    }
  }
}
