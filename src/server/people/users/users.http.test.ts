// Tests users, through HTTP.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const invited = { allRegions: false, state: 'INVITED', signsInWith: [] }
const ada = { id: '1', email: 'Ada@Example.org', role: 'owner', regionIds: [], ...invited }
const bob = { id: '2', email: 'bob@example.org', role: 'admin', regionIds: [1, 3], ...invited }

/** Creates the regions 1 to 3, Ada, the only owner, and Bob, an admin. */
async function people(): Promise<TestOrg> {
  const org = await harness.newOrg()
  for (const name of ['Europe', 'Asia', 'Africa']) await org.call('POST', '/regions', { body: { name } })
  for (const { email, role, regionIds } of [ada, bob])
    await org.call('POST', '/users', { body: { email, role, regionIds } })
  return org
}
const put = ({ call }: TestOrg, id: string, body: object) => call('PUT', `/users/${id}`, { body })
const usersOf = async ({ call }: TestOrg) => (await call('GET', '/users')).body.users
const stateOf = async (org: TestOrg) => [await usersOf(org), await org.audit()]

test('usersList and usersGet give every user with the regions [contract 5.4.user] [contract 6.users]', async () => {
  const { call } = await people()
  expect((await call('GET', '/users')).body).toEqual({ users: [ada, bob] })
  expect((await call('GET', '/users/2')).body).toEqual(bob)
})

test('usersCreate adds a user; regions come back once each, in order [contract 6.users]', async () => {
  const org = await people()
  const body = { email: '  eve@example.org ', role: 'admin', regionIds: [3, 1, 3] }
  const created = await org.call('POST', '/users', { body })
  expect(created.body).toEqual({ id: '3', email: 'eve@example.org', role: 'admin', regionIds: [1, 3], ...invited })
  expect(await usersOf(org)).toEqual([ada, bob, created.body])
  expect((await org.audit())[0]).toMatchObject({
    category: 'USER',
    type: 'USER_CREATED',
    target: { type: 'user', id: '3', name: 'eve@example.org' },
    details: { after: { email: 'eve@example.org', role: 'admin', regionIds: [1, 3] } },
  })
})

test('usersUpdate keeps what the body does not name [contract 5.4.user]', async () => {
  const org = await people()
  expect((await put(org, '2', { email: 'rob@example.org' })).body).toEqual({ ...bob, email: 'rob@example.org' })
  expect((await put(org, '2', { role: 'owner' })).body).toEqual({ ...bob, email: 'rob@example.org', role: 'owner' })
  expect((await put(org, '2', { regionIds: [2] })).body).toMatchObject({ role: 'owner', regionIds: [2] })
  const last = await put(org, '2', { regionIds: [] })
  expect(last.body).toEqual({ id: '2', email: 'rob@example.org', role: 'owner', regionIds: [], ...invited })
  expect(await usersOf(org)).toEqual([ada, last.body])
  const { details, type } = (await org.audit())[0]
  expect([type, details.before.regionIds, details.after.regionIds]).toEqual(['USER_UPDATED', [2], []])
})

test('usersUpdate that names nothing keeps everything, and is audited all the same [contract 5.4.user] [contract 5.4.audit]', async () => {
  const org = await people()
  const before = await org.audit()
  expect((await put(org, '2', {})).body).toEqual(bob)
  expect(await usersOf(org)).toEqual([ada, bob])
  expect((await org.audit()).slice(1)).toEqual(before)
})

test('every unknown region is named, and nothing is done [contract 2.2]', async () => {
  const org = await people()
  const foreign = await people()
  expect((await foreign.call('POST', '/regions', { body: { name: 'Only there' } })).body.id).toBe(4)
  const before = await stateOf(org)
  const regionIds = [77, 1, 4, 0]
  for (const refused of [
    await org.call('POST', '/users', { body: { email: 'eve@example.org', role: 'admin', regionIds } }),
    await put(org, '2', { email: 'rob@example.org', role: 'owner', regionIds }),
  ]) {
    expect(refused.status).toBe(400)
    expect(refused.body.code).toBe('INVALID_ARGUMENT')
    const fields = refused.body.violations.map((v: { field: string }) => v.field)
    expect(fields).toEqual(['regionIds[0]', 'regionIds[2]', 'regionIds[3]'])
    for (const id of [77, 4, 0]) expect(refused.body.message).toContain(`region ${id},`)
  }
  expect(await stateOf(org)).toEqual(before)
})

