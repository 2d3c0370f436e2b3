// Tests the pages of locations and regions, and the change of many locations, in a real browser.
import type { Browser, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findViolations, phone } from '../support/console/accessibility.ts'
import {
  closeTabs,
  consolePort,
  expectTrouble,
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
import { isFullForm } from '../support/long-form.ts'

let harness: Harness
let fleet: ConsoleFleet
let browser: Browser
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  fleet = await startConsoleFleet(harness, { hasDayOfSamples: true })
  const about = { address: 'Storgata 1\n0155 Oslo', contact: 'facilities@example.com' }
  await fleet.org.call('PUT', `/locations/${fleet.sites.oslo}`, { body: about })
  await newIncident(harness, fleet.org, { endpoints: [fleet.bar.id] })
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await fleet.stop()
  await harness.close()
})

const shared = sharedTab(async () => openTab(browser, harness.url, await signInByApi(harness.url, fleet.org.key)))
const locations = async (): Promise<{ id: number; name: string; timezone?: string; changeWindow?: object }[]> =>
  (await fleet.org.call('GET', '/locations')).body.locations
const fact = (page: Page, name: string) =>
  page.getByRole('main').locator('dl > div').filter({ hasText: name }).locator('dd')

test('the page of a location has its rooms, incidents, window, zone, address, contact and last week, and edits them', async () => {
  const { page } = await shared()
  await visit(page, `/rooms/${fleet.rooms.fjord}`)
  await settled(page, 'Fjord')
  await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Oslo' }).click()
  await settled(page, 'Oslo')
  await fact(page, 'Rooms').getByRole('link', { name: '1 healthy in Oslo' }).waitFor()
  expect(await fact(page, 'Change window').textContent()).toBe('Any time')
  expect(await fact(page, 'Time zone').textContent()).toBe('Asia/Tokyo')
  expect(await fact(page, 'Contact').getByRole('link').getAttribute('href')).toBe('mailto:facilities@example.com')
  expect(await fact(page, 'Address').textContent()).toBe('Storgata 1\n0155 Oslo')
  await page.getByRole('region', { name: '1 open incident' }).getByRole('link', { name: /Fjord/ }).waitFor()
  const rooms = page.getByRole('table', { name: 'Rooms' })
  await rooms.getByRole('row').filter({ hasText: 'Fjord' }).getByText('Healthy').waitFor()
  expect(await rooms.getByRole('row').count(), 'the head and one room').toBe(2)
  await page.getByRole('region', { name: 'Use and air, last 7 days' }).getByRole('link').first().waitFor()

  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit location' })
  await dialog.getByRole('switch', { name: 'Change window' }).click()
  await dialog.getByRole('button', { name: 'Save location' }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => fact(page, 'Change window').textContent()).toBe('Mon to Thu, 20:00 to 05:00')
  expect(await findViolations(page)).toEqual([])
})

test('the page of a region has its locations; a place that does not exist is not found', async () => {
  const { page, trouble } = await shared()
  await visit(page, '/sites')
  await settled(page, 'Sites')
  await page.getByRole('link', { name: 'Europe', exact: true }).click()
  await settled(page, 'Europe')
  const table = page.getByRole('table', { name: 'Locations' })
  const oslo = table.getByRole('row').filter({ hasText: 'Oslo' })
  await oslo.getByText('Mon to Thu, 20:00 to 05:00').waitFor()
  await oslo.getByText('Asia/Tokyo').waitFor()
  await expect
    .poll(() => oslo.getByRole('link', { name: '1', exact: true }).getAttribute('href'))
    .toMatch(/incidents.*location=/)
  await table.getByRole('row').filter({ hasText: 'Bergen' }).getByText('1 offline').waitFor()
  expect(await findViolations(page)).toEqual([])
  await page.setViewportSize(phone)
  expect(await findViolations(page, false)).toEqual([])
  for (const path of ['/sites/locations/999', '/sites/regions/oslo']) {
    await visit(page, path)
    await page.getByRole('heading', { level: 1, name: /not found$/ }).waitFor()
  }
  expectTrouble(trouble, /status of 404/)
  await page.setViewportSize({ width: 1366, height: 900 })
})

// In `npm test` `journey` deletes sites.
test.runIf(isFullForm)('a region is deleted from its own page, which leads to the sites', async () => {
  const { page } = await shared()
  const { id } = (await fleet.org.call('POST', '/regions', { body: { name: 'Oceania' } })).body
  await visit(page, `/sites/regions/${id}`)
  await settled(page, 'Oceania')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete region' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete region' }).click()
  await settled(page, 'Sites')
  expect(await page.getByText('Oceania', { exact: true }).count()).toBe(0)
})

