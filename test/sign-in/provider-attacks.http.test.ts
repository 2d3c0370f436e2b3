// Attacks on the sign-in at a real provider are refused, through HTTP, and create no session. [contract 11.oidc]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CookieBrowser } from '../support/oidc/cookie-browser.ts'
import { type ProviderOrg, ProviderSite } from '../support/oidc/provider-site.ts'
import { newPerson } from '../support/person.ts'

let site: ProviderSite
let org: ProviderOrg
let other: ProviderOrg
beforeAll(async () => {
  site = await ProviderSite.start()
  other = await site.newOrg({}, site.provider.clients[1])
  org = await site.newOrg()
  site.provider.addAccount('ada')
  for (const invited of [org, other]) await site.invite(invited, 'ada@example.org')
})
afterAll(() => site.close())

const begin = (of = org) => `${site.harness.url}/auth/${of.id}/oidc`
const sessionCount = async () =>
  (await site.rows((rows) => rows.selectFrom('user_sessions').select('hash').where('via', '=', 'oidc').execute()))
    .length

/** Opens an address in the place of the right one, and expects that it creates no session. */
async function refuse(callback: URL, browser: CookieBrowser, page: RegExp): Promise<void> {
  const before = await sessionCount()
  const answer = await site.finish(callback, browser)
  expect(answer.page).toMatch(page)
  expect(answer.status).toBeGreaterThanOrEqual(400)
  expect((await answer.me()).status).toBe(401)
  expect(await sessionCount()).toBe(before)
}

const changed = (callback: URL, change: (params: URLSearchParams) => void) => {
  const copy = new URL(callback)
  change(copy.searchParams)
  return copy
}

test.each<[string, (params: URLSearchParams) => void, RegExp]>([
  ['a wrong state', (p) => p.set('state', 'x'), /127\.0\.0\.1:\d+: state/],
  ['no state', (p) => p.delete('state'), /: state/],
  ['two states', (p) => p.append('state', 'x'), /: state/],
  ['the issuer of another provider', (p) => p.set('iss', 'https://evil.example.org'), /: issuer/],
  ['no issuer although the provider announces it', (p) => p.delete('iss'), /: issuer/],
  ['a code that the provider did not give', (p) => p.set('code', 'x'), /: invalid_grant/],
  ['an error with words of an attacker', (p) => p.set('error', '<script>'), /: answer/],
])('%s is refused', async (_, change, page) => {
  const browser = new CookieBrowser()
  const callback = await site.callbackOf(begin(), 'ada', browser)
  await refuse(changed(callback, change), browser, page)
})

test('login CSRF: the address on the way back does not work in another browser', async () => {
  const callback = await site.callbackOf(begin(), 'ada', new CookieBrowser())
  await refuse(callback, new CookieBrowser(), /not begun in this browser/)
  const victim = new CookieBrowser()
  await site.callbackOf(begin(), 'ada', victim)
  await refuse(callback, victim, /: state/)
})

test('a replayed code is refused, with the cookie of its flow too', async () => {
  const browser = new CookieBrowser()
  const callback = await site.callbackOf(begin(), 'ada', browser)
  const flow = browser.cookiesFor(callback)
  expect((await site.finish(callback, browser)).status).toBe(303)
  await refuse(callback, new CookieBrowser(), /not begun in this browser/)
  const before = await sessionCount()
  const replayed = await fetch(callback, { headers: { cookie: flow }, redirect: 'manual' })
  expect(await replayed.text()).toContain(': invalid_grant')
  expect(replayed.headers.get('set-cookie') ?? '').not.toMatch(/roomkeeper-\d+=rku_/)
  expect(await sessionCount()).toBe(before)
})

