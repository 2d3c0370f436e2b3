// The organisation of the caller: what it has, who changes it, and where its air limits count. [contract 6.orgs]
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openSession, own } from '../../../../test/support/console/console-session.ts'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { follow } from '../../../../test/support/event-follower.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { newPerson } from '../../../../test/support/person.ts'
import { until } from '../../../../test/support/program.ts'
import { makeClient } from '../../../client/client.ts'
import { defaultAirLimits } from '../../../contract/journal/orgs.ts'
import { settingsSet } from '../settings/rules.ts'

let harness: Harness
/** No request changes it. */
let unchanged: TestOrg
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
  unchanged = await harness.newOrg()
})
afterAll(() => harness.close())

const update = (org: TestOrg, body: unknown, headers: Record<string, string> = {}) =>
  org.call('PUT', '', { body, headers })
/** The values of a new organisation. */
const targets = { availabilityTarget: 99.5, ignoreUnderMinutes: 5 }
const workingHours = { days: ['mon', 'tue'], from: '08:00', to: '17:00' }

test('orgsGet shows the organisation, on both bases, and its version [contract 6.orgs]', async () => {
  const org = await harness.newOrg('Fjord')
  const read = await org.call('GET', '')
  expect(read.body).toEqual({ id: org.id, name: 'Fjord', timezone: 'UTC', airLimits: defaultAirLimits, ...targets })
  expect(read.headers.get('etag')).toBe('"1"')
  const legacy = await harness.call('GET', `/api/v1/orgs/${org.id}`, { key: org.key })
  expect(legacy.body).toEqual(read.body)
})

test('orgsUpdate keeps what is absent, clears working hours with null, and is audited [contract 6.orgs]', async () => {
  const [org, other] = [await harness.newOrg('Fjord'), await harness.newOrg('Skog')]
  const named = await update(org, { name: ' Fjell ', timezone: 'Europe/Oslo' })
  const fjell = { id: org.id, name: 'Fjell', timezone: 'Europe/Oslo' }
  expect(named.body).toEqual({ ...fjell, airLimits: defaultAirLimits, ...targets })
  expect(named.headers.get('etag')).toBe('"2"')
  const airLimits = { ...defaultAirLimits, co2: { min: 400, max: 800.5 }, voc: {} }
  await update(org, { airLimits: { co2: { min: 400, max: 800.5 }, voc: {} } })
  const hours = await update(org, { workingHours: { ...workingHours, days: ['tue', 'mon', 'mon'] } })
  const whole = { ...fjell, airLimits, workingHours, ...targets }
  expect(hours.body).toEqual(whole)
  expect((await org.call('GET', '')).body).toEqual(whole)
  await update(org, { workingHours: null })
  const { workingHours: _, ...withoutHours } = whole
  expect((await org.call('GET', '')).body).toEqual(withoutHours)

  const [cleared, set, limits, renamed] = await org.audit()
  const target = { type: 'organisation', id: org.id, name: 'Fjell' }
  expect(renamed).toMatchObject({
    category: 'ORG',
    type: 'ORG_UPDATED',
    target,
    details: { before: { name: 'Fjord', timezone: 'UTC' }, after: { name: 'Fjell', timezone: 'Europe/Oslo' } },
  })
  expect(limits.details).toEqual({ before: { airLimits: defaultAirLimits }, after: { airLimits } })
  expect(set.details).toEqual({ before: { workingHours: null }, after: { workingHours } })
  expect(cleared.details).toEqual({ before: { workingHours }, after: { workingHours: null } })
  expect((await other.call('GET', '')).body).toMatchObject({ name: 'Skog', airLimits: defaultAirLimits })
})

test('availabilityTarget and ignoreUnderMinutes have a default, are changed one by one, and are audited [contract 6.orgs]', async () => {
  const org = await harness.newOrg()
  await update(org, { availabilityTarget: 99.955 })
  await update(org, { ignoreUnderMinutes: 0 })
  expect((await org.call('GET', '')).body).toMatchObject({ availabilityTarget: 99.955, ignoreUnderMinutes: 0 })
  await update(org, { name: 'Skog' })
  expect((await org.call('GET', '')).body).toMatchObject({ availabilityTarget: 99.955, ignoreUnderMinutes: 0 })
  const [, ignored, target] = await org.audit()
  expect(target.details).toEqual({ before: { availabilityTarget: 99.5 }, after: { availabilityTarget: 99.955 } })
  expect(ignored.details).toEqual({ before: { ignoreUnderMinutes: 5 }, after: { ignoreUnderMinutes: 0 } })
})

test('orgsUpdate with another version in If-Match changes nothing [contract 7.11]', async () => {
  const org = await harness.newOrg('Fjord')
  await update(org, { name: 'Fjell' }, { 'if-match': '"1"' })
  const refused = await update(org, { name: 'Skog' }, { 'if-match': '"1"' })
  expect(refused.status).toBe(412)
  expect((await org.call('GET', '')).body.name).toBe('Fjell')
})

