// Each rule against real devices: when its finding matures, when it ends, and what it leaves alone. [contract 10.rule]
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { putEndpoints } from '../../../../../test/support/database/endpoint-rows.ts'
import { newDevice, type TestDevice } from '../../../../../test/support/devices/test-device.ts'
import { FindingsWatch } from '../../../../../test/support/findings.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import { until } from '../../../../../test/support/program.ts'
import { dayMs, hourMs, minuteMs, secondMs } from '../../../../contract/durations.ts'

let harness: Harness
let org: TestOrg
let watch: FindingsWatch
let devices: TestDevice[]
/** A time that no test changes backwards, because the service refuses samples from the future. */
let now = Date.UTC(2026, 4, 4, 8)
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())
beforeEach(async () => {
  harness.clock.fix(now)
  org = await harness.newOrg()
  devices = []
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  watch = new FindingsWatch(harness, org)
})
afterEach(async () => {
  for (const device of devices) await device.close()
  now = harness.clock.now()
})

async function device(model = 'NF19B1'): Promise<TestDevice> {
  const made = await newDevice(harness, org, { roomId: 1, model })
  devices.push(made)
  return made
}
const advance = (ms: number) => harness.clock.advance(ms)
const endpoint = async ({ id }: TestDevice) => (await org.call('GET', `/endpoints/${id}`)).body
async function disconnect(gone: TestDevice): Promise<void> {
  await gone.close()
  await until('the device is offline', async () => !(await endpoint(gone)).connected)
}
const sample = (from: TestDevice, values: object) =>
  from.publish('sample', { samples: [{ timestamp: harness.clock.now() / secondMs, ...values }] })
/** The names of findings that matured and ended. */
const changed = (...names: [matured: string[], ended: string[]]) => ({ matured: names[0], ended: names[1] })

for (const run of ['quick', 'full'] as const) {
  test(`device.offline: 5 minutes without a connection open, 2 minutes with one end (${run})`, async () => {
    const bar = await device()
    await newDevice(harness, org, { roomId: 1, offline: true })
    expect(await watch[run]()).toMatchObject(changed([], []))
    await disconnect(bar)
    advance(5 * minuteMs - 1)
    expect(await watch[run](), 'also that of a device that was never connected').toMatchObject(changed([], []))
    expect(watch.findings, 'a device that is away for a moment writes no row').toEqual([])
    advance(1)
    expect(await watch[run]()).toMatchObject(changed([`device.offline ${bar.id}`], []))
    advance(hourMs)
    await bar.connect()
    advance(2 * minuteMs - 1)
    expect(await watch[run]()).toMatchObject(changed([], []))
    advance(1)
    expect(await watch[run]()).toMatchObject(changed([], [`device.offline ${bar.id}`]))
  })

  test(`device.offline: a connection of less than 2 minutes does not end it (${run})`, async () => {
    const bar = await device()
    await disconnect(bar)
    advance(5 * minuteMs)
    await watch[run]()
    const { findings } = watch
    await bar.connect()
    advance(minuteMs)
    await watch[run]()
    await disconnect(bar)
    advance(90 * secondMs)
    expect(await watch[run]()).toMatchObject(changed([], []))
    await watch.full()
    expect(watch.findings).toEqual(findings)
  })
}

test('device.offline: the end of a node disconnects its devices, at the time of its end', async () => {
  const { db } = harness.services
  const { id: _, ...own } = await db.system.kysely.selectFrom('nodes').selectAll().executeTakeFirstOrThrow()
  const ended = { ...own, process: `dead ${org.id}`, state: 'dead' as const, ended_at: harness.clock.now() }
  const { id: dead } = await db.systemTransaction(({ kysely }) =>
    kysely.insertInto('nodes').values(ended).returning('id').executeTakeFirstOrThrow(),
  )
  const [row] = await putEndpoints(harness, org, [{ node_id: dead, connection_time: harness.clock.now() - hourMs }])
  await watch.quick()
  advance(5 * minuteMs - 1)
  expect(await watch.quick()).toMatchObject(changed([], []))
  advance(1)
  expect(await watch.quick()).toMatchObject(changed([`device.offline ${row?.id}`], []))
  expect(watch.findings[0]?.since).toBe(harness.clock.now() - 5 * minuteMs)
})

