// A real Chromium for a test file: pages of the console that fail the test when anything goes wrong in them.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { pathOf } from './debian.ts'
import { until } from './program.ts'

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** One for a file; its `afterAll` closes it. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: pathOf('chromium') ?? 'chromium',
    args: flags,
    // People's browsers keep the page before, for going back.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })

export interface Tab {
  readonly page: Page
  readonly context: BrowserContext
  /** What the page complained about, or asked of another server; a test that expects some of it takes it out. */
  readonly trouble: string[]
}

/** A browser of its own, with no cookies. It goes with the test, which fails if anything went wrong in it. */
export async function newTab(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: 1366, height: 900 },
    timezoneId: 'Europe/Oslo',
    locale: 'en-GB',
    acceptDownloads: true,
    ...options,
  })
  context.setDefaultTimeout(30_000)
  const tab = await tabIn(context, url)
  onTestFinished(async () => {
    await context.close()
    expect(tab.trouble, 'nothing goes wrong in the browser').toEqual([])
  })
  return tab
}

/** A further tab of the same browser. */
export async function tabIn(context: BrowserContext, url: string, trouble: string[] = []): Promise<Tab> {
  const page = await context.newPage()
  page.on('pageerror', (error) => trouble.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // A room or a device without a sample is a 404, which the browser itself notes.
    if (message.text().includes('status of 404') && message.location().url.endsWith('/sensor')) return
    if (message.type() === 'error' || message.type() === 'warning') trouble.push(`${message.type()}: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(url)) trouble.push(`asked ${request.url()}`)
  })
  return { page, context, trouble }
}

/** Signs in with a key, as a person would. */
export async function signIn({ page, trouble }: Tab, key: string, path = '/'): Promise<void> {
  await page.goto(path)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'attached' })
  // The browser itself notes that nobody was signed in.
  expectTrouble(trouble, /status of 401/)
}

/** The cookie of somebody who has signed in, for tests that begin there. */
export async function signedIn(
  browser: Browser,
  url: string,
  key: string,
): Promise<Pick<BrowserContextOptions, 'storageState'>> {
  const context = await browser.newContext({ baseURL: url })
  await signIn(await tabIn(context, url), key)
  const storageState = await context.storageState()
  await context.close()
  return { storageState }
}

/** Takes out what a test has caused on purpose. */
export const expectTrouble = (trouble: string[], pattern: RegExp): void =>
  void trouble.splice(0, trouble.length, ...trouble.filter((line) => !pattern.test(line)))

/** The page with this title is there, and all of its parts are loaded. */
export async function settled(page: Page, title: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  const loading = page.getByRole('status', { name: 'Loading' })
  await until(`${page.url()} to be loaded`, async () => (await loading.count()) === 0)
}

/** Runs in the page: as text, because the tests know Node and not the browser. */
const runAxe = (
  rules: readonly string[],
) => `axe.run(document, { runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] })
  .then(({ violations }) => violations.map(({ id, help, nodes }) =>
    id + ': ' + help + ': ' + nodes.map((node) => node.html.slice(0, 160)).join(' | ')))`
const everything = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** A colour that is on its way to another is no colour to judge: the way is cut short. Nothing else that moves is touched. */
const endTransitions = `document.getAnimations()
  .filter((animation) => animation instanceof CSSTransition)
  .forEach((transition) => transition.finish())`

/** What axe finds against WCAG 2.2 AA, as sentences; or of its colours only, where nothing else can differ. */
export async function axe(page: Page, what: 'everything' | 'colours' = 'everything'): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axeSource)
  await page.evaluate(endTransitions)
  return page.evaluate(runAxe(what === 'colours' ? ['color-contrast'] : everything))
}
