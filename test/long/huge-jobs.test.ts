// The life of a job on 100,000 devices, the most that a job may have: the table of docs/jobs.md. [contract 12.job]
import { expect, test } from 'vitest'
import { startHarness } from '../support/harness.ts'
import { HugeJob } from '../support/jobs/huge-job.ts'

test('a job on 100,000 devices goes through its whole life', async () => {
  const harness = await startHarness()
  try {
    harness.clock.fix(Date.UTC(2026, 4, 4, 12))
    const job = await HugeJob.make(harness, 100_000)
    await job.live()
    job.print()
    for (const { step, longestTurnMs } of job.figures) expect(longestTurnMs, step).toBeLessThan(1000)
  } finally {
    await harness.close()
  }
})
