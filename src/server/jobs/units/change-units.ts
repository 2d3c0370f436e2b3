// Changes many units of a job in one transaction, some hundred in each turn of the event loop. [contract 12.states]
import type { TelemetryTx, Tx } from '../../db/handles.ts'
import type { JobEndpointState } from '../../db/schema/jobs.ts'
import {
  deleteEndpointRange,
  deleteUnitRange,
  endRange,
  resetEndpoints,
  resetRange,
  restartRange,
  type UnitsEnd,
} from './unit-change-store.ts'
import type { CountedJob } from './unit-counts.ts'
import { unitRanges } from './unit-ranges.ts'

/** SQLite blocks the event loop for some milliseconds with this many rows. */
const changeSizeRows = 500
const changeRanges = ({ unit_count }: CountedJob) => unitRanges(unit_count, changeSizeRows)

/** Ends all units that are in one of the states. */
export async function endUnits(tx: Tx | TelemetryTx, job: CountedJob, end: UnitsEnd): Promise<void> {
  for await (const range of changeRanges(job)) await endRange(tx, { job: job.id, ...range, ...end })
}

/** Lets the soak of units begin again. Nothing that happened before counts. */
export async function restartSoaks(tx: Tx, job: CountedJob, times: { now: number; soakUntil: number }): Promise<void> {
  for await (const range of changeRanges(job)) await restartRange(tx, { job: job.id, ...range, ...times })
}

/** Lets units that failed or expired begin again, with those of their endpoints that are in one of the states. Returns how many. */
export async function resetFailedUnits(
  tx: Tx,
  job: CountedJob,
  { attempt, states }: { attempt: number; states: readonly JobEndpointState[] },
): Promise<number> {
  let count = 0
  for await (const range of changeRanges(job)) {
    const units = (await resetRange(tx, { job: job.id, ...range, attempt })).map(({ number }) => number)
    if (units.length > 0) await resetEndpoints(tx, { job: job.id, ...range, states, units })
    count += units.length
  }
  return count
}

/** Deletes the units of a job with their rooms and endpoints. */
export async function deleteUnits(tx: Tx, job: CountedJob): Promise<void> {
  for await (const range of changeRanges(job)) {
    await deleteEndpointRange(tx, { job: job.id, ...range })
    await deleteUnitRange(tx, { job: job.id, ...range })
  }
}
