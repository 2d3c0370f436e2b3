// Tests that the console offers each role what it may do, and says which regions a person sees. [contract 11.user] [contract 11.access]
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Role } from '../../src/contract/people/permissions.ts'
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
import { sessionStateOf } from '../support/console/person-tab.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { newPerson, type TestPerson } from '../support/person.ts'

let harness: Harness
let fleet: ConsoleFleet
let browser: Browser
let europe: number
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  fleet = await startConsoleFleet(harness)
  browser = await openBrowser()
  const { body } = await fleet.org.call('GET', '/regions')
  europe = body.regions[0].id
})
afterAll(async () => {
  await closeTabs(browser)
  await fleet.stop()
  await harness.close()
})

/** The pages with actions that need a permission, and the names of their buttons; the short form has one page of each permission. */
const pages = (): readonly (readonly [path: string, title: string, actions: readonly string[]])[] =>
  isFullForm ? allPages() : allPages().slice(0, 3)
const allPages = (): ReturnType<typeof pages> => [
  [
    `/rooms/${fleet.rooms.fjord}`,
    'Fjord',
    ['Send message', 'Restart room', 'Silence', 'Add note', 'Show code', 'Edit'],
  ],
  [`/devices/${fleet.bar.id}`, 'Bar R00001', ['Restart', 'Change profile', 'Move to room', 'Unenrol']],
  ['/sites', 'Sites', ['New location', 'New region']],
  [`/devices/${fleet.bar.id}?tab=logs`, 'Bar R00001', ['Collect logs']],
  ['/rooms', 'Rooms', ['New room']],
  ['/profiles', 'Profiles', ['New profile']],
]
const operate = ['Send message', 'Restart room', 'Silence', 'Add note', 'Show code', 'Restart', 'Collect logs']
const write = [...operate, 'Edit', 'Change profile', 'Move to room', 'Unenrol', 'New room', 'New location']
const everywhere = [...write, 'New region', 'New profile']

async function offeredTo(page: Page): Promise<string[]> {
  const offered: string[] = []
  for (const [path, title, actions] of pages()) {
    await visit(page, path)
    await settled(page, title)
    for (const name of actions) {
      const role = name === 'New profile' ? 'link' : 'button'
      if ((await page.getByRole('main').getByRole(role, { name, exact: true }).count()) > 0) offered.push(name)
    }
  }
  return offered
}

/** All tests use one tab, with the session of a person who is like that. A test of the same person as the one before keeps the session. */
const shared = sharedTab(() => {
  ofTab = undefined
  return openTab(browser, harness.url)
})
type Wanted = Parameters<typeof newPerson>[2]
let ofTab: { readonly wanted: string; readonly person: TestPerson } | undefined
async function pageOf(wanted: Wanted): Promise<{ page: Page; person: TestPerson }> {
  const tab = await shared()
  if (ofTab?.wanted !== JSON.stringify(wanted)) {
    const person = await newPerson(harness, fleet.org, wanted)
    await changeSession(tab, sessionStateOf(harness, person))
    ofTab = { wanted: JSON.stringify(wanted), person }
  }
  return { page: tab.page, person: ofTab.person }
}

type Expected = readonly [role: Role, allRegions: boolean, offered: readonly string[]]
const expected: readonly Expected[] = [
  ['operator', false, operate],
  ['admin', false, write],
]
/**
 * In the short form a key that only reads, in pages.browser.test.ts, has what a viewer has, and owners use what only they are offered in
 * people.browser.test.ts and identity.browser.test.ts.
 */
const moreExpected: readonly Expected[] = [
  ['owner', true, everywhere],
  ['viewer', true, []],
  ['admin', true, everywhere],
]
const roles = isFullForm ? [...moreExpected, ...expected] : expected
test.each(roles)('the buttons follow the role: %s, all regions: %s', async (role, allRegions, offered) => {
  const { page, person } = await pageOf({ role, allRegions, regionIds: allRegions ? [] : [europe] })
  await visit(page, '/')
  await settled(page, 'Overview')
  const readsAudit = role === 'admin' || role === 'owner'
  expect(await page.getByRole('region', { name: 'Activity today' }).count()).toBe(readsAudit ? 1 : 0)
  expect(await page.getByRole('link', { name: 'Audit', exact: true }).count()).toBe(readsAudit ? 1 : 0)
  expect(await page.getByText('Region: Europe').count()).toBe(allRegions ? 0 : 1)
  const shown = pages().flatMap(([, , actions]) => actions)
  expect((await offeredTo(page)).sort()).toEqual(offered.filter((name) => shown.includes(name)).sort())
  if (readsAudit) await expectSettings(page, role, person.email)
})

/** Settings offer people, keys and sign-in to owners only. */
async function expectSettings(page: Page, role: Role, email: string): Promise<void> {
  const manages = role === 'owner'
  await visit(page, '/settings')
  await settled(page, 'Settings')
  await page.getByText(email).first().waitFor()
  const count = Number(manages)
  expect(await page.getByRole('button', { name: 'Invite person' }).count()).toBe(count)
  expect(await page.getByRole('button', { name: `Actions for ${email}` }).count()).toBe(count)
  expect(await page.getByRole('tab', { name: 'Sign-in' }).count()).toBe(count)
  for (const [tab, ofOwners, ofOthers] of [
    ['identity', 'Register Roomkeeper as a web application', 'You need Manage access to open Sign-in'],
    ['keys', 'New key', 'Owners manage API keys.'],
  ] as const) {
    await visit(page, `/settings?tab=${tab}`)
    await page
      .getByText(manages ? ofOwners : ofOthers)
      .first()
      .waitFor()
    expect(await page.getByText(manages ? ofOthers : ofOwners).count()).toBe(0)
  }
}

test('a restricted admin must choose a location for a room and a region for a location', async () => {
  const { page } = await pageOf({ role: 'admin', allRegions: false, regionIds: [europe] })
  await visit(page, '/rooms')
  await page.getByRole('button', { name: 'New room' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Nordlys')
  expect(await dialog.getByRole('button', { name: 'Create room' }).isDisabled()).toBe(true)
  await dialog.getByRole('combobox', { name: 'Location' }).click()
  await page.getByRole('option', { name: 'Oslo (Europe)' }).click()
  expect(await dialog.getByRole('button', { name: 'Create room' }).isDisabled()).toBe(false)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await visit(page, '/sites')
  await page.getByRole('button', { name: 'New location', exact: true }).click()
  await dialog.getByRole('combobox', { name: 'Region' }).click()
  await page.getByRole('option', { name: 'Europe' }).waitFor()
  expect(await page.getByRole('option', { name: 'No region' }).count()).toBe(0)
})

test('the audit page says who may read the log to a person who may not', async () => {
  const { page } = await pageOf({ role: 'operator' })
  await visit(page, '/audit')
  await page.getByText('You do not have access to the audit log').waitFor()
  await page.getByRole('banner').getByText('No regions').first().waitFor()
  await expectAccessible(page)
})
