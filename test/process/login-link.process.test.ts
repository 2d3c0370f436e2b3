// Sign-in links: made on the command line, good once, for 15 minutes. [contract 9.link]
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokenHash } from '../../src/server/auth/token.ts'
import type { KeyHolder } from '../../src/server/auth/token-holder.ts'
import { keysDelete } from '../../src/server/people/keys/rules.ts'
import {
  linkHolder,
  loginLinkCreate,
  sessionStart,
  sessionStartByLink,
} from '../../src/server/people/sessions/rules.ts'
import { cookieOf, own } from '../support/console/console-session.ts'
import { type Harness, send, startHarness } from '../support/harness.ts'
import { emptySiteForTest, newSite, type ServerHere, type Site, siteForTest } from '../support/program.ts'

const signInAt = (url: string, link: string) => send(url, 'POST', '/console/session', { body: { link }, headers: own })

describe('a link', () => {
  let harness: Harness
  beforeAll(async () => {
    harness = await startHarness()
  })
  afterAll(() => harness.close())

  test('signs in as its key, is audited when made and when used, and lies in the database as a hash only', async () => {
    const org = await harness.newOrg()
    const { secret } = await loginLinkCreate(org.ctx)
    const [row] = await harness.services.db.system.kysely
      .selectFrom('login_links')
      .selectAll()
      .where('org', '=', org.org.key)
      .execute()
    expect(row?.hash.equals(tokenHash(secret))).toBe(true)
    const reply = await signInAt(harness.url, secret)
    expect(reply.body).toMatchObject({ org: { id: org.id }, key: { id: '1' }, manage: true })
    const [used, made] = await org.audit()
    expect(used).toMatchObject({ type: 'SESSION_STARTED', actor: { type: 'KEY' }, details: { after: { via: 'link' } } })
    expect(made).toMatchObject({ type: 'LOGIN_LINK_CREATED', category: 'USER', target: { type: 'key', id: '1' } })
    expect(JSON.stringify([used, made, harness.logged])).not.toMatch(/rk[sl]?_[0-9A-Za-z]{10}/)
    const headers = { ...own, cookie: cookieOf(reply) }
    expect((await org.call('GET', '/regions', { key: false, headers })).status).toBe(200)
  })

  test('lets in one of all who try at once', async () => {
    const org = await harness.newOrg()
    for (let round = 0; round < 3; round++) {
      const { secret } = await loginLinkCreate(org.ctx)
      const replies = await Promise.all(Array.from({ length: 8 }, () => signInAt(harness.url, secret)))
      expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array(7).fill(401)])
      const late = replies.find((reply) => reply.status === 401)
      expect(late?.body.message).toContain('roomkeeper login-link')
      expect(late?.headers.has('set-cookie')).toBe(false)
    }
    // Also when all of them were told that the link is good before the first one took it.
    const { secret } = await loginLinkCreate(org.ctx)
    const holder = (await linkHolder(harness.services, secret)) as KeyHolder
    const tries = Array.from({ length: 8 }, () => sessionStartByLink(harness.services, holder, secret, {}))
    const ends = await Promise.allSettled(tries)
    expect(ends.map((end) => end.status).sort()).toEqual(['fulfilled', ...Array(7).fill('rejected')])
    const started = (await org.audit()).filter((entry) => entry.type === 'SESSION_STARTED')
    expect(started, 'who came too late left nothing behind').toHaveLength(4)
  })

  test('works for 15 minutes, and says how to get another one afterwards', async () => {
    const org = await harness.newOrg()
    harness.clock.fix(harness.clock.now())
    const [inTime, late] = [await loginLinkCreate(org.ctx), await loginLinkCreate(org.ctx)]
    harness.clock.advance(15 * 60_000 - 1)
    expect((await signInAt(harness.url, inTime.secret)).status).toBe(200)
    harness.clock.advance(1)
    const reply = await signInAt(harness.url, late.secret)
    expect(reply.body).toMatchObject({ status: 401, message: expect.stringContaining('roomkeeper login-link') })
  })

  test('goes with its key: revoked or expired', async () => {
    const org = await harness.newOrg()
    harness.clock.fix(harness.clock.now())
    const expiresAt = new Date(harness.clock.now() + 60_000).toISOString()
    await org.newKey({})
    await org.newKey({ expiresAt })
    const [revoked, expiring] = [await loginLinkCreate(org.ctx, 2), await loginLinkCreate(org.ctx, 3)]
    const holder = (await linkHolder(harness.services, revoked.secret)) as KeyHolder
    await keysDelete(org.ctx, '2')
    await expect(sessionStart(harness.services, holder, {})).rejects.toThrow('This key was revoked a moment ago')
    harness.clock.advance(60_000)
    for (const { secret } of [revoked, expiring]) expect((await signInAt(harness.url, secret)).status).toBe(401)
    await expect(loginLinkCreate(org.ctx, 3)).rejects.toThrow('key 3 has expired')
  })

  test('takes the first key that can do everything, and no key that cannot read', async () => {
    const org = await harness.newOrg()
    await org.newKey({ scopes: ['read'], manage: true })
    await org.newKey({ scopes: ['write'] })
    await org.newKey({ manage: true })
    await keysDelete(org.ctx, '1')
    expect((await loginLinkCreate(org.ctx)).key.id).toBe(4)
    expect((await loginLinkCreate(org.ctx, 2)).key.id).toBe(2)
    await expect(loginLinkCreate(org.ctx, 3)).rejects.toThrow('key 3 lacks the scope read')
    await expect(loginLinkCreate(org.ctx, 9)).rejects.toThrow('there is no key 9')
    const kept = harness.services.db.system.kysely
      .selectFrom('login_links')
      .select('key_id')
      .where('org', '=', org.org.key)
    expect((await kept.orderBy('key_id').execute()).map((row) => row.key_id)).toEqual([2, 4])
  })
})

