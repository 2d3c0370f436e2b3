// Opens pages in a real Chromium, one for all suites of a worker; a page that reports an error fails its test.
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { programPath } from '../debian.ts'
import { freePort } from '../free-port.ts'
import { isFullForm } from '../long-form.ts'
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
  // In short tests the optimized code of a page takes more CPU to compile than it saves. The full form measures pages.
  ...(isFullForm ? [] : ['--js-flags=--no-opt --no-maglev']),
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

/** Closes what a suite has left open, except the tab for the next suite. Otherwise its pages would run beside the next suite. */
export async function closeTabs(browser: Browser | undefined): Promise<void> {
  // A tab whose server is gone is closed too.
  const kept = await keepTab().catch(() => undefined)
  await Promise.all(browser?.contexts().map((context) => context !== kept?.context && context.close()) ?? [])
}

let portOfWorker: Promise<number> | undefined
/**
 * The services of all suites of a worker have this port, one after the other. The browser then has the files of the console, and its
 * process has compiled them: a load takes half of the CPU.
 */
export async function consolePort(): Promise<{ readonly port: number }> {
  portOfWorker ??= freePort()
  return { port: await portOfWorker }
}

/** The tab that the suites of a worker use one after the other. It shows nothing of the console while no suite has it. */
let lastingTab: (Tab & { readonly url: string; isIdle: boolean }) | undefined

/** The tab of a browser that crashed is closed. */
const isUsable = (tab: typeof lastingTab): tab is NonNullable<typeof tab> => tab !== undefined && !tab.page.isClosed()

/** Returns the tab of the previous suite as if it was new, or undefined if there is none for this address. */
async function takeTab(
  browser: Browser,
  url: string,
  { storageState, viewport = screen, ...others }: BrowserContextOptions,
): Promise<Tab | undefined> {
  const tab = lastingTab
  if (!isUsable(tab) || !tab.isIdle || tab.url !== url || Object.keys(others).length > 0) return
  if (tab.context.browser() !== browser) return
  tab.isIdle = false
  if (typeof storageState === 'object') await tab.context.addCookies(storageState.cookies)
  if (viewport) await tab.page.setViewportSize(viewport)
  collectTrouble(tab.page, url, tab.trouble)
  return tab
}

/** Leaves the console and deletes what it has stored. The full form has tests that fake the clock of a tab, which cannot be undone. */
async function keepTab(): Promise<Tab | undefined> {
  const tab = lastingTab
  if (!tab || tab.isIdle) return tab
  lastingTab = undefined
  if (isFullForm || tab.page.isClosed()) return undefined
  const { context, page, trouble } = tab
  for (const event of ['pageerror', 'console', 'request'] as const) page.removeAllListeners(event)
  await page.unrouteAll()
  await Promise.all(context.pages().map((other) => other !== page && other.close()))
  await leaveConsole(page)
  await page.evaluate('localStorage.clear(); sessionStorage.clear()')
  await context.clearCookies()
  await page.emulateMedia({ media: null, colorScheme: 'light', reducedMotion: 'reduce' })
  trouble.length = 0
  lastingTab = { ...tab, isIdle: true }
  return lastingTab
}

/** Opens an answer of the server that is not the console. At another address the browser would start a new process for the tab. */
const leaveConsole = (page: Page) => page.goto('/livez')

const isEmpty = (page: Page) => page.url() === 'about:blank' || page.url().endsWith('/livez')

export interface Tab {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors, warnings and requests to other servers are collected here; a test removes those that it expects. */
  readonly trouble: string[]
}

/** Opens a tab that has only the cookies of `options`: the tab of the previous suite, or one in a new context. */
export async function openTab(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Tab> {
  const taken = await takeTab(browser, url, options)
  if (taken) return taken
  const tab = await openContext(browser, url, options)
  const port = (await portOfWorker)?.toString()
  if (!isUsable(lastingTab) && new URL(url).port === port && new URL(url).hostname === '127.0.0.1') {
    lastingTab = { ...tab, url, isIdle: false }
  }
  return tab
}

const screen = { width: 1366, height: 900 }

async function openContext(browser: Browser, url: string, options: BrowserContextOptions): Promise<Tab> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: screen,
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
  const tab = await openContext(browser, url, options)
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

/** Signs another person in to a tab. It loads the console at the next `visit`, for half of the CPU that a new context takes. */
export async function changeSession(
  { context, page }: Tab,
  { storageState: { cookies } }: ReturnType<typeof sessionCookie>,
): Promise<void> {
  await leaveConsole(page)
  await context.clearCookies()
  await context.addCookies(cookies)
}

/** Opens a page of the console as a link does. Only an empty tab loads the console, and a page that is open already stays as it is. */
export const visit = async (page: Page, path: string): Promise<void> =>
  isEmpty(page) ? void (await page.goto(path)) : page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)

/** Opens a further tab in the same context. */
export async function tabIn(context: BrowserContext, url: string, trouble: string[] = []): Promise<Tab> {
  const page = await context.newPage()
  collectTrouble(page, url, trouble)
  return { page, context, trouble }
}

function collectTrouble(page: Page, url: string, trouble: string[]): void {
  page.on('pageerror', (error) => trouble.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // A room or a device without a sample answers 404, which the browser logs as an error.
    if (message.text().includes('status of 404') && message.location().url.endsWith('/sensor')) return
    if (message.type() !== 'error' && message.type() !== 'warning') return
    trouble.push(`${message.type()}: ${message.text()} ${message.location().url}`)
  })
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(url)) trouble.push(`asked ${request.url()}`)
  })
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
