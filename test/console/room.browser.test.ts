// Tests the page of a room in a real browser: the facts in its header, its actions, strips of connections, and that it does not move while it loads.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { minuteMs } from '../../src/contract/durations.ts'
import { findViolations, phone } from '../support/console/accessibility.ts'
import {
  closeTabs,
  consolePort,
  openBrowser,
  openTab,
  settled,
  sharedTab,
  signInByApi,
  visit,
} from '../support/console/browser.ts'
import { type ConsoleFleet, startConsoleFleet } from '../support/console/console-fleet.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { newIncident } from '../support/incidents.ts'

let harness: Harness
let fleet: ConsoleFleet
let browser: Browser
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  fleet = await startConsoleFleet(harness, { hasDayOfSamples: true })
  const room = { name: 'Fjord', locationId: fleet.sites.oslo, capacity: 8, floor: '3', contact: 'Nora' }
  await fleet.org.call('PUT', `/rooms/${fleet.rooms.fjord}`, { body: room })
  const profile = { body: { profileId: fleet.profileId } }
  await fleet.org.call('PUT', `/rooms/${fleet.rooms.fjord}/profile`, profile)
  await newIncident(harness, fleet.org, { endpoints: [fleet.bar.id], since: harness.clock.now() - 5 * minuteMs })
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await fleet.stop()
  await harness.close()
})

const wide = { width: 1440, height: 900 }
const shared = sharedTab(async () => openTab(browser, harness.url, await signInByApi(harness.url, fleet.org.key)))
const factsOf = async (page: Page): Promise<Record<string, string>> =>
  Object.fromEntries(
    await page.evaluate<[string, string][]>(
      `[...document.querySelector('main dl').children].map((one) => [one.children[0].innerText, one.children[1].innerText])`,
    ),
  )

test('the header of a room has its facts, and its deletion is in a menu', async () => {
  const { page } = await shared()
  await page.setViewportSize(wide)
  await visit(page, `/rooms/${fleet.rooms.fjord}`)
  await settled(page, 'Fjord')
  const facts = await factsOf(page)
  expect(Object.keys(facts)).toEqual([...['Since', 'Incidents', 'People', 'Profile', 'Local time', 'Floor', 'Contact']])
  expect(facts).toMatchObject({ People: '5 of 8', Profile: 'Quiet rooms', Floor: '3', Contact: 'Nora' })
  expect(facts['Local time']).toMatch(/^(\d+ \w+, )?\d\d:\d\d in Tokyo$/)
  await page.getByRole('main').getByRole('definition').getByRole('link', { name: 'Warning' }).waitFor()
  expect(await page.getByRole('button', { name: /delete room/i }).count()).toBe(0)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete room' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('menu').waitFor({ state: 'detached' })
  expect(await findViolations(page)).toEqual([])
  // The notes are beside the charts.
  const [notes, history] = await Promise.all(
    ['Notes', 'History'].map((name) => page.getByRole('region', { name }).boundingBox()),
  )
  expect(notes?.x).toBeGreaterThan((history?.x ?? 0) + (history?.width ?? 0))
  await page.setViewportSize(phone)
  expect(await findViolations(page, false)).toEqual([])
  const [above, below] = await Promise.all(
    ['Notes', 'History'].map((name) => page.getByRole('region', { name }).boundingBox()),
  )
  expect(above?.y, 'on a phone the notes are above the charts').toBeLessThan(below?.y ?? 0)
  await page.setViewportSize(wide)
})

test('a room without devices offers no message and no restart, and without a location no local time', async () => {
  const { page } = await shared()
  await visit(page, `/rooms/${fleet.rooms.tomt}`)
  await settled(page, 'Tomt')
  await page.getByRole('button', { name: 'Silence' }).waitFor()
  expect(await page.getByRole('button', { name: /Send message|Restart/ }).count()).toBe(0)
  expect(Object.keys(await factsOf(page))).toEqual(['Incidents'])
})

test('strips have the order of the devices above them; a young device says since when it is known', async () => {
  const { page } = await shared()
  await visit(page, `/rooms/${fleet.rooms.fjord}`)
  const strips = page.getByRole('region', { name: 'Connection, last hour' })
  await strips.waitFor()
  const listed = await page.getByRole('region', { name: 'Devices' }).getByRole('link').allInnerTexts()
  const images = await strips.getByRole('img').all()
  const names = await Promise.all(images.map((image) => image.getAttribute('aria-label')))
  expect(names.map((name) => name?.split(':')[0])).toEqual(listed)
  expect(names[0]).toMatch(/^Bar R00001: Known since \d\d:\d\d, no outages$/)
  // Forced colours draw all backgrounds alike, unless an element keeps its own.
  const part = `document.querySelector('[data-state="online"]')`
  const fill = () => page.evaluate<string>(`getComputedStyle(${part}).backgroundColor`)
  const usual = await fill()
  await page.emulateMedia({ forcedColors: 'active' })
  expect(await fill()).toBe(usual)
  await page.evaluate(`${part}.style.forcedColorAdjust = 'auto'`)
  expect(await fill(), 'what it would be').not.toBe(usual)
  await page.emulateMedia({ forcedColors: null })
  // The page of the device has the same strip.
  await visit(page, `/devices/${fleet.bar.id}`)
  await settled(page, 'Bar R00001')
  await strips.getByRole('img', { name: /^Bar R00001: Known since/ }).waitFor()
  expect(await strips.getByRole('img').count()).toBe(1)
  expect(Object.keys(await factsOf(page))).toEqual(['Since', 'Model', 'Serial number', 'Firmware'])
})

test('the page of a room does not move while it loads', async () => {
  const { page } = await shared()
  await page.goto(`/rooms/${fleet.rooms.fjord}`)
  await settled(page, 'Fjord')
  await page.getByRole('region', { name: 'History' }).locator('canvas').first().waitFor()
  const shift = await page.evaluate<number>(`new Promise((resolve) => {
    new PerformanceObserver((list) => resolve(list.getEntries().reduce((sum, entry) => sum + entry.value, 0)))
      .observe({ type: 'layout-shift', buffered: true })
    setTimeout(() => resolve(0), 1000)
  })`)
  expect(shift).toBeLessThan(0.02)
})

test('the list of rooms has their capacity', async () => {
  const { page } = await shared()
  await visit(page, '/rooms')
  await settled(page, 'Rooms')
  await page.getByRole('columnheader', { name: 'Capacity' }).waitFor()
  await page.getByRole('row').filter({ hasText: 'Fjord' }).getByText('8', { exact: true }).waitFor()
})
