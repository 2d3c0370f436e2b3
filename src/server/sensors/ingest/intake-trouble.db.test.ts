// Samples while the database fails, and samples older than those that were deleted.

import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countCpuWaits } from '../../../../test/support/cpu-time.ts'
import { storedConnection } from '../../../../test/support/devices/stored-connection.ts'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { engine, type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { daySeconds } from '../../../contract/durations.ts'
import type { Services } from '../../context/services.ts'
import type { Database } from '../../db/db.ts'
import { openDatabase } from '../../db/open.ts'
import type { DeviceConnection } from '../../devices/mqtt/handlers.ts'
import { LatestSampleCache } from '../latest/cache.ts'
import { Horizon } from '../rollups/horizon.ts'
import { listDays, makePartitions } from '../rollups/partitions.ts'
import { deleteOldSamples } from '../rollups/retention.ts'
import { rollUp } from '../rollups/roll-up.ts'
import { SampleIntake } from './intake.ts'

const noon = Date.UTC(2026, 2, 2, 12) / 1000
let harness: Harness
let org: TestOrg
let device: TestDevice
let session: DeviceConnection
beforeAll(async () => {
  harness = await startHarness({ sampleRetentionDays: 3 })
  harness.clock.fix(noon * 1000)
  org = await harness.newOrg()
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  device = await newDevice(harness, org, { roomId })
  session = await storedConnection(harness.services, device.id, device.credential)
})
afterAll(async () => {
  await device.close()
  await harness.close()
})

/** The real database, except that its transactions can be made to fail. */
function groundWith(systemTransaction: Database['systemTransaction']): Services {
  const { db } = harness.services
  const alterTable: Database['alterTable'] = (...change) => db.alterTable(...change)
  return { ...harness.services, db: { engine, systemTransaction, alterTable } as Database }
}
const sample = (timestamp: number, co2: number) => ({ samples: [{ timestamp, co2 }] })
const stored = async () => {
  const rows = await harness.services.db.system.kysely.selectFrom('samples').select(['timestamp', 'co2']).execute()
  return new Map(rows.map((row) => [row.timestamp, row.co2]))
}

test('a commit that could not even begin fails its samples, and none that come later', async () => {
  let isGone = true
  const services = groundWith((work) => {
    if (!isGone) return harness.services.db.systemTransaction(work)
    isGone = false
    return Promise.reject(new Error('gone'))
  })
  const intake = new SampleIntake(services, new LatestSampleCache(harness.services), new Horizon())
  await expect(intake.receive(session, sample(noon - 100, 1))).rejects.toThrow('gone')
  await intake.receive(session, sample(noon - 99, 2))
  expect([...(await stored())]).toEqual([[noon - 99, 2]])
})

test('a commit whose answer was lost leaves no old sample in memory', async () => {
  const latest = new LatestSampleCache(harness.services)
  const inMemory = async () => (await latest.samples(org.org.key)).get(session.device.number)?.row.co2
  const services = groundWith(async (work) => {
    await harness.services.db.systemTransaction(work)
    throw new Error('the connection was lost')
  })
  expect(await inMemory()).toBe(2)
  const lost = new SampleIntake(services, latest, new Horizon()).receive(session, sample(noon, 900))
  await expect(lost).rejects.toThrow('the connection was lost')
  expect(await inMemory()).toBe(900)
})

test('samples of a time that was deleted before are refused when the retention becomes longer', async () => {
  const quarters = () =>
    harness.services.db.system.kysely.selectFrom('sample_quarters').selectAll().orderBy('slot').execute()
  const samples = Array.from({ length: 15 }, (_, i) => ({ timestamp: noon - daySeconds + i * 60, co2: 400 + i }))
  await device.publish('sample', { samples })
  await rollUp(harness.services)
  harness.clock.advance(3 * daySeconds * 1000)
  await rollUp(harness.services)
  const before = await quarters()
  await deleteOldSamples(harness.services, new Horizon())
  expect(await quarters()).toEqual(before)

  const services = {
    ...harness.services,
    settings: { ...harness.services.settings, sampleRetentionSeconds: 60 * daySeconds },
  }
  const horizon = await Horizon.load(harness.services.db)
  expect(horizon.samples).toBe(noon - 3600)
  const intake = new SampleIntake(services, new LatestSampleCache(harness.services), horizon)
  const late = await intake.receive(session, sample(noon - daySeconds + 30, 9999))
  expect(late?.refused[0]?.reason).toBe(
    'The sample is from before 2026-03-02T11:15:00.000Z, and nothing older is kept. Do not send it again.',
  )
  // A quarter that is due but no longer complete does no harm either.
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely
      .insertInto('sample_due')
      .values({ org: org.org.key, endpoint: session.device.number, slot: (noon - daySeconds) / 900 })
      .execute(),
  )
  await rollUp(services)
  expect(await quarters()).toEqual(before)
  expect(await harness.services.db.system.kysely.selectFrom('sample_due').selectAll().execute()).toEqual([])
})

