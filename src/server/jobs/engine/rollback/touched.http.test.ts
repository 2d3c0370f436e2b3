// Tests which endpoints of a job a rollback has to restore, and other jobs must not change until then. [contract 12.rollback]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../../../test/support/database/endpoint-rows.ts'
import { type Harness, startHarness } from '../../../../../test/support/harness.ts'
import type { JobEndpointState } from '../../../db/schema/jobs.ts'
import { listEndpointsOfOtherJobs } from '../facts-store.ts'
import { listUnitEndpoints } from './rollback-store.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

interface Case {
  readonly state: JobEndpointState
  readonly version_after?: number
  readonly profile_changed?: number
  readonly touched: number
}
const cases: readonly Case[] = [
  { state: 'SENT', touched: 1 },
  { state: 'DONE', touched: 1 },
  { state: 'FAILED', touched: 0 },
  { state: 'FAILED', version_after: 3, touched: 1 },
  { state: 'PENDING', touched: 0 },
  { state: 'PENDING', profile_changed: 1, touched: 1 },
  { state: 'SKIPPED', touched: 0 },
  { state: 'ROLLED_BACK', version_after: 3, touched: 0 },
  { state: 'KEPT', version_after: 3, touched: 0 },
]

test('an endpoint is touched while an effect of the job on it is not rolled back, also if it failed or is tried again', async () => {
  const org = await harness.newOrg()
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const endpoints = await putEndpoints(
    harness,
    org,
    cases.map(() => ({ room_id: roomId, connected: 0 })),
  )
  const ids = endpoints.map(({ id }) => id)
  const body = { name: 'Night', target: { endpointIds: ids }, action: { type: 'CONFIG', config: { nightMode: true } } }
  const job = Number((await org.call('POST', '/jobs', { body })).body.id)
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    for (const [i, { touched: _, ...columns }] of cases.entries()) {
      await kysely
        .updateTable('job_endpoints')
        .set(columns)
        .where('org', '=', org.org.key)
        .where('job_id', '=', job)
        .where('endpoint_id', '=', ids[i] as string)
        .execute()
    }
  })
  const on = harness.services.db.forOrg(org.org.key)
  const expected = Object.fromEntries(cases.map(({ touched }, i) => [ids[i], touched]))
  const touchedById = (rows: readonly { readonly endpoint_id: string; readonly touched: number }[]) =>
    Object.fromEntries(rows.map(({ endpoint_id, touched }) => [endpoint_id, touched]))
  expect(touchedById(await listUnitEndpoints(on, { job, unit: 1 }))).toEqual(expected)
  expect(touchedById(await listEndpointsOfOtherJobs(on, { jobs: [job], endpoints: ids }))).toEqual(expected)
})