test("another client's code, and a code for another verifier, are refused", async () => {
  const foreign = await site.callbackOf(begin(other), 'ada', new CookieBrowser())
  const own = await site.callbackOf(begin(), 'ada', new CookieBrowser())
  for (const code of [foreign, own].map(({ searchParams }) => searchParams.get('code') ?? '')) {
    const browser = new CookieBrowser()
    const callback = await site.callbackOf(begin(), 'ada', browser)
    await refuse(
      changed(callback, (p) => p.set('code', code)),
      browser,
      /: invalid_grant/,
    )
  }
})

test("another organisation's callback is refused, even with the cookie of the flow", async () => {
  const browser = new CookieBrowser()
  const callback = await site.callbackOf(begin(), 'ada', browser)
  const elsewhere = new URL(site.callbackUrl(other) + callback.search)
  const cookie = browser.cookiesFor(callback)
  const before = await sessionCount()
  const answer = await fetch(elsewhere, { headers: { cookie }, redirect: 'manual' })
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('not begun in this browser')])
  expect(answer.headers.get('set-cookie') ?? '').not.toMatch(/roomkeeper-\d+=rku_/)
  expect(await sessionCount()).toBe(before)
  expect((await site.session(browser)).status).toBe(401)
})

test('session fixation: a session that an attacker put into the browser ends, and the person gets a new one', async () => {
  const attacker = await newPerson(site.harness, org, { role: 'viewer' })
  const name = `roomkeeper-${new URL(site.harness.url).port}`
  const browser = new CookieBrowser()
  browser.set(site.harness.url, name, attacker.session)
  const signedIn = await site.signIn(org, 'ada', browser)
  expect((await signedIn.me()).body.user.email).toBe('ada@example.org')
  const fixed = new CookieBrowser()
  fixed.set(site.harness.url, name, attacker.session)
  expect((await site.session(fixed)).status).toBe(401)
})

test.each(['https://evil.org', '//evil.org', '/\\evil.org', '/.//evil.org', '/%09/evil.org', 'javascript:alert(1)'])(
  'open redirect: returnTo=%s leads to an own page',
  async (returnTo) => {
    const query = `?returnTo=${encodeURIComponent(returnTo)}`
    const { status, location = '' } = await site.signIn(org, 'ada', undefined, query)
    expect(status).toBe(303)
    expect(new URL(location, site.harness.url).origin).toBe(site.harness.url)
  },
)

test('a flow ends after ten minutes, and when the settings change', async () => {
  const browser = new CookieBrowser()
  const callback = await site.callbackOf(begin(), 'ada', browser)
  site.harness.clock.advance(600_000)
  await refuse(callback, browser, /took longer than ten minutes/)

  const changing = await site.newOrg()
  const second = new CookieBrowser()
  const begun = await site.callbackOf(begin(changing), 'owner', second)
  await changing.call('PUT', '/identity', { body: { enabled: false, createUsers: true } })
  await refuse(begun, second, /settings have changed/)
})

test('two people who come with one invitation at the same time: one gets it', async () => {
  await site.invite(org, 'one@example.org')
  for (const subject of ['one', 'one-too']) site.provider.addAccount(subject, { email: 'one@example.org' })
  const browsers = [new CookieBrowser(), new CookieBrowser()] as const
  const callbacks = [
    await site.callbackOf(begin(), 'one', browsers[0]),
    await site.callbackOf(begin(), 'one-too', browsers[1]),
  ] as const
  const answers = await Promise.all([site.finish(callbacks[0], browsers[0]), site.finish(callbacks[1], browsers[1])])
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 403])
})

test('the address of a test creates no session, and its result counts for no other organisation', async () => {
  const testing = await site.newOrg()
  const { body } = await testing.call('POST', '/identity/test')
  const before = await sessionCount()
  const result = await site.open(body.url, 'owner')
  expect([result.status, (await result.me()).status]).toEqual([200, 401])
  expect(await sessionCount()).toBe(before)
  const ticket = new URL(body.url).search
  const moved = await new CookieBrowser().request(`${begin(org)}${ticket}`)
  expect(moved.status).toBe(400)
  expect((await new CookieBrowser().request(`${begin(org)}?test=x`)).status).toBe(400)
})
