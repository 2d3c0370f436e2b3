// A person names a device, and finds it by that name. [contract 5.1.label] [contract 6.endpointsUpdate]
import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { expectAccessible, phone } from '../support/console/accessibility.ts'
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
import { isFullForm } from '../support/long-form.ts'

let harness: Harness
let fleet: ConsoleFleet
let browser: Browser
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  fleet = await startConsoleFleet(harness)
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await fleet.stop()
  await harness.close()
})

const shared = sharedTab(async () => openTab(browser, harness.url, await signInByApi(harness.url, fleet.org.key)))
let page: Page
let trouble: string[]
beforeEach(async () => {
  const tab = await shared()
  page = tab.page
  trouble = tab.trouble
})

const dialog = () => page.getByRole('dialog')
const sleeps = 'Leaves the network while it is off'
const save = () => dialog().getByRole('button', { name: 'Save' }).click()
const width = () => page.evaluate<number>('document.documentElement.scrollWidth')

/** Opens the command palette, types, and returns the option that the Enter key would choose. */
async function searched(text: string) {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: /Search/ }).fill(text)
  return page.getByRole('option', { selected: true })
}

test('a device is named on its page, which also says whether it sleeps, and is found by that name and by its serial; null goes back to the model', async () => {
  await visit(page, `/devices/${fleet.bar.id}`)
  await settled(page, 'Bar R00001')
  await page.getByRole('button', { name: 'Edit' }).click()
  await dialog().getByText('Without a name, the device is shown as Bar R00001.').waitFor()
  await expectAccessible(page)
  await dialog().getByLabel('Name').fill('Bar at the window')
  await dialog().getByLabel('Note').fill('The remote control is\nin the drawer.')
  await dialog().getByRole('combobox', { name: sleeps }).click()
  await page.getByRole('option', { name: 'Yes', exact: true }).click()
  await dialog().getByLabel('Asset tag').fill('IT-0042')
  await dialog().getByLabel('Warranty until').fill('2027-12-31')
  await save()
  await settled(page, 'Bar at the window')
  expect(await page.title()).toBe('Bar at the window · Roomkeeper')
  await page.getByText('in the drawer.').waitFor()
  expect((await fleet.org.call('GET', `/endpoints/${fleet.bar.id}`)).body.sleeps).toBe(true)
  const inventory = page.getByRole('region', { name: 'Inventory' })
  expect(await inventory.getByRole('definition').allInnerTexts()).toEqual(['IT-0042', '2027-12-31'])
  await page.getByText('BAR00001').first().waitFor()
  await expectAccessible(page)

  await visit(page, '/')
  await settled(page, 'Overview')
  // In the short form profiles.browser.test.ts finds a device by its serial.
  for (const text of isFullForm ? ['bar00001', 'window'] : ['window']) {
    await (await searched(text)).filter({ hasText: 'Bar at the window' }).waitFor()
    if (text !== 'window') await page.keyboard.press('Escape')
  }
  await page.keyboard.press('Enter')
  await settled(page, 'Bar at the window')

  if (isFullForm) {
    await visit(page, '/devices')
    await settled(page, 'Devices')
    await page.getByLabel('Search devices').fill('window')
    await page.getByRole('link', { name: 'Bar at the window' }).waitFor()
    await page.getByLabel('Search devices').fill('BAR00001')
    await page.getByRole('link', { name: 'Bar at the window' }).click()
    await settled(page, 'Bar at the window')
  }

  await page.getByRole('button', { name: 'Edit' }).click()
  await dialog().getByLabel('Name').fill('')
  await dialog().getByRole('combobox', { name: sleeps }).and(page.locator('[value="Yes"]')).click()
  await page.getByRole('option', { name: 'As the device reports' }).click()
  await save()
  await settled(page, 'Bar R00001')
  await page.getByText('in the drawer.').waitFor()
  expect((await fleet.org.call('GET', `/endpoints/${fleet.bar.id}`)).body).not.toHaveProperty('sleeps')
})

// In `npm test` the test before it edits them on the page of the device, with the same form.
test.runIf(isFullForm)(
  'name and note are edited on the page of the room, on a phone too; a change by another person is not overwritten',
  async () => {
    const path = `/endpoints/${fleet.pad.id}`
    await visit(page, `/rooms/${fleet.rooms.fjord}`)
    await settled(page, 'Fjord')
    await page.setViewportSize(phone)
    await page.getByRole('button', { name: 'Edit Pad D00001' }).click()
    await dialog().getByLabel('Name').fill('Pad by the door')
    await dialog().getByLabel('Note').fill('Charge it.')
    await dialog().getByRole('button', { name: 'Add field' }).click()
    await dialog().getByLabel('Name of field 1').fill('wall')
    await dialog().getByLabel('Text of field 1').fill('B2')
    expect(await width()).toBeLessThanOrEqual(phone.width)
    await expectAccessible(page)
    await fleet.org.call('PUT', path, { body: { name: 'Pad of Ada' } })
    await save()
    await dialog().getByText('Changed by someone else. Reload and try again.').waitFor()
    expectTrouble(trouble, /412/)
    await dialog().getByRole('button', { name: 'Reload' }).click()
    await dialog().getByRole('textbox', { name: 'Name' }).and(page.locator('[value="Pad of Ada"]')).waitFor()
    await dialog().getByLabel('Name').fill('Pad by the door')
    await dialog().getByLabel('Note').fill('Charge it.')
    await save()
    await page.getByRole('link', { name: 'Pad by the door' }).waitFor()
    await page.getByText('Charge it.').waitFor()
    expect(await width()).toBeLessThanOrEqual(phone.width)
    await expectAccessible(page)
    expect((await fleet.org.call('GET', path)).body).toMatchObject({ name: 'Pad by the door', note: 'Charge it.' })
    await page.setViewportSize({ width: 1280, height: 800 })
  },
)

test('a hostile name is text in heading, title, list and CSV', async () => {
  const shown = '=HYPERLINK("http://evil") <!channel> <b>'
  const given = { name: `\u202e${shown}\u2028\u2066` }
  expect((await fleet.org.call('PUT', `/endpoints/${fleet.bar.id}`, { body: given })).status).toBe(200)
  await visit(page, `/devices/${fleet.bar.id}`)
  await settled(page, shown)
  expect(await page.title()).toBe(`${shown} · Roomkeeper`)
  await visit(page, '/devices')
  await settled(page, 'Devices')
  expect(await page.getByRole('link', { name: /HYPERLINK/ }).textContent()).toBe(shown)
  await page.getByLabel('Search devices').fill('hyperlink')
  await page.getByRole('row').filter({ hasText: 'HYPERLINK' }).getByRole('checkbox').click()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const [, line] = (await readFile(await (await download).path(), 'utf8')).split('\r\n')
  expect(line).toMatch(/^"'=HYPERLINK\(""http:\/\/evil""\) <!channel> <b>",/)
})

test('the audit log is searched by the name and by the serial of a device', async () => {
  await fleet.org.call('PUT', `/endpoints/${fleet.bar.id}`, { body: { name: 'Bar at the window' } })
  await visit(page, '/audit')
  await settled(page, 'Audit')
  for (const text of ['at the window', 'BAR00001']) {
    await page.getByRole('textbox', { name: 'Search' }).fill(text)
    await page.getByRole('link', { name: 'Bar at the window' }).first().waitFor()
  }
})
