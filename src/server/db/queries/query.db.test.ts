// Tests that a query of an organisation is refused if its statement does not name the organisation.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { RegionAccess } from '../../core/region-access.ts'
import { query, queryOne, visibleQuery, wholeQuery, wholeQueryExists, write } from './query.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

interface Named {
  org: number
  name: string
}
const refusal = 'This query of an organisation does not use p.org'

test('a read that does not name its organisation is refused, whichever regions the caller sees', async () => {
  const on = harness.services.db.forOrg(1)
  const limited = on.seenBy(RegionAccess.of([1]))
  const profiles = query((db, p: Named) => db.selectFrom('profiles').select('id').where('name', '=', p.name))
  const rooms = wholeQuery((db, p: Named) => db.selectFrom('rooms').select('id').where('name', '=', p.name))
  const hasRooms = wholeQueryExists((db, _: { org: number }) => db.selectFrom('rooms').select('id'))
  const visible = visibleQuery('room', 'r.id', (db, _: { org: number }) => db.selectFrom('rooms as r').select('r.id'))
  await expect(profiles(on, { name: 'x' })).rejects.toThrow(refusal)
  await expect(rooms(on, { name: 'x' })).rejects.toThrow(refusal)
  await expect(hasRooms(on)).rejects.toThrow(refusal)
  await expect(visible(on)).rejects.toThrow(refusal)
  await expect(visible(limited), 'the condition for regions names the organisation').rejects.toThrow(refusal)
})

test('a read that names its organisation runs', async () => {
  const first = queryOne((db, p: { org: number }) => db.selectFrom('orgs').select('key').where('key', '=', p.org))
  expect(await first(harness.services.db.forOrg(1))).toEqual({ key: 1 })
})

test('a write that does not name its organisation is refused and changes nothing', async () => {
  const { db } = harness.services
  const rename = write((on, p: Named) => on.updateTable('orgs').set({ name: p.name }))
  const before = await db.system.kysely.selectFrom('orgs').selectAll().execute()
  const work = db.systemTransaction((t) => rename(t.forOrg(1), { name: 'all' }))
  await expect(work).rejects.toThrow(refusal)
  expect(await db.system.kysely.selectFrom('orgs').selectAll().execute()).toEqual(before)
})
