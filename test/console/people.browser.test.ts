// Tests how people sign in to the console and are managed there, in a real browser with a virtual authenticator. [contract 11.local]
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { firstOwnerLinkCreate } from '../../src/server/people/sessions/user-links.ts'
import { expectAccessible } from '../support/console/accessibility.ts'
import {
  closeTabs,
  expectTrouble,
  newTab,
  openBrowser,
  openTab,
  settled,
  sharedTab,
  visit,
} from '../support/console/browser.ts'
import {
  addAuthenticator,
  type PeopleService,
  startPeopleService,
  tabWithAuthenticator,
} from '../support/console/people-service.ts'
import { personTab, sessionStateOf } from '../support/console/person-tab.ts'
import { inviteAgain } from '../support/console/user-session.ts'
import { isFullForm } from '../support/long-form.ts'
import { newPerson, newWayToSignIn, type TestPerson } from '../support/person.ts'

let service: PeopleService
let browser: Browser
beforeAll(async () => {
  service = await startPeopleService()
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await service.harness.close()
})

const dialogOf = (page: Page) => page.getByRole('dialog')
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** In the short form the tab of the first owner. */
const ownerTab = sharedTab(async () => {
  if (!isFullForm) return openTab(browser, service.url)
  const owner = await newPerson(service.harness, service.org, { role: 'owner', allRegions: true })
  return openTab(browser, service.url, sessionStateOf(service, owner))
})

let viewerOfTab: TestPerson | undefined
const viewerTab = sharedTab(async () => openTab(browser, service.url, sessionStateOf(service, await newViewer())))
async function newViewer(): Promise<TestPerson> {
  viewerOfTab = await newPerson(service.harness, service.org, { role: 'viewer', allRegions: true })
  return viewerOfTab
}

async function chooseAction(page: Page, email: string, action: string): Promise<void> {
  await button(page, `Actions for ${email}`).click()
  await page.getByRole('menuitem', { name: action }).click()
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in to Roomkeeper' }).waitFor()
}

test('the first owner comes in by link, adds a passkey, and signs in with it', async () => {
  const { secret } = await firstOwnerLinkCreate(service.org.ctx)
  const { page, trouble } = isFullForm ? await tabWithAuthenticator(browser, service.url) : await ownerTab()
  if (!isFullForm) await addAuthenticator(page)
  await page.goto(`/sign-in#${secret}`)
  await page.getByRole('heading', { name: 'Set up Roomkeeper' }).waitFor()
  expect(page.url()).not.toContain(secret)
  await expectAccessible(page)
  await page.getByLabel('Your e-mail address').fill('ada')
  await button(page, 'Create owner').click()
  await page.getByText('Enter an e-mail address, such as ada@example.org.').waitFor()
  await expectAccessible(page)
  await page.getByLabel('Your e-mail address').fill('ada@example.org')
  await button(page, 'Create owner').click()
  await page.getByText('You are signed in as ada@example.org').waitFor()
  await button(page, 'Add passkey').waitFor()
  await expectAccessible(page)
  await button(page, 'Add passkey').click()
  await settled(page, 'Overview')
  const { users } = (await service.org.call('GET', '/users')).body
  expect(users).toMatchObject([{ email: 'ada@example.org', role: 'owner', state: 'ACTIVE', signsInWith: ['passkey'] }])

  await visit(page, '/account')
  await settled(page, 'My profile')
  expect(await page.getByRole('table', { name: 'Passkeys' }).getByRole('row').count()).toBe(2)
  await button(page, 'Change name').click()
  await dialogOf(page).getByLabel('Name').fill('Ada Lovelace')
  await expectAccessible(page)
  await dialogOf(page).getByRole('button', { name: 'Change name' }).click()
  await button(page, 'Account: Ada Lovelace').waitFor()
  await button(page, 'Sign out: this session').click()
  await page.getByRole('heading', { name: 'Sign in to Roomkeeper' }).waitFor()
  await button(page, 'Sign in with a passkey').waitFor()
  expect(await page.getByText('company account').count(), 'no provider is set up').toBe(0)
  await button(page, 'Sign in with a passkey').click()
  await settled(page, 'My profile')
  await page.getByRole('table', { name: 'Sessions' }).getByText('Passkey').waitFor()
  // Before the sign-in there is no session, and the link without an address is refused.
  expectTrouble(trouble, /status of 40[01]/)
  if (!isFullForm) return
  await page.getByRole('button', { name: /^Remove passkey/ }).click()
  await dialogOf(page).getByRole('button', { name: 'Remove passkey' }).click()
  await dialogOf(page).getByText('the last passkey with which an owner can sign in').waitFor()
  expectTrouble(trouble, /status of 40[01]/)
})