test.each([
  ['email', { email: 'nobody' }],
  ['email', { email: 'a b@example.org' }],
  ['email', { email: 'a@b@c' }],
  ['email', { email: `${'x'.repeat(250)}@a.no` }],
  ['email', { email: 'a@b.no\u0000' }],
  ['email', { email: null }],
  ['role', { role: 'Owner' }],
  ['role', { role: 'user' }],
  ['role', { role: null }],
  ['regionIds', { regionIds: null }],
  ['regionIds', { regionIds: 1 }],
  ['regionIds[0]', { regionIds: ['1'] }],
  ['regionIds', { regionIds: Array.from({ length: 1001 }, () => 1) }],
])('a wrong %s is refused by name, and nothing is done [contract 6.users] [contract 7.4]', async (field, wrong) => {
  const org = await people()
  const before = await stateOf(org)
  for (const refused of [
    await org.call('POST', '/users', { body: { email: 'eve@example.org', role: 'admin', regionIds: [], ...wrong } }),
    await put(org, '2', wrong),
  ]) {
    expect(refused.status).toBe(400)
    expect(refused.body).toMatchObject({ code: 'INVALID_ARGUMENT', violations: [{ field }] })
  }
  expect(await stateOf(org)).toEqual(before)
})

test.each(['Ada@Example.org', 'ada@example.org', 'ADA@EXAMPLE.ORG', ' ada@EXAMPLE.org '])(
  'an address is unique in its organisation, ignoring case: %j is taken [contract D.2]',
  async (email) => {
    const org = await people()
    const before = await stateOf(org)
    for (const refused of [
      await org.call('POST', '/users', { body: { email, role: 'admin', regionIds: [] } }),
      await put(org, '2', { email, role: 'owner', regionIds: [] }),
    ]) {
      expect(refused.status).toBe(400)
      expect(refused.body.code).toBe('FAILED_PRECONDITION')
    }
    expect(await stateOf(org)).toEqual(before)
  },
)

test('case is ignored in every alphabet [contract D.2]', async () => {
  const org = await people()
  const create = (email: string) => org.call('POST', '/users', { body: { email, role: 'admin', regionIds: [] } })
  expect((await create('émile.ждан@example.org')).status).toBe(200)
  expect((await create('ÉMILE.ЖДАН@example.org')).body.code).toBe('FAILED_PRECONDITION')
  expect((await create('emile.ждан@example.org')).status, 'an accent is no matter of case').toBe(200)
})

test('a user may change the case of its own address, and one of a deleted user is free [contract D.2]', async () => {
  const org = await people()
  expect((await put(org, '1', { email: 'ADA@example.org' })).body.email).toBe('ADA@example.org')
  await org.call('DELETE', '/users/2')
  const again = await org.call('POST', '/users', { body: { email: bob.email, role: 'admin', regionIds: [] } })
  expect(again.body).toEqual({ ...bob, id: '3', regionIds: [] })
})

test('two people who take the same address at once: one gets it [contract D.2]', async () => {
  const org = await people()
  const take = (email: string) => org.call('POST', '/users', { body: { email, role: 'admin', regionIds: [] } })
  const replies = await Promise.all([take('eve@example.org'), take('Eve@example.org'), take('EVE@example.org')])
  expect(replies.map((r) => r.status).sort()).toEqual([200, 400, 400])
  expect(await usersOf(org)).toHaveLength(3)
})

test('the last owner can be neither deleted nor demoted, but changed otherwise [contract 5.4.user]', async () => {
  const org = await people()
  const before = await stateOf(org)
  for (const refused of [
    await org.call('DELETE', '/users/1'),
    await put(org, '1', { role: 'admin', regionIds: [2] }),
  ]) {
    expect(refused.status).toBe(400)
    expect(refused.body.code).toBe('FAILED_PRECONDITION')
    expect(refused.body.message).toMatch(/^Operation preconditions not met: the last owner /)
  }
  expect(await stateOf(org)).toEqual(before)
  const changed = await put(org, '1', { email: 'countess@example.org', role: 'owner', regionIds: [2] })
  expect(changed.body).toEqual({ ...ada, email: 'countess@example.org', regionIds: [2] })
})

