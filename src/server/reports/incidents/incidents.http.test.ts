// Tests reportsIncidents through HTTP: what is counted, by rule, place and model, times, repeat offenders, pages and region access. [contract 16.incidents]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { csvLines } from '../../../../test/support/csv-lines.ts'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { newPerson } from '../../../../test/support/person.ts'

const now = Date.UTC(2026, 4, 20, 12)
const [minuteMs, dayMs] = [60_000, 86_400_000]
const window = { from: '2026-05-01', to: '2026-05-20T12:00:00Z' }
let harness: Harness
let org: TestOrg
const ids = { north: 0, south: 0, oslo: 0, tokyo: 0, fjord: 0, sakura: 0, bar: '', pad: '' }
let count = 0
beforeAll(async () => {
  harness = await startHarness({}, { taskPauseShare: 500 })
  harness.clock.fix(now)
  org = await harness.newOrg()
  const make = async (path: string, body: object): Promise<number> => (await org.call('POST', path, { body })).body.id
  ids.north = await make('/regions', { name: 'North' })
  ids.south = await make('/regions', { name: 'South' })
  ids.oslo = await make('/locations', { name: 'Oslo', regionId: ids.north })
  ids.tokyo = await make('/locations', { name: 'Tokyo', regionId: ids.south })
  ids.fjord = await make('/rooms', { name: 'Fjord', locationId: ids.oslo, tags: ['boardroom'] })
  ids.sakura = await make('/rooms', { name: 'Sakura', locationId: ids.tokyo })
  const [bar, pad] = await putEndpoints(harness, org, [
    { room_id: ids.fjord, model: 'NF19B1' },
    { room_id: ids.sakura, model: 'NF19A1' },
  ])
  Object.assign(ids, { bar: bar?.id, pad: pad?.id })
  const [ofBar, ofPad] = [subject(ids.bar, 'fjord', 'oslo', 'north'), subject(ids.pad, 'sakura', 'tokyo', 'south')]
  const flapping = { rule: 'device.flapping', cause_id: ids.bar, cause_name: 'Bar' } as const
  // Minutes from the opening to the acknowledgement and to the end.
  await put({ ...flapping, ...took(1, 10) }, [ofBar])
  await put({ ...flapping, ...took(3, 20) }, [ofBar])
  await put({ ...flapping, ...took(null, 30) }, [ofBar])
  await put({ rule: 'device.offline', level: 'LOCATION', cause_id: '1', ...took(2, null) }, [ofBar, ofPad])
  await put({ rule: 'device.offline', state: 'MERGED', ...took(2, 5) }, [ofPad])
  await put({ rule: 'air.beyond', severity: 'INFO', level: 'ROOM', cause_id: String(ids.sakura), ...took(null, 60) }, [
    { ...ofPad, subject_type: 'room', subject_id: String(ids.sakura) },
  ])
  await put({ rule: 'air.beyond', opened_at: Date.UTC(2026, 3, 30, 23, 59), ...took(null, null) }, [ofPad])
})
afterAll(() => harness.close())

const subject = (id: string, room: 'fjord' | 'sakura', location: 'oslo' | 'tokyo', region: 'north' | 'south') => ({
  ...{ subject_type: 'endpoint' as 'endpoint' | 'room', subject_id: id, name: 'Device' },
  ...{ room_id: ids[room], room_name: room, location_id: ids[location], region_id: ids[region] },
})
const took = (toAcknowledge: number | null, toEnd: number | null) => ({ toAcknowledge, toEnd })

async function put(
  given: ReturnType<typeof took> &
    Partial<{ rule: 'device.flapping' | 'device.offline' | 'air.beyond' }> & {
      opened_at?: number
      [column: string]: unknown
    },
  subjects: readonly ReturnType<typeof subject>[],
): Promise<void> {
  const { toAcknowledge, toEnd, opened_at = Date.UTC(2026, 4, 2) + count * dayMs, ...columns } = given
  const id = ++count
  const acknowledged_at = toAcknowledge === null ? null : opened_at + toAcknowledge * minuteMs
  const resolved_at = toEnd === null ? null : opened_at + toEnd * minuteMs
  const state = resolved_at === null ? 'OPEN' : 'RESOLVED'
  const common = { org: org.org.key, id, version: 1, severity: 'WARNING', state, level: 'ENDPOINT', cause_id: 'x' }
  const times = {
    since: opened_at,
    opened_at,
    updated_at: now,
    resolved_at,
    cause_ended_at: resolved_at,
    acknowledged_at,
  }
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    const row = { cause_name: 'Cause', ...common, ...times, ...columns }
    await kysely
      .insertInto('incidents')
      .values(row as never)
      .execute()
    for (const one of subjects) {
      const own = { org: org.org.key, incident_id: id, ...one, since: opened_at, ended_at: resolved_at }
      await kysely.insertInto('incident_subjects').values(own).execute()
    }
  })
}

type Query = Record<string, string | number>
const ask = (query: Query, key?: string, headers = {}) =>
  org.call(
    'GET',
    `/reports/incidents?${new URLSearchParams(Object.entries(query).map(([k, v]): [string, string] => [k, String(v)]))}`,
    {
      ...(key !== undefined && { key }),
      headers,
    },
  )
