// Tests reportsUse through HTTP: which quarters and rooms are counted, figures, groups, order, pages, CSV and refusals. [contract 16.use]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { csvLines } from '../../../../test/support/csv-lines.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { putManyRooms } from '../../../../test/support/reports/many-rooms.ts'
import { emptyDay, encodeQuarters, packPeople } from '../../sensors/rollups/quarter-values.ts'

/** A Monday in Oslo, in winter. */
const monday = Date.UTC(2026, 1, 2) / 1000
let harness: Harness
let org: TestOrg
const ids: Record<string, number> = {}
beforeAll(async () => {
  harness = await startHarness({}, { taskPauseShare: 500 })
  harness.clock.fix((monday + 20 * 86_400) * 1000)
  org = await harness.newOrg()
  await org.call('PUT', '', { body: { timezone: 'Europe/Oslo' } })
  const make = async (path: string, body: object): Promise<number> => (await org.call('POST', path, { body })).body.id
  const [north, south] = [await make('/regions', { name: 'North' }), await make('/regions', { name: 'South' })]
  const [oslo, tokyo] = [
    await make('/locations', { name: 'Oslo', regionId: north }),
    await make('/locations', { name: 'Tokyo', regionId: south, timezone: 'Asia/Tokyo' }),
  ]
  Object.assign(ids, { north, south, oslo, tokyo })
  ids.fjord = await make('/rooms', { name: 'Fjord 10', locationId: oslo, capacity: 4, tags: ['big'] })
  ids.skog = await make('/rooms', { name: 'Fjord 9', locationId: oslo, fields: { wall: 'B2' } })
  ids.sakura = await make('/rooms', { name: 'Sakura', locationId: tokyo, capacity: 8 })
  ids.loose = await make('/rooms', { name: 'Loose' })
  ids.gone = await make('/rooms', { name: 'Gone', locationId: tokyo, capacity: 2 })
  // Fjord 10 has 3 people from 09:00 to 11:00, and is empty from 08:00 to 09:00 and from 11:00 to 12:00.
  await putPeople('fjord', '2026-02-02T07:00Z', [0, 0, 0, 0, 3, 3, 3, 3, 3, 3, 3, 3, 0, 0, 0, 0])
  await putPeople('fjord', '2026-02-03T07:00Z', [0.1, 6])
  await putPeople('sakura', '2026-02-01T23:00Z', [0, 2, 2, 0])
  await putPeople('gone', '2026-02-01T23:00Z', [1, 1])
  await putPeople('skog', '2026-02-02T07:00Z', [1, 0], true)
  await org.call('DELETE', `/rooms/${ids.gone}`)
})
afterAll(() => harness.close())

/** Stores the people of quarters in a row, which must be in one day of UTC. */
async function putPeople(room: string, from: string, people: readonly number[], isPresence = false): Promise<void> {
  const first = Date.parse(from) / 900_000
  const [day, values] = [Math.floor(first / 96), emptyDay()]
  people.forEach((count, i) => {
    values[(first % 96) + i] = packPeople(count * 100, isPresence)
  })
  const others = { co2: null, humidity: null, temp: null, voc: null, voc_index: null }
  const row = { org: org.org.key, room: ids[room] as number, day, people: encodeQuarters(values, 'people'), ...others }
  await harness.services.db.systemTransaction(({ kysely }) => kysely.insertInto('room_days').values(row).execute())
}

type Query = Record<string, string | number>
const week = { from: '2026-02-02', to: '2026-02-09' }
const ask = (query: Query, key?: string, headers = {}) =>
  org.call(
    'GET',
    `/reports/use?${new URLSearchParams(Object.entries(query).map(([k, v]): [string, string] => [k, String(v)]))}`,
    {
      ...(key !== undefined && { key }),
      headers,
    },
  )
const rowsOf = async (query: Query, key?: string) => {
  const reply = await ask(query, key)
  expect(reply.status, reply.text).toBe(200)
  return reply.body.rows
}
const namesOf = async (query: Query, key?: string): Promise<string[]> =>
  (await rowsOf(query, key)).map((row: { room: { name: string } }) => row.room.name)

