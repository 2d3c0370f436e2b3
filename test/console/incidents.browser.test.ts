// Tests the work list of incidents and the page of one, in a real browser. [contract 10.states]
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dayMs, hourMs, minuteMs } from '../../src/contract/durations.ts'
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
  visit,
} from '../support/console/browser.ts'
import { type ConsoleFleet, startConsoleFleet } from '../support/console/console-fleet.ts'
import { focusedName, idsIn, incidentRow } from '../support/console/incident-list.ts'
import { sessionStateOf } from '../support/console/person-tab.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { newIncident } from '../support/incidents.ts'
import { isFullForm } from '../support/long-form.ts'
import { newPerson, type TestPerson } from '../support/person.ts'
import { until } from '../support/program.ts'

let harness: Harness
let fleet: ConsoleFleet
let browser: Browser
let owner: TestPerson
let skogBar: string
/** Incidents that are there before the list is loaded, because `newIncident` sends no event that would add a row to it. */
let early: Record<'warning' | 'info' | 'row', string>
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  fleet = await startConsoleFleet(harness)
  const { endpoints } = (await fleet.org.call('GET', '/endpoints')).body
  skogBar = endpoints.find(({ serial }: { serial: string }) => serial === 'BAR00002').id
  owner = await newPerson(harness, fleet.org, { role: 'owner', allRegions: true })
  early = {
    warning: await newIncident(harness, fleet.org, { endpoints: [skogBar] }),
    info: await newIncident(harness, fleet.org, { endpoints: [skogBar], severity: 'INFO', state: 'ACKNOWLEDGED' }),
    row: await newIncident(harness, fleet.org, { endpoints: [skogBar] }),
  }
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await fleet.stop()
  await harness.close()
})

const now = () => harness.clock.now()
const incident = async (id: string) => (await fleet.org.call('GET', `/incidents/${id}`)).body
const shared = sharedTab(() => openTab(browser, harness.url, sessionStateOf(harness, owner)))

const openMenu = (row: Locator) => row.getByRole('button', { name: /^Actions: / }).click()

/** Chooses an action in the menu of a row. */
async function startTask(row: Locator, name: string): Promise<void> {
  await openMenu(row)
  await row.page().getByRole('menuitem', { name }).click()
}

async function openList(): Promise<Page> {
  const { page } = await shared()
  await visit(page, '/incidents')
  await settled(page, 'Incidents')
  await page.getByRole('table', { name: 'Incidents' }).waitFor()
  return page
}

test('the work list is sorted by severity and duration, and shows place, duration, times, note and owner', async () => {
  const before = await incidentIds()
  const short = await newIncident(harness, fleet.org, { endpoints: [fleet.pad.id], since: now() - 20 * minuteMs })
  const critical = await newIncident(harness, fleet.org, {
    endpoints: [skogBar],
    severity: 'CRITICAL',
    since: now() - 5 * minuteMs,
  })
  const long = await newIncident(harness, fleet.org, {
    endpoints: [fleet.bar.id],
    since: now() - 3 * hourMs - 12 * minuteMs - 20_000,
    occurrences: 2,
    assigneeId: Number(owner.id),
  })
  // The cause was there before, in this week and in an earlier one.
  const earlier = { endpoints: [fleet.bar.id], state: 'RESOLVED' as const }
  const ended = await Promise.all(
    [8, 2].map((days) =>
      newIncident(harness, fleet.org, {
        ...earlier,
        since: now() - (days + 1) * dayMs,
        resolvedAt: now() - days * dayMs,
        timeline: [{ at: now(), kind: 'COMMENT', text: `Over for ${days} days.` }],
      }),
    ),
  )
  const snoozed = await newIncident(harness, fleet.org, {
    endpoints: [skogBar],
    rule: 'firmware.behind',
    snoozedUntil: now() + hourMs,
  })

  const page = await openList()
  const [fresh, all] = [[critical, long, short], await idsIn(page)]
  expect(all.filter((id) => !before.includes(id))).toEqual(fresh)
  expect(all).not.toContain(snoozed)
  const text = (await incidentRow(page, long).innerText()).replaceAll(/\s+/g, ' ')
  expect(text).toContain('Warning')
  expect(text).toContain('Fjord')
  expect(text).toContain('Oslo · Europe')
  expect(text).toContain('3 h 12 min')
  expect(text).toMatch(/min 3 /)
  expect(text).toContain('The HDMI cable is on order.')
  expect(text).toContain(owner.email)
  await page.getByRole('navigation', { name: 'Pages' }).getByText(`${all.length} open`).waitFor()

  await visit(page, '/incidents?state=snoozed')
  await incidentRow(page, snoozed).waitFor()
  expect(await idsIn(page)).toEqual([snoozed])

  // The last to end comes first, and says when that was.
  await visit(page, '/incidents?state=resolved')
  await incidentRow(page, ended[0] ?? '').waitFor()
  expect((await idsIn(page)).filter((id) => ended.includes(id))).toEqual(ended.toReversed())
  const resolved = (await incidentRow(page, ended[1] ?? '').innerText()).replaceAll(/\s+/g, ' ')
  expect(resolved).toMatch(/\d+ \w+, \d\d:\d\d /)
  expect(resolved).toContain('Over for 2 days.')
})

