// Tests the service below a path of a host, behind nginx as docs/path-prefix.md configures it. [contract 9.prefix]
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { devicePaths, type EnrolAnswer } from '../../src/contract/device/protocol.ts'
import { loginLinkCreate } from '../../src/server/people/sessions/rules.ts'
import {
  expectTrouble,
  newTab,
  openTab,
  settled,
  sharedTab,
  signInWithKey,
  startBrowser,
  type Tab,
  visit,
} from '../support/console/browser.ts'
import { newDevice, TestDevice } from '../support/devices/test-device.ts'
import { freePort } from '../support/free-port.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { type Nginx, startNginx } from '../support/nginx.ts'
import { until } from '../support/program.ts'

let harness: Harness
let nginx: Nginx
let browser: Browser
let org: TestOrg
let roomId: number
let profileId: number
let device: TestDevice
let publicUrl: string

beforeAll(async () => {
  const port = await freePort()
  publicUrl = `https://127.0.0.1:${port}/rooms`
  harness = await startHarness({ publicUrl, trustProxy: ['127.0.0.1'] })
  const location = documentedLocation().replace('http://127.0.0.1:8080/', `${harness.url}/`)
  // Browsers ask the host for an icon when a document, such as openapi.json, names none.
  nginx = await startNginx(port, `${location}\nlocation = /favicon.ico { return 204; }`)
  // With the option `ignoreHTTPSErrors` of a context Chromium asks about the certificate for each connection, and gives up after several
  // questions at once: ERR_TOO_MANY_RETRIES.
  browser = await startBrowser(['--ignore-certificate-errors'])
  org = await harness.newOrg()
  roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  await org.call('POST', '/locations', { body: { name: 'Oslo' } })
  profileId = (await org.call('POST', '/profiles', { body: { name: 'Quiet rooms', config: {} } })).body.profile.id
  device = await newDevice(harness, org, { roomId, serial: 'BAR00001' })
})
afterAll(async () => {
  await device?.close()
  await browser?.close()
  await nginx?.stop()
  await harness?.close()
})

function documentedLocation(): string {
  const text = readFileSync(join(import.meta.dirname, '../../docs/path-prefix.md'), 'utf8')
  return /```nginx\n([\s\S]*?)```/.exec(text)?.[1] ?? ''
}

/** A request to any address that is not below the path is reported as trouble. */
const newTabAtPrefix = (): Promise<Tab> => newTab(browser, `${publicUrl}/`)

const signedInTab = sharedTab(async () => {
  const tab = await openTab(browser, `${publicUrl}/`)
  await signInWithKey(tab, org.key, `${publicUrl}/rooms/${roomId}`)
  // After a sign-in the page is shown that was requested.
  await settled(tab.page, 'Fjord')
  return tab
})

const loginLink = async () => `${publicUrl}/sign-in#${(await loginLinkCreate(org.ctx)).secret}`

