// Tests that the steps of a job on thousands of devices leave the event loop to others. [contract 12.states]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { engine, type Harness, startHarness } from '../../../test/support/harness.ts'
import { HugeJob } from '../../../test/support/jobs/huge-job.ts'
import { cpuLimitMs, runCount } from '../../../test/support/long-form.ts'

/** Other requests wait for so long at most. Collecting garbage is part of it. */
const longestAllowedMs = cpuLimitMs(100)

const devices = runCount({ short: 600, full: 3000, long: 10_000 })

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(Date.UTC(2026, 4, 4, 12))
})
afterAll(() => harness.close())

test(`a job on ${devices} devices is created, started, expired, retried, rolled back, cancelled and deleted in short turns`, async () => {
  const job = await HugeJob.make(harness, devices)
  await job.live()
  job.print()
  for (const { step, longestTurnMs } of job.figures) expect(longestTurnMs, step).toBeLessThan(longestAllowedMs)
  // PostgreSQL has several writers. Others do not wait until all units are inserted.
  const [made] = job.figures
  if (engine === 'postgres') expect(made?.changeWaitMs).toBeLessThan((made?.ms ?? 0) / 3)
})
