// Opens tabs that are signed in as a person, without the ceremony of a sign-in.
import type { Browser, BrowserContextOptions } from 'playwright-core'
import type { Harness } from '../harness.ts'
import type { TestPerson } from '../person.ts'
import { newTab, type Tab } from './browser.ts'
import { cookieName } from './console-session.ts'

/** The cookie of the session of a person, as a browser keeps it. */
const cookieOfPerson = (harness: Harness, person: TestPerson) => ({
  name: cookieName(harness),
  value: person.session,
  domain: new URL(harness.url).hostname,
  path: '/',
  expires: -1,
  httpOnly: true,
  secure: false,
  sameSite: 'Strict' as const,
})

export const personTab = (
  browser: Browser,
  harness: Harness,
  person: TestPerson,
  options: BrowserContextOptions = {},
): Promise<Tab> =>
  newTab(browser, harness.url, {
    ...options,
    storageState: { cookies: [cookieOfPerson(harness, person)], origins: [] },
  })