const incidentIds = async (): Promise<string[]> =>
  (await fleet.org.call('GET', '/incidents')).body.incidents.map(({ id }: { id: string }) => id)

// In `npm test` `lists` has filters and orders in the address of another list.
test.runIf(isFullForm)('the filters are in the address, and a heading sorts', async () => {
  const { warning, info } = early
  const page = await openList()
  await page.getByRole('combobox', { name: 'Severity' }).click()
  await page.getByRole('option', { name: 'Info' }).click()
  await incidentRow(page, warning).waitFor({ state: 'detached' })
  expect(await idsIn(page)).toContain(info)
  await page.getByRole('combobox', { name: 'State' }).click()
  await page.getByRole('option', { name: 'Acknowledged', exact: true }).click()
  await page.getByRole('button', { name: 'Duration' }).click()
  await until(
    'the address has all of it',
    () => new URL(page.url()).search === '?severity=INFO&state=acknowledged&sort=duration',
  )
  await page.reload()
  await incidentRow(page, info).waitFor()
  expect(await incidentRow(page, warning).count()).toBe(0)
  await page.getByLabel('Search incidents').fill('bergen')
  await incidentRow(page, info).waitFor()
  await page.getByLabel('Search incidents').fill('no such thing')
  await page.getByText('No incidents match these filters').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await incidentRow(page, warning).waitFor()
  // A mistyped address filters nothing, and no chip is set.
  await visit(page, '/incidents?severity=mistyped&rule=mistyped')
  await incidentRow(page, warning).waitFor()
  await page.getByRole('combobox', { name: 'Severity', exact: true }).waitFor()
})

test('a row is acknowledged, snoozed and given a note without leaving the list', async () => {
  const id = early.row
  const page = await openList()
  await incidentRow(page, id)
    .getByRole('button', { name: /^Acknowledge/ })
    .click()
  await incidentRow(page, id).getByText('Acknowledged').waitFor()
  await incidentRow(page, id).getByText(owner.email).waitFor()
  expect((await incident(id)).state).toBe('ACKNOWLEDGED')
  expect(
    await incidentRow(page, id)
      .getByRole('button', { name: /^Acknowledge/ })
      .count(),
  ).toBe(0)
  // The button in the same place withdraws it, so that the focus of the keyboard is not lost.
  expect(await focusedName(page)).toMatch(/^Unacknowledge: /)
  await page.keyboard.press('Enter')
  await incidentRow(page, id)
    .getByRole('button', { name: /^Acknowledge/ })
    .waitFor()
  expect((await incident(id)).state).toBe('OPEN')
  expect(await focusedName(page)).toMatch(/^Acknowledge: /)

  await startTask(incidentRow(page, id), 'Add note')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Note', { exact: true }).fill('The switch is being replaced.')
  await dialog.getByLabel('Note', { exact: true }).press('Control+Enter')
  await dialog.waitFor({ state: 'detached' })
  await incidentRow(page, id).getByText('The switch is being replaced.').waitFor()
  const { notes } = (await fleet.org.call('GET', `/rooms/${fleet.rooms.skog}/notes`)).body
  expect(notes[0].note).toBe('The switch is being replaced.')

  await startTask(incidentRow(page, id), 'Snooze')
  await dialog.getByLabel('Until resolved').check()
  await dialog.getByRole('button', { name: 'Snooze' }).click()
  await incidentRow(page, id).waitFor({ state: 'detached' })
  expect((await incident(id)).snoozedUntil).toBe('cleared')
})

