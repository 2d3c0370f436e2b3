// Tests the console on a slow line: a skeleton is drawn at once when the console is opened, and after a click on a link.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeTabs, newTab, openBrowser, signInByApi } from '../support/console/browser.ts'
import { type ConsoleFleet, startConsoleFleet } from '../support/console/console-fleet.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { isFullForm, isLongForm } from '../support/long-form.ts'

/** A line from another continent through a busy wireless network. */
const slowLine = { offline: false, latency: 600, downloadThroughput: 50_000, uploadThroughput: 50_000 }
/** A change within 100 ms looks like an answer to the click. Beside other tests a frame takes longer, so only the long form judges times. */
const maxClickMs = 100
/** The document alone takes one round trip and the time for two kilobytes. */
const maxFirstPaintMs = 1000

let harness: Harness
let fleet: ConsoleFleet
let browser: Browser
beforeAll(async () => {
  harness = await startHarness()
  fleet = await startConsoleFleet(harness)
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await fleet.stop()
  await harness.close()
})

async function slowTab() {
  const tab = await newTab(browser, harness.url, await signInByApi(harness.url, fleet.org.key))
  const cdp = await tab.context.newCDPSession(tab.page)
  await cdp.send('Network.enable')
  return { ...tab, slowDown: () => cdp.send('Network.emulateNetworkConditions', slowLine) }
}

/** Clicks on a link, and returns when a skeleton was drawn in place of the page, in milliseconds after the click. */
const clickedUntilSkeleton = (page: Page, name: string): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve, reject) => {
    const link = [...document.querySelectorAll('nav a')].find((link) => link.textContent.trim() === '${name}')
    const startMs = performance.now()
    link.click()
    const look = () => {
      const isDrawn = document.querySelector('main .skeleton-progress') && !document.querySelector('main h1')
      if (isDrawn) return requestAnimationFrame(() => resolve(performance.now() - startMs))
      if (performance.now() - startMs > 10_000) return reject(new Error('no skeleton'))
      requestAnimationFrame(look)
    }
    look()
  })`)

test('after a click on a link a skeleton with a progress line takes the place of the page', async () => {
  const { page, slowDown } = await slowTab()
  await page.goto('/')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await slowDown()
  const tookMs: Record<string, number> = {}
  for (const name of isFullForm ? ['Rooms', 'Jobs', 'Audit', 'Settings'] : ['Rooms', 'Jobs']) {
    tookMs[name] = Math.round(await clickedUntilSkeleton(page, name))
    await page.getByRole('heading', { level: 1, name }).waitFor()
  }
  process.stdout.write(`drawn after a click on a slow line: ${JSON.stringify(tookMs)} ms\n`)
  if (isLongForm) for (const ms of Object.values(tookMs)) expect(ms).toBeLessThanOrEqual(maxClickMs)
})

test('the first load draws the shell as a skeleton before scripts and styles have arrived', async () => {
  const { page, slowDown } = await slowTab()
  await page.goto('/rooms')
  await page.getByRole('heading', { level: 1, name: 'Rooms' }).waitFor()
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Network.clearBrowserCache')
  await slowDown()
  await page.reload({ waitUntil: 'commit' })
  await page.locator('#start .start-nav').waitFor()
  await page.getByRole('heading', { level: 1, name: 'Rooms' }).waitFor()
  await page.locator('#start').waitFor({ state: 'hidden' })
  const paintMs = await page.evaluate<number>(`performance.getEntriesByName('first-contentful-paint')[0].startTime`)
  const scriptMs = await page.evaluate<number>(
    `Math.max(...performance.getEntriesByType('resource').filter(({ name }) => /shared-.*js$/.test(name)).map(({ responseEnd }) => responseEnd))`,
  )
  process.stdout.write(
    `first load on a slow line: skeleton after ${Math.round(paintMs)} ms, scripts after ${Math.round(scriptMs)} ms\n`,
  )
  if (isLongForm) expect(paintMs).toBeLessThanOrEqual(maxFirstPaintMs)
  expect(paintMs).toBeLessThan(scriptMs)
})
