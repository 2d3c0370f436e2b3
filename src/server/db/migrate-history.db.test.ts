// Migrations of databases with rows: 004-history preserves samples and numbers, 008-nodes what devices were doing, 011-people users and
// keys, 015-organisations the air limits, 016-messages what channels know, 031-report-history what is known of the past.

import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { engine, type Harness, newPlace } from '../../../test/support/harness.ts'
import { Database } from './db.ts'
import { migrate } from './migrate.ts'
import { openPostgres } from './postgres/pools.ts'
import { openSqlite } from './sqlite/sqlite.ts'

const openForMigration = (place: Harness['place']) =>
  new Database(
    place.databaseUrl
      ? openPostgres(place.databaseUrl, { onError() {} }).backend
      : openSqlite(`${place.dataDir}/before.db`).backend,
  )

test('004-history numbers endpoints, preserves samples, and marks their slots as due', async () => {
  const { place, remove } = await newPlace()
  const db = openForMigration(place)
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
  const midnightSeconds = 20_000 * 86_400
  for (const timestamp of [midnightSeconds, midnightSeconds + 10, midnightSeconds + 900, midnightSeconds + 86_400]) {
    await run(`insert into samples (org, slot, endpoint, timestamp, co2, temp, shutter_closed)
      values (1, ${Math.floor(timestamp / 300)}, 4, ${timestamp}, 420, 225, 0)`)
  }
  await run(
    `insert into samples_latest (org, endpoint_id, timestamp, people) values (1, 'known', ${midnightSeconds + 86_400}, 3)`,
  )

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
    { endpoint: 4, timestamp: midnightSeconds + 86_400, people: 3 },
  ])
  expect(
    await rows('select endpoint, timestamp, co2, temp, people, shutter_closed from samples order by timestamp'),
  ).toEqual(
    [midnightSeconds, midnightSeconds + 10, midnightSeconds + 900, midnightSeconds + 86_400].map((timestamp) => ({
      ...{ endpoint: 4, timestamp, co2: 420, temp: 225, people: null, shutter_closed: 0 },
    })),
  )
  expect((await rows('select slot from sample_due order by slot')).map((row) => row.slot)).toEqual([
    midnightSeconds / 900,
    midnightSeconds / 900 + 1,
    midnightSeconds / 900 + 96,
  ])
  await db.close()
  await remove()
})

test('008-nodes disconnects the devices of a server that crashed, and knows which commands it had sent', async () => {
  const { place, remove } = await newPlace()
  const db = openForMigration(place)
  const run = (text: string) => sql.raw(text).execute(db.schema)
  const rows = async (text: string) => (await sql.raw<Record<string, unknown>>(text).execute(db.schema)).rows
  await migrate(db, '007-past-credentials')
  await run("insert into orgs (id, name, created_at) values ('a', 'A', 0)")
  const endpoint = (id: string, number: number, connected: number) =>
    run(`insert into endpoints (org, id, number, version, serial, model, connected, connection_time, enrolment_time, status)
      values (1, '${id}', ${number}, 1, '${id}', 'NF19B1', ${connected}, 1000, 0, '{}')`)
  await endpoint('away', 1, 0)
  await endpoint('here', 2, 1)
  const command = (id: string, state: string, sentAt: string) =>
    run(`insert into operations (org, id, endpoint_id, type, state, payload, created_at, updated_at, deadline, sent_at, told_at)
      values (1, '${id}', 'here', 'REBOOT', '${state}', '{}', 0, 0, 0, ${sentAt}, ${sentAt})`)
  await command('queued', 'QUEUED', 'null')
  await command('sent', 'SENT', '5')

  const before = Date.now() - 60_000
  expect(await migrate(db, '008-nodes')).toEqual(['008-nodes'])
  const [away, here] = await rows('select node_id, connection, connection_time from endpoints order by id')
  expect(away).toEqual({ node_id: null, connection: 0, connection_time: 1000 })
  expect(here).toMatchObject({ node_id: null, connection: 0 })
  expect(here?.connection_time).toBeGreaterThan(before)
  expect(await rows('select id, sent_connection, told_connection from operations order by id')).toEqual([
    { id: 'queued', sent_connection: null, told_connection: null },
    { id: 'sent', sent_connection: 0, told_connection: 0 },
  ])
  await db.close()
  await remove()
})

