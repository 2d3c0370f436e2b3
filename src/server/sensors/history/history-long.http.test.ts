// Long histories: they are walked in bounded steps over keys, and what is not rolled up yet, or was long ago, makes no difference.

import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { engine, type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { type PlainSample, plainHistory } from '../../../../test/support/plain-history.ts'
import { daySeconds } from '../../../contract/durations.ts'
import { type Interval, intervals } from '../../../contract/sensors/sensor-history.ts'
import { RegionAccess } from '../../core/region-access.ts'
import { daysIn, hours, quarters } from '../../core/time/slots.ts'
import { OrgReader } from '../../db/handles.ts'
import { rollUp } from '../rollups/roll-up.ts'
import { RollupReader } from './rollup-reader.ts'
import { findNextSlot, listDueIn, listQuarters, listRaw, listRollups, listStays, listSums } from './store.ts'
import { maxRowsPerSlice, walk } from './walk.ts'

const noon = Date.UTC(2026, 9, 28, 12) / 1000
let harness: Harness
let org: TestOrg
let device: TestDevice
const samples: PlainSample[] = []
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(noon * 1000)
  org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  device = await newDevice(harness, org, { roomId: 1 })
})
afterAll(async () => {
  await device.close()
  await harness.close()
})

async function send(times: readonly number[]) {
  for (let at = 0; at < times.length; at += 500) {
    const some = times.slice(at, at + 500).map((timestamp) => ({ timestamp, co2: timestamp % 1009 }))
    await device.publish('sample', { samples: some })
    for (const { timestamp, co2 } of some) samples.push({ endpointId: device.id, room: 1, timestamp, values: { co2 } })
  }
}
const every = (seconds: number, from: number, to: number) =>
  Array.from({ length: Math.ceil((to - from) / seconds) }, (_, i) => from + i * seconds)

const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

async function compare(interval: Interval, path: string) {
  const from = noon - 30 * daySeconds
  const question = { interval, fields: ['co2'], zone: 'Europe/Oslo', from, to: noon } as const
  const query = `${path}/sensor/history?from=${iso(from)}&interval=${interval}&timezone=Europe/Oslo&fields=co2`
  const expected = plainHistory(samples, question, path.startsWith('/rooms'))
  const found: object[] = []
  let token = ''
  do {
    const { body } = await org.call('GET', `${query}&pageSize=3000&pageToken=${token}`)
    found.push(...(body.buckets ?? body.samples))
    token = body.nextPageToken
  } while (token !== '')
  expect(found, `${path} ${interval}`).toEqual(expected)
  const { text } = await org.call('GET', query, { headers: { accept: 'text/csv' } })
  const column = interval === 'raw' ? 'co2' : 'co2_count'
  const [head = '', ...lines] = text.trimEnd().split('\r\n')
  const at = head.split(',').indexOf(column)
  const counts = (list: object[]) =>
    list.map((b) => (b as { co2: { count?: number } }).co2.count ?? (b as { co2: number }).co2)
  expect(lines.map((line) => Number(line.split(',')[at]))).toEqual(counts(expected))
}

test('a month is whole before, while and after it is rolled up, with its gaps and with what comes late [contract 6.sensorHistory]', async () => {
  const path = `/endpoints/${device.id}`
  // The first days sparsely, then nothing for a week, then a sample a minute, and some minutes with one a second.
  await send(every(900, noon - 29 * daySeconds, noon - 12 * daySeconds))
  await send(every(60, noon - 5 * daySeconds, noon - daySeconds))
  await send(every(1, noon - 1500, noon))
  const isDue = async () =>
    (await harness.services.db.system.kysely.selectFrom('sample_due').select('slot').execute()).length
  expect(await isDue(), 'more than a slice may have').toBeGreaterThan(2000)
  for (const interval of intervals) await compare(interval, path)
  for (const interval of intervals) await compare(interval, '/rooms/1')
  await rollUp(harness.services)
  expect(await isDue()).toBeLessThan(3)
  for (const interval of intervals) await compare(interval, path)
  await send(every(4000, noon - 29 * daySeconds + 7, noon - 12 * daySeconds))
  expect(await isDue()).toBeGreaterThan(300)
  for (const interval of intervals) await compare(interval, path)
  for (const interval of intervals) await compare(interval, '/rooms/1')
})

