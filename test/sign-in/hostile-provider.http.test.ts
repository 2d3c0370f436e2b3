// Tokens and texts of a hostile provider are refused, through HTTP, and create no session. [contract 11.oidc]
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { readWith } from '../support/console/console-session.ts'
import { inviteAgain, signInByLink } from '../support/console/user-session.ts'
import { CookieBrowser } from '../support/oidc/cookie-browser.ts'
import { type HostileProvider, startHostileProvider, type TokenOptions } from '../support/oidc/hostile-provider.ts'
import { type ProviderOrg, ProviderSite } from '../support/oidc/provider-site.ts'
import { newPerson } from '../support/person.ts'

let site: ProviderSite
let hostile: HostileProvider
let attacked: ProviderOrg
beforeAll(async () => {
  site = await ProviderSite.start()
  hostile = await startHostileProvider()
  attacked = await newAttackedOrg()
  await site.invite(attacked, 'ada@example.org')
})
afterAll(async () => {
  await hostile.close()
  await site.close()
})
beforeEach(() => {
  hostile.idToken = {}
})

const begin = (of: ProviderOrg) => `${site.harness.url}/auth/${of.id}/oidc`
const sessionCount = async () =>
  (await site.rows((rows) => rows.selectFrom('user_sessions').select('hash').where('via', '=', 'oidc').execute()))
    .length

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

const logoutEvents = { 'http://schemas.openid.net/event/backchannel-logout': {} }
const sendLogout = async (token: string) => {
  const body = new URLSearchParams({ logout_token: token })
  return (await fetch(`${begin(attacked)}/backchannel`, { method: 'POST', body })).status
}

test('a forged back-channel token ends no session', async () => {
  hostile.idToken = { claims: { ...right, sid: 's1' } }
  const signedIn = await visit(begin(attacked))
  const claims = { events: logoutEvents, jti: 'j', sid: 's1', nonce: undefined }
  for (const options of [
    { signature: 'otherKey' },
    { signature: 'none' },
    { signature: 'hsPublicKey' },
    { claims: { aud: 'x' } },
    { claims: { nonce: 'n' } },
  ] as TokenOptions[]) {
    expect(await sendLogout(await hostile.sign(options, claims))).toBe(400)
  }
  expect((await signedIn.me()).status).toBe(200)
  expect(await sendLogout(await hostile.sign({}, claims))).toBe(200)
  expect((await signedIn.me()).status).toBe(401)
})

test('a back-channel token with a subject alone ends all sessions that came from the provider, and no others', async () => {
  const sub = 'grace'
  const id = await site.invite(attacked, 'grace@example.org')
  hostile.idToken = { claims: { ...right, sub, email: 'grace@example.org' } }
  const sessions = [await visit(begin(attacked)), await visit(begin(attacked))]
  const { cookie } = await signInByLink(site.harness, { link: await inviteAgain(attacked, id) })
  hostile.idToken = { claims: { ...right, sid: 's2' } }
  const ada = await visit(begin(attacked))
  expect(await sendLogout(await hostile.sign({}, { events: logoutEvents, jti: 'j', sub, nonce: undefined }))).toBe(200)
  for (const session of sessions) expect((await session.me()).status).toBe(401)
  expect((await readWith(attacked, cookie)).status, 'a session by link').toBe(200)
  expect((await ada.me()).status, 'somebody else').toBe(200)
})

test('a back-channel token whose sid no ID token had ends the sessions of its subject that have none', async () => {
  const [sub, email] = ['heidi', 'heidi@example.org']
  await site.invite(attacked, email)
  const signInWith = (claims: object) => {
    hostile.idToken = { claims: { ...right, ...claims } }
    return visit(begin(attacked))
  }
  const unnamed = await signInWith({ sub, email })
  const named = await signInWith({ sub, email, sid: 's3' })
  const ada = await signInWith({})
  const logout = async (claims: object) =>
    sendLogout(await hostile.sign({}, { events: logoutEvents, jti: 'j', nonce: undefined, ...claims }))
  const revoked = { type: 'SESSION_REVOKED', target: { type: 'user', name: email } }
  expect(await logout({ sub, sid: 'of-no-id-token' })).toBe(200)
  expect((await unnamed.me()).status).toBe(401)
  expect((await attacked.audit())[0]).toMatchObject(revoked)
  expect([(await named.me()).status, (await ada.me()).status], 'others').toEqual([200, 200])
  expect(await logout({ sub, sid: 'of-no-id-token' }), 'without such a session').toBe(200)
  expect((await named.me()).status).toBe(200)
  const before = (await attacked.audit()).length
  expect(await logout({ sub: undefined, sid: 's3' })).toBe(200)
  expect((await named.me()).status).toBe(401)
  expect((await attacked.audit())[0], 'the person is named without a subject too').toMatchObject(revoked)
  expect(await attacked.audit()).toHaveLength(before + 1)
})

// A refusal of the service itself says nothing about the person.
test.each([
  [401, '{"error":"invalid_client"}', 'invalid_client'],
  [500, '<h1>Internal Server Error</h1>', 'answer'],
  [503, '', 'answer'],
])(
  'a provider that answers %i %s to a refresh ends no session, and is asked again a minute later',
  async (status, body, word) => {
    hostile.idToken = { claims: right }
    const session = await visit(begin(attacked))
    expect((await session.me()).status).toBe(200)
    hostile.tokenAnswer = { status, body }
    onTestFinished(() => {
      hostile.tokenAnswer = undefined
    })
    const asked = () => hostile.requests.filter((path) => path === '/token').length
    const before = asked()
    site.harness.clock.advance(16 * 60_000)
    // Each node asks once.
    const nodes = site.harness.nodeUrls.length
    for (let i = 0; i < 2 * nodes; i++) expect((await session.me()).status).toBe(200)
    expect(asked()).toBe(before + nodes)
    const { reason } = site.harness.logged.findLast(({ msg }) => String(msg).startsWith('session not checked')) ?? {}
    expect(reason).toBe(`${new URL(hostile.issuer).host}: ${word}`)
    site.harness.clock.advance(60_000)
    expect((await session.me()).status).toBe(200)
    expect(asked()).toBe(before + nodes + 1)
  },
)

test('texts of the provider are neither shown nor logged', async () => {
  hostile.tokenAnswer = { status: 400, body: '{"error":"<b>hidden words</b>","error_description":"hidden words"}' }
  onTestFinished(() => {
    hostile.tokenAnswer = undefined
  })
  const { page } = await visit(begin(attacked))
  expect(page).toMatch(/\(127\.0\.0\.1:\d+: answer\)/)
  expect(page + JSON.stringify(site.harness.logged)).not.toContain('hidden words')
})
