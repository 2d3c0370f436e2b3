// Tests actions on many devices in a browser: clicks, the plan, one job, Undo, and who may do what.
import type { Browser, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAccessible } from '../support/console/accessibility.ts'
import {
  changeSession,
  closeTabs,
  consolePort,
  openBrowser,
  openTab,
  settled,
  sharedTab,
  signInByApi,
  tabIn,
  visit,
} from '../support/console/browser.ts'
import { type LiveDevice, startDevice } from '../support/devices/agent-device.ts'
import { enrolTestDevice, newDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { until } from '../support/program.ts'

const roomCount = 15
const serialOf = (index: number) => `BAR${String(index + 1).padStart(5, '0')}`

let harness: Harness
let org: TestOrg
let browser: Browser
let online: LiveDevice[]

/** There are 2 devices in each room. Rooms 1 to 3 have an offline one, rooms 4 and 5 one that rejects night mode. */
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  org = await harness.newOrg('Nordlys AS')
  await org.call('POST', '/profiles', { body: { name: 'Quiet rooms', config: { language: 'en-US' } } })
  for (let n = 1; n <= roomCount; n++) await org.call('POST', '/rooms', { body: { name: `Room ${n}` } })
  const devices = Array.from({ length: 2 * roomCount }, (_, index) => ({
    ...{ roomId: (index % roomCount) + 1, serial: serialOf(index), model: 'NF19B1' },
    rejects: index < 5 ? { nightMode: 'not in this building' } : {},
  }))
  for (const device of devices.slice(0, 3)) await enrolTestDevice(harness, org, device)
  online = await Promise.all(devices.slice(3).map((device) => startDevice(harness, org, device)))
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  for (const device of online) await device.stop()
  await harness.close()
})

const shared = sharedTab(async () => openTab(browser, harness.url, await signInByApi(harness.url, org.key)))
const bar = (page: Page) => page.getByRole('region', { name: 'Selection' })
const jobs = async () => (await org.call('GET', '/jobs')).body.jobs
const withNightMode = () => online.filter(({ settings }) => settings.nightMode === true).map(({ serial }) => serial)

test('one setting on 30 devices, some offline and some rejecting, takes at most 8 clicks, is one job, and is undone', async () => {
  const { page, context, trouble } = await shared()
  await visit(page, '/devices')
  await settled(page, 'Devices')
  await page.evaluate(`globalThis.clicks = 0; addEventListener('pointerdown', () => clicks++, true)`)

  await page.getByRole('checkbox', { name: 'Select all 30 that match' }).click()
  await bar(page).getByRole('button', { name: 'Change settings' }).click()
  const dialog = page.getByRole('dialog', { name: 'Change settings: 30 devices' })
  await dialog.getByLabel('Search settings').fill('night mode')
  await dialog.getByRole('radiogroup', { name: 'Night mode' }).getByText('On', { exact: true }).click()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Review' }).click()
  await dialog.getByText('30 devices in 15 rooms').waitFor()
  await dialog.getByText('12 rooms change now').waitFor()
  await dialog.getByText('3 rooms wait for devices that are not connected').waitFor()
  await dialog.getByText('now: not set on 30').waitFor()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Apply' }).click()
  const notice = page.getByRole('alert').filter({ hasText: 'Started for 30 devices in ' })
  // The notice stays while the pointer is on it.
  await notice.hover()
  expect(await page.evaluate<number>('clicks')).toBeLessThanOrEqual(8)
  const [job, ...others] = await jobs()
  expect([job, others]).toMatchObject([
    { name: 'Night mode: On · 30 devices', endpointCount: 30, unitCount: roomCount },
    [],
  ])

  // The notice stays on other pages too. The full form opens the job in another tab.
  const jobPage = isFullForm ? (await tabIn(context, harness.url, trouble)).page : page
  await visit(jobPage, `/jobs/${job.id}`)
  await settled(jobPage, 'Night mode: On · 30 devices')
  const rooms = jobPage.getByRole('table', { name: 'Rooms of the job' })
  const states = async () => Object.fromEntries(Object.entries((await jobs())[0].counts).filter(([, n]) => n !== 0))
  await until('10 rooms to have it', async () => (await states()).SUCCEEDED === 10)
  await until('the outcome of all', async () => (await rooms.getByText('Failed').count()) === 2)
  expect(await states()).toEqual({ SUCCEEDED: 10, FAILED: 2, WAITING: 3 })
  expect(await rooms.getByText('For devices that are not connected').count()).toBe(3)
  expect(await rooms.getByText(/not in this building/).count()).toBe(2)
  expect(withNightMode(), 'rooms that wait are not changed by half').toEqual(
    Array.from({ length: 30 }, (_, index) => serialOf(index)).filter((_, i) => i >= 5 && (i < 15 || i >= 18)),
  )
  await expectAccessible(jobPage)

  await notice.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('heading', { level: 1, name: 'Night mode: On · 30 devices' }).waitFor()
  await until('all devices to have what they had', () => withNightMode().length === 0)
  await jobPage.getByRole('heading', { level: 1 }).locator('..').getByText('Rolled back').waitFor()
  expect(await states()).toEqual({ ROLLED_BACK: 12, CANCELLED: 3 })
  if (jobPage !== page) await jobPage.close()
})