const read = async (query: Query, key?: string) => {
  const reply = await ask({ ...window, ...query }, key)
  expect(reply.status, reply.text).toBe(200)
  return reply.body
}
const flappingFigures = {
  ...{ incidents: 3, open: 0, acknowledged: 2, acknowledgeMedianSeconds: 60, acknowledgeP90Seconds: 180 },
  ...{ ended: 3, endMedianSeconds: 1200, endP90Seconds: 1800 },
}
const outage = {
  incidents: 1,
  open: 1,
  acknowledged: 1,
  acknowledgeMedianSeconds: 120,
  acknowledgeP90Seconds: 120,
  ended: 0,
}
const air = { incidents: 1, open: 0, acknowledged: 0, ended: 1, endMedianSeconds: 3600, endP90Seconds: 3600 }

test('rows by rule have counts and times; merged incidents and those that opened earlier do not count', async () => {
  const body = await read({})
  expect(body).toMatchObject({ from: '2026-05-01T00:00:00.000Z', to: '2026-05-20T12:00:00.000Z', nextPageToken: '' })
  // 400 days before.
  expect(body.incidentsFrom).toBe('2025-04-16T00:00:00.000Z')
  expect(body.rows).toEqual([
    { rule: 'device.flapping', ...flappingFigures },
    { rule: 'air.beyond', ...air },
    { rule: 'device.offline', ...outage },
  ])
  expect(body.counts).toEqual({
    ...{ incidents: 5, open: 1, acknowledged: 3, acknowledgeMedianSeconds: 120, acknowledgeP90Seconds: 180 },
    ...{ ended: 4, endMedianSeconds: 1200, endP90Seconds: 3600 },
  })
  const sorted = async (sort: string) => (await read({ sort })).rows.map((row: { rule: string }) => row.rule)
  expect(await sorted('name')).toEqual(['air.beyond', 'device.flapping', 'device.offline'])
  expect(await sorted('-endMedianSeconds')).toEqual(['air.beyond', 'device.flapping', 'device.offline'])
  expect(await sorted('acknowledgeMedianSeconds')).toEqual(['device.flapping', 'device.offline', 'air.beyond'])
})

test('an incident in several places and of several models is in the row of each', async () => {
  const rows = async (groupBy: string) =>
    (await read({ groupBy, sort: 'name' })).rows.map((row: { incidents: number } & Record<string, unknown>) => [
      row[groupBy],
      row.incidents,
    ])
  expect(await rows('region')).toEqual([
    [{ id: ids.north, name: 'North' }, 4],
    [{ id: ids.south, name: 'South' }, 2],
  ])
  expect(await rows('location')).toEqual([
    [{ id: ids.oslo, name: 'Oslo' }, 4],
    [{ id: ids.tokyo, name: 'Tokyo' }, 2],
  ])
  expect(await rows('room')).toEqual([
    [{ id: ids.fjord, name: 'Fjord' }, 4],
    [{ id: ids.sakura, name: 'Sakura' }, 2],
  ])
  // The incident of a room has no model.
  expect(await rows('model')).toEqual([
    ['NF19A1', 1],
    ['NF19B1', 4],
    [undefined, 1],
  ])
})

test('filters, pages and CSV', async () => {
  expect((await read({ rule: 'device.offline' })).counts.incidents).toBe(1)
  expect((await read({ severity: 'INFO' })).counts.incidents).toBe(1)
  expect((await read({ roomId: ids.sakura })).counts.incidents).toBe(2)
  expect((await read({ locationId: ids.oslo })).counts.incidents).toBe(4)
  expect((await read({ tag: 'boardroom' })).counts.incidents).toBe(4)
  expect((await read({ tag: 'nothing' })).counts.incidents).toBe(0)
  expect((await read({ regionId: ids.south, rule: 'device.flapping' })).counts).toEqual({
    ...{ incidents: 0, open: 0, acknowledged: 0, ended: 0 },
  })
  const first = await read({ pageSize: 2 })
  const second = await read({ pageSize: 2, pageToken: first.nextPageToken })
  expect([...first.rows, ...second.rows]).toEqual((await read({})).rows)
  expect(second.nextPageToken).toBe('')
  expect((await ask({ ...window, pageSize: 2, groupBy: 'room', pageToken: first.nextPageToken })).status).toBe(400)
  const csv = await ask(window, undefined, { accept: 'text/csv' })
  expect(csvLines(csv.text).map(([rule]) => rule)).toEqual(['rule', 'device.flapping', 'air.beyond', 'device.offline'])
  expect((await ask({ from: '2026-05-02', to: '2026-05-01' })).status).toBe(400)
  expect((await ask({ from: '2024-05-02', to: '2026-05-01' })).text).toContain('366 days')
})

test('three incidents of one rule with one cause make a repeat offender; an outage of a location does not', async () => {
  const lastOpenedAt = new Date(Date.UTC(2026, 4, 4)).toISOString()
  expect((await read({})).repeatOffenders).toEqual([
    { rule: 'device.flapping', endpoint: { id: ids.bar, name: 'Bar' }, incidents: 3, lastOpenedAt },
  ])
  expect((await read({ from: '2026-05-03' })).repeatOffenders).toEqual([])
})

test('a caller who is limited to a region gets the incidents of its subjects', async () => {
  const { key } = await newPerson(harness, org, { role: 'viewer', regionIds: [ids.south] })
  const limited = await read({ groupBy: 'room' }, key)
  expect(limited.rows).toMatchObject([{ room: { id: ids.sakura, name: 'Sakura' }, incidents: 2 }])
  expect(limited.counts.incidents).toBe(2)
  expect(limited.repeatOffenders).toEqual([])
  expect((await read({ groupBy: 'model' }, key)).rows).toMatchObject([{ model: 'NF19A1' }, { incidents: 1 }])
})
