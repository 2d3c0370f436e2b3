// Tests the links that sign people in: those of usersInvite, and the way back in. [contract 11.local]
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokenHash } from '../../src/server/auth/token.ts'
import { deleteOldSessions } from '../../src/server/people/sessions/retention.ts'
import {
  findUserLinkBySecret,
  sessionStartByUserLink,
  userLoginLinkCreate,
} from '../../src/server/people/sessions/user-links.ts'
import { openSession, readWith, session } from '../support/console/console-session.ts'
import { disable, entriesOf, invite, inviteAgain, signInByLink } from '../support/console/user-session.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { sumMetric } from '../support/nodes/metrics.ts'

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const attempt = (link: string) => session(harness, 'POST', { body: { link } })

const linkRows = (org: TestOrg) =>
  harness.services.db.system.kysely.selectFrom('user_links').selectAll().where('org', '=', org.org.key).execute()

describe('usersInvite', () => {
  test('makes a link that signs the person in once, and both are audited', async () => {
    const org = await harness.newOrg('Fjord')
    const { id, email, link } = await invite(org, 'admin')
    expect(link).toMatch(/^rki_\w{40}$/)
    expect((await linkRows(org)).map((row) => row.hash.equals(tokenHash(link)))).toEqual([true])
    await harness.services.db.systemTransaction(async ({ kysely }) => {
      await kysely.updateTable('users').set({ name: 'Ada' }).where('org', '=', org.org.key).execute()
    })
    const { reply, cookie } = await signInByLink(harness, { link })
    expect(reply.body).toMatchObject({
      org: { id: org.id, name: 'Fjord', timezone: 'UTC' },
      user: { id, email, name: 'Ada', role: 'admin' },
      scopes: ['read', 'write'],
      manage: false,
      allRegions: false,
      regionIds: [],
    })
    expect(reply.body.key).toBeUndefined()
    expect((await session(harness, 'GET', { headers: { cookie } })).body).toEqual(reply.body)
    expect((await readWith(org, cookie)).status).toBe(200)
    const again = await attempt(link)
    expect(again.body).toMatchObject({ status: 401, message: expect.stringContaining('login-link --user EMAIL') })
    const [started, invited] = await org.audit()
    expect(started).toMatchObject({
      type: 'SESSION_STARTED',
      category: 'USER',
      actor: { type: 'USER', id, name: email },
      target: { type: 'user', id },
      details: { after: { via: 'link' } },
    })
    expect(invited).toMatchObject({ type: 'USER_INVITED', actor: { type: 'KEY' }, target: { type: 'user', id } })
    expect(JSON.stringify([await org.audit(), harness.logged])).not.toMatch(/rk[iu]_[0-9A-Za-z]{10}/)
  })

  test('is counted in the metrics by its outcome', async () => {
    const org = await harness.newOrg()
    const countOf = (outcome: string) =>
      sumMetric(harness, `roomkeeper_sign_ins_total{way="link",outcome="${outcome}"}`)
    const counts = async () => [await countOf('accepted'), await countOf('refused')] as const
    const { link } = await invite(org)
    const [accepted, refused] = await counts()
    await signInByLink(harness, { link })
    expect(await counts()).toEqual([accepted + 1, refused])
    expect((await attempt(link)).status).toBe(401)
    expect(await counts()).toEqual([accepted + 1, refused + 1])
  })

  test('answers with the address, the end and that nothing was mailed', async () => {
    const org = await harness.newOrg()
    const { id } = await invite(org)
    const { body } = await org.call('POST', `/users/${id}/invite`)
    expect(body.url.split('#')[0]).toBe(`${harness.services.publicUrl()}/sign-in`)
    expect(body.mailed).toBe(false)
    const inDays = (Date.parse(body.expiresAt) - harness.clock.now()) / day
    expect(inDays).toBeGreaterThan(6.99)
    expect(inDays).toBeLessThanOrEqual(7)
  })

  test('ends the earlier links of the user, and not those of others', async () => {
    const org = await harness.newOrg()
    const [ada, ben] = [await invite(org), await invite(org)]
    const newer = await inviteAgain(org, ada.id)
    expect((await attempt(ada.link)).status).toBe(401)
    expect((await attempt(newer)).status).toBe(200)
    expect((await attempt(ben.link)).status).toBe(200)
  })

  test('allows the user to sign in by e-mail from then on', async () => {
    const org = await harness.newOrg()
    const { id } = await invite(org)
    const rows = await harness.services.db.system.kysely
      .selectFrom('users')
      .select(['invited_at', 'signed_in_at'])
      .where('org', '=', org.org.key)
      .where('id', '=', Number(id))
      .execute()
    expect(rows).toEqual([{ invited_at: expect.any(Number), signed_in_at: null }])
  })

  test('works for 7 days, and is deleted afterwards', async () => {
    const org = await harness.newOrg()
    harness.clock.fix(harness.clock.now())
    const [inTime, late] = [await invite(org), await invite(org)]
    harness.clock.advance(7 * day - 1)
    await deleteOldSessions(harness.services)
    expect((await attempt(inTime.link)).status).toBe(200)
    harness.clock.advance(1)
    expect((await attempt(late.link)).status).toBe(401)
    await deleteOldSessions(harness.services)
    expect(await linkRows(org)).toEqual([])
  })

  test('refuses a user who does not exist, and one who is disabled', async () => {
    const org = await harness.newOrg()
    const { id } = await invite(org)
    for (const unknown of ['99', 'x', '0']) {
      expect((await org.call('POST', `/users/${unknown}/invite`)).status).toBe(404)
    }
    await disable(harness, org, id)
    const reply = await org.call('POST', `/users/${id}/invite`)
    expect([reply.status, reply.body.code]).toEqual([400, 'FAILED_PRECONDITION'])
    expect(reply.body.message).toContain('is disabled')
  })

  test('does not give a key the permissions of a user who may do more', async () => {
    const org = await harness.newOrg()
    const { id } = await invite(org, 'viewer')
    const before = await linkRows(org)
    const key = await org.newKey({ scopes: ['write'], manage: true })
    const reply = await org.call('POST', `/users/${id}/invite`, { key })
    expect([reply.status, reply.body.message]).toEqual([403, expect.stringContaining('lacks the scope read')])
    expect(await linkRows(org)).toEqual(before)
  })
})

