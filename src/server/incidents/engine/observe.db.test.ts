// Rules about the connections and configurations of real devices: when a finding matures, when it ends, and what it leaves alone. [contract 10.rule]
import { expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import type { FindingsWatch } from '../../../../test/support/findings.ts'
import type { Harness, TestOrg } from '../../../../test/support/harness.ts'
import { changedFindings as changed, ruleDevices } from '../../../../test/support/incidents/rule-devices.ts'
import { hourMs, minuteMs, secondMs } from '../../../contract/durations.ts'

let harness: Harness
let org: TestOrg
let watch: FindingsWatch
const { device, advance, disconnect } = ruleDevices((begun) => {
  ;({ harness, org, watch } = begun)
})

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
  const rows = await putEndpoints(harness, org, [{ connected: 1 }, { connected: 1 }, { connected: 1 }])
  const [flapping, calm, sleeper] = rows as [(typeof rows)[0], (typeof rows)[0], (typeof rows)[0]]
  type Span = { why?: 'SERVER_ENDED'; followed_by?: 'ASLEEP' | 'UNKNOWN' | 'OFFLINE' }
  const ends = (number: number, { why, followed_by }: Span = {}) =>
    harness.services.db.systemTransaction(async ({ kysely }) => {
      const until = harness.clock.now()
      const span = { org: org.org.key, endpoint: number, since: until - 1000, until, why: why ?? ('LOST' as const) }
      await kysely
        .insertInto('connection_spans')
        .values({ ...span, followed_by: followed_by ?? null })
        .execute()
    })
  for (let i = 0; i < 5; i++) {
    advance(10 * minuteMs)
    await ends(flapping.number, { followed_by: 'OFFLINE' })
    await ends(calm.number, { why: 'SERVER_ENDED' })
    // Neither a device that falls asleep nor one that leaves with its gateway flaps.
    await ends(sleeper.number, { followed_by: i % 2 === 0 ? 'ASLEEP' : 'UNKNOWN' })
    expect(await watch.quick()).toMatchObject(changed([], []))
  }
  advance(5 * minuteMs)
  await ends(calm.number, { why: 'SERVER_ENDED' })
  await ends(sleeper.number, { followed_by: 'UNKNOWN' })
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

test('config.rejected: FAILED for a minute opens; the keys that a profile locks name it', async () => {
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

test('config.rejected: a config version that a job made names the job, with the keys that the job set', async () => {
  const bar = await device()
  const reject = async (rejected: object) => {
    const { version } = await bar.next('config', 15_000)
    await bar.publish('config', { version, config: {}, rejected })
    advance(minuteMs)
    await watch.quick()
    return watch.detailOf('config.rejected')
  }
  await org.call('POST', `/endpoints/${bar.id}/config`, { body: { nightMode: true } })
  expect(await reject({ nightMode: 'no such mode' })).toEqual({ keys: ['nightMode'] })
  const action = { type: 'CONFIG', config: { brightness: 0.5, timezone: 'Europe/Oslo' } }
  const target = { endpointIds: [bar.id] }
  const job = await org.call('POST', '/jobs', { body: { name: 'Dim', target, action, start: true } })
  expect(job.status, job.text).toBe(200)
  expect(await reject({ brightness: 'too dark', nightMode: 'no such mode' })).toEqual({
    keys: ['brightness'],
    jobId: Number(job.body.id),
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