test('a row of a room has its place, its quarters and its figures; what was not measured is absent', async () => {
  const { body } = await ask(week)
  expect(body).toMatchObject({
    from: '2026-02-01T23:00:00.000Z',
    to: '2026-02-08T23:00:00.000Z',
    hours: '08:00-18:00',
    days: 'mon,tue,wed,thu,fri',
    nextPageToken: '',
  })
  expect(body).not.toHaveProperty('pastFrom')
  const [nine, ten, gone, loose, sakura] = body.rows
  const { week: fjordWeek, ...fjord } = ten
  expect(fjord).toEqual({
    room: { id: ids.fjord, name: 'Fjord 10' },
    location: { id: ids.oslo, name: 'Oslo' },
    region: { id: ids.north, name: 'North' },
    timezone: 'Europe/Oslo',
    capacity: 4,
    tags: ['big'],
    ...{ countedQuarters: 200, measuredQuarters: 18, usedQuarters: 9, coverage: 0.09, use: 0.5 },
    ...{ peak: 6, meanWhenUsed: 3.33, seatUse: 0.8333, longestUnusedQuarters: 4 },
    ...{ personQuarters: 30, seatQuarters: 36 },
  })
  const hour = (day: number, time: number) => [fjordWeek.measured[day * 24 + time], fjordWeek.used[day * 24 + time]]
  expect([hour(0, 8), hour(0, 9), hour(1, 8), hour(2, 8)]).toEqual([
    [4, 0],
    [4, 4],
    [2, 1],
    [0, 0],
  ])
  expect(nine).toMatchObject({ room: { name: 'Fjord 9' }, measuredQuarters: 2, usedQuarters: 1, use: 0.5 })
  for (const key of ['peak', 'meanWhenUsed', 'seatUse', 'personQuarters', 'seatQuarters', 'capacity'])
    expect(nine).not.toHaveProperty(key)
  expect(gone).toMatchObject({ room: { name: 'Gone' }, deletedAt: expect.any(String), timezone: 'Asia/Tokyo' })
  expect(gone).toMatchObject({ location: { name: 'Tokyo' }, region: { name: 'South' }, usedQuarters: 2, seatUse: 0.5 })
  expect(loose).toMatchObject({ countedQuarters: 200, measuredQuarters: 0, coverage: 0, timezone: 'Europe/Oslo' })
  for (const key of ['use', 'location', 'region', 'longestUnusedQuarters']) expect(loose).not.toHaveProperty(key)
  expect(sakura).toMatchObject({ room: { name: 'Sakura' }, measuredQuarters: 4, use: 0.5, meanWhenUsed: 2 })
})

test('hours and days are those of the request, or else the working hours of the organisation in whole quarters', async () => {
  const counted = async (query: Query) => {
    const { body } = await ask({ ...week, locationId: ids.oslo as number, tag: 'big', ...query })
    const [row] = body.rows
    return [body.hours, body.days, row.countedQuarters, row.measuredQuarters]
  }
  const weekdaysText = 'mon,tue,wed,thu,fri'
  expect(await counted({ hours: '09:00-11:00' })).toEqual(['09:00-11:00', weekdaysText, 40, 8])
  expect(await counted({ hours: '09:15-24:00', days: 'tue, mon' })).toEqual(['09:15-24:00', 'mon,tue', 118, 11])
  expect(await counted({ hours: '22:00-08:15', days: 'mon' })).toEqual(['22:00-08:15', 'mon', 41, 1])
  expect(await counted({ hours: 'always' })).toEqual(['always', 'mon,tue,wed,thu,fri,sat,sun', 672, 18])
  expect(await counted({ hours: 'always', days: 'tue' })).toEqual(['always', 'tue', 96, 2])
  const set = (workingHours: object | null) => org.call('PUT', '', { body: { workingHours } })
  await set({ days: ['mon', 'wed'], from: '08:50', to: '11:05' })
  expect(await counted({})).toEqual(['08:45-11:15', 'mon,wed', 20, 10])
  expect(await counted({ days: 'tue', hours: '08:00-09:00' })).toEqual(['08:00-09:00', 'tue', 4, 2])
  await set(null)
})

