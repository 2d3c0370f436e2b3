// The group commit: concurrent works share a commit in order, and the failure of one does not affect the others.

import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engine, type Harness, startHarness, type TestOrg } from '../../../test/support/harness.ts'
import { Failure } from '../core/failure.ts'
import { findStatus } from '../fleet/endpoints/device-store.ts'
import { regionValues } from '../fleet/regions/fields.ts'
import { regionsCreate, regionsDelete, regionsList, regionsUpdate } from '../fleet/regions/rules.ts'
import { insertRegion } from '../fleet/regions/store.ts'
import { verifyChain } from '../journal/audit/chain.ts'
import { updateHead } from '../journal/audit/store.ts'
import type { DatabaseMetrics } from './engine.ts'
import type { SystemTx } from './system.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const put = (name: string, value: string) => (tx: SystemTx) =>
  tx.kysely
    .insertInto('settings')
    .values({ name, value })
    .onConflict((c) => c.column('name').doUpdateSet({ value }))
    .execute()
const stored = async (name: string) =>
  (await harness.services.db.system.kysely.selectFrom('settings').selectAll().where('name', '=', name).execute())[0]
    ?.value

test('works keep their order, and are durable when they resolve', async () => {
  await Promise.all(
    Array.from({ length: 2000 }, (_, i) => harness.services.db.systemTransaction(put('order', String(i)))),
  )
  expect(await stored('order')).toBe('1999')
})

test.each([
  ['an error', () => new Error('mine')],
  ['a failure', () => new Failure('FAILED_PRECONDITION', 'mine.')],
])('%s of one work does not affect the others', async (_, error) => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, (_, i) =>
      harness.services.db.systemTransaction(async (tx) => {
        await put(`own-${i}`, 'there')(tx)
        if (i === 25) throw error()
      }),
    ),
  )
  expect(outcomes.map((o) => o.status).filter((s) => s === 'rejected')).toHaveLength(1)
  expect(outcomes[25]?.status).toBe('rejected')
  expect(await stored('own-24')).toBe('there')
  expect(await stored('own-26')).toBe('there')
})

test('works on one endpoint keep their order, those on others run beside them on PostgreSQL, and a failure is of one work', async () => {
  const { org } = await harness.newOrg()
  const db = harness.services.db.forOrg(org.key)
  const running = new Set<string>()
  let mostRunning = 0
  const ended = new Map<string, number[]>()
  const work = (i: number) => {
    const endpointId = `endpoint-${i % 20}`
    return db.telemetry(async (tx) => {
      expect(running).not.toContain(endpointId)
      running.add(endpointId)
      mostRunning = Math.max(mostRunning, running.size)
      await findStatus(tx, { id: endpointId })
      running.delete(endpointId)
      if (i === 25) throw new Error('mine')
      ended.set(endpointId, [...(ended.get(endpointId) ?? []).filter((before) => before < i), i])
      return i
    }, endpointId)
  }
  const outcomes = await Promise.allSettled(Array.from({ length: 400 }, (_, i) => work(i)))
  for (const [i, outcome] of outcomes.entries()) {
    if (i === 25) expect(outcome).toMatchObject({ reason: { message: 'mine' } })
    else expect(outcome).toEqual({ status: 'fulfilled', value: i })
  }
  for (const [n, numbers] of [...ended.values()].entries()) {
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, i) => n + 20 * i).filter((i) => i !== 25))
  }
  expect(mostRunning).toBe(engine === 'postgres' ? 20 : 1)
})

