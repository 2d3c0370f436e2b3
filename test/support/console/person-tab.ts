// Opens tabs that are signed in as a person, without the ceremony of a sign-in.
import type { Browser, BrowserContextOptions } from 'playwright-core'
import type { TestPerson } from '../person.ts'
import { newTab, type Tab } from './browser.ts'
import { cookieName } from './console-session.ts'

interface Address {
  readonly url: string
}

/** The cookie of the session of a person, as a browser keeps it. */
const cookieOfPerson = (address: Address, person: TestPerson) => ({
  name: cookieName(address),
  value: person.session,
  domain: new URL(address.url).hostname,
  path: '/',
  expires: -1,
  httpOnly: true,
  secure: false,
  sameSite: 'Strict' as const,
})

/** The address is that of the service as the browser opens it. */
export const personTab = (
  browser: Browser,
  address: Address,
  person: TestPerson,
  options: BrowserContextOptions = {},
): Promise<Tab> =>
  newTab(browser, address.url, {
    ...options,
    storageState: { cookies: [cookieOfPerson(address, person)], origins: [] },
  })
