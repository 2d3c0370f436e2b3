// Attacks on the sign-in at a provider are refused, through HTTP, and leave nobody signed in. [contract 11.oidc]
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { CookieBrowser } from '../support/oidc/cookie-browser.ts'
import { type HostileProvider, startHostileProvider, type TokenOptions } from '../support/oidc/hostile-provider.ts'
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
  for (const of of [org, other]) await site.invite(of, 'ada@example.org')
})
afterAll(() => site.close())

const begin = (of = org) => `${site.harness.url}/auth/${of.id}/oidc`
const sessionCount = async () =>
  (await site.rows((rows) => rows.selectFrom('user_sessions').select('hash').where('via', '=', 'oidc').execute()))
    .length

/** Opens an address in the place of the right one, and expects that nobody is signed in by it. */
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

describe('with a real provider', () => {
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
    expect(await sessionCount()).toBeLessThanOrEqual(before)
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
    const answer = await fetch(elsewhere, { headers: { cookie }, redirect: 'manual' })
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('not begun in this browser')])
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
    await refuse(begun, second, /settings were changed/)
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

  test('the address of a test signs nobody in, and its result counts for no other organisation', async () => {
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
})

describe('with a hostile provider', () => {
  let hostile: HostileProvider
  let attacked: ProviderOrg

  beforeAll(async () => {
    hostile = await startHostileProvider()
    attacked = await newAttackedOrg()
    await site.invite(attacked, 'ada@example.org')
  })
  afterAll(() => hostile.close())
  beforeEach(() => {
    hostile.idToken = {}
  })

  async function newAttackedOrg(settings: object = {}): Promise<ProviderOrg> {
    const made = await site.harness.newOrg()
    const owner = await newPerson(site.harness, made, { role: 'owner' })
    const { issuer, clientId, clientSecret } = hostile
    hostile.idToken = { claims: { sub: 'owner', email: owner.email, email_verified: true, groups: [] } }
    await made.call('PUT', '/identity', { body: { issuer, clientId, clientSecret, ...settings } })
    const { body } = await made.call('POST', '/identity/test')
    expect((await visit(body.url)).page).toContain('The test has passed')
    expect((await made.call('PUT', '/identity', { body: { enabled: true } })).status).toBe(200)
    return { ...made, owner }
  }

  async function visit(url: string) {
    const browser = new CookieBrowser()
    const begun = await browser.request(url)
    return site.finish(hostile.callbackOf(begun.headers.get('location') ?? ''), browser)
  }
  const right = { email: 'ada@example.org', email_verified: true, groups: [] }

  test.each<[string, TokenOptions, number]>([
    ['a right token', {}, 303],
    ['another nonce', { claims: { nonce: 'x' } }, 502],
    ['no nonce', { claims: { nonce: undefined } }, 502],
    ['alg none', { signature: 'none' }, 502],
    ['HS256 with the client secret', { signature: 'hsClientSecret' }, 502],
    ['HS256 with the public key', { signature: 'hsPublicKey' }, 502],
    ['another key', { signature: 'otherKey' }, 502],
    ['another audience', { claims: { aud: 'x' } }, 502],
    ['another issuer', { claims: { iss: 'https://evil.example.org' } }, 502],
    ['an end long ago', { times: { exp: -3600 } }, 502],
    ['a clock that is 61 s wrong', { times: { exp: -61 } }, 502],
    ['a clock that is 59 s wrong', { times: { exp: -59 } }, 303],
    ['a subject with a control character', { claims: { sub: 'ada\u0000' } }, 502],
    ['a subject of 256 characters', { claims: { sub: 'a'.repeat(256) } }, 502],
  ])('%s', async (_, options, status) => {
    hostile.idToken = { ...options, claims: { ...right, ...options.claims } }
    const before = await sessionCount()
    const answer = await visit(begin(attacked))
    expect(answer.status).toBe(status)
    expect((await answer.me()).status).toBe(status === 303 ? 200 : 401)
    expect(await sessionCount()).toBe(status === 303 ? before + 1 : before)
  })

  test.each([
    'eve\u001b[2J@example.org',
    'eve\u0000@example.org',
    'eve\ud800@example.org',
    `${'e'.repeat(250)}@example.org`,
    'example.org',
    'eve @example.org',
  ])('the e-mail address %j counts as none', async (email) => {
    const sub = Buffer.from(email).toString('hex').slice(0, 60)
    hostile.idToken = { claims: { ...right, sub, email } }
    const answer = await visit(begin(attacked))
    expect([answer.status, answer.page]).toEqual([403, expect.stringContaining('no e-mail address that can be used')])
    expect((await attacked.audit())[0]).toMatchObject({ type: 'SIGN_IN_REFUSED', target: { id: sub, name: sub } })
  })

  test.each([
    ['a name with an escape sequence', '\u001b]0;owned\u0007Eve', undefined],
    ['a name with half of a surrogate pair', 'Eve\ud83d', undefined],
    ['a name of 101 characters', 'e'.repeat(101), undefined],
    ['a name of 100 characters outside of the basic plane', '😀'.repeat(100), '😀'.repeat(100)],
    ['a name with white space at its ends', ' Eve ', 'Eve'],
  ])('%s is stored only if the API would take it', async (sub, name, stored) => {
    const groupRoles = [{ group: 'staff', role: 'viewer' }]
    const claims = {
      sub,
      email: `${sub.replaceAll(' ', '-')}@example.org`,
      email_verified: true,
      groups: ['staff'],
      name,
    }
    const making = await newAttackedOrg({ createUsers: true, groupRoles })
    hostile.idToken = { claims }
    expect((await visit(begin(making))).status).toBe(303)
    const { users } = (await making.call('GET', '/users')).body
    expect(users.find(({ email }: { email: string }) => email === claims.email)?.name).toBe(stored)
  })

  test('rotated keys work', async () => {
    hostile.idToken = { claims: right }
    hostile.rotateKeys()
    expect((await visit(begin(attacked))).status).toBe(303)
  })

  test('a forged back-channel token ends no session', async () => {
    hostile.idToken = { claims: { ...right, sid: 's1' } }
    const signedIn = await visit(begin(attacked))
    const event = { 'http://schemas.openid.net/event/backchannel-logout': {} }
    const claims = { events: event, jti: 'j', sid: 's1', nonce: undefined }
    const post = async (token: string) =>
      (
        await fetch(`${begin(attacked)}/backchannel`, {
          method: 'POST',
          body: new URLSearchParams({ logout_token: token }),
        })
      ).status
    for (const options of [
      { signature: 'otherKey' },
      { signature: 'none' },
      { signature: 'hsPublicKey' },
      { claims: { aud: 'x' } },
      { claims: { nonce: 'n' } },
    ] as TokenOptions[]) {
      expect(await post(await hostile.sign(options, claims))).toBe(400)
    }
    expect((await signedIn.me()).status).toBe(200)
    expect(await post(await hostile.sign({}, claims))).toBe(200)
    expect((await signedIn.me()).status).toBe(401)
  })

  test('words of the provider are shown to nobody, and written nowhere', async () => {
    hostile.tokenAnswer = { status: 400, body: '{"error":"<b>hidden words</b>","error_description":"hidden words"}' }
    onTestFinished(() => {
      hostile.tokenAnswer = undefined
    })
    const { page } = await visit(begin(attacked))
    expect(page).toMatch(/\(127\.0\.0\.1:\d+: answer\)/)
    expect(page + JSON.stringify(site.harness.logged)).not.toContain('hidden words')
  })
})
