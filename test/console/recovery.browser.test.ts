// Tests the console while its server is stopped, started again and upgraded. [contract 9.recovery]
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { makeClient } from '../../src/client/client.ts'
import { type Service, startService } from '../../src/server/app.ts'
import { tokenHash } from '../../src/server/auth/token.ts'
import { makeLog } from '../../src/server/core/log.ts'
import { builtConsoleFolder } from '../../src/server/core/program-files.ts'
import { markConnected } from '../../src/server/fleet/endpoints/presence.ts'
import { readConsoleFiles } from '../../src/server/http/browser/static-files.ts'
import { findOverflow, phone } from '../support/console/accessibility.ts'
import {
  closeTabs,
  consolePort,
  expectTrouble,
  newTab,
  openBrowser,
  openTab,
  settled,
  signInByApi,
  signInWithKey,
  type Tab,
  visit,
} from '../support/console/browser.ts'
import { makeOtherBuild } from '../support/console/other-build.ts'
import { deviceOfRow, putEndpoints } from '../support/database/endpoint-rows.ts'
import { freePort } from '../support/free-port.ts'
import { newPlace, quiet, TestClock } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { startNginx } from '../support/nginx.ts'
import { until } from '../support/program.ts'

/** Failed requests are logged by the browser. */
const failedRequests =
  /ERR_|Failed to load|404|Failed to fetch|MIME type|preload|CodeLoadError|ServerUnreachableError|ApiError: Server error \(502\)/

let browser: Browser
let otherBuild: string
let port: number
let place: Awaited<ReturnType<typeof newPlace>>
let service: Service | undefined
let key: string
let roomIds: number[]

beforeAll(async () => {
  browser = await openBrowser()
  otherBuild = makeOtherBuild()
})
afterAll(async () => {
  await closeTabs(browser)
  rmSync(otherBuild, { recursive: true, force: true })
})
beforeEach(async () => {
  place = await newPlace({ hasTables: true })
  port = isFullForm ? await freePort() : (await consolePort()).port
  const { first } = await start()
  key = first?.key ?? ''
  const client = makeClient({ baseUrl: `http://127.0.0.1:${port}`, org: first?.org ?? '', token: key })
  roomIds = []
  for (const name of ['Fjord', 'Skog']) roomIds.push((await client.roomsCreate({ body: { name } })).body.id)
})
afterEach(async () => {
  // A page that is still open would report that its requests fail.
  const trouble = opened?.trouble.splice(0)
  opened = undefined
  await closeTabs(browser)
  await stop()
  await place.remove()
  expect(trouble ?? [], 'the browser reports no trouble').toEqual([])
})

async function start(consoleFolder = builtConsoleFolder, clock?: TestClock): Promise<Service> {
  const replaced = { consoleFiles: readConsoleFiles(consoleFolder), ...(clock && { clock }) }
  service = await startService({ ...quiet, ...place.place, port }, makeLog('silent'), replaced)
  return service
}
async function stop(): Promise<void> {
  await service?.close()
  service = undefined
}
async function upgrade(folder = otherBuild): Promise<void> {
  await stop()
  await start(folder)
}

/**
 * In the short form tests have one tab in turn, unless its browser must not have the code of other pages yet. Those of the full form have
 * a tab each: some fake its clock, which cannot be undone.
 */
let opened: Tab | undefined
async function signedInTab(hasEmptyCache: boolean): Promise<Tab> {
  const url = `http://127.0.0.1:${port}`
  const session = await signInByApi(url, key)
  if (isFullForm || hasEmptyCache) return newTab(browser, url, session)
  opened = await openTab(browser, url, session)
  return opened
}

/** Signs in and counts how often the document is loaded from then on. */
async function openConsole(path = '/', { hasEmptyCache = false } = {}): Promise<Tab & { loads: () => number }> {
  const tab = await signedInTab(hasEmptyCache)
  await visit(tab.page, path)
  await tab.page.getByRole('navigation', { name: 'Pages' }).waitFor()
  let count = 0
  tab.page.on('load', () => {
    count += 1
  })
  return { ...tab, loads: () => count }
}

const openPage = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click()
const entryScript = (page: Page) => page.locator('script[type="module"][src]').getAttribute('src')

