// Tests signing in to the console: accepted and rejected secrets, and the cookie. [contract 9.session]
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultAirLimits } from '../../src/contract/journal/orgs.ts'
import {
  isApiKey,
  isSessionSecret,
  isSignInLinkSecret,
  makeApiKey,
  makeSessionSecret,
  makeSignInLinkSecret,
  makeUserLinkSecret,
  tokenHash,
} from '../../src/server/auth/token.ts'
import { loginLinkCreate } from '../../src/server/people/sessions/rules.ts'
import { cookieName, openSession, own, readWith, session, sessionRows } from '../support/console/console-session.ts'
import { type Call, type Harness, startHarness } from '../support/harness.ts'

let harness: Harness
let behindProxy: Harness
beforeAll(async () => {
  harness = await startHarness()
  behindProxy = await startHarness({ trustProxy: ['127.0.0.1'] })
})
afterAll(async () => {
  await harness.close()
  await behindProxy.close()
})

describe('secrets [contract 9.session] [contract 9.link]', () => {
  test('each kind is told by its prefix and a checksum, and none passes for another', () => {
    const made = [makeApiKey(), makeSessionSecret(), makeSignInLinkSecret()]
    const kinds = [isApiKey, isSessionSecret, isSignInLinkSecret]
    for (const [i, secret] of made.entries()) {
      expect(secret).toMatch(/^rk[sl]?_[0-9A-Za-z]{40}$/)
      expect(kinds.map((isKind) => isKind(secret))).toEqual(kinds.map((_, k) => k === i))
      const wrong = secret.slice(0, -1) + (secret.endsWith('a') ? 'b' : 'a')
      expect(kinds.map((isKind) => isKind(wrong))).toEqual([false, false, false])
    }
  })
})

