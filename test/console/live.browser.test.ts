// Tests the live updates of the console: tabs share one event stream, and a broken stream is reported and resumed.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
import { newDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { until } from '../support/program.ts'
import { wireTo } from '../support/severable-proxy.ts'

let harness: Harness
let browser: Browser
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await harness.close()
})

async function orgWithRoom(): Promise<{ org: TestOrg; roomId: number }> {
  const org = await harness.newOrg()
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  return { org, roomId }
}

/** The tests have one tab in turn, each with a session of its own. */
const shared = sharedTab(() => openTab(browser, harness.url))
async function tabOf(key: string): Promise<Tab> {
  const tab = await shared()
  await changeSession(tab, await signInByApi(harness.url, key))
  return tab
}

const openStreams = async () => {
  const text = await (await fetch(`${harness.url}/metrics`)).text()
  return Number(/^roomkeeper_event_streams (\d+)$/m.exec(text)?.[1])
}

test('two tabs share one stream, and the second takes over when the first is closed [contract 6.events]', async () => {
  const { org, roomId } = await orgWithRoom()
  const second = await tabOf(org.key)
  const first = await tabIn(second.context, harness.url, second.trouble)
  await first.page.goto('/rooms')
  await visit(second.page, `/rooms/${roomId}`)
  for (const { page } of [first, second]) await page.getByRole('status', { name: /^Live/ }).waitFor()
  expect(await openStreams()).toBe(1)

  const device = await newDevice(harness, org, { roomId })
  // A browser may draw a tab only when it is in front.
  for (const { page } of [first, second]) {
    await page.bringToFront()
    await page.getByText('Healthy').first().waitFor()
  }

  await first.page.close()
  await second.page.getByRole('status', { name: /^Live/ }).waitFor()
  await until('the second tab reads the stream', async () => (await openStreams()) === 1)
  await device.close()
  await second.page.getByText('Offline').first().waitFor()
})

test.runIf(isFullForm)(
  'a tab that opens another address hands the stream over, also when the browser caches its page',
  async () => {
    const { org, roomId } = await orgWithRoom()
    const first = await tabOf(org.key)
    await first.page.goto('/rooms')
    const second = await tabIn(first.context, harness.url, first.trouble)
    await second.page.goto('/rooms')
    for (const { page } of [first, second]) await page.getByRole('status', { name: /^Live/ }).waitFor()
    for (const path of [`/rooms/${roomId}`, '/audit']) {
      await first.page.goto(path)
      await first.page.getByRole('status', { name: /^Live/ }).waitFor()
      const name = `After ${path}`
      await org.call('PUT', `/rooms/${roomId}`, { body: { name } })
      await second.page.getByRole('link', { name }).waitFor()
    }
    expect(await openStreams()).toBe(1)
    await second.page.close()
  },
)

test('the console sends no request while nothing happens', async () => {
  const { org } = await orgWithRoom()
  const tab = await newTab(browser, harness.url, await signInByApi(harness.url, org.key))
  await tab.page.clock.install()
  await tab.page.goto('/rooms')
  await tab.page.getByRole('status', { name: /^Live/ }).waitFor()
  await settled(tab.page, 'Rooms')
  await until('the first events are handled', async () => {
    const asked: string[] = []
    tab.page.on('request', (request) => asked.push(request.url()))
    await tab.page.clock.runFor(20_000)
    return asked.length === 0
  })
  const asked: string[] = []
  tab.page.on('request', (request) => asked.push(request.url()))
  await tab.page.clock.fastForward('01:00:00')
  await tab.page.clock.runFor(60_000)
  // In the page's hour the server sends no sign of life, so the console opens the stream again and looks whether its access has changed.
  expect(asked.filter((url) => !/\/events$|\/console\/session$/.test(url))).toEqual([])
})

test.runIf(isFullForm)('a broken stream is reported, and missed changes appear when it is back', async () => {
  const { org, roomId } = await orgWithRoom()
  const device = await newDevice(harness, org, { roomId })
  const wire = await wireTo(harness.url)
  const tab = await newTab(browser, wire.url, await signInByApi(wire.url, org.key))
  const { page } = tab
  await page.goto('/rooms')
  await page.getByRole('status', { name: /^Live/ }).waitFor()
  await page.getByText('Healthy').first().waitFor()
  wire.cut()
  await page.getByRole('status', { name: /^Disconnected/ }).waitFor()
  await device.close()
  wire.mend()
  await page.getByText('Offline').first().waitFor()
  await page.getByRole('status', { name: /^Live/ }).waitFor()
  // The browser logs every failed attempt.
  expectTrouble(tab.trouble, /ERR_/)
})

