// Tests the console's cookie on the API: which requests it authenticates, and which it does not. [contract 9.cookie]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startService } from '../../src/server/app.ts'
import { Keyring } from '../../src/server/auth/keyring.ts'
import { makeSessionSecret } from '../../src/server/auth/token.ts'
import { makeLog } from '../../src/server/core/log.ts'
import { findSessionHolder } from '../../src/server/people/sessions/store.ts'
import { cookieName, cookieOf, openSession, own, session } from '../support/console/console-session.ts'
import { type Harness, newPlace, quiet, send, startHarness, TestClock, type TestOrg } from '../support/harness.ts'

let harness: Harness
let org: TestOrg
let cookie: string
beforeAll(async () => {
  harness = await startHarness({ corsOrigin: ['https://friend.example.org'], logRequests: 'all' })
  org = await harness.newOrg()
  cookie = (await openSession(harness, { key: org.key })).cookie
})
afterAll(() => harness.close())

const secret = () => cookie.replace(`${cookieName(harness)}=`, '')
const call = (headers: Record<string, string>, method = 'GET', body?: unknown) =>
  org.call(method, '/regions', { key: false, headers: { cookie, ...headers }, body })

test.each([
  ['another site', { 'sec-fetch-site': 'cross-site' }, /not come from a page of the console/],
  ['another host of the same site', { 'sec-fetch-site': 'same-site' }, /not come from a page of the console/],
  ['an address that somebody typed', { 'sec-fetch-site': 'none' }, /not come from a page of the console/],
  ['rubbish', { 'sec-fetch-site': 'same-origin, same-origin' }, /not come from a page of the console/],
  ['another site that claims our origin', { 'sec-fetch-site': 'cross-site', origin: 'OWN' }, /a page of the console/],
  ['another origin', { origin: 'https://evil.example.org' }, /another origin/],
  ['an origin that is allowed to send keys', { origin: 'https://friend.example.org' }, /another origin/],
  ['our host on another scheme', { origin: 'https://HOST' }, /another origin/],
  ['a hidden origin', { origin: 'null' }, /another origin/],
  ['nobody knows where', {}, /HTTPS and on localhost/],
] as [string, Record<string, string>, RegExp][])('counts for nothing from %s', async (_, given, message) => {
  const headers = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      value.replace('OWN', harness.url).replace('HOST', new URL(harness.url).host),
    ]),
  )
  const before = await org.audit()
  for (const reply of [
    await call(headers),
    await call(headers, 'POST', { name: 'Forged' }),
    await harness.call('GET', '/console/session', { headers: { cookie, ...headers } }),
    await harness.call('POST', '/console/session', { headers, body: { key: org.key } }),
    await harness.call('DELETE', '/console/session', { headers: { cookie, ...headers } }),
  ]) {
    expect(reply.body).toMatchObject({ status: 401, code: 'UNAUTHENTICATED', message: expect.stringMatching(message) })
    expect(reply.headers.has('set-cookie')).toBe(false)
    expect(reply.headers.has('access-control-allow-credentials')).toBe(false)
  }
  expect(await org.audit()).toEqual(before)
})

test('counts for our own pages: by Sec-Fetch-Site, or by Origin where a browser does not send that', async () => {
  expect((await call(own)).status).toBe(200)
  expect((await call({ origin: harness.url })).status).toBe(200)
  expect((await call({ ...own, origin: harness.url }, 'POST', { name: 'Europe' })).status).toBe(200)
  const name = cookieName(harness)
  const other = `theme=dark; roomkeeper=0; x${name}=1; ${name}x=2; ${name}0=3;${cookie}; last=1`
  expect((await call({ ...own, cookie: other })).status, 'among other cookies').toBe(200)
})

test('two of its name count as none: another path has planted one, before or behind', async () => {
  const planted = (await openSession(harness, { key: (await harness.newOrg()).key })).cookie
  const before = await org.audit()
  for (const both of [`${planted}; ${cookie}`, `${cookie}; ${planted}`, `${cookie};${cookie}`]) {
    const reply = await call({ ...own, cookie: both })
    expect(reply.body).toMatchObject({ status: 401, message: expect.stringContaining('A token is needed') })
    expect((await call({ ...own, cookie: both }, 'POST', { name: 'Planted' })).status).toBe(401)
    const who = await session(harness, 'GET', { headers: { cookie: both } })
    expect(who.body).toMatchObject({ status: 401, message: expect.stringContaining('You are not signed in') })
    expect((await session(harness, 'DELETE', { headers: { cookie: both } })).status).toBe(200)
  }
  expect(await org.audit()).toEqual(before)
  expect((await call(own)).status, 'the session itself is as it was').toBe(200)
})

test('servers at two ports of a host have each their own: signing in to one leaves the other alone', async () => {
  const next = await startHarness()
  const nextOrg = await next.newOrg()
  // A browser keeps one cookie for each name, and sends all of a host to all its ports.
  const jar = new Map<string, string>()
  const sent = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
  const keep = (given: string) => jar.set(given.split('=')[0] ?? '', given.split('=')[1] ?? '')
  keep((await openSession(harness, { key: org.key })).cookie)
  keep((await openSession(next, { key: nextOrg.key }, { cookie: sent() })).cookie)
  expect([...jar.keys()]).toEqual([cookieName(harness), cookieName(next)])
  const statuses = async () => [
    (await call({ ...own, cookie: sent() })).status,
    (await nextOrg.call('GET', '/regions', { key: false, headers: { ...own, cookie: sent() } })).status,
  ]
  expect(await statuses()).toEqual([200, 200])
  const out = await session(next, 'DELETE', { headers: { cookie: sent() } })
  keep(cookieOf(out))
  expect(await statuses()).toEqual([200, 401])
  await next.close()
})

