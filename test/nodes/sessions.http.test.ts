// People at three nodes: a session that one node ends, and a role that one node changes, are refused at the others in time. [contract 3.10]
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { minuteMs } from '../../src/contract/durations.ts'
import { timeLimits } from '../../src/server/core/time-limits.ts'
import { own } from '../support/console/console-session.ts'
import { invite, signInByLink } from '../support/console/user-session.ts'
import { type Call, type Reply, send } from '../support/harness.ts'
import { CookieBrowser } from '../support/oidc/cookie-browser.ts'
import { type ProviderOrg, ProviderSite } from '../support/oidc/provider-site.ts'
import { until } from '../support/program.ts'

/** A node that gets no message learns within this time that a session has ended or a role has changed. */
const withinMs = 1000

let site: ProviderSite
let org: ProviderOrg
beforeAll(async () => {
  // No question to the provider ends by itself while a test runs.
  const limits = { ...timeLimits, outboundRequestMs: 10 * minuteMs }
  site = await ProviderSite.start('127.0.0.1', {}, { nodes: 3, limits })
  org = await site.newOrg()
})
afterAll(() => site.close())

type AtNode = (url: string) => Promise<Reply>

const atOrg = (url: string, method: string, path: string, call: Call = {}) =>
  send(url, method, `/v1/orgs/${org.id}${path}`, { key: org.key, ...call })

const everywhere = async (ask: AtNode) => Promise.all(site.harness.nodeUrls.map(async (url) => (await ask(url)).status))

/** Waits until every node answers with the status. */
async function untilEverywhere(status: number, ask: AtNode): Promise<void> {
  const wait = (url: string) => until(`${url} answers ${status}`, async () => (await ask(url)).status === status)
  await Promise.all(site.harness.nodeUrls.map(wait))
}

/** While the clock stands, a node trusts what it reads until a message tells it otherwise. */
function stopClock(): void {
  site.harness.clock.fix()
  onTestFinished(() => site.harness.clock.resume())
}

/** Signs a new person in by a link at one node, and reads with that session at any. */
async function newSession(role: string) {
  const { id, link } = await invite(org, role)
  const { cookie } = await signInByLink(site.harness, { link })
  const call: Call = { key: false, headers: { ...own, cookie } }
  const read: AtNode = (url) => atOrg(url, 'GET', '/regions', call)
  return { id, call, read }
}

interface Delivery {
  /** Is called before the first node makes the change. */
  readonly prepare: () => void
  /** Expects that every node answers with the status, as soon as it must. */
  readonly expectEverywhere: (status: number, ask: AtNode) => Promise<void>
}

const deliveries: readonly [string, Delivery][] = [
  ['its messages arrive', { prepare: () => {}, expectEverywhere: untilEverywhere }],
  [
    'its messages are lost',
    {
      prepare() {
        const lost = vi.spyOn(site.harness.services.bus, 'send').mockImplementation(() => {})
        onTestFinished(() => void lost.mockRestore())
      },
      async expectEverywhere(status, ask) {
        site.harness.clock.advance(withinMs)
        expect(await everywhere(ask)).toEqual([status, status, status])
      },
    },
  ],
]

test('a sign-out at the provider that one node is told of ends the session at all nodes within a second [contract 11.oidc]', async () => {
  site.provider.addAccount('ada')
  await site.invite(org, 'ada@example.org')
  const browser = new CookieBrowser()
  expect((await site.signIn(org, 'ada', browser)).status).toBe(303)
  const read: AtNode = (url) => send(url, 'GET', '/console/session', { key: false, headers: site.headersOf(browser) })
  stopClock()
  expect(await everywhere(read)).toEqual([200, 200, 200])
  await browser.signOut(site.provider.issuer)
  await untilEverywhere(401, read)
})

