// Tests profiles in the browser: their reach before saving, their versions with undo, units of settings, and the search.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { expectAccessible, phone } from '../support/console/accessibility.ts'
import {
  closeTabs,
  consolePort,
  newTab,
  openBrowser,
  openTab,
  settled,
  sharedTab,
  signInByApi,
  visit,
} from '../support/console/browser.ts'
import { type ConsoleFleet, startConsoleFleet } from '../support/console/console-fleet.ts'
import { newDevice, type TestDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { until } from '../support/program.ts'

let harness: Harness
let fleet: ConsoleFleet
/** Does what the tests tell it to. */
let board: TestDevice
let browser: Browser
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  fleet = await startConsoleFleet(harness)
  await fleet.org.call('PUT', `/rooms/${fleet.rooms.fjord}/profile`, { body: { profileId: fleet.profileId } })
  board = await newDevice(harness, fleet.org, { roomId: fleet.rooms.tomt, serial: 'BOARD001', model: 'NF21C1' })
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await board.close()
  await fleet.stop()
  await harness.close()
})

const shared = sharedTab(async () => openTab(browser, harness.url, await signInByApi(harness.url, fleet.org.key)))
let page: Page
beforeEach(async () => {
  const tab = await shared()
  page = tab.page
  await page.setViewportSize({ width: 1366, height: 900 })
})

const button = (name: string | RegExp) => page.getByRole('button', { name })
const dialog = () => page.getByRole('dialog')
const field = (name: string) => page.getByRole('textbox', { name })
const profile = async () => (await fleet.org.call('GET', `/profiles/${fleet.profileId}`)).body

test('saving a profile says first how many devices change, in units that people use, and a version undoes it', async () => {
  await visit(page, `/profiles/${fleet.profileId}`)
  await settled(page, 'Quiet rooms')
  await field('Brightness').fill('140')
  await page.getByText('Maximum is 100 %.').waitFor()
  await field('Brightness').fill('57')
  await field('Screen standby after').pressSequentially('1.5')
  expect(await field('Screen standby after').inputValue()).toBe('1.5')
  await page.getByLabel('Unit of Screen standby after').selectOption('seconds')
  expect(await field('Screen standby after').inputValue(), 'the time stays').toBe('90')
  await button('Review and save').click()
  await dialog()
    .getByText(/Saving changes 2 devices in 1 room\./)
    .waitFor()
  for (const text of ['57 %', '90 s']) await dialog().getByText(text, { exact: true }).waitFor()
  await expectAccessible(page)
  await dialog().getByRole('button', { name: 'Save' }).click()
  await dialog().waitFor({ state: 'detached' })
  expect((await profile()).config).toEqual({ nightMode: true, brightness: 0.57, screenStandby: 90_000 })
  await until('the devices have it', () => fleet.bar.settings.brightness === 0.57)

  await page.getByRole('tab', { name: 'Versions' }).click()
  await button('Changes in version 2').click()
  await page.getByText('57 %', { exact: true }).waitFor()
  await expectAccessible(page)
  await button('Restore version 1').click()
  await dialog()
    .getByText(/2 fields will change/)
    .waitFor()
  await dialog()
    .getByText(/Saving changes 2 devices in 1 room\./)
    .waitFor()
  await expectAccessible(page)
  await dialog().getByRole('button', { name: 'Restore' }).click()
  await button('Changes in version 3').waitFor()
  expect((await profile()).config).toEqual({ nightMode: true })
  await until('the devices have it', () => fleet.bar.settings.brightness === undefined)
})

test('the reach of a profile lists rooms and devices, with the settings that a device rejected, also on a phone', async () => {
  await page.setViewportSize(phone)
  await visit(page, `/profiles/${fleet.profileId}?tab=reach`)
  await page.getByText(/^2 devices in 1 room: 2 delivered, 0 pending, 0 rejected\.$/).waitFor()
  await fleet.org.call('PUT', `/endpoints/${board.id}/profile`, { body: { profileId: fleet.profileId } })
  const { version } = await board.next('config')
  await page.getByText(/^3 devices in 2 rooms: 2 delivered, 1 pending, 0 rejected\.$/).waitFor()
  await board.publish('config', { version, config: {}, rejected: { nightMode: 'no such screen' } })
  await page.getByText(/^3 devices in 2 rooms: 2 delivered, 0 pending, 1 rejected\.$/).waitFor()
  await page.getByText('nightMode: no such screen').waitFor()
  await page.getByRole('link', { name: 'Fjord' }).waitFor()
  await expectAccessible(page)
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
})

// In `npm test` `names` searches by name and serial number.
test.runIf(isFullForm)('the search finds IP and MAC addresses, sites and profiles', async () => {
  const mac = Buffer.from([0xac, 0xde, 0x48, 0x00, 0x11, 0x22]).toString('base64')
  await board.publish('status', { localIpAddress: '10.4.7.19', networks: [{ macAddress: mac }] })
  await page.keyboard.press('Control+k')
  const search = page.getByRole('combobox', { name: /Search/ })
  for (const text of ['10.4.7.19', 'ac:de:48:00', 'AC-DE-48', 'acde4800']) {
    await search.fill(text)
    await page.getByRole('option', { name: /BOARD001/, selected: true }).waitFor()
    await until('only it is found', async () => (await page.getByRole('option').count()) === 1)
  }
  await expectAccessible(page)
  await search.fill('europe')
  await page.getByRole('option', { name: /Europe.*Region/ }).waitFor()
  await search.fill('bergen')
  await page.getByRole('option', { name: /Bergen.*Location/ }).click()
  await settled(page, 'Bergen')
  await page.getByRole('link', { name: 'Skog' }).waitFor()
  expect(await page.getByRole('link', { name: 'Fjord' }).count()).toBe(0)
  await page.keyboard.press('Control+k')
  await search.fill('quiet')
  await page.getByRole('option', { name: /Quiet rooms.*Profile/ }).waitFor()
  await page.keyboard.press('Enter')
  await settled(page, 'Quiet rooms')
})

test.runIf(isFullForm)('a person who only reads sees versions and reach, and no way to restore', async () => {
  const reader = await signInByApi(harness.url, await fleet.org.newKey({ scopes: ['read'] }))
  const { page } = await newTab(browser, harness.url, reader)
  await visit(page, `/profiles/${fleet.profileId}?tab=versions`)
  await page.getByRole('button', { name: 'Changes in version 1' }).waitFor()
  expect(await page.getByRole('button', { name: /^Restore/ }).count()).toBe(0)
})
