// Tests the settings of the organisation in the browser: the form, a change by someone else, and open pages that use new limits at once. [contract 6.orgs]
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAccessible } from '../support/console/accessibility.ts'
import {
  closeTabs,
  consolePort,
  expectTrouble,
  openBrowser,
  openTab,
  settled,
  sharedTab,
  tabIn,
  visit,
} from '../support/console/browser.ts'
import { type ConsoleFleet, startConsoleFleet } from '../support/console/console-fleet.ts'
import { personTab, sessionStateOf } from '../support/console/person-tab.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { newPerson } from '../support/person.ts'

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

const ownerTab = sharedTab(async () => {
  const owner = await newPerson(harness, fleet.org, { role: 'owner' })
  return openTab(browser, harness.url, sessionStateOf(harness, owner))
})
const organisation = async () => (await fleet.org.call('GET', '')).body

test('an owner changes name, limits and working hours, and open pages of others use the new limits at once', async () => {
  const tab = await ownerTab()
  const { page } = tab
  // In the short form the open page of a room is that of the owner, in another tab.
  const limited = { role: 'viewer', regionIds: [1] } as const
  const viewer = isFullForm
    ? await personTab(browser, harness, await newPerson(harness, fleet.org, limited))
    : undefined
  if (viewer) {
    await visit(viewer.page, '/settings?tab=organisation')
    await viewer.page.getByText('CO₂ over 1,000 ppm').waitFor()
    expect(await viewer.page.getByRole('button', { name: 'Edit organisation' }).count()).toBe(0)
  }
  const other = viewer ?? tab
  const rooms = await tabIn(other.context, harness.url, other.trouble)
  await visit(rooms.page, `/rooms/${fleet.rooms.fjord}`)
  await rooms.page.getByText('over 1,000 ppm').first().waitFor()

  await visit(page, '/settings?tab=organisation')
  await page.getByRole('button', { name: 'Edit organisation' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Organisation name').fill('Fjell AS')
  await dialog.getByLabel('CO₂, from (ppm)').fill('900')
  await dialog.getByLabel('CO₂, to (ppm)').fill('800')
  await dialog.getByText('Must be larger than “from”.').waitFor()
  expect(await dialog.getByRole('button', { name: 'Save organisation' }).isDisabled()).toBe(true)
  await dialog.getByLabel('CO₂, from (ppm)').fill('')
  await dialog.getByLabel('VOC, to (ppb)').fill('')
  await dialog.getByRole('switch', { name: 'Working hours' }).click()
  await dialog.getByLabel('Availability target (%)').fill('99.95')
  await dialog.getByLabel('Ignore outages under (minutes)').fill('')
  expect(await dialog.getByRole('button', { name: 'Save organisation' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Ignore outages under (minutes)').fill('10')
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Save organisation' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('CO₂ over 800 ppm').waitFor()
  await page.getByText('VOC no limit').waitFor()
  await page.getByText('Mon to Fri, 08:00 to 17:00').waitFor()
  await page.getByText('99.95 %').waitFor()
  await page.getByText('Outages of less than 10 min do not count.').waitFor()
  expect(await organisation()).toMatchObject({
    name: 'Fjell AS',
    timezone: 'UTC',
    airLimits: { co2: { max: 800 }, voc: {}, temp: { min: 18, max: 27 } },
    workingHours: { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '17:00' },
    availabilityTarget: 99.95,
    ignoreUnderMinutes: 10,
  })
  await viewer?.page.getByText('CO₂ over 800 ppm').waitFor()
  await rooms.page.getByText('over 800 ppm').first().waitFor()
  await rooms.page.close()

  await visit(page, '/settings?tab=about')
  await page.getByText(/^Roomkeeper \d+\.\d+\.\d+, commit [0-9a-f]{12}/).waitFor()
  await page.getByText('Fjell AS').first().waitFor()
})

test.runIf(isFullForm)('the form does not overwrite what another person saved after it was opened', async () => {
  const { page, trouble } = await ownerTab()
  await visit(page, '/settings?tab=organisation')
  await settled(page, 'Settings')
  await page.getByRole('button', { name: 'Edit organisation' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Humidity, to (%)').fill('70')
  await fleet.org.call('PUT', '', { body: { name: 'Skog AS' } })
  await dialog.getByRole('button', { name: 'Save organisation' }).click()
  await dialog.getByText('Changed by someone else. Reload and try again.').waitFor()
  expect(await organisation()).toMatchObject({ name: 'Skog AS', airLimits: { humidity: { max: 65 } } })
  await dialog.getByRole('button', { name: 'Reload' }).click()
  await expect.poll(() => dialog.getByLabel('Organisation name').inputValue()).toBe('Skog AS')
  await dialog.getByLabel('Humidity, to (%)').fill('70')
  await dialog.getByRole('button', { name: 'Save organisation' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await organisation()).toMatchObject({ name: 'Skog AS', airLimits: { humidity: { max: 70 } } })
  expectTrouble(trouble, /status of 412/)
})
