// Tests the sessions of people: what they may do, their end, and the list of one's own. [contract 11.local]

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hourMs } from '../../src/contract/durations.ts'
import { makeUserSessionSecret, tokenHash } from '../../src/server/auth/token.ts'
import { cookieOf, openSession, own, readWith, session } from '../support/console/console-session.ts'
import { consoleCall, disable, entriesOf, invite, inviteAgain, signInByLink } from '../support/console/user-session.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { newPerson } from '../support/person.ts'

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const sessionsOf = async (cookie: string) => (await consoleCall(harness, 'GET', '/console/sessions', { cookie })).body

/** Signs a new person in. */
async function person(org: TestOrg, role = 'viewer') {
  const { id, email, link } = await invite(org, role)
  return { id, email, ...(await signInByLink(harness, { link })) }
}

describe('a session of a person', () => {
  test('does what its role may, and the audit log names the person', async () => {
    const org = await harness.newOrg()
    const { id, email, cookie } = await person(org, 'owner')
    const headers = { ...own, cookie }
    expect((await org.call('POST', '/regions', { key: false, headers, body: { name: 'Europe' } })).status).toBe(200)
    expect((await org.audit())[0]).toMatchObject({ type: 'REGION_CREATED', actor: { type: 'USER', id, name: email } })
    const viewer = await person(org)
    const forbidden = { key: false as const, headers: { ...own, cookie: viewer.cookie }, body: { name: 'x' } }
    expect((await org.call('POST', '/regions', forbidden)).status).toBe(403)
  })

  test('ends after 12 hours without use, and when its person is disabled', async () => {
    const org = await harness.newOrg()
    harness.clock.fix(harness.clock.now())
    const { id, cookie } = await person(org)
    harness.clock.advance(12 * hourMs - 1)
    expect((await readWith(org, cookie)).status).toBe(200)
    harness.clock.advance(12 * hourMs)
    expect((await readWith(org, cookie)).status).toBe(401)
    const { cookie: again } = await signInByLink(harness, { link: await inviteAgain(org, id) })
    expect((await readWith(org, again)).status).toBe(200)
    await disable(harness, org, id)
    harness.services.keysChanged()
    expect((await readWith(org, again)).status).toBe(401)
  })

  test('ends by signing out, which is audited', async () => {
    const org = await harness.newOrg()
    const { id, cookie } = await person(org)
    expect((await session(harness, 'DELETE', { headers: { cookie } })).body).toEqual({})
    expect((await readWith(org, cookie)).status).toBe(401)
    expect((await org.audit())[0]).toMatchObject({ type: 'SESSION_ENDED', actor: { type: 'USER', id }, target: { id } })
  })

  test('replaces the one that was unused for longest when a person has 1000', async () => {
    const org = await harness.newOrg()
    const { id, link } = await invite(org)
    const now = harness.clock.now()
    const [oldest, next] = [makeUserSessionSecret(), makeUserSessionSecret()]
    const rows = Array.from({ length: 1000 }, (_, i) => ({
      hash: tokenHash([oldest, next][i] ?? makeUserSessionSecret()),
      org: org.org.key,
      user_id: Number(id),
      id: 10_000 + i,
      via: 'link',
      created_at: now,
      used_at: now - hourMs + i,
      expires_at: null,
      ip: null,
      browser: null,
      oidc_sid: null,
      refresh_token: null,
      checked_at: null,
    }))
    await harness.services.db.systemTransaction(async ({ kysely }) => {
      for (let i = 0; i < rows.length; i += 100) {
        await kysely
          .insertInto('user_sessions')
          .values(rows.slice(i, i + 100))
          .execute()
      }
    })
    const { cookie } = await signInByLink(harness, { link })
    const [name] = cookie.split('=')
    const status = async (secret: string) => (await readWith(org, `${name}=${secret}`)).status
    expect([await status(oldest), await status(next), (await readWith(org, cookie)).status]).toEqual([401, 200, 200])
  })

  test('shares one rate limit with the other sessions of its person', async () => {
    // Every node counts by itself.
    const limited = await startHarness({ rateLimit: 2 }, { nodes: 1 })
    try {
      const org = await limited.newOrg()
      const ada = await newPerson(limited, org, { role: 'viewer' })
      limited.clock.fix(limited.clock.now() + 60_000)
      const headers = { ...own, cookie: `roomkeeper-${new URL(limited.url).port}=${ada.session}` }
      const read = async (call: { key: string } | { key: false; headers: Record<string, string> }) =>
        (await org.call('GET', '/regions', call)).status
      const statuses = [await read({ key: false, headers }), await read({ key: ada.key }), await read({ key: ada.key })]
      expect([...statuses, await read({ key: false, headers }), await read({ key: false, headers })]).toEqual([
        200, 200, 200, 200, 429,
      ])
    } finally {
      await limited.close()
    }
  })
})