test('a sign-in link opens the console; its cookie is for the path, and signing out deletes it', async () => {
  const { page, context, trouble } = await newTabAtPrefix()
  await page.goto(await loginLink())
  await settled(page, 'Overview')
  expect(page.url()).toBe(`${publicUrl}/`)
  const [cookie, ...others] = await context.cookies(`${publicUrl}/`)
  expect(others).toEqual([])
  expect(cookie).toMatchObject({
    name: `__Secure-roomkeeper-${new URL(publicUrl).port}`,
    path: '/rooms/',
    secure: true,
    httpOnly: true,
    sameSite: 'Strict',
  })
  await page.getByRole('status', { name: /^Live/ }).waitFor()
  await page.getByRole('button', { name: /account/i }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in to Roomkeeper' }).waitFor()
  expect(await context.cookies()).toEqual([])
  expectTrouble(trouble, /status of 401/)
})

/**
 * The short form opens an address with two names and a query. The sign-in opens a room and `/`, and Sites is
 * reloaded: a load takes a second of CPU, because the browser caches nothing of a server whose certificate it does not know.
 */
const isOfShortForm = (path: string) => path.endsWith('?tab=config')

test('every page can be opened directly and reloaded, and links stay below the path', async () => {
  const { page, trouble } = await signedInTab()
  const pages = {
    '/': 'Overview',
    '/rooms': 'Rooms',
    '/devices': 'Devices',
    [`/devices/${device.id}`]: 'Bar R00001',
    [`/devices/${device.id}?tab=config`]: 'Bar R00001',
    '/profiles': 'Profiles',
    [`/profiles/${profileId}`]: 'Quiet rooms',
    '/audit': 'Audit',
    '/settings': 'Settings',
    '/nowhere/at/all': 'Page not found',
  }
  for (const [path, title] of Object.entries(pages).filter(([path]) => isFullForm || isOfShortForm(path))) {
    await page.goto(`${publicUrl}${path}`)
    await settled(page, title)
  }
  expectTrouble(trouble, /status of 404/)
  const menu = page.getByRole('navigation', { name: 'Pages' })
  await menu.getByRole('link', { name: 'Sites' }).click()
  await settled(page, 'Sites')
  expect(page.url()).toBe(`${publicUrl}/sites`)
  await page.reload()
  await settled(page, 'Sites')
  await page.getByRole('link', { name: 'Oslo', exact: true }).click()
  await settled(page, 'Oslo')
  expect(page.url()).toMatch(`${publicUrl}/sites/locations/`)
  await menu.getByRole('link', { name: 'Devices' }).click()
  await page.getByRole('link', { name: 'Bar R00001' }).first().click()
  await settled(page, 'Bar R00001')
  expect(page.url()).toBe(`${publicUrl}/devices/${device.id}`)
  await page.goBack()
  await settled(page, 'Devices')
})

test('changes arrive through the proxy as events', async () => {
  const { page } = await signedInTab()
  await visit(page, `${publicUrl}/rooms`)
  await page.getByRole('status', { name: /^Live/ }).waitFor()
  const name = 'Renamed while somebody looks'
  await org.call('PUT', `/rooms/${roomId}`, { body: { name } })
  await page.getByRole('link', { name }).waitFor()
  await org.call('PUT', `/rooms/${roomId}`, { body: { name: 'Fjord' } })
})

test('the API reference and the enrolment page name the public address', async () => {
  const { page } = await newTabAtPrefix()
  await page.goto(`${publicUrl}/docs`)
  await until('the address is shown', async () => (await page.locator('#origin').textContent()) === publicUrl)
  // The document is not opened as a page: the browser would take seconds to draw it.
  const document = await page.getByRole('link', { name: 'OpenAPI document' }).evaluate((link) => link.href)
  expect(document).toBe(`${publicUrl}/openapi.json`)
  const { page: console } = await signedInTab()
  expect(await console.evaluate(`fetch('${document}').then(({ status }) => status)`)).toBe(200)
  const { url } = (await org.call('GET', `/rooms/${roomId}/enrolment`)).body
  expect(url.startsWith(`${publicUrl}/enrol#`)).toBe(true)
  await page.goto(url)
  expect(await page.locator('#server').textContent()).toBe(publicUrl)
})

test('a device enrols and connects over WebSocket below the path', async () => {
  const { dec } = (await org.call('GET', `/rooms/${roomId}`)).body
  const enrolled = await harness.call('POST', devicePaths.enrol, {
    body: { code: dec, serial: 'BAR00002', model: 'NF19B1' },
  })
  const answer = enrolled.body as EnrolAnswer
  const address = `${publicUrl.replace('https', 'wss')}${devicePaths.mqtt}`
  expect(answer.connect).toContain(address)
  const other = new TestDevice(harness.mqttPort, 'BAR00002', 'NF19B1', answer)
  await other.connect({ url: address, ca: readFileSync(nginx.cert) })
  await other.publish('status', { firmwareVersion: '7' })
  await other.close()
})

test('the link to the successor of the legacy base contains the path', async () => {
  const { headers } = await harness.call('GET', `/api/v1/orgs/${org.id}/regions`, { key: org.key })
  expect(headers.get('link')).toBe(`</rooms/v1/orgs/${org.id}/regions>; rel="successor-version"`)
})

test.runIf(isFullForm)('the console also works at the address of the server itself', async () => {
  const tab = await newTab(browser, harness.url)
  await signInWithKey(tab, org.key, `/rooms/${roomId}`)
  await settled(tab.page, 'Fjord')
  const [cookie] = await tab.context.cookies()
  expect(cookie).toMatchObject({ name: `roomkeeper-${new URL(harness.url).port}`, path: '/' })
})