test('after a restart the devices are reconnecting, not offline, and online since the same time once they are back [contract 8.state]', async () => {
  const [fjord, skog] = roomIds
  const orgs = await service?.services.db.system.kysely.selectFrom('orgs').select(['key', 'id']).execute()
  const org = orgs?.[0] ?? { key: 0, id: '' }
  const connectedSince = Date.now() - 3 * 24 * 3600_000
  const rows = await putEndpoints({ services: (service as Service).services }, { org } as never, [
    { room_id: fjord ?? 0, connected: 1, connection_time: connectedSince },
    { room_id: fjord ?? 0, connected: 1, connection_time: connectedSince },
    { room_id: skog ?? 0, connected: 1, connection_time: connectedSince },
  ])
  await service?.services.db.systemTransaction(({ kysely }) =>
    kysely
      .insertInto('credential_directory')
      .values(rows.map(({ id }) => ({ hash: tokenHash(id), org: org.key, endpoint_id: id })))
      .execute(),
  )
  const connect = async (row: (typeof rows)[number]) => {
    const device = deviceOfRow(org, row)
    const credentialHash = tokenHash(row.id).toString('hex')
    const { services } = service as Service
    await markConnected(services, { device, since: services.clock.now(), credentialHash, nodeId: 0, number: 0 })
  }
  const { page, trouble } = await openConsole()
  await settled(page, 'Overview')
  await page.getByText('All rooms with devices are healthy.').waitFor()

  await stop()
  await start()
  const notice = page.getByRole('main').getByRole('link', { name: 'Reconnecting (3)' })
  await notice.waitFor()
  await page
    .getByRole('main')
    .getByRole('link', { name: /^Reconnecting 2 .*rooms$/ })
    .waitFor()
  expect(await page.getByText(/needs? attention/).count()).toBe(0)
  await page.getByRole('link', { name: '2 rooms reconnecting in No region' }).waitFor()
  if (isFullForm) {
    await page.setViewportSize(phone)
    await notice.waitFor()
    await expect.poll(() => findOverflow(page)).toEqual([])
    await page.setViewportSize({ width: 1366, height: 900 })
  }
  await notice.click()
  await settled(page, 'Devices')
  const table = page.getByRole('table', { name: 'Devices' })
  await until('the three devices are listed', async () => (await table.getByText('Reconnecting').count()) === 3)
  expect(await table.getByText('3 days', { exact: true }).count(), 'their state is not known').toBe(0)

  for (const row of rows.slice(0, 2)) await connect(row)
  await openPage(page, 'Overview')
  await settled(page, 'Overview')
  await page.getByRole('main').getByRole('link', { name: 'Reconnecting (1)' }).waitFor()
  // The page shows a device that comes back without reading the lists again.
  for (const row of rows.slice(2)) await connect(row)
  await page.getByText('All rooms with devices are healthy.').waitFor()
  await openPage(page, 'Devices')
  await settled(page, 'Devices')
  expect(await table.getByText('Online', { exact: true }).count()).toBe(3)
  expect(await table.getByText('3 days', { exact: true }).count(), 'since before the restart').toBe(3)
  await visit(page, `/rooms/${fjord}`)
  await settled(page, 'Fjord')
  await page.getByText('Both devices are online.').waitFor()
  await page
    .getByRole('img', { name: /100 % online since .*, no outages/ })
    .first()
    .waitFor()
  expectTrouble(trouble, failedRequests)
})

test.runIf(isFullForm)(
  'devices that are not back when --settle is over are offline, on an open page too [contract 8.state]',
  async () => {
    const clock = new TestClock()
    await stop()
    await start(builtConsoleFolder, clock)
    const orgs = await service?.services.db.system.kysely.selectFrom('orgs').select(['key', 'id']).execute()
    const place = { room_id: roomIds[0] ?? 0, connected: 1, connection_time: clock.now() - 3600_000 }
    await putEndpoints({ services: (service as Service).services }, { org: orgs?.[0] } as never, [place, place])
    await stop()
    await start(builtConsoleFolder, clock)
    const { page } = await openConsole(`/rooms/${roomIds[0]}`)
    await page.clock.install()
    await settled(page, 'Fjord')
    await page.getByText('Both devices are reconnecting.').waitFor()
    clock.advance(10 * 60_000)
    await page.clock.runFor(16_000)
    await page.getByText('Both devices are offline.').waitFor()
  },
)

test('a page that is opened while the server is stopped says so, and appears once the server is back; data that could not be requested appears without a reload', async () => {
  const { page, trouble, loads } = await openConsole('/', { hasEmptyCache: true })
  await settled(page, 'Overview')
  await stop()
  await openPage(page, 'Devices')
  await page.getByRole('alert').getByText('Can’t reach the server').waitFor()
  await page.getByText('The page reloads by itself once the server answers.').waitFor()
  expect(loads()).toBe(0)
  await start()
  await until('the console is loaded again', () => loads() === 1)
  await settled(page, 'Devices')

  await visit(page, `/rooms/${roomIds[0]}`)
  await settled(page, 'Fjord')
  await openPage(page, 'Rooms')
  await settled(page, 'Rooms')
  await stop()
  await page.getByRole('link', { name: 'Skog' }).click()
  await page.getByRole('alert').getByText('Can’t reach the server').first().waitFor()
  await start()
  await settled(page, 'Skog')
  expect(loads()).toBe(1)
  expectTrouble(trouble, failedRequests)
})