describe('a link', () => {
  test('lets in one of all who try at once', async () => {
    const org = await harness.newOrg()
    const { id, link } = await invite(org)
    const replies = await Promise.all(Array.from({ length: 8 }, () => attempt(link)))
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array(7).fill(401)])
    // Also when all of them were told that the link is good before the first one took it.
    const found = await findUserLinkBySecret(harness.services, await inviteAgain(org, id))
    if (!found) throw new Error('the link is not found')
    const ends = await Promise.allSettled(
      Array.from({ length: 8 }, () => sessionStartByUserLink(harness.services, found, {}, {})),
    )
    expect(ends.map((end) => end.status).sort()).toEqual(['fulfilled', ...Array(7).fill('rejected')])
    expect(await entriesOf(org, 'SESSION_STARTED')).toHaveLength(2)
  })

  test('has a new secret for each session, and ends the session that the browser had', async () => {
    const org = await harness.newOrg()
    const { id, link } = await invite(org)
    const { cookie: first } = await signInByLink(harness, { link })
    const byKey = await openSession(harness, { key: org.key }, { cookie: first })
    expect((await readWith(org, first)).status).toBe(401)
    const again = await session(harness, 'POST', {
      body: { link: await inviteAgain(org, id) },
      headers: { cookie: byKey.cookie },
    })
    expect((await readWith(org, byKey.cookie)).status).toBe(401)
    const third = again.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect(new Set([first, byKey.cookie, third]).size).toBe(3)
    expect((await readWith(org, third)).status).toBe(200)
  })

  test('of a disabled user is refused, which is audited once an hour', async () => {
    const org = await harness.newOrg()
    harness.clock.fix(harness.clock.now())
    const { id, email, link } = await invite(org)
    await disable(harness, org, id)
    for (let i = 0; i < 3; i++) {
      expect((await attempt(link)).body).toMatchObject({ status: 401, message: expect.stringContaining('disabled') })
    }
    expect(await entriesOf(org, 'SIGN_IN_REFUSED')).toEqual([
      expect.objectContaining({
        category: 'USER',
        actor: { type: 'SYSTEM', id: 'sign-in', name: 'Sign-in' },
        target: { type: 'user', id, name: email },
        details: { after: { via: 'link', reason: expect.stringContaining('disabled') } },
      }),
    ])
    harness.clock.advance(hour)
    await Promise.all([attempt(link), attempt(link), attempt(link)])
    expect(await entriesOf(org, 'SIGN_IN_REFUSED')).toHaveLength(2)
    await disable(harness, org, id, 'INVITED')
    expect((await attempt(link)).status, 'the link was not used up').toBe(200)
  })

  test('of the command line is a way back in for everybody, for 15 minutes', async () => {
    const org = await harness.newOrg()
    harness.clock.fix(harness.clock.now())
    const { id, email, link } = await invite(org, 'owner')
    const [inTime, late] = [
      await userLoginLinkCreate(org.ctx, email.toUpperCase()),
      await userLoginLinkCreate(org.ctx, email),
    ]
    expect(inTime.user).toEqual({ id: Number(id), email, role: 'owner' })
    harness.clock.advance(15 * minute - 1)
    expect((await attempt(inTime.secret)).body).toMatchObject({ user: { id, role: 'owner' }, manage: true })
    expect((await org.call('GET', `/users/${id}`)).status).toBe(200)
    harness.clock.advance(1)
    expect((await attempt(late.secret)).status).toBe(401)
    expect((await attempt(link)).status, 'the link of usersInvite is as it was').toBe(200)
    await expect(userLoginLinkCreate(org.ctx, 'eve@people.example')).rejects.toThrow(
      'there is no user eve@people.example',
    )
    await disable(harness, org, id)
    await expect(userLoginLinkCreate(org.ctx, email)).rejects.toThrow('is disabled')
    expect((await entriesOf(org, 'LOGIN_LINK_CREATED')).map((entry) => entry.target)).toEqual([
      { type: 'user', id, name: email },
      { type: 'user', id, name: email },
    ])
  })

  test('that was not copied whole is refused in the words of links for people', async () => {
    const org = await harness.newOrg()
    const { link } = await invite(org)
    for (const cut of [link.slice(0, -1), `${link}x`, 'rki_']) {
      expect((await attempt(cut)).body).toMatchObject({
        status: 401,
        message: expect.stringContaining('new sign-in link'),
      })
    }
    expect((await attempt(link)).status).toBe(200)
  })

  test('goes with its user', async () => {
    const org = await harness.newOrg()
    const { id, link } = await invite(org)
    expect((await org.call('DELETE', `/users/${id}`)).status).toBe(200)
    expect((await attempt(link)).status).toBe(401)
    expect(await linkRows(org)).toEqual([])
  })
})
