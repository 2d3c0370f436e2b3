// Rollups equal a recomputation from raw samples, also after late samples, moves and a change of the time zone.
import fc from 'fast-check'
import { type Selectable, sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { engine, type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { runCount } from '../../../../test/support/long-form.ts'
import { until } from '../../../../test/support/program.ts'
import { dayOf } from '../../core/time/time-zone.ts'
import { OrgDatabase } from '../../db/org-database.ts'
import {
  type DatabaseSchema,
  type Rollup,
  roomDaySensors,
  type SensorColumn,
  sensorColumns,
} from '../../db/schema/schema.ts'
import { decodeQuarters, notMeasured } from './quarter-values.ts'
import { rollUp } from './roll-up.ts'
import type { RollupTable } from './store.ts'

/** Clocks go forward in Oslo on the night after this noon. */
const noon = Date.UTC(2026, 2, 28, 12) / 1000
let harness: Harness
let org: TestOrg
let rooms: number[]
const devices: TestDevice[] = []
beforeAll(async () => {
  // The tests roll up by themselves. On PostgreSQL a task makes partitions.
  harness = await startHarness({}, engine === 'sqlite' ? { taskPauseShare: 500 } : {})
})
afterAll(async () => {
  for (const device of devices) await device.close()
  await harness.close()
})

async function begin(zone = 'UTC') {
  harness.clock.fix(noon * 1000)
  org = await harness.newOrg()
  await setZone(zone)
  rooms = []
  for (const name of ['Fjord', 'Fuji']) rooms.push((await org.call('POST', '/rooms', { body: { name } })).body.id)
  const device = await newDevice(harness, org, { roomId: rooms[0] as number })
  devices.push(device)
  return device
}
const setZone = (timezone: string) =>
  harness.services.db.systemTransaction((tx) =>
    tx.kysely.updateTable('orgs').set({ timezone }).where('key', '=', org.org.key).execute(),
  )
const rows = <T extends RollupTable | 'samples' | 'endpoint_rooms' | 'sample_due' | 'sample_progress' | 'room_days'>(
  table: T,
) =>
  harness.services.db.system.kysely
    .selectFrom(table as 'samples')
    .selectAll()
    .where('org', '=', org.org.key)
    .execute() as Promise<Selectable<DatabaseSchema[T]>[]>
const stored = async (table: RollupTable) => sorted((await rows(table)) as unknown as Rollup[])
const due = async () => (await rows('sample_due')).map((row) => row.slot)

const order = (row: Rollup) => [row.endpoint, row.slot, row.room].map((n) => String(n).padStart(9, '0')).join()
const sorted = (list: readonly Rollup[]) => list.toSorted((a, b) => (order(a) < order(b) ? -1 : 1))

/** The room of an endpoint at the time of a sample. Of two stays the one that started later counts. */
const roomAt = (
  stays: readonly { endpoint: number; since: number; until: number | null; room_id: number }[],
  { endpoint, timestamp }: { endpoint: number; timestamp: number },
): number =>
  stays
    .filter((stay) => stay.endpoint === endpoint && stay.since <= timestamp)
    .filter(({ until }) => until === null || timestamp < until)
    .toSorted((a, b) => a.since - b.since)
    .at(-1)?.room_id ?? 0

/** A plain recomputation from the tables of samples and of rooms. */
async function recomputed(slotOf: (timestamp: number) => number): Promise<Rollup[]> {
  const stays = await rows('endpoint_rooms')
  const buckets = Map.groupBy(await rows('samples'), (s) => {
    return JSON.stringify([s.endpoint, slotOf(s.timestamp), roomAt(stays, s)])
  })
  return sorted(
    [...buckets].map(([key, samples]) => {
      const [endpoint, slot, room] = JSON.parse(key)
      const statistics = (column: SensorColumn) => {
        const values = samples.map((s) => s[column]).filter((value) => value !== null)
        const none = values.length === 0
        return {
          [`${column}_count`]: values.length,
          [`${column}_min`]: none ? null : Math.min(...values),
          [`${column}_max`]: none ? null : Math.max(...values),
          [`${column}_sum`]: none ? null : values.reduce((a, b) => a + b, 0),
        }
      }
      return Object.assign({ org: org.org.key, endpoint, slot, room }, ...sensorColumns.map(statistics)) as Rollup
    }),
  )
}
/** The quarters of rooms as reports define them, from raw samples. */
async function recomputedRooms(): Promise<Record<string, number>> {
  const { kysely } = harness.services.db.system
  const stays = await rows('endpoint_rooms')
  const flags = await kysely.selectFrom('endpoints').select(['number', 'presence_only']).execute()
  const measured = (await rows('samples')).flatMap((sample) =>
    roomDaySensors.flatMap((sensor) => {
      const [room, value] = [roomAt(stays, sample), sample[sensor]]
      if (room === 0 || value === null) return []
      return [{ key: `${room} ${Math.floor(sample.timestamp / 900)} ${sensor}`, room, value, ...sample }]
    }),
  )
  return Object.fromEntries(
    [...Map.groupBy(measured, ({ key }) => key)].map(([key, list]) => {
      const devices = [...Map.groupBy(list, ({ endpoint }) => endpoint)]
        .sort(([a], [b]) => a - b)
        .map(([endpoint, samples]) => {
          const ended = stays.filter((r) => r.endpoint === endpoint && r.room_id === samples[0]?.room)
          const flag = ended.at(-1)?.presence_only ?? flags.find((f) => f.number === endpoint)?.presence_only
          return { isPresence: flag === 1, mean: samples.reduce((sum, { value }) => sum + value, 0) / samples.length }
        })
      if (!key.endsWith(' people')) {
        return [key, Math.round(devices.reduce((sum, { mean }) => sum + mean, 0) / devices.length) || 0]
      }
      const most = Math.max(...devices.map(({ mean }) => Math.round(mean * 100)))
      const isCounted = devices.some(({ mean, isPresence }) => !isPresence && Math.round(mean * 100) === most)
      return [key, most * 2 + (isCounted ? 0 : 1)]
    }),
  )
}
async function storedRooms(): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const row of await rows('room_days')) {
    for (const sensor of roomDaySensors) {
      decodeQuarters(row[sensor], sensor).forEach((value, i) => {
        if (value !== notMeasured) found[`${row.room} ${row.day * 96 + i} ${sensor}`] = value
      })
    }
  }
  return found
}

