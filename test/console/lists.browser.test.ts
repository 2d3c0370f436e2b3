// Tests the lists of rooms and devices in a browser: rows that are links, columns, filters, cards, selection and export.
import { readFile } from 'node:fs/promises'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAccessible, phone } from '../support/console/accessibility.ts'
import {
  changeSession,
  closeTabs,
  consolePort,
  openBrowser,
  openTab,
  settled,
  sharedTab,
  signInByApi,
  visit,
} from '../support/console/browser.ts'
import { sessionStateOf } from '../support/console/person-tab.ts'
import { putEndpoints } from '../support/database/endpoint-rows.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { newPerson } from '../support/person.ts'
import { until } from '../support/program.ts'

const deviceCount = 64

let harness: Harness
let org: TestOrg
let browser: Browser
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  org = await harness.newOrg('Nordlys AS')
  const post = (path: string, body: object) => org.call('POST', path, { body })
  await post('/regions', { name: 'Europe' })
  await post('/regions', { name: 'Asia' })
  await post('/locations', { name: 'Oslo', regionId: 1 })
  await post('/locations', { name: 'Tokyo', regionId: 2 })
  await post('/profiles', { name: 'Quiet rooms', config: { nightMode: true } })
  for (let n = 1; n <= 32; n++) {
    const tags = n <= 3 ? ['huddle'] : []
    const fields = n <= 2 ? { floor: `Level ${n}`, fields: { wall: `B${n}` } } : {}
    await post('/rooms', { name: `Room ${n}`, locationId: n <= 8 ? 2 : 1, tags, ...fields })
  }
  await putEndpoints(
    harness,
    org,
    Array.from({ length: deviceCount }, (_, i) => ({
      serial: `BAR${String(i + 1).padStart(5, '0')}`,
      room_id: (i % 32) + 1,
      connected: i % 8 === 0 ? 0 : 1,
      connection_time: harness.clock.now() - (i + 1) * 3_600_000,
      profile_id: i < 4 ? 1 : null,
      status: JSON.stringify({
        ...{ firmwareVersion: '1.1', latestVersion: i % 2 ? '1.1' : '1.2', localIpAddress: `10.0.0.${i + 1}` },
        ...(i === deviceCount - 1 && { manufacturer: '=1+1', kind: 'DISPLAY', power: 'STANDBY' }),
      }),
      ...(i === deviceCount - 1 && { model: 'PX-900', name: 'Wall display' }),
    })),
  )
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await harness.close()
})

const shared = sharedTab(async () => openTab(browser, harness.url, await signInByApi(harness.url, org.key)))
async function open(path: string, viewport = { width: 1366, height: 900 }) {
  const { page } = await shared()
  await page.setViewportSize(viewport)
  await visit(page, path)
  await settled(page, path.startsWith('/devices') ? 'Devices' : 'Rooms')
  return page
}
/** Filters for which there is no room in the line are in a menu until they are set. They open when they join the line. */
async function chooseFilter(page: Page, label: string, choice: string): Promise<void> {
  const chip = page.getByRole('combobox', { name: new RegExp(`^${label}(:|$)`) })
  if (!(await chip.isVisible())) {
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('menuitem', { name: label, exact: true }).click()
  } else await chip.click()
  await page.getByRole('option', { name: choice, exact: true }).click()
}
const tableOf = (page: Page) => page.getByRole('table', { name: /Devices|Rooms/ })
const rowCount = async (page: Page) => Number(await tableOf(page).getAttribute('aria-rowcount')) - 1
const bar = (page: Page) => page.getByRole('region', { name: 'Selection' })
const countText = (page: Page) => bar(page).getByRole('status').textContent()
async function exportLines(page: Page): Promise<string[]> {
  const download = page.waitForEvent('download')
  await bar(page).getByRole('button', { name: 'Export CSV' }).click()
  expect((await download).suggestedFilename()).toMatch(/^devices 20\d\d-\d\d-\d\d\.csv$/)
  const text = await readFile(await (await download).path(), 'utf8')
  expect(text.startsWith('\ufeff')).toBe(true)
  return text.slice(1).trimEnd().split('\r\n')
}
const headsOf = (page: Page) => tableOf(page).getByRole('columnheader').allTextContents()
const overflow = `(() => { const t = document.querySelector('[role="table"]'); return t.scrollWidth - t.clientWidth })()`

