// Query plans: a read of a few rows must use an index, and not scan all rows of an organisation.

import { CompiledQuery, sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { engine, type Harness, startHarness } from '../../../test/support/harness.ts'
import { RegionAccess } from '../core/region-access.ts'
import { listPairedEndpoints } from '../fleet/endpoints/store.ts'
import { updateUnitState } from '../jobs/engine/progress-store.ts'
import { listUnitsInRollback } from '../jobs/engine/rollback/rollback-store.ts'
import { restartRange } from '../jobs/units/unit-change-store.ts'
import { makePartition } from '../sensors/rollups/partitions.ts'
import { updateQuarters, updateRollups } from '../sensors/rollups/store.ts'
import { OrgReader, TelemetryTx, type Tx } from './handles.ts'
import { sensorColumns } from './schema/schema.ts'

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
      where e.node_id = 1 and (c.state = 'PENDING' or c.reported_version <> c.version)`,
    'endpoint_configs_open',
  ],
  [
    'the units that a job has touched',
    `select u.number from job_units u where u.org = 1 and u.job_id = 2 and u.number >= 1 and u.number <= 9 and exists
      (select 1 from job_endpoints e where e.org = u.org and e.job_id = u.job_id and e.unit = u.number and e.state = 'DONE')`,
    'job_endpoints_unit',
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
  const recorder = new OrgReader({ org: 1, access: RegionAccess.everything }, 'sqlite', {
    kysely: db.system.kysely,
    run(query) {
      recorded = query
      return []
    },
  })
  await listPairedEndpoints(recorder, { ids: [] })
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

/** Returns the statements of a work with their parameters, without running them. */
async function recordStatements(work: (tx: TelemetryTx) => Promise<unknown>) {
  const recorded: { readonly sql: string; readonly values: readonly unknown[] }[] = []
  const recorder = new TelemetryTx({ org: 1, access: RegionAccess.everything }, engine, {
    kysely: harness.services.db.system.kysely,
    run(query, values) {
      recorded.push({ sql: query.sql, values })
      return []
    },
  })
  await work(recorder)
  return recorded
}

test.runIf(engine === 'postgres').each([2_000, 20_000])(
  'rollups find the rows of each endpoint by the whole key, with %i endpoints in the organisation and a plan for any values',
  async (endpoints) => {
    const { db } = harness.services
    const dayNumber = 20_000
    await makePartition(db, dayNumber, 1000)
    const quarter = dayNumber * 96
    const statements = [
      ...(await recordStatements((tx) => updateQuarters(tx, [[7, quarter * 3, quarter]]))),
      ...(await recordStatements((tx) =>
        updateRollups(tx, 'sample_hours', [[7, quarter, quarter + 4, dayNumber * 24]]),
      )),
    ]
    expect(statements).toHaveLength(4)
    const client = new pg.Client({ connectionString: harness.place.databaseUrl })
    await client.connect()
    onTestFinished(() => client.end())
    const counts = sensorColumns.map((column) => `${column}_count`).join()
    await client.query('begin')
    await client.query(`insert into samples (org, slot, endpoint, timestamp, shutter_closed)
      select 1, ${quarter * 3} + n % 12, n / 12, ${quarter * 900} + n % 12 * 300, 0 from generate_series(0, ${endpoints * 12 - 1}) n`)
    await client.query(`insert into sample_quarters (org, endpoint, slot, room, ${counts})
      select 1, n / 4, ${quarter} + n % 4, 0${', 0'.repeat(sensorColumns.length)} from generate_series(0, ${endpoints * 4 - 1}) n`)
    await client.query('analyze samples, sample_quarters')
    await client.query('set local plan_cache_mode = force_generic_plan')
    const plans: string[] = []
    for (const [i, { sql: text, values }] of statements.entries()) {
      await client.query(`prepare rollup_${i} as ${text}`)
      const list = values.map((value) => (typeof value === 'number' ? value : `'${value}'`)).join(', ')
      const { rows } = await client.query(`explain execute rollup_${i}(${list})`)
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
    }
    await client.query('rollback')
    const [ofQuarters, ofHours] = plans.filter((plan) => plan.includes('Insert on'))
    expect(ofQuarters).toMatch(/Index Cond: \(\(org = \$\d\) AND \(slot = .*\) AND \(endpoint = /)
    expect(ofHours).toMatch(/Index Cond: \(\(org = \$\d\) AND \(endpoint = .*\) AND \(slot >= .*\) AND \(slot < /)
    // Deleting from a small table is cheaper with a scan.
    const checked = endpoints < 10_000 ? [ofQuarters, ofHours] : plans
    for (const plan of checked) expect(plan).not.toMatch(/Seq Scan on (samples|sample_quarters)/)
  },
)

test.runIf(engine === 'postgres')(
  'units of a job that was just made are found by their numbers among 100,000',
  async () => {
    const job = 1
    const range = { job, from: 1, to: 500 }
    const unit = {
      job,
      number: 7,
      from: 'PENDING',
      to: 'WAITING',
      reason: null,
      soakUntil: null,
      endedAt: null,
    } as const
    const statements = await recordStatements(async (tx) => {
      await updateUnitState(tx, unit)
      await restartRange(tx as unknown as Tx, { ...range, now: 1, soakUntil: 1 })
      await listUnitsInRollback(tx, { ...range, since: 1 })
    })
    const client = new pg.Client({ connectionString: harness.place.databaseUrl })
    await client.connect()
    onTestFinished(() => client.end())
    await client.query('begin')
    // PostgreSQL has no statistics of these rows for about a minute, and none are collected here.
    await client.query('set local session_replication_role = replica')
    await client.query(`insert into job_units (org, job_id, number, stage, state, name, endpoint_count)
      select 1, ${job}, n, 1, 'PENDING', 'Room ' || n, 1 from generate_series(1, 100000) n`)
    for (const [i, { sql: text, values }] of statements.entries()) {
      await client.query(`prepare of_units_${i} as ${text}`)
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        await client.query(`set local plan_cache_mode = ${mode}`)
        const { rows } = await client.query(`explain execute of_units_${i}(${values.map(literal).join(', ')})`)
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
        const condition = /on job_units.*\n\s+Index Cond: (.*)/.exec(plan)?.[1]
        expect(condition, plan).toMatch(/\bnumber (=|>=)/)
      }
    }
    await client.query('rollback')
  },
)

/** A value of a statement as PostgreSQL reads it. */
const literal = (value: unknown): string =>
  value === null ? 'null' : typeof value === 'number' ? String(value) : `'${value}'`