test('the audit log has one row for what a job changed, and its filters ask the server; a version names its job', async () => {
  const { page } = await shared()
  const [job] = await jobs()
  const entries = (await org.audit()).filter(({ details }) => details?.jobId === job.id)
  expect(entries.length).toBeGreaterThan(20)
  await visit(page, '/audit')
  await settled(page, 'Audit')
  const log = page.getByRole('table', { name: 'Audit log' })
  const ofJob = log.getByRole('row').filter({ hasText: `Changes by a job (${entries.length})` })
  expect(await ofJob.getByRole('link').textContent()).toBe(job.name)
  expect(await log.getByText('Device settings changed').count(), 'no entry of the job has a row of its own').toBe(0)
  await ofJob.getByRole('button').click()
  await log.getByText('Device settings changed').first().waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: `Show all ${entries.length} entries of the job` }).click()
  await page.getByRole('combobox', { name: `Job: ${job.name}` }).waitFor()
  await page.getByText(`${entries.length} entries`, { exact: true }).waitFor()

  // The chip stays after it is cleared, with the focus.
  await page.getByRole('button', { name: 'Clear Job' }).click()
  expect(await page.evaluate<string>('document.activeElement.ariaLabel')).toBe('Job')
  await page.getByRole('textbox', { name: 'Search' }).fill('created quiet rooms')
  await page.getByText('1 entry', { exact: true }).waitFor()
  await page.getByRole('textbox', { name: 'Search' }).fill('')
  await ofJob.waitFor()
  await page.getByRole('combobox', { name: 'Action', exact: true }).click()
  await page.getByRole('textbox', { name: 'Find in action' }).fill('profile created')
  await page.getByRole('option', { name: 'Profile created' }).click()
  await page.getByText('1 entry', { exact: true }).waitFor()
  await log.getByRole('link', { name: 'Quiet rooms' }).waitFor()

  const { target } = entries[0]
  await visit(page, `/devices/${target.id}?tab=versions`)
  await page.getByRole('table', { name: 'Settings history' }).getByRole('link').first().click()
  await page.getByRole('heading', { level: 1, name: job.name }).waitFor()
})

