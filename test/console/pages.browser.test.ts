// Tests every page of the console: accessible in light and dark, fitting on a tablet and a phone, and offering only allowed actions.
import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loginLinkCreate } from '../../src/server/people/sessions/rules.ts'
import { axe, expectAccessible, findOverflow, findViolations, phone } from '../support/console/accessibility.ts'
import {
  changeSession,
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
import { own } from '../support/console/console-session.ts'
import { newDevice, type TestDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { newIncident } from '../support/incidents.ts'
import { weekdayIn } from '../support/jobs.ts'
import { isFullForm, isLongForm } from '../support/long-form.ts'

let harness: Harness
let fleet: ConsoleFleet
let browser: Browser
let incidentId: string
let jobId: string
let recurringJobId: string
let projector: TestDevice
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  fleet = await startConsoleFleet(harness, { hasDayOfSamples: true })
  projector = await newDevice(harness, fleet.org, { roomId: fleet.rooms.fjord, serial: 'XPJ000042', model: 'PX-900' })
  await projector.publish('status', richStatus)
  const display = await newDevice(harness, fleet.org, { roomId: fleet.rooms.fjord, model: 'D-55' })
  await display.publish('status', { kind: 'DISPLAY', sleeps: true, power: 'STANDBY' })
  await display.close()
  incidentId = await newIncident(harness, fleet.org, { endpoints: [fleet.bar.id] })
  const target = { roomIds: [fleet.rooms.fjord, fleet.rooms.skog] }
  const action = { type: 'CONFIG', config: { nightMode: true } }
  jobId = (await fleet.org.call('POST', '/jobs', { body: { name: 'Night mode', target, action } })).body.id
  const schedule = { days: [weekdayIn(harness, 3)], at: '03:00' }
  const recurring = { name: 'Restart at night', target, action: { type: 'REBOOT' }, schedule }
  recurringJobId = (await fleet.org.call('POST', '/recurring_jobs', { body: recurring })).body.id
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await projector.close()
  await fleet.stop()
  await harness.close()
})

/** The status of a device of another maker, with long words. */
const richStatus = {
  ...{ name: 'Projector at the window', kind: 'PROJECTOR', manufacturer: 'Example Optics', firmwareVersion: '4.1.7' },
  ...{ power: 'ON', activeInput: 'HDMI 1', inputs: ['HDMI 1', 'USB-C'], inputResolution: '', volume: 40, muted: true },
  readings: [{ name: 'lampHours', value: 19_834, unit: 'h' }],
  facts: [{ name: 'lensType', text: 'Short throw' }],
  faults: [
    { code: 'lamp.end', level: 'CRITICAL', text: 'Replace the lamp.' },
    { code: 'filter.dirty', level: 'WARNING', text: 'Clean the air filter.' },
    { code: 'power.'.padEnd(60, 'x'), level: 'INFO', text: 'a'.repeat(200) },
  ],
  peripherals: [
    { id: '1', name: 'w'.repeat(100), kind: 'CAMERA', version: '1.2', serial: 'S'.repeat(64), connected: true },
    { id: '2', name: 'Screen trigger', kind: 'USB', connected: false },
  ],
  networks: [{ type: 'NETWORK_TYPE_WIFI', display: 'wlan0', linkUp: true, dnsServers: ['10.1.0.53'], signalDbm: -71 }],
}

