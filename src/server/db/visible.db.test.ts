// Tests queries that are limited to regions: their plans for one row, and that no other query reads tables whose rows belong to regions.

import { type Compilable, type CompiledQuery, type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { engine, type Harness, startHarness } from '../../../test/support/harness.ts'
import { RegionAccess } from '../core/region-access.ts'
import { findReport } from '../fleet/bug-reports/store.ts'
import { findCommand } from '../fleet/commands/store.ts'
import { findConfig } from '../fleet/configs/store.ts'
import { findEndpoint, findEndpointVersion } from '../fleet/endpoints/store.ts'
import { findNote } from '../fleet/notes/store.ts'
import { findRoom } from '../fleet/rooms/store.ts'
import { findUser } from '../people/users/store.ts'
import { OrgReader } from './handles.ts'
import { query, queryOne } from './queries/query.ts'
import { regionScopedTableIn } from './queries/visible.ts'
import type { DatabaseSchema } from './schema/schema.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

type Statement = { readonly query: CompiledQuery; readonly values: readonly unknown[] }

/** Returns the statement of a read with its values, without running it. */
async function recordStatement(access: RegionAccess, read: (on: OrgReader) => Promise<unknown>): Promise<Statement> {
  const recorded: Statement[] = []
  const recorder = new OrgReader({ org: 1, access }, engine, {
    kysely: harness.services.db.system.kysely,
    run(query, values) {
      recorded.push({ query, values })
      return []
    },
  })
  await read(recorder)
  expect(recorded).toHaveLength(1)
  return recorded[0] as Statement
}

const uuid = '00000000-0000-4000-8000-000000000000'
const reads: Record<string, (on: OrgReader) => Promise<unknown>> = {
  'a room': (on) => findRoom(on, { id: 1 }),
  'a note': (on) => findNote(on, { room: 1, id: 1 }),
  'an endpoint': (on) => findEndpoint(on, { id: uuid }),
  'the version of an endpoint': (on) => findEndpointVersion(on, { id: uuid }),
  'a config': (on) => findConfig(on, { id: uuid }),
  'an operation': (on) => findCommand(on, { id: uuid }),
  'a bug report': (on) => findReport(on, { id: 'AAAAAAAA' }),
  'a user': (on) => findUser(on, { id: 1 }),
}

test.runIf(engine === 'sqlite').each(Object.entries(reads))(
  'limited to regions, %s is read by its key and scans nothing',
  async (_, read) => {
    const { query, values } = await recordStatement(RegionAccess.of([1, 2]), read)
    const plan = (await harness.services.db.system.run(
      { ...query, sql: `explain query plan ${query.sql}` },
      values,
    )) as { detail: string }[]
    const details = plan.map((row) => row.detail).filter((detail) => !/json_each/.test(detail))
    expect(details.length).toBeGreaterThan(1)
    expect(details.join('\n')).not.toMatch(/\bSCAN\b|\(org=\?\)/)
  },
)

test.each(Object.entries(reads))(
  'for callers who see everything, the statement of %s has no condition for regions',
  async (_, read) => {
    const [everything, limited] = [
      await recordStatement(RegionAccess.everything, read),
      await recordStatement(RegionAccess.of([1]), read),
    ]
    expect(everything.query.sql).not.toMatch(/json_each/)
    expect(limited.query.sql).toContain(everything.query.sql)
    expect(limited.values.slice(0, everything.values.length)).toEqual(everything.values)
  },
)

test('a query that names a region-scoped table does not compile, and is refused at run time too', async () => {
  // @ts-expect-error: rooms are in regions, so that only visibleQuery() and wholeQuery() may name them
  const rooms = query((on, p: { org: number }) => on.selectFrom('rooms').select('id').where('org', '=', p.org))
  await expect(rooms(harness.services.db.forOrg(1))).rejects.toThrow('This query reads rooms')
})

test('a query that reads a region-scoped table through a helper function is refused for every caller', async () => {
  const { db } = harness.services
  const rooms = (on: Kysely<DatabaseSchema>) => on.selectFrom('rooms').select('id')
  const hidden = query((on, p: { org: number }) => rooms(on).where('org', '=', p.org))
  const raw = queryOne((on, p: { org: number }) =>
    on
      .selectFrom('profiles')
      .select(sql<number>`(select count(*) from users u where u.org = profiles.org)`.as('users'))
      .where('org', '=', p.org),
  )
  const refusal = 'whose rows belong to regions. Use visibleQuery() or wholeQuery().'
  await expect(hidden(db.forOrg(1))).rejects.toThrow(`This query reads rooms, ${refusal}`)
  await expect(raw(db.forOrg(1))).rejects.toThrow(`This query reads users, ${refusal}`)
  const columns = db.system.kysely.selectFrom('audit_log').select(['regions', sql`audit_log.regions`.as('raw')])
  expect(regionScopedTableIn(columns.compile()), 'a column is no table').toBeUndefined()
})

test.each<[string, (on: Kysely<DatabaseSchema>) => Compilable]>([
  ['after a comma', (on) => on.selectFrom(['orgs', 'endpoints']).select('orgs.key')],
  ['in a subquery', (on) => on.selectFrom('orgs').where((e) => e.exists(e.selectFrom('endpoints').select('id')))],
  ['after a comma of SQL text', (on) => on.selectFrom(sql`orgs, endpoints`.as('t')).selectAll()],
  ['in quoted SQL text', (on) => on.selectFrom(sql`(select 1 from "endpoints")`.as('t')).selectAll()],
  ['by sql.table', (on) => on.selectFrom('orgs').where(sql<boolean>`exists (select 1 from ${sql.table('endpoints')})`)],
  ['by sql.id', (on) => on.selectFrom('orgs').where(sql<boolean>`exists (select 1 from ${sql.id('endpoints')})`)],
])('a region-scoped table is found %s', (_, build) => {
  expect(regionScopedTableIn(build(harness.services.db.system.kysely).compile())).toBe('endpoints')
})
