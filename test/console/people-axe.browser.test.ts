// Tests that the pages and dialogs of people are accessible in light and dark, and fit on a phone. They share their layouts with those in
// pages.browser.test.ts and incidents-axe.browser.test.ts, so `npm test` has those only.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checksDarkDialog, findViolations, phone } from '../support/console/accessibility.ts'
import {
  changeSession,
  closeTabs,
  expectTrouble,
  openBrowser,
  openTab,
  settled,
  sharedTab,
  visit,
} from '../support/console/browser.ts'
import { type PeopleService, startPeopleService } from '../support/console/people-service.ts'
import { sessionStateOf } from '../support/console/person-tab.ts'
import { isFullForm, isLongForm } from '../support/long-form.ts'
import { newPerson, newWayToSignIn, type TestPerson } from '../support/person.ts'

let service: PeopleService
let browser: Browser
let owner: TestPerson
let viewer: TestPerson
let disabled: TestPerson
beforeAll(async () => {
  service = await startPeopleService()
  owner = await newPerson(service.harness, service.org, { role: 'owner', allRegions: true })
  viewer = await newPerson(service.harness, service.org, { role: 'viewer', regionIds: [service.regions.europe] })
  disabled = await newPerson(service.harness, service.org, { role: 'viewer' })
  await service.org.call('PUT', `/users/${disabled.id}`, { body: { state: 'DISABLED' } })
  for (const { id } of [owner, viewer]) await newWayToSignIn(service.harness, service.org, id, 'passkey')
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await service.harness.close()
})

const shared = sharedTab(() => openTab(browser, service.url, { viewport: phone }))
async function pageOf(person: TestPerson): Promise<Page> {
  const tab = await shared()
  await changeSession(tab, sessionStateOf(service, person))
  return tab.page
}

test.runIf(isFullForm)('the sign-in page is accessible and fits on a phone', async () => {
  const { page, trouble } = await shared()
  await page.goto('/')
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
  expect(await findViolations(page)).toEqual([])
  expectTrouble(trouble, /status of 401/)
})

/** In the short form pages.browser.test.ts looks at the sign-in page and at these. */
test.runIf(isFullForm).each(['owner', 'viewer'] as const)(
  'settings and profile are accessible and fit on a phone: %s',
  async (role) => {
    const page = await pageOf(role === 'owner' ? owner : viewer)
    const found: Record<string, string[]> = {}
    const pages = [
      ['/settings', 'Settings'],
      ['/account', 'My profile'],
      ...(role === 'owner' ? [['/settings?tab=keys', 'Settings'] as const] : []),
    ] as const
    for (const [path, title] of pages) {
      await visit(page, path)
      await settled(page, title)
      found[path] = await findViolations(page, isLongForm)
    }
    expect(found).toEqual(Object.fromEntries(pages.map(([path]) => [path, []])))
  },
)

test.runIf(isFullForm)('the dialogs of settings and profile are accessible and fit on a phone', async () => {
  const page = await pageOf(owner)
  const found: Record<string, string[]> = {}
  const lookAt = async (name: string) => {
    await page.getByRole('dialog').waitFor()
    await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' })
    const checksDark = checksDarkDialog(Object.keys(found).length)
    found[name] = await findViolations(page, checksDark)
  }
  const close = async () => {
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await visit(page, '/settings')
  await page.getByRole('button', { name: 'Invite person' }).click()
  await lookAt('invite')
  await close()
  const actions: readonly (readonly [action: string, person: TestPerson])[] = [
    ['Create sign-in link', viewer],
    ['Delete', viewer],
  ]
  // These are forms like that of an invitation, and confirmations like that of Delete.
  const similar: typeof actions = [
    ['Edit role and regions', viewer],
    ['Sign out everywhere', viewer],
    ['Remove ways to sign in', viewer],
    ['Disable', viewer],
    ['Enable', disabled],
  ]
  for (const [action, person] of [...actions, ...similar]) {
    await page.getByRole('button', { name: `Actions for ${person.email}` }).click()
    await page.getByRole('menuitem', { name: action, exact: true }).click()
    await lookAt(action)
    if (action === 'Create sign-in link') {
      await page.getByRole('button', { name: 'Create link' }).click()
      await page.getByLabel('Sign-in link').waitFor()
      await lookAt('link')
    }
    await close()
  }
  await visit(page, '/settings?tab=keys')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('All regions').uncheck()
  await lookAt('new key')
  await close()
  await page
    .getByRole('button', { name: /^Revoke / })
    .first()
    .click()
  await lookAt('revoke key')
  await close()
  // The forms of the profile are like those of a key.
  await visit(page, '/account')
  for (const name of ['Add passkey', 'New personal key', /^Remove passkey/, /^Revoke /]) {
    await page.getByRole('button', { name }).first().click()
    await lookAt(String(name))
    await close()
  }
  expect(Object.keys(found).length).toBe(15)
  expect(Object.entries(found).filter(([, violations]) => violations.length > 0)).toEqual([])
})