/** Maps every address of the router to the title of its page. */
const pages = (): Record<string, string> => ({
  '/': 'Overview',
  '/incidents': 'Incidents',
  '/incidents?tab=silences': 'Incidents',
  [`/incidents/${incidentId}`]: 'Bar in Fjord (Oslo)',
  '/rooms': 'Rooms',
  [`/rooms/${fleet.rooms.fjord}`]: 'Fjord',
  [`/rooms/${fleet.rooms.tomt}`]: 'Tomt',
  '/devices': 'Devices',
  [`/devices/${fleet.bar.id}`]: 'Bar R00001',
  [`/devices/${projector.id}`]: 'Projector at the window',
  [`/devices/${fleet.bar.id}?tab=config`]: 'Bar R00001',
  [`/devices/${fleet.bar.id}?tab=versions`]: 'Bar R00001',
  [`/devices/${fleet.bar.id}?tab=operations`]: 'Bar R00001',
  [`/devices/${fleet.bar.id}?tab=logs`]: 'Bar R00001',
  '/sites': 'Sites',
  '/sites/import': 'Import rooms',
  [`/sites/locations/${fleet.sites.oslo}`]: 'Oslo',
  [`/sites/regions/${fleet.sites.europe}`]: 'Europe',
  '/profiles': 'Profiles',
  [`/profiles/${fleet.profileId}`]: 'Quiet rooms',
  '/jobs': 'Jobs',
  '/jobs?tab=recurring': 'Jobs',
  '/jobs/new': 'New job',
  [`/jobs/${jobId}`]: 'Night mode',
  [`/jobs/recurring/${recurringJobId}`]: 'Restart at night',
  [`/jobs/recurring/${recurringJobId}/edit`]: 'Edit Restart at night',
  [`/profiles/${fleet.profileId}?tab=reach`]: 'Quiet rooms',
  [`/profiles/${fleet.profileId}?tab=versions`]: 'Quiet rooms',
  '/insights': 'Insights',
  '/audit': 'Audit',
  '/settings': 'Settings',
  '/settings?tab=keys': 'Settings',
  '/settings?tab=identity': 'Settings',
  '/settings?tab=notifications': 'Settings',
  '/settings?tab=rules': 'Settings',
  '/settings?tab=gateways': 'Settings',
  '/settings?tab=organisation': 'Settings',
  '/settings?tab=about': 'Settings',
  '/account': 'My profile',
  '/wall': 'Nordlys AS',
  '/nowhere/at/all': 'Page not found',
})

const isTab = (path: string) => path.includes('?tab=')

/**
 * The short form leaves out what looks like another: the settings of a device look like the settings of a profile, and the room without
 * devices is the other room without some of its parts.
 */
const isInForm = ([path]: readonly [path: string, title: string]) =>
  isFullForm || !(/tab=(config|versions|operations|about)$/.test(path) || path === `/rooms/${fleet.rooms.tomt}`)

/** Pages share their colours, so the short form checks the contrast of a few, and only `npm run test:long` the contrast of tabs in dark. */
const isDarkChecked = (path: string) => isLongForm || (isFullForm ? !isTab(path) : ['/', '/wall'].includes(path))

/**
 * Axe takes up to a second of CPU. The short form runs it on one page of each layout: a list, pages of one thing, forms and the wall.
 * All other pages must only fit on a phone; their parts, such as tables, are those of the chosen pages.
 */
const isAxeChecked = (path: string) =>
  isFullForm ||
  ['sign in', '/', '/devices', '/jobs/new', '/settings?tab=notifications', '/wall'].includes(path) ||
  [`/incidents/${incidentId}`, `/rooms/${fleet.rooms.fjord}`, `/sites/locations/${fleet.sites.oslo}`].includes(path)

const shared = sharedTab(() => openTab(browser, harness.url))

test('every route of the console is tested here', () => {
  const router = readFileSync(new URL('../../src/console/router.tsx', import.meta.url), 'utf8')
  const routes = [...router.matchAll(/^ {2}path: '([^']+)'/gm)].map(([, path]) => path as string)
  const paths = Object.keys(pages()).map((path) => path.split('?')[0] as string)
  const forgotten = routes.filter(
    (route) => !paths.some((path) => new RegExp(`^${route.replace(/\$\w+/, '[^/]+')}$`).test(path)),
  )
  expect(routes.length).toBeGreaterThan(8)
  expect(forgotten).toEqual([])
})

