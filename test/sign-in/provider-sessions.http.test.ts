// Sessions that a provider vouched for: how long they last, and how the provider ends them. [contract 11.oidc]
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { timeLimits } from '../../src/server/core/time-limits.ts'
import { readWith } from '../support/console/console-session.ts'
import { inviteAgain, signInByLink } from '../support/console/user-session.ts'
import { follow } from '../support/event-follower.ts'
import { sumMetric } from '../support/nodes/metrics.ts'
import { CookieBrowser } from '../support/oidc/cookie-browser.ts'
import { type ProviderOrg, ProviderSite, type SignInResult } from '../support/oidc/provider-site.ts'
import { startTestProvider } from '../support/oidc/test-provider.ts'
import { until } from '../support/program.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

let site: ProviderSite
let org: ProviderOrg
let browser: CookieBrowser
let ada: SignInResult
let count = 0
let subject: string
let userId: string

beforeAll(async () => {
  // No question to the provider ends by itself while a test runs.
  const limits = { ...timeLimits, outboundRequestMs: 10 * minuteMs }
  site = await ProviderSite.start('127.0.0.1', {}, { limits })
  org = await site.newOrg()
})
afterAll(() => site.close())
beforeEach(async () => {
  subject = `ada-${++count}`
  site.provider.addAccount(subject)
  userId = await site.invite(org, `${subject}@example.org`)
  browser = new CookieBrowser()
  ada = await site.signIn(org, subject, browser)
  expect((await ada.me()).status).toBe(200)
})

const advance = (ms: number) => site.harness.clock.advance(ms)
const refreshes = () => site.provider.requests.filter((path) => path === '/token').length
/** Counted when a check has ended; the provider counts it when it begins. */
const passedChecks = () => sumMetric(site.harness, 'roomkeeper_session_refreshes_total{outcome="passed"}')
const account = () => site.provider.accounts.get(subject) as { isDisabled: boolean }

test('a person who was disabled at the provider is signed out after 15 minutes of use, with an entry in the audit log', async () => {
  const second = await site.signIn(org, subject)
  const { cookie } = await signInByLink(site.harness, { link: await inviteAgain(org, userId) })
  expect((await readWith(org, cookie)).status).toBe(200)
  account().isDisabled = true
  advance(11 * minuteMs)
  expect((await ada.me()).status).toBe(200)
  advance(4 * minuteMs)
  expect((await ada.me()).status).toBe(401)
  expect((await second.me()).status).toBe(401)
  expect((await readWith(org, cookie)).status, 'a session by link').toBe(401)
  expect((await org.audit())[0]).toMatchObject({
    type: 'SESSION_REVOKED',
    actor: { type: 'SYSTEM' },
    target: { type: 'user', name: `${subject}@example.org` },
  })
})

test('the provider is asked in the background after 12 minutes, once, and again 15 minutes later', async () => {
  const before = refreshes()
  const passed = await passedChecks()
  advance(13 * minuteMs)
  for (let i = 0; i < 3; i++) expect((await ada.me()).status).toBe(200)
  await until('the check has passed', async () => (await passedChecks()) === passed + 1)
  expect(refreshes()).toBe(before + 1)
  advance(minuteMs)
  await ada.me()
  expect(refreshes()).toBe(before + 1)
  advance(15 * minuteMs)
  expect((await ada.me()).status).toBe(200)
  expect(refreshes()).toBe(before + 2)
  account().isDisabled = true
  advance(15 * minuteMs)
  expect((await ada.me()).status).toBe(401)
})

test('many requests at once ask the provider once, because a refresh token may work only once', async () => {
  const before = refreshes()
  advance(16 * minuteMs)
  const answers = await Promise.all(Array.from({ length: 10 }, () => ada.me()))
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
  expect(refreshes()).toBe(before + 1)
})

test('a session lasts 24 h at most, however much it is used', async () => {
  for (let i = 0; i < 23; i++) {
    advance(hourMs)
    expect((await ada.me()).status, `${i}`).toBe(200)
  }
  advance(hourMs)
  expect((await ada.me()).status).toBe(401)
})