test('devices are filtered by region, location, profile, settings and update; rooms by profile and tag', async () => {
  const page = await open('/devices')
  const choose = (label: string, choice: string) => chooseFilter(page, label, choice)
  if (isFullForm) {
    await choose('Location', 'Oslo (Europe)')
    await until('the devices in Oslo', async () => (await rowCount(page)) === 48)
    await visit(page, '/devices')
    await until('all devices', async () => (await rowCount(page)) === deviceCount)
  }
  // The short form finds two of four filters in the address.
  if (isFullForm) {
    await choose('Region', 'Asia')
    await until('the devices of Asia', async () => (await rowCount(page)) === 16)
    await choose('Profile', 'Quiet rooms')
  } else await visit(page, '/devices?region=2&profile=1')
  await until('the devices with the profile', async () => (await rowCount(page)) === 4)
  await choose('Update', 'Firmware behind')
  await until('the devices that are behind', async () => (await rowCount(page)) === 2)
  await choose('Settings', 'Rejected')
  await until('no devices', async () => (await rowCount(page)) === 0)
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    ...{ region: '2', profile: '1', update: 'behind', settings: 'FAILED' },
  })
  await visit(page, '/devices')
  await choose('Kind', 'Display')
  await until('the display', async () => (await rowCount(page)) === 1)
  const row = tableOf(page).locator('[data-index="0"]')
  await row.getByRole('link', { name: 'Wall display' }).waitFor()
  expect(await row.getByRole('cell').allInnerTexts()).toEqual(expect.arrayContaining(['Display', 'Standby', 'Online']))
  // The short form chooses one of these and finds the other filters in the address.
  const others = { maker: '=1+1', model: 'PX-900', power: 'STANDBY' }
  if (isFullForm) {
    for (const [label, choice] of [
      ['Maker', '=1+1'],
      ['Model', 'PX-900'],
      ['Power', 'Standby'],
    ] as const) {
      await choose(label, choice)
    }
  } else await visit(page, `/devices?${new URLSearchParams({ kind: 'DISPLAY', ...others })}`)
  await choose('Since', 'The last 7 days')
  await until('the filters in the address', () => new URL(page.url()).searchParams.size === 5)
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ kind: 'DISPLAY', ...others, since: 'week' })
  expect(await rowCount(page)).toBe(1)
  // Several values of a filter are alternatives, and can be excluded together.
  await choose('Power', 'Not reported')
  await until('two values', () => new URL(page.url()).searchParams.get('power') === 'STANDBY,none')
  expect(await rowCount(page)).toBe(1)
  await page.getByRole('option', { name: 'Show all but these' }).click()
  await until('no device', async () => (await rowCount(page)) === 0)
  expect(new URL(page.url()).searchParams.get('power')).toBe('!STANDBY,none')
  await visit(page, '/rooms')
  await settled(page, 'Rooms')
  if (isFullForm) {
    await choose('Profile', 'No profile')
    await until('the rooms without a profile', async () => (await rowCount(page)) === 32)
  }
  await choose('Tag', 'huddle')
  await until('the rooms with the tag', async () => (await rowCount(page)) === 3)
})

