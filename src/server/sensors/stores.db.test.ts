// Statements of samples: each size of an insert, each part of a history, and the latest samples.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../test/support/database/endpoint-rows.ts'
import { emptyRollup, openStores, type StoreWorld, storedAt } from '../../../test/support/database/store-world.ts'
import { programMigrations } from '../db/migrate.ts'
import { dialects } from '../db/migrations/dialect.ts'
import { sensorColumns } from '../db/schema/schema.ts'
import { sensorsIn } from '../devices/device-sensors.ts'
import { findNextSlot, listQuarters, listRaw, listRollups, listSums } from './history/store.ts'
import {
  insertSamples,
  listRevoked,
  type SampleRow,
  updateLatest,
  updateLatestReturning,
  valuesOf,
} from './ingest/store.ts'
import { listLatestOf, listLatestTimestamps } from './latest/store.ts'
import { makePartition } from './rollups/partitions.ts'
import { insertDue } from './rollups/store.ts'

let world: StoreWorld
const second = Math.floor(storedAt / 1000)
const slot = Math.floor(second / 300)
/** As many endpoints as make SQLite use each of its three statements. */
const endpoints = Array.from({ length: 111 }, (_, i) => i + 1)
const sampleAt = (timestamp: number, people: number): SampleRow => ({
  ...(Object.fromEntries(sensorColumns.map((column) => [column, people])) as Omit<
    SampleRow,
    'timestamp' | 'shutter_closed'
  >),
  timestamp,
  shutter_closed: null,
})
beforeAll(async () => {
  world = await openStores()
  const { db, org, put, here, write } = world
  if (db.engine === 'postgres') await makePartition(db, Math.floor(second / 86_400), 5_000)
  await write((tx) =>
    insertSamples(
      tx,
      endpoints.map((endpoint) => valuesOf(sampleAt(second, endpoint), org, slot, endpoint)),
    ),
  )
  const sums = Object.fromEntries(
    sensorColumns.flatMap((c) => [
      [`${c}_count`, 1],
      ...['min', 'max', 'sum'].map((name) => [`${c}_${name}`, 4] as const),
    ]),
  )
  for (const table of ['sample_quarters', 'sample_hours', 'sample_days'] as const) {
    for (const room of [1, 2]) {
      await put(table, { org, endpoint: here.number, slot: 5 + room, room, ...emptyRollup, ...sums })
    }
  }
})
afterAll(() => world.close())

test('many rows of samples, of latest samples and of due quarters are written with a few statements', async () => {
  const { db, all, org, write } = world
  const latest = (timestamp: number) => endpoints.map((endpoint) => valuesOf(sampleAt(timestamp, 1), org, endpoint))
  await write((tx) => updateLatest(tx, latest(second)))
  await write((tx) => updateLatest(tx, latest(second - 1)))
  const page = { after: 109, limit: 10 }
  expect(await listLatestTimestamps(all, page)).toEqual([110, 111].map((endpoint) => ({ endpoint, timestamp: second })))
  const updated = await write((tx) => updateLatestReturning(tx, latest(second + 1)))
  expect(updated).toHaveLength(111)
  expect(await listLatestOf(all, { endpoints: [7] })).toMatchObject([{ endpoint: 7, timestamp: second + 1, people: 1 }])
  await write((tx) =>
    insertDue(
      tx,
      endpoints.map((endpoint) => [org, endpoint, slot]),
    ),
  )
  const stored = await db.system.kysely.selectFrom('sample_due').select('endpoint').execute()
  expect(stored).toHaveLength(111)
  expect(await findNextSlot.sample_due(all, { endpoints: [3, 111], slot: 1 })).toEqual({ slot })
})

test('a history has the sensors that are asked for, in all rooms or in one', async () => {
  const { all, here } = world
  const endpoint = here.number
  const whose = (room: number) => ({ endpoints: [endpoint], room })
  for (const columns of [sensorColumns, ['people'] as const]) {
    const values = Object.fromEntries(columns.map((c) => [`${c}_sum`, 4]))
    for (const table of ['sample_quarters', 'sample_hours', 'sample_days'] as const) {
      const list = (room: number) => listRollups(all, table, columns, whose(room), { from: 0, to: 100 })
      expect((await list(0)).map((row) => row.slot).sort()).toEqual([6, 7])
      expect(await list(2)).toMatchObject([{ endpoint, slot: 7, ...values }])
      expect(await findNextSlot[table](all, { endpoints: [endpoint], slot: 7 })).toEqual({ slot: 7 })
    }
    expect((await listQuarters(all, columns, whose(0), [6, 7])).map((row) => row.slot).sort()).toEqual([6, 7])
    expect(await listQuarters(all, columns, whose(1), [6, 7])).toMatchObject([{ endpoint, slot: 6, ...values }])
    for (const room of [0, 1]) {
      const sums = await listSums(all, columns, whose(room), [slot])
      expect(sums).toMatchObject([{ slot, samples: 1, people_sum: endpoint }])
      const raw = await listRaw(all, columns, whose(room), [slot], { from: second, to: second + 1 })
      expect(raw).toMatchObject([{ endpoint, timestamp: second, people: endpoint }])
    }
    expect(await listSums(all, columns, whose(2), [slot]), 'the endpoint was in another room').toEqual([])
  }
})

test('credentials that no endpoint has are revoked', async () => {
  const { db, org, here, put } = world
  const [known, unknown] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  await put('credential_directory', { org, hash: known, endpoint_id: here.id })
  const hashes = [known, unknown].map((hash) => hash.toString('hex'))
  expect(await listRevoked(db.system, { hashes })).toEqual([{ hash: unknown.toString('hex') }])
})

test('the migration takes the sensors of an endpoint from its latest sample [contract 5.1.models]', async () => {
  const { db, put, rows, org } = world
  const [measuring, silent] = await putEndpoints(...rows, [{ number: 901 }, { number: 902 }])
  const nothing = Object.fromEntries(sensorColumns.map((column) => [column, null])) as Omit<SampleRow, 'timestamp'>
  const sample = { ...nothing, timestamp: second, co2: 0, voc_index: 7, shutter_closed: null }
  await put('samples_latest', { org, endpoint: 901, ...sample })
  const update = programMigrations.statements['021-sensors']?.(dialects[db.engine]).at(-1) ?? ''
  await sql.raw(update).execute(db.schema)
  const stored = await db.system.kysely.selectFrom('endpoints').select(['id', 'sensors_measured']).execute()
  const sensorsOf = (id = '') => sensorsIn(stored.find((row) => row.id === id)?.sensors_measured ?? 0)
  expect([sensorsOf(measuring?.id), sensorsOf(silent?.id)]).toEqual([['co2', 'vocIndex'], []])
})