test('a key without Read is told so at the sign-in; pages pass axe, and none is wider than a tablet or a phone', async () => {
  const tablet = { width: 768, height: 1024 }
  const { page, trouble } = await shared()
  const found: Record<string, string[]> = {}
  const look = async (path: string) => {
    // The short form looks at the overview and at one list on both, because they have tables on a tablet, and at the others on a phone.
    const isNarrow = !isFullForm && !['/', '/devices'].includes(path)
    await page.setViewportSize(isNarrow ? phone : tablet)
    const violations = isAxeChecked(path) ? await findViolations(page, isDarkChecked(path)) : []
    if (!isNarrow) await page.setViewportSize(phone)
    violations.push(...(await findOverflow(page)).map((width) => `on a phone: ${width}`))
    if (violations.length > 0) found[path] = violations
  }
  await page.goto('/')
  await page.getByLabel('API key').waitFor()
  await look('sign in')
  await page.getByLabel('API key').fill(await fleet.org.newKey({ scopes: ['write'] }))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText(/lacks the scope read/).waitFor()
  await page.getByLabel('API key').fill(fleet.org.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await settled(page, 'Overview')
  expectTrouble(trouble, /status of 40[13]/)
  // Tabs are first, because the last page is loaded anew.
  for (const [path, title] of Object.entries(pages())
    .filter(isInForm)
    .toSorted(([a], [b]) => Number(isTab(b)) - Number(isTab(a)))) {
    // The server is asked for the unknown address only.
    await (path === '/nowhere/at/all' ? page.goto(path) : visit(page, path))
    await settled(page, title)
    await look(path)
    // By now this tab has the style sheets of all pages; the next path is loaded anew.
    if (path === '/wall') expect(await axe(page, 'orientation')).toEqual([])
  }
  expect(found).toEqual({})
  // The unknown address answers 404.
  expectTrouble(trouble, /status of 404/)
})

test('a key that only reads sees every page and no action that writes', async () => {
  const key = await fleet.org.newKey({ scopes: ['read'] })
  const tab = await shared()
  const { page } = tab
  await changeSession(tab, await signInByApi(harness.url, key))
  await page.setViewportSize({ width: 1366, height: 900 })
  const offered: string[] = []
  const writes =
    /\b(new|add|create|save|apply|rename|edit|delete|remove|move|restart|unenrol|send|restore|revoke|assign|collect|cancel|message|change(?! window)|start|pause|resume|undo|retry)\b/i
  for (const [path, title] of Object.entries(pages())) {
    // The short form has the pages with the most actions: one room, one device and the like, sites, and keys.
    const isChosen =
      isFullForm ||
      (/^\/\w+\/(?!new)[^?]+$|^\/sites|^\/jobs$|tab=keys/.test(path) && !['Tomt', 'Bar R00001'].includes(title))
    if (!isChosen || path === '/nowhere/at/all') continue
    await visit(page, path)
    await settled(page, title)
    const names = await page.evaluate<string[]>(
      `[...document.querySelectorAll('main button, main input[type=submit], main a[href$="/new"]')].map((b) => b.ariaLabel || b.innerText)`,
    )
    offered.push(...names.filter((name) => writes.test(name)).map((name) => `${path}: ${name}`))
  }
  expect(offered).toEqual([])
})

test('an empty fleet offers three ways: a device, a gateway, and the demo', async () => {
  const org = await harness.newOrg()
  const tab = await shared()
  const { page } = tab
  await changeSession(tab, await signInByApi(harness.url, org.key))
  await visit(page, '/')
  await page.getByText(`simulate --org ${org.id}`).waitFor()
  await page.getByText(/enrol/i).first().waitFor()
  await page.getByRole('heading', { level: 2, name: /the demo$/ }).waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Set up a gateway' }).click()
  await page.getByRole('region', { name: 'Start a gateway' }).getByText('docker run').waitFor()
  await visit(page, '/rooms')
  await page
    .getByText(/no rooms/i)
    .first()
    .waitFor()
})

test('the sign-in link works once, and leaves no secret in the address [contract 9.link]', async () => {
  const { secret } = await loginLinkCreate(fleet.org.ctx)
  const tab = await shared()
  const { page, context } = tab
  await page.goto('/livez')
  await context.clearCookies()
  await page.goto(`/sign-in#${secret}`)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  expect(page.url()).toBe(`${harness.url}/`)
  const stored = await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage, document.cookie])')
  expect(stored).not.toMatch(/rk[sl]?_/)
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByLabel('API key').waitFor()
  expectTrouble(tab.trouble, /status of 401/)
  if (!isFullForm) {
    const again = { headers: own, body: { link: secret } }
    expect((await harness.call('POST', '/console/session', again)).status).toBe(401)
    return
  }
  await page.goto('about:blank')
  await page.goto(`/sign-in#${secret}`)
  await page
    .getByText(/login-link/)
    .first()
    .waitFor()
  // The page always names the command, so the alert may come later. There is only one.
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('alert').count()).toBe(1)
  expectTrouble(tab.trouble, /status of 401/)
})