test('the window and the zone of many locations are set together; failures are named, and the change can be undone', async () => {
  const { page, trouble } = await shared()
  const more = await Promise.all(
    ['Hamar', 'Molde', 'Narvik'].map((name) =>
      fleet.org.call('POST', '/locations', { body: { name, regionId: fleet.sites.europe } }),
    ),
  )
  const before = await locations()
  await visit(page, '/sites')
  await settled(page, 'Sites')
  await page.getByRole('link', { name: 'Narvik', exact: true }).waitFor()
  await page.getByRole('checkbox', { name: 'Select all in Europe' }).check()
  await page.getByRole('checkbox', { name: 'Select Oslo' }).uncheck()
  await page.getByRole('region', { name: 'Selection' }).getByText('4 selected').waitFor()
  await page.getByRole('button', { name: 'Set change window and time zone' }).click()
  const dialog = page.getByRole('dialog')
  const window = dialog.getByRole('radiogroup', { name: 'Change window' })
  await window.getByRole('radio', { name: 'Set one for all' }).check()
  const zone = dialog.getByRole('radiogroup', { name: 'Time zone' })
  await zone.getByRole('radio', { name: 'Set one for all' }).check()
  expect(await dialog.getByRole('button', { name: 'Change locations' }).isDisabled(), 'without a zone').toBe(true)
  await dialog.getByRole('combobox', { name: 'Time zone for all' }).fill('oslo')
  await page.getByRole('option', { name: 'Europe/Oslo' }).click()
  await dialog.getByText('4 locations change.').waitFor()
  expect(await findViolations(page)).toEqual([])
  // Other people delete one of them while the dialog is open, and change another between the read and the write.
  await fleet.org.call('DELETE', `/locations/${more[1]?.body.id}`)
  const hamar = more[0]?.body.id
  const putHamar = (body: object) => fleet.org.call('PUT', `/locations/${hamar}`, { body })
  const writeBefore = async (route: Route) => {
    if (route.request().method() !== 'PUT') return route.fallback()
    await putHamar({ contact: 'Kari' })
    await route.continue()
  }
  const ofHamar = new RegExp(`/locations/${hamar}$`)
  await page.route(ofHamar, writeBefore)
  await dialog.getByRole('button', { name: 'Change 4 locations' }).click()
  await dialog.getByText('2 locations changed').waitFor()
  await dialog.getByText('Molde: It was deleted, or you no longer see it.').waitFor()
  await dialog.getByText('Hamar: It was changed in the meantime.').waitFor()
  await page.unroute(ofHamar, writeBefore)
  expectTrouble(trouble, /status of (404|412)/)
  expect(await findViolations(page, false)).toEqual([])
  const nights = { days: ['mon', 'tue', 'wed', 'thu'], from: '20:00', to: '05:00' }
  const changed = (await locations()).filter(({ name }) => ['Bergen', 'Narvik'].includes(name))
  expect(changed.map(({ timezone, changeWindow }) => ({ timezone, changeWindow }))).toEqual(
    Array.from({ length: 2 }, () => ({ timezone: 'Europe/Oslo', changeWindow: nights })),
  )
  expect((await locations()).find(({ name }) => name === 'Hamar')).not.toHaveProperty('timezone')
  expect((await locations()).find(({ name }) => name === 'Oslo')).toMatchObject({ timezone: 'Asia/Tokyo' })
  // Undo leaves alone a value that another person has set since.
  await fleet.org.call('PUT', `/locations/${more[2]?.body.id}`, { body: { timezone: 'Europe/Paris' } })
  await dialog.getByRole('button', { name: 'Undo' }).click()
  await dialog.getByText('1 location changed back').waitFor()
  await dialog.getByText('Narvik: It was changed in the meantime.').waitFor()
  const now = { Hamar: { contact: 'Kari' }, Narvik: { timezone: 'Europe/Paris', changeWindow: nights } }
  expect(await locations()).toEqual(
    before
      .filter(({ name }) => name !== 'Molde')
      .map((location) => ({ ...location, ...now[location.name as keyof typeof now] })),
  )
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'detached' })
})

test('sites show windows, zones and all states of rooms, and on a phone the states too', async () => {
  const { page } = await shared()
  await visit(page, '/sites')
  await settled(page, 'Sites')
  const oslo = page
    .getByRole('listitem')
    .filter({ has: page.getByRole('link', { name: 'Oslo', exact: true }) })
    .last()
  await oslo.getByText('Mon to Thu, 20:00 to 05:00').waitFor()
  await oslo.getByText('Asia/Tokyo').waitFor()
  await page.setViewportSize(phone)
  expect(await page.getByRole('link', { name: '1 offline in Europe' }).isVisible()).toBe(true)
  expect(await page.getByRole('link', { name: '1 healthy in Europe' }).isVisible()).toBe(true)
  expect(await findViolations(page)).toEqual([])
  await page.getByRole('link', { name: '1 offline in Europe' }).click()
  await settled(page, 'Rooms')
  await page.getByRole('link', { name: 'Skog' }).waitFor()
  expect(await page.getByRole('link', { name: 'Fjord' }).count()).toBe(0)
  await page.setViewportSize({ width: 1366, height: 900 })
})
