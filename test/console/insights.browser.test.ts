// Tests the insights page with rooms whose use was stored: figures, what is behind an hour, rooms side by side, CSV and empty windows.
import { readFile, writeFile } from 'node:fs/promises'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shareText } from '../../src/contract/reports/figure-texts.ts'
import { expectAccessible, findOverflow, phone } from '../support/console/accessibility.ts'
import {
  changeSession,
  closeTabs,
  consolePort,
  openBrowser,
  openTab,
  settled,
  sharedTab,
  signInByApi,
  visit,
} from '../support/console/browser.ts'
import { putReportFleet } from '../support/console/report-fleet.ts'
import { csvLines } from '../support/csv-lines.ts'
import { putEndpointWithSpans } from '../support/database/connection-spans.ts'
import { type LiveDevice, startDevice } from '../support/devices/agent-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { newIncident } from '../support/incidents.ts'
import { isFullForm } from '../support/long-form.ts'

const hourMs = 3_600_000

let harness: Harness
let org: TestOrg
let browser: Browser
let roomIds: ReadonlyMap<string, number>
const devices: LiveDevice[] = []

/** The first day of the month before. */
const from = new Date()
from.setUTCDate(1)
from.setUTCHours(0, 0, 0, 0)
const to = from.getTime()
from.setUTCMonth(from.getUTCMonth() - 1)

beforeAll(async () => {
  harness = await startHarness(await consolePort())
  org = await harness.newOrg('Nordlys AS')
  await org.call('PUT', '', { body: { timezone: 'UTC' } })
  const rooms = [
    { name: 'Fjord', location: 'Oslo', capacity: 4, use: 0.5, people: 6, co2: 2000 },
    { name: 'Skog', location: 'Oslo', capacity: 20, use: 0.4, people: 2 },
    { name: 'Elv', location: 'Oslo', use: 0.3 },
    { name: 'Bre', location: 'Bergen', capacity: 8, use: 0.2 },
    { name: 'Vik', location: 'Bergen', capacity: 8, use: 0.1 },
    { name: 'Tind', location: 'Bergen', capacity: 8, use: 0.01 },
    { name: 'Dal', location: 'Bergen', capacity: 8 },
  ]
  const regions = { North: ['Oslo'], West: ['Bergen'] }
  const fleet = await putReportFleet(harness, org, rooms, { regions, from: from.getTime() / 1000, to: to / 1000 })
  roomIds = fleet.roomIds
  // Rows of endpoints that are written directly have numbers after those of enrolled ones.
  for (const [name, serial] of [
    ['Bre', 'BAR00001'],
    ['Vik', 'BAR00002'],
  ] as const) {
    const device = await startDevice(harness, org, { roomId: roomIds.get(name) as number, serial, model: 'NF19B1' })
    await device.sample({ co2: 900, temp: 21, people: 2 })
    devices.push(device)
  }
  // The codec of Fjord was away for three hours of a Monday, and for two minutes.
  const day = from.getTime() + ((8 - from.getUTCDay()) % 7) * 24 * hourMs
  const gaps = [day + 9 * hourMs, day + 12 * hourMs, day + 14 * hourMs, day + 14 * hourMs + 120_000]
  const edges = [from.getTime() - hourMs, ...gaps, to + hourMs]
  const spans = [0, 2, 4].map((i) => [edges[i] as number, edges[i + 1] as number] as const)
  await putEndpointWithSpans(harness, org, { room_id: fleet.roomIds.get('Fjord') as number }, spans)
  // A room in each location was silenced in that month: Fjord for an hour, and Tind, in Bergen, for two.
  await putEndpointWithSpans(harness, org, { room_id: fleet.roomIds.get('Tind') as number }, [[edges[0] as number, to]])
  const silenced = [
    { id: 9001, room: 'Fjord', hours: 1 },
    { id: 9002, room: 'Tind', hours: 2 },
  ].map(({ id, room, hours }) => ({
    ...{ org: org.org.key, id, version: 1, place_type: 'room' as const, place_id: String(fleet.roomIds.get(room)) },
    ...{ since: day + 16 * hourMs, until: day + (16 + hours) * hourMs, weekly: null, rules: null, reason: 'Building' },
    ...{ author_type: 'KEY' as const, author_id: '1', author_name: 'Key' },
  }))
  await harness.services.db.systemTransaction(({ kysely }) => kysely.insertInto('silences').values(silenced).execute())
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  for (const device of devices) await device.stop()
  await harness.close()
})

const shared = sharedTab(async () => openTab(browser, harness.url, await signInByApi(harness.url, org.key)))

