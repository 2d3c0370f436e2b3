// Tests how an owner sets up company accounts in the console, and how a person signs in with one, at a real provider. [contract 11.oidc]
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axe, expectAccessible, phone } from '../support/console/accessibility.ts'
import {
  changeSession,
  closeTabs,
  expectTrouble,
  newTab,
  openBrowser,
  openTab,
  settled,
  sharedTab,
  visit,
} from '../support/console/browser.ts'
import { sessionStateOf } from '../support/console/person-tab.ts'
import type { TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { ProviderSite } from '../support/oidc/provider-site.ts'
import { newPerson, type TestPerson } from '../support/person.ts'

let site: ProviderSite
let org: TestOrg
let owner: TestPerson
let browser: Browser
beforeAll(async () => {
  site = await ProviderSite.start()
  org = await site.harness.newOrg('Nordlys AS')
  await org.call('POST', '/regions', { body: { name: 'Europe' } })
  owner = await newPerson(site.harness, org, { role: 'owner', allRegions: true })
  site.provider.addAccount('owner', { email: owner.email })
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await site.close()
})

const ownerTab = sharedTab(() => openTab(browser, site.harness.url, sessionStateOf(site.harness, owner)))
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
/** The browser goes to the provider, which is another server. */
const atProvider = /^asked http:/

test('an owner registers, fills in, tests and turns on company accounts; then a person signs in with one', async () => {
  const tab = await ownerTab()
  const { page, context, trouble } = tab
  const [client] = site.provider.clients
  await page.goto('/settings?tab=identity')
  await settled(page, 'Settings')
  // The addresses to enter at the provider are those that it then accepts.
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const copied = async (name: string) => {
    await button(page, name).click()
    return page.evaluate<string>('navigator.clipboard.readText()')
  }
  client.redirectUris = [await copied('Copy redirect URI')]
  expect(client.redirectUris).toEqual([site.callbackUrl(org)])
  expect(await copied('Copy back-channel logout URI')).toBe(`${site.url}/auth/${org.id}/oidc/backchannel`)
  await page.getByText(site.callbackUrl(org)).waitFor()
  expect(await button(page, 'Test sign-in').isDisabled()).toBe(true)
  await page.getByLabel('Issuer').fill(site.provider.issuer)
  await page.getByLabel('Client ID').fill(client.clientId)
  await page.getByRole('textbox', { name: 'Client secret' }).fill(client.clientSecret)
  await button(page, 'Save settings').click()
  await page.getByText('A secret is stored.').waitFor()
  expect(await page.content()).not.toContain(client.clientSecret)
  expect(await button(page, 'Turn on company accounts').isDisabled()).toBe(true)

  site.provider.signInAs('owner')
  const opened = context.waitForEvent('page')
  await button(page, 'Test sign-in').click()
  const testPage = await opened
  await testPage.getByText('The test has passed').waitFor()
  if (isFullForm) expect(await axe(testPage)).toEqual([])
  await testPage.close()
  await page.evaluate('dispatchEvent(new Event("focus"))')
  await page.getByText(/^Tested/).waitFor()
  await button(page, 'Turn on company accounts').click()
  await page.getByText('Company accounts are on.').waitFor()
  expectTrouble(trouble, atProvider)

  await site.invite(org, 'ada@example.org', { role: 'operator', allRegions: true })
  site.provider.addAccount('ada', { email: 'ada@example.org', name: 'Ada' })
  site.provider.signInAs('ada')
  // The full form needs the owner's tab again.
  const guest = isFullForm ? await newTab(browser, site.harness.url) : tab
  if (!isFullForm) await changeSession(tab, { storageState: { cookies: [], origins: [] } })
  await guest.page.goto('/')
  await guest.page.getByRole('link', { name: 'Sign in with company account' }).click()
  await settled(guest.page, 'Overview')
  await guest.page.getByRole('button', { name: 'Account: ada@example.org' }).waitFor()
  expectTrouble(guest.trouble, atProvider)
  expectTrouble(guest.trouble, /status of 401/)
})

test.runIf(isFullForm)(
  'groups get roles and regions in the table, which is accessible and fits on a phone',
  async () => {
    const { page } = await ownerTab()
    await page.setViewportSize(phone)
    await visit(page, '/rooms')
    await visit(page, '/settings?tab=identity')
    await settled(page, 'Settings')
    for (const name of ['facility', 'av-team']) {
      await button(page, 'Add group').click()
      await page.getByRole('textbox', { name: 'Group', exact: true }).last().fill(name)
    }
    const last = page.getByRole('group', { name: 'Group 2' })
    await last.getByRole('combobox', { name: 'Role' }).click()
    await page.getByRole('option', { name: 'Operator' }).click()
    await last.getByRole('combobox', { name: 'Regions' }).click()
    await page.getByRole('option', { name: 'Europe' }).click()
    await page.keyboard.press('Escape')
    await button(page, 'Move group 2 up').click()
    await expectAccessible(page, true)
    await page.getByText('Saving turns company accounts off').waitFor()
    await button(page, 'Save settings').click()
    await page.getByText('Company accounts are off.').waitFor()
    const { groupRoles } = (await org.call('GET', '/identity')).body
    expect(groupRoles).toMatchObject([
      { group: 'av-team', role: 'operator', regionIds: [expect.any(Number)] },
      { group: 'facility', role: 'viewer', regionIds: [] },
    ])
  },
)
