// Tests the overview, the connection strip of a room and the wall with real incidents, devices and samples.
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axe, expectAccessible, findOverflow, phone } from '../support/console/accessibility.ts'
import {
  changeSession,
  closeTabs,
  consolePort,
  expectTrouble,
  newTab,
  openBrowser,
  openTab,
  settled,
  sharedTab,
  signInByApi,
  visit,
} from '../support/console/browser.ts'
import { type ConsoleFleet, startConsoleFleet } from '../support/console/console-fleet.ts'
import { putEndpoints } from '../support/database/endpoint-rows.ts'
import { newDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { newIncident } from '../support/incidents.ts'
import { isFullForm, isLongForm } from '../support/long-form.ts'
import { until } from '../support/program.ts'
import { putManyRooms } from '../support/reports/many-rooms.ts'
import { openWire, type Wire } from '../support/severable-proxy.ts'

const hourMs = 3600_000

let harness: Harness
let fleet: ConsoleFleet
/** The browser is at its other end. */
let wire: Wire & { close(): void }
let browser: Browser
beforeAll(async () => {
  harness = await startHarness()
  const { port } = await consolePort()
  wire = await openWire(harness.url, port)
  fleet = await startConsoleFleet(harness)
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  wire.close()
  await fleet.stop()
  await harness.close()
})

const shared = sharedTab(async () => openTab(browser, wire.url, await signInByApi(wire.url, fleet.org.key)))

/** The page fits on a phone too. `npm run test:long` looks at its dark colours and at its phone layout with axe. */
async function expectAccessibleAndNarrow(page: Page): Promise<void> {
  await expectAccessible(page, isLongForm)
  await page.setViewportSize(phone)
  await expect.poll(() => findOverflow(page)).toEqual([])
  if (isLongForm) expect(await axe(page)).toEqual([])
  await page.setViewportSize({ width: 1366, height: 900 })
}

test('the overview has the ten worst incidents, bars by region and firmware by model, all as links', async () => {
  const { org, bar } = fleet
  const now = harness.clock.now()
  const ids: string[] = []
  for (let hours = 1; hours <= 11; hours++)
    ids.push(await newIncident(harness, org, { endpoints: [bar.id], since: now - hours * hourMs }))
  const critical = await newIncident(harness, org, { endpoints: [bar.id], severity: 'CRITICAL', since: now - hourMs })
  await newIncident(harness, org, { endpoints: [bar.id], since: now - 40 * hourMs, snoozedUntil: 'cleared' })
  const { page } = await shared()
  await visit(page, '/')
  await settled(page, 'Overview')
  const worst = page.getByRole('region', { name: 'Worst incidents' }).getByRole('listitem')
  await until('the incidents are shown', async () => (await worst.count()) === 10)
  const links = await worst
    .getByRole('link')
    .evaluateAll((all) => all.map((one) => one.getAttribute('href')?.split('/').at(-1)))
  expect(links).toEqual([critical, ...ids.toReversed().slice(0, 9)])
  await worst.nth(1).getByText('11 h', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'View all (12)' }).waitFor()

  // The rooms were made within the last quarter of an hour or a little before, so the line shows them without devices.
  await page.getByRole('img', { name: /^Offline in the last 24 hours: \d+ to \d+, last \d+$/ }).waitFor()

  const regions = page.getByRole('region', { name: 'Rooms by region' })
  await regions.getByRole('link', { name: '1 room healthy in Europe' }).waitFor()
  await regions.getByRole('link', { name: '1 room offline in Europe' }).waitFor()
  const firmware = page.getByRole('region', { name: 'Firmware by model' })
  expect(await firmware.getByText('20260401').count(), 'no build numbers').toBe(0)
  await expectAccessibleAndNarrow(page)
  await regions.getByRole('link', { name: '1 room offline in Europe' }).click()
  await settled(page, 'Rooms')
  await page.getByRole('link', { name: 'Skog' }).waitFor()
  expect(await page.getByRole('table', { name: 'Rooms' }).getAttribute('aria-rowcount')).toBe('2')
  await visit(page, '/')
  const models = firmware.getByRole('link', { name: '2 bar firmware unknown' })
  await models.waitFor()
  if (isFullForm) {
    await models.click()
    await settled(page, 'Devices')
    expect(await page.getByRole('table', { name: 'Devices' }).getAttribute('aria-rowcount')).toBe('3')
  }

  // Each room is a square of the map. One of them is a tab stop, and arrow keys move between regions too.
  await visit(page, '/')
  const map = page.getByRole('region', { name: 'All rooms' })
  const squares = map.locator('[data-room]')
  const roomCount = (await org.call('GET', '/rooms')).body.rooms.length
  await until('all rooms are on the map', async () => (await squares.count()) === roomCount)
  expect(await map.locator('[data-room][tabindex="0"]').count()).toBe(1)
  await squares.first().focus()
  for (let i = 1; i < roomCount; i++) await page.keyboard.press('ArrowRight')
  expect(await squares.last().evaluate((square) => square.matches(':focus'))).toBe(true)
  await page.keyboard.press('Home')
  expect(await squares.first().evaluate((square) => square.matches(':focus'))).toBe(true)
  const skog = map.getByRole('link', { name: /^Skog, .+: Offline$/ })
  await skog.focus()
  await page
    .getByRole('tooltip')
    .getByText(/^Skog, .+: Offline$/)
    .waitFor()
  await page.keyboard.press('Enter')
  await settled(page, 'Skog')

  // An incident that ends disappears without a reload.
  await visit(page, '/')
  await page.getByRole('link', { name: 'View all (12)' }).waitFor()
  const { status } = await org.call('POST', `/incidents/${critical}/resolve`, { body: { note: 'Storage cleaned' } })
  expect(status).toBe(200)
  await page.getByRole('link', { name: 'View all (11)' }).waitFor()
})