test('rows are selected by click, with Shift, by keyboard and all at once, and stay selected while filters change', async () => {
  const page = await open('/devices?sort=name')
  const box = (n: number) => page.getByRole('checkbox', { name: `R${String(n).padStart(5, '0')}` })
  await box(1).click()
  expect(await countText(page)).toBe('1 selected')
  await box(4).click({ modifiers: ['Shift'] })
  expect(await countText(page)).toBe('4 selected')
  await box(2).click()
  expect(await countText(page)).toBe('3 selected')

  const row = (index: number) => tableOf(page).locator(`[data-index="${index}"]`).getByRole('link').first()
  await row(9).focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('Shift+ArrowDown')
  await until('the focus to move', () => row(10).evaluate((link) => link.matches(':focus')))
  await page.keyboard.press('Shift+ArrowDown')
  expect(await countText(page)).toBe('6 selected')
  await until('the focus to move', () => row(11).evaluate((link) => link.matches(':focus')))
  await page.keyboard.press('Shift+ArrowUp')
  expect(await countText(page)).toBe('5 selected')

  await page.getByLabel('Search devices').fill('tokyo')
  await until('the devices of Tokyo', async () => (await rowCount(page)) === 16)
  expect(await countText(page)).toBe('5 selected (2 not shown)')
  await bar(page).getByRole('button', { name: 'All 16 that match' }).click()
  expect(await countText(page)).toBe('18 selected (2 not shown)')
  const [, ...selected] = await exportLines(page)
  expect(selected, 'rows that the search hides are exported too').toHaveLength(18)
  expect(selected.filter((line) => !line.includes('Tokyo'))).toHaveLength(2)
  await page.getByLabel('Search devices').fill('')
  await page.getByRole('checkbox', { name: 'Select all 64 that match' }).click()
  expect(await countText(page)).toBe('64 selected')
  await expectAccessible(page)

  const lines = await exportLines(page)
  expect(lines).toHaveLength(deviceCount + 1)
  // The file has the columns of the widest window, and cells that a spreadsheet does not run.
  expect(lines[0]).toBe(fileColumns)
  expect(lines[1]).toMatch(
    /^Bar R00001,[0-9a-f-]{36},Codec,Neat,Bar,BAR00001,Offline,,1\.1,\d{4}-.*Z,,Room 1,Tokyo,Asia,Quiet rooms,Not set,Behind,\d{4}-.*Z,10\.0\.0\.1,,,,,$/,
  )
  expect(lines.at(-1)).toMatch(/^Wall display,[0-9a-f-]{36},Display,'=1\+1,PX-900,BAR00064,Online,Standby,1\.1,/)
  await bar(page).getByRole('button', { name: 'Clear' }).click()
  await bar(page).waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Power' }).click()
  await tableOf(page).locator('[data-index="0"]').getByText('Wall display').waitFor()
  expect(await tableOf(page).locator('[aria-sort="ascending"]').textContent()).toBe('Power ↑')
  expect(new URL(page.url()).searchParams.get('sort')).toBe('power')

  // On paper the table has all rows, the columns that have values, and nothing to press. A header says whose list it is, and which part of it.
  await page.emulateMedia({ media: 'print' })
  await page.getByText(/^Printed .+ 20\d\d, .+ by /).waitFor()
  expect(await page.getByRole('main').innerText()).toMatch(/^Nordlys AS\s/)
  const marginBoxes = `[...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule instanceof CSSPageRule).map((rule) => rule.cssText).join()`
  expect(await page.evaluate(marginBoxes)).toMatch(
    /@bottom-right \{ content: "Page " counter\(page\) " of " counter\(pages\)/,
  )
  await expect.poll(async () => (await headsOf(page)).join()).toBe(columnsWithValues)
  expect(await tableOf(page).getByRole('row').count()).toBe(deviceCount + 1)
  expect(await page.getByRole('button').or(page.getByRole('checkbox')).or(page.getByRole('combobox')).count()).toBe(0)
  await page.emulateMedia({ media: null })
  await page.getByRole('checkbox', { name: 'Select all 64 that match' }).waitFor()
  if (!isFullForm) return
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1')
  expect(pdf, 'so many columns need the longer side of the paper').toContain('/MediaBox [0 0 792 612]')
  expect(Number(/\/Count (\d+)/.exec(pdf)?.[1]), 'all rows are on paper').toBeGreaterThan(1)
})

const columnsWithValues =
  'Device,Kind,Maker,Model,Serial number,State,Power,Firmware,Since,Room,Location,Region,Profile,Settings,Update,Last seen,IP address,In a call'
test('a selection, the focus and closed groups are there after a visit to a row, and a list that is opened again has none', async () => {
  const page = await open('/rooms?group=location')
  const heading = (name: RegExp) => page.getByRole('rowheader').getByRole('button', { name })
  expect(await tableOf(page).getByRole('row').nth(1).innerText()).toMatch(/^Oslo\s+24/)
  await page.getByRole('checkbox', { name: 'Select all in Oslo' }).click()
  expect(await countText(page)).toBe('24 selected')
  await heading(/^Oslo/).focus()
  await page.keyboard.press('Enter')
  await until('Oslo is closed', async () => (await rowCount(page)) === 10)
  await heading(/^Tokyo/).focus()
  await page.keyboard.press('ArrowDown')
  const link = tableOf(page).locator('[data-index="2"]').getByRole('link').first()
  await until('the focus to move', () => link.evaluate((one) => one.matches(':focus')))
  const name = String(await link.textContent())
  await page.keyboard.press('Space')
  await page.keyboard.press('Enter')
  await settled(page, name)
  await page.goBack()
  await settled(page, 'Rooms')
  expect(await countText(page)).toBe('25 selected')
  expect(await rowCount(page)).toBe(10)
  await until('the focus to return', () => link.evaluate((one) => one.matches(':focus')))
  await expectAccessible(page)
  await bar(page).getByRole('button', { name: 'Clear' }).click()
  await page.getByRole('button', { name: 'Group by location', pressed: true }).click()
  await until('no groups', async () => (await rowCount(page)) === 32)
  await page.getByRole('checkbox', { name: 'Select Room 1 (Tokyo)' }).click()

  // Keys: g with a letter, the search, and the list of keys. They are not for fields.
  await page.keyboard.press('g')
  await page.keyboard.press('d')
  await settled(page, 'Devices')
  await page.keyboard.press('/')
  await page.keyboard.type('gr?')
  expect(await page.getByLabel('Search devices').inputValue()).toBe('gr?')
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await settled(page, 'Rooms')
  expect(await bar(page).count(), 'a list that is opened again has no selection').toBe(0)
  await page.keyboard.press('Control+g')
  await page.keyboard.press('?')
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await keys.getByText('Search this list').waitFor()
  await expectAccessible(page)
  await keys.getByRole('switch', { name: 'Single-key shortcuts' }).click()
  await page.keyboard.press('Escape')
  await keys.waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  await page.keyboard.press('g')
  await page.keyboard.press('d')
  expect(await keys.count(), 'single keys are off').toBe(0)
  await settled(page, 'Rooms')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: /^Search rooms/ }).fill('keyboard')
  await page.keyboard.press('Enter')
  await keys.getByRole('switch', { name: 'Single-key shortcuts' }).click()
  await page.keyboard.press('Escape')
})