async function expectRight(zone: string) {
  expect(await storedRooms()).toEqual(await recomputedRooms())
  expect(await stored('sample_quarters')).toEqual(await recomputed((t) => Math.floor(t / 900)))
  expect(await stored('sample_hours')).toEqual(await recomputed((t) => Math.floor(t / 3600)))
  expect(await stored('sample_days')).toEqual(await recomputed((t) => dayOf(zone, t)))
}

test('a quarter is rolled up a minute after its end, and again when a late sample comes', async () => {
  const device = await begin()
  const at = (seconds: number) => ({ timestamp: noon + seconds, co2: 400 + seconds, temp: 20.5 })
  await device.publish('sample', { samples: [at(0), at(60)] })
  harness.clock.advance(959_000)
  await rollUp(harness.services)
  expect([await due(), await stored('sample_quarters')]).toEqual([[noon / 900], []])
  harness.clock.advance(1_000)
  await rollUp(harness.services)
  expect(await due()).toEqual([])
  await expectRight('UTC')
  expect(await stored('sample_quarters')).toMatchObject([
    { co2_count: 2, co2_min: 400, co2_sum: 860, temp_max: 205, voc_count: 0 },
  ])

  await device.publish('sample', { samples: [at(120), at(60)] })
  expect(await due()).toEqual([noon / 900])
  await rollUp(harness.services)
  expect(await stored('sample_hours')).toMatchObject([{ co2_count: 3, co2_max: 520 }])
  await expectRight('UTC')
})

test('a sample counts for the room that the endpoint was in when it was measured, before it was enrolled too', async () => {
  const device = await begin()
  harness.clock.advance(600_000)
  await org.call('POST', '/endpoints/move_paired', { body: { endpointIds: [device.id], roomId: rooms[1] } })
  await device.publish('sample', { samples: [-3600, 599, 600, 601].map((s) => ({ timestamp: noon + s, people: 1 })) })
  harness.clock.advance(3_600_000)
  await org.call('DELETE', `/endpoints/${device.id}`)
  await rollUp(harness.services)
  const byRoom = (await stored('sample_quarters')).map((row) => [row.slot - noon / 900, row.room, row.people_count])
  expect(byRoom).toEqual([
    [-4, rooms[0], 1],
    [0, rooms[0], 1],
    [0, rooms[1], 2],
  ])
  await expectRight('UTC')
})

