// The group commit: what arrives meanwhile shares the next one, in order, and a mistake stays its own.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { Failure } from '../failure.ts'
import type { Telemetry } from './db.ts'

let house: Harness
beforeAll(async () => {
  house = await startHarness()
})
afterAll(() => house.close())

const put = (name: string, value: string) => (on: Telemetry) =>
  on.kysely
    .insertInto('settings')
    .values({ name, value })
    .onConflict((c) => c.column('name').doUpdateSet({ value }))
    .execute()
const stored = async (name: string) =>
  (await house.ground.db.kysely.selectFrom('settings').selectAll().where('name', '=', name).execute())[0]?.value

test('works keep their order, and are durable when they resolve', async () => {
  await Promise.all(Array.from({ length: 2000 }, (_, i) => house.ground.db.telemetry(put('order', String(i)))))
  expect(await stored('order')).toBe('1999')
})

test.each([
  ['an error', () => new Error('mine')],
  ['a failure', () => new Failure('FAILED_PRECONDITION', 'mine.')],
])('%s of one work is its own', async (_, error) => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, (_, i) =>
      house.ground.db.telemetry(async (on) => {
        await put(`own-${i}`, 'there')(on)
        if (i === 25) throw error()
      }),
    ),
  )
  expect(outcomes.map((o) => o.status).filter((s) => s === 'rejected')).toHaveLength(1)
  expect(outcomes[25]?.status).toBe('rejected')
  expect(await stored('own-24')).toBe('there')
  expect(await stored('own-26')).toBe('there')
})
