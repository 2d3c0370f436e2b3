// Links for people from the command line and from the first start. [contract 11.local]
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serve } from '../../src/cli/serve.ts'
import type { ServeOptions } from '../../src/server/config/server-options.ts'
import { cookieOf, own } from '../support/console/console-session.ts'
import { newPlace, quiet, send } from '../support/harness.ts'
import { expectRefusal, newSite, type ServerHere, type Site, until } from '../support/program.ts'
import { testTerminal } from '../support/test-terminal.ts'

let site: Site
let server: ServerHere
beforeAll(async () => {
  site = await newSite()
  server = await site.serveHere()
})
afterAll(() => site.close())

const exchange = (url: string, body: { link: string; email?: string }) =>
  send(url, 'POST', '/console/session', { body, headers: own })
const linkIn = (text: string) => /^\S+\/sign-in#(rki_\w{40})$/m.exec(text)?.[1] ?? ''

describe('roomkeeper users invite', () => {
  test('creates a user and prints a link that signs them in once', async () => {
    const { code, stdout, stderr } = await site.run('users', 'invite', 'ada@people.example', '--role', 'owner')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.startsWith(`${server.publicUrl}/sign-in#rki_`)).toBe(true)
    expect(stdout).toContain(
      `as ada@people.example (owner). It works once, within 7 days. No mail was sent: pass it on.`,
    )
    const link = linkIn(stdout)
    const reply = await exchange(server.url, { link })
    expect(reply.body).toMatchObject({ user: { email: 'ada@people.example', role: 'owner' }, manage: true })
    expect((await exchange(server.url, { link })).status).toBe(401)
    const at = `/v1/orgs/${server.org}/audit/logs?from=2000-01-01&to=2999-01-01`
    const { logs } = (await send(server.url, 'GET', at, { key: server.key })).body
    expect(logs.slice(0, 3)).toMatchObject([
      { type: 'SESSION_STARTED', actor: { type: 'USER' } },
      { type: 'USER_INVITED', actor: { type: 'CLI' } },
      { type: 'USER_CREATED', actor: { type: 'CLI' } },
    ])
  })

  test('makes another link for a user who exists, as JSON too', async () => {
    await site.json('users', 'invite', 'ben@people.example', '--role', 'viewer')
    const link = await site.json('users', 'invite', 'BEN@people.example', '--public-url', 'https://rooms.example.org')
    expect(link).toEqual({
      url: expect.stringMatching(/^https:\/\/rooms\.example\.org\/sign-in#rki_\w{40}$/),
      org: server.org,
      userId: expect.stringMatching(/^\d+$/),
      email: 'ben@people.example',
      role: 'viewer',
      expiresAt: expect.stringMatching(/Z$/),
    })
    const { users } = (await send(server.url, 'GET', `/v1/orgs/${server.org}/users`, { key: server.key })).body
    expect(users.filter((user: { email: string }) => /^ben@/i.test(user.email))).toHaveLength(1)
  })

  test.each([
    [['nonsense'], /must be of the form name@example\.org/],
    [['ada@people.example', '--role', 'viewer'], /is a user already, with the role owner/],
    [
      ['eve@people.example'],
      /^eve@people\.example is a new user\. Give them a role with --role: owner, admin, operator, viewer\.$/m,
    ],
    [['eve@people.example', '--role', 'viewer', '--region', '99'], /names region 99, which does not exist/],
    [['eve@people.example', '--role', 'viewer', '--region', 'Asia'], /--region must be the id of a region such as 3/],
  ])('refuses %j with a sentence, and creates no user', async (args, message) => {
    expectRefusal(await site.run('users', 'invite', ...args), message)
    const { users } = (await send(server.url, 'GET', `/v1/orgs/${server.org}/users`, { key: server.key })).body
    expect(users.filter((user: { email: string }) => user.email.startsWith('eve'))).toEqual([])
  })
})

describe('roomkeeper login-link --user', () => {
  test('prints a link that signs the person in, and ends with nothing of theirs', async () => {
    await site.json('users', 'invite', 'cat@people.example', '--role', 'admin')
    const { code, stdout } = await site.run('login-link', '--user', 'Cat@people.example')
    expect(code).toBe(0)
    expect(stdout).toContain(`as cat@people.example (admin). It works once, within 15 minutes.`)
    const reply = await exchange(server.url, { link: linkIn(stdout) })
    expect(reply.body).toMatchObject({ user: { email: 'cat@people.example', role: 'admin' } })
    const headers = { ...own, cookie: cookieOf(reply) }
    expect((await send(server.url, 'GET', '/console/session', { headers })).status).toBe(200)
  })

  test.each([
    [
      ['--user', 'nobody@people.example'],
      /there is no user nobody@people\.example\. Create one with "roomkeeper users invite/,
    ],
    [['--user', 'ada@people.example', '--key', '1'], /Choose --user or --key, not both/],
  ])('refuses %j with a sentence', async (args, message) => {
    expectRefusal(await site.run('login-link', ...args), message)
  })
})

describe('the first start', () => {
  test('prints a link on a terminal, which asks for the e-mail address and makes the first owner', async () => {
    const { place, remove } = await newPlace()
    const lines: string[] = []
    const stop = Promise.withResolvers<string>()
    const terminal = testTerminal({
      isInteractive: true,
      write: (text) => void lines.push(text),
      writeError: (text) => void lines.push(text),
      untilStopped: () => stop.promise,
    })
    const running = serve(terminal, { ...quiet, ...place, logLevel: 'silent' } as ServeOptions)
    try {
      const pattern =
        /^Open the console: (\S+)\/sign-in#(rki_\w{40}) {2}\(works once, for 24 hours, and makes you the first owner\)$/m
      const [, url = '', link = ''] = await until('the link', () => pattern.exec(lines.join('\n')))
      expect(lines.join('\n')).toMatch(/^ {2}Key +rk_/m)
      expect(lines.join('\n')).not.toMatch(/rkl_/)
      expect((await exchange(url, { link })).body.message).toContain('email is required')
      const reply = await exchange(url, { link, email: 'ada@people.example' })
      expect(reply.body).toMatchObject({ user: { email: 'ada@people.example', role: 'owner' }, manage: true })
      expect((await exchange(url, { link, email: 'eve@people.example' })).status).toBe(401)
    } finally {
      stop.resolve('SIGTERM')
      await running
      await remove()
    }
  })
})
