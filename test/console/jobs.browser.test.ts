// Tests the wizard, the list and the page of a job in stages: it is paused, resumed and undone. [contract 12.states]
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAccessible, phone } from '../support/console/accessibility.ts'
import {
  changeSession,
  closeTabs,
  consolePort,
  expectTrouble,
  openBrowser,
  openTab,
  settled,
  sharedTab,
  visit,
} from '../support/console/browser.ts'
import { type ConsoleFleet, startConsoleFleet } from '../support/console/console-fleet.ts'
import { closedWindow, planNightMode } from '../support/console/job-wizard.ts'
import { sessionStateOf } from '../support/console/person-tab.ts'
import { startDevice, type Wanted } from '../support/devices/agent-device.ts'
import { newDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { newIncident } from '../support/incidents.ts'
import { isFullForm, isLongForm } from '../support/long-form.ts'
import { newPerson } from '../support/person.ts'
import { until } from '../support/program.ts'

let harness: Harness
let fleet: ConsoleFleet
let browser: Browser
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  fleet = await startConsoleFleet(harness)
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await fleet.stop()
  await harness.close()
})

/** All roles have one tab in turn, so tests of the same role follow each other. */
const shared = sharedTab(() => {
  roleOfTab = undefined
  return openTab(browser, harness.url)
})
type Role = 'admin' | 'operator' | 'viewer'
let roleOfTab: Role | undefined
async function pageOf(role: Role, viewport = { width: 1366, height: 900 }): Promise<Page> {
  const tab = await shared()
  if (role !== roleOfTab) {
    const person = await newPerson(harness, fleet.org, { role, allRegions: true })
    await changeSession(tab, sessionStateOf(harness, person))
    roleOfTab = role
  }
  await tab.page.setViewportSize(viewport)
  return tab.page
}
const jobs = async () => (await fleet.org.call('GET', '/jobs')).body.jobs