test('a device that falls asleep is asleep in the open list of devices, and its room stays healthy [contract 5.4.room] [contract 8.state]', async () => {
  const { org, roomId } = await orgWithRoom()
  await newDevice(harness, org, { roomId })
  const display = await newDevice(harness, org, { roomId })
  await display.publish('status', { sleeps: true, power: 'STANDBY' })
  const devices = await tabOf(org.key)
  await visit(devices.page, '/devices')
  // The short form has the list of devices only, and asks the API for the room: a second tab is another load of the console.
  const rooms = isFullForm ? await tabIn(devices.context, harness.url, devices.trouble) : undefined
  await rooms?.page.goto('/rooms')
  const room = rooms?.page.getByRole('table', { name: 'Rooms' }).locator('[aria-rowindex="2"]')
  await room?.getByText('2 of 2', { exact: true }).waitFor()
  await settled(devices.page, 'Devices')
  const asked: string[] = []
  for (const { page } of rooms ? [devices, rooms] : [devices]) {
    await page.getByRole('status', { name: /^Live/ }).waitFor()
    page.on('request', (request) => asked.push(request.url().split(`${org.id}/`).at(-1) ?? ''))
  }

  await display.close()
  // A browser may draw a tab only when it is in front.
  await rooms?.page.bringToFront()
  await room?.getByText('1 of 2', { exact: true }).waitFor()
  await room?.getByText('Healthy', { exact: true }).waitFor()
  await devices.page.bringToFront()
  const asleep = devices.page.getByRole('row').filter({ has: devices.page.getByText('Asleep', { exact: true }) })
  await asleep.waitFor()
  expect((await org.call('GET', '/rooms')).body.rooms).toMatchObject([{ state: 'HEALTHY' }])
  await org.call('PUT', `/endpoints/${display.id}`, { body: { name: 'Big wall' } })
  await asleep.getByText('Big wall').waitFor()
  await display.connect()
  await asleep.waitFor({ state: 'detached' })
  await rooms?.page.bringToFront()
  await room?.getByText('2 of 2', { exact: true }).waitFor()
  expect(asked).toContain(`endpoints?ids=${display.id}`)
  if (rooms) expect(asked).toContain(`rooms?ids=${roomId}`)
  await rooms?.page.close()
})

/** Lets reads of lists, rooms and devices fail until they are allowed again; the event stream stays as it is. */
async function failReads(page: Page): Promise<{ hasFailed: () => boolean; allow: () => Promise<void> }> {
  const failed: string[] = []
  const lists = /\/(rooms|endpoints)(\/[^/]+)?(\?ids=.*)?$/
  await page.route(lists, (route) => {
    if (route.request().resourceType() !== 'fetch') return route.continue()
    failed.push(route.request().url().split('/').at(-1) ?? '')
    return route.abort()
  })
  // After the rows of the event the whole lists are read, three times.
  const hasFailed = () => ['rooms', 'endpoints'].every((name) => failed.filter((one) => one === name).length >= 3)
  return { hasFailed, allow: () => page.unroute(lists) }
}

const waysBack = ['another event', 'the return of the stream']
test.each(isFullForm ? waysBack : waysBack.slice(0, 1))(
  'lists whose reads have failed are read again after %s',
  async (what) => {
    const { org, roomId } = await orgWithRoom()
    const device = await newDevice(harness, org, { roomId })
    // Without an interruption the tab of the other tests does.
    const wire = what === 'another event' ? undefined : await wireTo(harness.url)
    const tab = wire ? await newTab(browser, wire.url, await signInByApi(wire.url, org.key)) : await tabOf(org.key)
    const { page } = tab
    await page.goto('/rooms')
    await page.getByRole('status', { name: /^Live/ }).waitFor()
    await page.getByText('Healthy').first().waitFor()
    const reads = await failReads(page)
    await device.publish('status', { firmwareVersion: 'NFB1.20260401.0002' })
    await until('the reads have failed', reads.hasFailed)
    await reads.allow()
    const read = page.waitForResponse((response) => /\/orgs\/\w+\/rooms$/.test(response.url()) && response.ok())
    if (!wire) await device.close()
    else {
      wire.cut()
      await page.getByRole('status', { name: /^Disconnected/ }).waitFor()
      wire.mend()
    }
    await read
    expectTrouble(tab.trouble, /ERR_/)
  },
)

test('revoking the key of a session signs out every tab and says why [contract 9.session]', async () => {
  const { org } = await orgWithRoom()
  const key = await org.newKey({ name: 'Night shift' })
  const tab = await tabOf(key)
  await visit(tab.page, '/')
  const other = await tabIn(tab.context, harness.url, tab.trouble)
  await other.page.goto('/rooms')
  for (const { page } of [tab, other]) await page.getByRole('status', { name: /^Live/ }).waitFor()
  const { keys } = (await org.call('GET', '/keys')).body
  const { id } = keys.find((k: { name: string }) => k.name === 'Night shift')
  await org.call('DELETE', `/keys/${id}`)
  for (const { page } of [tab, other]) await page.getByText('You have been signed out').waitFor()
  await other.page.close()
  expectTrouble(tab.trouble, /status of 401/)
})
