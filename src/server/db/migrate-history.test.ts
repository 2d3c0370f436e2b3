// The migration 004-history preserves samples, the latest sample of each endpoint, and its number.

import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { engine, newPlace } from '../../../test/support/harness.ts'
import { Database } from './db.ts'
import { migrate } from './migrate.ts'
import { openPostgres } from './postgres/pools.ts'
import { openSqlite } from './sqlite/sqlite.ts'

test('004-history numbers endpoints, preserves samples, and marks their slots as due', async () => {
  const { place, remove } = await newPlace()
  const db = new Database(
    place.databaseUrl
      ? openPostgres(place.databaseUrl, { onError() {} }).backend
      : openSqlite(`${place.dataDir}/before.db`).backend,
  )
  const run = (text: string) => sql.raw(text).execute(db.schema)
  const rows = async (text: string) => (await sql.raw<Record<string, unknown>>(text).execute(db.schema)).rows
  await migrate(db, '003-samples')
  await run("insert into orgs (id, name, created_at) values ('a', 'A', 0), ('b', 'B', 0)")
  await run(
    "insert into rooms (org, id, version, name, dec_sealed, dec_timeout) values (1, 7, 1, 'Fjord', '', 24)".replace(
      "''",
      engine === 'postgres' ? "''::bytea" : "x''",
    ),
  )
  const endpoint = (org: number, id: string, room: string) =>
    run(`insert into endpoints (org, id, version, serial, model, room_id, connected, enrolment_time, status)
      values (${org}, '${id}', 1, '${id}', 'NF19B1', ${room}, 0, 0, '{}')`)
  await endpoint(1, 'known', '7')
  await endpoint(1, 'new', '7')
  await endpoint(1, 'also new', 'null')
  await endpoint(2, 'other', 'null')
  await run("insert into counters (org, noun, last) values (1, 'endpoint', 5)")
  await run("insert into endpoint_numbers (org, endpoint_id, number) values (1, 'known', 4)")
  const day = 20_000 * 86_400
  for (const timestamp of [day, day + 10, day + 900, day + 86_400]) {
    await run(`insert into samples (org, slot, endpoint, timestamp, co2, temp, shutter_closed)
      values (1, ${Math.floor(timestamp / 300)}, 4, ${timestamp}, 420, 225, 0)`)
  }
  await run(`insert into samples_latest (org, endpoint_id, timestamp, people) values (1, 'known', ${day + 86_400}, 3)`)

  expect(await migrate(db, '004-history')).toEqual(['004-history'])
  expect(await rows('select org, id, number from endpoints order by org, number')).toEqual([
    { org: 1, id: 'known', number: 4 },
    { org: 1, id: 'also new', number: 6 },
    { org: 1, id: 'new', number: 7 },
    { org: 2, id: 'other', number: 1 },
  ])
  expect(await rows("select org, last from counters where noun = 'endpoint' order by org")).toEqual([
    { org: 1, last: 7 },
    { org: 2, last: 1 },
  ])
  expect(
    await rows('select endpoint, since, until, room_id, endpoint_id from endpoint_rooms order by endpoint'),
  ).toEqual([
    { endpoint: 4, since: 0, until: null, room_id: 7, endpoint_id: 'known' },
    { endpoint: 7, since: 0, until: null, room_id: 7, endpoint_id: 'new' },
  ])
  expect(await rows('select endpoint, timestamp, people from samples_latest')).toEqual([
    { endpoint: 4, timestamp: day + 86_400, people: 3 },
  ])
  expect(
    await rows('select endpoint, timestamp, co2, temp, people, shutter_closed from samples order by timestamp'),
  ).toEqual(
    [day, day + 10, day + 900, day + 86_400].map((timestamp) => ({
      ...{ endpoint: 4, timestamp, co2: 420, temp: 225, people: null, shutter_closed: 0 },
    })),
  )
  expect((await rows('select slot from sample_due order by slot')).map((row) => row.slot)).toEqual([
    day / 900,
    day / 900 + 1,
    day / 900 + 96,
  ])
  await db.close()
  await remove()
})