/** In locations of ten. 800 of them have 30 lines in a window. */
const manyRooms = isFullForm ? 800 : 160

test(`${manyRooms} rooms are one look at 1440 by 900, and no incidents take three lines`, async () => {
  const many = await harness.newOrg('Fjellheim Eiendom AS')
  await putManyRooms(harness, many, { rooms: manyRooms, firstDay: 0, days: 0 })
  await putEndpoints(
    harness,
    many,
    Array.from({ length: manyRooms }, (_, i) => ({ room_id: i + 1, connected: 1 })),
  )
  const tab = await shared()
  const { page } = tab
  await changeSession(tab, await signInByApi(wire.url, many.key))
  await page.setViewportSize({ width: 1440, height: 900 })
  await visit(page, '/')
  await settled(page, 'Overview')
  const map = page.getByRole('region', { name: 'All rooms' })
  await until('all rooms are on the map', async () => (await map.locator('[data-room]').count()) === manyRooms)
  const heightOf = async (part: Locator) => (await part.boundingBox())?.height ?? 0
  expect(await heightOf(map)).toBeLessThanOrEqual(900 - (await heightOf(page.locator('header'))))
  const lineCount = `new Set([...document.querySelectorAll('[data-room]')].map((room) => room.getBoundingClientRect().top)).size`
  expect(await page.evaluate(lineCount)).toBeLessThanOrEqual((30 * manyRooms) / 800)
  const scrolling = `[...document.querySelectorAll('[data-room]')].filter((room) => {
    for (let part = room; part !== document.body; part = part.parentElement)
      if (/auto|scroll/.test(getComputedStyle(part).overflowY)) return true
    return false
  }).length`
  expect(await page.evaluate(scrolling), 'rooms are in nothing that scrolls but the page').toBe(0)
  // Its title, "No open incidents" and a sentence.
  const incidents = page.getByRole('region', { name: 'Worst incidents' })
  await incidents.getByText('No open incidents').waitFor()
  expect(await heightOf(incidents.getByText('No open incidents').locator('..'))).toBeLessThanOrEqual(2 * 24)
  expect(await heightOf(incidents)).toBeLessThanOrEqual(130)
  await page.setViewportSize({ width: 1366, height: 900 })
  await changeSession(tab, await signInByApi(wire.url, fleet.org.key))
})

test('a room shows when its devices were online, with marks and as a table; its code is folded', async () => {
  const { org, bar, rooms } = fleet
  await org.call('POST', `/endpoints/${bar.id}/config`, { body: { nightMode: true } })
  const { page } = await shared()
  await visit(page, `/rooms/${rooms.fjord}`)
  await settled(page, 'Fjord')
  const section = page.getByRole('region', { name: 'Connection, last hour' })
  // A percentage of a few seconds would say nothing.
  await section
    .getByText(/^Known since \d\d:\d\d, no outages$/)
    .first()
    .waitFor()
  await section.getByRole('img', { name: /^Bar R00001: Known since \d\d:\d\d, no outages$/ }).waitFor()
  await section.getByRole('button', { name: 'Show as table' }).click()
  // A note is about the room, so the table has it once.
  const note = section.getByRole('row').filter({ hasText: /Note by .+: The HDMI cable is on order\.$/ })
  await note.getByText('Room', { exact: true }).waitFor()
  await section.getByText('1 setting changed').waitFor()
  await expectAccessibleAndNarrow(page)

  const code = (await org.call('GET', `/rooms/${rooms.fjord}`)).body.dec
  expect(await page.getByText(code).count()).toBe(0)
  await page.getByRole('button', { name: 'Show code' }).click()
  await page.getByText(code, { exact: true }).waitFor()
  await page.getByText(/Shaded: Monday to Friday.*Tokyo time\./).waitFor()
  const { id } = (await org.call('GET', `/rooms/${rooms.fjord}`)).body.location
  await org.call('PUT', `/locations/${id}`, { body: { timezone: 'America/New_York' } })
  await page.getByText(/New York time\./).waitFor()
})