describe('concurrent audited works', () => {
  const regionNames = async ({ ctx }: TestOrg) => (await regionsList(ctx)).regions.map(({ name }) => name)
  /** Verifies the chain of the audit log, and lists its entries about regions, oldest first. */
  async function regionEntries({ org, audit }: TestOrg): Promise<string[]> {
    expect(
      (await verifyChain(harness.services.db.forOrg(org.key), harness.services.secrets, org, [])).problem,
    ).toBeUndefined()
    const entries = (await audit()).filter(({ target }) => target.type === 'region')
    return entries.reverse().map(({ type, target }) => `${type} ${target.name}`)
  }
  /** Counts the outcomes of transactions while the work runs. */
  async function countOutcomes(
    work: () => Promise<unknown>,
  ): Promise<Record<Parameters<DatabaseMetrics['transaction']>[0], number>> {
    const { db } = harness.services
    const { metrics } = db
    const counts = { committed: 0, 'rolled back': 0 }
    db.metrics = { transaction: (outcome) => void counts[outcome]++ }
    await work().finally(() => {
      db.metrics = metrics
    })
    return counts
  }

  test('share a commit where the engine has one writer, and each has its audit entry', async () => {
    const org = await harness.newOrg()
    const names = Array.from({ length: 40 }, (_, i) => `together ${i}`)
    const { committed } = await countOutcomes(() => Promise.all(names.map((name) => regionsCreate(org.ctx, { name }))))
    if (engine === 'sqlite') expect(committed).toBeLessThan(20)
    else expect(committed).toBeGreaterThanOrEqual(40)
    expect((await regionNames(org)).toSorted()).toEqual(names.toSorted())
    expect(await regionEntries(org)).toEqual((await regionNames(org)).map((name) => `REGION_CREATED ${name}`))
  })

  test('fail alone: what a failed one did is undone, and the others are durable', async () => {
    const org = await harness.newOrg()
    const half = () =>
      harness.services.db.forOrg(org.org.key).transaction(async (tx) => {
        await insertRegion(tx, { id: 1000, ...regionValues({ name: 'half' }) })
        throw new Error('mine')
      })
    const works = Array.from({ length: 30 }, (_, i) =>
      i % 3 === 1 ? half() : regionsCreate(org.ctx, { name: `whole ${i}` }),
    )
    const outcomes = await Promise.allSettled(works)
    for (const [i, outcome] of outcomes.entries()) {
      expect(outcome.status).toBe(i % 3 === 1 ? 'rejected' : 'fulfilled')
      if (outcome.status === 'rejected') expect(outcome.reason.message).toBe('mine')
    }
    expect(await regionNames(org)).toHaveLength(20)
    expect(await regionNames(org)).not.toContain('half')
    expect(await regionEntries(org)).toHaveLength(20)
  })

  test('chain their entries: the head that a failed one has moved is forgotten', async () => {
    const org = await harness.newOrg()
    const db = harness.services.db.forOrg(org.org.key)
    const wrongHead = { count: 1000, mac: Buffer.alloc(32), timestamp: 0, wanted_messages: '[]' }
    const failAfterMove = () =>
      db.transaction(async (tx) => {
        tx.heads.add({ org: tx.org, head: wrongHead, write: () => updateHead(tx, wrongHead) })
        throw new Error('mine')
      })
    const works = Array.from({ length: 30 }, (_, i) =>
      i % 3 === 1 ? failAfterMove() : regionsCreate(org.ctx, { name: `chained ${i}` }),
    )
    const outcomes = await Promise.allSettled(works)
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(10)
    expect(await regionEntries(org)).toHaveLength(20)
    await regionsCreate(org.ctx, { name: 'later' })
    expect(await regionEntries(org)).toHaveLength(21)
  })

  test.runIf(engine === 'sqlite')(
    'see the changes of those before them, and can be refused because of them',
    async () => {
      const org = await harness.newOrg()
      const outcomes = await Promise.allSettled([
        regionsCreate(org.ctx, { name: 'first' }),
        regionsUpdate(org.ctx, 1, { name: 'renamed' }),
        regionsDelete(org.ctx, 1, []),
        regionsUpdate(org.ctx, 1, { name: 'too late' }),
        regionsCreate(org.ctx, { name: 'second' }),
      ])
      expect(outcomes.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'fulfilled',
        'rejected',
        'fulfilled',
      ])
      expect(outcomes[3]).toMatchObject({ reason: { code: 'NOT_FOUND' } })
      expect(await regionNames(org)).toEqual(['second'])
      expect(await regionEntries(org)).toEqual([
        'REGION_CREATED first',
        'REGION_UPDATED renamed',
        'REGION_DELETED renamed',
        'REGION_CREATED second',
      ])
    },
  )

  test.runIf(engine === 'sqlite')(
    'are all refused when the disk is full, and those that succeeded are stored',
    async () => {
      const org = await harness.newOrg()
      const { schema } = harness.services.db
      const limit = (pages: number) => sql`pragma max_page_count = ${sql.raw(String(pages))}`.execute(schema)
      const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(schema)
      await limit((rows[0]?.page_count ?? 0) + 4)
      const names = Array.from({ length: 100 }, (_, i) => `${i} ${'x'.repeat(90)}`)
      const outcomes = await Promise.allSettled(names.map((name) => regionsCreate(org.ctx, { name })))
      await limit(1_000_000)
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
      expect(refused.length).toBeGreaterThan(0)
      for (const { reason } of refused) expect(reason).toMatchObject({ code: 'UNAVAILABLE' })
      const created = names.filter((_, i) => outcomes[i]?.status === 'fulfilled')
      expect(await regionNames(org)).toEqual(created)
      expect(await regionEntries(org)).toEqual(created.map((name) => `REGION_CREATED ${name}`))
      await regionsCreate(org.ctx, { name: 'space again' })
      expect(await regionNames(org)).toContain('space again')
    },
  )
})