test('a session that is not used ends after 12 h', async () => {
  advance(12 * hourMs)
  expect((await ada.me()).status).toBe(401)
})

test('a sign-out at the provider ends the session within a second, and no other one', async () => {
  const second = await site.signIn(org, subject)
  // While the clock stands, the server would trust its cache of sessions forever.
  site.harness.clock.fix()
  onTestFinished(() => site.harness.clock.resume())
  expect((await ada.me()).status).toBe(200)
  await browser.signOut(site.provider.issuer)
  await until('the session has ended', async () => (await ada.me()).status === 401)
  expect((await second.me()).status).toBe(200)
  expect((await org.audit())[0]).toMatchObject({ type: 'SESSION_REVOKED', target: { name: `${subject}@example.org` } })
})

test('a sign-out at the provider ends the session while the provider is turned off too', async () => {
  const other = await site.newOrg({}, site.provider.clients[1])
  await site.invite(other, `${subject}@example.org`)
  const otherBrowser = new CookieBrowser()
  const signedIn = await site.signIn(other, subject, otherBrowser)
  expect((await other.call('PUT', '/identity', { body: { enabled: false } })).status).toBe(200)
  expect((await signedIn.me()).status, 'sessions go on').toBe(200)
  await otherBrowser.signOut(site.provider.issuer)
  await until('the session has ended', async () => (await signedIn.me()).status === 401)
})

test.each([
  ['disables the person', { state: 'DISABLED' }, { status: 401 }],
  ['changes the role', { role: 'operator' }, { status: 200, body: { user: { role: 'operator' } } }],
])(
  'an owner who %s while a request waits for the provider decides what the request may do',
  async (_, body, answer) => {
    const { users } = (await org.call('GET', '/users')).body
    const { id } = users.find(({ email }: { email: string }) => email === `${subject}@example.org`)
    onTestFinished(() => {
      site.provider.beforeAnswer = undefined
    })
    site.provider.beforeAnswer = async (path) => {
      if (path === '/token') expect((await org.call('PUT', `/users/${id}`, { body })).status).toBe(200)
    }
    advance(16 * minuteMs)
    expect(await ada.me()).toMatchObject(answer)
  },
)

test('a provider that cannot be reached ends no session, and is asked again a minute later', async () => {
  const provider = await startTestProvider()
  const stored = await site.rows((rows) =>
    rows.selectFrom('identity_providers').select('settings').where('org', '=', org.org.key).executeTakeFirstOrThrow(),
  )
  const write = (settings: string) =>
    site.rows((rows) =>
      rows.updateTable('identity_providers').set({ settings }).where('org', '=', org.org.key).execute(),
    )
  await write(stored.settings.replace(site.provider.issuer, provider.issuer))
  await provider.close()
  advance(16 * minuteMs)
  // Each node asks once.
  const nodes = site.harness.nodeUrls.length
  for (let i = 0; i < 2 * nodes; i++) expect((await ada.me()).status).toBe(200)
  const warnings = site.harness.logged.filter(({ msg }) =>
    String(msg).startsWith('session not checked at the provider'),
  )
  expect(warnings).toHaveLength(nodes)
  expect(warnings[0]?.reason).toBe(`${new URL(provider.issuer).host}: refused`)
  expect((await org.call('GET', '/users')).status).toBe(200)
  await write(stored.settings)
  account().isDisabled = true
  advance(minuteMs)
  expect((await ada.me()).status).toBe(401)
})

test('a provider that does not answer holds a request up for 3 seconds, and ends no session', async () => {
  const hanging = Promise.withResolvers<void>()
  let isAsked = false
  site.provider.beforeAnswer = async (path) => {
    if (path !== '/token') return
    isAsked = true
    await hanging.promise
  }
  onTestFinished(() => {
    site.provider.beforeAnswer = undefined
    hanging.resolve()
  })
  advance(16 * minuteMs)
  const began = performance.now()
  expect((await ada.me()).status).toBe(200)
  expect(performance.now() - began).toBeGreaterThan(2500)
  expect(isAsked).toBe(true)
})

