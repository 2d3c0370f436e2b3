// Deletes jobs that ended, or were left as drafts, longer ago than the service keeps them. [contract 12.states]
import { dayMs } from '../../contract/durations.ts'
import type { Services } from '../context/services.ts'
import { deleteOldEndpoints, deleteOldJob, deleteOldUnits, listOldJobs } from './retention-store.ts'
import { unitRanges } from './units/unit-ranges.ts'

const jobRetentionDays = 400
const jobPageRows = 100
/** A job may have a hundred thousand endpoints, and others write between two of these commits. */
const commitSizeRows = 500

/** An end of the process in the middle leaves a job with fewer units, which the next run deletes. */
export async function deleteOldJobs({ db, clock }: Services, signal: AbortSignal): Promise<void> {
  const before = clock.now() - jobRetentionDays * dayMs
  const list = () => listOldJobs(db.system, { before, limit: jobPageRows })
  for (let jobs = await list(); jobs.length > 0; jobs = await list()) {
    for (const { org, job: id, unit_count } of jobs) {
      const job = { org, job: id, before }
      for await (const range of unitRanges(unit_count, commitSizeRows)) {
        if (signal.aborted) return
        await db.systemTransaction(async (tx) => {
          await deleteOldEndpoints(tx, { ...job, ...range })
          await deleteOldUnits(tx, { ...job, ...range })
        })
      }
      await db.systemTransaction((tx) => deleteOldJob(tx, job))
    }
  }
}