test('device.offline: a restart that was asked for counts only after 10 minutes, an update after an hour', async () => {
  const [bar, pad] = [await device(), await device()]
  await org.call('POST', `/endpoints/${bar.id}/reboot`)
  await bar.publish('operation', { id: (await bar.next('operation')).id, state: 'ACKNOWLEDGED' })
  await pad.publish('status', { upgradeStatus: 'INSTALLING' })
  await Promise.all([disconnect(bar), disconnect(pad)])
  advance(10 * minuteMs - 1)
  await watch.full()
  expect(await watch.full()).toMatchObject(changed([], []))
  advance(1)
  expect(await watch.full(), 'the time of the restart is over').toMatchObject(changed([`device.offline ${bar.id}`], []))
  advance(50 * minuteMs - 1)
  expect(await watch.full()).toMatchObject(changed([], []))
  advance(1)
  expect(await watch.full()).toMatchObject(changed([`device.offline ${pad.id}`], []))
})

test('device.flapping: 6 disconnects in 60 minutes open, none for the time of the rule ends', async () => {
  const rows = await putEndpoints(harness, org, [{ connected: 1 }, { connected: 1 }])
  const [flapping, calm] = rows as [(typeof rows)[0], (typeof rows)[0]]
  const ends = (number: number, why: 'LOST' | 'SERVER_ENDED' = 'LOST') =>
    harness.services.db.systemTransaction(async ({ kysely }) => {
      const until = harness.clock.now()
      const span = { org: org.org.key, endpoint: number, since: until - 1000, until, why }
      await kysely.insertInto('connection_spans').values(span).execute()
    })
  for (let i = 0; i < 5; i++) {
    advance(10 * minuteMs)
    await ends(flapping.number)
    await ends(calm.number, 'SERVER_ENDED')
    expect(await watch.quick()).toMatchObject(changed([], []))
  }
  advance(5 * minuteMs)
  await ends(calm.number, 'SERVER_ENDED')
  await ends(flapping.number)
  expect(await watch.quick()).toMatchObject(changed([`device.flapping ${flapping.id}`], []))
  advance(50 * minuteMs)
  await ends(flapping.number)
  expect(await watch.full()).toMatchObject(changed([], []))
  advance(hourMs - 1)
  expect(await watch.full()).toMatchObject(changed([], []))
  watch.rules = { ...watch.rules, 'device.flapping': { ...watch.rules['device.flapping'], clearMs: 2 * hourMs } }
  advance(hourMs)
  expect(await watch.full()).toMatchObject(changed([], []))
  advance(1)
  expect(await watch.full()).toMatchObject(changed([], [`device.flapping ${flapping.id}`]))
})

test('config.rejected: FAILED for a minute opens; the keys that a profile fixes name it', async () => {
  const bar = await device()
  await org.call('POST', `/endpoints/${bar.id}/config`, { body: { nightMode: true } })
  const { version } = await bar.next('config')
  await bar.publish('config', { version, config: {}, rejected: { nightMode: 'no such mode' } })
  advance(minuteMs - 1)
  expect(await watch.quick()).toMatchObject(changed([], []))
  advance(1)
  expect(await watch.quick()).toMatchObject(changed([`config.rejected ${bar.id}`], []))
  expect(watch.detailOf('config.rejected')).toEqual({ keys: ['nightMode'] })

  const profile = await org.call('POST', '/profiles', { body: { name: 'Quiet', config: { brightness: 0.5 } } })
  expect(profile.status, profile.text).toBe(200)
  const assigned = await org.call('PUT', `/endpoints/${bar.id}/profile`, {
    body: { profileId: profile.body.profile.id },
  })
  expect(assigned.status, assigned.text).toBe(200)
  const next = await bar.next('config')
  expect(await watch.full(), 'while the next version is on its way').toMatchObject(changed([], []))
  await bar.publish('config', { version: next.version, config: {}, rejected: { brightness: 'too bright' } })
  await watch.full()
  expect(watch.detailOf('config.rejected')).toEqual({
    keys: ['brightness'],
    profileId: profile.body.profile.id,
  })
})

