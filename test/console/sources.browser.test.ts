// Tests what people do with sources in the browser, with a gateway that speaks the protocol of gateways itself.
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { checksDarkDialog, expectAccessible, phone } from '../support/console/accessibility.ts'
import {
  closeTabs,
  consolePort,
  openBrowser,
  openTab,
  settled,
  sharedTab,
  signInByApi,
  visit,
} from '../support/console/browser.ts'
import { startGateway, type TestGateway } from '../support/devices/gateway.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { until } from '../support/program.ts'

let harness: Harness
let org: TestOrg
let browser: Browser
let gateway: TestGateway
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  org = await harness.newOrg('Nordlys AS')
  browser = await openBrowser()
  const { body: plantRoom } = await org.call('POST', '/rooms', { body: { name: 'Plant room' } })
  gateway = await startGateway(harness, org, { roomId: plantRoom.id, serial: 'GW-1' })
})
afterAll(async () => {
  await closeTabs(browser)
  await harness.close()
})

const shared = sharedTab(async () => openTab(browser, harness.url, await signInByApi(harness.url, org.key)))
let page: Page
beforeEach(async () => {
  page = (await shared()).page
})

const button = (name: string | RegExp, within: Page | Locator = page) =>
  within.getByRole('button', { name, exact: true })
const dialog = () => page.getByRole('dialog')
const outcome = () => dialog().getByRole('status', { name: 'Result of the test' })

/** Looks at what is open on a phone. */
let looks = 0
async function look({ isFirst = false } = {}): Promise<void> {
  if (!isFullForm && !isFirst) return
  const size = page.viewportSize() ?? phone
  await page.setViewportSize(phone)
  await expectAccessible(page, checksDarkDialog(looks++))
  await page.setViewportSize(size)
}

const answered = new Set<string>()
/** Answers the test of a source that waits at the gateway, and returns what the gateway was asked to try. */
async function answerTest(answer: object): Promise<object> {
  let asked: object | undefined
  await until('a test waits', async () => {
    const waiting = (await gateway.list()).sourceTests.find(({ id }) => !answered.has(id))
    if (!waiting) return false
    asked = waiting
    answered.add(waiting.id)
    const { status, text } = await gateway.answer(waiting.id, answer)
    expect(status, text).toBe(200)
    return true
  })
  return asked ?? {}
}

test('a person connects Neat Pulse read only after a test, and another address asks for the key again', async () => {
  await visit(page, '/settings?tab=sources')
  await settled(page, 'Settings')
  await page.getByText('No sources yet').waitFor()
  await button('Connect Neat Pulse').click()
  expect(await dialog().getByRole('combobox', { name: 'Address' }).inputValue()).toBe('https://api.pulse.neat.no')
  expect(
    await dialog()
      .getByRole('checkbox', { name: /^Send reboots/ })
      .isChecked(),
  ).toBe(false)
  expect(await button('Test', dialog()).isDisabled()).toBe(true)
  await dialog().getByLabel('Organisation').fill('aBcD123')
  await dialog().getByRole('textbox', { name: 'API key' }).fill('planted key')
  await button('Test', dialog()).click()
  expect(
    await answerTest({ state: 'REFUSED', reason: 'Neat Pulse answers 401: it does not accept the key.' }),
  ).toMatchObject({
    type: 'neat-pulse',
    url: 'https://api.pulse.neat.no',
    orgId: 'aBcD123',
    key: 'planted key',
  })
  await outcome().getByText('The server refused the sign-in').waitFor()
  await dialog().getByRole('textbox', { name: 'API key' }).fill('another key')
  await outcome().waitFor({ state: 'detached' })
  await button('Test', dialog()).click()
  await answerTest({
    found: {
      content: { regions: 2, rooms: 38, devices: 44 },
      notes: ['The key may not read profiles. Give it the scope for profiles in Neat Pulse.'],
    },
  })
  await outcome().getByText('Found: 2 regions, 38 rooms, 44 devices').waitFor()
  await outcome().getByText('The key may not read profiles.', { exact: false }).waitFor()
  await look({ isFirst: true })
  await button('Connect', dialog()).click()

  // The page of the new source follows what its gateway reports.
  await page.getByText('Waiting for the gateway').waitFor()
  await page.getByText('Read only: nothing is changed there').waitFor()
  const [source] = (await org.call('GET', '/sources')).body.sources
  expect(source).toMatchObject({ orgId: 'aBcD123', write: false, secrets: ['key'] })
  await gateway.reportSource(source.id, 'CONNECTED', { content: { regions: 2, rooms: 38, devices: 44 } })
  await page.getByText('Connected', { exact: true }).waitFor()
  await page.getByText('2 regions, 38 rooms, 44 devices').waitFor()

  // Another address needs the key again.
  await button('Edit').click()
  await dialog().getByRole('combobox', { name: 'Address' }).fill('https://pulse.neat.no/api')
  await dialog().getByText('The address has changed, so the stored key will be deleted.', { exact: false }).waitFor()
  expect(await button('Save', dialog()).isDisabled()).toBe(true)
  await look()
  await button('Cancel', dialog()).click()
  await dialog().waitFor({ state: 'detached' })

  // The list has the state and the numbers, and a certificate that has changed is confirmed in the form.
  await gateway.reportSource(source.id, 'CHANGED', { reason: 'It has another certificate. No key was sent.' })
  await button('Check the certificate').click()
  const certificate = {
    fingerprint: 'AB'.repeat(32).match(/../g)?.join(':') ?? '',
    validUntil: '2031-01-01T00:00:00Z',
    isTrusted: false,
  }
  await answerTest({ state: 'CHANGED', reason: 'It has another certificate.', found: { certificate } })
  await outcome().getByText('The server answers with an unknown certificate').waitFor()
  await outcome().getByText('Something between the gateway and Neat Pulse answers', { exact: false }).waitFor()
  await look()
  await button('Trust this certificate', dialog()).click()
  expect(await answerTest({ found: { certificate } })).toMatchObject({ key: 'another key' })
  await button('Save', dialog()).click()
  await dialog().waitFor({ state: 'detached' })
  expect((await org.call('GET', `/sources/${source.id}`)).body.fingerprint).toBe(certificate.fingerprint)
  await page.getByRole('link', { name: 'All sources' }).click()
  const row = page.getByRole('table', { name: 'Sources' }).getByRole('row').filter({ hasText: 'Neat Pulse, read only' })
  await row.getByText('Waiting for the gateway').waitFor()
  await look()
  await row.getByRole('link', { name: 'Neat Pulse' }).click()
  await button('Remove').click()
  await button('Remove source', dialog()).click()
  await page.getByText('No sources yet').waitFor()
})