test('011-people keeps users and keys: users see no region and must be invited, keys have the scopes that they had', async () => {
  const { place, remove } = await newPlace()
  const db = openForMigration(place)
  const run = (text: string) => sql.raw(text).execute(db.schema)
  const rows = async (text: string) => (await sql.raw<Record<string, unknown>>(text).execute(db.schema)).rows
  await migrate(db, '010-bundles')
  await run("insert into orgs (id, name, created_at) values ('a', 'A', 0)")
  const user = (id: number, role: string) =>
    run(
      `insert into users (org, id, version, email, email_key, role) values (1, ${id}, 1, '${id}', '${id}', '${role}')`,
    )
  await user(1, 'owner')
  await user(2, 'admin')
  const key = (id: number, read: number, write: number) =>
    run(`insert into api_keys (org, id, version, name, prefix, read, write, manage, created_at)
      values (1, ${id}, 1, 'k', 'rk_', ${read}, ${write}, 0, 0)`)
  await key(1, 1, 0)
  await key(2, 0, 1)
  await key(3, 1, 1)

  expect(await migrate(db, '011-people')).toEqual(['011-people'])
  expect(await rows('select role, state, all_regions, invited_at, signed_in_at from users order by id')).toEqual([
    { role: 'owner', state: 'INVITED', all_regions: 0, invited_at: null, signed_in_at: null },
    { role: 'admin', state: 'INVITED', all_regions: 0, invited_at: null, signed_in_at: null },
  ])
  expect(await rows('select read, operate, write, all_regions, user_id from api_keys order by id')).toEqual([
    { read: 1, operate: 0, write: 0, all_regions: 1, user_id: null },
    { read: 0, operate: 1, write: 1, all_regions: 1, user_id: null },
    { read: 1, operate: 1, write: 1, all_regions: 1, user_id: null },
  ])
  await user(3, 'viewer')
  await expect(user(4, 'guest')).rejects.toThrow(/check/i)
  const insert = (read: number, operate: number, write: number) =>
    run(`insert into api_keys (org, id, version, name, prefix, read, operate, write, manage, created_at)
      values (1, 4, 1, 'k', 'rk_', ${read}, ${operate}, ${write}, 0, 0)`)
  await expect(insert(0, 0, 0), 'a key with no scope').rejects.toThrow(/check/i)
  await expect(insert(1, 0, 1), 'Write without operate').rejects.toThrow(/check/i)
  await insert(0, 1, 0)
  await db.close()
  await remove()
})

test.each([
  ['co2=..800,voc=off,temp=18..27,humidity=25..65', 'co2=..800,voc=off,temp=18..27,humidity=25..65'],
  [undefined, 'co2=..1000,voc=..2000,temp=18..27,humidity=25..65'],
])('015-organisations gives every organisation the stored air limits: %s', async (stored, expected) => {
  const { place, remove } = await newPlace()
  const db = openForMigration(place)
  const run = (text: string) => sql.raw(text).execute(db.schema)
  const rows = async (text: string) => (await sql.raw<Record<string, unknown>>(text).execute(db.schema)).rows
  await migrate(db, '014-node-certificates')
  await run("insert into orgs (id, name, created_at) values ('a', 'A', 0), ('b', 'B', 0)")
  if (stored) await run(`insert into settings (name, value) values ('air-limits', '${stored}')`)
  expect(await migrate(db, '015-organisations')).toEqual(['015-organisations'])
  // A node of the version before creates organisations like this.
  await run("insert into orgs (id, name, created_at) values ('c', 'C', 0)")
  const usual = 'co2=..1000,voc=..2000,temp=18..27,humidity=25..65'
  const others = { version: 1, working_hours: null }
  expect(await rows('select version, air_limits, working_hours from orgs order by id')).toEqual(
    [expected, expected, usual].map((air_limits) => ({ ...others, air_limits })),
  )
  await db.close()
  await remove()
})

