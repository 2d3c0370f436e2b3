// A fault that begins shortly before the end of a silence counts from its end, by each way in which the engine runs. [contract 10.silence]
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { FindingsWatch } from '../../../../test/support/findings.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { hourMs, minuteMs, secondMs } from '../../../contract/durations.ts'

let harness: Harness
let org: TestOrg
let watch: FindingsWatch
let now = Date.UTC(2026, 4, 4, 8)
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())
beforeEach(async () => {
  now += 24 * hourMs
  harness.clock.fix(now)
  org = await harness.newOrg()
  watch = new FindingsWatch(harness, org)
  watch.isSilenced = true
})

const unknown = {
  co2: null,
  voc: null,
  humidity: null,
  people: null,
  illumination: null,
  voc_index: null,
  shutter_closed: null,
}
const advance = (ms: number) => harness.clock.advance(ms)

for (const run of ['quick', 'full'] as const) {
  test(`a device that went offline in a silence opens its incident 5 minutes after the end of that (${run})`, async () => {
    const [gone] = await putEndpoints(harness, org, [{ connection_time: now }])
    advance(2 * secondMs)
    await watch[run]()
    expect(watch.findings).toMatchObject([{ since: now, maturedAt: null, detail: { silenced: true } }])
    advance(3 * minuteMs)
    watch.isSilenced = false
    await watch[run]()
    advance(5 * minuteMs - 1)
    expect((await watch[run]()).matured).toEqual([])
    advance(1)
    expect((await watch[run]()).matured).toEqual([`device.offline ${gone?.id}`])
  })
}

test('a device that was away for a moment in a silence leaves no finding', async () => {
  const [gone] = await putEndpoints(harness, org, [{ connection_time: now }])
  advance(2 * secondMs)
  await watch.quick()
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    const connected = { node_id: harness.services.node?.id ?? null, connection_time: harness.clock.now() }
    await kysely.updateTable('endpoints').set(connected).where('org', '=', org.org.key).execute()
  })
  advance(secondMs)
  expect((await watch.quick()).ended).toEqual([`device.offline ${gone?.id}`])
  expect(watch.findings).toEqual([])
})

test('a device whose sensors fell silent in a silence opens its incident an hour after the end of that', async () => {
  const [quiet, talking] = await putEndpoints(harness, org, [
    { connected: 1, connection_time: now - hourMs },
    { connected: 1, connection_time: now - hourMs },
  ])
  const sent = (number = 0, ago = 0) => ({
    org: org.org.key,
    endpoint: number,
    timestamp: Math.floor((harness.clock.now() - ago) / secondMs),
    temp: 210,
    ...unknown,
  })
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    const rows = [sent(quiet?.number, 20 * minuteMs), sent(talking?.number)]
    await kysely.insertInto('samples_latest').values(rows).execute()
  })
  await watch.full()
  expect(
    watch.findings.map(({ subject }) => subject.id),
    'the other one sends',
  ).toEqual([quiet?.id])
  watch.isSilenced = false
  await watch.full()
  advance(hourMs - 1)
  expect((await watch.full()).matured).not.toContain(`sensor.silent ${quiet?.id}`)
  advance(1)
  expect((await watch.full()).matured).toContain(`sensor.silent ${quiet?.id}`)
})