test('a window can be a minute, in the future, or before the first sample', async () => {
  const one = { tag: 'big', hours: 'always' }
  const [minute] = await rowsOf({ ...one, from: '2026-02-02T08:05:00Z', to: '2026-02-02T08:06:00Z' })
  expect(minute).toMatchObject({ countedQuarters: 1, measuredQuarters: 1, usedQuarters: 1, use: 1, peak: 3 })
  const [empty] = await rowsOf({ ...one, from: '2026-02-02T08:05:00Z', to: '2026-02-02T08:05:00Z' })
  expect(empty).toMatchObject({ countedQuarters: 0, measuredQuarters: 0 })
  expect(empty).not.toHaveProperty('coverage')
  for (const window of [
    { from: '2027-01-01', to: '2027-02-01' },
    { from: '1990-01-01', to: '1990-02-01' },
    { from: '2027-01-01' },
  ]) {
    const rows = await rowsOf({ ...one, ...window })
    expect(rows).toMatchObject([{ measuredQuarters: 0, room: { name: 'Fjord 10' } }])
    expect(rows[0]).not.toHaveProperty('use')
  }
  // A room that was deleted before the window was not there.
  expect(await namesOf({ from: '2026-02-23', to: '2026-02-24' })).not.toContain('Gone')
})

test('rooms are those of the filters, and those that the caller sees', async () => {
  expect(await namesOf(week)).toEqual(['Fjord 9', 'Fjord 10', 'Gone', 'Loose', 'Sakura'])
  expect(await namesOf({ ...week, sort: '-name' })).toEqual(['Sakura', 'Loose', 'Gone', 'Fjord 10', 'Fjord 9'])
  expect(await namesOf({ ...week, regionId: ids.south as number })).toEqual(['Gone', 'Sakura'])
  expect(await namesOf({ ...week, field: 'wall:B2' })).toEqual(['Fjord 9'])
  expect(await namesOf({ ...week, tag: 'none' })).toEqual([])
  expect(await namesOf({ ...week, regionId: ids.south as number, locationId: ids.oslo as number })).toEqual([])
  const key = await org.newKey({ scopes: ['read'], regionIds: [ids.south as number] })
  expect(await namesOf(week, key)).toEqual(['Gone', 'Sakura'])
  expect(await namesOf({ ...week, sort: 'use' }, key)).toEqual(['Sakura', 'Gone'])
  expect(await rowsOf({ ...week, groupBy: 'region' }, key)).toMatchObject([{ region: { name: 'South' }, rooms: 2 }])
  expect(await namesOf({ ...week, regionId: ids.north as number }, key)).toEqual([])
})

test('rows are sorted by a figure, those without it last, and come in pages', async () => {
  const sorted = ['Gone', 'Fjord 9', 'Fjord 10', 'Sakura', 'Loose']
  expect(await namesOf({ ...week, sort: '-use' })).toEqual(sorted)
  expect(await namesOf({ ...week, sort: 'use' })).toEqual(['Fjord 9', 'Fjord 10', 'Sakura', 'Gone', 'Loose'])
  expect(await namesOf({ ...week, sort: '-longestUnusedQuarters' })).toEqual([
    ...['Fjord 10', 'Fjord 9', 'Sakura', 'Gone', 'Loose'],
  ])
  const query = { ...week, sort: '-use', pageSize: 2 }
  const paged: string[] = []
  for (let pageToken = ''; ; ) {
    const { body } = await ask({ ...query, ...(pageToken && { pageToken }) })
    paged.push(...body.rows.map((row: { room: { name: string } }) => row.room.name))
    pageToken = body.nextPageToken
    if (!pageToken) break
    expect((await ask({ ...week, pageToken })).body.violations).toMatchObject([{ field: 'pageToken' }])
  }
  expect(paged).toEqual(sorted)
})

test('groups have the sums of their rooms; days and weeks are those of each location', async () => {
  const rooms = await rowsOf(week)
  const sum = (rows: Record<string, number>[], key: string) => rows.reduce((all, row) => all + (row[key] ?? 0), 0)
  for (const groupBy of ['location', 'region', 'day', 'week']) {
    const groups = await rowsOf({ ...week, groupBy })
    for (const key of ['countedQuarters', 'measuredQuarters', 'usedQuarters', 'personQuarters', 'seatQuarters']) {
      expect(sum(groups, key), `${groupBy} ${key}`).toBe(sum(rooms, key))
    }
  }
  const locations = await rowsOf({ ...week, groupBy: 'location' })
  expect(locations).toMatchObject([
    { location: { name: 'Oslo' }, region: { name: 'North' }, rooms: 2, usedQuarters: 10, peak: 6, tooSmallRooms: 0 },
    { location: { name: 'Tokyo' }, rooms: 2, usedQuarters: 4, meanWhenUsed: 1.5, seatUse: 0.3 },
    { rooms: 1, measuredQuarters: 0 },
  ])
  expect(locations[0].week.used[9]).toBe(4)
  expect(locations[2]).not.toHaveProperty('location')
  const days = await rowsOf({ ...week, groupBy: 'day' })
  expect(days).toHaveLength(5)
  expect(days[0]).toMatchObject({ day: '2026-02-02', rooms: 5, measuredQuarters: 24, usedQuarters: 13 })
  expect(days[0]).not.toHaveProperty('week')
  expect(days[1]).toMatchObject({ day: '2026-02-03', measuredQuarters: 2, usedQuarters: 1 })
  const weeks = await rowsOf({ from: '2026-01-28', to: '2026-02-11', groupBy: 'week', sort: '-use' })
  expect(
    weeks.map(({ day, measuredQuarters }: { day: string; measuredQuarters: number }) => [day, measuredQuarters]),
  ).toEqual([
    ['2026-02-02', 26],
    ['2026-01-26', 0],
    ['2026-02-09', 0],
  ])
})

