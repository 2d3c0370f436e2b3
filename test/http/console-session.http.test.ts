// Tests the console's sessions: their rights, their actor in the audit log, and their end. [contract 9.session]

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hourMs } from '../../src/contract/durations.ts'
import { keysDelete } from '../../src/server/people/keys/rules.ts'
import { deleteOldSessions } from '../../src/server/people/sessions/retention.ts'
import { loginLinkCreate } from '../../src/server/people/sessions/rules.ts'
import { cookieName, openSession, own, readWith, session, sessionRows } from '../support/console/console-session.ts'
import { type Harness, hasOneNode, startHarness } from '../support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

describe('a session [contract 9.session]', () => {
  test('does what its key may, and the audit log names the key', async () => {
    const org = await harness.newOrg()
    const { cookie } = await openSession(harness, { key: org.key })
    const headers = { ...own, cookie }
    const made = await org.call('POST', '/regions', { key: false, headers, body: { name: 'Europe' } })
    expect(made.status).toBe(200)
    expect((await org.audit())[0]).toMatchObject({ type: 'REGION_CREATED', actor: { type: 'KEY', id: '1' } })
    expect((await org.call('GET', '/keys', { key: false, headers })).status, 'it manages').toBe(200)
    const foreign = await harness.newOrg()
    const stranger = await foreign.call('GET', '/regions', { key: false, headers })
    expect([stranger.status, stranger.body.message]).toEqual([404, 'Requested resource not found'])
  })

  test('of a key that only reads cannot write', async () => {
    const org = await harness.newOrg()
    const { reply, cookie } = await openSession(harness, { key: await org.newKey({ scopes: ['read'] }) })
    expect(reply.body).toMatchObject({ scopes: ['read'], manage: false })
    const before = await org.audit()
    const headers = { ...own, cookie }
    expect((await org.call('POST', '/regions', { key: false, headers, body: { name: 'x' } })).status).toBe(403)
    expect((await org.call('GET', '/keys', { key: false, headers })).status).toBe(403)
    expect(await org.audit()).toEqual(before)
    expect((await readWith(org, cookie)).body).toEqual({ regions: [] })
  })

  // Every node has rate limits of its own.
  test.runIf(hasOneNode)('shares the rate limit of its key [contract 7.5]', async () => {
    const org = await harness.newOrg()
    const key = await org.newKey({ rateLimit: 2 })
    harness.clock.fix(harness.clock.now())
    const { reply, cookie } = await openSession(harness, { key })
    expect(reply.headers.get('ratelimit-policy')).toBe('"default";q=4;w=2')
    expect((await readWith(org, cookie)).headers.get('ratelimit')).toContain('r=2')
    expect((await org.call('GET', '/regions', { key })).headers.get('ratelimit')).toContain('r=1')
    expect((await readWith(org, cookie)).status).toBe(200)
    expect((await readWith(org, cookie)).status).toBe(429)
    expect((await org.call('GET', '/regions', { key })).status).toBe(429)
    expect((await session(harness, 'GET', { headers: { cookie } })).status).toBe(429)
    expect((await session(harness, 'POST', { body: { key } })).status).toBe(429)
    expect((await readWith(org, (await openSession(harness, { key: org.key })).cookie)).status, 'another key').toBe(200)
  })

  // Other nodes learn of a use some seconds later, but the clock of this test jumps by hours.
  test.runIf(hasOneNode)('ends after 12 hours without use, and every use counts', async () => {
    const org = await harness.newOrg()
    harness.clock.fix(harness.clock.now())
    const { cookie } = await openSession(harness, { key: org.key })
    for (let i = 0; i < 3; i++) {
      harness.clock.advance(12 * hourMs - 1)
      expect((await readWith(org, cookie)).status).toBe(200)
    }
    harness.clock.advance(12 * hourMs)
    const ended = await readWith(org, cookie)
    expect(ended.body).toMatchObject({ status: 401, message: 'The session has ended. Sign in again.' })
    expect((await session(harness, 'GET', { headers: { cookie } })).status).toBe(401)
    expect((await org.call('GET', '/regions')).status, 'the key is as it was').toBe(200)
  })

  test('and a link are forgotten when they are over, and not before', async () => {
    const org = await harness.newOrg()
    harness.clock.fix(harness.clock.now())
    await openSession(harness, { key: org.key })
    await loginLinkCreate(org.ctx)
    const links = () =>
      harness.services.db.system.kysely.selectFrom('login_links').selectAll().where('org', '=', org.org.key).execute()
    harness.clock.advance(15 * 60_000 - 1)
    await deleteOldSessions(harness.services)
    expect([await sessionRows(harness, org), await links()].map((kept) => kept.length)).toEqual([1, 1])
    harness.clock.advance(1)
    await deleteOldSessions(harness.services)
    expect([await sessionRows(harness, org), await links()].map((kept) => kept.length)).toEqual([1, 0])
    harness.clock.advance(12 * hourMs)
    await deleteOldSessions(harness.services)
    expect(await sessionRows(harness, org)).toEqual([])
  })

  test('ends at once when its key is revoked, and with the key when that expires', async () => {
    const org = await harness.newOrg()
    harness.clock.fix(harness.clock.now())
    const expiresAt = new Date(harness.clock.now() + hourMs).toISOString()
    const { cookie: revoked } = await openSession(harness, { key: await org.newKey({}) })
    const { cookie: expiring } = await openSession(harness, { key: await org.newKey({ expiresAt }) })
    const { cookie } = await openSession(harness, { key: org.key })
    const statuses = async () => {
      const replies = await Promise.all([revoked, expiring, cookie].map((c) => readWith(org, c)))
      return replies.map((reply) => reply.status)
    }
    expect(await statuses()).toEqual([200, 200, 200])
    await keysDelete(org.ctx, '2')
    expect(await statuses()).toEqual([401, 200, 200])
    expect((await sessionRows(harness, org)).map((row) => row.key_id).sort()).toEqual([1, 3])
    harness.clock.advance(hourMs)
    expect(await statuses()).toEqual([401, 401, 200])
  })

  test('ends by signing out, audited; signing out without one is welcome', async () => {
    const org = await harness.newOrg()
    const { cookie } = await openSession(harness, { key: org.key })
    const { cookie: other } = await openSession(harness, { key: org.key })
    const before = (await org.audit()).length
    const out = await session(harness, 'DELETE', { headers: { cookie } })
    expect([out.status, out.body]).toEqual([200, {}])
    expect(out.headers.get('set-cookie')).toBe(`${cookieName(harness)}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`)
    expect((await org.audit())[0]).toMatchObject({ type: 'SESSION_ENDED', actor: { type: 'KEY', id: '1' } })
    expect([(await readWith(org, cookie)).status, (await readWith(org, other)).status]).toEqual([401, 200])

    for (const headers of [{}, { cookie }, { cookie: `${cookieName(harness)}=rubbish` }]) {
      const again = await session(harness, 'DELETE', { headers })
      expect([again.status, again.body]).toEqual([200, {}])
      expect(again.headers.get('set-cookie')).toContain('Max-Age=0')
    }
    expect(await org.audit()).toHaveLength(before + 1)
  })

  test('without a session is a 401 that says to sign in, and not a failed attempt', async () => {
    const refusals = () => harness.logged.filter((line) => line.msg === 'token refused').length
    const before = refusals()
    const reply = await session(harness, 'GET')
    expect(reply.body).toMatchObject({ status: 401, message: expect.stringContaining('Sign in') })
    expect(refusals()).toBe(before)
  })
})