test('config.rejected: DELIVERED ends it', async () => {
  const bar = await device()
  await org.call('POST', `/endpoints/${bar.id}/config`, { body: { nightMode: true } })
  const first = await bar.next('config')
  await bar.publish('config', { version: first.version, config: {}, rejected: { nightMode: 'no such mode' } })
  advance(minuteMs)
  expect(await watch.full()).toMatchObject(changed([`config.rejected ${bar.id}`], []))
  await org.call('POST', `/endpoints/${bar.id}/config`, { body: { nightMode: false } })
  const second = await bar.next('config')
  expect(await watch.full(), 'on its way').toMatchObject(changed([], []))
  await bar.publish('config', { version: second.version, config: second.config })
  expect(await watch.full()).toMatchObject(changed([], [`config.rejected ${bar.id}`]))
})

test('config.undelivered: connected and PENDING for 15 minutes opens, an answer ends', async () => {
  const bar = await device()
  await org.call('POST', `/endpoints/${bar.id}/config`, { body: { nightMode: true } })
  const { version, config } = await bar.next('config')
  advance(10 * minuteMs)
  await disconnect(bar)
  advance(hourMs)
  expect((await watch.full()).matured, 'it is offline').toEqual([`device.offline ${bar.id}`])
  await bar.connect()
  advance(15 * minuteMs - 1)
  expect((await watch.full()).matured, 'it counts from its return').toEqual([])
  advance(1)
  expect((await watch.full()).matured).toEqual([`config.undelivered ${bar.id}`])
  await bar.publish('config', { version, config })
  expect((await watch.full()).ended).toEqual([`config.undelivered ${bar.id}`])
})

test('air.beyond: the aggregate of the room is outside for 15 minutes, and inside by 5 % for 15', async () => {
  const bar = await device()
  const minutes = async (count: number, co2: number) => {
    const results: Awaited<ReturnType<typeof watch.full>>[] = []
    for (let i = 0; i < count; i++) {
      advance(minuteMs)
      await sample(bar, { co2, temp: 21 })
      results.push(await watch.full())
    }
    return { matured: results.flatMap((r) => r.matured), ended: results.flatMap((r) => r.ended) }
  }
  expect(await minutes(15, 1001)).toEqual(changed([], []))
  expect(await minutes(1, 1200)).toEqual(changed(['air.beyond 1'], []))
  expect(watch.detailOf('air.beyond')).toEqual({ sensors: ['co2'] })
  expect(await minutes(20, 951), 'inside, but not by 5 %').toEqual(changed([], []))
  expect(await minutes(15, 950)).toEqual(changed([], []))
  expect(await minutes(1, 950)).toEqual(changed([], ['air.beyond 1']))
  await disconnect(bar)
})

test('air.beyond: what a device that is away said last, and a stale sample, neither open nor end', async () => {
  const [bar, pad] = [await device(), await device()]
  const air = () => watch.findings.filter(({ rule }) => rule === 'air.beyond')
  await sample(bar, { co2: 2000 })
  await watch.full()
  await disconnect(bar)
  advance(14 * minuteMs)
  await watch.full()
  expect(air()).toMatchObject([{ maturedAt: null }])
  await bar.connect()
  advance(hourMs)
  await watch.full()
  expect(air(), 'the sample is stale').toMatchObject([{ maturedAt: null }])
  await sample(pad, { temp: 21 })
  await watch.full()
  expect(air(), 'another sensor of the room says nothing about it').toHaveLength(1)
})

