// Tests the work of operators in a real browser, against a real service and simulated devices.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
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
import { until } from '../support/program.ts'

let harness: Harness
let fleet: ConsoleFleet
let browser: Browser
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  fleet = await startConsoleFleet(harness, { hasDayOfSamples: true })
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

/** This code runs in the page. It finds the columns of a chart that have the blue of its line; grid and limits have other colours. */
const columnsWithLine = `(canvas) => {
  const { width, height } = canvas
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, height)
  const isLine = (at) => data[at + 3] > 100 && data[at + 2] - data[at] > 40
  return Array.from({ length: width }, (_, x) => {
    for (let y = 0; y < height; y++) if (isLine((y * width + x) * 4)) return true
    return false
  })
}`

const longestRun = (list: readonly boolean[], of: boolean): number =>
  list.reduce<[number, number]>(
    ([most, now], item) => [Math.max(most, item === of ? now + 1 : 0), item === of ? now + 1 : 0],
    [0, 0],
  )[0]

const read = async (path: string) => (await fleet.org.call('GET', path)).body
const button = (name: string | RegExp) => page.getByRole('button', { name })
const dialog = () => page.getByRole('dialog')
const newest = async () => (await fleet.org.audit())[0]

// In the short form overview.browser.test.ts leads to the room.
test.runIf(isFullForm)('find the room that is offline, from its tile to its device', async () => {
  await visit(page, '/')
  await settled(page, 'Overview')
  await page.getByRole('link', { name: /^Offline/ }).click()
  await page.getByRole('heading', { level: 1, name: 'Rooms' }).waitFor()
  expect(new URL(page.url()).searchParams.get('state')).toBe('OFFLINE')
  const table = page.getByRole('table', { name: 'Rooms' })
  expect(await table.getAttribute('aria-rowcount')).toBe('2')
  await table.getByRole('link', { name: 'Skog' }).click()
  await page.getByRole('heading', { level: 1, name: 'Skog' }).waitFor()
  await page.getByRole('link', { name: 'Bar R00002' }).waitFor()
})

test('read the chart of a room: its values, its gap and its zoom', async () => {
  await visit(page, `/rooms/${fleet.rooms.fjord}`)
  const chart = page.getByRole('img', { name: /^CO₂/ })
  await chart.waitFor()
  expect(await chart.getAttribute('aria-label')).toMatch(/1,490/)
  // The chart draws nothing where there is no data, so columns stay empty between the two parts of the line.
  await chart.locator('canvas').waitFor()
  const inked = await page.evaluate<boolean[]>(
    `(${columnsWithLine})(document.querySelector('[aria-label^="CO₂"] canvas'))`,
  )
  expect(longestRun(inked.slice(inked.indexOf(true), inked.lastIndexOf(true)), false)).toBeGreaterThan(
    inked.length * 0.15,
  )
  await chart.scrollIntoViewIfNeeded()
  const box = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.8, box.y + box.height / 2, { steps: 5 })
  await page.mouse.up()
  await button('Reset zoom').click()
  await button('Reset zoom').waitFor({ state: 'detached' })
  await page.getByText('Week', { exact: true }).click()
  await until('the address has the period', () => new URL(page.url()).searchParams.get('span') === 'week')
  await page.getByText('Day', { exact: true }).click()
  await button('Show as table').last().click()
  await page.getByRole('row').nth(10).waitFor()
})

test('apply settings, see that the device has them, and restore an earlier version', async () => {
  await fleet.org.call('POST', `/endpoints/${fleet.bar.id}/config`, { body: { brightness: 0.4 } })
  await visit(page, `/devices/${fleet.bar.id}?tab=config`)
  await page.getByText('Version 1 is active.').waitFor()
  await page.getByLabel('Brightness').fill('90')
  await button('Review and apply').click()
  await dialog()
    .getByText(/1 setting will change/)
    .waitFor()
  await dialog().getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Version 2 is active.').waitFor()
  expect(fleet.bar.settings).toMatchObject({ brightness: 0.9 })
  // In the short form profiles.browser.test.ts restores a version, in the same list of versions.
  if (!isFullForm) return
  await page.getByRole('tab', { name: 'Versions' }).click()
  await button('Restore version 1').click()
  await dialog().getByRole('button', { name: 'Restore' }).click()
  await until('the device has the old value again', () => fleet.bar.settings.brightness === 0.4)
  await page.getByRole('tab', { name: 'Settings' }).click()
  await page.getByText('Version 3 is active.').waitFor()
})