test('an open event stream counts as use: it ends after a person was disabled at the provider', async () => {
  await org.call('PUT', `/users/${userId}`, { body: { allRegions: true } })
  const reader = await follow(site.clientOf(org, browser))
  const before = refreshes()
  account().isDisabled = true
  advance(11 * minuteMs)
  await org.call('POST', '/regions', { body: { name: `Heard ${subject}` } })
  await until('an event', () => reader.events.length > 0 || reader.ended)
  expect(reader.ended).toBeUndefined()
  advance(4 * minuteMs)
  await until('its end', () => reader.ended, { timeoutMs: 15_000 })
  expect(reader.ended).toBe('by the server')
  expect(refreshes()).toBe(before + 1)
})

test('a refresh token that works once is not lost if the ID token that came with the next one cannot be verified', async () => {
  site.provider.rotateKeys()
  site.provider.beforeAnswer = async (path) => {
    if (path === '/jwks') throw new Error('no keys at the moment')
  }
  onTestFinished(() => {
    site.provider.beforeAnswer = undefined
  })
  const before = refreshes()
  advance(16 * minuteMs)
  expect((await ada.me()).status).toBe(200)
  expect(refreshes()).toBe(before + 1)
  const { reason } = site.harness.logged.findLast(({ msg }) => String(msg).startsWith('session not checked')) ?? {}
  expect(reason).toBe(`${new URL(site.provider.issuer).host}: answer`)
  site.provider.beforeAnswer = undefined
  advance(minuteMs)
  expect((await ada.me()).status).toBe(200)
  expect(refreshes()).toBe(before + 2)
  expect((await ada.me()).status).toBe(200)
})

test('the refresh token of another session cannot be used, whatever is written into the database', async () => {
  const other = `${subject}-colleague`
  site.provider.addAccount(other)
  await site.invite(org, `${other}@example.org`)
  await site.signIn(org, other)
  const tokens = await site.rows((rows) =>
    rows
      .selectFrom('user_sessions')
      .innerJoin('users', (j) =>
        j.onRef('users.org', '=', 'user_sessions.org').onRef('users.id', '=', 'user_sessions.user_id'),
      )
      .select(['hash', 'email', 'refresh_token'])
      .execute(),
  )
  const tokenOf = (name: string) => tokens.find(({ email }) => email === `${name}@example.org`)
  const [own, colleague] = [tokenOf(subject), tokenOf(other)]
  await site.rows((rows) =>
    rows
      .updateTable('user_sessions')
      .set({ refresh_token: colleague?.refresh_token ?? null })
      .where('hash', '=', own?.hash ?? Buffer.alloc(0))
      .execute(),
  )
  account().isDisabled = true
  const before = refreshes()
  advance(16 * minuteMs)
  await ada.me()
  expect(refreshes(), 'the provider is not asked with the token of somebody else').toBe(before)
  expect(site.harness.logged.at(-1)).toMatchObject({ msg: expect.stringContaining('session not checked') })
})

test('metrics count the questions to the provider by their outcome', async () => {
  account().isDisabled = true
  advance(16 * minuteMs)
  expect((await ada.me()).status).toBe(401)
  for (const outcome of ['passed', 'ended', 'unknown']) {
    expect(await sumMetric(site.harness, `roomkeeper_session_refreshes_total{outcome="${outcome}"}`)).toBeGreaterThan(0)
  }
})

test('refresh tokens are sealed in the database', async () => {
  const sealed = await site.rows((rows) => rows.selectFrom('user_sessions').select('refresh_token').execute())
  expect(sealed.filter(({ refresh_token }) => refresh_token !== null).length).toBeGreaterThan(0)
  for (const { refresh_token } of sealed) expect(refresh_token?.toString('latin1') ?? '').not.toMatch(/^[\w-]{30,}$/)
})