test('is not used when there is an Authorization header, also a bad one', async () => {
  for (const authorization of ['Bearer rubbish', 'Basic cm9vbTprZWVwZXI=', 'rubbish']) {
    const reply = await call({ ...own, authorization })
    expect(reply.status).toBe(401)
    expect(reply.body.message).not.toContain('session')
  }
  const foreign = await harness.newOrg()
  const reply = await call({ 'sec-fetch-site': 'cross-site', authorization: `Bearer ${foreign.key}` })
  expect(reply.status, 'the key decides: this organisation is not its own').toBe(404)
})

test('an unknown, a malformed and an empty one are a 401', async () => {
  const wrong = [makeSessionSecret(), `${secret()}x`, 'rubbish', '', '%', '"quoted"']
  for (const value of wrong) {
    const reply = await call({ ...own, cookie: `${cookieName(harness)}=${value}` })
    expect(reply.body, value).toMatchObject({ status: 401, message: 'The session has ended. Sign in again.' })
  }
  expect((await call({ ...own, cookie: 'theme=dark' })).body.message).toContain('A token is needed')
})

test('a session is no bearer token, and an API key is no cookie', async () => {
  expect((await org.call('GET', '/regions', { key: secret() })).status).toBe(401)
  expect((await call({ ...own, cookie: `${cookieName(harness)}=${org.key}` })).status).toBe(401)
  expect((await org.call('GET', '/regions')).status).toBe(200)
})

test('answers to it are cached by no proxy, and asked for again by the browser', async () => {
  for (const reply of [
    await call(own),
    await org.call('GET', '/regions/7', { key: false, headers: { ...own, cookie } }),
  ]) {
    expect(reply.headers.get('cache-control')).toBe('private, no-cache')
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
  }
  const stream = await org.call('HEAD', '/events', { key: false, headers: { ...own, cookie } })
  expect(stream.headers.get('cache-control'), 'one, not two').toBe('no-store')
  expect(stream.headers.get('x-content-type-options')).toBe('nosniff')
  const { headers } = await call(own)
  const etag = headers.get('etag') ?? ''
  expect((await call({ ...own, 'if-none-match': etag })).status).toBe(304)
  expect(
    (await org.call('GET', '/regions')).headers.has('cache-control'),
    'a key keeps its answers private by itself',
  ).toBe(false)
})

test('no secret reaches the log', async () => {
  await call(own)
  const unknown = { ...own, cookie: `${cookieName(harness)}=${makeSessionSecret()}` }
  await call(unknown)
  await harness.call('DELETE', '/console/session', { headers: unknown })
  const log = JSON.stringify(harness.logged)
  expect(log).toContain('"path":"/console/session"')
  expect(log).not.toMatch(/rk[sl]?_[0-9A-Za-z]{10}/)
})

test('costs no database read when it is malformed, and none within half a second when it is known', async () => {
  const clock = new TestClock()
  clock.fix(harness.clock.now())
  let reads = 0
  const keyring = new Keyring(
    (hash, kind) => {
      expect(kind).toBe('session')
      reads++
      return findSessionHolder(harness.services.db.system, hash)
    },
    clock,
    { rate: 0, burst: 0 },
  )
  expect(await keyring.find('rks_nonsense', 'session')).toBeUndefined()
  expect(await keyring.find(secret())).toBeUndefined()
  expect(reads).toBe(0)
  expect((await keyring.find(secret(), 'session'))?.key?.id).toBe(1)
  clock.advance(499)
  expect((await keyring.find(secret(), 'session'))?.key?.id).toBe(1)
  expect(reads).toBe(1)
  expect(keyring.takeUses()).toEqual([{ org: org.org.key, keyId: 1, session: expect.any(Buffer), at: clock.now() }])
  clock.advance(1)
  await keyring.find(secret(), 'session')
  expect(reads).toBe(2)
})

test('a use is written for the session and for its key, when the service stops at the latest', async () => {
  const { place, remove } = await newPlace()
  const clock = new TestClock()
  clock.fix(harness.clock.now())
  const start = () => startService({ ...quiet, ...place }, makeLog('silent'), { clock })
  const first = await start()
  const { org = '', key = '' } = first.first ?? {}
  const signedIn = await send(first.url, 'POST', '/console/session', { body: { key }, headers: own })
  const kept = cookieOf(signedIn)
  clock.advance(1000)
  const at = `/v1/orgs/${org}/regions`
  expect((await send(first.url, 'GET', at, { headers: { ...own, cookie: kept } })).status).toBe(200)
  await first.close()
  const second = await start()
  const { kysely } = second.services.db.system
  expect(await kysely.selectFrom('sessions').select('used_at').execute()).toEqual([{ used_at: clock.now() }])
  expect(await kysely.selectFrom('api_keys').select('last_used_at').execute()).toEqual([{ last_used_at: clock.now() }])
  // The second server has another port, so its cookie has another name.
  const renamed = kept.replace(cookieName(first), cookieName(second))
  const again = await send(second.url, 'GET', at, { headers: { ...own, cookie: renamed } })
  expect(again.status, 'it outlives the process').toBe(200)
  await second.close()
  await remove()
})