test('the rooms that could be given up are one click from the overview; an hour opens its rooms, and rooms stand side by side', async () => {
  const { page } = await shared()
  await visit(page, '/')
  await settled(page, 'Overview')
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Insights' }).click()
  await settled(page, 'Insights')
  const least = page.getByRole('list', { name: 'Least used' }).getByRole('listitem')
  await least.first().waitFor()
  const names = await least.evaluateAll((items) => items.map((item) => item.querySelector('button')?.textContent))
  expect(names).toEqual(['Tind', 'Vik', 'Bre', 'Elv', 'Skog'])
  await page.getByRole('list', { name: 'Too small' }).getByRole('button', { name: 'Fjord' }).waitFor()
  await page.getByRole('list', { name: 'Too large' }).getByRole('button', { name: 'Skog' }).waitFor()
  await page.getByText('1 room has no capacity').waitFor()
  await expectAccessible(page, true)

  // Seats of all rooms together are those of the service: people and seats added up, and not a mean of shares.
  const { use } = (await org.call('GET', `/reports/month?month=${from.toISOString().slice(0, 7)}`)).body
  expect(use.month.seatUse).toBe(Number((use.month.personQuarters / use.month.seatQuarters).toFixed(4)))
  const figure = page.getByRole('definition').filter({ hasText: shareText(use.month.seatUse) })
  await page
    .locator('dl > div')
    .filter({ hasText: 'Seats used' })
    .and(page.locator(':has(dd)'))
    .filter({ has: figure })
    .waitFor()

  // Paper has the names in rankings, which are buttons on the screen.
  await page.emulateMedia({ media: 'print' })
  for (const [list, name] of [
    ['Least used', 'Tind'],
    ['Most used', 'Fjord'],
    ['Too small', 'Fjord'],
    ['Too large', 'Skog'],
  ] as const) {
    const first = page.getByRole('list', { name: list }).getByRole('listitem').first()
    await expect.poll(() => first.innerText(), { message: list }).toContain(name)
  }
  await page.getByRole('heading', { level: 2, name: 'Use', exact: true }).waitFor()
  await page.emulateMedia({ media: 'screen' })

  // One cell is a tab stop, and arrow keys move from it.
  const map = page.getByRole('table', { name: 'Use by weekday and hour, percent' })
  expect(await map.locator('button[tabindex="0"]').count()).toBe(1)
  await map.getByRole('button', { name: /^Monday 09:00 to 10:00: \d+ % used$/ }).focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  const behind = page.getByRole('region', { name: 'Tuesdays, 10:00 to 11:00' })
  await behind.getByRole('row').nth(6).waitFor()
  expect(new URL(page.url()).searchParams.get('behind')).toBe(String(24 + 10))

  await least.filter({ hasText: 'Tind' }).getByRole('button').click()
  await least.filter({ hasText: 'Vik' }).getByRole('button').click()
  const aside = page.getByRole('region', { name: 'Rooms side by side' })
  await aside.getByRole('table', { name: /^Use of Tind \(\w+\) by weekday and hour, percent$/ }).waitFor()
  await aside.getByRole('table', { name: /^Use of Vik \(\w+\) by weekday and hour, percent$/ }).waitFor()
  expect(new URL(page.url()).searchParams.get('rooms')).toBe(`${roomIds.get('Tind')},${roomIds.get('Vik')}`)
  await expectAccessible(page)
  await page.setViewportSize(phone)
  await expect.poll(() => findOverflow(page)).toEqual([])
  await page.setViewportSize({ width: 1366, height: 900 })
})