test('016-messages lets channels know the incidents that are open, but not those whose openings wait', async () => {
  const { place, remove } = await newPlace()
  const db = openForMigration(place)
  const run = (text: string) => sql.raw(text).execute(db.schema)
  const rows = async (text: string) => (await sql.raw<Record<string, unknown>>(text).execute(db.schema)).rows
  await migrate(db, '015-organisations')
  await run("insert into orgs (id, name, created_at) values ('a', 'A', 0), ('b', 'B', 0)")
  const none = engine === 'postgres' ? "''::bytea" : "x''"
  for (const [org, id] of [
    [1, 1],
    [1, 2],
    [2, 1],
  ]) {
    await run(`insert into channels (org, id, version, name, kind, enabled, settings, secrets, created_at)
      values (${org}, ${id}, 1, 'c', 'webhook', 1, '{}', ${none}, 0)`)
  }
  for (const [id, state] of [
    [1, 'OPEN'],
    [2, 'ACKNOWLEDGED'],
    [3, 'RESOLVED'],
    [4, 'OPEN'],
  ]) {
    await run(`insert into incidents (org, id, version, rule, severity, state, level, cause_id, cause_name, detail, since, opened_at, updated_at)
      values (1, ${id}, 1, 'storage.low', 'WARNING', '${state}', 'ENDPOINT', 'e', 'e', '{}', 0, 0, 0)`)
    await run(`insert into incident_subjects (org, incident_id, subject_type, subject_id, name, since, ended_at)
      values (1, ${id}, 'endpoint', 'a', 'a', 0, null), (1, ${id}, 'endpoint', 'b', 'b', 0, 5)`)
  }
  const message = async (type: string, key: string, channel: number, sequence: string) => {
    const text = `insert into messages (org, id, type, order_key, data, created_at) values (1, 'm', '${type}', '${key}', '{}', 0)`
    const [written] = await rows(`${text} returning number`)
    await run(`insert into deliveries (org, channel_id, message, sequence, state, next_at)
      values (1, ${channel}, ${written?.number}, ${sequence}, 'WAITING', 0)`)
    return written?.number
  }
  await message('incident.opened', 'incident 4', 1, 'null')
  const digest = await message('incident.digest', 'digest 2', 2, '1')

  expect(await migrate(db, '016-messages')).toEqual(['016-messages'])
  expect(await rows('select * from announced_incidents order by org, channel_id, incident_id')).toEqual(
    [
      { channel_id: 1, incident_id: 1, message: 0 },
      { channel_id: 1, incident_id: 2, message: 0 },
      { channel_id: 2, incident_id: 1, message: digest },
      { channel_id: 2, incident_id: 2, message: digest },
      { channel_id: 2, incident_id: 4, message: digest },
    ].map((row) => ({ org: 1, ...row, size: 1, has_grown: 0 })),
  )
  await db.close()
  await remove()
})

test('031-report-history keeps what is known of ended stays and of acknowledged incidents, and since when the rest is', async () => {
  const { place, remove } = await newPlace()
  const db = openForMigration(place)
  const run = (text: string) => sql.raw(text).execute(db.schema)
  const rows = async (text: string) => (await sql.raw<Record<string, unknown>>(text).execute(db.schema)).rows
  await migrate(db, '030-item-targets')
  await run("insert into orgs (id, name, created_at) values ('a', 'A', 0)")
  await run(`insert into endpoints (org, id, version, serial, model, enrolment_time, status, number, presence_only)
    values (1, 'here', 1, 'S1', 'AQ-2', 0, '{"kind":"SENSOR"}', 4, 1)`)
  await run(`insert into endpoint_rooms (org, endpoint, since, until, room_id, endpoint_id)
    values (1, 4, 0, 10, 7, 'here'), (1, 4, 10, null, 8, 'here'), (1, 5, 0, 20, 7, 'gone')`)
  for (const id of [1, 2]) {
    await run(`insert into incidents (org, id, version, rule, severity, state, level, cause_id, cause_name, since, opened_at, updated_at)
      values (1, ${id}, 1, 'storage.low', 'WARNING', 'OPEN', 'ENDPOINT', 'e', 'e', 0, 0, 0)`)
    for (const [number, at, kind] of [
      [1, 0, 'OPENED'],
      [2, 40, id === 1 ? 'ACKNOWLEDGED' : 'COMMENT'],
      [3, 90, id === 1 ? 'ACKNOWLEDGED' : 'COMMENT'],
    ]) {
      await run(
        `insert into incident_timeline (org, incident_id, number, at, kind) values (1, ${id}, ${number}, ${at}, '${kind}')`,
      )
    }
  }

  const startedAt = Date.now()
  expect(await migrate(db, '031-report-history')).toEqual(['031-report-history'])
  const [{ past_known_from } = {}] = await rows('select past_known_from from orgs')
  // The clocks of two machines may differ.
  expect(Math.abs(Number(past_known_from) - startedAt)).toBeLessThan(60_000)
  await run("insert into orgs (id, name, created_at) values ('b', 'B', 0)")
  expect(await rows("select past_known_from from orgs where id = 'b'")).toEqual([{ past_known_from: 0 }])
  const columns = 'endpoint, since, serial, model, reported_kind, presence_only'
  const unknown = { serial: null, model: null, reported_kind: null, presence_only: null }
  expect(await rows(`select ${columns} from endpoint_rooms order by endpoint, since`)).toEqual([
    { endpoint: 4, since: 0, serial: 'S1', model: 'AQ-2', reported_kind: 'SENSOR', presence_only: 1 },
    { endpoint: 4, since: 10, ...unknown },
    { endpoint: 5, since: 0, ...unknown },
  ])
  expect(await rows('select id, acknowledged_at from incidents order by id')).toEqual([
    { id: 1, acknowledged_at: 40 },
    { id: 2, acknowledged_at: null },
  ])
  await db.close()
  await remove()
})