test('every action on rooms shows its plan, which makes no job until it is confirmed', async () => {
  const { page } = await shared()
  const before = (await jobs()).length
  await visit(page, '/rooms')
  await settled(page, 'Rooms')
  await page.getByRole('checkbox', { name: 'Select Room 6', exact: true }).click()
  const dialog = page.getByRole('dialog')
  const fill: readonly (readonly [button: string, fields: () => Promise<void>])[] = [
    [
      'Assign profile',
      async () => {
        await dialog.getByRole('combobox', { name: 'Profile' }).click()
        await page.getByRole('option', { name: 'Quiet rooms' }).click()
      },
    ],
    ...(isFullForm ? [['Message', () => dialog.getByRole('textbox').fill('Fire drill at noon.')] as const] : []),
    [
      'Restart',
      async () => {
        await dialog.getByText('Waits up to 14 days for 10 quiet minutes.').waitFor()
        expect(await dialog.getByText('24 hours').count()).toBe(0)
      },
    ],
  ]
  for (const [button, fields] of fill) {
    await bar(page).getByRole('button', { name: button }).click()
    await page.getByRole('dialog', { name: `${button}: Room 6` }).waitFor()
    await fields()
    await expectAccessible(page)
    if (button !== 'Restart') await dialog.getByRole('button', { name: 'Review' }).click()
    await dialog.getByText('2 devices in 1 room').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }

  if (!isFullForm) {
    await bar(page).getByRole('button', { name: 'Clear' }).click()
    expect(await jobs()).toHaveLength(before)
    return
  }
  const { id: cellar } = (await org.call('POST', '/rooms', { body: { name: 'Cellar' } })).body
  await page.getByRole('checkbox', { name: 'Select Cellar', exact: true }).click()
  await bar(page).getByRole('button', { name: 'Assign profile' }).click()
  await page.getByRole('dialog', { name: 'Assign profile: 2 rooms' }).waitFor()
  await dialog.getByRole('combobox', { name: 'Profile' }).click()
  await page.getByRole('option', { name: 'Quiet rooms' }).click()
  await dialog.getByRole('button', { name: 'Review' }).click()
  await dialog.getByText('1 room has no devices, so nothing changes there').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await bar(page).getByRole('button', { name: 'Clear' }).click()
  await org.call('DELETE', `/rooms/${cellar}`)
  expect(await jobs()).toHaveLength(before)
})

// In the short form the test above makes a plan, and src/server/jobs proves which devices an action leaves out.
test.runIf(isFullForm)(
  'Switch off is planned for selected devices that can do it, and makes no job until it is confirmed [contract 12.plan]',
  async () => {
    const display = await newDevice(harness, org, { roomId: 6, model: 'D-55' })
    await display.publish('status', { name: 'Wall R00007', actions: ['power'], power: 'ON' })
    const before = (await jobs()).length
    const { page } = await shared()
    await visit(page, '/devices')
    await settled(page, 'Devices')
    await page.getByLabel('Search devices').fill('R00007')
    const row = (text: string) => page.getByRole('row').filter({ hasText: text }).getByRole('checkbox')
    await row('Bar R00007').click()
    expect(await bar(page).getByRole('button', { name: 'Power' }).count(), 'a bar cannot be switched').toBe(0)
    await row('Wall R00007').click()
    await bar(page).getByRole('button', { name: 'Power' }).click()
    const dialog = page.getByRole('dialog', { name: 'Power: 2 devices' })
    await dialog.getByText('Choose on or off.').waitFor()
    await dialog.getByRole('radio', { name: 'Off' }).check()
    await dialog.getByRole('button', { name: 'Review' }).click()
    await dialog.getByRole('button', { name: 'Switch 1 device off' }).waitFor()
    await dialog.getByText('1 device cannot do this and is left out.').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await bar(page).getByRole('button', { name: 'Clear' }).click()
    expect(await jobs()).toHaveLength(before)
    await display.close()
    await org.call('DELETE', `/endpoints/${display.id}`)
  },
)