test('a group of a place has all rooms of the place, also where no second of the window counts [contract 16.answer]', async () => {
  // In Oslo it is afternoon then, in Tokyo night.
  const rows = await rowsOf({ from: '2026-02-06T12:00:00Z', to: '2026-02-06T16:00:00Z', groupBy: 'location' })
  expect(rows).toMatchObject([
    { location: { name: 'Oslo' }, rooms: 2, countedQuarters: 32 },
    { location: { name: 'Tokyo' }, rooms: 2, countedQuarters: 0 },
    { rooms: 1, countedQuarters: 16 },
  ])
})

test('the CSV has all rows of the JSON', async () => {
  for (const query of [week, { ...week, sort: '-use' }, { ...week, groupBy: 'region' }]) {
    const rows = await rowsOf(query)
    const [header = [], ...lines] = csvLines((await ask(query, undefined, { accept: 'text/csv' })).text)
    expect(lines).toHaveLength(rows.length)
    const used = header.indexOf('usedQuarters')
    expect(lines.map((line) => Number(line[used]))).toEqual(
      rows.map((row: { usedQuarters: number }) => row.usedQuarters),
    )
    expect(header).toContain('week.measured')
  }
})

test.each([
  [{ from: '2026-02-02', to: '2026-02-01' }, 'from', /must not be after to/],
  [{ from: '2025-01-01', to: '2026-01-03' }, 'from', /at most 366 days before to/],
  [{ ...week, hours: '08:10-18:00' }, 'hours', /whole quarters/],
  [{ ...week, hours: '24:00-08:00' }, 'hours', /whole quarters/],
  [{ ...week, days: 'monday' }, 'days', /names from mon, tue/],
  [{ ...week, days: '' }, 'days', /names from mon, tue/],
  [{ ...week, sort: 'price' }, 'sort', /must be one of name, -name/],
  [{ ...week, groupBy: 'floor' }, 'groupBy', /must be one of room/],
  [{ ...week, field: 'wall' }, 'field', /a colon/],
  [{ ...week, pageSize: -1 }, 'pageSize', /must not be negative/],
  [{ to: '2026-02-01' }, 'from', /is required/],
])('refuses %j', async (query, field, sentence) => {
  const { status, body } = await ask(query as unknown as Query)
  expect([status, body.violations[0].field]).toEqual([400, field])
  expect(body.message).toMatch(sentence)
})

test('a report of more than 400,000 rooms times days is refused if it is sorted by a figure or grouped, and has pages by name', async () => {
  const large = await harness.newOrg()
  await putManyRooms(harness, large, { rooms: 1100, firstDay: 0, days: 0 })
  const year = 'from=2025-01-01&to=2026-01-02'
  for (const [query, field] of [
    ['sort=-use', 'sort'],
    ['groupBy=location', 'groupBy'],
    ['groupBy=day&sort=use', 'groupBy'],
  ] as const) {
    const { status, body } = await large.call('GET', `/reports/use?${year}&${query}`)
    expect([status, body.violations[0].field]).toEqual([400, field])
    expect(body.message).toMatch(/1100 rooms on 366 days.*400,000 rooms times days\. Ask for fewer rooms or days/)
  }
  const page = await large.call('GET', `/reports/use?${year}&sort=-name&pageSize=3`)
  expect(page.body.rows.map((row: { room: { name: string } }) => row.room.name)).toEqual([
    ...['Room 1100', 'Room 1099', 'Room 1098'],
  ])
  expect(page.body.nextPageToken).not.toBe('')
  expect((await large.call('GET', `/reports/use?from=2025-01-01&to=2025-12-01&sort=-use&pageSize=1`)).status).toBe(200)
})
