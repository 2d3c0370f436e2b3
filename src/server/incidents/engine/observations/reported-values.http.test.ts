// Rules about the samples and the status that real devices report: when a finding matures, when it ends, and what it leaves alone. [contract 10.rule]
import { expect, test } from 'vitest'
import type { FindingsWatch } from '../../../../../test/support/findings.ts'
import type { Harness, TestOrg } from '../../../../../test/support/harness.ts'
import { changedFindings as changed, ruleDevices } from '../../../../../test/support/incidents/rule-devices.ts'
import { dayMs, hourMs, minuteMs, secondMs } from '../../../../contract/durations.ts'

let harness: Harness
let org: TestOrg
let watch: FindingsWatch
const { device, advance, disconnect, sample } = ruleDevices((begun) => {
  ;({ harness, org, watch } = begun)
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
  expect(watch.detailOf('air.beyond')).toEqual({
    sensors: ['co2'],
    readings: [{ name: 'co2', value: 1200, max: 1000 }],
  })
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
  expect(watch.detailOf('storage.low')).toEqual({ storage: 'internal', freePercent: 9, opensBelowPercent: 10 })
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