/** No device has a gateway or data of the inventory. */
const fileColumns = `${columnsWithValues.replace('Device,', 'Device,ID,').replace('Since,', 'Since,Via,')},Asset tag,Installed on,Warranty until,External ID`

// In the short form devices are exported: rooms have the same table.
test.runIf(isFullForm)(
  'rooms show their tags, and selected rooms are exported with them, also those that a filter hides',
  async () => {
    const page = await open('/rooms?sort=name', { width: 1600, height: 900 })
    expect(await tableOf(page).getByRole('columnheader').allTextContents()).toContain('Tags')
    await tableOf(page).locator('[data-index="0"]').getByText('huddle', { exact: true }).waitFor()
    for (const name of ['Room 1', 'Room 10']) {
      await page.getByRole('checkbox', { name: `Select ${name} (` }).click()
    }
    await chooseFilter(page, 'Tag', 'huddle')
    await page.keyboard.press('Escape')
    await until('one row is hidden', async () => (await countText(page)) === '2 selected (1 not shown)')
    const [head, ...lines] = await exportLines(page)
    expect(head).toMatch(/^Room,ID,State,.*,Tags,/)
    expect(lines.map((line) => line.split(',')[0])).toEqual(['Room 1', 'Room 10'])
    expect(lines.map((line) => line.includes(',huddle,'))).toEqual([true, false])
    expect(head, 'a column for each custom field').toMatch(/,Floor,Contact,External ID,wall$/)
    expect(lines.map((line) => line.split(',').slice(-4))).toEqual([
      ['Level 1', '', '', 'B1'],
      ['', '', '', ''],
    ])
  },
)

// In `npm test` `custom-fields.http` has the filter, and `device` the fields of a room.
test.runIf(isFullForm)('rooms are filtered by the name and the text of a custom field', async () => {
  const page = await open('/rooms?sort=name', { width: 1366, height: 900 })
  await chooseFilter(page, 'Custom field', 'wall')
  await until('the rooms with the field', async () => (await rowCount(page)) === 2)
  await chooseFilter(page, 'wall', 'B2')
  await until('the room with the text', async () => (await rowCount(page)) === 1)
  expect(new URL(page.url()).searchParams.get('field')).toBe('wall:B2')
})

