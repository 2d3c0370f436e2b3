// Tests that changes of an organisation whose audit log is locked do not delay other organisations.
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { countCpuWaits } from '../support/cpu-time.ts'
import { startHarness } from '../support/harness.ts'

/** More than the ten connections that a node has for writes. */
const changeCount = 15

test('changes that wait for the head of an audit log leave the connections to others, and are refused within 12 seconds', async () => {
  const harness = await startHarness()
  onTestFinished(() => harness.close())
  const held = await harness.newOrg('Held')
  const free = await harness.newOrg('Free')
  const holder = new pg.Client({ connectionString: harness.place.databaseUrl })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('BEGIN')
  await holder.query('SELECT 1 FROM audit_heads WHERE org = $1 FOR UPDATE', [held.org.key])
  const create = (org: typeof held, name: string) => org.call('POST', '/regions', { body: { name } })
  const began = performance.now()
  const cpuWaitMs = countCpuWaits()
  let endedCount = 0
  const waiting = Array.from({ length: changeCount }, (_, i) => create(held, `Held ${i}`).finally(() => endedCount++))
  // If the waiting changes held all connections, this one would wait until one of them was refused.
  expect((await create(free, 'Free 0')).status).toBe(200)
  expect(endedCount).toBe(0)
  for (let i = 1; i < 5; i++) expect((await create(free, `Free ${i}`)).status).toBe(200)
  for (const { status, body } of await Promise.all(waiting)) {
    expect([status, body.code]).toEqual([409, 'ABORTED'])
  }
  // Each waits up to 5 seconds for its turn, and up to 5 more for the lock.
  expect(performance.now() - began).toBeLessThan(12_000 + cpuWaitMs())
  await holder.query('ROLLBACK')
  expect((await create(held, 'Later')).status).toBe(200)
  const { regions } = (await held.call('GET', '/regions')).body
  expect(regions.map(({ name }: { name: string }) => name)).toEqual(['Later'])
})