// In the short form now.browser.test.ts restarts a room, and its dialog names the device.
test.runIf(isFullForm)(
  'restart a pair: every device that restarts is named first, and the progress is shown until the end',
  async () => {
    const before = [fleet.bar.reboots, fleet.pad.reboots]
    await visit(page, `/devices/${fleet.pad.id}?tab=operations`)
    await button('Restart').click()
    for (const name of ['Bar R00001', 'Pad D00001']) await dialog().getByText(name).first().waitFor()
    // People are in the room, so the restart would wait.
    await dialog().getByRole('radio', { name: 'Now' }).check()
    await dialog().getByRole('button', { name: 'Restart 2 devices' }).click()
    await until(
      'both devices restart',
      () => fleet.bar.reboots > (before[0] ?? 0) && fleet.pad.reboots > (before[1] ?? 0),
    )
    // A restart is done when the device is connected again.
    harness.clock.advance(1000)
    await page
      .getByText(/^(Done|Succeeded)/)
      .first()
      .waitFor()
  },
)

test('move a device to another room, and its paired devices move too', async () => {
  await visit(page, `/rooms/${fleet.rooms.fjord}`)
  await button(/^Move/).first().click()
  await dialog().getByRole('combobox', { name: /room/i }).fill('Tomt')
  await page.getByRole('option', { name: /Tomt/ }).click()
  await dialog().getByRole('button', { name: /^Move/ }).click()
  await dialog().waitFor({ state: 'detached' })
  const moved = (await read(`/rooms/${fleet.rooms.tomt}`)).endpoints.map((e: { serial: string }) => e.serial).sort()
  expect(moved).toEqual(['BAR00001', 'PAD00001'])
  await page.getByText('No devices').first().waitFor()
  const back = { endpointIds: [fleet.bar.id], roomId: fleet.rooms.fjord }
  await fleet.org.call('POST', '/endpoints/move_paired', { body: back })
  await page.getByText('Healthy').first().waitFor()
})

/** Chooses an action in the menu of a region or a location. */
async function chooseSiteAction(name: string, action: string): Promise<void> {
  await button(`Actions for ${name}`).click()
  await page.getByRole('menuitem', { name: action }).click()
}

test('create and delete sites; a dialog says in advance what blocks a deletion', async () => {
  await visit(page, '/sites')
  await button('New region').click()
  await dialog().getByLabel('Region name').fill('Oceania')
  await dialog().getByRole('button', { name: 'Create region' }).click()
  await chooseSiteAction('Oceania', 'New location')
  await dialog().getByLabel('Location name').fill('Suva')
  await dialog().getByRole('combobox', { name: 'Time zone' }).fill('fiji')
  await page.getByRole('option', { name: 'Pacific/Fiji' }).click()
  await dialog().getByRole('switch', { name: 'Change window' }).click()
  await dialog().getByRole('checkbox', { name: 'Thu' }).click()
  await dialog().getByLabel('From').fill('21:30')
  await dialog().getByLabel('Address').fill('Pier 1\nSuva')
  await dialog().getByRole('button', { name: 'Create location' }).click()
  await page.getByRole('link', { name: 'Suva' }).waitFor()
  const made = (await read('/locations')).locations.find((one: { name: string }) => one.name === 'Suva')
  const changeWindow = { days: ['mon', 'tue', 'wed'], from: '21:30', to: '05:00' }
  const address = 'Pier 1\nSuva'
  expect(made).toMatchObject({ timezone: 'Pacific/Fiji', changeWindow, address })

  await chooseSiteAction('Oceania', 'Delete region')
  await dialog().getByText('This region cannot be deleted yet').waitFor()
  await dialog().getByText('Suva').waitFor()
  expect(await dialog().getByRole('button', { name: 'Delete region' }).count()).toBe(0)
  await dialog().getByRole('button', { name: 'Close' }).first().click()

  // A form reports a concurrent change instead of overwriting it.
  const listed = async (kind: 'regions' | 'locations', name: string) =>
    (await read(`/${kind}`))[kind].find((one: { name: string }) => one.name === name)
  const loadAgain = async () => {
    await dialog().getByText('Changed by someone else.').waitFor()
    await dialog().getByRole('button', { name: 'Reload' }).click()
    expectTrouble(trouble, /status of 412/)
  }
  const oceania = await listed('regions', 'Oceania')
  // In the short form names.browser.test.ts has the concurrent change of a device.
  if (isFullForm) {
    await chooseSiteAction('Oceania', 'Edit region')
    await dialog().getByLabel('Region name').waitFor()
    await fleet.org.call('PUT', `/regions/${oceania.id}`, { body: { name: 'Pacific' } })
    await dialog().getByLabel('Region name').fill('South Seas')
    await dialog().getByRole('button', { name: 'Save region' }).click()
    await loadAgain()
    expect(await listed('regions', 'Pacific')).toMatchObject({ id: oceania.id })
    await expect.poll(() => dialog().getByLabel('Region name').inputValue()).toBe('Pacific')
    await dialog().getByLabel('Region name').fill('Oceania')
    await dialog().getByRole('button', { name: 'Save region' }).click()
    await dialog().waitFor({ state: 'detached' })
    expect(await listed('regions', 'Oceania')).toMatchObject({ id: oceania.id })
  }

  const { id } = await listed('locations', 'Suva')
  await chooseSiteAction('Suva', 'Edit location')
  await dialog().getByLabel('Location name').waitFor()
  if (isFullForm) await fleet.org.call('PUT', `/locations/${id}`, { body: { name: 'Suva Harbour' } })
  else await dialog().getByLabel('Location name').fill('Suva Harbour')
  const toNoRegion = async () => {
    await dialog().getByRole('combobox', { name: 'Region' }).click()
    await page.getByRole('option', { name: 'No region' }).click()
    await dialog().getByRole('button', { name: 'Save location' }).click()
  }
  if (isFullForm) {
    await toNoRegion()
    await loadAgain()
    expect(await listed('locations', 'Suva Harbour')).toMatchObject({ id, region: { id: oceania.id } })
    await expect.poll(() => dialog().getByLabel('Location name').inputValue()).toBe('Suva Harbour')
  }
  await toNoRegion()
  await dialog().waitFor({ state: 'detached' })
  expect(await listed('locations', 'Suva Harbour')).toEqual({
    id,
    name: 'Suva Harbour',
    timezone: 'Pacific/Fiji',
    changeWindow,
    address,
  })

  await chooseSiteAction('Suva Harbour', 'Delete location')
  await dialog().getByRole('button', { name: 'Delete location' }).click()
  await button('Actions for Suva Harbour').waitFor({ state: 'detached' })
  await chooseSiteAction('Oceania', 'Delete region')
  await dialog().getByRole('button', { name: 'Delete region' }).click()
  await button('Actions for Oceania').waitFor({ state: 'detached' })
  expect((await newest()).type).toBe('REGION_DELETED')
})

