// Opens tabs that are signed in as a person, without the ceremony of a sign-in.
import type { Browser, BrowserContextOptions } from 'playwright-core'
import type { TestPerson } from '../person.ts'
import { newTab, sessionCookie, type Tab } from './browser.ts'
import { cookieName } from './console-session.ts'

interface Address {
  readonly url: string
}

/** The cookie of the session of a person, for the context of a tab. */
export const sessionStateOf = (address: Address, { session }: TestPerson) =>
  sessionCookie(address.url, cookieName(address), session)

/** The address is that of the service as the browser opens it. */
export const personTab = (
  browser: Browser,
  address: Address,
  person: TestPerson,
  options: BrowserContextOptions = {},
): Promise<Tab> => newTab(browser, address.url, { ...options, ...sessionStateOf(address, person) })
