// Tests that the dialogs of incidents, silences, restarts, change windows, notifications, rules and invitations are accessible in light, some of them in dark too, and fit on a phone; `npm run test:long` checks all in dark.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hourMs } from '../../src/contract/durations.ts'
import { Receiver } from '../support/channels/receiver.ts'
import { checksDarkDialog, findViolations, phone } from '../support/console/accessibility.ts'
import { closeTabs, consolePort, openBrowser, openTab, sharedTab, visit } from '../support/console/browser.ts'
import { type ConsoleFleet, startConsoleFleet } from '../support/console/console-fleet.ts'
import { sessionStateOf } from '../support/console/person-tab.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { newIncident } from '../support/incidents.ts'
import { isFullForm, isLongForm } from '../support/long-form.ts'
import { newPerson, type TestPerson } from '../support/person.ts'

let harness: Harness
let fleet: ConsoleFleet
let browser: Browser
let owner: TestPerson
let incidentId: string
let channelId: string
let receiver: Receiver
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  fleet = await startConsoleFleet(harness)
  const { org } = fleet
  owner = await newPerson(harness, org, { role: 'owner', allRegions: true })
  for (const severity of ['CRITICAL', 'WARNING', 'INFO'] as const) {
    incidentId = await newIncident(harness, org, { endpoints: [fleet.bar.id], severity, assigneeId: Number(owner.id) })
  }
  const to = new Date(harness.clock.now() + hourMs).toISOString()
  await org.call('POST', '/silences', { body: { place: { roomId: fleet.rooms.fjord }, reason: 'Painting', to } })
  receiver = await Receiver.listen()
  const hook = { name: 'Operations', kind: 'webhook', url: `${receiver.url}/T02` }
  channelId = (await org.call('POST', '/channels', { body: hook })).body.id
  // The page of the channel has a delivery in its table.
  expect((await org.call('POST', `/channels/${channelId}/test`)).body.state).toBe('DELIVERED')
  browser = await openBrowser()
})
afterAll(async () => {
  receiver.close()
  await closeTabs(browser)
  await fleet.stop()
  await harness.close()
})

const shared = sharedTab(() => openTab(browser, harness.url, { ...sessionStateOf(harness, owner), viewport: phone }))

/** The buttons that open a dialog, by page; `menu` opens the menu of a row first. */
type DialogButton = readonly [path: string, button: string, menu?: string]
const dialogs = (): readonly DialogButton[] => [
  ['/incidents', 'Snooze', 'Actions:'],
  ['/incidents?tab=silences', 'New silence'],
  [`/rooms/${fleet.rooms.fjord}`, 'Restart room'],
  ['/sites', 'Edit location', 'Actions for Oslo'],
  [`/settings?tab=notifications&channel=${channelId}`, 'Delete'],
  ['/settings', 'Invite person'],
]
/** These have the form or the fields of one of the dialogs above, or are a confirmation. */
const similarDialogs = (): readonly DialogButton[] => [
  [`/incidents/${incidentId}`, 'Resolve'],
  [`/settings?tab=notifications&channel=${channelId}`, 'Send again'],
  ['/settings?tab=rules', 'Edit Storage low'],
  ['/incidents', 'Add note', 'Actions:'],
  [`/incidents/${incidentId}`, 'Assign'],
  ['/settings?tab=notifications', 'New channel'],
  ['/incidents', 'Restart', 'Actions:'],
  ['/incidents?tab=silences', 'End'],
  [`/settings?tab=notifications&channel=${channelId}`, 'Edit'],
  [`/settings?tab=notifications&channel=${channelId}`, 'New secret'],
  [`/rooms/${fleet.rooms.fjord}`, 'Silence'],
  [`/devices/${fleet.bar.id}`, 'Silence'],
  [`/devices/${fleet.bar.id}`, 'Restart'],
  ['/sites', 'Silence', 'Actions for Oslo'],
]

test.each([['one of each form', dialogs] as const, ...(isFullForm ? [['similar ones', similarDialogs] as const] : [])])(
  'every dialog is accessible and fits on a phone, and Escape closes it: %s',
  async (_, list) => {
    const { page } = await shared()
    const found: Record<string, string[]> = {}
    for (const [index, [path, button, menu]] of list().entries()) {
      await visit(page, path)
      const main = page.getByRole('main')
      if (menu) {
        await main.getByRole('button', { name: menu }).first().click()
        await page.getByRole('menuitem', { name: button }).click()
      } else await main.getByRole('button', { name: button, exact: true }).first().click()
      await page.getByRole('dialog').waitFor()
      await page.getByRole('dialog').getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' })
      found[`${path} ${button}`] = await findViolations(page, checksDarkDialog(index))
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    expect(Object.keys(found).length).toBe(list().length)
    expect(Object.entries(found).filter(([, violations]) => violations.length > 0)).toEqual([])
  },
  120_000,
)

test.runIf(isFullForm)(
  'a secret that is shown once, the result of a test and a weekly silence are accessible and fit on a phone',
  async () => {
    const { page } = await shared()
    const dialog = page.getByRole('dialog')
    const found: Record<string, string[]> = {}
    await visit(page, `/settings?tab=notifications&channel=${channelId}`)
    await page.getByRole('row').filter({ hasText: 'Test message' }).first().waitFor()
    await page.getByRole('button', { name: 'Send test' }).click()
    await page.getByText('Test message delivered').waitFor()
    found.test = await findViolations(page, isFullForm)
    await page.getByRole('button', { name: 'New secret' }).click()
    await dialog.getByRole('button', { name: 'Create secret' }).click()
    await dialog.getByLabel('Signing secret').waitFor()
    found.secret = await findViolations(page, isLongForm)
    await dialog.getByRole('button', { name: 'Done' }).click()
    await visit(page, '/incidents?tab=silences')
    await page.getByRole('button', { name: 'New silence' }).click()
    await dialog.getByText('Every week').click()
    await dialog.getByLabel('Fri').waitFor()
    found.weekly = await findViolations(page, isLongForm)
    expect(found).toEqual({ test: [], secret: [], weekly: [] })
  },
)