test('rooms change their location with progress and Undo, and a room that another person has moved is left alone', async () => {
  const region = (await org.call('POST', '/regions', { body: { name: 'Americas' } })).body.id
  const newLocation = async (name: string): Promise<number> =>
    (await org.call('POST', '/locations', { body: { name, regionId: region } })).body.id
  const [atlanta, boston] = [await newLocation('Atlanta'), await newLocation('Boston')]
  const locations = () =>
    Promise.all([7, 8, 9].map(async (id) => (await org.call('GET', `/rooms/${id}`)).body.location?.id ?? null))
  const put = (id: number, locationId: number | null) =>
    org.call('PUT', `/rooms/${id}`, { body: { name: `Room ${id}`, locationId } })
  await put(7, boston)
  const { page } = await shared()
  await visit(page, '/rooms')
  await settled(page, 'Rooms')
  await page.getByRole('row').filter({ hasText: 'Room 7' }).getByText('Boston').waitFor()
  for (const name of ['Room 7 (Boston)', 'Room 8', 'Room 9'])
    await page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).click()
  expect(await bar(page).getByRole('button', { name: 'Move', exact: true }).count()).toBe(0)
  await bar(page).getByRole('button', { name: 'Change location' }).click()
  const dialog = page.getByRole('dialog', { name: 'Change location: 3 rooms' })
  await dialog.getByRole('combobox', { name: 'Location' }).click()
  await page.getByRole('option', { name: 'Atlanta (Americas)' }).click()
  await expectAccessible(page)
  // Another person moves a room after the button was clicked.
  const reads = /\/rooms\/9$/
  const moveBefore = async (route: Route) => {
    await put(9, boston)
    await route.continue()
  }
  await page.route(reads, moveBefore, { times: 1 })
  await dialog.getByRole('button', { name: 'Move 3 rooms to Atlanta (Americas)' }).click()
  const notice = page.getByRole('alert').filter({ hasText: '2 rooms moved to Atlanta (Americas)' })
  await notice.getByText('1 room was not moved to Atlanta (Americas).').waitFor()
  await notice.getByText('Room 9: Its location was changed in the meantime.').waitFor()
  await expectAccessible(page)
  expect(await locations()).toEqual([atlanta, atlanta, boston])
  const devices = (await org.call('GET', '/rooms/7')).body.endpoints
  expect(devices, 'the devices stay in their room').toHaveLength(2)

  // A room that was moved again since is not moved back.
  await put(8, boston)
  await notice.getByRole('button', { name: 'Undo' }).click()
  const undone = page.getByRole('alert').filter({ hasText: '1 room moved back' })
  await undone.getByText('Room 8: Its location was changed in the meantime.').waitFor()
  expect(await locations()).toEqual([boston, boston, boston])
  await undone.getByRole('button').last().click()
  for (const id of [7, 8, 9]) await put(id, null)
})

// In `npm test` the test before it has progress and Undo on the page itself.
test.runIf(isFullForm)('a change of locations shows its progress on other pages too, and stops there', async () => {
  const location = (await org.call('POST', '/locations', { body: { name: 'Chicago' } })).body.id
  const { page } = await shared()
  await visit(page, '/rooms')
  await settled(page, 'Rooms')
  for (const id of [10, 11, 12]) await page.getByRole('checkbox', { name: `Select Room ${id}`, exact: true }).click()
  await bar(page).getByRole('button', { name: 'Change location' }).click()
  const dialog = page.getByRole('dialog', { name: 'Change location: 3 rooms' })
  await dialog.getByRole('combobox', { name: 'Location' }).click()
  await page.getByRole('option', { name: 'Chicago' }).click()
  const second = Promise.withResolvers<Route>()
  const released = Promise.withResolvers<void>()
  const hold = async (route: Route) => {
    if (route.request().method() !== 'PUT') return route.continue()
    second.resolve(route)
    await released.promise
    await route.continue()
  }
  await page.route(/\/rooms\/11$/, hold)
  await dialog.getByRole('button', { name: 'Move 3 rooms to Chicago' }).click()
  await second.promise
  await page.getByRole('navigation').getByRole('link', { name: 'Devices' }).click()
  await settled(page, 'Devices')
  const progress = page.getByRole('alert').filter({ hasText: '1 of 3 rooms' })
  await expectAccessible(page)
  await progress.getByRole('button', { name: 'Stop' }).click()
  released.resolve()
  const notice = page.getByRole('alert').filter({ hasText: '2 rooms moved to Chicago' })
  await notice.getByText('Stopped: 1 room was not moved to Chicago.').waitFor()
  await page.unroute(/\/rooms\/11$/)
  const locationOf = async (id: number) => (await org.call('GET', `/rooms/${id}`)).body.location?.id
  expect(await Promise.all([10, 11, 12].map(locationOf))).toEqual([location, location, undefined])
  // In the short form the test before this undoes a change.
  if (!isFullForm) return
  await notice.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('alert').filter({ hasText: '2 rooms moved back' }).waitFor()
  expect(await Promise.all([10, 11, 12].map(locationOf))).toEqual([undefined, undefined, undefined])
})