test('an owner invites an operator, whose link works once and who sees their region only', async () => {
  const { page } = await ownerTab()
  await visit(page, '/settings')
  await button(page, 'Invite person').click()
  const dialog = dialogOf(page)
  await dialog.getByLabel('E-mail address').fill('grace@example.org')
  await dialog.getByLabel('Name').fill('Grace')
  await dialog.getByRole('combobox', { name: 'Regions' }).click()
  await page.getByRole('option', { name: 'Europe' }).click()
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'Create sign-in link' }).click()
  const link = await dialog.getByLabel('Sign-in link').inputValue()
  expect(link).toMatch(`${service.url}/sign-in#rki_`)
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('row', { name: /Grace/ }).getByText('Invited').waitFor()

  const guest = await newTab(browser, service.url)
  await guest.page.goto(link)
  await guest.page.getByRole('heading', { name: 'Welcome, Grace' }).waitFor()
  await button(guest.page, 'Not now').click()
  await settled(guest.page, 'Overview')
  await guest.page.getByText('Region: Europe').waitFor()
  await visit(guest.page, '/rooms')
  await guest.page.getByRole('link', { name: 'Fjord' }).waitFor()
  for (const hidden of ['Sakura', 'Tomt']) expect(await guest.page.getByText(hidden).count()).toBe(0)
  await page.getByRole('row', { name: /Grace/ }).getByText('Active').waitFor()
  expectTrouble(guest.trouble, /status of 401/)
  // That a link works once is proved over HTTP too.
  if (!isFullForm) return

  await signOut(guest.page)
  await guest.page.goto('about:blank')
  await guest.page.goto(link)
  await guest.page.getByText('This link did not work').waitFor()
  expectTrouble(guest.trouble, /status of 401/)
})

test.runIf(isFullForm)('a restricted admin sees and counts only their region on every page', async () => {
  const { europe } = service.regions
  const admin = await newPerson(service.harness, service.org, { role: 'admin', regionIds: [europe] })
  const { page } = await personTab(browser, service, admin)
  await page.goto('/')
  await settled(page, 'Overview')
  await page.getByText('1 room', { exact: true }).first().waitFor()
  for (const [path, title, shown] of [
    ['/rooms', 'Rooms', 'Fjord'],
    ['/sites', 'Sites', 'Oslo'],
    ['/settings', 'Settings', admin.email],
  ] as const) {
    await visit(page, path)
    await settled(page, title)
    await page.getByText(shown).first().waitFor()
    for (const hidden of ['Sakura', 'Tokyo', 'Asia', 'Tomt']) {
      expect(await page.getByText(hidden).count(), `${path} shows ${hidden}`).toBe(0)
    }
  }
})

test.runIf(isFullForm)('an owner signs a person out everywhere, and then disables them', async () => {
  const viewer = await newPerson(service.harness, service.org, { role: 'viewer', allRegions: true })
  const { page } = await ownerTab()
  const other = await personTab(browser, service, viewer)
  await other.page.goto('/rooms')
  await settled(other.page, 'Rooms')
  await visit(page, '/settings')
  await chooseAction(page, viewer.email, 'Sign out everywhere')
  await dialogOf(page).getByRole('table', { name: 'Sessions' }).getByText('Link').waitFor()
  await dialogOf(page).getByRole('button', { name: 'Sign out everywhere' }).click()
  await other.page.getByText('You have been signed out').waitFor()
  await dialogOf(page).waitFor({ state: 'detached' })
  await chooseAction(page, viewer.email, 'Disable')
  await dialogOf(page).getByRole('button', { name: 'Disable' }).click()
  await page
    .getByRole('row', { name: new RegExp(viewer.email) })
    .getByText('Disabled')
    .waitFor()
  const call = await service.org.call('GET', '/rooms', { key: viewer.key })
  expect(call.status).toBe(401)
  expectTrouble(other.trouble, /status of 401/)
})