test('the wizard shows the plan of a job in stages, which is paused, resumed and undone', async () => {
  const page = await pageOf('admin')
  await planNightMode(page)
  await page.getByText('(now: not set on 3)').waitFor()
  await page.getByText('Stage 2: 1 room', { exact: true }).waitFor()
  await page.getByText('1 device is not connected. A room waits until all of its devices are online.').waitFor()
  expect(await jobs()).toEqual([])
  await page.getByLabel('Name of the job').fill('Night mode in Europe')
  await page.getByRole('button', { name: 'Start job' }).click()
  await settled(page, 'Night mode in Europe')
  const [job] = await jobs()
  expect(job).toMatchObject({ name: 'Night mode in Europe', stageCount: 2, unitCount: 2 })

  // The room whose devices are online is changed, and watched.
  await until('the device to have the setting', () => fleet.bar.settings.nightMode === true)
  await page.getByRole('table', { name: 'Rooms of the job' }).getByText('Monitoring').waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  expect((await jobs())[0].state).toBe('PAUSED')
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()

  await page.getByRole('button', { name: 'Roll back' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('checkbox', { name: 'Roll back immediately' }).check()
  await dialog.getByRole('button', { name: 'Roll back' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('heading', { level: 1 }).locator('..').getByText('Rolled back').waitFor()
  await until('the device to have what it had before', () => fleet.bar.settings.nightMode === undefined)
  expect((await jobs())[0].state).toBe('ROLLED_BACK')
})

test('a job is run again from its page, and a usual job is repeated every night, paused, edited and deleted', async () => {
  const page = await pageOf('admin')
  const [job] = await jobs()
  await visit(page, `/jobs/${job.id}`)
  await settled(page, job.name)
  await page.getByRole('link', { name: 'Run again' }).click()
  await page.getByText('Times and passwords are not copied.').waitFor()
  await page.getByText('3 devices in 2 rooms', { exact: true }).waitFor()
  const steps = page.getByRole('list', { name: 'Steps' })
  await steps.getByText('Night mode: On').waitFor()
  await steps.getByText('Regions: Europe.').waitFor()
  await steps.getByText('In 2 stages').waitFor()
  await page.getByRole('button', { name: 'Save as draft' }).click()
  await settled(page, job.name)
  const [copy] = await jobs()
  const request = async (id: string) => {
    const { name, target, action, stages, soakMinutes, failures, onFailure, respect, pace } = (
      await fleet.org.call('GET', `/jobs/${id}`)
    ).body
    return { name, target, action, stages, soakMinutes, failures, onFailure, respect, pace }
  }
  expect([copy.state, copy.id === job.id]).toEqual(['DRAFT', false])
  expect(await request(copy.id)).toEqual(await request(job.id))

  await visit(page, '/jobs?tab=recurring')
  await page.getByText('No recurring jobs').waitFor()
  await page.getByRole('link', { name: 'New recurring job' }).first().click()
  await page.getByRole('button', { name: 'Restart every night' }).click()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('All devices', { exact: true }).click()
  await page.getByRole('button', { name: 'Next' }).click()
  expect(await page.getByRole('group', { name: 'Days' }).getByRole('checkbox', { checked: true }).count()).toBe(7)
  await page.getByLabel('Time', { exact: true }).fill('02:30')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('Every day at 02:30, by the clocks of each location.').waitFor()
  await page.getByRole('button', { name: 'Create recurring job' }).click()
  await settled(page, 'Restart every night')
  const recurring = async () => (await fleet.org.call('GET', '/recurring_jobs')).body.recurringJobs
  const schedule = { days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], at: '02:30' }
  const [created] = await recurring()
  expect(created).toMatchObject({ target: { all: true }, action: { type: 'REBOOT' }, schedule })
  const nextRuns = page.getByRole('table', { name: 'Next runs' })
  await nextRuns.getByRole('rowheader', { name: created.nextRuns[0].timezone }).waitFor()
  await page.getByText('No runs yet.').waitFor()
  await expectAccessible(page)

  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('No runs while it is paused.').waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByRole('button', { name: 'Schedule' }).click()
  for (const day of ['Sat', 'Sun']) await page.getByRole('checkbox', { name: day }).uncheck()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Restart · Mon to Fri at 02:30').waitFor()
  expect(await recurring()).toMatchObject([{ state: 'ACTIVE', schedule: { days: schedule.days.slice(0, 5) } }])
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete recurring job' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No recurring jobs').waitFor()
  expect(await recurring()).toEqual([])
})

test.runIf(isFullForm)('an undo that waits for a change window is hurried from the page of the job', async () => {
  const { org, rooms, bar } = fleet
  const action = { type: 'CONFIG', config: { bluetooth: true } }
  const body = { name: 'Bluetooth', start: true, target: { roomIds: [rooms.fjord] }, action, respect: { window: true } }
  const { id } = (await org.call('POST', '/jobs', { body })).body
  const read = async () => (await org.call('GET', `/jobs/${id}`)).body
  await until('the job to end', async () => (await read()).state === 'SUCCEEDED')
  const locationId = (await org.call('GET', `/rooms/${rooms.fjord}`)).body.location.id
  const setWindow = (changeWindow: object | null) =>
    org.call('PUT', `/locations/${locationId}`, { body: { changeWindow } })
  expect((await setWindow(closedWindow(harness.clock.now()))).status).toBe(200)
  const page = await pageOf('admin')
  await visit(page, `/jobs/${id}`)
  await settled(page, 'Bluetooth')
  await page.getByRole('button', { name: 'Roll back' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click()
  await page.getByRole('button', { name: 'Roll back now' }).click()
  const dialog = page.getByRole('dialog', { name: 'Roll back Bluetooth now?' })
  await dialog.waitFor()
  await expectAccessible(page)
  expect([(await read()).state, bar.settings.bluetooth]).toEqual(['ROLLING_BACK', true])
  await dialog.getByRole('button', { name: 'Roll back now' }).click()
  await page.getByRole('heading', { level: 1 }).locator('..').getByText('Rolled back').waitFor()
  await until('the device to have what it had before', () => bar.settings.bluetooth === undefined)
  await setWindow(null)
})

test('the page of a job has a bar for each stage, its counts lead to their rooms, and Retry failed ends what failed', async () => {
  const { org } = fleet
  const rejects: Record<string, string> = { bluetooth: 'not in this building' }
  const newRoom = async (name: string, tags: string[], device: Pick<Wanted, 'serial' | 'rejects'>) => {
    const roomId: number = (await org.call('POST', '/rooms', { body: { name, tags } })).body.id
    return { roomId, device: await startDevice(harness, org, { roomId, model: 'NF19B1', ...device }) }
  }
  const rooms = [
    await newRoom('Lund', [], { serial: 'BAR00011' }),
    await newRoom('Vik', ['canary'], { serial: 'BAR00012', rejects }),
  ]
  const body = {
    ...{ name: 'Bluetooth in stages', start: true, target: { roomIds: rooms.map(({ roomId }) => roomId) } },
    ...{ action: { type: 'CONFIG', config: { bluetooth: true } }, onFailure: 'pause' },
    ...{ stages: [{ rooms: 1 }, { percent: 100 }], soakMinutes: 0 },
  }
  const { id } = (await org.call('POST', '/jobs', { body })).body
  const page = await pageOf('admin')
  await visit(page, `/jobs/${id}`)
  await settled(page, body.name)
  const stage = (n: number) =>
    page
      .getByRole('list', { name: 'Stages' })
      .getByRole('listitem')
      .nth(n - 1)
  const count = (n: number, text: string) => stage(n).getByRole('link', { name: text })
  await count(1, 'Failed 1').waitFor()
  await count(2, 'Not started 1').waitFor()
  expect(await stage(1).textContent()).toContain('Stage 1')
  expect(await stage(1).textContent()).toContain('1 room')
  const table = page.getByRole('table', { name: 'Rooms of the job' })
  await table.getByText('Lund').waitFor()
  await count(1, 'Failed 1').click()
  await page.waitForURL(/state=FAILED/)
  expect(new URL(page.url()).searchParams.get('stage')).toMatch(/1/)
  await table.getByText('Lund').waitFor({ state: 'detached' })
  await table.getByText('Vik').waitFor()
  await table.getByText('not in this building').waitFor()
  await page.getByRole('textbox', { name: 'Search rooms' }).fill('lund')
  await page.getByText('No rooms match these filters').waitFor()
  await page.getByRole('textbox', { name: 'Search rooms' }).fill('vik')
  await table.getByText('Vik').waitFor()
  await expectAccessible(page)

  delete rejects.bluetooth
  await page.getByRole('button', { name: 'Retry failed' }).click()
  await count(1, 'Succeeded 1').waitFor()
  await count(2, 'Succeeded 1').waitFor()
  await page.getByRole('heading', { level: 1 }).locator('..').getByText('Succeeded').waitFor()
  // The filter that was chosen still says so when its last room has left the state.
  await page.getByRole('combobox', { name: 'State: Failed (0)' }).waitFor()
  await expectNextPageFailure(page, `/jobs/${id}`)
  expect(rooms.map(({ device }) => device.settings.bluetooth)).toEqual([true, true])
  for (const { device } of rooms) await device.stop()
})

/** Events of a job are read at most every three seconds. */
const eventPauseMs = 4000

/** A page of rooms that cannot be read is asked for once, and again when the user asks. */
async function expectNextPageFailure(page: Page, path: string): Promise<void> {
  const { trouble } = await shared()
  const { rooms } = (await fleet.org.call('GET', `${path}/rooms`)).body
  const reads = /\/jobs\/[^/]+\/rooms\?/
  // A read that a late event of the job causes would clear the error.
  let lastReadMs = Date.now()
  page.on('request', (request) => {
    if (reads.test(request.url())) lastReadMs = Date.now()
  })
  await until('the last event of the job has been read', () => Date.now() - lastReadMs > eventPauseMs)
  let asked = 0
  let isBroken = true
  await page.route(reads, (route) => {
    const isNext = new URL(route.request().url()).searchParams.get('pageToken') === 'next'
    if (!isNext) return route.fulfill({ json: { rooms, nextPageToken: 'next' } })
    asked++
    return isBroken
      ? route.fulfill({ status: 400, json: { code: 'INVALID', message: 'No such page.' } })
      : route.fulfill({ json: { rooms: [], nextPageToken: '' } })
  })
  await page.getByRole('textbox', { name: 'Search rooms' }).fill('v')
  const alert = page.getByRole('main').getByRole('alert')
  await alert.waitFor()
  // The next reads of the page would follow each other at once.
  await page.getByRole('table', { name: 'Rooms of the job' }).getByText('Vik').hover()
  await expectAccessible(page)
  expect(asked).toBe(1)
  isBroken = false
  await alert.getByRole('button', { name: 'Try again' }).click()
  await alert.waitFor({ state: 'detached' })
  expect(asked).toBe(2)
  await page.unroute(reads)
  expectTrouble(trouble, /status of 400/)
}

/** Looks at every step of the wizard, and saves a draft. */
async function draftOnPhone(page: Page): Promise<void> {
  await visit(page, '/jobs/new')
  await page.getByRole('radio', { name: 'Change settings' }).check()
  await page.getByRole('radiogroup', { name: 'Night mode' }).getByText('On', { exact: true }).click()
  await expectAccessible(page, true)
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('combobox', { name: 'Regions' }).click()
  await page.getByRole('option', { name: 'Europe' }).click()
  await page.keyboard.press('Escape')
  await page.getByText('3 devices in 2 rooms match').waitFor()
  await expectAccessible(page, isLongForm)
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('button', { name: 'Add stage' }).waitFor()
  await expectAccessible(page, true)
  await page.getByRole('button', { name: 'Remove stage 2' }).click()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('3 devices in 2 rooms', { exact: true }).waitFor()
  await expectAccessible(page, true)
  await page.getByRole('button', { name: 'Save as draft' }).click()
}

// In `npm test` `incidents-axe` has dialogs and `pages` has the wizard on a phone.
test.runIf(isFullForm)(
  'on a phone every step of the wizard and every dialog of a job fits; a draft is started and cancelled from its page, and the room says what waits for it',
  async () => {
    const page = await pageOf('admin', phone)
    if (isFullForm) await draftOnPhone(page)
    else {
      // The test above has the wizard; here the API makes the draft.
      const action = { type: 'CONFIG', config: { nightMode: true } }
      const draft = { name: 'Night mode: On', target: { roomIds: [fleet.rooms.fjord, fleet.rooms.skog] }, action }
      await visit(page, `/jobs/${(await fleet.org.call('POST', '/jobs', { body: draft })).body.id}`)
    }
    await settled(page, 'Night mode: On')
    expect((await jobs())[0].state).toBe('DRAFT')
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    await visit(page, `/rooms/${fleet.rooms.skog}`)
    await page.getByRole('note').getByText('The job is paused').waitFor()
    await page.getByRole('note').getByRole('link', { name: 'Night mode: On' }).click()
    await settled(page, 'Night mode: On')
    const dialog = page.getByRole('dialog')
    for (const name of isFullForm ? ['Roll back', 'Cancel job'] : ['Cancel job']) {
      await page.getByRole('main').getByRole('button', { name, exact: true }).click()
      await dialog.waitFor()
      await expectAccessible(page, isLongForm)
      if (name === 'Roll back') await page.keyboard.press('Escape')
      else await dialog.getByRole('button', { name }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    await page.getByRole('heading', { level: 1 }).locator('..').getByText('Cancelled').waitFor()
    expect((await jobs())[0].state).toBe('CANCELLED')
  },
)

test.runIf(isFullForm)(
  'a room says why a job waits for it: for a device, for its change window, or until it is empty',
  async () => {
    const { org, rooms } = fleet
    const start = async (name: string, roomId: number, respect: object) => {
      const action = { type: 'CONFIG', config: { bluetooth: true } }
      const body = { name, start: true, target: { roomIds: [roomId] }, action, respect }
      return (await org.call('POST', '/jobs', { body })).body.id as string
    }
    const page = await pageOf('viewer')
    const expectNote = async (roomId: number, name: string, text: string) => {
      await visit(page, `/rooms/${roomId}`)
      await page.getByRole('note').filter({ hasText: name }).getByText(text).waitFor()
    }
    const cancel = (id: string) => org.call('POST', `/jobs/${id}/cancel`, { body: {} })
    const offline = await start('Offline', rooms.skog, {})
    await expectNote(rooms.skog, 'Offline', 'Waits for devices that are not connected')
    await cancel(offline)
    await fleet.bar.sample({ people: 5 })
    const busy = await start('Busy', rooms.fjord, { idle: true })
    await expectNote(rooms.fjord, 'Busy', 'Waits until the room is empty')
    await cancel(busy)
    const locationId = (await org.call('GET', `/rooms/${rooms.fjord}`)).body.location.id
    const setWindow = (changeWindow: object | null) =>
      org.call('PUT', `/locations/${locationId}`, { body: { changeWindow } })
    await setWindow(closedWindow(harness.clock.now()))
    const night = await start('At night', rooms.fjord, { window: true })
    await expectNote(rooms.fjord, 'At night', 'Waits for the change window of the location')
    await cancel(night)
    await setWindow(null)
  },
)

// In `npm test` `pages` has the page of a job for a key that only reads, and `roles` what an operator is offered.
test.runIf(isFullForm)(
  'a viewer sees jobs and cannot steer them; an operator is not offered to change settings',
  async () => {
    // In the short form pages.browser.test.ts has a key that only reads.
    if (isFullForm) {
      const viewer = await pageOf('viewer')
      const body = { name: 'Restarts', target: { regionIds: [1] }, action: { type: 'REBOOT' } }
      const job = (await fleet.org.call('POST', '/jobs', { body })).body
      for (const path of ['/jobs', `/jobs/${job.id}`]) {
        await visit(viewer, path)
        await settled(viewer, path === '/jobs' ? 'Jobs' : job.name)
        const steer = /^(New job|Start|Pause|Resume|Roll back|Retry|Cancel)\b/
        expect(await viewer.getByRole('main').getByRole('button', { name: steer }).count()).toBe(0)
        expect(await viewer.getByRole('main').getByRole('link', { name: steer }).count()).toBe(0)
      }
    }
    const operator = await pageOf('operator')
    await visit(operator, '/jobs/new')
    await operator.getByRole('radio', { name: 'Restart' }).waitFor()
    expect(await operator.getByRole('radio', { name: 'Change settings' }).count()).toBe(0)
  },
)

test.runIf(isFullForm)(
  'a restart waits for people in the room and for a device that is offline, and their pages say so',
  async () => {
    const page = await pageOf('operator', phone)
    const dialog = page.getByRole('dialog')
    await visit(page, `/rooms/${fleet.rooms.fjord}`)
    await page.getByRole('button', { name: 'Restart room' }).click()
    await dialog.getByText('People are in the room.').waitFor()
    expect(await dialog.getByRole('radio', { name: 'When the room is empty' }).isChecked()).toBe(true)
    await expectAccessible(page, true)
    await dialog.getByRole('button', { name: 'Restart later' }).click()
    await page.getByText('Bar R00001: Restart waits until the room is empty').waitFor()

    const { endpoints } = (await fleet.org.call('GET', '/endpoints')).body
    const offline = endpoints.find(({ serial }: { serial: string }) => serial === 'BAR00002')
    await visit(page, `/devices/${offline.id}`)
    await page.getByRole('button', { name: 'Restart', exact: true }).click()
    await dialog.getByText('is offline and will restart when it is back').waitFor()
    const choices = await dialog
      .getByRole('radio')
      .evaluateAll((radios) => radios.map((one) => one.getAttribute('value')))
    expect(choices).toEqual(['idle', 'window'])
    await expectAccessible(page, isLongForm)
    await dialog.getByRole('button', { name: 'Restart later' }).click()
    await page.getByText('Restart waits until the device is online').waitFor()
    await expectAccessible(page, isLongForm)
    expect([fleet.bar.reboots, fleet.pad.reboots]).toEqual([0, 0])
  },
)

test.runIf(isFullForm)(
  'a restart in a call waits by default although no people are counted, also from an incident',
  async () => {
    const { org } = fleet
    const roomId: number = (await org.call('POST', '/rooms', { body: { name: 'Nes' } })).body.id
    const device = await newDevice(harness, org, { roomId, model: 'NF21C1' })
    await device.publish('status', { inCallStatus: 'TEAMS' })
    const incident = await newIncident(harness, org, { endpoints: [device.id] })
    const page = await pageOf('operator')
    const dialog = page.getByRole('dialog')
    const isIdleChosen = () => dialog.getByRole('radio', { name: 'When the room is empty' }).isChecked()
    await visit(page, `/rooms/${roomId}`)
    await page.getByRole('button', { name: 'Restart room' }).click()
    await dialog.getByText('in a Teams call').waitFor()
    await dialog.getByRole('button', { name: 'Restart later' }).waitFor()
    expect([await isIdleChosen(), await dialog.getByText('People are in the room.').count()]).toEqual([true, 0])
    await visit(page, `/incidents/${incident}`)
    await page
      .getByRole('button', { name: /^Restart/ })
      .first()
      .click()
    await dialog.getByText('now in a Teams call').waitFor()
    await dialog.getByRole('button', { name: 'Restart later' }).waitFor()
    expect(await isIdleChosen()).toBe(true)
    await device.close()
  },
)