test('requests at all nodes at once ask the provider once whether a session may go on, because a refresh token may work only once', async () => {
  site.provider.addAccount('ben')
  await site.invite(org, 'ben@example.org')
  const browser = new CookieBrowser()
  expect((await site.signIn(org, 'ben', browser)).status).toBe(303)
  const read: AtNode = (url) => send(url, 'GET', '/console/session', { key: false, headers: site.headersOf(browser) })
  const refreshes = () => site.provider.requests.filter((path) => path === '/token').length
  const before = refreshes()
  site.harness.clock.advance(16 * 60_000)
  const answers = await Promise.all([everywhere(read), everywhere(read), everywhere(read)])
  expect(answers.flat()).toEqual(Array(9).fill(200))
  await until('the provider was asked', () => refreshes() > before)
  expect(await everywhere(read)).toEqual([200, 200, 200])
  expect(refreshes()).toBe(before + 1)
})

test('a node that gets no answer of the provider keeps the others from asking for two minutes only [contract 11.oidc]', async () => {
  const account = site.provider.addAccount('cat')
  await site.invite(org, 'cat@example.org')
  const browser = new CookieBrowser()
  expect((await site.signIn(org, 'cat', browser)).status).toBe(303)
  const read: AtNode = (url) => send(url, 'GET', '/console/session', { key: false, headers: site.headersOf(browser) })
  const [first = '', second = ''] = site.harness.nodeUrls
  const hanging = Promise.withResolvers<void>()
  let questions = 0
  site.provider.beforeAnswer = async (path) => {
    if (path === '/token' && ++questions === 1) await hanging.promise
  }
  onTestFinished(() => {
    site.provider.beforeAnswer = undefined
    hanging.resolve()
  })
  account.isDisabled = true
  site.harness.clock.advance(16 * 60_000)
  const asking = read(first)
  await until('the first node asks', () => questions === 1)
  expect((await read(second)).status, 'during the question').toBe(200)
  expect((await asking).status, 'after 3 seconds').toBe(200)
  expect(questions).toBe(1)
  site.harness.clock.advance(2 * 60_000)
  // The first node still waits for its answer.
  await until('the second node asks', async () => (await read(second)).status === 401)
  expect(questions).toBe(2)
  await untilEverywhere(401, read)
})

test.each(deliveries)(
  'the sessions that one node ends are refused at all nodes within a second if %s',
  async (_, { prepare, expectEverywhere }) => {
    const { id, read } = await newSession('viewer')
    const other = await newSession('viewer')
    const [first = ''] = site.harness.nodeUrls
    stopClock()
    expect(await everywhere(read)).toEqual([200, 200, 200])
    prepare()
    expect((await atOrg(first, 'DELETE', `/users/${id}/sessions`)).status).toBe(200)
    expect((await read(first)).status, 'at once at the node itself').toBe(401)
    await expectEverywhere(401, read)
    expect(await everywhere(other.read), 'others go on').toEqual([200, 200, 200])
  },
)

test.each(deliveries)(
  'a role that one node takes away is refused at all nodes within a second if %s [contract 11.user]',
  async (_, { prepare, expectEverywhere }) => {
    const { id, call, read } = await newSession('admin')
    const [first = ''] = site.harness.nodeUrls
    const everywhereAdmin = await atOrg(first, 'PUT', `/users/${id}`, { body: { role: 'admin', allRegions: true } })
    expect(everywhereAdmin.status, everywhereAdmin.text).toBe(200)
    const write: AtNode = (url) => atOrg(url, 'POST', '/regions', { ...call, body: { name: 'Europe' } })
    await untilEverywhere(200, write)
    stopClock()
    expect(await everywhere(write)).toEqual([200, 200, 200])
    prepare()
    expect((await atOrg(first, 'PUT', `/users/${id}`, { body: { role: 'viewer' } })).status).toBe(200)
    expect((await write(first)).status, 'at once at the node itself').toBe(403)
    await expectEverywhere(403, write)
    expect(await everywhere(read), 'the session itself goes on').toEqual([200, 200, 200])
  },
)