test('an owner changes role and regions of a person, disables, enables and deletes them', async () => {
  const { harness, org, regions } = service
  const viewer = await newPerson(harness, org, { role: 'viewer', regionIds: [regions.europe] })
  const { page } = await ownerTab()
  const user = async () => (await org.call('GET', `/users/${viewer.id}`)).body
  await visit(page, '/settings')
  const row = page.getByRole('row', { name: new RegExp(viewer.email) })
  await row.getByText('Viewer', { exact: true }).waitFor()
  await chooseAction(page, viewer.email, 'Edit role and regions')
  await dialogOf(page).getByRole('combobox', { name: 'Role' }).click()
  await page.getByRole('option', { name: 'Operator' }).click()
  await dialogOf(page).getByRole('combobox', { name: 'Regions' }).click()
  await page.getByRole('option', { name: 'Asia' }).click()
  await page.keyboard.press('Escape')
  await button(page, 'Save').click()
  await row.getByText('Operator', { exact: true }).waitFor()
  expect(await user()).toMatchObject({ role: 'operator', allRegions: false })
  expect((await user()).regionIds).toHaveLength(2)
  const states = [
    ['Disable', 'Disabled', 'DISABLED'],
    ['Enable', 'Active', 'ACTIVE'],
  ] as const
  for (const [action, shown, state] of states) {
    await chooseAction(page, viewer.email, action)
    await dialogOf(page).getByRole('button', { name: action }).click()
    await row.getByText(shown).waitFor()
    expect((await user()).state).toBe(state)
  }
  await chooseAction(page, viewer.email, 'Delete')
  await dialogOf(page).getByRole('button', { name: 'Delete person' }).click()
  await row.waitFor({ state: 'detached' })
  expect((await org.call('GET', `/users/${viewer.id}`)).status).toBe(404)
})

// In `npm test` `keys.http` has keys of regions, and the test of an invitation the choice of regions.
test.runIf(isFullForm)('an owner creates a key that is limited to a region', async () => {
  const { page } = await ownerTab()
  await visit(page, '/settings?tab=keys')
  await button(page, 'New key').click()
  const dialog = dialogOf(page)
  await dialog.getByLabel('Key name').fill('Signage')
  await dialog.getByLabel('All regions').uncheck()
  expect(await dialog.getByRole('button', { name: 'Create key' }).isDisabled(), 'no region is chosen').toBe(true)
  await dialog.getByRole('combobox', { name: 'Regions' }).click()
  await page.getByRole('option', { name: 'Europe' }).click()
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const key = await dialog.getByLabel('API key').inputValue()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page
    .getByRole('row', { name: /Signage/ })
    .getByText('Europe')
    .waitFor()
  const { rooms } = (await service.org.call('GET', '/rooms', { key })).body
  expect(rooms.map(({ name }: { name: string }) => name)).toEqual(['Fjord'])
  expect((await service.org.call('POST', '/regions', { key, body: { name: 'Africa' } })).status).toBe(403)
})

// In the short form the test above creates a key in the same form, and src/server/people/keys proves what a personal key may do.
test.runIf(isFullForm)('a person creates and revokes a personal key with no more access than they have', async () => {
  const { page } = await viewerTab()
  await visit(page, '/account')
  await settled(page, 'My profile')
  await button(page, 'New personal key').click()
  const dialog = dialogOf(page)
  expect(await dialog.getByRole('radio').count()).toBe(1)
  await dialog.getByLabel('Key name').fill('Laptop')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const key = await dialog.getByLabel('API key').inputValue()
  expect((await service.org.call('GET', '/rooms', { key })).status).toBe(200)
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: /^Revoke Laptop/ }).click()
  await dialog.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByRole('button', { name: /^Revoke Laptop/ }).waitFor({ state: 'detached' })
  expect((await service.org.call('GET', '/rooms', { key })).status).toBe(401)
})

