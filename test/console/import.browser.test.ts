// Imports rooms from a file in a browser: wrong rows, the plan, the changes, the codes on paper and in a file.
import { readFile, writeFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axe, findOverflow, phone } from '../support/console/accessibility.ts'
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
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'

let harness: Harness
let org: TestOrg
let browser: Browser
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  org = await harness.newOrg('Nordlys AS')
  const post = (path: string, body: object) => org.call('POST', path, { body })
  await post('/regions', { name: 'Europe' })
  await post('/locations', { name: 'Oslo HQ', regionId: 1, timezone: 'Europe/Oslo' })
  await post('/rooms', { name: 'Room 1', locationId: 1, capacity: 4 })
  await post('/rooms', { name: 'Room 2', locationId: 1, capacity: 6 })
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await harness.close()
})
const shared = sharedTab(async () => openTab(browser, harness.url, await signInByApi(harness.url, org.key)))

const roomCount = 60
/** Rooms 1 and 2 exist: the capacity of the first changes, and the second stays as it is. */
const fileOf = (wrong: Readonly<Record<number, string>> = {}) =>
  [
    'Region;Location;Room;Capacity;field.cost_centre',
    ...Array.from({ length: roomCount }, (_, index) => {
      const number = index + 1
      const site = number <= 40 ? 'Europe;Oslo HQ' : 'Asia;Tokyo'
      return `${site};Room ${number};${wrong[number] ?? (number === 1 ? 5 : 6)};${number === 2 ? '' : `C${number}`}`
    }),
  ].join('\r\n')

/** Drops a file as the mouse does. */
const drop = (page: Page, name: string, text: string) =>
  page.evaluate(
    `(() => {
      const data = new DataTransfer()
      data.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}, { type: 'text/csv' }))
      const zone = document.querySelector('[role="group"][aria-label="File"]')
      for (const type of ['dragover', 'drop']) zone.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: data }))
    })()`,
  )
/** Axe looks at it in the full form. */
async function expectFits(page: Page): Promise<void> {
  expect(await findOverflow(page)).toEqual([])
  if (isFullForm) expect(await axe(page, 'structure')).toEqual([])
}
const counts = (page: Page) => page.getByRole('list', { name: 'Counts' }).getByRole('listitem').allInnerTexts()
const roomsOf = async () => (await org.call('GET', '/rooms')).body.rooms

test('60 rooms are imported after two wrong rows were corrected, and their codes are printed on cards to cut out', async () => {
  const { page, context } = await shared()
  await visit(page, '/sites')
  await settled(page, 'Sites')
  await page.getByRole('link', { name: 'Import' }).click()
  await settled(page, 'Import rooms')
  await expectFits(page)

  await drop(page, 'rooms.csv', fileOf({ 7: 'many', 50: '0' }))
  await page.getByText('2 rows are wrong.').waitFor()
  expect(await counts(page)).toEqual(['2 wrong', '56 created', '1 changed', '1 unchanged'])
  expect(await page.getByRole('button', { name: /^Apply/ }).count()).toBe(0)
  await page.getByText('Wrong', { exact: true }).first().click()
  const table = page.getByRole('table', { name: 'Rows of the file' })
  await table.getByText('Row 8, column D (Capacity): "many" is not a whole number from 1 to 10000.').waitFor()
  await table.getByText('Row 51, column D (Capacity): "0" is not a whole number from 1 to 10000.').waitFor()
  await expectFits(page)
  expect(await roomsOf()).toHaveLength(2)

  // The corrected file is chosen with the button this time.
  const input = page.locator('input[type="file"]')
  await input.setInputFiles({ name: 'rooms.csv', mimeType: 'text/csv', buffer: Buffer.from(fileOf()) })
  await page.getByText('Nothing has been changed yet.').waitFor()
  expect(await counts(page)).toEqual(['58 created', '1 changed', '1 unchanged'])
  await page.getByText('Changed', { exact: true }).first().click()
  await table.getByText('capacity: 4 → 5').waitFor()
  await table.getByText('fields.cost_centre: C1').waitFor()
  await page.setViewportSize(phone)
  await expectFits(page)
  await page.setViewportSize({ width: 1366, height: 900 })

  await page.getByRole('button', { name: 'Apply 61 changes' }).click()
  await page.getByText('The organisation is as the file says.').waitFor()
  expect(await counts(page)).toEqual(['58 created', '1 changed', '1 unchanged'])
  const rooms = await roomsOf()
  expect(rooms).toHaveLength(roomCount)
  expect(rooms.find(({ name }: { name: string }) => name === 'Room 1')).toMatchObject({ id: 1, capacity: 5 })
  await expectFits(page)

  const savedBy = async (button: string) => {
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: button }).click()
    return (await readFile(await (await download).path(), 'utf8')).trimEnd().split('\r\n')
  }
  const results = await savedBy('Rows as CSV')
  expect(results).toHaveLength(1 + roomCount)
  expect([results[0], results[1]]).toEqual([
    '\ufeffRegion;Location;Room;Capacity;field.cost_centre;organisation;room_id;result',
    `Europe;Oslo HQ;Room 1;5;C1;${org.id};1;changed`,
  ])
  const lines = await savedBy('Codes as CSV')
  expect(lines).toHaveLength(1 + roomCount)
  expect(lines[1]).toMatch(/^Europe,Oslo HQ,Room 1,[0-9A-Z-]+,http.*\/enrol#[0-9A-Z-]+$/)
  expect(lines[60]).toMatch(/^Asia,Tokyo,Room 60,/)

  await page.getByRole('button', { name: 'Print codes' }).click()
  await settled(page, 'Enrolment codes')
  await page.getByText('60 codes on 8 pages').waitFor()
  expect(await page.getByRole('img', { name: /^QR code of Room/ }).count()).toBe(roomCount)
  await expectFits(page)
  const session = await context.newCDPSession(page)
  const sizes = { a4: [8.27, 11.69], letter: [8.5, 11] } as const
  for (const [name, [paperWidth, paperHeight]] of Object.entries(sizes)) {
    let pdf = Buffer.alloc(0)
    const pageCount = async () => {
      const { data } = await session.send('Page.printToPDF', { paperWidth, paperHeight, printBackground: true })
      pdf = Buffer.from(data, 'base64')
      return pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length
    }
    await expect.poll(pageCount, { message: name }).toBe(8)
    if (process.env.TEST_PDF_FOLDER) await writeFile(`${process.env.TEST_PDF_FOLDER}/codes-${name}.pdf`, pdf)
  }
  await session.detach()

  await page.getByRole('button', { name: 'Back' }).click()
  await input.setInputFiles({ name: 'rooms.csv', mimeType: 'text/csv', buffer: Buffer.from(fileOf()) })
  await page.getByText('Everything is as the file says.').waitFor()
  expect(await counts(page)).toEqual(['60 unchanged'])
})

test('a file that cannot be read is refused with its row and column', async () => {
  const { page } = await shared()
  await visit(page, '/sites/import')
  await settled(page, 'Import rooms')
  await drop(page, 'broken.csv', 'room,capacty\nA,1\n')
  await page.getByRole('alert').getByText('broken.csv cannot be imported. Nothing was changed.').waitFor()
  await page.getByRole('alert').getByText('Row 1, column B (capacty): "capacty" is not a column.').waitFor()
  await expectFits(page)
})