test('three clicks from the overview say whether a location kept the target and what was excluded there; seconds of a room add up, and its air has limits', async () => {
  const { page } = await shared()
  await visit(page, '/')
  await settled(page, 'Overview')
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Insights' }).click()
  await page.getByRole('tab', { name: 'Availability' }).click()
  const oslo = page
    .getByRole('table', { name: 'Availability by location' })
    .getByRole('row')
    .filter({ hasText: 'Oslo' })
  await oslo.getByText('Missed').waitFor()
  await oslo.getByText('1 of 3').waitFor()
  const excluded = page.getByRole('table', { name: 'What was excluded' }).getByRole('row')
  await excluded.getByText('3 h', { exact: true }).waitFor()
  // The third click: from here on the tables are about Oslo only, without the two hours in Bergen.
  await oslo.getByRole('button', { name: 'Oslo' }).click()
  await expect
    .poll(() => excluded.filter({ hasText: 'Silenced' }).innerText(), { message: 'the hour of the silence in Oslo' })
    .toMatch(/Silenced\s+1 h\s/)
  await expect
    .poll(() => page.getByRole('table', { name: 'Availability by location' }).getByRole('row').count())
    .toBe(2)
  await page.getByRole('table', { name: 'Availability of rooms' }).getByRole('button', { name: 'Fjord' }).click()
  const periods = page.getByRole('region', { name: 'Periods of Fjord' })
  await periods.getByRole('row', { name: /Charged 3 h$/ }).waitFor()
  await periods.getByRole('row', { name: /Short interruptions 2 min$/ }).waitFor()
  const sentence = await periods.getByText(/ s\. /).innerText()
  const numbers = sentence.match(/[\d,]+(?= s\b)/g)?.map((text) => Number(text.replaceAll(',', ''))) ?? []
  expect(numbers.length).toBeGreaterThanOrEqual(4)
  expect(numbers.slice(0, -1).reduce((a, b) => a + b)).toBe(numbers.at(-1))
  await expectAccessible(page)
  await page.getByRole('tab', { name: 'Air' }).click()
  const worst = page.getByRole('list', { name: 'Worst air' }).getByRole('listitem')
  await worst
    .filter({ hasText: 'Fjord' })
    .getByText(/CO₂|Carbon/)
    .waitFor()
  await page.getByText('of the time in use', { exact: true }).waitFor()
  await expectAccessible(page)
  // The room's history is about the month of the report.
  await worst.getByRole('link', { name: 'Fjord' }).click()
  await settled(page, 'Fjord')
  const last = new Date(to - 24 * hourMs).toISOString().slice(0, 10)
  expect(new URL(page.url()).search).toBe(`?from=${from.toISOString().slice(0, 10)}&to=${last}`)
  const month = from.toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
  const history = page.getByRole('region', { name: 'History' })
  await history.getByText(`No data for ${month}`).waitFor()
  await history.getByText('3 years', { exact: true }).click()
  await history.getByText('No data for the last three years').waitFor()
  expect(new URL(page.url()).search).toBe('?span=3-years')
})

test('incidents are counted by cause, and a device with three of one rule is a repeat offender', async () => {
  const [first] = devices
  const since = from.getTime() + 9 * hourMs
  for (let i = 0; i < 3; i++)
    await newIncident(harness, org, { endpoints: [first?.id ?? ''], state: 'RESOLVED', since: since + i * 24 * hourMs })
  // Another device has the same one once, and one opened before the month.
  await newIncident(harness, org, { endpoints: [first?.id ?? ''], state: 'RESOLVED', since: from.getTime() - hourMs })
  await newIncident(harness, org, { endpoints: [devices[1]?.id ?? ''], state: 'RESOLVED', since: since + 2 * hourMs })
  const { page } = await shared()
  await visit(page, '/insights?tab=incidents')
  await settled(page, 'Insights')
  const cause = page.getByRole('table', { name: 'Incidents by cause' }).getByRole('row').nth(1)
  await cause.getByRole('cell', { name: '4', exact: true }).waitFor()
  const offender = page.getByRole('table', { name: 'Repeat offenders' }).getByRole('row').nth(1)
  await offender.getByRole('cell', { name: '3', exact: true }).waitFor()
  await expectAccessible(page)

  // Numbers open the incidents that they count: those of the month, and not older ones of the same cause.
  for (const [table, count] of [
    ['Incidents by cause', 4],
    ['Repeat offenders', 3],
  ] as const) {
    await visit(page, '/insights?tab=incidents')
    const row = page.getByRole('table', { name: table }).getByRole('row').nth(1)
    await row.getByRole('link', { name: String(count), exact: true }).click()
    await settled(page, 'Incidents')
    await page.getByRole('combobox', { name: /^Opened: / }).waitFor()
    await expect
      .poll(() =>
        page
          .getByRole('status')
          .filter({ hasText: / incidents?$/ })
          .innerText(),
      )
      .toBe(`${count} incidents`)
  }
  await page.getByRole('combobox', { name: /^Cause: / }).waitFor()
  await page.getByRole('button', { name: 'Clear Opened' }).click()
  await expect.poll(() => new URL(page.url()).searchParams.has('from')).toBe(false)
})