test.runIf(isFullForm)(
  'a move of devices names their number and the room in its plan and its button, and is undone',
  async () => {
    const atlanta = (await org.call('POST', '/locations', { body: { name: 'Atlanta' } })).body.id
    const { id: fjord } = (await org.call('POST', '/rooms', { body: { name: 'Fjord', locationId: atlanta } })).body
    const roomsOf = async () => {
      const { endpoints } = (await org.call('GET', '/endpoints')).body
      const chosen = endpoints.filter(({ serial }: { serial: string }) => ['BAR00010', 'BAR00011'].includes(serial))
      return chosen.map(({ roomId }: { roomId: number }) => roomId).sort((a: number, b: number) => a - b)
    }
    expect(await roomsOf()).toEqual([10, 11])
    const { page } = await shared()
    await visit(page, '/devices')
    await settled(page, 'Devices')
    for (const name of ['Bar R00010', 'Bar R00011']) {
      await page.getByRole('row').filter({ hasText: name }).getByRole('checkbox').click()
    }
    await bar(page).getByRole('button', { name: 'Move', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Move: 2 devices' })
    await dialog.getByRole('combobox', { name: 'Room' }).click()
    await page.getByRole('option', { name: 'Fjord (Atlanta)' }).click()
    await dialog.getByRole('button', { name: 'Review' }).click()
    await dialog.getByRole('paragraph').filter({ hasText: 'Move 2 devices to Fjord (Atlanta)' }).waitFor()
    await dialog.getByText('2 devices in 2 rooms').waitFor()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Move 2 devices to Fjord (Atlanta)' }).click()
    await page.getByRole('alert').filter({ hasText: 'Started for 2 devices in ' }).waitFor()
    await until('both devices to be in Fjord', async () => (await roomsOf()).every((id: number) => id === fjord))
    const [job] = await jobs()
    expect(job).toMatchObject({ name: 'Move to Fjord (Atlanta)', canRollBack: true })

    await visit(page, `/jobs/${job.id}`)
    await settled(page, 'Move to Fjord (Atlanta)')
    await page.getByRole('main').getByRole('button', { name: 'Roll back' }).click()
    await page.getByText('Every device that is still where the job put it').waitFor()
    await expectAccessible(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back', exact: true }).click()
    await page.getByRole('heading', { level: 1 }).locator('..').getByText('Rolled back').waitFor()
    expect(await roomsOf()).toEqual([10, 11])
  },
)

test.runIf(isFullForm)('a session that may only read selects and exports, and has no actions', async () => {
  const key = await org.newKey({ scopes: ['read'] })
  const tab = await shared()
  const { page } = tab
  await changeSession(tab, await signInByApi(harness.url, key))
  await visit(page, '/devices')
  await page.getByRole('checkbox', { name: 'Select all 30 that match' }).click()
  expect(await bar(page).getByRole('button').allTextContents()).toEqual(['Export CSV', 'Clear'])
})