test.runIf(isFullForm)('create a key that is shown once, and revoke it', async () => {
  await visit(page, '/settings?tab=keys')
  await button('New key').click()
  await dialog().getByLabel('Key name').fill('Wall display')
  await dialog().getByRole('button', { name: 'Create key' }).click()
  const key = await dialog().getByLabel('API key').inputValue()
  expect((await harness.call('GET', `/v1/orgs/${fleet.org.id}/regions`, { key })).status).toBe(200)
  await dialog().getByRole('button', { name: 'Done' }).click()
  await dialog().waitFor({ state: 'detached' })
  expect(await page.content()).not.toContain(key)
  await button(/^Revoke Wall display/).click()
  await dialog().getByRole('button', { name: 'Revoke key' }).click()
  await button(/^Revoke Wall display/).waitFor({ state: 'detached' })
  expect((await harness.call('GET', `/v1/orgs/${fleet.org.id}/regions`, { key })).status).toBe(401)
})

test('read in the audit log who changed a region, with the values before and after', async () => {
  const { id } = (await fleet.org.call('POST', '/regions', { body: { name: 'Nord' } })).body
  await fleet.org.call('PUT', `/regions/${id}`, { body: { name: 'Sør' } })
  await visit(page, '/audit')
  const row = page.getByRole('row').filter({ hasText: 'Region updated' }).first()
  await row.getByRole('button').click()
  const log = page.getByRole('table', { name: 'Audit log' })
  await log.getByText('Nord').first().waitFor()
  await log.getByText('Sør').first().waitFor()
  // New entries appear without a reload.
  await fleet.org.call('DELETE', `/regions/${id}`)
  await log.getByText('Region deleted').first().waitFor()
})

test.runIf(isFullForm)('page through a long audit log', async () => {
  // The log is read when its page opens, and not entry by entry.
  await visit(page, '/')
  await settled(page, 'Overview')
  for (let count = 0; count < 210; count++) {
    await fleet.org.call('POST', `/rooms/${fleet.rooms.tomt}/notes`, { body: { note: `Note ${count}` } })
  }
  await visit(page, '/audit')
  const log = page.getByRole('table', { name: 'Audit log' })
  await button('Load 200 more').click()
  await until('the second page is loaded', async () => Number(await log.getAttribute('aria-rowcount')) > 211)
  expect(Number(await log.getAttribute('aria-rowcount')) - 1).toBe((await fleet.org.audit()).length)
})