test('a filter says what is chosen and whether its list is open, and the focus stays where the user is', async () => {
  const page = await open('/devices?power=STANDBY')
  const chip = (name: string) => page.getByRole('combobox', { name, exact: true })
  /** Whether screen readers are told that the list is open, and which list it is. */
  const expectOpen = (name: string, isOpen: boolean) =>
    expect
      .poll(async () => {
        const ids = await page.getByRole('listbox').evaluateAll((lists) => lists.map(({ id }) => id))
        const controls = await chip(name).getAttribute('aria-controls')
        return [await chip(name).getAttribute('aria-expanded'), ids.length, controls === (ids[0] ?? null)]
      })
      .toEqual([String(isOpen), isOpen ? 1 : 0, true])
  const focused = (target: Locator) =>
    until('the focus is there', () => target.evaluate((one) => one.matches(':focus')))
  const chosen = page.getByRole('option', { selected: true })

  await chip('State').focus()
  await expectOpen('State', false)
  await page.keyboard.press('Space')
  await expectOpen('State', true)
  expect(await chosen.count()).toBe(0)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await until('the choice is told', async () => (await chosen.allTextContents()).join() === 'Online')
  await page.keyboard.press('Tab')
  await expectOpen('State: Online', false)
  await expectAccessible(page)
  await focused(page.getByRole('button', { name: 'Clear State' }))
  await page.keyboard.press('Enter')
  await focused(chip('State'))
  await page.getByRole('button', { name: 'Clear Power' }).click()
  await focused(chip('Power'))

  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Since' }).click()
  await expectOpen('Since', true)
  await focused(chip('Since'))

  // A long list is searched. It is at the end of the document, but Tab goes on from the chip.
  await visit(page, '/incidents?severity=mistyped')
  await settled(page, 'Incidents')
  await chip('Severity').waitFor()
  const search = page.getByRole('textbox', { name: 'Find in rule' })
  await chip('Rule').click()
  await focused(search)
  await expectOpen('Rule', true)
  await chip('Rule').click()
  await search.waitFor({ state: 'hidden' })
  await expectOpen('Rule', false)
  await chip('Rule').click()
  await focused(search)
  await page.keyboard.press('Escape')
  await focused(chip('Rule'))
  await expectOpen('Rule', false)
  await page.keyboard.press('Enter')
  await focused(search)
  await page.keyboard.press('Tab')
  await focused(chip('Region'))
  await expectOpen('Rule', false)
  await chip('Rule').click()
  await focused(search)
  await page.getByLabel('Search incidents').click()
  await search.waitFor({ state: 'hidden' })
  await page.keyboard.type('x')
  expect(await page.getByLabel('Search incidents').inputValue(), 'the chip does not take the focus back').toBe('x')
  await page.getByLabel('Search incidents').fill('')
})

test('under 640 pixels a row is a card, and the filters are behind one button', async () => {
  for (const path of isFullForm ? (['/devices', '/rooms'] as const) : (['/devices'] as const)) {
    const page = await open(path, phone)
    expect(await tableOf(page).locator('[data-index="0"]').innerText()).toMatch(
      path === '/rooms' ? /Devices / : /Kind /,
    )
    await tableOf(page).locator('[data-index="0"]').getByRole('link').first().waitFor()
    expect(await page.evaluate(overflow)).toBe(0)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(await page.getByRole('combobox', { name: 'Region' }).isVisible()).toBe(false)
    await expectAccessible(page)
    // A mistyped filter of an address filters nothing, and is not counted.
    await visit(page, `${path}?${path === '/rooms' ? 'state' : 'connected'}=mistyped`)
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    await page.getByRole('combobox', { name: 'Region' }).click()
    await page.getByRole('option', { name: 'Asia' }).click()
    await page.getByRole('button', { name: 'Filters (1)' }).click()
    await until('the rows of Asia', async () => (await rowCount(page)) === (path === '/rooms' ? 8 : 16))
    await tableOf(page).getByRole('checkbox').first().click()
    expect(await countText(page)).toBe('1 selected')
    await expectAccessible(page)
  }
})