test('the wall signs in with a Read key, has no navigation, and is black when it is stale', async () => {
  const { org, pad } = fleet
  const since = harness.clock.now() - 50 * hourMs
  await newIncident(harness, org, { endpoints: [pad.id], since })
  await newIncident(harness, org, { endpoints: [pad.id], severity: 'CRITICAL', since: harness.clock.now() - 60_000 })
  const tab = await shared()
  const { page, trouble } = tab
  await changeSession(tab, { storageState: { cookies: [], origins: [] } })
  await page.setViewportSize({ width: 1920, height: 1080 })
  await page.goto('/wall?region=europe')
  await page.getByLabel('API key').fill(await org.newKey({ scopes: ['read'] }))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Europe' }).waitFor()
  expectTrouble(trouble, /status of 401/)
  await page.getByText(/Updated \d+ s ago/).waitFor()
  expect(await page.getByRole('navigation').count()).toBe(0)
  const first = page.getByRole('region', { name: 'Incidents' }).getByRole('listitem').first()
  await first.getByText('Critical').waitFor()
  await page.getByText('2 days 2 h').waitFor()
  await page.getByRole('img', { name: '1 room healthy in Europe' }).waitFor()
  await page.getByRole('heading', { name: /^\d+ open incidents, 1 critical, 1 snoozed(, \d+ not shown)?$/ }).waitFor()
  await expectAccessibleAndNarrow(page)

  wire.cut()
  await page.getByRole('heading', { name: 'No connection to the server' }).waitFor()
  await expectAccessible(page)
  expect(await page.getByRole('listitem').count()).toBe(0)
  expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).backgroundColor`)).toBe('rgb(0, 0, 0)')
  wire.mend()
  await first.waitFor()
  expectTrouble(trouble, /ERR_/)
})

test('the wall of an unknown region says so', async () => {
  const { page } = await shared()
  await visit(page, '/wall?region=Atlantis')
  await page.getByText('No region “Atlantis”. Showing all regions.').waitFor()
  await page.getByRole('heading', { level: 1, name: 'Nordlys AS' }).waitFor()
  // Another page whose address ends with the word keeps its navigation.
  await visit(page, '/rooms/wall')
  await page.getByRole('heading', { level: 1, name: 'Room not found' }).waitFor()
  await page.getByRole('navigation').first().waitFor()
})

/** The tests after this have a tab of their own: the shared tab now has the session of another organisation. */
test('the wall shows the worst incidents, as many as fit the window, and counts the rest; names of regions are whole', async () => {
  const org = await harness.newOrg()
  const create = async (path: string, body: object): Promise<number> => (await org.call('POST', path, { body })).body.id
  const regions = ['North America East Coast', 'North America West Coast', 'Europe, Middle East and Africa', 'Asia']
  for (const name of regions) {
    const regionId = await create('/regions', { name })
    const locationId = await create('/locations', { name: `Main building ${name}`, regionId })
    const room = await create('/rooms', { name: `Room with a long name in ${name}`, locationId })
    await newDevice(harness, org, { roomId: room })
    // It was never connected, so its room is degraded, and no incident opens.
    await putEndpoints(harness, org, [{ room_id: room, connected: 0, number: 1000 + room }])
    for (let hours = 1; hours <= 8; hours++) {
      const since = harness.clock.now() - hours * hourMs
      // The longest are the least severe.
      const severity = hours <= 2 ? 'CRITICAL' : hours <= 5 ? 'WARNING' : 'INFO'
      await newIncident(harness, org, { rooms: [room], severity, since })
    }
  }
  const africa = await create('/regions', { name: 'Africa' })
  const cairo = await create('/locations', { name: 'Cairo', regionId: africa })
  await newDevice(harness, org, { roomId: await create('/rooms', { name: 'Nile', locationId: cairo }) })
  const tab = await shared()
  const { page } = tab
  await changeSession(tab, await signInByApi(wire.url, org.key))
  await visit(page, '/wall')
  await page.getByText('1 of 5 regions is healthy').waitFor()
  // The short form has the widest and the narrowest screen.
  const wide = { width: 1920, height: 1080 }
  for (const viewport of isFullForm
    ? [wide, { width: 1280, height: 720 }, { width: 1080, height: 1920 }, phone]
    : [wide, phone]) {
    await page.setViewportSize(viewport)
    await page.getByRole('heading', { name: /^32 open incidents, 8 critical, \d+ not shown$/ }).waitFor()
    const wall = await until('the list fits, and one more would be cut', async () => {
      const seen = await page.evaluate<WallList>(readWall)
      // The list is measured again after the window has changed.
      const isFull = (seen.all[seen.shown.length]?.bottom ?? 0) > seen.listBottom
      return isFull && seen.heading.endsWith(`, ${seen.all.length - seen.shown.length} not shown`) && seen
    })
    const shown = wall.shown.length
    expect(wall.all).toHaveLength(32)
    expect(wall.shown, `${viewport.width}`).toEqual(wall.all.slice(0, shown))
    expect(shown).toBeGreaterThan(1)
    expect(wall.shown.at(-1)?.bottom).toBeLessThanOrEqual(Math.min(viewport.height, wall.listBottom + 1))
    const order = ['Critical', 'Warning', 'Info']
    const ranks = wall.all.map(({ severity }) => order.indexOf(severity))
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b))
    const hours = wall.all
      .filter(({ severity }) => severity === 'Info')
      .map(({ duration }) => Number.parseInt(duration, 10))
    expect(hours).toEqual([8, 7, 6].flatMap((each) => [each, each, each, each]))
    expect(wall.regions.map(({ name }) => name).toSorted()).toEqual(regions.toSorted())
    expect(wall.regions.filter(({ isCut }) => isCut)).toEqual([])
    await expect.poll(() => findOverflow(page)).toEqual([])
  }
})

interface WallList {
  readonly heading: string
  readonly listBottom: number
  readonly all: readonly WallItem[]
  readonly shown: readonly WallItem[]
  readonly regions: readonly { readonly name: string; readonly isCut: boolean }[]
}
interface WallItem {
  readonly severity: string
  readonly duration: string
  readonly bottom: number
}
/** Runs in the page. */
const readWall = `(() => {
  const list = document.querySelector('[aria-label="Incidents"] ul')
  const items = [...list.children]
  const read = (li) => ({
    severity: li.children[0].textContent,
    duration: li.children[2].textContent,
    bottom: li.getBoundingClientRect().bottom,
  })
  const names = [...document.querySelectorAll('[aria-label="Rooms by region"] li > span:first-child')]
  return {
    heading: document.querySelector('[aria-label="Incidents"] h2').innerText,
    listBottom: list.getBoundingClientRect().bottom,
    all: items.map(read),
    shown: items.filter((li) => getComputedStyle(li).visibility === 'visible').map(read),
    regions: names.map((name) => ({ name: name.textContent, isCut: name.scrollWidth > name.clientWidth + 1 })),
  }
})()`

test.runIf(isFullForm)('an organisation whose incidents are all snoozed is not one without incidents', async () => {
  const org = await harness.newOrg()
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  await newDevice(harness, org, { roomId })
  await newIncident(harness, org, { rooms: [roomId], snoozedUntil: 'cleared' })
  const { page } = await newTab(browser, wire.url, await signInByApi(wire.url, org.key))
  for (const [path, title] of [
    ['/', 'Overview'],
    ['/incidents', 'Incidents'],
  ] as const) {
    await visit(page, path)
    await settled(page, title)
    await page.getByText('Nothing needs work').waitFor()
    await page.getByRole('main').getByRole('link', { name: '1 snoozed' }).waitFor()
  }
  await visit(page, '/wall')
  await page.getByRole('heading', { name: 'No open incidents, 1 snoozed' }).waitFor()
  // All incidents include those that opened long ago and are still open.
  const since = harness.clock.now() - 40 * 24 * hourMs
  const old = await newIncident(harness, org, { rooms: [roomId], since })
  // The incident sent no event, so it is in no list that has been read.
  await page.goto('/incidents?state=all')
  await page.locator(`a[href="/incidents/${old}"]`).waitFor()
})

test.runIf(isFullForm)('a wall whose data cannot be read is black, and shows them once they can be', async () => {
  const tab = await newTab(browser, wire.url, await signInByApi(wire.url, fleet.org.key))
  const { page } = tab
  await page.clock.install()
  await page.route(/\/incidents\?/, (route) => route.fulfill({ status: 500, body: '{}' }))
  await page.goto('/wall')
  const notice = page.getByRole('heading', { name: 'Can’t read from the server' })
  await until('the reads were tried in vain', async () => {
    await page.clock.runFor(1000)
    return (await notice.count()) === 1
  })
  expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).backgroundColor`)).toBe('rgb(0, 0, 0)')
  await page.unroute(/\/incidents\?/)
  await page.clock.runFor(10_000)
  await page.getByRole('heading', { level: 1, name: 'Nordlys AS' }).waitFor()
  expectTrouble(tab.trouble, /status of 500|ApiError/)
})
