// The regions that entries of the audit log are stored with. [contract 11.access]
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { engine, type Harness, type Reply, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { auditSite, readAuditLog as read, regionAdmin } from '../../../../test/support/places/audit-site.ts'
import { RegionAccess } from '../../core/region-access.ts'
import { OrgReader } from '../../db/handles.ts'
import { entryMac, verifyChain } from './chain.ts'
import type { ChangeResult } from './change-result.ts'
import { findChangedPlaces } from './changed-places.ts'
import { listAfter, updateHead } from './store.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

type Entry = Reply['body']

const site = () => auditSite(harness)
const restricted = (org: TestOrg, ...regionIds: number[]) => regionAdmin(harness, org, regionIds)

test('entries of version 0.1 stay valid, and only callers who see everything see them [contract 11.access]', async () => {
  const { org } = await site()
  const north = await restricted(org, 1)
  const { db, secrets } = harness.services
  const onOrg = db.forOrg(org.org.key)
  // Version 0.1 wrote no regions, and the links did not cover them.
  await db.systemTransaction(async (system) => {
    const tx = system.forOrg(org.org.key)
    const [before, ...entries] = await listAfter(tx, { seq: 0, limit: 100 })
    let link = before?.mac as Buffer
    for (const entry of entries) {
      const old = entry.seq < 5 ? { ...entry, regions: null } : entry
      link = entryMac(secrets, link, old)
      const { kysely } = system
      const values = { regions: old.regions, mac: link }
      await kysely.updateTable('audit_log').set(values).where('org', '=', tx.org).where('seq', '=', old.seq).execute()
      await updateHead(tx, { count: old.seq, mac: link, timestamp: old.timestamp })
    }
  })
  const verify = () => verifyChain(onOrg, secrets, org.org, [])
  expect((await verify()).problem).toBeUndefined()
  const seen = (await read(org, north.key)).body.logs.map(({ id }: Entry) => Number(id))
  expect(seen.length).toBeGreaterThan(0)
  expect(Math.min(...seen)).toBeGreaterThanOrEqual(5)
  expect(await org.audit()).toHaveLength((await verify()).entries)

  const tamper = (statement: ReturnType<typeof sql>) => db.systemTransaction((t) => statement.execute(t.kysely))
  for (const [value, seq] of [
    [null, 6],
    ['{"all":[1],"target":[1]}', 3],
  ] as const) {
    const [{ regions } = { regions: null }] = await listAfter(onOrg, { seq: seq - 1, limit: 1 })
    const set = (text: string | null) =>
      tamper(sql`update audit_log set regions = ${text} where org = ${org.org.key} and seq = ${seq}`)
    await set(value)
    expect((await verify()).problem).toMatch(new RegExp(`^entry ${seq} was changed`))
    await set(regions)
    expect((await verify()).problem).toBeUndefined()
  }
})

test('a change costs at most one statement to find its places, and none if its details say them', async () => {
  const { org } = await site()
  let statements = 0
  const { kysely } = harness.services.db.system
  const spy = new OrgReader({ org: org.org.key, access: RegionAccess.everything }, engine, {
    kysely,
    run: async () => {
      statements++
      return []
    },
  })
  const costOf = async (changed: Omit<ChangeResult<void>, 'result'>) => {
    statements = 0
    const { regions } = await findChangedPlaces(spy, { result: undefined, ...changed })
    return [statements, regions]
  }
  const ref = (type: string, id = '1') => ({ type, id, name: 'x' })
  expect(await costOf({ target: ref('key') })).toEqual([0, { all: [], target: [] }])
  expect(await costOf({ target: ref('region') })).toEqual([0, { all: [1], target: [1] }])
  expect(await costOf({ target: ref('location'), before: { regionId: 1 }, after: { regionId: null } })).toEqual([
    0,
    { all: [1, null], target: [] },
  ])
  expect(await costOf({ target: ref('user'), before: { regionIds: [2] }, after: { regionIds: [1] } })).toEqual([
    0,
    { all: [1, 2], target: [1] },
  ])
  const many = Array.from({ length: 50 }, (_, i) => ref('endpoint', `${i}`))
  expect((await costOf({ target: ref('room'), before: { locationId: 1 }, affected: many }))[0]).toBe(1)
})
