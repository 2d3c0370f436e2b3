// Tests the settings for notifications and rules in a real browser, with a real receiver of webhooks. [contract 10.channel] [contract 10.rule]
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createBodyServer } from '../support/body-server.ts'
import { expectAccessible } from '../support/console/accessibility.ts'
import {
  changeSession,
  closeTabs,
  consolePort,
  expectTrouble,
  openBrowser,
  openTab,
  settled,
  sharedTab,
  type Tab,
  visit,
} from '../support/console/browser.ts'
import { sessionStateOf } from '../support/console/person-tab.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { newPerson } from '../support/person.ts'
import { until } from '../support/program.ts'

let harness: Harness
let org: TestOrg
let browser: Browser
let receiver: Server
let receiverUrl: string
/** The types and ids of the messages that have arrived. */
const received: { type: string; id: string }[] = []
let answer = 204
beforeAll(async () => {
  receiver = createBodyServer((request, body, response) => {
    received.push({ type: JSON.parse(body).type, id: String(request.headers['webhook-id']) })
    response.writeHead(answer).end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  harness = await startHarness(await consolePort())
  org = await harness.newOrg('Nordlys AS')
  await org.call('POST', '/regions', { body: { name: 'Europe' } })
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await harness.close()
  receiver.closeAllConnections()
  receiver.close()
})

/** All roles have one tab in turn, so tests of the same role follow each other. */
const shared = sharedTab(() => {
  roleOfTab = undefined
  return openTab(browser, harness.url)
})
type Role = 'owner' | 'admin' | 'viewer'
let roleOfTab: Role | undefined
async function settingsTab(role: Role, path: string): Promise<Tab> {
  const tab = await shared()
  if (role !== roleOfTab) {
    const person = await newPerson(harness, org, { role, allRegions: true })
    await changeSession(tab, sessionStateOf(harness, person))
    roleOfTab = role
  }
  await visit(tab.page, `/settings?tab=${path}`)
  await settled(tab.page, 'Settings')
  return tab
}
const openSettings = async (...args: Parameters<typeof settingsTab>): Promise<Page> => (await settingsTab(...args)).page
const channels = async () => (await org.call('GET', '/channels')).body.channels

test('a webhook is created, shows its secret once, is tested, and its deliveries are listed and sent again', async () => {
  const page = await openSettings('owner', 'notifications')
  await page.getByRole('button', { name: 'New channel' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Operations')
  expect(await dialog.getByRole('button', { name: 'Create channel' }).isDisabled()).toBe(true)
  await dialog.getByLabel('URL').fill(`${receiverUrl}/hooks/secret-path`)
  await dialog.getByRole('combobox', { name: 'Minimum severity' }).click()
  await page.getByRole('option', { name: 'Critical' }).click()
  await dialog.getByRole('combobox', { name: 'Incident rules' }).click()
  await page.getByRole('option', { name: 'Device offline' }).click()
  await page.getByRole('option', { name: 'Job stopped' }).click()
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'Create channel' }).click()
  const secret = await dialog.getByLabel('Signing secret').inputValue()
  expect(secret).toMatch(/^whsec_.{40,}/)
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  expect(await dialog.getByLabel('Signing secret').count()).toBe(1)
  await dialog.getByRole('button', { name: 'Done' }).click()
  const [channel] = await channels()
  expect(channel).toMatchObject({ name: 'Operations', minSeverity: 'CRITICAL', enabled: true })
  expect(channel.rules).toEqual(['device.offline', 'job.stopped'])

  await page.getByRole('link', { name: 'Operations' }).click()
  await page.getByText('Device offline, Job stopped').waitFor()
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('Test message delivered').waitFor()
  expect(received.map(({ type }) => type)).toEqual(['test'])
  expect(await page.content()).not.toContain('secret-path')
  const table = page.getByRole('table', { name: 'Deliveries' })
  await table.getByRole('row').filter({ hasText: 'Test message' }).getByText('Delivered').waitFor()
  await expectAccessible(page)

  await page.getByRole('button', { name: 'Send again' }).click()
  await dialog.getByLabel('From').fill(localTime(harness.clock.now() - 3_600_000))
  await dialog.getByLabel('Delivered').check()
  await dialog.getByRole('button', { name: 'Send again' }).click()
  await page.getByText('Sending 1 message again').waitFor()
  await until('the message arrives again', () => received.length === 2)
  expect(received[1]).toEqual(received[0])
})

/** The value of a field for a local time. The browser of the tests is in Oslo. */
const localTime = (at: number) =>
  new Intl.DateTimeFormat('sv-SE', {
    timeZone: 'Europe/Oslo',
    dateStyle: 'short',
    timeStyle: 'short',
  })
    .format(at)
    .replace(' ', 'T')

test('a test that fails says why, and a channel is edited, disabled, given a new secret and deleted', async () => {
  const body = { name: 'Broken', kind: 'webhook', url: `${receiverUrl}/broken` }
  const { id } = (await org.call('POST', '/channels', { body })).body
  answer = 500
  const { page, trouble } = await settingsTab('owner', `notifications&channel=${id}`)
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('Test message not delivered').waitFor()
  await page.getByText('Answered 500.').waitFor()
  answer = 204

  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Edit' }).click()
  await dialog.getByLabel('Name').fill('Repaired')
  await dialog.getByLabel('Only during these hours').check()
  await dialog.getByRole('combobox', { name: 'Regions' }).click()
  await page.getByRole('option', { name: 'Europe' }).click()
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Mon to Fri, 08:00 to 18:00').waitFor()
  const { url, regionIds, hours } = (await org.call('GET', `/channels/${id}`)).body
  expect({ url, regionIds }).toEqual({ url: `${receiverUrl}/…`, regionIds: [1] })
  expect(hours.from).toBe('08:00')

  await page.getByRole('button', { name: 'New secret' }).click()
  await dialog.getByRole('button', { name: 'Create secret' }).click()
  expect(await dialog.getByLabel('Signing secret').inputValue()).toMatch(/^whsec_/)
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('button', { name: 'Enable' }).waitFor()
  expect(await page.getByRole('button', { name: 'Send test' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Delete' }).click()
  await dialog.getByRole('button', { name: 'Delete channel' }).click()
  await page.getByRole('button', { name: 'New channel' }).waitFor()
  expect((await channels()).map((one: { id: string }) => one.id)).not.toContain(id)
  // The event of the deletion can arrive while the page of the channel is still open.
  expectTrouble(trouble, /status of 404/)
})

// In `npm test` `people.http` of the deliveries has this kind of channel.
test.runIf(isFullForm)('a channel to assignees has no target and no types to choose', async () => {
  const page = await openSettings('owner', 'notifications')
  await page.getByRole('button', { name: 'New channel' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Assignees')
  await dialog.getByRole('combobox', { name: 'Kind' }).click()
  await page.getByRole('option', { name: 'E-mail to assignees' }).click()
  await dialog
    .getByText('When an incident is assigned to a person by another person or a key, the assignee gets an e-mail.')
    .waitFor()
  for (const label of ['URL', 'Messages', 'Heartbeat every (minutes)'])
    expect(await dialog.getByLabel(label).count(), label).toBe(0)
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Create channel' }).click()
  await page.getByRole('link', { name: 'Assignees' }).click()
  await page.getByText('The assignee of each incident').waitFor()
  const made = (await channels()).find(({ name }: { name: string }) => name === 'Assignees')
  expect(made).toMatchObject({ kind: 'people', events: ['incident.assigned'], minSeverity: 'INFO' })
})

// In `npm test` `organisation` and `sources` have values that the server refuses in a form.
test.runIf(isFullForm)('a refused address is explained in the form', async () => {
  const { page, trouble } = await settingsTab('owner', 'notifications')
  await page.getByRole('button', { name: 'New channel' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Metadata')
  await dialog.getByLabel('URL').fill('https://169.254.169.254/latest')
  await dialog.getByRole('button', { name: 'Create channel' }).click()
  await dialog.getByRole('alert').waitFor()
  // The browser logs the answer 400.
  expectTrouble(trouble, /status of 400/)
  expect((await channels()).map((one: { name: string }) => one.name)).not.toContain('Metadata')
})

test('a rule is changed and restored; security rules need Manage', async () => {
  const page = await openSettings('admin', 'rules')
  const rowOf = (name: string) => page.getByRole('table', { name: 'Rules' }).getByRole('row').filter({ hasText: name })
  const dialog = page.getByRole('dialog')
  const rule = async () =>
    (await org.call('GET', '/incident_rules')).body.rules.find((one: { rule: string }) => one.rule === 'storage.low')
  expect(await page.getByRole('button', { name: 'Edit Wrong device credentials' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Edit Storage low' }).click()
  await dialog.getByLabel('Opens below (% free)').fill('5')
  await dialog.getByLabel('Opens after (minutes)').fill('90')
  // Numbers that the server would refuse become the nearest that it takes.
  await dialog.getByLabel('Ends at (% free)').fill('400')
  await dialog.getByLabel('Opens after (minutes)').focus()
  expect(await dialog.getByLabel('Ends at (% free)').inputValue()).toBe('100')
  await dialog.getByLabel('Ends at (% free)').fill('15')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await rowOf('Storage low').getByText('1 h 30 min').waitFor()
  expect(await rule()).toMatchObject({
    holdMinutes: 90,
    limits: { opensBelowPercent: 5, endsAtPercent: 15 },
    changed: true,
  })
  await page.getByRole('button', { name: 'Edit Storage low' }).click()
  await dialog.getByRole('button', { name: 'Restore defaults' }).click()
  await rowOf('Storage low').getByText('30 min', { exact: true }).waitFor()
  expect(await rule()).toMatchObject({ holdMinutes: 30, changed: false })
})

test.runIf(isFullForm)('a viewer reads the rules, and is not offered notifications', async () => {
  const page = await openSettings('viewer', 'rules')
  await page.getByText('Device offline').waitFor()
  expect(await page.getByRole('table', { name: 'Rules' }).getByRole('button').count()).toBe(0)
  expect(await page.getByRole('tab', { name: 'Notifications' }).count()).toBe(0)
  // A link of an incident may lead there.
  await visit(page, '/settings?tab=notifications')
  await page.getByText('You need Manage access to open Notifications. Ask an owner.').waitFor()
})