test.each([
  [{}, 'at least one of the known keys'],
  [{ name: '' }, 'name'],
  [{ timezone: 'Europe/Fjord' }, 'timezone'],
  [{ timezone: null }, 'timezone'],
  [{ airLimits: { co2: { min: 900, max: 900 } } }, 'airLimits.co2'],
  [{ airLimits: { temp: { max: 21.123 } } }, 'airLimits.temp.max'],
  [{ airLimits: { temp: { max: 1e-7 } } }, 'airLimits.temp.max'],
  [{ airLimits: { co2: { max: 1e9 } } }, 'airLimits.co2.max'],
  [{ airLimits: { co2: null } }, 'airLimits.co2'],
  [{ workingHours: { ...workingHours, days: [] } }, 'workingHours'],
  [{ workingHours: { ...workingHours, from: '25:00' } }, 'workingHours'],
  [{ availabilityTarget: 100.1 }, 'availabilityTarget'],
  [{ availabilityTarget: 99.9999 }, 'availabilityTarget'],
  [{ availabilityTarget: null }, 'availabilityTarget'],
  [{ ignoreUnderMinutes: 1441 }, 'ignoreUnderMinutes'],
  [{ ignoreUnderMinutes: 0.5 }, 'ignoreUnderMinutes'],
])('orgsUpdate refuses %j', async (body, named) => {
  const before = (await unchanged.call('GET', '')).body
  const refused = await update(unchanged, body)
  expect(refused.status).toBe(400)
  expect(refused.text).toContain(named)
  expect((await unchanged.call('GET', '')).body).toEqual(before)
})

test('the setting air-limits is the default of new organisations only [contract 5.4.settings]', async () => {
  const before = await harness.newOrg()
  const actor = { type: 'CLI', id: 'root', name: 'root' } as const
  await settingsSet(harness.services, actor, 'air-limits', 'co2=..700,voc=off')
  onTestFinished(async () => {
    await settingsSet(harness.services, actor, 'air-limits', 'co2=..1000')
  })
  const after = await harness.newOrg()
  expect((await before.call('GET', '')).body.airLimits).toEqual(defaultAirLimits)
  expect((await after.call('GET', '')).body.airLimits).toEqual({ ...defaultAirLimits, co2: { max: 700 }, voc: {} })
})

describe('changed air limits', () => {
  test('are in the sessions of the console, and an event tells every reader, including one who is limited to regions', async () => {
    const org = await harness.newOrg()
    await org.call('POST', '/regions', { body: { name: 'North' } })
    const person = await newPerson(harness, org, { role: 'viewer', regionIds: [1] })
    const { cookie } = await openSession(harness, { key: org.key })
    const limited = makeClient({ baseUrl: harness.url, org: org.id, token: person.key })
    const readers = [await follow(org.client), await follow(limited)]
    await update(org, { airLimits: { co2: { max: 800 } } })
    for (const reader of readers) {
      const { change } = await reader.next('structure', (event) => event.change?.type === 'ORG_UPDATED')
      expect(change?.target).toEqual({ type: 'organisation', id: org.id, name: 'Test organisation' })
    }
    const session = await harness.call('GET', '/console/session', { headers: { ...own, cookie } })
    expect(session.body.airLimits).toEqual({ ...defaultAirLimits, co2: { max: 800 } })
    expect((await limited.orgsGet()).body.airLimits.co2).toEqual({ max: 800 })
  })

  test('decide about incidents of their organisation alone [contract 10.rule]', async () => {
    const [strict, usual] = [await harness.newOrg(), await harness.newOrg()]
    await update(strict, { airLimits: { co2: { max: 800 } } })
    const room = async (org: TestOrg, name: string, co2: number) => {
      const { id } = (await org.call('POST', '/rooms', { body: { name } })).body
      const device = await newDevice(harness, org, { roomId: id })
      onTestFinished(() => device.close())
      await device.publish('sample', { samples: [{ timestamp: Math.floor(harness.clock.now() / 1000), co2 }] })
      return id
    }
    for (const org of [strict, usual]) {
      await org.call('PUT', '/incident_rules/air.beyond', { body: { holdMinutes: 0 } })
    }
    const rooms = [await room(strict, 'Fjord', 900), await room(usual, 'Fjord', 900), await room(usual, 'Skog', 1500)]
    harness.clock.advance(61_000)
    const roomsWithIncident = async (org: TestOrg) =>
      (await org.call('GET', '/incidents')).body.incidents.flatMap(
        (incident: { roomIds?: number[] }) => incident.roomIds ?? [],
      )
    const haveIncidents = async () => {
      const found = [await roomsWithIncident(strict), await roomsWithIncident(usual)]
      return found.every((ids) => ids.length > 0)
    }
    await until('both organisations have an incident', haveIncidents, { everyMs: 200, timeoutMs: 50_000 })
    expect(await roomsWithIncident(strict)).toEqual([rooms[0]])
    expect(await roomsWithIncident(usual)).toEqual([rooms[2]])
  })
})