test('selected incidents are acknowledged, assigned, snoozed and silenced, and a refused one is named and stays selected', async () => {
  const titles = ['firmware.behind', 'clock.unreachable', 'storage.low'] as const
  const ids = await Promise.all(
    titles.map((rule) => newIncident(harness, fleet.org, { rule, endpoints: [fleet.pad.id], severity: 'CRITICAL' })),
  )
  const page = await openList()
  const { trouble } = await shared()
  await page.reload()
  const select = async () => {
    for (const id of ids) await incidentRow(page, id).getByRole('checkbox').check()
  }
  const bar = page.getByRole('region', { name: 'Selection' })
  const states = async () => Promise.all(ids.map(async (id) => (await incident(id)).state))
  const [refusedId = ''] = ids
  await page.route(`**/incidents/${refusedId}/acknowledge`, (route) =>
    route.fulfill({ status: 400, json: { code: 'FAILED_PRECONDITION', message: 'It was changed.' } }),
  )
  await select()
  await bar.getByText('3 selected').waitFor()
  await expectAccessible(page)
  await bar.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByText('2 incidents acknowledged').waitFor()
  await page.getByText(`${(await incident(refusedId)).title}: It was changed.`).waitFor()
  await bar.getByText('1 selected').waitFor()
  expect(await states()).toEqual(['OPEN', 'ACKNOWLEDGED', 'ACKNOWLEDGED'])
  expectTrouble(trouble, /status of 400/)
  await page.unroute(`**/incidents/${refusedId}/acknowledge`)
  await bar.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByText('1 incident acknowledged').waitFor()
  expect(await states()).toEqual(['ACKNOWLEDGED', 'ACKNOWLEDGED', 'ACKNOWLEDGED'])

  const dialog = page.getByRole('dialog')
  await select()
  await bar.getByRole('button', { name: 'Assign' }).click()
  await dialog.getByRole('button', { name: 'Assign', exact: true }).click()
  await page.getByText('3 incidents assigned').waitFor()
  for (const id of ids) expect((await incident(id)).assignee.id).toBe(owner.id)

  await select()
  await bar.getByRole('button', { name: 'Silence' }).click()
  await expectAccessible(page)
  await dialog.getByLabel('Reason').fill('New furniture')
  await dialog.getByRole('button', { name: 'Silence', exact: true }).click()
  await page.getByText('1 place silenced').waitFor()
  const { silences } = (await fleet.org.call('GET', '/silences')).body
  expect(silences).toMatchObject([{ place: { endpointId: fleet.pad.id }, reason: 'New furniture' }])
  await fleet.org.call('DELETE', `/silences/${silences[0].id}`)

  await select()
  await bar.getByRole('button', { name: 'Snooze' }).click()
  await dialog.getByLabel('Until resolved').check()
  await dialog.getByRole('button', { name: 'Snooze', exact: true }).click()
  await page.getByText('3 incidents snoozed').waitFor()
  for (const id of ids) await incidentRow(page, id).waitFor({ state: 'detached' })
  expect(await bar.count()).toBe(0)
})