test('the air of two rooms over six weeks is four clicks from the overview', async () => {
  const { page } = await shared()
  await visit(page, '/')
  await settled(page, 'Overview')
  await page
    .getByRole('region', { name: 'All rooms' })
    .getByRole('link', { name: /^Bre, / })
    .click()
  await settled(page, 'Bre')
  const history = page.getByRole('region', { name: 'History' })
  await history.getByText('6 weeks').click()
  await history.getByRole('combobox', { name: 'Second room beside it' }).click()
  await page.getByRole('option', { name: 'Vik (Bergen)' }).click()
  await history.getByRole('img', { name: /, Bre \(\w+\) in the last six weeks; minimum 900/ }).waitFor()
  await history.getByRole('img', { name: /, Vik \(\w+\) in the last six weeks; minimum 900/ }).waitFor()
  expect(new URL(page.url()).searchParams.get('beside')).toBe(String(roomIds.get('Vik')))
  await expectAccessible(page)
  await history.getByText('3 years', { exact: true }).click()
  await history.getByRole('img', { name: /, Vik \(\w+\) in the last three years; minimum 900/ }).waitFor()
})

test('a file has the rows of its table, in their order', async () => {
  const { page } = await shared()
  await visit(page, '/insights')
  await settled(page, 'Insights')
  const downloaded = page.waitForEvent('download')
  await page.getByRole('button', { name: /^Download CSV: Rooms by use, least first/ }).click()
  const file = await downloaded
  expect(file.suggestedFilename()).toMatch(/^Rooms by use, least first, \w+ \d{4}\.csv$/)
  const [header = [], ...lines] = csvLines(await readFile(await file.path(), 'utf8'))
  const [name, use] = [header.indexOf('room.name'), header.indexOf('use')]
  expect(lines.map((line) => line[name])).toEqual(['Tind', 'Vik', 'Bre', 'Elv', 'Skog', 'Fjord', 'Dal'])
  expect(lines.at(-1)?.[use], 'not measured is empty, not 0').toBe('')
})

test('a link of a mail saves a table once, and leaves its page', async () => {
  const { page } = await shared()
  for (const [address, name] of [
    ['tab=use&save=csv', /^Use of all rooms, /],
    ['tab=availability&save=locations', /^Availability of locations, /],
  ] as const) {
    const downloaded = page.waitForEvent('download')
    await visit(page, `/insights?${address}`)
    expect((await downloaded).suggestedFilename()).toMatch(name)
    await expect.poll(() => new URL(page.url()).searchParams.has('save')).toBe(false)
  }
})

test('the server knows the address of the page', async () => {
  const { status } = await fetch(`${harness.url}/insights?tab=air`, { headers: { accept: 'text/html' } })
  expect(status).toBe(200)
})

const maxRowsOnSheet = 60
/** In inches. */
const papers = { a4: [8.27, 11.69], letter: [8.5, 11] } as const
const [roomsOnPaper, kindsOfRooms] = isFullForm ? [800, 16] : [7, 7]

test(
  isFullForm
    ? 'a month of 800 rooms, a room and an incident are on paper whole, in A4 and Letter'
    : 'the use of rooms in a month is on paper whole, in A4 and Letter',
  async () => {
    const { page, context } = await shared()
    const printed = isFullForm
      ? await largeFleet()
      : { org, roomId: roomIds.get('Bre'), endpointId: devices[0]?.id ?? '' }
    if (isFullForm) await changeSession({ page, context, trouble: [] }, await signInByApi(harness.url, printed.org.key))
    const incident = await newIncident(harness, printed.org, {
      endpoints: [printed.endpointId],
      state: 'RESOLVED',
      since: from.getTime() + 9 * hourMs,
    })
    const session = await context.newCDPSession(page)
    // The full form has all pages.
    const pages = [
      ['/insights', 'Insights', 'Use of all rooms', roomsOnPaper],
      ['/insights?behind=33', 'Insights', 'Tuesdays, 09:00 to 10:00', roomsOnPaper],
      ['/insights?tab=availability', 'Insights', 'Availability of rooms', roomsOnPaper],
      // A third of the rooms have no sensor of the air.
      ['/insights?tab=air', 'Insights', 'Air of all rooms', 533],
      ['/insights?tab=incidents', 'Insights', 'Incidents by cause', 2],
      [`/rooms/${printed.roomId}?span=year`, undefined, undefined, 0],
      [`/incidents/${incident}`, undefined, undefined, 0],
    ] as const
    for (const [path, title, table, rowCount] of isFullForm ? pages : pages.slice(0, 1)) {
      await visit(page, path)
      if (title) await settled(page, title)
      await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
      if (table) await page.getByRole('table', { name: table, exact: true }).waitFor()
      await expect.poll(() => page.getByRole('progressbar').count()).toBe(0)
      await page.emulateMedia({ media: 'print' })
      await page.locator('[data-print-header]').waitFor()
      const isLandscape = await page.evaluate(
        `[...document.querySelectorAll('style')].some((style) => style.textContent.includes('size: landscape'))`,
      )
      // The sheet without its margins, at 96 pixels to the inch.
      await page.setViewportSize({ width: isLandscape ? 1032 : 703, height: 900 })
      await expect.poll(() => findOverflow(page), { message: `${path} has no cut columns` }).toEqual([])
      if (table) {
        const rows = page.getByRole('table', { name: table, exact: true }).getByRole('row')
        await expect.poll(() => rows.count(), { message: `${path} has all rows` }).toBe(rowCount + 1)
      }
      await page.setViewportSize({ width: 1366, height: 900 })
      await page.emulateMedia({ media: null })
      for (const [name, [paperWidth, paperHeight]] of Object.entries(papers)) {
        const { data } = await session.send('Page.printToPDF', {
          ...{ paperWidth, paperHeight, printBackground: true, preferCSSPageSize: true },
        })
        const pdf = Buffer.from(data, 'base64')
        const sheets = pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0
        expect(sheets, `${path} in ${name}`).toBeGreaterThan(rowCount / maxRowsOnSheet)
        const folder = process.env.TEST_PDF_FOLDER
        if (folder) await writeFile(`${folder}/${path.replaceAll(/\W+/g, '-').slice(1)}-${name}-${sheets}.pdf`, pdf)
      }
    }
    await session.detach()
    if (isFullForm) await changeSession({ page, context, trouble: [] }, await signInByApi(harness.url, org.key))
  },
  isFullForm ? 900_000 : undefined,
)

