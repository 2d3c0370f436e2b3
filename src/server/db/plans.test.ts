// Query plans: a read of a few rows must use an index, and not scan all rows of an organisation.
import { CompiledQuery, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { engine, type Harness, startHarness } from '../../../test/support/harness.ts'
import { listPairedEndpoints } from '../resources/endpoints/store.ts'
import { OrgReader } from './handles.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

test.runIf(engine === 'sqlite').each([
  ['the endpoints of a room', 'select * from endpoints where org = 1 and room_id = 2 order by id', 'endpoints_room'],
  ['the endpoints with a profile', 'select id from endpoints where org = 1 and profile_id = 2', 'endpoints_profile'],
  [
    'the endpoints of a location',
    'select e.id from endpoints e left join rooms r on r.org = e.org and r.id = e.room_id where e.org = 1 and r.location_id = 2 order by e.id',
    'rooms_location',
  ],
  [
    'configs that are not confirmed',
    `select e.id from endpoint_configs c join endpoints e on e.org = c.org and e.id = c.endpoint_id
      where e.connected = 1 and (c.state = 'PENDING' or c.reported_version <> c.version)`,
    'endpoint_configs_open',
  ],
])('%s', async (_, query, index) => {
  const { rows } = await sql<{ detail: string }>`${sql.raw(`explain query plan ${query}`)}`.execute(
    harness.services.db.system.kysely,
  )
  const details = rows.map((row) => row.detail).join('\n')
  expect(details).toContain(index)
  expect(details).not.toMatch(/SCAN e\b|SCAN endpoints\b|\(org=\?\)/)
})

test.runIf(engine === 'sqlite')('the endpoints of a pair group, with the query of the store', async () => {
  const { db } = harness.services
  let recorded: CompiledQuery | undefined
  const recorder = new OrgReader(1, 'sqlite', {
    kysely: db.system.kysely,
    run(query) {
      recorded = query
      return []
    },
  })
  await listPairedEndpoints(recorder, [])
  const explain = CompiledQuery.raw(`explain query plan ${recorded?.sql}`)
  const rows = (await db.system.run(
    explain,
    (recorded?.parameters ?? []).map(() => 1),
  )) as { detail: string }[]
  const details = rows.map((row) => row.detail).join('\n')
  expect(details).toContain('endpoints_leader')
  expect(details).not.toMatch(/SCAN (e|l|endpoints)\b|\(org=\?\)/)
})

test('the indexes that reads depend on exist on both engines', async () => {
  const catalogue =
    engine === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_schema where type = 'index'`
      : sql<{ name: string }>`select indexname as name from pg_indexes where schemaname = current_schema()`
  const { rows } = await catalogue.execute(harness.services.db.system.kysely)
  const names = rows.map((row) => row.name)
  expect(names).toEqual(expect.arrayContaining(['endpoints_room', 'endpoints_leader', 'endpoint_configs_open']))
})