test('room.crowded: more people than the capacity for 10 minutes', async () => {
  const { db } = harness.services
  await db.systemTransaction(async ({ kysely }) => {
    await kysely.updateTable('rooms').set({ capacity: 4 }).where('org', '=', org.org.key).execute()
  })
  const bar = await device()
  await sample(bar, { people: 5 })
  await watch.full()
  advance(10 * minuteMs - secondMs)
  await sample(bar, { people: 6 })
  expect((await watch.full()).matured).toEqual([])
  advance(secondMs)
  expect((await watch.full()).matured).toEqual(['room.crowded 1'])
  expect(watch.detailOf('room.crowded')).toEqual({ people: 6, capacity: 4 })
  await sample(bar, { people: 0 })
  advance(minuteMs)
  await sample(bar, { people: 4 })
  await watch.full()
  advance(10 * minuteMs)
  expect((await watch.full()).ended).toEqual(['room.crowded 1'])
})

test('sensor.silent: a device that is connected and sent samples within 7 days has sent none for an hour', async () => {
  const [bar, quiet] = [await device(), await device()]
  await sample(bar, { temp: 21 })
  advance(hourMs - 1)
  expect((await watch.full()).matured).toEqual([])
  advance(1)
  expect((await watch.full()).matured, 'the other one never sent any').toEqual([`sensor.silent ${bar.id}`])
  advance(8 * dayMs)
  expect((await watch.full()).ended).toEqual([])
  await sample(bar, { temp: 21 })
  expect((await watch.full()).ended).toEqual([`sensor.silent ${bar.id}`])
  await disconnect(quiet)
})

test('storage.low: under 10 % opens after 30 minutes, 15 % ends', async () => {
  const bar = await device()
  const storage = { totalSystemStorage: '1000', freeSystemStorage: '900', totalInternalStorage: '1000' }
  const free = (bytes: number) => bar.publish('status', { ...storage, freeInternalStorage: String(bytes) })
  await free(99)
  await watch.full()
  advance(30 * minuteMs - 1)
  expect((await watch.full()).matured).toEqual([])
  advance(1)
  expect((await watch.full()).matured).toEqual([`storage.low ${bar.id}`])
  expect(watch.detailOf('storage.low')).toEqual({ storage: 'internal', freePercent: 9 })
  await free(149)
  advance(hourMs)
  expect((await watch.full()).ended).toEqual([])
  await free(150)
  expect((await watch.full()).ended).toEqual([`storage.low ${bar.id}`])
})

test('storage.low: what a device that is away said last neither opens nor ends', async () => {
  const [bar, pad] = [await device(), await device()]
  const storage = { totalInternalStorage: '1000', freeInternalStorage: '50' }
  await bar.publish('status', storage)
  await watch.full()
  advance(30 * minuteMs)
  expect((await watch.full()).matured).toEqual([`storage.low ${bar.id}`])
  await pad.publish('status', storage)
  await watch.full()
  await disconnect(pad)
  await bar.publish('status', { ...storage, freeInternalStorage: '900' })
  await disconnect(bar)
  advance(hourMs)
  const { matured, ended } = await watch.full()
  expect([...matured, ...ended].filter((name) => name.startsWith('storage.low'))).toEqual([])
  await bar.connect()
  expect((await watch.full()).ended).toEqual([`storage.low ${bar.id}`])
})

test('firmware.behind counts for 14 days, also while the device is away; clock.unreachable does not', async () => {
  const bar = await device()
  await bar.publish('status', { firmwareVersion: '1', latestVersion: '2', ntpServerReachable: false })
  await watch.full()
  await disconnect(bar)
  await watch.full()
  advance(hourMs)
  expect((await watch.full()).matured).toEqual([`device.offline ${bar.id}`])
  advance(14 * dayMs - hourMs - 1)
  expect((await watch.full()).matured).toEqual([])
  advance(1)
  expect((await watch.full()).matured).toEqual([`firmware.behind ${bar.id}`])
  await bar.connect()
  advance(2 * minuteMs)
  expect((await watch.full()).matured).toEqual([])
  advance(hourMs)
  expect((await watch.full()).matured).toEqual([`clock.unreachable ${bar.id}`])
  await bar.publish('status', { firmwareVersion: '2', ntpServerReachable: true })
  expect((await watch.full()).ended).toEqual([`clock.unreachable ${bar.id}`, `firmware.behind ${bar.id}`])
})