test.runIf(isFullForm)(
  'after an hour without the server the page stops asking; "Try again" asks once more, and shows the page when the server is back',
  async () => {
    const { page, trouble } = await openConsole()
    await settled(page, 'Overview')
    await page.clock.install()
    await stop()
    await openPage(page, 'Devices')
    await page.getByRole('alert').getByText('Can’t reach the server').waitFor()
    await page.clock.fastForward('01:01:00')
    const hasGivenUp = page.getByText('The server did not answer for an hour. Check your connection, then try again.')
    await hasGivenUp.waitFor()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('The page reloads by itself once the server answers.').waitFor()
    await page.clock.fastForward('01:01:00')
    await hasGivenUp.waitFor()
    await start()
    await page.getByRole('button', { name: 'Try again' }).click()
    await settled(page, 'Devices')
    expectTrouble(trouble, failedRequests)
  },
)

test.runIf(isFullForm)(
  'an error of a proxy while the server is stopped is shown as a server that cannot be reached',
  async () => {
    const proxyPort = await freePort()
    const proxy = await startNginx(proxyPort, `location / { proxy_pass http://127.0.0.1:${port}; }`)
    onTestFinished(() => proxy.stop())
    const tab = await newTab(browser, `https://127.0.0.1:${proxyPort}`, { ignoreHTTPSErrors: true })
    const { page, trouble } = tab
    await signInWithKey(tab, key, '/rooms')
    await page.getByRole('link', { name: 'Fjord' }).click()
    await settled(page, 'Fjord')
    await openPage(page, 'Rooms')
    await settled(page, 'Rooms')
    await stop()
    await page.getByRole('link', { name: 'Skog' }).click()
    await page.getByRole('alert').getByText('Can’t reach the server').first().waitFor()
    await start()
    await settled(page, 'Skog')
    // The proxy answers requests from before the start until the tab is closed.
    await tab.context.close()
    expectTrouble(trouble, failedRequests)
  },
)

test('unsaved input is not thrown away by an upgrade: the page says so and waits for a click; without input the first page whose code is gone reloads the console into the new build', async () => {
  const { page, trouble, loads } = await openConsole('/rooms', { hasEmptyCache: true })
  await page.getByRole('link', { name: 'Fjord' }).click()
  await settled(page, 'Fjord')
  const note = page.getByRole('textbox', { name: /note/i })
  await note.fill('The HDMI cable is on order.')
  await upgrade()
  await page.keyboard.press('Control+k')
  const panel = page.getByRole('alert').filter({ hasText: 'Roomkeeper was updated' })
  await panel.getByText('This page has input that is not saved.').waitFor()
  expect(await note.inputValue()).toBe('The HDMI cable is on order.')
  expect(loads()).toBe(0)
  await panel.getByRole('button', { name: 'Reload' }).click()
  await until('the console is loaded again', () => loads() === 1)
  await settled(page, 'Fjord')

  const before = await entryScript(page)
  await upgrade(builtConsoleFolder)
  await openPage(page, 'Sites')
  await until('the console is loaded again', () => loads() === 2)
  await settled(page, 'Sites')
  expect(await entryScript(page)).not.toBe(before)
  expectTrouble(trouble, failedRequests)
})

test.runIf(isFullForm)(
  'a reload that does not help is not repeated: the page says so and offers a button',
  async () => {
    const broken = makeOtherBuild()
    const assets = join(broken, 'assets')
    for (const name of readdirSync(assets)) if (name.startsWith('sites-page')) rmSync(join(assets, name))
    const { page, trouble, loads } = await openConsole()
    await settled(page, 'Overview')
    await upgrade(broken)
    rmSync(broken, { recursive: true, force: true })
    await openPage(page, 'Sites')
    const panel = page.getByRole('alert').filter({ hasText: 'A part of the console could not be loaded' })
    await panel.getByText('A reload did not help.').waitFor()
    expect(loads()).toBe(1)
    await panel.getByRole('button', { name: 'Reload' }).click()
    await panel.getByText('A reload did not help.').waitFor()
    expect(loads()).toBe(2)
    await openPage(page, 'Rooms')
    await settled(page, 'Rooms')
    expectTrouble(trouble, failedRequests)
  },
)
