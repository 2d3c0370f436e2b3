// Tests that jobs are deleted 400 days after their end, with their units, and never before. [contract 12.states]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newFixture } from '../../../test/support/fixture.ts'
import { type Harness, startHarness } from '../../../test/support/harness.ts'
import { newJobs } from '../../../test/support/jobs.ts'
import { deleteOldJobs } from './retention.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(Date.now())
})
afterAll(() => harness.close())

test('jobs are deleted 400 days after their end, drafts 400 days after they were made, and those that are rolled back only after that', async () => {
  const f = await newFixture(harness)
  const about = { room: f.room, endpoint: f.endpoint }
  const endedAt = harness.clock.now() - 401 * 86_400_000
  const [old, older, recent, rollingBack, draft] = await newJobs(harness, f, [
    { ...about, state: 'SUCCEEDED', endedAt },
    { ...about, state: 'CANCELLED', endedAt: endedAt - 1 },
    { ...about, state: 'INCOMPLETE', endedAt: endedAt + 2 * 86_400_000 },
    { ...about, state: 'ROLLING_BACK', endedAt },
    { ...about, state: 'DRAFT' },
  ])
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely
      .updateTable('jobs')
      .set({ updated_at: endedAt })
      .where('org', '=', f.org.key)
      .where('id', '=', Number(draft))
      .execute(),
  )
  await deleteOldJobs(harness.services, new AbortController().signal)
  const statuses = [old, older, recent, rollingBack, draft, f.jobs.draft].map(
    async (id) => (await f.call('GET', `/jobs/${id}`)).status,
  )
  expect(await Promise.all(statuses)).toEqual([404, 404, 200, 200, 404, 200])
  const units = harness.services.db.system.kysely
    .selectFrom('job_units')
    .select('job_id')
    .where('job_id', '=', Number(old))
  expect(await units.where('org', '=', f.org.key).execute()).toEqual([])
})