test('a rollup that is to stop leaves what is due for the next time', async () => {
  const due = () => harness.services.db.system.kysely.selectFrom('sample_due').select('slot').execute()
  const now = harness.clock.now() / 1000
  await device.publish('sample', { samples: [{ timestamp: now - 3600, co2: 1 }] })
  await rollUp(harness.services, AbortSignal.abort())
  expect(await due()).toHaveLength(1)
  await rollUp(harness.services)
  expect(await due()).toHaveLength(0)
})

test.runIf(engine === 'postgres')(
  'a backup that holds the samples keeps no sample waiting, not even over midnight',
  async () => {
    const { db } = harness.services
    const signal = new AbortController().signal
    const today = Math.floor(harness.clock.now() / 1000 / daySeconds)
    await makePartitions(harness.services, signal)
    expect(await listDays(db)).toEqual([-3, -2, -1, 0, 1, 2].map((n) => today + n))
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    const { promise: held, resolve: holds } = Promise.withResolvers<void>()
    const backup = db.schema.transaction().execute(async (kysely) => {
      await sql`lock table samples in access share mode`.execute(kysely)
      holds()
      await over
    })
    await held
    harness.clock.advance(daySeconds * 1000)
    const started = performance.now()
    const cpuWaitMs = countCpuWaits()
    await makePartitions(harness.services, signal)
    await device.publish('sample', { samples: [{ timestamp: harness.clock.now() / 1000, co2: 5 }] })
    expect(performance.now() - started).toBeLessThan(4000 + cpuWaitMs())
    expect(await listDays(db)).toHaveLength(6)
    end()
    await backup
    await makePartitions(harness.services, signal)
    expect(await listDays(db)).toHaveLength(7)
  },
)

test.runIf(engine === 'postgres')('a partition that was lost behind our back is made again', async () => {
  const { db } = harness.services
  const now = Math.floor(harness.clock.now() / 1000)
  await device.publish('sample', { samples: [{ timestamp: now - 20, co2: 6 }] })
  await sql.raw(`drop table samples_day_${Math.floor(now / daySeconds)}`).execute(db.schema)
  await device.publish('sample', { samples: [{ timestamp: now - 10, co2: 7 }] })
  expect((await stored()).get(now - 10)).toBe(7)
})

test.runIf(engine === 'postgres')('a partition that could not be made once is made the next time', async () => {
  const { db } = harness.services
  let isGone = true
  const alterTable: Database['alterTable'] = (...change) => {
    if (!isGone) return db.alterTable(...change)
    isGone = false
    return Promise.reject(new Error('gone'))
  }
  const systemTransaction: Database['systemTransaction'] = (work) => db.systemTransaction(work)
  const services = { ...harness.services, db: { engine, systemTransaction, alterTable } as Database }
  const intake = new SampleIntake(services, new LatestSampleCache(harness.services), new Horizon())
  const now = Math.floor(harness.clock.now() / 1000)
  await expect(intake.receive(session, sample(now - 9, 8))).rejects.toThrow('gone')
  await intake.receive(session, sample(now - 8, 9))
  expect((await stored()).get(now - 8)).toBe(9)
})

test.runIf(engine === 'postgres')('two nodes that store samples of the same devices do not deadlock', async () => {
  const { db: second } = await openDatabase(harness.place, { isLocked: true, mustExist: true, onError() {} })
  const deadlocks = async () => {
    const { rows } = await sql<{ deadlocks: number }>`
      select deadlocks from pg_stat_database where datname = current_database()`.execute(second.schema)
    return rows[0]?.deadlocks
  }
  const before = await deadlocks()
  const intakes = [harness.services.db, second].map(
    (db) => new SampleIntake({ ...harness.services, db }, new LatestSampleCache(harness.services), new Horizon()),
  )
  const now = Math.floor(harness.clock.now() / 1000)
  const numbers = Array.from({ length: 200 }, (_, i) => 5000 + i)
  for (let round = 0; round < 15; round++) {
    const send = (intake: SampleIntake, order: readonly number[]) =>
      order.map((number) => {
        const device = { ...session.device, number, id: `device ${number}` }
        return intake.receive({ ...session, device }, sample(now - round, number % 2000))
      })
    await Promise.all([
      ...send(intakes[0] as SampleIntake, numbers),
      ...send(intakes[1] as SampleIntake, numbers.toReversed()),
    ])
  }
  expect(await deadlocks()).toBe(before)
  await second.close()
})