test('with a second owner the first may be demoted, and then deleted [contract 5.4.user]', async () => {
  const org = await people()
  await put(org, '2', { role: 'owner' })
  expect((await put(org, '1', { role: 'admin' })).body.role).toBe('admin')
  expect((await org.call('DELETE', '/users/2')).body.code).toBe('FAILED_PRECONDITION')
  expect((await org.call('DELETE', '/users/1')).body).toEqual({})
  expect(await usersOf(org)).toEqual([{ ...bob, role: 'owner' }])
  const [entry] = await org.audit()
  expect(entry).toMatchObject({ type: 'USER_DELETED', target: { id: '1', name: ada.email } })
  expect((await org.call('DELETE', '/users/1')).status).toBe(404)
})

test('an owner who is disabled is no other owner [contract 11.user]', async () => {
  const org = await people()
  await put(org, '2', { role: 'owner', state: 'DISABLED' })
  for (const refused of [await org.call('DELETE', '/users/1'), await put(org, '1', { role: 'admin' })]) {
    expect(refused.body.code).toBe('FAILED_PRECONDITION')
    expect(refused.body.message).toContain('the last owner cannot be')
  }
  await put(org, '2', { state: 'ACTIVE' })
  expect((await put(org, '1', { role: 'admin' })).status).toBe(200)
})

test('two owners who are removed at once: one stays [contract 5.4.user]', async () => {
  const org = await people()
  await put(org, '2', { role: 'owner' })
  const replies = await Promise.all([org.call('DELETE', '/users/1'), put(org, '2', { role: 'admin' })])
  expect(replies.map((r) => r.status).sort()).toEqual([200, 400])
  expect((await usersOf(org)).filter((u: { role: string }) => u.role === 'owner')).toHaveLength(1)
})

test('an id that does not exist is a 404, whatever its form [contract D.4]', async () => {
  const org = await people()
  const before = await stateOf(org)
  for (const id of ['3', '01', '1.0', '-1', 'ada', '2147483648', '%20']) {
    expect((await org.call('GET', `/users/${id}`)).status, id).toBe(404)
    expect((await put(org, id, { role: 'admin', regionIds: [77] })).status, id).toBe(404)
    expect((await org.call('DELETE', `/users/${id}`)).status, id).toBe(404)
  }
  expect(await stateOf(org)).toEqual(before)
})

test('a stale If-Match refuses the write, and nothing changes [contract 7.11]', async () => {
  const org = await people()
  await put(org, '2', { regionIds: [2] })
  const before = await stateOf(org)
  const headers = { 'if-match': '"1"' }
  expect((await org.call('PUT', '/users/2', { body: { role: 'owner' }, headers })).status).toBe(412)
  expect((await org.call('DELETE', '/users/2', { headers })).status).toBe(412)
  expect(await stateOf(org)).toEqual(before)
})

test('reading users needs Read; writing them needs Write and manage [contract 6.users] [contract D.13]', async () => {
  const org = await people()
  const reader = await org.newKey({ scopes: ['read'] })
  const editor = await org.newKey({ scopes: ['read', 'write'] })
  const managingReader = await org.newKey({ scopes: ['read'], manage: true })
  const managingWriter = await org.newKey({ scopes: ['write'], manage: true })
  const before = await stateOf(org)
  expect((await org.call('GET', '/users', { key: reader })).body.users).toEqual([ada, bob])
  expect((await org.call('GET', '/users', { key: managingWriter })).status, 'Write is not Read').toBe(403)
  const body = { email: 'eve@example.org', role: 'admin', regionIds: [] }
  for (const [key, lacking] of [
    [reader, 'write'],
    [managingReader, 'write'],
    [editor, 'manage'],
  ] as const) {
    for (const [method, path] of [
      ['POST', '/users'],
      ['PUT', '/users/2'],
      ['DELETE', '/users/2'],
    ] as const) {
      const refused = await org.call(method, path, { key, ...(method !== 'DELETE' && { body }) })
      expect(refused.status).toBe(403)
      expect(refused.body).toMatchObject({ code: 'PERMISSION_DENIED', message: expect.stringContaining(lacking) })
      expect(refused.headers.get('www-authenticate')).toContain('error="insufficient_scope"')
    }
  }
  const beyond = await org.call('POST', '/users', { body, key: managingWriter })
  expect(beyond.body.message, 'nobody grants what they lack').toContain('lacks the scope read, so it cannot grant it')
  expect(await stateOf(org)).toEqual(before)
  const disabled = { body: { ...body, state: 'DISABLED' }, key: managingWriter }
  expect((await org.call('POST', '/users', disabled)).status, 'a disabled user may nothing').toBe(200)
})