test.runIf(isFullForm)(
  'a person adds and removes a passkey, and signs out the session of another browser',
  async () => {
    const { org } = service
    const { page } = await viewerTab()
    const viewerId = viewerOfTab?.id ?? ''
    const other = await newTab(browser, service.url)
    await other.page.goto(`/sign-in#${await inviteAgain(org, viewerId)}`)
    await button(other.page, 'Not now').click()
    await settled(other.page, 'Overview')

    await addAuthenticator(page)
    // The list of sessions is read again.
    await page.goto('/account')
    await settled(page, 'My profile')
    await button(page, 'Add passkey').click()
    await dialogOf(page).getByLabel('Name of the passkey').fill('Laptop')
    await dialogOf(page).getByRole('button', { name: 'Add passkey' }).click()
    await button(page, 'Remove passkey Laptop').click()
    const signsInWith = async () => (await org.call('GET', `/users/${viewerId}`)).body.signsInWith
    expect(await signsInWith()).toEqual(['passkey'])
    await dialogOf(page).getByRole('button', { name: 'Remove passkey' }).click()
    await page.getByText('No passkeys yet').waitFor()
    expect(await signsInWith()).toEqual([])

    const sessions = page.getByRole('table', { name: 'Sessions' })
    expect(await sessions.getByText('This session').count()).toBe(1)
    await sessions.getByRole('button', { name: /^Sign out: Chrome/ }).click()
    await other.page.getByText('You have been signed out').waitFor()
    await sessions.getByRole('button', { name: /^Sign out: Chrome/ }).waitFor({ state: 'detached' })
    expect(await sessions.getByText('This session').count()).toBe(1)
    expectTrouble(other.trouble, /status of 401/)
  },
)

test.runIf(isFullForm)('an owner removes the ways to sign in of a person, who then needs a new link', async () => {
  const { harness, org } = service
  const viewer = await newPerson(harness, org, { role: 'viewer', allRegions: true })
  for (const way of ['oidc', 'passkey'] as const) await newWayToSignIn(harness, org, viewer.id, way)
  const { page } = await ownerTab()
  const other = await personTab(browser, service, viewer)
  await other.page.goto('/rooms')
  await settled(other.page, 'Rooms')
  await visit(page, '/settings')
  const row = page.getByRole('row', { name: new RegExp(viewer.email) })
  await row.getByText('Company account, Passkey').waitFor()
  await chooseAction(page, viewer.email, 'Remove ways to sign in')
  await dialogOf(page).getByText('revokes their personal keys').waitFor()
  await dialogOf(page).getByRole('button', { name: 'Remove ways to sign in' }).click()
  await row.getByText('Link only').waitFor()
  await row.getByText('Invited').waitFor()
  await other.page.getByText('You have been signed out').waitFor()
  expect((await org.call('GET', '/rooms', { key: viewer.key })).status).toBe(401)
  expectTrouble(other.trouble, /status of 401/)
})

test.runIf(isFullForm)('a page follows a change of the role without a reload by hand', async () => {
  const { harness, org } = service
  const operator = await newPerson(harness, org, { role: 'operator', allRegions: true })
  const { page } = await personTab(browser, service, operator)
  const { rooms } = (await org.call('GET', '/rooms')).body
  await page.goto(`/rooms/${rooms[0].id}`)
  await button(page, 'Send message').waitFor()
  await page.getByRole('status', { name: /^Live/ }).waitFor()
  await org.call('PUT', `/users/${operator.id}`, { body: { role: 'viewer' } })
  await button(page, 'Send message').waitFor({ state: 'detached' })
  await settled(page, rooms[0].name)
})
