// Tests the console with many rooms, ten thousand in full form: the number of drawn rows stays bounded, and long tasks are reported.
import { randomBytes } from 'node:crypto'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { locationValues } from '../../src/server/fleet/locations/fields.ts'
import { insertLocation } from '../../src/server/fleet/locations/store.ts'
import { roomValues } from '../../src/server/fleet/rooms/fields.ts'
import { insertRoom } from '../../src/server/fleet/rooms/store.ts'
import {
  closeTabs,
  consolePort,
  openBrowser,
  openTab,
  sharedTab,
  signInByApi,
  visit,
} from '../support/console/browser.ts'
import { putEndpoints } from '../support/database/endpoint-rows.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { newIncident } from '../support/incidents.ts'
import { isFullForm } from '../support/long-form.ts'

const count = isFullForm ? 10_000 : 120
/** Its number is in no other name. */
const searched = isFullForm ? 4242 : 117
const incidentCount = 300

let harness: Harness
let org: TestOrg
let browser: Browser
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  org = await harness.newOrg()
  await harness.services.db.forOrg(org.org.key).transaction(async (tx) => {
    for (let id = 1; id <= 100; id++) await insertLocation(tx, { id, ...locationValues({ name: `Site ${id}` }, null) })
    for (let id = 1; id <= count; id++) {
      const values = roomValues({ name: `Room ${id}` }, (id % 100) + 1)
      await insertRoom(tx, { id, ...values, profile_id: null, dec_sealed: randomBytes(8), dec_timeout: 24 })
    }
  })
  await putEndpoints(
    harness,
    org,
    Array.from({ length: 2 * count }, (_, i) => ({ room_id: (i % count) + 1, connected: i % 7 === 0 ? 0 : 1 })),
  )
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await harness.close()
})

const shared = sharedTab(async () => openTab(browser, harness.url, await signInByApi(harness.url, org.key)))

// Code that runs in the page is a string, because the tests are compiled for Node and not for the browser.
interface Drawn {
  readonly rows: number
  readonly all: number
}
const nodes = (page: Page): Promise<Drawn> =>
  page.evaluate(`({
    rows: document.querySelectorAll('[role="table"] [role="row"]').length,
    all: document.querySelectorAll('*').length,
  })`)
const watchBusy = `globalThis.busy = []
  new PerformanceObserver((list) => busy.push(...list.getEntries().map((entry) => entry.duration)))
    .observe({ type: 'longtask' })`
const nextFrame = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))'

test('the table of rooms draws only visible rows while it is scrolled', async () => {
  const { page } = await shared()
  await visit(page, '/rooms')
  const table = page.getByRole('table', { name: 'Rooms' })
  await table.locator('[aria-rowindex="2"]').getByRole('link').first().waitFor()
  expect(await table.getAttribute('aria-rowcount')).toBe(String(count + 1))
  await page.evaluate(watchBusy)
  let most = await nodes(page)
  const steps = isFullForm ? 40 : 4
  for (let step = 1; step <= steps; step++) {
    await table.evaluate((element, part) => {
      element.scrollTop = element.scrollHeight * part
    }, step / steps)
    await page.evaluate(nextFrame)
    const now = await nodes(page)
    most = { rows: Math.max(most.rows, now.rows), all: Math.max(most.all, now.all) }
  }
  await table
    .locator(`[aria-rowindex="${count + 1}"]`)
    .getByRole('link')
    .first()
    .waitFor()
  expect(most.rows).toBeLessThan(80)
  expect(most.all).toBeLessThan(3000)

  await page.getByLabel('Search rooms').fill(`room ${searched} site`)
  await page.getByRole('link', { name: `Room ${searched}`, exact: true }).waitFor()
  // The list follows what is typed after a moment.
  await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('2')
  expect(new URL(page.url()).searchParams.get('q')).toBe(`room ${searched} site`)

  const busy = await page.evaluate<number[]>('busy')
  const longest = Math.max(0, ...busy)
  process.stdout.write(
    `${count} rooms, scrolled and searched: at most ${most.rows} rows and ${most.all} nodes, ${busy.length} long tasks, the longest ${Math.round(longest)} ms\n`,
  )
  // Beside other tests a short list can take as long, so only the long one is judged.
  if (isFullForm) expect(longest, 'no task blocks the page for a second').toBeLessThan(1000)
})

// Incidents use the same table as rooms, so one form of this test is enough in `npm test`.
test.runIf(isFullForm)('the list of incidents draws only visible rows', async () => {
  for (let id = 1; id <= incidentCount; id++) await newIncident(harness, org, { rooms: [id] })
  // These incidents sent no events, so the list is read anew.
  const { page } = await shared()
  await page.goto('/incidents')
  const table = page.getByRole('table', { name: 'Incidents' })
  await table.locator('[aria-rowindex="2"]').getByRole('link').first().waitFor()
  expect(await table.getAttribute('aria-rowcount')).toBe(String(incidentCount + 1))
  expect((await nodes(page)).rows).toBeLessThan(80)
})