test.runIf(isFullForm)(
  'a restart from a row restarts the pair once, and is not offered for an offline device',
  async () => {
    const online = await newIncident(harness, fleet.org, { endpoints: [fleet.bar.id, fleet.pad.id] })
    const offline = await newIncident(harness, fleet.org, { endpoints: [skogBar] })
    const page = await openList()
    await page.reload()
    const dialog = page.getByRole('dialog')
    await startTask(incidentRow(page, online), 'Restart')
    await dialog.getByText('Bar R00001').waitFor()
    await dialog.getByText('Pad D00001').waitFor()
    // People are in the room, so the restart would wait.
    await dialog.getByRole('radio', { name: 'Now' }).check()
    await dialog.getByRole('button', { name: 'Restart 2 devices' }).click()
    await page.getByText('Restarting 2 devices').waitFor()
    await until('both devices restarted', () => fleet.bar.reboots === 1 && fleet.pad.reboots === 1)
    await openMenu(incidentRow(page, offline))
    await page.getByRole('menuitem', { name: 'Snooze' }).waitFor()
    expect(await page.getByRole('menuitem', { name: 'Restart' }).count()).toBe(0)
    await page.keyboard.press('Escape')
  },
)

test('a new incident shows in an open list without a reload, and an action of another person on it reads that incident only: no list is read again', async () => {
  const page = await openList()
  await page.getByRole('status', { name: /^Live/ }).waitFor()
  const id = await newIncident(harness, fleet.org, { endpoints: [skogBar] })
  // A comment is a change like any other: it sends the event that a new incident would send.
  await fleet.org.call('POST', `/incidents/${id}/comments`, { body: { text: 'Seen.' } })
  await incidentRow(page, id).waitFor()
  const asked: string[] = []
  let lastMs = Date.now()
  page.on('request', (request) => {
    asked.push(new URL(request.url()).pathname.split('/').slice(-2).join('/'))
    lastMs = Date.now()
  })
  await until('everything is read that the page shows', () => Date.now() - lastMs > 2000)
  asked.length = 0
  await fleet.org.call('POST', `/incidents/${id}/acknowledge`, { body: {} })
  await incidentRow(page, id).getByText('Acknowledged').waitFor()
  await fleet.org.call('POST', `/incidents/${id}/resolve`, { body: { note: 'Done.' } })
  await incidentRow(page, id).waitFor({ state: 'detached' })
  expect(asked).toEqual([`incidents/${id}`, `incidents/${id}`])
})

