// Tests what operators do with one room and one device in the browser, beyond the journeys.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { Browser, Locator, Page } from 'playwright-core'
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
import { putBehindGateway } from '../support/devices/gateway.ts'
import { newDevice, type TestDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { until } from '../support/program.ts'

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

const button = (name: string | RegExp) => page.getByRole('button', { name })
const dialog = () => page.getByRole('dialog')
const hasFocus = (one: Locator) => one.evaluate((element) => element.matches(':focus'))

test('a few letters and the Enter key lead to a room, which shows its local time', async () => {
  await visit(page, '/')
  await settled(page, 'Overview')
  await button(/^Search or jump/).focus()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: /Search/ }).waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await until('the focus is back', () => hasFocus(button(/^Search or jump/)))
  await page.keyboard.press('Control+k')
  await until('the search has the focus', () => hasFocus(page.getByRole('combobox', { name: /Search/ })))
  await page.keyboard.type('fjo')
  await page.getByRole('option', { name: /Fjord/, selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await settled(page, 'Fjord')
  await page
    .getByText(/in Tokyo/)
    .first()
    .waitFor()
})

test('a dialog takes the focus and returns it, also when it fades in and out', async () => {
  // The tabs of all other tests emulate prefers-reduced-motion.
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await visit(page, `/rooms/${fleet.rooms.fjord}`)
  await settled(page, 'Fjord')
  await button(/^Edit$/).click()
  await dialog().waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await dialog().waitFor({ state: 'detached' })
  await until('the focus is back', () => hasFocus(button(/^Edit$/)))
  await page.emulateMedia({ reducedMotion: 'reduce' })
})

test('the form of a room sets its capacity, tags and custom fields, refuses those that no room can have, and the page shows them', async () => {
  const room = `/rooms/${fleet.rooms.fjord}`
  const { location } = (await fleet.org.call('GET', room)).body
  await visit(page, room)
  await settled(page, 'Fjord')
  await button(/^Edit$/).click()
  const tags = dialog().getByRole('combobox', { name: 'Tags' })
  const save = dialog().getByRole('button', { name: 'Save' })
  await dialog().getByLabel('Capacity').fill('10001')
  await dialog().getByText('From 1 to 10000 people.').waitFor()
  expect(await save.isDisabled()).toBe(true)
  await dialog().getByLabel('Capacity').fill('12')
  expect(await save.isDisabled()).toBe(false)
  await dialog().getByLabel('Floor').fill('Level 2')
  await dialog().getByLabel('External ID').fill('CMDB-7')
  await dialog().getByRole('button', { name: 'Add field' }).click()
  await dialog().getByLabel('Name of field 1').fill('wall panel')
  await dialog().getByText('Use 1 to 40 of a to z, 0 to 9 and _ for the name.').waitFor()
  await dialog().getByLabel('Name of field 1').fill('Wall')
  await dialog().getByLabel('Text of field 1').fill('B2')
  await tags.fill('big room')
  await tags.press('Enter')
  await dialog().getByText('big room is not possible: use up to 40 of a to z, 0 to 9 and hyphens.').waitFor()
  expect(await save.isDisabled()).toBe(true)
  await expectAccessible(page)
  await tags.press('Backspace')
  for (const tag of ['Huddle', 'canary']) {
    await tags.fill(tag)
    await tags.press('Enter')
  }
  await save.click()
  await dialog().waitFor({ state: 'detached' })
  const shown = () => page.getByRole('list', { name: 'Tags' }).getByRole('listitem').allInnerTexts()
  await until('the page shows the tags', async () => (await shown()).join() === 'huddle,canary')
  expect((await fleet.org.call('GET', room)).body).toMatchObject({
    ...{ name: 'Fjord', capacity: 12, tags: ['huddle', 'canary'], location },
    ...{ floor: 'Level 2', externalId: 'CMDB-7', fields: { wall: 'B2' } },
  })
  const fact = (name: string) => page.locator('dl > div').filter({ hasText: name }).getByRole('definition').first()
  expect(await fact('Floor').innerText()).toBe('Level 2')
  expect(await fact('External ID').innerText()).toBe('CMDB-7')
  expect(await fact('People').innerText()).toMatch(/of 12$|^Up to 12$/)
  const about = page.getByRole('region', { name: 'About this room' })
  expect(await about.getByRole('definition').allInnerTexts()).toEqual(['B2'])
  await expectAccessible(page)
})

test('a setting of a profile is locked and names the profile', async () => {
  await fleet.org.call('PUT', `/endpoints/${fleet.bar.id}/profile`, { body: { profileId: fleet.profileId } })
  await visit(page, `/devices/${fleet.bar.id}?tab=config`)
  await page
    .getByText(/Locked by profile/)
    .first()
    .waitFor()
  await page.getByRole('link', { name: 'Quiet rooms' }).first().waitFor()
  expect(await page.getByRole('radiogroup', { name: 'Night mode' }).count()).toBe(0)
  expect(await page.getByRole('radiogroup', { name: 'Bluetooth' }).count()).toBe(1)
  await until('the device has the setting', () => fleet.bar.settings.nightMode === true)
})

test('a setting that only the device reports is not set, and a report leaves unsaved changes as they are', async () => {
  await visit(page, `/devices/${fleet.bar.id}?tab=config`)
  const brightness = page.getByRole('textbox', { name: 'Brightness' })
  await brightness.fill('40')
  fleet.bar.changeSettings({ fontSize: 'largest' })
  await page.getByText('largest', { exact: true }).waitFor()
  expect(await page.getByLabel('Font size').inputValue(), 'shown as reported, not as set').toBe('')
  expect(await brightness.inputValue()).toBe('40 %')
  expect(await page.getByText('Changed by someone else').count()).toBe(0)
  // In the short form journey.browser.test.ts applies settings.
  if (!isFullForm) return button('Discard changes').click()
  await button('Review and apply').click()
  await dialog()
    .getByText(/1 setting will change/)
    .waitFor()
  await dialog().getByRole('button', { name: 'Apply' }).click()
  await until('the device has the setting', () => fleet.bar.settings.brightness === 0.4)
  const { desired } = (await fleet.org.call('GET', `/endpoints/${fleet.bar.id}/config/state`)).body
  expect(desired).toEqual({ brightness: 0.4 })
})

test('a message appears on the screen of the device', async () => {
  await visit(page, `/devices/${fleet.bar.id}`)
  await button('Send message').click()
  await dialog().getByRole('textbox', { name: 'Message' }).fill('Fire drill at noon.')
  await dialog().getByRole('button', { name: 'Send message' }).click()
  await until('the message is shown', () => fleet.bar.messages.includes('Fire drill at noon.'))
})

test('a display without a screen for messages is offered only the power, is switched off, and cannot be switched on while it is asleep [contract 5.1.actions]', async () => {
  const display = await newDevice(harness, fleet.org, { roomId: fleet.rooms.fjord, model: 'D-55' })
  await display.publish('status', { actions: ['power'], power: 'ON' })
  await visit(page, `/devices/${display.id}`)
  await button('Switch off').waitFor()
  for (const name of ['Restart', 'Send message', 'Switch on']) expect(await button(name).count(), name).toBe(0)
  const tabs = await page.getByRole('tab').allInnerTexts()
  expect(tabs).toEqual(['Status', 'Operations', 'Logs'])
  await button('Switch off').click()
  await dialog().waitFor()
  await expectAccessible(page)
  await dialog().getByRole('button', { name: 'Switch off' }).click()
  expect(await display.next('operation')).toMatchObject({ type: 'POWER', on: false })
  await display.publish('status', { power: 'STANDBY', sleeps: true })
  await button('Switch on').waitFor()
  await display.close()
  await page
    .getByText('It cannot be reached, so it can be switched on from here only when it is back on the network.')
    .waitFor()
  expect(await button('Switch on').count()).toBe(0)
  await visit(page, '/')
  await settled(page, 'Overview')
  await fleet.org.call('DELETE', `/endpoints/${display.id}`)
})

/** The names and values of a section of a device page. */
async function definitionsOf(title: string): Promise<Record<string, string>> {
  const items = page.getByRole('region', { name: title, exact: true }).locator('dl > div')
  const texts = await items.evaluateAll((all) =>
    all.map((one) => [...one.children].map(({ textContent }) => textContent)),
  )
  return Object.fromEntries(texts)
}

test('the page of a projector shows what it is, its state and its peripherals, and nothing that it does not report [contract 5.1]', async () => {
  const minutesAgo = (minutes: number) => new Date(harness.clock.now() - minutes * 60_000).toISOString()
  const projector = await newDevice(harness, fleet.org, {
    roomId: fleet.rooms.tomt,
    serial: 'XPJ000042',
    model: 'PX-900',
  })
  await projector.publish('status', {
    ...{ name: 'Projector \u202enoitatneserP', manufacturer: 'Example \u202dOptics', kind: 'PROJECTOR' },
    ...{ hardwareVersion: 'B2', firmwareVersion: '4.1.7', appVersion: '2.0', startedAt: minutesAgo(125) },
    ...{ power: 'ON', sleeps: true, actions: [], sensors: [] },
    ...{
      activeInput: 'HDMI 1',
      inputs: ['HDMI 1', 'HDMI 2', 'USB-C\u202e'],
      inputResolution: '',
      volume: 40,
      muted: true,
    },
    readings: [
      { name: 'lampHours', value: 19_834.5, unit: 'h' },
      { name: 'lampHOURS', value: 1, unit: '' },
    ],
    facts: [{ name: 'lensType', text: 'Short \u202ethrow' }],
    faults: [
      { code: 'filter.dirty', level: 'WARNING', text: 'Clean the air filter.' },
      { code: 'lamp.end', level: 'CRITICAL', text: 'Replace the lamp.\u2067\u2028Now.' },
    ],
    peripherals: [
      { id: '1', name: 'Remote\u202e control', kind: 'OTHER', connected: true, version: '1.2' },
      { id: '2', name: 'Screen trigger', kind: 'USB', connected: false },
    ],
    networks: [
      {
        type: 'NETWORK_TYPE_WIFI',
        display: 'wlan0',
        linkUp: true,
        dnsServers: ['10.1.0.53', '10.2.0.53'],
        signalDbm: -71,
      },
    ],
  })
  await visit(page, `/devices/${projector.id}`)
  await settled(page, 'Projector noitatneserP')
  expect(await definitionsOf('Identity')).toEqual({
    ...{ Name: 'Projector noitatneserP', Kind: 'Projector', Maker: 'Example Optics', Model: 'PX-900', Hardware: 'B2' },
    ...{ Firmware: '4.1.7', Application: '2.0', 'Serial number': 'XPJ000042', 'Device ID': projector.id },
    'Lens type': 'Short throw',
  })
  expect(await definitionsOf('State')).toEqual({
    State: expect.stringMatching(/^Online since \d\d:\d\d/),
    ...{
      Power: 'On',
      Input: 'HDMI 1',
      'Other inputs': 'HDMI 2, USB-C',
      Signal: 'No signal',
      Sound: 'Volume 40 %, muted',
    },
    Uptime: expect.stringMatching(/^2 h 5 min, since /),
    'Lamp hours': '1',
  })
  await page.getByText('19,834.5 h', { exact: true }).waitFor()
  const faults = page.getByRole('list', { name: 'Faults' }).getByRole('listitem')
  expect(await faults.allInnerTexts()).toEqual([
    'Critical\nReplace the lamp. Now. lamp.end',
    'Warning\nClean the air filter. filter.dirty',
  ])
  const cells = (table: string, row: number) =>
    page.getByRole('table', { name: table }).getByRole('row').nth(row).getByRole('cell').allInnerTexts()
  const headings = (table: string) => page.getByRole('table', { name: table }).getByRole('columnheader').allInnerTexts()
  expect(await headings('Peripherals')).toEqual(['Name', 'State', 'Kind', 'Version'])
  expect(await cells('Peripherals', 1)).toEqual(['Missing', 'USB', '–'])
  expect(await cells('Peripherals', 2)).toEqual(['Connected', 'Other', '1.2'])
  expect(await headings('Network interfaces')).toEqual(expect.arrayContaining(['Name servers', 'Signal']))
  expect((await cells('Network interfaces', 1)).slice(-2)).toEqual(['10.1.0.53\n\n10.2.0.53', '−71 dBm, fair'])
  expect(await definitionsOf('Connection')).toMatchObject({ Connected: 'Directly' })
  const sections = () => page.getByRole('tabpanel').getByRole('heading', { level: 2 }).allInnerTexts()
  const past = 'Past incidents, last 30 days'
  const strip = 'Connection, last hour'
  const parts = [strip, 'State', 'Peripherals', 'Placement', 'Connection', 'Identity', 'Network', past]
  expect(await sections()).toEqual(parts)
  expect(await page.locator('main').innerText(), 'no mark of direction').not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
  await expectAccessible(page)
  // In the short form pages.browser.test.ts has such a device on a phone.
  if (isFullForm) {
    await page.setViewportSize(phone)
    await expectAccessible(page)
    await page.setViewportSize({ width: 1280, height: 800 })
  }

  // Cleared fields are gone, and a device that left the network in standby is asleep.
  await projector.publish('status', {
    ...{ power: 'STANDBY', networks: [], name: null, startedAt: null, volume: null, muted: null, facts: null },
    ...{ activeInput: null, inputs: null, inputResolution: null, readings: null, faults: null, peripherals: null },
  })
  await projector.close()
  await page
    .getByText(/^Asleep since \d\d:\d\d/)
    .first()
    .waitFor()
  expect(Object.keys(await definitionsOf('State'))).toEqual(['State', 'Power'])
  expect(await sections()).toEqual([strip, 'State', 'Placement', 'Connection', 'Identity', past])
  await page.getByText('As last reported').waitFor()

  if (isFullForm) await seeThroughGateway(projector)
  // The open page of a device that is deleted would ask for it once more, and the browser would log the 404.
  await visit(page, '/')
  await settled(page, 'Overview')
  await fleet.org.call('DELETE', `/endpoints/${projector.id}`)
})

/** Behind a gateway that is away a device cannot be seen, and its page says through what it comes. In the short form now.browser.test.ts has such a device. */
async function seeThroughGateway(projector: TestDevice): Promise<void> {
  const gateway = await newDevice(harness, fleet.org, { roomId: fleet.rooms.tomt, model: 'GW-1' })
  await gateway.publish('status', { name: 'Gateway Oslo', kind: 'GATEWAY' })
  await putBehindGateway(harness, gateway.id, [projector.id])
  await gateway.close()
  await page.reload()
  await settled(page, 'PX-900 000042')
  await page.getByText('Its gateway Gateway Oslo is away.').waitFor()
  expect((await definitionsOf('Connection')).Connected).toMatch(/^Through Gateway Oslo Offline$/)
  await page.getByRole('link', { name: 'Gateway Oslo' }).first().click()
  await settled(page, 'Gateway Oslo')
  await page.getByRole('link', { name: '1 device' }).waitFor()
  await visit(page, '/')
  await settled(page, 'Overview')
  await fleet.org.call('DELETE', `/endpoints/${gateway.id}`)
}

test('logs are requested, arrive and can be downloaded', async () => {
  await visit(page, `/devices/${fleet.bar.id}?tab=logs`)
  await button('Collect logs').click()
  const download = button(/^Download logs from Bar/)
  await download.waitFor()
  const [file] = await Promise.all([page.waitForEvent('download'), download.click()])
  expect(gunzipSync(readFileSync(await file.path())).toString()).toContain('BAR00001')
})

test('a device is unenrolled after a confirmation, and its page says that it is not found', async () => {
  await visit(page, `/devices/${fleet.pad.id}`)
  await settled(page, 'Pad D00001')
  await button('Unenrol').click()
  await dialog().getByRole('button', { name: 'Unenrol' }).click()
  await settled(page, 'Fjord')
  await until('the device is told', () => fleet.pad.isUnenrolled)
  await visit(page, `/devices/${fleet.pad.id}`)
  await page.getByRole('heading', { level: 1, name: /Device not found/ }).waitFor()
  expectTrouble(trouble, /status of 404/)
})
