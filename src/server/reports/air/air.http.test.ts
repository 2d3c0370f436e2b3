// Tests reportsAir through HTTP: limits, basis, fields, the worst day and hour, ranks and groups. [contract 16.air]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { csvLines } from '../../../../test/support/csv-lines.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import type { RoomDaySensor } from '../../db/schema/schema.ts'
import { emptyDay, encodeQuarters, packPeople } from '../../sensors/rollups/quarter-values.ts'

let harness: Harness
let org: TestOrg
const ids: Record<string, number> = {}
beforeAll(async () => {
  harness = await startHarness({}, { taskPauseShare: 500 })
  harness.clock.fix(Date.UTC(2026, 1, 20))
  org = await harness.newOrg()
  await org.call('PUT', '', {
    body: {
      timezone: 'Europe/Oslo',
      airLimits: { co2: { max: 1000 }, temp: { min: 18.3, max: 25 }, voc: {}, humidity: {} },
    },
  })
  for (const name of ['Fjord', 'Skog', 'Bare', 'Idle']) {
    ids[name] = (await org.call('POST', '/rooms', { body: { name } })).body.id
  }
  // Used from 08:30 to 09:30 on Monday, and at 08:00 on Tuesday.
  const people = [0, 0, 2, 2, 2, 2].map((count) => packPeople(count * 100, false))
  await put('Fjord', '2026-02-02T07:00Z', {
    ...{ people, co2: [1200, 1200, 1001, 1000, undefined, 1100] },
    temp: [100, 100, 183, 182, 200, 250],
  })
  await put('Fjord', '2026-02-03T07:00Z', { people: [packPeople(20, true)], co2: [500] })
  await put('Skog', '2026-02-02T08:00Z', { co2: [400, 400, 400, 1500], voc: [9000] })
  await put('Idle', '2026-02-02T08:00Z', { people: [packPeople(0, false)], co2: [1500] })
})
afterAll(() => harness.close())

/** Stores the values of quarters in a row, which must be in one day of UTC. */
async function put(
  room: string,
  from: string,
  sensors: Partial<Record<RoomDaySensor, readonly (number | undefined)[]>>,
): Promise<void> {
  const first = Date.parse(from) / 900_000
  const encoded = (sensor: RoomDaySensor) => {
    const values = emptyDay()
    for (const [i, value] of (sensors[sensor] ?? []).entries()) {
      if (value !== undefined) values[(first % 96) + i] = value
    }
    return encodeQuarters(values, sensor)
  }
  const row = {
    ...{ org: org.org.key, room: ids[room] as number, day: Math.floor(first / 96), people: encoded('people') },
    ...{ co2: encoded('co2'), humidity: null, temp: encoded('temp'), voc: encoded('voc'), voc_index: null },
  }
  await harness.services.db.systemTransaction(({ kysely }) => kysely.insertInto('room_days').values(row).execute())
}

const week = 'from=2026-02-02&to=2026-02-09'
const ask = async (query = '', headers = {}) => {
  const reply = await org.call('GET', `/reports/air?${week}${query}`, { headers })
  expect(reply.status, reply.text).toBe(200)
  return reply
}
const share = (outsideQuarters: number, measuredQuarters: number) => ({
  ...{ measuredQuarters, outsideQuarters },
  ...(measuredQuarters > 0 && { outsideShare: Number((outsideQuarters / measuredQuarters).toFixed(4)) }),
})

test('used quarters count where people were measured, all measured ones elsewhere; a quarter is outside if a field is', async () => {
  const { body } = await ask()
  expect(body.limits).toEqual({ co2: { max: 1000 }, temp: { min: 18.3, max: 25 } })
  const place = (name: string) => ({ room: { id: ids[name], name }, timezone: 'Europe/Oslo', countedQuarters: 200 })
  expect(body.rows).toEqual([
    { ...place('Bare'), basis: 'measured', ...share(0, 0), co2: share(0, 0), temp: share(0, 0) },
    {
      ...{ ...place('Fjord'), basis: 'used', ...share(3, 5), co2: share(2, 4), temp: share(1, 4) },
      ...{ worstDay: '2026-02-02', worstHour: 8 },
    },
    { ...place('Idle'), basis: 'used', ...share(0, 0), co2: share(0, 0), temp: share(0, 0) },
    {
      ...{ ...place('Skog'), basis: 'measured', ...share(1, 4), co2: share(1, 4), temp: share(0, 0) },
      ...{ worstDay: '2026-02-02', worstHour: 9 },
    },
  ])
})

test('only the fields of the request count, and rooms that are sorted by a figure have a rank', async () => {
  type Row = { room: { name: string }; rank?: number }
  const ranksOf = async (query: string) =>
    (await ask(query)).body.rows.map(({ room, rank }: Row) => (rank === undefined ? room.name : `${rank} ${room.name}`))
  expect(await ranksOf('&sort=-outsideShare')).toEqual(['1 Fjord', '2 Skog', 'Bare', 'Idle'])
  expect(await ranksOf('&sort=outsideShare&fields=co2')).toEqual(['2 Skog', '1 Fjord', 'Bare', 'Idle'])
  expect(await ranksOf('&sort=-temp')).toEqual(['1 Fjord', 'Bare', 'Idle', '2 Skog'])
  expect(await ranksOf('')).toEqual(['Bare', 'Fjord', 'Idle', 'Skog'])
  const { body } = await ask('&fields=temp,%20voc')
  expect(body.limits).toEqual({ temp: { min: 18.3, max: 25 } })
  expect(body.rows[1]).toMatchObject({ ...share(1, 4), temp: share(1, 4) })
  expect(body.rows[1]).not.toHaveProperty('co2')
  const refused = await org.call('GET', `/reports/air?${week}&fields=co2,people`)
  expect([refused.status, refused.body.violations[0].field]).toEqual([400, 'fields'])
})

test('groups have the sums of their rooms, and a basis if all of their rooms have the same', async () => {
  const [group, ...others] = (await ask('&groupBy=location')).body.rows
  expect(others).toEqual([])
  expect(group).toMatchObject({ rooms: 4, countedQuarters: 800, ...share(4, 9), co2: share(3, 8), worstHour: 8 })
  expect(group).not.toHaveProperty('basis')
  const days = (await ask('&groupBy=day&fields=co2')).body.rows
  expect(days).toHaveLength(5)
  expect(days[1]).toMatchObject({ day: '2026-02-03', ...share(0, 1) })
  const [header = [], ...lines] = csvLines((await ask('', { accept: 'text/csv' })).text)
  expect(lines).toHaveLength(4)
  expect(lines[1]?.[header.indexOf('co2.outsideShare')]).toBe('0.5')
})
