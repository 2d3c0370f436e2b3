// Tests that reportsMonth has the figures of the other reports, of a month and of the month before. [contract 16.month]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { putManyRooms } from '../../../../test/support/reports/many-rooms.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({}, { taskPauseShare: 500 })
  harness.clock.fix(Date.UTC(2026, 2, 20))
  org = await harness.newOrg()
  // From 20 January to 13 February, in locations of four time zones.
  await putManyRooms(harness, org, { rooms: 12, firstDay: Date.UTC(2026, 0, 20) / 86_400_000, days: 25 })
})
afterAll(() => harness.close())

const read = async (path: string, key?: string) => {
  const reply = await org.call('GET', `/reports/${path}`, { ...(key !== undefined && { key }) })
  expect(reply.status, reply.text).toBe(200)
  return reply.body
}

test('the figures of a month and of the month before are those of the other reports about all rooms', async () => {
  for (const filters of ['', '&hours=always', '&locationId=2', '&roomId=3&days=mon']) {
    const month = await read(`month?month=2026-02${filters}`)
    expect(month).toMatchObject({ month: '2026-02', before: '2026-01', from: '2026-02-01T00:00:00.000Z' })
    expect(month.incidentsFrom).toBe('2025-02-13T00:00:00.000Z')
    expect(month.limits).toMatchObject({ co2: { max: 1000 } })
    for (const report of ['use', 'availability', 'air']) {
      for (const [name, window] of [
        ['month', 'from=2026-02-01&to=2026-03-01'],
        ['before', 'from=2026-01-01&to=2026-02-01'],
      ] as const) {
        const { rows } = await read(`${report}?${window}&groupBy=region${filters}`)
        expect(rows).toHaveLength(1)
        const { region, ...figures } = rows[0]
        expect(month[report][name], `${report} ${name} ${filters}`).toEqual(figures)
      }
    }
  }
  const { use, incidents } = await read('month?month=2026-02')
  expect(incidents.month).toEqual((await read('incidents?from=2026-02-01&to=2026-03-01')).counts)
  expect([use.month.rooms, use.month.usedQuarters > 0, use.before.usedQuarters > 0]).toEqual([12, true, true])
})

test('January follows December, and a caller who sees nothing gets figures of no room', async () => {
  expect(await read('month?month=2026-01')).toMatchObject({
    before: '2025-12',
    use: { before: { measuredQuarters: 0 } },
  })
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely.insertInto('regions').values({ org: org.org.key, id: 2, version: 1, name: 'Empty' }).execute(),
  )
  const key = await org.newKey({ scopes: ['read'], regionIds: [2] })
  const { use, air, availability } = await read('month?month=2026-02', key)
  for (const { month } of [use, air, availability]) expect(month.rooms).toBe(0)
  expect(use.month).not.toHaveProperty('coverage')
})

test.each(['2026-13', '2026-2', 'May', '2026-02-01', '0001-01'])('refuses the month %s', async (month) => {
  const { status, body } = await org.call('GET', `/reports/month?month=${month}`)
  expect([status, body.violations[0].field]).toEqual([400, 'month'])
})
