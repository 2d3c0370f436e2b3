// Devices that have been asleep for too long go offline. [contract 8.state]
import type { Services } from '../../context/services.ts'
import { updateSpansOverslept } from '../connections/store.ts'
import { listOverslept, updateOverslept } from './device-store.ts'

/** SQLite holds the event loop for a few milliseconds with this many rows. */
const rowsPerStep = 250

/** Ends the sleep of the devices of an organisation that have been asleep for `sleepsAtMostMs`. */
export async function endLongSleep(
  { db, clock, feed, reconnects }: Services,
  org: number,
  sleepsAtMostMs: number,
): Promise<void> {
  for (let isMore = true; isMore; ) {
    const at = clock.now()
    const before = at - sleepsAtMostMs
    const rows = await db.forOrg(org).telemetry(async (on) => {
      const rows = await listOverslept(on, { ...reconnects.current, before, limit: rowsPerStep })
      if (rows.length === 0) return rows
      await updateOverslept(on, { ids: rows.map(({ id }) => id), before, at })
      await updateSpansOverslept(on, { endpoints: rows.map(({ number }) => number), at })
      return rows
    })
    feed.forOrg(org).publish(rows.map(({ id }) => ({ type: 'status', endpointId: id })))
    isMore = rows.length === rowsPerStep
  }
}
