// The settings that all servers of a database share: stored by the first start, changed for all.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, newPlace, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import type { Actor } from '../../context/request-context.ts'
import { settingsList, settingsSet } from './rules.ts'
import { SharedSettings } from './stored-settings.ts'

const actor: Actor = { type: 'CLI', id: 'root', name: 'root' }
let place: Harness['place']
let remove: () => Promise<void>
let harness: Harness
let orgs: TestOrg[]
beforeAll(async () => {
  const made = await newPlace()
  place = made.place
  remove = made.remove
  harness = await startHarness({ ...place, sampleRetentionDays: 60 })
  orgs = [await harness.newOrg('A'), await harness.newOrg('B')]
})
afterAll(async () => {
  await harness.close()
  await remove()
})

const stored = async () =>
  Object.fromEntries((await settingsList(harness.services)).map(({ name, value }) => [name, value]))
const set = (name: string, value: string) => settingsSet(harness.services, actor, name, value)
const logs = () => Promise.all(orgs.map((org) => org.audit()))

test('the first start stores the values that it is given, and the defaults of the others', async () => {
  expect(await stored()).toEqual({
    'log-retention': '30',
    'bundle-quota': '20',
    settle: '10',
    'sample-retention': '60',
    'rollup-retention': '730',
    'daily-retention': 'ever',
    'incident-retention': '400',
    'room-freshness': '15',
    'idle-minutes': '10',
    'air-limits': 'co2=..1000,voc=..2000,temp=18..27,humidity=25..65',
  })
  expect(harness.services.settings.sampleRetentionSeconds).toBe(60 * 86_400)
})

test('a change is used by the server, and is in the audit log of every organisation [contract 5.4.settings]', async () => {
  await set('room-freshness', '5')
  expect(await stored()).toMatchObject({ 'room-freshness': '5', 'sample-retention': '60' })
  await expect.poll(() => harness.services.settings.freshnessSeconds).toBe(300)
  expect(harness.services.settings.idleMs).toBe(600_000)
  for (const [entry] of await logs()) {
    expect(entry).toMatchObject({
      category: 'ORG',
      type: 'SETTING_UPDATED',
      actor,
      target: { type: 'setting', id: 'room-freshness', name: 'room-freshness' },
      details: { before: { value: '15' }, after: { value: '5' } },
    })
  }
})

test('another node reads a change by itself', async () => {
  const { db } = harness.services
  const other = await SharedSettings.load(db, {})
  await set('log-retention', '14')
  expect(other.values.logRetentionDays).toBe(30)
  await other.refresh(db)
  expect(other.values.logRetentionDays).toBe(14)
})

test.each([
  ['freshness', '5', /^There is no shared setting "freshness"\. The names are log-retention, .*air-limits\.$/],
  ['room-freshness', '0', /^room-freshness must be a whole number from 1 to 1440, not "0"\.$/],
  [
    'sample-retention',
    '800',
    /^rollup-retention \(730 days\) must not be smaller than sample-retention \(800 days\)\. .*/,
  ],
  ['air-limits', 'noise=..5', /^air-limits must be ranges such as/],
])('a change of %s to %s is refused, and changes nothing', async (name, value, sentence) => {
  const before = [await stored(), await logs()]
  await expect(set(name, value)).rejects.toThrow(sentence)
  expect([await stored(), await logs()]).toEqual(before)
})

test('a start with another value is refused and names the command; one with equal or no values is not', async () => {
  const { db } = harness.services
  const load = (options: Parameters<typeof SharedSettings.load>[1]) => SharedSettings.load(db, options)
  const before = await stored()
  await expect(load({ sampleRetentionDays: 30, dailyRetentionDays: 'ever' })).rejects.toThrow(
    /^--sample-retention 30 differs from 60, which the database stores for all of its servers\. Leave the option out, or change it for all with "roomkeeper settings set sample-retention 30"\.$/,
  )
  expect((await load({})).values).toMatchObject({ sampleRetentionDays: 60, roomFreshnessMinutes: 5 })
  expect((await load({ sampleRetentionDays: 60, roomFreshnessMinutes: 5 })).values.sampleRetentionDays).toBe(60)
  expect(await stored()).toEqual(before)
})

test('values that contradict each other are refused before anything is stored', async () => {
  const { db } = harness.services
  await db.systemTransaction(async ({ kysely }) => {
    await kysely.deleteFrom('settings').where('name', 'like', '%-retention').execute()
  })
  await expect(SharedSettings.load(db, { sampleRetentionDays: 800 })).rejects.toThrow(/must not be smaller/)
  const names = (await settingsList(harness.services)).filter(({ isStored }) => isStored).map(({ name }) => name)
  expect(names).toEqual(['bundle-quota', 'settle', 'room-freshness', 'idle-minutes', 'air-limits'])
})
