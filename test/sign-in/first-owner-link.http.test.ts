// Tests the link of the first start, which makes the first owner of an organisation. [contract 11.local]

import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { dayMs } from '../../src/contract/durations.ts'
import { Handle } from '../../src/server/db/handles.ts'
import { firstOwnerLinkCreate } from '../../src/server/people/sessions/user-links.ts'
import { session } from '../support/console/console-session.ts'
import { entriesOf, invite, signInByLink } from '../support/console/user-session.ts'
import { type Harness, startHarness } from '../support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const attempt = (link: string, email?: string) =>
  session(harness, 'POST', { body: { link, ...(email !== undefined && { email }) } })

const email = 'ada@people.example'

test('the link of the first owner asks for the e-mail address without being used up, and makes an owner who is signed in', async () => {
  const org = await harness.newOrg()
  const { secret } = await firstOwnerLinkCreate(org.ctx)
  const asked = await attempt(secret)
  expect(asked.body).toMatchObject({ status: 400, code: 'INVALID_ARGUMENT' })
  expect(asked.body.message).toContain('email is required, because this link makes the first owner')
  expect((await attempt(secret, 'nonsense')).status).toBe(400)
  expect((await org.call('GET', '/users')).body.users).toEqual([])

  const { reply } = await signInByLink(harness, { link: secret, email })
  expect(reply.body).toMatchObject({ user: { email, role: 'owner' }, manage: true, allRegions: true })
  const [started, created, made] = await org.audit()
  expect(started).toMatchObject({ type: 'SESSION_STARTED', actor: { type: 'USER', name: email } })
  expect(created).toMatchObject({ type: 'USER_CREATED', actor: { type: 'SYSTEM', id: 'first-owner-link' } })
  expect(made).toMatchObject({ type: 'LOGIN_LINK_CREATED', target: { type: 'organisation', id: org.id } })
  expect((await attempt(secret, email)).status).toBe(401)
})

test('the link of the first owner works again for the same owner if the session failed to start', async () => {
  const org = await harness.newOrg()
  const { secret } = await firstOwnerLinkCreate(org.ctx)
  const { run } = Handle.prototype
  const failing = vi.spyOn(Handle.prototype, 'run').mockImplementation(function (this: Handle, query, values) {
    if (query.sql.startsWith('insert into "user_sessions"')) throw new Error('the connection was lost')
    return run.call(this, query, values)
  })
  const lost = await attempt(secret, email)
  failing.mockRestore()
  expect(lost.status).toBe(500)
  expect((await attempt(secret, 'eve@people.example')).body).toMatchObject({
    status: 401,
    message: expect.stringContaining('has an owner'),
  })
  const { reply } = await signInByLink(harness, { link: secret, email })
  expect(reply.body).toMatchObject({ user: { email, role: 'owner' }, manage: true })
  expect((await org.call('GET', '/users')).body.users).toHaveLength(1)
  expect((await attempt(secret, email)).status, 'the link is used up').toBe(401)
})

test('the link of the first owner does not work while an owner is active', async () => {
  const org = await harness.newOrg()
  const [first, second] = [await firstOwnerLinkCreate(org.ctx), await firstOwnerLinkCreate(org.ctx)]
  await signInByLink(harness, { link: first.secret, email })
  const reply = await attempt(second.secret, 'eve@people.example')
  expect(reply.body).toMatchObject({ status: 401, message: expect.stringContaining('has an owner') })
  expect((await org.call('GET', '/users')).body.users).toHaveLength(1)
  expect(await entriesOf(org, 'SIGN_IN_REFUSED')).toHaveLength(1)
})

test('the link of the first owner makes one owner when several try at once', async () => {
  const org = await harness.newOrg()
  const links = [await firstOwnerLinkCreate(org.ctx), await firstOwnerLinkCreate(org.ctx)]
  const tries = Array.from({ length: 8 }, (_, i) => attempt(links[i % 2]?.secret ?? '', `p${i}@people.example`))
  const statuses = (await Promise.all(tries)).map((reply) => reply.status)
  expect(statuses.sort()).toEqual([200, ...Array(7).fill(401)])
  expect((await org.call('GET', '/users')).body.users).toHaveLength(1)
})

test('the link of the first owner keeps the address of another user, and works for 24 hours', async () => {
  const org = await harness.newOrg()
  harness.clock.fix(harness.clock.now())
  const { email: taken } = await invite(org)
  const [inTime, late] = [await firstOwnerLinkCreate(org.ctx), await firstOwnerLinkCreate(org.ctx)]
  const refused = await attempt(inTime.secret, taken.toUpperCase())
  expect(refused.body).toMatchObject({ status: 400, code: 'FAILED_PRECONDITION' })
  harness.clock.advance(dayMs - 1)
  expect((await attempt(inTime.secret, email)).status).toBe(200)
  harness.clock.advance(1)
  expect((await attempt(late.secret, 'eve@people.example')).body.message).toContain('does not work')
})
