// A service with an organisation whose people sign in at a test provider, and browsers that do so.
import { type Client, makeClient } from '../../../src/client/client.ts'
import type { ServeOptions } from '../../../src/server/config/server-options.ts'
import { freePort } from '../free-port.ts'
import type { Harness, HarnessSettings, Reply, TestOrg } from '../harness.ts'
import { startHarness } from '../harness.ts'
import { newPerson, type TestPerson } from '../person.ts'
import { CookieBrowser } from './cookie-browser.ts'
import { startTestProvider, type TestClient, type TestProvider } from './test-provider.ts'

export interface ProviderOrg extends TestOrg {
  /** Is ACTIVE, and has no identity before they sign in. Their subject at the provider is `owner`. */
  readonly owner: TestPerson
}

export interface SignInResult {
  readonly status: number
  readonly page: string
  readonly location: string | undefined
  /** Returns the signed-in person, as the API sees them. */
  me(): Promise<Reply>
}

export class ProviderSite {
  readonly harness: Harness
  readonly provider: TestProvider

  /** The public address of the service. */
  readonly url: string

  private constructor(harness: Harness, provider: TestProvider, url: string) {
    this.harness = harness
    this.url = url
    this.provider = provider
  }

  /** The provider is at 127.0.0.1. For a browser a service at localhost is another site. */
  static async start(
    host = '127.0.0.1',
    options: Partial<ServeOptions> = {},
    settings: HarnessSettings = {},
  ): Promise<ProviderSite> {
    const port = await freePort()
    const provider = await startTestProvider()
    const url = `http://${host}:${port}`
    return new ProviderSite(await startHarness({ port, publicUrl: url, ...options }, settings), provider, url)
  }

  /** Makes an organisation whose owner has set up the provider, tested it and turned it on. */
  async newOrg(settings: object = {}, client: TestClient = this.provider.clients[0]): Promise<ProviderOrg> {
    return this.setUp(await this.harness.newOrg(), settings, client)
  }

  async setUp(org: TestOrg, settings: object, client: TestClient = this.provider.clients[0]): Promise<ProviderOrg> {
    const owner = await newPerson(this.harness, org, { role: 'owner' })
    this.provider.addAccount('owner', { email: owner.email })
    client.redirectUris = [...client.redirectUris, this.callbackUrl(org)]
    client.backchannelLogoutUri = `${this.url}/auth/${org.id}/oidc/backchannel`
    const { clientId, clientSecret } = client
    const body = { issuer: this.provider.issuer, clientId, clientSecret, ...settings }
    await org.call('PUT', '/identity', { body: { ...body, scopes: ['email', 'profile', 'groups'] } })
    const page = await this.test(org)
    if (!page.includes('The test has passed')) throw new Error(page)
    const enabled = await org.call('PUT', '/identity', { body: { enabled: true } })
    if (enabled.status !== 200) throw new Error(enabled.text)
    return { ...org, owner }
  }

  /** Makes a user who may come in by their e-mail address. */
  async invite(org: TestOrg, email: string, more: object = {}): Promise<string> {
    const { body } = await org.call('POST', '/users', { body: { email, role: 'viewer', ...more } })
    return body.id
  }

  /** Reads or writes rows directly. */
  rows<T>(work: (kysely: Harness['services']['db']['system']['kysely']) => Promise<T>): Promise<T> {
    return this.harness.services.db.systemTransaction(({ kysely }) => work(kysely))
  }

  /** Opens the address of identityTest, signs in at the provider, and returns the page in the end. */
  async test(org: TestOrg, subject = 'owner'): Promise<string> {
    const { body } = await org.call('POST', '/identity/test')
    return (await this.open(body.url, subject)).page
  }

  /** Signs in as a person with an account at the provider, in a new browser unless one is given. */
  signIn(org: TestOrg, subject: string, browser = new CookieBrowser(), query = ''): Promise<SignInResult> {
    return this.open(`${this.url}/auth/${org.id}/oidc${query}`, subject, browser)
  }

  async open(url: string, subject: string, browser = new CookieBrowser()): Promise<SignInResult> {
    const callback = await this.callbackOf(url, subject, browser)
    return this.finish(callback, browser)
  }

  /** Goes to the provider and signs in there, up to the address on the way back, which is not opened. */
  async callbackOf(url: string, subject: string, browser: CookieBrowser): Promise<URL> {
    const begun = await browser.request(url)
    const location = begun.headers.get('location')
    if (!location) throw new Error(`${begun.status} ${await begun.text()}`)
    this.provider.signInAs(subject)
    return browser.follow(location)
  }

  async finish(callback: URL, browser: CookieBrowser): Promise<SignInResult> {
    const answer = await browser.request(callback)
    return {
      status: answer.status,
      page: await answer.text(),
      location: answer.headers.get('location') ?? undefined,
      me: () => this.session(browser),
    }
  }

  /** Asks who is signed in, as the console does. */
  session(browser: CookieBrowser): Promise<Reply> {
    return this.harness.call('GET', '/console/session', { key: false, headers: this.headersOf(browser) })
  }

  /** The headers with which a page of the service sends requests in this browser. */
  headersOf(browser: CookieBrowser): Record<string, string> {
    return { cookie: browser.cookiesFor(new URL(this.url)), 'sec-fetch-site': 'same-origin' }
  }

  /** Calls the API as the pages of the service do in this browser. */
  clientOf(org: TestOrg, browser: CookieBrowser): Client {
    const fetchWithCookie: typeof fetch = (url, init) =>
      fetch(url, { ...init, headers: { ...(init?.headers as Record<string, string>), ...this.headersOf(browser) } })
    return makeClient({ baseUrl: this.harness.url, org: org.id, fetch: fetchWithCookie })
  }

  callbackUrl(org: TestOrg): string {
    return `${this.url}/auth/${org.id}/oidc/callback`
  }

  async close(): Promise<void> {
    await this.harness.close()
    await this.provider.close()
  }
}