test('the page of an incident has its subjects and timeline, and the buttons to work on it', async () => {
  const id = await newIncident(harness, fleet.org, {
    endpoints: [fleet.bar.id, skogBar],
    endedSubjects: [skogBar],
    level: 'MODEL',
    causeId: 'NF19B1',
    causeName: 'Room Bar',
    timeline: [{ at: now(), kind: 'JOINED', text: '1 more device' }],
  })
  const { page } = await shared()
  await visit(page, `/incidents/${id}`)
  const { title, hint } = await incident(id)
  await settled(page, title)
  await page.getByText(hint).waitFor()
  const affected = page.getByRole('table', { name: 'Affected' })
  expect(await affected.getByRole('row').count()).toBe(3)
  await affected.getByText('Ongoing').waitFor()
  await page.getByText('1 of 2 devices affected').waitFor()
  const timeline = page.getByRole('list', { name: 'Timeline' })
  expect(await timeline.getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringContaining('1 more device'),
    expect.stringContaining('Opened'),
  ])

  await page.getByLabel('New comment').fill('On my way.')
  await page.getByRole('button', { name: 'Add comment' }).click()
  await timeline.getByText('On my way.').waitFor()
  await page.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByRole('button', { name: 'Unacknowledge' }).waitFor()
  expect(await focusedName(page)).toBe('Unacknowledge')
  const dialog = page.getByRole('dialog')
  if (isFullForm) {
    await page.getByRole('button', { name: 'Snooze' }).click()
    await dialog.getByLabel(/^7 days, until /).check()
    await dialog.getByRole('button', { name: 'Snooze' }).click()
    await dialog.waitFor({ state: 'detached' })
    // The entry has the time of its end in words.
    await timeline.getByText(/^Until \d.*\d\d:\d\d$/).waitFor()
  }
  // Viewers, and people who do not see the region of the incident, are not offered.
  const viewer = await newPerson(harness, fleet.org, { role: 'viewer', allRegions: true })
  const operator = await newPerson(harness, fleet.org, { role: 'operator', allRegions: true })
  const elsewhere = await newPerson(harness, fleet.org, { role: 'operator' })
  await page.getByRole('button', { name: 'Assign' }).click()
  await dialog.getByRole('combobox', { name: 'Assign to' }).click()
  await page.getByRole('option', { name: operator.email }).waitFor()
  const offered = await page.getByRole('option').allInnerTexts()
  expect(offered).toContain(`${owner.email} (you)`)
  for (const { email } of [viewer, elsewhere]) expect(offered).not.toContain(email)
  await page.getByRole('option', { name: operator.email }).click()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect((await incident(id)).assignee).toEqual({ id: operator.id, name: operator.email })

  await page.getByRole('button', { name: 'Resolve' }).click()
  expect(await dialog.getByRole('button', { name: 'Resolve' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Reason').fill('Accepted until the new devices arrive.')
  // A change that is not about the state does not stop the person.
  await fleet.org.call('POST', `/incidents/${id}/comments`, { body: { text: 'Ordered.' } })
  await page.getByText('Ordered.').waitFor()
  await dialog.getByRole('button', { name: 'Resolve' }).click()
  await timeline.getByText('Accepted until the new devices arrive.').waitFor()
  // The dialog has such a button too until it is gone.
  await page.getByRole('button', { name: 'Resolve' }).first().waitFor({ state: 'detached' })
  expect((await incident(id)).state).toBe('RESOLVED')
  await page.getByText('2 devices were affected').waitFor()
  expect(await page.getByText(hint).count(), 'there is nothing left to do').toBe(0)
})

test('an outage whose devices are back says so until it is resolved [contract 10.cause]', async () => {
  const { bar, pad } = fleet
  const causes = {
    rule: 'device.offline',
    level: 'ROOM',
    causeId: String(fleet.rooms.fjord),
    causeName: 'Fjord',
  } as const
  const id = await newIncident(harness, fleet.org, { ...causes, endpoints: [bar.id, pad.id] })
  const page = await openList()
  await page.reload()
  await incidentRow(page, id)
    .getByText(/^2 online again, resolves in [12] min/)
    .waitFor()
  await page.locator(`a[href="/incidents/${id}"]`).click()
  await page.getByText(/^2 online again, resolves in [12] min$/).waitFor()
  expect(await page.getByText('2 of 2 devices affected').count()).toBe(0)
})

test.runIf(isFullForm)('a long list of what is affected scrolls to its end', async () => {
  const rooms: number[] = []
  for (let i = 1; i <= 30; i++)
    rooms.push((await fleet.org.call('POST', '/rooms', { body: { name: `Hall ${i}` } })).body.id)
  const id = await newIncident(harness, fleet.org, { rooms })
  const { page } = await shared()
  await visit(page, `/incidents/${id}`)
  const last = page.getByRole('table', { name: 'Affected' }).getByRole('row').last()
  await last.waitFor()
  const isVisible = (): Promise<boolean> =>
    page.evaluate(`(() => {
      const row = [...document.querySelectorAll('table[aria-label=Affected] tr')].at(-1)
      const { left, top, height } = row.getBoundingClientRect()
      return row.contains(document.elementFromPoint(left + 4, top + height / 2))
    })()`)
  expect(await isVisible()).toBe(false)
  await last.scrollIntoViewIfNeeded()
  await until('the last row is visible', isVisible)
})

test('the page of a room, and of a device, shows its open incidents first, with who has them and the actions of the work list; past ones are below [contract 10.states]', async () => {
  const { fjord } = fleet.rooms
  const critical = await newIncident(harness, fleet.org, {
    endpoints: [fleet.pad.id],
    severity: 'CRITICAL',
    since: now() - 2 * hourMs,
    assigneeId: Number(owner.id),
  })
  const air = await newIncident(harness, fleet.org, { rooms: [fjord], rule: 'room.crowded', snoozedUntil: 'cleared' })
  const past = await newIncident(harness, fleet.org, {
    endpoints: [fleet.pad.id],
    state: 'RESOLVED',
    since: now() - 5 * dayMs,
    resolvedAt: now() - 5 * dayMs + hourMs,
  })
  const other = await newIncident(harness, fleet.org, { endpoints: [skogBar], severity: 'CRITICAL' })
  const { page } = await shared()
  const open = page.getByRole('region', { name: /open incidents?$/ })
  const item = (id: string) => page.getByRole('listitem').filter({ has: page.locator(`a[href="/incidents/${id}"]`) })

  await page.goto(`/rooms/${fjord}`)
  await settled(page, 'Fjord')
  await item(critical).waitFor()
  const idsOf = async (region: typeof open) =>
    (await region.locator('a[href^="/incidents/"]').evaluateAll((links) => links.map((link) => link.href))).map(
      (href: string) => href.split('/').at(-1),
    )
  const shownIds = await idsOf(open)
  expect(shownIds[0]).toBe(critical)
  expect(shownIds).toContain(air)
  expect(shownIds).not.toContain(past)
  expect(shownIds).not.toContain(other)
  const text = (await item(critical).innerText()).replaceAll(/\s+/g, ' ')
  expect(text).toContain('Critical')
  expect(text).toMatch(/Open · Assigned to owner-\d+@example\.org/)
  expect(text).toContain('2 h')
  expect(text).toContain('The HDMI cable is on order.')
  expect(await item(air).innerText()).toContain('Snoozed until resolved')
  // All devices are online, but the room is not shown as healthy.
  await page.getByText('Both devices are online.').waitFor()
  expect(await page.getByText('Healthy', { exact: true }).count()).toBe(0)
  const top = async (name: RegExp) => (await page.getByRole('region', { name }).boundingBox())?.y ?? 0
  expect(await top(/open incidents?$/)).toBeLessThan(await top(/^Devices/))
  const pastList = page.getByRole('region', { name: /^Past incidents/ })
  await pastList.locator(`a[href="/incidents/${past}"]`).waitFor()
  expect(await top(/^Past incidents/)).toBeGreaterThan(await top(/^Devices/))

  await item(critical)
    .getByRole('button', { name: /^Acknowledge: / })
    .click()
  await item(critical).getByText('Acknowledged').waitFor()
  expect((await incident(critical)).state).toBe('ACKNOWLEDGED')
  // In the short form a row of the work list gets a note.
  if (isFullForm) {
    await startTask(item(critical), 'Add note')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Note').first().fill('A technician comes at ten.')
    await dialog.getByRole('button', { name: 'Add note' }).click()
    await item(critical).getByText('A technician comes at ten.').waitFor()
  }

  // Both pages have the same panel.
  if (!isFullForm) return
  await visit(page, `/devices/${fleet.pad.id}`)
  await settled(page, 'Pad D00001')
  await item(critical).waitFor()
  const onDevice = await idsOf(open)
  expect(onDevice[0]).toBe(critical)
  expect(onDevice, 'the incident is about the room').not.toContain(air)
  await page
    .getByRole('region', { name: /^Past incidents/ })
    .locator(`a[href="/incidents/${past}"]`)
    .waitFor()
  expect(await top(/open incidents?$/)).toBeLessThan((await page.getByRole('tablist').boundingBox())?.y ?? 0)
  await item(critical)
    .getByRole('button', { name: /^Unacknowledge: / })
    .click()
  await item(critical).getByText('Open', { exact: false }).waitFor()
})

test.runIf(isFullForm)('a viewer sees incidents and no action, and an unknown incident is named as such', async () => {
  const id = await newIncident(harness, fleet.org, { endpoints: [skogBar] })
  const viewer = await newPerson(harness, fleet.org, { role: 'viewer', allRegions: true })
  const tab = await shared()
  const { page, trouble } = tab
  await changeSession(tab, sessionStateOf(harness, viewer))
  await visit(page, '/incidents')
  await incidentRow(page, id).waitFor()
  expect(await incidentRow(page, id).getByRole('button').count()).toBe(0)
  await visit(page, `/incidents/${id}`)
  await page.getByRole('list', { name: 'Timeline' }).waitFor()
  // The headings of the table sort it.
  expect(await page.locator('main button:not(th button)').allInnerTexts()).toEqual([])
  await visit(page, '/incidents/999999')
  await settled(page, 'Incident not found')
  expectTrouble(trouble, /status of 404/)
})
