// Samples and rollups older than their retention are deleted, and nothing else.

import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { engine, type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { cpuLimitMs } from '../../../../test/support/long-form.ts'
import { longestTurn } from '../../../../test/support/longest-turn.ts'
import { daySeconds } from '../../../contract/durations.ts'
import { Horizon } from './horizon.ts'
import { deleteOldSamples } from './retention.ts'
import { rollUp } from './roll-up.ts'
import { SampleDeletion } from './sample-deletion.ts'

let harness: Harness
let org: TestOrg
let device: TestDevice
const horizon = new Horizon()
beforeAll(async () => {
  harness = await startHarness({ sampleRetentionDays: 3, rollupRetentionDays: 10, dailyRetentionDays: 20 })
  harness.clock.fix(Date.UTC(2026, 2, 2, 9, 20))
  org = await harness.newOrg()
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  device = await newDevice(harness, org, { roomId })
})
afterAll(async () => {
  await device.close()
  await harness.close()
})

const now = () => Math.floor(harness.clock.now() / 1000)
const ages = (column: string, table: string, length: number) => async () => {
  const rows = await sql<{
    slot: number
  }>`select ${sql.ref(column)} as slot from ${sql.table(table)} order by slot`.execute(
    harness.services.db.system.kysely,
  )
  return rows.rows.map(({ slot }) => Math.floor(now() / daySeconds) - Math.floor((slot * length) / daySeconds))
}
const samples = ages('timestamp', 'samples', 1)
const quarters = ages('slot', 'sample_quarters', 900)
const hours = ages('slot', 'sample_hours', 3600)
const days = ages('slot', 'sample_days', daySeconds)
const roomDays = ages('day', 'room_days', daySeconds)

async function sweep() {
  await rollUp(harness.services)
  await deleteOldSamples(harness.services, horizon)
}

test('raw samples, 15-minute and daily rollups go one after the other; the latest stays, however old', async () => {
  await device.publish('sample', {
    samples: [2 * daySeconds, daySeconds, 3600].map((age) => ({ timestamp: now() - age, people: 1 })),
  })
  await sweep()
  expect([await samples(), await quarters(), await hours(), await days()]).toEqual(Array(4).fill([2, 1, 0]))
  harness.clock.advance(2 * daySeconds * 1000)
  await sweep()
  expect(await samples()).toEqual([3, 2])
  harness.clock.advance(2 * daySeconds * 1000)
  await sweep()
  expect(await samples()).toEqual([])
  expect(await quarters()).toEqual([6, 5, 4])
  harness.clock.advance(7 * daySeconds * 1000)
  await sweep()
  expect([await samples(), await quarters(), await hours(), await days()]).toEqual([
    [],
    [12, 11],
    [12, 11],
    [13, 12, 11],
  ])
  expect(await roomDays()).toEqual([12, 11])
  harness.clock.advance(20 * daySeconds * 1000)
  await sweep()
  expect([await quarters(), await hours(), await days(), await roomDays()]).toEqual([[], [], [], []])
  expect((await org.call('GET', `/endpoints/${device.id}/sensor`)).body.endpointData.data[0].people).toBe(1)
})

test('deleting many old rows does not block the event loop, and newer rows stay', async () => {
  const { db } = harness.services
  const old = now() - 2 * daySeconds
  const { key } = org.org
  await device.publish('sample', { samples: [old, now()].map((timestamp) => ({ timestamp, people: 1 })) })
  const nothing = { co2: null, humidity: null, illumination: null, temp: null, voc: null, voc_index: null }
  const many = Array.from({ length: 30_000 }, (_, i) => ({
    ...{ ...nothing, org: key, endpoint: 1000 + Math.floor(i / 3), people: 1, shutter_closed: 0 },
    ...{ slot: Math.floor(old / 300), timestamp: old + (i % 3) },
  }))
  await db.systemTransaction(async ({ kysely }) => {
    for (let at = 0; at < many.length; at += 1000) {
      await kysely
        .insertInto('samples')
        .values(many.slice(at, at + 1000))
        .execute()
    }
  })
  expect(await samples()).toHaveLength(30_002)
  await rollUp(harness.services)
  harness.clock.advance(3 * daySeconds * 1000)
  let isOver = false
  const longestDeletionTurnMs = longestTurn(() => deleteOldSamples(harness.services, horizon)).finally(() => {
    isOver = true
  })
  // A device goes on sending during the deletion, and is answered.
  let sent = 0
  while (!isOver) await device.publish('sample', { samples: [{ timestamp: now() - sent++, people: 1 }] })
  expect(await longestDeletionTurnMs).toBeLessThan(cpuLimitMs(40))
  expect(await samples()).toEqual([3, ...Array(sent).fill(0)])
})

test('the task deletes old samples once an hour, and never before their quarters were rolled up', async () => {
  const { kysely } = harness.services.db.system
  const due = async () => (await kysely.selectFrom('sample_due').select('slot').execute()).length
  const sendOld = () => device.publish('sample', { samples: [{ timestamp: now() - 3600, people: 7 }] })
  const running = new AbortController()
  const run = (deletion: SampleDeletion) => deletion.run(harness.services, running.signal)
  const soon = new SampleDeletion(horizon, 0)
  const late = new SampleDeletion(horizon)
  await sendOld()
  harness.clock.advance(4 * daySeconds * 1000)
  await run(soon)
  expect([(await due()) > 0, (await samples()).length > 0], 'a quarter is due').toEqual([true, true])
  await rollUp(harness.services)
  await run(late)
  expect([await due(), (await samples()).length > 0], 'too early after the start').toEqual([0, true])
  await run(soon)
  expect(await samples()).toEqual([])
  await sendOld()
  harness.clock.advance(4 * daySeconds * 1000)
  await rollUp(harness.services)
  await run(soon)
  expect(await samples(), 'too early after the last time').toEqual([4])
  running.abort()
  await run(new SampleDeletion(horizon, 0))
  expect(await samples(), 'it was to stop').toEqual([4])
})

test('the latest sample of a deleted endpoint is deleted', async () => {
  const rows = () => harness.services.db.system.kysely.selectFrom('samples_latest').select('endpoint').execute()
  expect(await rows()).toHaveLength(1)
  await org.call('DELETE', `/endpoints/${device.id}`)
  await sweep()
  expect(await rows()).toEqual([])
})

test.runIf(engine === 'postgres')(
  'PostgreSQL keeps raw samples in a partition for each day, and drops it whole',
  async () => {
    const names = async () => {
      const { rows } = await sql<{ name: string }>`
      select inhrelid::regclass::text as name from pg_inherits where inhparent = 'samples'::regclass`.execute(
        harness.services.db.system.kysely,
      )
      return rows.map((row) => row.name)
    }
    const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fuji' } })).body.id
    const other = await newDevice(harness, org, { roomId })
    await other.publish('sample', { samples: [daySeconds, 0].map((age) => ({ timestamp: now() - age, people: 1 })) })
    const today = Math.floor(now() / daySeconds)
    expect(await names()).toEqual(expect.arrayContaining([`samples_day_${today - 1}`, `samples_day_${today}`]))
    harness.clock.advance(4 * daySeconds * 1000)
    await sweep()
    const last = `samples_day_${Math.floor(now() / daySeconds) - 4}`
    expect((await names()).filter((name) => name <= last)).toEqual([])
    await other.publish('sample', { samples: [{ timestamp: now(), people: 2 }] })
    expect(await names()).toContain(`samples_day_${Math.floor(now() / daySeconds)}`)
    await other.close()
  },
)