/** Rooms of several kinds in 40 locations, each with a device that was away for a while. */
async function largeFleet() {
  const large = await harness.newOrg('Fjellheim Eiendom AS')
  await large.call('PUT', '', { body: { timezone: 'UTC' } })
  const locations = Array.from({ length: 40 }, (_, i) => `Location ${i + 1}`)
  const rooms = Array.from({ length: roomsOnPaper }, (_, i) => ({
    name: `Room ${i + 1}${i % 50 === 0 ? ' with a longer name, such as those of large halls' : ''}`,
    location: locations[i % locations.length] as string,
    use: ((i % kindsOfRooms) + 1) / (kindsOfRooms + 4),
    people: 1 + (i % 9),
    ...(i % 5 > 0 && { capacity: 2 + (i % 12) * 2 }),
    ...(i % 3 > 0 && { co2: 700 + (i % 11) * 120 }),
  }))
  const regions = { North: locations.slice(0, 20), South: locations.slice(20) }
  const fleet = await putReportFleet(harness, large, rooms, { regions, from: from.getTime() / 1000, to: to / 1000 })
  const starts = from.getTime() - hourMs
  const endpointIds: string[] = []
  for (const [i, roomId] of [...fleet.roomIds.values()].entries()) {
    const away = from.getTime() + (24 * (i % 27) + 9) * hourMs
    const spans = [
      [starts, away],
      [away + (1 + (i % 400)) * 60_000, to],
    ] as const
    const { id } = await putEndpointWithSpans(harness, large, { room_id: roomId }, spans)
    endpointIds.push(id)
  }
  for (let i = 0; i < 60; i++)
    await newIncident(harness, large, {
      ...{ endpoints: [endpointIds[i % 12] as string], state: 'RESOLVED', since: from.getTime() + i * 8 * hourMs },
      rule: i % 2 === 0 ? 'storage.low' : 'device.offline',
    })
  return { org: large, roomId: fleet.roomIds.get('Room 2'), endpointId: endpointIds[1] as string }
}

test('a window without values says so, and a caller sees only the rooms of its regions', async () => {
  const { page } = await shared()
  await visit(page, '/insights?month=2020-01')
  await settled(page, 'Insights')
  await page.getByText('No people were counted').waitFor()
  await visit(page, '/insights?tag=nothing')
  await page.getByText('No rooms', { exact: true }).waitFor()
  if (!isFullForm) return
  const { body } = await org.call('GET', '/regions')
  const west = body.regions.find((region: { name: string }) => region.name === 'West').id
  const key = await org.newKey({ scopes: ['read'], regionIds: [west] })
  const restricted = await openTab(browser, harness.url, await signInByApi(harness.url, key))
  await visit(restricted.page, '/insights')
  await settled(restricted.page, 'Insights')
  await restricted.page.getByText('of 4;').waitFor()
  await restricted.page.getByRole('button', { name: 'Fjord' }).waitFor({ state: 'detached' })
})