/** The real reader, and what was asked of it: how many rows came, and how the database went about it. */
function watched(): { on: OrgReader; asked: { rows: number; text: string; values: readonly unknown[] }[] } {
  const { db } = harness.services
  const asked: { rows: number; text: string; values: readonly unknown[] }[] = []
  const on = new OrgReader({ org: org.org.key, access: RegionAccess.everything }, db.engine, {
    kysely: db.system.kysely,
    async run(query, values) {
      const rows = await db.system.run(query, values)
      asked.push({ rows: rows.length, text: query.sql, values })
      return rows
    },
  })
  return { on, asked }
}

test('no query of a walk has many rows, and a gap of years takes a few', async () => {
  const { number: endpoint } = await harness.services.db.system.kysely
    .selectFrom('endpoints')
    .select('number')
    .where('id', '=', device.id)
    .executeTakeFirstOrThrow()
  const place = { room: 0, stays: [{ endpoint, since: 0, until: null }] }
  const sources = [
    { buckets: quarters, table: 'sample_quarters', slots: quarters, quartersInBucket: 1 },
    { buckets: hours, table: 'sample_hours', slots: hours, quartersInBucket: 4 },
    { buckets: daysIn('Asia/Tokyo'), table: 'sample_quarters', slots: quarters, quartersInBucket: 100 },
  ] as const
  for (const source of sources) {
    const { on, asked } = watched()
    const reader = new RollupReader(on, { ...source, columns: ['co2'], dayZone: undefined })
    const [first, end] = [source.buckets.at(0), source.buckets.at(4e9)]
    let items = 0
    for await (const slice of walk(on, place, reader, { first, end, maxItems: Number.POSITIVE_INFINITY })) {
      items += slice.items.length
    }
    expect(items).toBeGreaterThan(20)
    expect(Math.max(...asked.map(({ rows }) => rows))).toBeLessThanOrEqual(maxRowsPerSlice)
    expect(asked.length).toBeLessThan(150)
  }
})

test('every query goes by keys, and on PostgreSQL only to the days that it needs', async () => {
  const { on, asked } = watched()
  const slots = every(1, Math.floor((noon - 2 * daySeconds) / 300), Math.floor((noon - 2 * daySeconds) / 300) + 20)
  for (const room of [0, 1]) {
    const endpoints = [1, 2]
    const whose = { room, endpoints }
    for (const table of ['sample_quarters', 'sample_hours', 'sample_days'] as const) {
      await listRollups(on, table, ['co2'], whose, { from: 1, to: 1000 })
      await findNextSlot[table](on, { endpoints, slot: 5 })
    }
    await listQuarters(on, ['co2'], whose, [1, 2, 3])
    await listSums(on, ['co2'], whose, slots)
    await listRaw(on, ['co2'], whose, slots, { from: 0, to: noon })
    await listDueIn(on, { endpoints, from: 1, to: 10, limit: 200 })
    await findNextSlot.sample_due(on, { endpoints, slot: 5 })
    await listStays(on, { room: 1, from: 0, to: noon })
  }
  for (const { text, values } of asked) {
    const plan = await planOf(text, values)
    expect(plan, text).not.toMatch(/\bSCAN (?!json_each)|Seq Scan/)
    if (!text.includes('"samples"')) continue
    if (engine === 'sqlite') expect(plan).toMatch(/SEARCH s USING PRIMARY KEY \(org=\? AND slot=\? AND endpoint=\?/)
    else
      expect(new Set(plan.match(/samples_day_\d+(?= )/g)), plan).toEqual(
        new Set([`samples_day_${Math.floor(noon / daySeconds) - 2}`]),
      )
  }
})

async function planOf(text: string, values: readonly unknown[]): Promise<string> {
  const { kysely } = harness.services.db.system
  const compiled = (prefix: string) => ({ ...sql.raw(prefix + text).compile(kysely), parameters: values })
  if (engine === 'sqlite') {
    const { rows } = await kysely.executeQuery<{ detail: string }>(compiled('EXPLAIN QUERY PLAN '))
    return rows.map((r) => r.detail).join('\n')
  }
  // A tiny table is cheapest to read whole: ask what the planner does when it has a choice to make.
  return harness.services.db.systemTransaction(async (t) => {
    await sql`set local enable_seqscan = off`.execute(t.kysely)
    const { rows } = await t.kysely.executeQuery<{ 'QUERY PLAN': string }>(compiled('EXPLAIN '))
    return rows.map((r) => r['QUERY PLAN']).join('\n')
  })
}
