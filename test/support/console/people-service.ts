// A service at http://localhost for tests of sign-in in a browser: passkeys do not work at an IP address. [contract 11.local]
import type { Browser, Page } from 'playwright-core'
import { freePort } from '../free-port.ts'
import { type Harness, startHarness, type TestOrg } from '../harness.ts'
import { newTab, type Tab } from './browser.ts'

export interface PeopleService {
  readonly harness: Harness
  /** The public address, which is also where passkeys work. */
  readonly url: string
  readonly org: TestOrg
  /** Each region has a location with one room: Fjord is in Europe, Sakura in Asia. A third room, Tomt, has no location. */
  readonly regions: { readonly europe: number; readonly asia: number }
}

export async function startPeopleService(): Promise<PeopleService> {
  const port = await freePort()
  const url = `http://localhost:${port}`
  const harness = await startHarness({ port, publicUrl: url })
  const org = await harness.newOrg('Nordlys AS')
  const create = async (path: string, body: object): Promise<number> => (await org.call('POST', path, { body })).body.id
  const newRegion = async (name: string, location: string, room: string) => {
    const regionId = await create('/regions', { name })
    const locationId = await create('/locations', { name: location, regionId })
    await create('/rooms', { name: room, locationId })
    return regionId
  }
  const europe = await newRegion('Europe', 'Oslo', 'Fjord')
  const asia = await newRegion('Asia', 'Tokyo', 'Sakura')
  await create('/rooms', { name: 'Tomt' })
  return { harness, url, org, regions: { europe, asia } }
}

/** Opens a tab whose browser has an authenticator that confirms every request. */
export async function tabWithAuthenticator(browser: Browser, url: string): Promise<Tab> {
  const tab = await newTab(browser, url)
  await addAuthenticator(tab.page)
  return tab
}

/** Gives the browser of a page an authenticator that confirms every request. */
export async function addAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}
