// Tests that the console offers each role what it may do, and says which regions a person sees. [contract 11.user] [contract 11.access]
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Role } from '../../src/contract/people/permissions.ts'
import { axe } from '../support/console/accessibility.ts'
import { closeTabs, openBrowser, settled, visit } from '../support/console/browser.ts'
import { type ConsoleFleet, startConsoleFleet } from '../support/console/console-fleet.ts'
import { personTab } from '../support/console/person-tab.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { newPerson } from '../support/person.ts'

let harness: Harness
let fleet: ConsoleFleet
let browser: Browser
let europe: number
beforeAll(async () => {
  harness = await startHarness()
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

/** The pages with actions that need a permission, and the names of their buttons. */
const pages = (): readonly (readonly [path: string, title: string, actions: readonly string[]])[] => [
  [
    `/rooms/${fleet.rooms.fjord}`,
    'Fjord',
    ['Send message', 'Restart room', 'Silence', 'Add note', 'Show code', 'Edit'],
  ],
  [`/devices/${fleet.bar.id}`, 'BAR00001', ['Restart', 'Change profile', 'Move to room', 'Unenrol']],
  [`/devices/${fleet.bar.id}?tab=logs`, 'BAR00001', ['Collect logs']],
  ['/rooms', 'Rooms', ['New room']],
  ['/sites', 'Sites', ['New location', 'New region']],
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

const expected: readonly [role: Role, allRegions: boolean, offered: readonly string[]][] = [
  ['viewer', true, []],
  ['operator', false, operate],
  ['admin', false, write],
  ['admin', true, everywhere],
  ['owner', true, everywhere],
]
test.each(expected)('the buttons follow the role: %s, all regions: %s', async (role, allRegions, offered) => {
  const person = await newPerson(harness, fleet.org, { role, allRegions, regionIds: allRegions ? [] : [europe] })
  const { page } = await personTab(browser, harness, person)
  await page.goto('/')
  await settled(page, 'Overview')
  const readsAudit = role === 'admin' || role === 'owner'
  expect(await page.getByRole('region', { name: 'Activity today' }).count()).toBe(readsAudit ? 1 : 0)
  expect(await page.getByRole('link', { name: 'Audit', exact: true }).count()).toBe(readsAudit ? 1 : 0)
  expect(await page.getByText('Region: Europe').count()).toBe(allRegions ? 0 : 1)
  expect((await offeredTo(page)).sort()).toEqual([...offered].sort())
})

test.each([
  ['admin', false],
  ['owner', true],
] as const)('settings offer people, keys and sign-in to owners only: %s', async (role, manages) => {
  const person = await newPerson(harness, fleet.org, { role, allRegions: true })
  const { page } = await personTab(browser, harness, person)
  await page.goto('/settings')
  await settled(page, 'Settings')
  await page.getByText(person.email).first().waitFor()
  const count = Number(manages)
  expect(await page.getByRole('button', { name: 'Invite person' }).count()).toBe(count)
  expect(await page.getByRole('button', { name: `Actions for ${person.email}` }).count()).toBe(count)
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
})

test('the audit page says who may read the log to a person who may not', async () => {
  const { page } = await personTab(browser, harness, await newPerson(harness, fleet.org, { role: 'operator' }))
  await page.goto('/audit')
  await page.getByText('You do not have access to the audit log').waitFor()
  await page.getByRole('banner').getByText('No regions').first().waitFor()
  expect(await axe(page)).toEqual([])
})

test('a restricted admin must choose a location for a room and a region for a location', async () => {
  const person = await newPerson(harness, fleet.org, { role: 'admin', regionIds: [europe] })
  const { page } = await personTab(browser, harness, person)
  await page.goto('/rooms')
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