test('no list is wider than 1280 pixels, columns can be added, and the whole row leads to its page', async () => {
  const page = await open('/devices?sort=name', { width: 1280, height: 900 })
  const heads = () => headsOf(page)
  await expect.poll(async () => (await heads()).join()).toBe(',Device ↑,Kind,State,Power,Since,Room,Location,Settings')
  expect(await page.evaluate(overflow)).toBe(0)
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('checkbox', { name: 'IP address' }).click()
  await page.keyboard.press('Escape')
  expect(await heads()).toContain('IP address')
  await page.reload()
  await settled(page, 'Devices')
  expect(await heads()).toContain('IP address')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('checkbox', { name: 'IP address' }).click()
  await page.keyboard.press('Escape')
  expect(await heads()).not.toContain('IP address')

  const first = tableOf(page).locator('[data-index="0"]')
  await first.click({ position: { x: 720, y: 22 } })
  await page.waitForURL(/\/devices\/[0-9a-f-]{36}$/)
  await page.goBack()
  // A link inside the row leads to its own page.
  await first.getByRole('link', { name: 'Room 1', exact: true }).click()
  await settled(page, 'Room 1')
  await visit(page, '/rooms?sort=name')
  await settled(page, 'Rooms')
  expect(await page.evaluate(overflow)).toBe(0)
  await expectAccessible(page)
  await first.click({ position: { x: 620, y: 22 } })
  await settled(page, 'Room 1')
})

test('a view with filters, order and columns is shared with a viewer in four clicks, who opens it with one', async () => {
  const tab = await shared()
  const page = await open('/devices?q=oslo&connected=no&sort=-since', { width: 1366, height: 900 })
  await until('the devices that are offline', async () => (await rowCount(page)) === 6)
  await page.evaluate(`document.addEventListener('click', () => { window.clicks = (window.clicks ?? 0) + 1 }, true)`)
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('menuitem', { name: 'Save as new view…' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Offline in Oslo')
  await page.getByRole('checkbox', { name: 'Share with everybody in the organisation' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Save view' }).click()
  const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Offline in Oslo' })
  await link.waitFor()
  // A click on the label of a checkbox is two events.
  expect(await page.evaluate('window.clicks')).toBeLessThanOrEqual(5)
  await expectAccessible(page)

  // Other columns and filters change the view only when they are saved.
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('checkbox', { name: 'IP address' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'View: Offline in Oslo' }).getByText('(changed)').waitFor()
  await page.getByRole('button', { name: 'View: Offline in Oslo' }).click()
  await page.getByRole('menuitem', { name: 'Save changes' }).click()
  await page
    .getByRole('button', { name: 'View: Offline in Oslo' })
    .getByText('(changed)')
    .waitFor({ state: 'detached' })

  await changeSession(tab, sessionStateOf(harness, await newPerson(harness, org, { role: 'viewer', regionIds: [1] })))
  await visit(page, '/')
  await link.click()
  await settled(page, 'Devices')
  await until('the rows of the view', async () => (await rowCount(page)) === 6)
  await page.emulateMedia({ media: 'print' })
  await page.getByText('View: Offline in Oslo').waitFor()
  const filters = `[...document.querySelectorAll('search [data-printed]')].map((one) => getComputedStyle(one, '::before').content)`
  expect(await page.evaluate(filters)).toEqual(['"Search: oslo"', '"State: Offline"'])
  await page.emulateMedia({ media: null })
  expect(await headsOf(page)).toContain('IP address')
  expect(await tableOf(page).locator('[aria-sort="descending"]').textContent()).toBe('Since ↓')
  await page.getByRole('button', { name: 'View: Offline in Oslo' }).click()
  expect(await page.getByRole('menuitem', { name: /Rename|Delete/ }).count(), 'a viewer changes no shared view').toBe(0)
  await page.keyboard.press('Escape')

  // A link names the view alone.
  await (isFullForm ? page.goto('/devices?view=1') : visit(page, '/devices?view=1'))
  await until('the rows of the view', async () => (await rowCount(page)) === 6)
  expect(new URL(page.url()).searchParams.get('connected')).toBe('no')
  if (!isFullForm) return
  await page.setViewportSize(phone)
  await expectAccessible(page)
})