test('a clock that was set back changes rooms in the past: rollups follow', async () => {
  const device = await begin()
  const send = (from: number) =>
    device.publish('sample', {
      samples: Array.from({ length: 15 }, (_, i) => ({ timestamp: from + i * 60, people: 1 })),
    })
  harness.clock.advance(3_600_000)
  await send(noon + 1800)
  await rollUp(harness.services)
  harness.clock.fix((noon + 600) * 1000)
  await org.call('POST', '/endpoints/move_paired', { body: { endpointIds: [device.id], roomId: rooms[1] } })
  harness.clock.fix((noon + 7200) * 1000)
  await device.publish('sample', { samples: [{ timestamp: noon + 1801, people: 1 }] })
  await rollUp(harness.services)
  expect((await stored('sample_quarters')).map((row) => [row.room, row.people_count])).toEqual([[rooms[1], 16]])
  await expectRight('UTC')
})

test('when the time zone of the organisation changes, its days are computed again', async () => {
  const device = await begin('Asia/Tokyo')
  const samples = Array.from({ length: 200 }, (_, i) => ({ timestamp: noon - i * 1800, people: i % 7 }))
  await device.publish('sample', { samples })
  harness.clock.advance(3_600_000)
  await rollUp(harness.services)
  await expectRight('Asia/Tokyo')
  for (const zone of ['America/Los_Angeles', 'Asia/Kathmandu', 'UTC']) {
    await setZone(zone)
    await rollUp(harness.services)
    await expectRight(zone)
  }
})

test('rollups equal a recomputation, whatever samples arrive in whatever order', async () => {
  const sample = fc.record({
    timestamp: fc.integer({ min: noon - 2 * 86_400, max: noon + 60 }),
    co2: fc.option(fc.integer({ min: 0, max: 2000 }), { nil: null }),
    people: fc.option(fc.integer({ min: 0, max: 4 }), { nil: null }),
    temp: fc.option(
      fc.integer({ min: -400, max: 850 }).map((n) => n / 10),
      { nil: null },
    ),
  })
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ send: fc.array(sample, { minLength: 1, maxLength: 30 }) }) },
    { weight: 1, arbitrary: fc.record({ moveTo: fc.constantFrom(0, 1) }) },
    { weight: 2, arbitrary: fc.record({ wait: fc.integer({ min: 0, max: 3000 }) }) },
  )
  const zone = fc.constantFrom('UTC', 'Europe/Oslo', 'Asia/Kathmandu', 'Africa/Cairo')
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), zone, async (steps, zone) => {
      const device = await begin(zone)
      const presence = await newDevice(harness, org, { roomId: rooms[0] as number, model: 'AQ-2' })
      await presence.publish('status', { sensors: ['people', 'co2'], peopleIs: 'PRESENCE' })
      for (const step of steps) {
        if ('send' in step) {
          await device.publish('sample', { samples: step.send })
          await presence.publish('sample', { samples: step.send.slice(1) })
        }
        if ('moveTo' in step) {
          const body = { endpointIds: [device.id], roomId: rooms[step.moveTo] }
          expect((await org.call('POST', '/endpoints/move_paired', { body })).status).toBe(200)
        } else if ('wait' in step) {
          harness.clock.advance(step.wait * 1000)
          await rollUp(harness.services)
        }
      }
      harness.clock.advance(3_600_000)
      await rollUp(harness.services)
      expect(await due()).toEqual([])
      await expectRight(zone)
      await device.close()
      await presence.close()
    }),
    { numRuns: runCount({ short: 10, full: 25, long: 25 }) },
  )
})

test.runIf(engine === 'postgres')(
  'a sample that another node commits while its quarter is rolled up is in the rollup in the end',
  async () => {
    const device = await begin()
    const timestamp = noon - 1000
    await device.publish('sample', { samples: [{ timestamp, co2: 400 }] })
    const [first] = await rows('samples')
    const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>()
    const { promise: isWritten, resolve: noteWritten } = Promise.withResolvers<void>()
    const quarter = Math.floor(timestamp / 900)
    // The other node has written its sample and the mark, and commits when the rollup has begun.
    const other = harness.services.db.schema.transaction().execute(async (kysely) => {
      const sample = { ...first, timestamp: timestamp + 1, co2: 500 } as NonNullable<typeof first>
      await kysely.insertInto('samples').values(sample).execute()
      const mark = { org: sample.org, endpoint: sample.endpoint, slot: quarter }
      await sql`insert into sample_due (org, endpoint, slot) values (${mark.org}, ${mark.endpoint}, ${mark.slot})
        on conflict (org, endpoint, slot) do update set slot = excluded.slot where false`.execute(kysely)
      noteWritten()
      await mayCommit
    })
    await isWritten
    const rolling = rollUp(harness.services)
    const waiting = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await until('the rollup waits', async () => (await waiting.execute(harness.services.db.schema)).rows.length > 0)
    commit()
    await Promise.all([other, rolling])
    expect(await stored('sample_quarters')).toMatchObject([{ slot: quarter, co2_count: 2, co2_sum: 900 }])
    expect(await due()).toEqual([])
  },
)

