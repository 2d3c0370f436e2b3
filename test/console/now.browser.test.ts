// Tests that the console is not wrong about now: restarts, old values, and a lost connection.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axe, expectAccessible } from '../support/console/accessibility.ts'
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
  type Tab,
  tabIn,
  visit,
} from '../support/console/browser.ts'
import { startDevice } from '../support/devices/agent-device.ts'
import { putBehindGateway } from '../support/devices/gateway.ts'
import { newDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { until } from '../support/program.ts'
import { openWire, type Wire } from '../support/severable-proxy.ts'

let harness: Harness
/** The browser is at its other end. */
let wire: Wire & { close(): void }
let browser: Browser
beforeAll(async () => {
  harness = await startHarness()
  const { port } = await consolePort()
  wire = await openWire(harness.url, port)
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  wire.close()
  await harness.close()
})

async function orgWithRoom(): Promise<{ org: TestOrg; roomId: number }> {
  const org = await harness.newOrg()
  const { id: regionId } = (await org.call('POST', '/regions', { body: { name: 'Europe' } })).body
  const { id: locationId } = (await org.call('POST', '/locations', { body: { name: 'Oslo', regionId } })).body
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord', locationId } })).body.id
  return { org, roomId }
}

/** The tests of different organisations have one tab in turn. */
const shared = sharedTab(() => openTab(browser, wire.url))
async function tabOf(org: TestOrg): Promise<Tab> {
  const tab = await shared()
  await changeSession(tab, await signInByApi(wire.url, org.key))
  return tab
}

/**
 * Notes every text that is drawn while the test runs, and what is drawn in the red of offline rooms: before each frame in which something
 * has changed. The code is a string, because it runs in the page.
 */
const watchTexts = `globalThis.texts = new Set()
  globalThis.observer?.disconnect()
  const reds = ['var(--rk-offline)', 'var(--rk-offline-fill)'].map((color) => {
    const probe = document.body.appendChild(document.createElement('i'))
    probe.style.color = color
    const red = getComputedStyle(probe).color
    probe.remove()
    return red
  })
  const isRed = (one) => {
    const { color, backgroundColor, backgroundImage, fill } = getComputedStyle(one)
    return reds.some((red) => [color, backgroundColor, fill].includes(red) || backgroundImage.includes(red))
  }
  const note = () => document.querySelectorAll('body *').forEach((one) => {
    if (one.matches('main span')) texts.add(one.textContent)
    // Buttons that delete are red too, and strips show the past.
    if (!one.closest('button, [data-state]') && isRed(one)) texts.add('red: ' + one.outerHTML.slice(0, 200))
  })
  let isNoted = true
  globalThis.observer = new MutationObserver(() => {
    if (!isNoted) return
    isNoted = false
    requestAnimationFrame(() => {
      isNoted = true
      note()
    })
  })
  observer.observe(document, { subtree: true, childList: true, characterData: true })
  note()`
const seenTexts = (page: Page): Promise<string[]> => page.evaluate('[...texts]')

const redTexts = (texts: readonly string[]) => texts.filter((text) => /^(Offline|Degraded)$|^red: /.test(text))

test('a restart asked from the console never shows red, on any page', async () => {
  const { org, roomId } = await orgWithRoom()
  let finishReboot = () => {}
  const whileRebooting = () => new Promise<void>((resolve) => (finishReboot = resolve))
  const bar = await startDevice(harness, org, { roomId, serial: 'BAR00001', model: 'NF19B1', whileRebooting })
  const first = await tabOf(org)
  const watchers: Page[] = []
  // The short form watches the page with the most of it.
  const watched = [
    [`/rooms/${roomId}`, 'Fjord'],
    ['/rooms', 'Rooms'],
  ] as const
  for (const [path, title] of isFullForm ? watched : watched.slice(0, 1)) {
    const { page } = watchers.length === 0 ? first : await tabIn(first.context, wire.url, first.trouble)
    await page.goto(path)
    await settled(page, title)
    await page.getByRole('status', { name: /^Live/ }).waitFor()
    await page.evaluate(watchTexts)
    watchers.push(page)
  }
  const page = watchers[0] as Page
  await page.getByRole('button', { name: 'Restart room' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Bar R00001').waitFor()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Restart 1 device' }).click()
  await until('the device is away', async () => {
    const { connected } = (await org.call('GET', `/endpoints/${bar.id}`)).body
    return bar.reboots === 1 && !connected
  })
  for (const one of watchers)
    await one
      .getByText(/^Restarting, \d+ s$/)
      .first()
      .waitFor()
  // A page that is opened during the restart knows of it too, and the overview counts it as healthy.
  const late = await tabIn(first.context, wire.url, first.trouble)
  const restarting = /^Restarting, \d+ s$/
  const latePages = [
    ['/', 'Overview', 'All rooms with devices are healthy.'],
    ['/devices', 'Devices', restarting],
    ['/wall', /./, 'No open incidents'],
    ['/sites', 'Sites', 'Oslo'],
    ['/incidents', 'Incidents', 'No open incidents'],
    [`/devices/${bar.id}`, 'Bar R00001', restarting],
  ] as const
  // The short form has the pages that show the state of a device or count it.
  for (const [path, title, text] of isFullForm ? latePages : latePages.slice(0, 2)) {
    await visit(late.page, path)
    await late.page.getByRole('heading', { level: 1, name: title }).waitFor()
    await late.page.getByText(text).first().waitFor()
    // The tiles of the overview have their names in their colours, also with no room in them.
    if (path === '/') continue
    await late.page.evaluate(watchTexts)
    expect(redTexts(await seenTexts(late.page)), path).toEqual([])
  }
  await late.page.keyboard.press('Control+k')
  await late.page.getByRole('combobox', { name: 'Search rooms, devices, sites, profiles and pages' }).fill('Fjord')
  const found = late.page.getByRole('option', { name: /^Fjord/ })
  await found.getByText(/^Restarting, \d+ s$/).waitFor()
  expect(await found.getByText('Offline').count()).toBe(0)
  // The room page draws the time away as a restart, and blames no outage for the missing readings.
  const strips = page.getByRole('region', { name: /^Connection/ })
  await strips.getByRole('img', { name: 'Bar R00001: Restarting' }).waitFor()
  expect(await strips.getByRole('img').locator('[data-state="offline"]').count()).toBe(0)
  await page.getByText('No readings while devices restart.').waitFor()
  expect(redTexts(await seenTexts(late.page)), 'the search').toEqual([])
  // The restart is a mark on the strip, and a row of its table. In the short form overview.browser.test.ts has a strip as a table.
  if (isFullForm) {
    await strips.getByRole('button', { name: 'Show as table' }).click()
    await strips.getByRole('row').getByText('Restart', { exact: true }).waitFor()
    await expectAccessible(page)
  }
  finishReboot()
  await page.getByText('Online', { exact: true }).first().waitFor()
  for (const one of watchers) {
    await until('the restart is over', async () => (await one.getByText(/^Restarting(, \d+ s)?$/).count()) === 0)
    expect(redTexts(await seenTexts(one)), one.url()).toEqual([])
  }
  // The history calls it a restart too, in the table and on the strip.
  if (isFullForm) {
    await strips
      .getByRole('row')
      .getByText(/^Restarting for /)
      .waitFor()
    expect(await strips.getByText(/^Offline for /).count()).toBe(0)
    await strips.getByRole('button', { name: 'Show as strips' }).click()
  }
  await strips.getByRole('img', { name: /^Bar R00001: Known since .*, no outages, 1 restart$/ }).waitFor()
  expect(await strips.getByRole('img').locator('[data-state="restarting"]').count()).toBe(1)
  expect(await strips.getByRole('img').locator('[data-state="offline"]').count()).toBe(0)
  await bar.stop()
  for (const one of watchers)
    await one
      .locator('main span', { hasText: /^Offline$/ })
      .first()
      .waitFor()
  // That look does see the red of a room that is really offline.
  const seen = await seenTexts(page)
  expect(redTexts(seen).some((text) => text.startsWith('red: '))).toBe(true)
  // Their event streams would be opened again when a later test mends the connection.
  for (const one of [late.page, ...watchers.slice(1)]) await one.close()
})

test.runIf(isFullForm)(
  'of a device that goes and comes back, only its row and the row of its room are read [contract 7.ids]',
  async () => {
    const { org, roomId } = await orgWithRoom()
    const device = await newDevice(harness, org, { roomId })
    const cookie = await signInByApi(wire.url, org.key)
    const overview = await newTab(browser, wire.url, cookie)
    const rooms = await tabIn(overview.context, wire.url, overview.trouble)
    const healthy = overview.page.getByText('All rooms with devices are healthy.')
    const offline = rooms.page.locator('main span', { hasText: /^Offline$/ }).first()
    const asked: string[] = []
    let lastMs = Date.now()
    await overview.page.goto('/')
    await healthy.waitFor()
    await rooms.page.goto('/rooms')
    await settled(rooms.page, 'Rooms')
    for (const { page } of [overview, rooms]) {
      await page.getByRole('status', { name: /^Live/ }).waitFor()
      page.on('request', (request) => {
        asked.push(request.url().split(`${org.id}/`).at(-1) ?? '')
        lastMs = Date.now()
      })
    }
    await until('everything is read that the pages show', () => Date.now() - lastMs > 2000)
    asked.length = 0
    await device.close()
    await offline.waitFor()
    await healthy.waitFor({ state: 'detached' })
    await device.connect()
    await offline.waitFor({ state: 'detached' })
    await healthy.waitFor()
    const lists = asked.filter((path) => /^(rooms|endpoints)(\?|$)/.test(path))
    expect([...new Set(lists)].sort()).toEqual([`endpoints?ids=${device.id}`, `rooms?ids=${roomId}`])
    await device.close()
  },
)

// In `npm test` `now` has a value without a reading on the same pages in the next test.
test.runIf(isFullForm)('values of an offline room are dashes, and an old value has its age', async () => {
  const { org, roomId } = await orgWithRoom()
  const bar = await startDevice(harness, org, { roomId, serial: 'BAR00002', model: 'NF19B1' })
  const now = Math.floor(harness.clock.now() / 1000)
  await bar.sample({ timestamp: now - 240, co2: 640, temp: 21.5, people: 7 })
  const { page } = await tabOf(org)
  await visit(page, '/rooms')
  const row = page.getByRole('table', { name: 'Rooms' }).getByRole('row').filter({ hasText: 'Fjord' })
  await row.getByText(/^640 4 min$/).waitFor()
  await row.getByText(/^7 4 min$/).waitFor()
  if (isFullForm) {
    await visit(page, `/rooms/${roomId}`)
    await page.getByRole('heading', { name: 'Last readings' }).waitFor()
  }
  await visit(page, '/')
  await page.getByText('No occupancy data').waitFor()

  await bar.sample({ co2: 660, temp: 21.5, people: 8 })
  await page.getByText('8 people').waitFor()
  await visit(page, `/rooms/${roomId}`)
  await page.getByRole('heading', { name: 'Current readings' }).waitFor()
  await bar.stop()
  await page.getByRole('heading', { name: 'Last readings' }).waitFor()
  // A column without any value is hidden.
  const { id: otherRoomId } = (await org.call('POST', '/rooms', { body: { name: 'Bay' } })).body
  const other = await startDevice(harness, org, { roomId: otherRoomId, serial: 'BAR00003', model: 'NF19B1' })
  await other.sample({ co2: 660, temp: 21.5, people: 8 })
  await visit(page, '/rooms')
  await row.getByText('Offline', { exact: true }).waitFor()
  await expect.poll(() => row.getByRole('img', { name: 'no data' }).count()).toBe(3)
  if (!isFullForm) return
  await visit(page, '/')
  await page.getByText('No occupancy data').waitFor()
})

test('a value that no device measured is no reading, and presence is not a number of people [contract 5.2.measured]', async () => {
  const { org, roomId } = await orgWithRoom()
  const air = await newDevice(harness, org, { roomId, model: 'AIR-1' })
  await newDevice(harness, org, { roomId, model: 'PX-900' })
  const now = Math.floor(harness.clock.now() / 1000)
  await air.publish('status', { sensors: ['co2', 'temp'] })
  await air.publish('sample', { samples: [{ timestamp: now - 2, co2: 700 }] })
  const { page } = await tabOf(org)
  await visit(page, `/rooms/${roomId}`)
  await page.getByRole('heading', { name: 'Current readings' }).waitFor()
  const tiles = page.locator('dl').filter({ has: page.getByText('CO₂', { exact: true }) })
  expect(await tiles.locator('div:has(> dt)').allInnerTexts()).toEqual(['CO₂\n700 ppm', 'Temperature\nNo reading'])

  const detector = await newDevice(harness, org, { roomId, model: 'PIR-1' })
  const detect = (timestamp: number, people: number) => detector.publish('sample', { samples: [{ timestamp, people }] })
  await detector.publish('status', { peopleIs: 'PRESENCE' })
  await detect(now - 1, 1)
  await tiles.getByText('In use', { exact: true }).waitFor()
  if (isFullForm) {
    await visit(page, `/devices/${detector.id}`)
    await page.getByText('In use', { exact: true }).waitFor()
  }
  await visit(page, '/rooms')
  const row = page.getByRole('table', { name: 'Rooms' }).locator('[aria-rowindex="2"]')
  await row.getByText('In use', { exact: true }).waitFor()
  await visit(page, '/')
  await page.getByText('1 room in use').waitFor()
  await detect(now, 0)
  await page.getByText('0 rooms in use').waitFor()
  for (const device of [air, detector]) await device.close()
})

test('a room with a sleeping display is healthy, and a room behind a gateway that is away cannot be seen [contract 8.state]', async () => {
  const { org, roomId } = await orgWithRoom()
  const { location } = (await org.call('GET', `/rooms/${roomId}`)).body
  const newRoom = async (name: string): Promise<number> =>
    (await org.call('POST', '/rooms', { body: { name, locationId: location.id } })).body.id
  const device = async (room: number, serial: string, status: object) => {
    const made = await newDevice(harness, org, { roomId: room, serial, model: serial.slice(0, 4) })
    await made.publish('status', status)
    return made
  }
  const skog = await newRoom('Skog')
  const outlet = await device(roomId, 'PWR-000001', { kind: 'POWER', power: 'ON', actions: ['power'] })
  const display = await device(roomId, 'DIS-000001', { kind: 'DISPLAY', sleeps: true, power: 'STANDBY' })
  const camera = { id: 'cam', name: 'Wall\u202e camera', kind: 'CAMERA', connected: false }
  const codec = await device(roomId, 'COD-000001', { kind: 'CODEC', manufacturer: 'Example', peripherals: [camera] })
  const lamp = { code: 'lamp.end', level: 'CRITICAL', text: 'Replace the lamp.' }
  const projector = await device(roomId, 'PRO-000001', {
    ...{ kind: 'PROJECTOR', firmwareVersion: '4.1.7', power: 'STANDBY' },
    faults: [{ code: 'filter', level: 'WARNING', text: 'Clean the filter.' }, lamp],
  })
  const sensor = await device(skog, 'SEN-000001', { kind: 'SENSOR', sensors: ['co2'], actions: [] })
  const gateway = await device(await newRoom('Rack'), 'GAT-000001', { kind: 'GATEWAY', name: 'Gateway Oslo' })
  await display.close()
  await putBehindGateway(harness, gateway.id, [sensor.id])
  await sensor.close()
  await gateway.close()

  const { page } = await tabOf(org)
  await visit(page, `/rooms/${roomId}`)
  await settled(page, 'Fjord')
  await page.getByText('1 of 4 devices is asleep.', { exact: true }).waitFor()
  await page.getByText('Healthy', { exact: true }).waitFor()
  const lines = page.getByRole('region', { name: 'Devices' }).locator('li li')
  const icons = await lines.getByRole('img').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))
  expect(icons, 'by kind').toEqual(['Codec', 'Display', 'Projector', 'Power'])
  const [first = '', second = '', third = '', fourth = ''] = await lines.allTextContents()
  expect(first).toMatch(/^COD- 000001Codec · Example · COD- · COD-000001OnlineWall camera is missingMove$/)
  expect(second).toMatch(/^DIS- 000001Display · DIS- · DIS-000001Asleep since \d\d:\d\d/)
  expect(third).toMatch(/OnlineStandbyReplace the lamp\. \(and 1 more\)4\.1\.7Move$/)
  expect(fourth).toMatch(/OnlinePower onMove$/)
  await expectAccessible(page)
  // In the short form names.browser.test.ts names a device from the page of its room.
  if (isFullForm) {
    await page.getByRole('button', { name: 'Edit DIS- 000001' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Display at the door')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await lines.getByText('Display at the door').waitFor()
  }

  await visit(page, `/rooms/${skog}`)
  await settled(page, 'Skog')
  await page.getByText('The device cannot be seen.', { exact: true }).waitFor()
  expect(await page.getByText('Cannot be seen', { exact: true }).count(), 'the room and its device').toBe(2)

  await visit(page, '/')
  await page.getByRole('link', { name: 'Cannot be seen (1)' }).waitFor()
  await page.getByRole('link', { name: /^Cannot be seen 1 .*room$/ }).waitFor()
  const models = page.getByRole('table', { name: 'Devices by model' })
  const asleep = models.getByRole('link', { name: '1 dis- asleep' })
  await asleep.waitFor()
  // In the short form live.browser.test.ts has a sleeping device in the list.
  if (isFullForm) {
    await asleep.click()
    await settled(page, 'Devices')
    const devices = page.getByRole('table', { name: 'Devices' })
    await devices.getByText('Asleep', { exact: true }).waitFor()
    expect(await devices.locator('[data-row-link]').allInnerTexts()).toEqual(['Display at the door'])
  }

  await visit(page, '/wall')
  const rooms = page.getByRole('region', { name: 'Rooms by region' })
  for (const name of ['1 room healthy in Europe', '1 room cannot be seen in Europe', '1 room offline in Europe']) {
    await rooms.getByRole('img', { name }).waitFor()
  }
  const colour: string = await page.evaluate(
    `getComputedStyle(document.querySelector('[aria-label*="cannot be seen"]')).color`,
  )
  const [red = 0, green = 0, blue = 0] = (colour.match(/\d+/g) ?? []).map(Number)
  expect(Math.max(red, green, blue) - Math.min(red, green, blue), 'grey').toBeLessThan(30)
  // The page must not read devices that close while the next test signs in.
  await page.goto('/livez')
  for (const one of [outlet, codec, projector]) await one.close()
})

const screens: readonly [string, number][] = [
  ['a wide screen', 1366],
  ['a phone', 390],
]
test.each(isFullForm ? screens : screens.slice(1))(
  'a lost connection is said over the full width of %s, with the time of the last update',
  async (_, width) => {
    const { org, roomId } = await orgWithRoom()
    const device = await newDevice(harness, org, { roomId })
    const { page, trouble } = await tabOf(org)
    await page.setViewportSize({ width, height: 800 })
    await visit(page, '/rooms')
    await settled(page, 'Rooms')
    await page.getByRole('status', { name: /^Live/ }).waitFor()
    wire.cut()
    const banner = page.getByRole('alert').filter({ hasText: /Connection lost\. Last update \d\d:\d\d:\d\d/ })
    await banner.waitFor()
    const box = await banner.locator('div').first().boundingBox()
    expect([box?.x, box?.width]).toEqual([0, width])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    const dimmed = await page.evaluate(`getComputedStyle(document.querySelector('main > div')).opacity`)
    expect(Number(dimmed)).toBeLessThan(0.8)
    for (const colorScheme of isFullForm ? (['dark', 'light'] as const) : []) {
      await page.emulateMedia({ colorScheme })
      await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
      // Alerts in the page itself are left out: the page is dimmed, so their contrast is too low.
      const what = colorScheme === 'dark' ? 'colours' : 'wcag'
      expect(await axe(page, what, '[role="alert"]:not(main *)'), colorScheme).toEqual([])
    }
    await device.close()
    wire.mend()
    await banner.waitFor({ state: 'detached' })
    await page.getByText('Offline').first().waitFor()
    // A request that was still running has failed.
    expectTrouble(trouble, /ERR_|Can’t reach the server/)
  },
)