describe('roomkeeper login-link', () => {
  let site: Site
  let server: ServerHere
  beforeAll(async () => {
    site = await newSite()
    server = await site.serveHere()
  })
  afterAll(() => site.close())

  test('prints a link that works once in the running server', async () => {
    const port = new URL(server.url).port
    const { code, stdout, stderr } = await site.run('login-link', '--port', port)
    expect([code, stderr]).toEqual([0, ''])
    const [, url, secret = ''] = /^(\S+)\/sign-in#(rkl_\w{40})\n/.exec(stdout) ?? []
    expect(url).toBe(server.publicUrl)
    expect(stdout).toContain('with key 1 (First key). It works once, within 15 minutes.')
    expect((await signInAt(server.url, secret)).body).toMatchObject({ org: { id: server.org }, manage: true })
    expect((await signInAt(server.url, secret)).status).toBe(401)
    const at = `/v1/orgs/${server.org}/audit/logs?from=2000-01-01&to=2999-01-01`
    const { logs } = (await send(server.url, 'GET', at, { key: server.key })).body
    expect(logs[1]).toMatchObject({ type: 'LOGIN_LINK_CREATED', actor: { type: 'CLI' }, target: { id: '1' } })
  })

  test('leads to the address that the server recorded, and assumes one only where no server has run', async () => {
    const assumes = /^The link assumes that the server is at (\S+)\. If it is not, use --port or --public-url\.$/m
    const [, recorded] = /^(\S+)\/sign-in#rkl_/.exec((await site.run('login-link')).stdout) ?? []
    expect(recorded).toBe(server.publicUrl)
    const unserved = await siteForTest()
    const { id } = await unserved.json('org', 'create', 'One')
    const scopes = ['--scope', 'read', '--scope', 'write', '--manage']
    await unserved.json('keys', 'create', '--org', id, '--name', 'K', ...scopes)
    const { stdout } = await unserved.run('login-link')
    expect(stdout).toMatch(/^http:\/\/localhost:8080\/sign-in#rkl_/)
    expect(assumes.exec(stdout)?.[1]).toBe('http://localhost:8080')
    for (const given of [[], ['--port', '8080'], ['--public-url', 'https://rooms.example.org']]) {
      expect((await site.run('login-link', ...given)).stdout).not.toMatch(/assumes/)
    }
    const help = (await site.run('login-link', '--help')).stdout.replaceAll(/\s+/g, ' ')
    expect(help).toContain('port of the server on this machine (default: as the server recorded it, or 8080)')
    expect(help).not.toContain('free one')
  })

  test('prints JSON, with the address that people open', async () => {
    const link = await site.json('login-link', '--public-url', 'https://rooms.example.org/', '--org', server.org)
    expect(link).toEqual({
      url: expect.stringMatching(/^https:\/\/rooms\.example\.org\/sign-in#rkl_\w{40}$/),
      org: server.org,
      keyId: '1',
      keyName: 'First key',
      expiresAt: expect.stringMatching(/Z$/),
    })
    const inMinutes = (Date.parse(link.expiresAt) - Date.now()) / 60_000
    expect(inMinutes).toBeGreaterThan(14)
    expect(inMinutes).toBeLessThanOrEqual(15)
  })

  test.each([
    [['--key', '9'], /there is no key 9/],
    [['--key', 'rk_abc'], /--key must be the id of a key/],
    [['--org', 'Nowhere'], /There is no organisation Nowhere/],
    [['--public-url', 'rooms'], /--public-url \(or ROOMKEEPER_PUBLIC_URL\) must be an address/],
  ])('refuses %j with a sentence', async (args, message) => {
    const { code, stdout, stderr } = await site.run('login-link', ...args)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain('rk_abc')
  })

  test('a key that is revoked here ends its sessions in the running server within a second [contract 3.10]', async () => {
    const { id } = await site.json('keys', 'create', '--org', server.org, '--name', 'Desk', '--scope', 'read')
    const { url } = await site.json('login-link', '--key', id)
    const cookie = cookieOf(await signInAt(server.url, url.split('#')[1]))
    const read = () => send(server.url, 'GET', `/v1/orgs/${server.org}/regions`, { headers: { ...own, cookie } })
    expect((await read()).status).toBe(200)
    await site.json('keys', 'revoke', id, '--org', server.org)
    await pause(1000)
    expect((await read()).status, 'a request a second later').toBe(401)
  })

  test('wants to know the organisation when there are several, and needs a server to have been there', async () => {
    const several = await emptySiteForTest()
    const none = await several.run('login-link')
    expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/There is no (database|Roomkeeper)/)])
    const { id } = await several.json('org', 'create', 'One')
    const keyless = await several.run('login-link')
    expect(keyless.stderr).toContain('no key of this organisation can read, write and manage')
    await several.json('org', 'create', 'Two')
    const { code, stderr } = await several.run('login-link')
    expect([code, stderr]).toEqual([1, 'There are 2 organisations. Choose one with --org; "org list" shows them.\n'])
    const scopes = ['--scope', 'read', '--scope', 'write', '--manage']
    await several.json('keys', 'create', '--org', id, '--name', 'K', ...scopes)
    expect((await several.json('login-link', '--org', id)).url).toMatch(/^http:\/\/localhost:8080\/sign-in#rkl_/)
  })
})