describe('/console/sessions', () => {
  test('lists the sessions of the person with browser and address, and says which one is current', async () => {
    const org = await harness.newOrg()
    const { id, link } = await invite(org)
    const reply = await session(harness, 'POST', { body: { link }, headers: { 'user-agent': firefox } })
    const other = await signInByLink(harness, { link: await inviteAgain(org, id) })
    await person(org)
    const { sessions } = await sessionsOf(cookieOf(reply))
    expect(sessions).toHaveLength(2)
    expect(sessions.find((s: { current: boolean }) => s.current)).toEqual({
      id: expect.stringMatching(/^\d+$/),
      via: 'link',
      createdAt: expect.stringMatching(/Z$/),
      usedAt: expect.stringMatching(/Z$/),
      ip: '127.0.0.1',
      browser: 'Firefox on Linux',
      current: true,
    })
    const { sessions: others } = await sessionsOf(other.cookie)
    expect(others.map((s: { id: string }) => s.id).sort()).toEqual(sessions.map((s: { id: string }) => s.id).sort())
  })

  test('has no session that has ended by time', async () => {
    const org = await harness.newOrg()
    harness.clock.fix(harness.clock.now())
    const { id } = await person(org)
    harness.clock.advance(12 * hourMs)
    const { cookie } = await signInByLink(harness, { link: await inviteAgain(org, id) })
    expect((await sessionsOf(cookie)).sessions).toHaveLength(1)
  })

  test('DELETE ends one session at once, audited; that of the browser itself with its cookie', async () => {
    const org = await harness.newOrg()
    const { id, cookie } = await person(org)
    const other = await signInByLink(harness, { link: await inviteAgain(org, id) })
    const { sessions } = await sessionsOf(cookie)
    const idOf = (current: boolean) => sessions.find((s: { current: boolean }) => s.current === current).id
    const ended = await consoleCall(harness, 'DELETE', `/console/sessions/${idOf(false)}`, { cookie })
    expect([ended.status, ended.body, ended.headers.has('set-cookie')]).toEqual([200, {}, false])
    expect([(await readWith(org, other.cookie)).status, (await readWith(org, cookie)).status]).toEqual([401, 200])
    expect((await entriesOf(org, 'SESSION_REVOKED'))[0]).toMatchObject({
      actor: { type: 'USER', id },
      target: { type: 'user', id },
      details: { before: { session: idOf(false), via: 'link' } },
    })
    const own = await consoleCall(harness, 'DELETE', `/console/sessions/${idOf(true)}`, { cookie })
    expect(own.headers.get('set-cookie')).toContain('Max-Age=0')
    expect((await readWith(org, cookie)).status).toBe(401)
  })

  test('is about own sessions only: another person’s session is a 404, and stays', async () => {
    const org = await harness.newOrg()
    const [ada, ben] = [await person(org), await person(org)]
    const [{ id }] = (await sessionsOf(ben.cookie)).sessions
    for (const foreign of [id, '999999', 'x', '-1']) {
      const reply = await consoleCall(harness, 'DELETE', `/console/sessions/${foreign}`, { cookie: ada.cookie })
      expect(reply.status, foreign).toBe(404)
    }
    expect((await readWith(org, ben.cookie)).status).toBe(200)
    expect(await entriesOf(org, 'SESSION_REVOKED')).toEqual([])
  })

  test('needs a session of a person, from a page of this service', async () => {
    const org = await harness.newOrg()
    const { cookie: ofKey } = await openSession(harness, { key: org.key })
    const personal = await newPerson(harness, org, { role: 'owner' })
    const { cookie: ofPersonalKey } = await openSession(harness, { key: personal.key })
    const { cookie } = await person(org)
    for (const path of ['/console/sessions', '/console/passkeys']) {
      for (const used of [ofKey, ofPersonalKey]) {
        const reply = await consoleCall(harness, 'GET', path, { cookie: used })
        expect([reply.status, reply.body.message]).toEqual([403, expect.stringContaining('Sign in as a person')])
      }
      expect((await consoleCall(harness, 'GET', path)).status, 'nobody').toBe(401)
      expect((await harness.call('GET', path, { headers: { cookie } })).status, 'no proof of origin').toBe(401)
      const foreign = { cookie, headers: { 'sec-fetch-site': 'cross-site' } }
      expect((await consoleCall(harness, 'GET', path, foreign)).status, 'another site').toBe(401)
      expect((await harness.call('GET', path, { key: org.key })).status, 'an API key is no session').toBe(401)
    }
  })
})
