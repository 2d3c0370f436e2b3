// Opens pages in a real Chromium, one for all suites of a worker; a page that reports an error fails its test.
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { programPath } from '../debian.ts'
import { until } from '../program.ts'
import { cookieOf, own } from './console-session.ts'

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Starts a browser for a test that needs other options, and closes it. */
export const startBrowser = (options: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: programPath('chromium-headless-shell') ?? 'chromium-headless-shell',
    args: [...flags, ...options],
    // Users' browsers keep the previous page in the back-forward cache, so the tests do too.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })

let browserOfWorker: Promise<Browser> | undefined

/** The suites of a worker share one browser, which Playwright ends with the process. A browser that crashed is replaced. */
export async function openBrowser(): Promise<Browser> {
  const open = await browserOfWorker
  if (open?.isConnected()) return open
  browserOfWorker = startBrowser()
  return browserOfWorker
}

/** Closes what a suite has left open. Otherwise its pages would run beside the next suite. */
export async function closeTabs(browser: Browser | undefined): Promise<void> {
  await Promise.all(browser?.contexts().map((context) => context.close()) ?? [])
}

export interface Tab {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors, warnings and requests to other servers are collected here; a test removes those that it expects. */
  readonly trouble: string[]
}

/** Opens a tab in a context of its own, which has only the cookies of `options`. */
export async function openTab(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: 1366, height: 900 },
    timezoneId: 'Europe/Oslo',
    locale: 'en-GB',
    acceptDownloads: true,
    // Drawing the frames of a dialog that fades in and out took more CPU than the dialog itself.
    reducedMotion: 'reduce',
    ...options,
  })
  context.setDefaultTimeout(60_000)
  return tabIn(context, url)
}

const expectNoTrouble = (trouble: readonly string[]) => expect(trouble, 'the browser reports no trouble').toEqual([])

/** Opens a tab for one test. Its context closes with the test, which fails if the tab had trouble. */
export async function newTab(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Tab> {
  const tab = await openTab(browser, url, options)
  onTestFinished(async () => {
    await tab.context.close()
    expectNoTrouble(tab.trouble)
  })
  return tab
}

/**
 * Gives the tests of a file one tab, because a context and a load of the console cost more than a second of CPU. A test fails if the
 * tab had trouble while it ran; the test after a failed one gets a new tab.
 */
export function sharedTab(open: () => Promise<Tab>): () => Promise<Tab> {
  let shared: Promise<Tab> | undefined
  return async () => {
    shared ??= open().catch((error) => {
      shared = undefined
      throw error
    })
    const { context, page, trouble } = await shared
    onTestFinished(async ({ task }) => {
      // Errors that the page has reported by now arrive before this answer.
      await page.evaluate('0').catch(() => {})
      const found = trouble.splice(0)
      if (found.length > 0 || task.result?.state === 'fail') {
        shared = undefined
        await context.close()
      }
      expectNoTrouble(found)
    })
    return shared
  }
}

/**
 * Signs another person in to a tab. It loads the console at the next `visit`, for half of the CPU that a new context takes, because
 * the browser has its files.
 */
export async function changeSession(
  { context, page }: Tab,
  { storageState: { cookies } }: ReturnType<typeof sessionCookie>,
): Promise<void> {
  await page.goto('about:blank')
  await context.clearCookies()
  await context.addCookies(cookies)
}

/** Opens a page of the console as a link does. Only an empty tab loads the console, and a page that is open already stays as it is. */
export const visit = async (page: Page, path: string): Promise<void> =>
  page.url() === 'about:blank'
    ? void (await page.goto(path))
    : page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)

/** Opens a further tab in the same context. */
export async function tabIn(context: BrowserContext, url: string, trouble: string[] = []): Promise<Tab> {
  const page = await context.newPage()
  page.on('pageerror', (error) => trouble.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // A room or a device without a sample answers 404, which the browser logs as an error.
    if (message.text().includes('status of 404') && message.location().url.endsWith('/sensor')) return
    if (message.type() === 'error' || message.type() === 'warning') trouble.push(`${message.type()}: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(url)) trouble.push(`asked ${request.url()}`)
  })
  return { page, context, trouble }
}

/** Signs in with a key in the sign-in form. */
export async function signInWithKey({ page, trouble }: Tab, key: string, path = '/'): Promise<void> {
  await page.goto(path)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'attached' })
  // The browser logs the 401 of the first request, before the sign-in.
  expectTrouble(trouble, /status of 401/)
}

/** Signs in with a key without the form, and returns the cookie of the session as a browser keeps it. */
export async function signInByApi(url: string, key: string): Promise<ReturnType<typeof sessionCookie>> {
  const answer = await fetch(`${url}/console/session`, {
    method: 'POST',
    headers: { ...own, 'content-type': 'application/json' },
    body: JSON.stringify({ key }),
  })
  const [name = '', value = ''] = cookieOf(answer).split('=')
  expect(value, `no session: ${answer.status}`).not.toBe('')
  return sessionCookie(url, name, value)
}

/** The cookie of a session, as a browser keeps it. */
export const sessionCookie = (url: string, name: string, value: string) => ({
  storageState: {
    cookies: [
      {
        ...{ name, value, domain: new URL(url).hostname, path: '/', expires: -1 },
        ...{ httpOnly: true, secure: false, sameSite: 'Strict' as const },
      },
    ],
    origins: [],
  },
})

/** Removes the trouble that a test has caused on purpose. */
export const expectTrouble = (trouble: string[], pattern: RegExp): void =>
  void trouble.splice(0, trouble.length, ...trouble.filter((line) => !pattern.test(line)))

/** Waits until the page with this title is shown and all of its parts are loaded. */
export async function settled(page: Page, title: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  const loading = page.getByRole('status', { name: 'Loading' })
  await until(`${page.url()} to be loaded`, async () => (await loading.count()) === 0)
}