test('one commit takes hundreds of quarters on PostgreSQL, and at most 50 on SQLite', async () => {
  const device = await begin()
  await device.publish('sample', { samples: [{ timestamp: noon - 1000, co2: 400 }] })
  await rollUp(harness.services)
  const endpoint = (await rows('samples'))[0]?.endpoint ?? 0
  const count = 1000
  const last = noon / 900 - 2
  const marks = Array.from({ length: count }, (_, i) => ({ org: org.org.key, endpoint, slot: last - i }))
  await harness.services.db.systemTransaction(({ kysely }) => kysely.insertInto('sample_due').values(marks).execute())
  const stopping = new AbortController()
  const commit = OrgDatabase.prototype.telemetry
  let commits = 0
  const counting = vi.spyOn(OrgDatabase.prototype, 'telemetry').mockImplementation(function (this: OrgDatabase, work) {
    if (this.org === org.org.key) {
      commits++
      stopping.abort()
    }
    return commit.call(this, work) as never
  })
  onTestFinished(() => counting.mockRestore())
  await rollUp(harness.services, stopping.signal)
  expect(commits).toBe(1)
  expect(count - (await due()).length).toBe(engine === 'postgres' ? 500 : 50)
  await rollUp(harness.services)
  expect(await due()).toEqual([])
  // A slow machine makes later commits smaller.
  if (engine === 'postgres') expect(commits).toBeLessThanOrEqual(count / 100)
  await expectRight('UTC')
})

test('the rollups of rooms of an earlier version are made once, the newest day first, and go on where they stopped', async () => {
  const device = await begin()
  const samples = Array.from({ length: 40 }, (_, i) => ({ timestamp: noon - i * 7200, people: i % 3, co2: 400 + i }))
  await device.publish('sample', { samples })
  harness.clock.advance(3_600_000)
  await rollUp(harness.services)
  await expectRight('UTC')
  const { db } = harness.services
  const days = async () => (await rows('room_days')).map(({ day }) => day).sort((a, b) => a - b)
  const from = async () => (await rows('sample_progress'))[0]?.room_days_from
  const all = await days()
  expect([await from(), all.length]).toEqual([0, 4])
  const forget = () =>
    db.systemTransaction(async ({ kysely }) => {
      await kysely.deleteFrom('room_days').where('org', '=', org.org.key).execute()
      await kysely.updateTable('sample_progress').set({ room_days_from: null }).where('org', '=', org.org.key).execute()
    })
  await forget()
  const stopping = new AbortController()
  const commit = OrgDatabase.prototype.telemetry
  const counting = vi.spyOn(OrgDatabase.prototype, 'telemetry').mockImplementation(async function (
    this: OrgDatabase,
    work,
  ) {
    const result = await commit.call(this, work as never)
    if (this.org === org.org.key && (await days()).length === 2) stopping.abort()
    return result as never
  })
  onTestFinished(() => counting.mockRestore())
  await rollUp(harness.services, stopping.signal)
  expect(await days()).toEqual(all.slice(2))
  await rollUp(harness.services)
  expect([await days(), await from()]).toEqual([all, 0])
  await expectRight('UTC')

  await forget()
  await db.systemTransaction(({ kysely }) =>
    kysely
      .insertInto('nodes')
      .values({
        name: 'older',
        version: '0.1',
        process: 'x',
        state: 'up',
        beats: 0,
        changes: 0,
        started_at: 0,
        ended_at: null,
      })
      .execute(),
  )
  await rollUp(harness.services)
  expect([await days(), await from()], 'a node of another version may still roll up samples').toEqual([[], null])
  await db.systemTransaction(({ kysely }) => kysely.deleteFrom('nodes').where('name', '=', 'older').execute())
  await rollUp(harness.services)
  expect([await days(), await from()]).toEqual([all, 0])
})
