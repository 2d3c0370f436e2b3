// Tests silences from the pages of a room, a device and a location, and their list. [contract 10.silence]
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hourMs } from '../../src/contract/durations.ts'
import { expectAccessible } from '../support/console/accessibility.ts'
import {
  changeSession,
  closeTabs,
  consolePort,
  openBrowser,
  openTab,
  settled,
  sharedTab,
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

const silences = async () => (await fleet.org.call('GET', '/silences')).body.silences
const operatorTab = sharedTab(async () => {
  const operator = await newPerson(harness, fleet.org, { role: 'operator', allRegions: true })
  return openTab(browser, harness.url, sessionStateOf(harness, operator))
})
/** The tests after this have the tab of the operator with the session of another person. */
async function pageOf(role: 'admin' | 'viewer'): Promise<Page> {
  const tab = await operatorTab()
  const person = await newPerson(harness, fleet.org, { role, allRegions: true })
  await changeSession(tab, sessionStateOf(harness, person))
  return tab.page
}

async function fillSilence(page: Page, reason: string): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill(reason)
  await dialog.getByRole('button', { name: 'Silence', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

test('a room, a device and a location are silenced from where they are shown', async () => {
  const { page } = await operatorTab()
  await visit(page, `/rooms/${fleet.rooms.fjord}`)
  await settled(page, 'Fjord')
  await page.getByRole('button', { name: 'Silence', exact: true }).click()
  // An operator can silence for a day at most, and not every week.
  expect(await page.getByRole('dialog').getByText('Every week').count()).toBe(0)
  await page.getByRole('combobox', { name: 'Duration' }).click()
  expect(await page.getByRole('option', { name: '7 days' }).count()).toBe(0)
  await page.getByRole('option', { name: '1 hour' }).click()
  await fillSilence(page, 'The room is being painted.')
  await page.getByText('The room is being painted.').waitFor()
  const [inRoom] = await silences()
  expect(inRoom.place).toEqual({ roomId: fleet.rooms.fjord })
  expect(Math.abs(Date.parse(inRoom.to) - harness.clock.now() - hourMs)).toBeLessThan(60_000)

  // The device is in the room, so its page says it too.
  await visit(page, `/devices/${fleet.bar.id}`)
  await page.getByText('The room is being painted.').waitFor()
  // The form is the same on all three pages, so the short form fills it in on the room's page and, for a location, on that of the sites.
  if (isFullForm) {
    await page.getByRole('button', { name: 'Silence', exact: true }).click()
    await fillSilence(page, 'New power supply')
    await page.getByText('New power supply').waitFor()
  }

  await visit(page, '/sites')
  await settled(page, 'Sites')
  await page.getByRole('button', { name: 'Actions for Oslo' }).click()
  await page.getByRole('menuitem', { name: 'Silence' }).click()
  await fillSilence(page, 'Moving')
  const places = (await silences()).map(({ place }: { place: object }) => JSON.stringify(place)).sort()
  const ofDevice = isFullForm ? [{ endpointId: fleet.bar.id }] : []
  expect(places).toEqual(
    [{ roomId: fleet.rooms.fjord }, ...ofDevice, { locationId: 1 }].map((p) => JSON.stringify(p)).sort(),
  )

  await visit(page, '/incidents?tab=silences')
  const table = page.getByRole('table', { name: 'Silences' })
  await table.getByRole('row').filter({ hasText: 'Moving' }).getByRole('button', { name: 'End' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End silence' }).click()
  await table.getByRole('row').filter({ hasText: 'Moving' }).waitFor({ state: 'detached' })
  if (!isFullForm) return
  await visit(page, `/rooms/${fleet.rooms.fjord}`)
  await page.getByRole('button', { name: 'End silence' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End silence' }).click()
  // The dialog has the reason too, until it has closed.
  await page.getByRole('note').filter({ hasText: 'The room is being painted.' }).waitFor({ state: 'detached' })
  expect((await silences()).length).toBe(1)
})

test('an operator is not offered to end a silence that needs more rights', async () => {
  const place = { roomId: fleet.rooms.skog }
  const weekly = { days: ['mon'], from: '20:00', to: '06:00' }
  await fleet.org.call('POST', '/silences', { body: { place, reason: 'Cleaning', weekly } })
  const to = new Date(harness.clock.now() + hourMs).toISOString()
  await fleet.org.call('POST', '/silences', { body: { place, reason: 'New lamps', to } })
  const { page } = await operatorTab()
  await visit(page, '/incidents?tab=silences')
  const row = page.getByRole('table', { name: 'Silences' }).getByRole('row')
  await row.filter({ hasText: 'New lamps' }).getByRole('button', { name: 'End' }).waitFor()
  expect(await row.filter({ hasText: 'Cleaning' }).getByRole('button').count()).toBe(0)
})

// In `npm test` `silences.http` has weekly silences, and the first test the form.
test.runIf(isFullForm)('an admin silences a region every week, for one rule', async () => {
  const page = await pageOf('admin')
  await visit(page, '/incidents?tab=silences')
  await page.getByRole('button', { name: 'New silence' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Site' }).click()
  await page.getByRole('option', { name: 'Europe', exact: true }).click()
  await dialog.getByText('Every week').click()
  await dialog.getByLabel('Fri').uncheck()
  await dialog.getByLabel('From').fill('22:30')
  await dialog.getByRole('combobox', { name: 'Only these rules' }).click()
  await page.getByRole('option', { name: 'Device offline' }).click()
  // Rules about security are not offered to an admin.
  expect(await page.getByRole('option', { name: 'Wrong device credentials' }).count()).toBe(0)
  await page.keyboard.press('Escape')
  await expectAccessible(page)
  await fillSilence(page, 'Power is cut at night')
  const made = (await silences()).find(({ reason }: { reason: string }) => reason === 'Power is cut at night')
  expect(made).toMatchObject({
    place: { regionId: 1 },
    rules: ['device.offline'],
    weekly: { days: ['mon', 'tue', 'wed', 'thu'], from: '22:30', to: '06:00' },
  })
  expect(made.to).toBeUndefined()
  await page.getByRole('table', { name: 'Silences' }).getByText('Mon to Thu, 22:30 to 06:00').waitFor()
})

test.runIf(isFullForm)('a notice names the rules of a silence, and it and the list follow the clock', async () => {
  const { org, rooms } = fleet
  const at = (ms: number) => new Date(harness.clock.now() + ms).toISOString()
  const place = { roomId: rooms.skog }
  const body = { place, rules: ['air.beyond'], reason: 'Paint smells', to: at(2 * hourMs) }
  await org.call('POST', '/silences', { body })
  await org.call('POST', '/silences', { body: { place, reason: 'New carpet', from: at(hourMs), to: at(3 * hourMs) } })
  const operator = await newPerson(harness, fleet.org, { role: 'operator', allRegions: true })
  const { page } = await personTab(browser, harness, operator)
  await page.clock.install({ time: harness.clock.now() })
  await visit(page, `/rooms/${rooms.skog}`)
  const notes = page.getByRole('note')
  await notes.filter({ hasText: 'Paint smells' }).getByText('Silenced for Air quality only.').waitFor()
  expect(await notes.filter({ hasText: 'New carpet' }).count()).toBe(0)
  await page.clock.fastForward('01:01:30')
  await notes.filter({ hasText: 'New carpet' }).getByText('Silenced.').waitFor()
  await page.clock.fastForward('01:01:30')
  await notes.filter({ hasText: 'Paint smells' }).waitFor({ state: 'detached' })
})

test.runIf(isFullForm)('a viewer sees silences and cannot make or end one', async () => {
  const page = await pageOf('viewer')
  for (const [path, title] of [
    ['/incidents?tab=silences', 'Incidents'],
    [`/rooms/${fleet.rooms.fjord}`, 'Fjord'],
    [`/devices/${fleet.bar.id}`, 'Bar R00001'],
    ['/sites', 'Sites'],
  ] as const) {
    await visit(page, path)
    await settled(page, title)
    expect(
      await page
        .getByRole('main')
        .getByRole('button', { name: /silence|^End$/i })
        .count(),
    ).toBe(0)
  }
})