describe('signing in [contract 9.session]', () => {
  test('with a key answers who that is, sets a cookie that scripts cannot read, and is audited once', async () => {
    const org = await harness.newOrg('Fjord')
    const before = await org.audit()
    const { reply, cookie } = await openSession(harness, { key: org.key })
    expect(reply.body).toEqual({
      org: { id: org.id, name: 'Fjord', timezone: 'UTC', createdAt: expect.stringMatching(/^2\d{3}-.*Z$/) },
      key: { id: '1', name: 'Test key' },
      scopes: ['read', 'write'],
      allRegions: true,
      regionIds: [],
      manage: true,
      airLimits: defaultAirLimits,
      roomFreshnessSeconds: 900,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      commit: expect.stringMatching(/^[0-9a-f]{12}$/),
    })
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(reply.headers.get('set-cookie')).toMatch(
      /^roomkeeper-\d+=rks_\w{40}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
    )
    expect(reply.text).not.toContain('rks_')
    const after = await org.audit()
    expect(after).toHaveLength(before.length + 1)
    expect(after[0]).toMatchObject({
      category: 'USER',
      type: 'SESSION_STARTED',
      actor: { type: 'KEY', id: '1' },
      target: { type: 'key', id: '1', name: 'Test key' },
      details: { after: { via: 'key' } },
      ip: '127.0.0.1',
      requestId: reply.headers.get('x-request-id'),
    })
    expect((await session(harness, 'GET', { headers: { cookie } })).body).toEqual(reply.body)
    const [row] = await sessionRows(harness, org)
    expect(row?.hash.equals(tokenHash(cookie.replace(`${cookieName(harness)}=`, '')))).toBe(true)
  })

  test('over HTTPS the cookie is Secure and bound to the host, also when a proxy speaks HTTPS', async () => {
    const proxied = await startHarness({ trustProxy: ['127.0.0.1'], publicUrl: 'https://rooms.example.org' })
    const { key, id } = await proxied.newOrg()
    const cookieFor = async (headers: Record<string, string>) =>
      (await proxied.call('POST', '/console/session', { body: { key }, headers: { ...own, ...headers } })).headers.get(
        'set-cookie',
      ) ?? ''
    const secure = /^__Host-roomkeeper=rks_\w{40}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure$/
    const https = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'a.example.org' }
    const byProto = await cookieFor(https)
    expect(byProto).toMatch(secure)
    expect(await cookieFor({ 'x-forwarded-host': 'Rooms.example.org' }), 'the public URL says so').toMatch(secure)
    expect(await cookieFor({ 'x-forwarded-host': 'rooms.example.org:443' }), 'with its usual port').toMatch(secure)
    expect(await cookieFor({ 'x-forwarded-host': 'elsewhere.example.org' })).toMatch(/^roomkeeper-80=/)

    const value = byProto.split(';')[0] ?? ''
    const read = async (cookie: string, headers: Record<string, string>) =>
      (await proxied.call('GET', `/v1/orgs/${id}/regions`, { headers: { ...own, cookie, ...headers } })).status
    expect(await read(value, https)).toBe(200)
    const plainName = value.replace('__Host-', '')
    expect(await read(plainName, https), 'any host could have set this one').toBe(401)
    const origin = { origin: 'https://rooms.example.org' }
    const byOrigin = { body: { key }, headers: origin }
    expect((await proxied.call('POST', '/console/session', byOrigin)).status, 'its public origin').toBe(200)
    const withPort = {
      origin: 'https://a.example.org',
      'x-forwarded-host': 'a.example.org:443',
      'x-forwarded-proto': 'https',
    }
    const byPort = { body: { key }, headers: withPort }
    expect((await proxied.call('POST', '/console/session', byPort)).status, 'its own, with its usual port').toBe(200)
    await proxied.close()
  })

  test.each([
    ['http', 'rooms.example.org', 'roomkeeper-80'],
    ['http', 'rooms.example.org:80', 'roomkeeper-80'],
    ['http', 'rooms.example.org:443', 'roomkeeper-443'],
    ['http', '[::1]:8081', 'roomkeeper-8081'],
    ['http', 'no host at all', 'roomkeeper-80'],
    ['https', 'rooms.example.org', '__Host-roomkeeper'],
    ['https', 'rooms.example.org:443', '__Host-roomkeeper'],
    ['https', 'rooms.example.org:8443', '__Host-roomkeeper-8443'],
    ['https', 'rooms.example.org:80', '__Host-roomkeeper-80'],
  ])('the name of the cookie has the port that a browser sees: %s://%s is %s', async (scheme, host, name) => {
    const headers = { 'x-forwarded-proto': scheme, 'x-forwarded-host': host }
    const { key, id } = await behindProxy.newOrg()
    const { reply, cookie } = await openSession(behindProxy, { key }, headers)
    expect(cookie).toMatch(new RegExp(`^${name}=rks_`))
    expect(reply.headers.get('set-cookie')?.endsWith('; Secure')).toBe(scheme === 'https')
    const at = `/v1/orgs/${id}/regions`
    expect((await behindProxy.call('GET', at, { headers: { ...own, ...headers, cookie } })).status).toBe(200)
    const elsewhere = { ...headers, 'x-forwarded-host': 'rooms.example.org:9' }
    expect((await behindProxy.call('GET', at, { headers: { ...own, ...elsewhere, cookie } })).status).toBe(401)
  })

  test('a wrong key or link is a 401 that says what to do; nothing is written and no cookie set', async () => {
    const org = await harness.newOrg()
    const { secret: link } = await loginLinkCreate(org.ctx)
    const before = [await org.audit(), await sessionRows(harness, org)]
    for (const [body, message] of [
      [{ key: makeApiKey() }, /unknown, expired or revoked/],
      [{ key: `${org.key}x` }, /Check that you copied all of it/],
      [{ key: '' }, /Check that you copied all of it/],
      [{ key: makeSessionSecret() }, /This key is not valid/],
      [{ key: link }, /This key is not valid/],
      [{ link: makeSignInLinkSecret() }, /roomkeeper login-link/],
      [{ link: org.key }, /roomkeeper login-link/],
      [{ link: `${link}x` }, /roomkeeper login-link/],
    ] as const) {
      const reply = await session(harness, 'POST', { body })
      expect(reply.status).toBe(401)
      expect(reply.body).toMatchObject({ code: 'UNAUTHENTICATED', message: expect.stringMatching(message) })
      expect(reply.headers.has('set-cookie')).toBe(false)
      expect(reply.headers.get('www-authenticate')).toContain('Bearer')
    }
    expect([await org.audit(), await sessionRows(harness, org)]).toEqual(before)
  })

  test.each([
    [{ body: {} }, 400],
    [{ body: { key: 'a', link: 'b' } }, 400],
    [{ body: { key: 7 } }, 400],
    [{ body: { key: null } }, 400],
    [{ body: { key: 'x'.repeat(201) } }, 400],
    [{ body: ['rk_'] }, 400],
    [{ body: 'rk_' }, 400],
    [{ raw: '{"key":' }, 400],
    [{}, 400],
    [{ raw: 'key=rk_', headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 415],
    [{ raw: '{"key":"rk_"}', headers: { 'content-type': 'text/plain' } }, 415],
    [{ raw: `{"key":"${'x'.repeat(4 * 1024)}"}` }, 413],
  ] as [Call, number][])('rubbish is refused: %j', async (call, status) => {
    const reply = await session(harness, 'POST', call)
    expect(reply.status).toBe(status)
    expect(reply.headers.has('set-cookie')).toBe(false)
  })

  test('a key without Read is told so, and gets no session', async () => {
    const org = await harness.newOrg()
    const key = await org.newKey({ name: 'Robot', scopes: ['write'] })
    const before = [await org.audit(), await sessionRows(harness, org)]
    const reply = await session(harness, 'POST', { body: { key } })
    expect(reply.status).toBe(403)
    expect(reply.body).toMatchObject({ code: 'PERMISSION_DENIED', message: expect.stringContaining('"Robot" lacks') })
    expect(reply.headers.has('set-cookie')).toBe(false)
    expect([await org.audit(), await sessionRows(harness, org)]).toEqual(before)
  })

  test('again ends the session that the browser had', async () => {
    const org = await harness.newOrg()
    const other = await org.newKey({ name: 'Other' })
    const { cookie: old } = await openSession(harness, { key: org.key })
    const { cookie } = await openSession(harness, { key: other }, { cookie: old })
    expect([(await readWith(org, old)).status, (await readWith(org, cookie)).status]).toEqual([401, 200])
    expect((await org.audit()).slice(0, 2).map((entry) => entry.type)).toEqual(['SESSION_ENDED', 'SESSION_STARTED'])
  })

  test('failures count with those of wrong tokens, and a valid key still gets in [contract 3.11]', async () => {
    // Every node counts by itself.
    const strict = await startHarness({ authFailureLimit: 1 }, { nodes: 1 })
    const { key, id } = await strict.newOrg()
    const statuses = []
    const wrongs = [{ key: makeApiKey() }, { link: makeSignInLinkSecret() }, { link: makeUserLinkSecret() }]
    for (let i = 0; i < 25; i++) {
      const wrong = { body: wrongs[i % wrongs.length], headers: own }
      statuses.push((await strict.call('POST', '/console/session', wrong)).status)
    }
    expect(statuses.slice(0, 20).every((status) => status === 401)).toBe(true)
    expect(statuses.at(-1)).toBe(429)
    expect((await strict.call('GET', `/v1/orgs/${id}/regions`, { key: 'rubbish' })).status, 'one bucket').toBe(429)
    expect((await strict.call('POST', '/console/session', { body: { key }, headers: own })).status).toBe(200)
    await strict.close()
  })

  test('the 1001st session of a key replaces the one that was unused for longest', async () => {
    const org = await harness.newOrg()
    const { cookie: oldest } = await openSession(harness, { key: org.key })
    const now = harness.clock.now()
    const fill = Array.from({ length: 999 }, (_, i) => {
      const hash = tokenHash(`filler ${i}`)
      return { hash, org: org.org.key, key_id: 1, created_at: now, used_at: now + 1000 + i }
    })
    await harness.services.db.systemTransaction(async (t) => {
      for (const row of fill) await t.kysely.insertInto('sessions').values(row).execute()
    })
    harness.clock.advance(3000)
    const { cookie } = await openSession(harness, { key: org.key })
    expect(await sessionRows(harness, org)).toHaveLength(1000)
    expect([(await readWith(org, oldest)).status, (await readWith(org, cookie)).status]).toEqual([401, 200])
  })
})
