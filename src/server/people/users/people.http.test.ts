// Tests what users are as people who sign in: states, sessions, ways to sign in, and the last owner; through HTTP.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { expectSoon } from '../../../../test/support/nodes/soon-known.ts'
import { newPerson, newWayToSignIn, sessionHeaders, type TestPerson } from '../../../../test/support/person.ts'
import { hourMs } from '../../../contract/durations.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const put = ({ call }: TestOrg, id: string, body: object) => call('PUT', `/users/${id}`, { body })
const get = async ({ call }: TestOrg, id: string) => (await call('GET', `/users/${id}`)).body
const byKey = async ({ call }: TestOrg, { key }: TestPerson) => (await call('GET', '/me', { key })).status
const bySession = async ({ call }: TestOrg, person: TestPerson) =>
  (await call('GET', '/me', { key: false, headers: sessionHeaders(harness, person) })).status
const expectAccess = async (org: TestOrg, person: TestPerson, key: number, session: number) => {
  await expectSoon(harness, () => byKey(org, person), key)
  await expectSoon(harness, () => bySession(org, person), session)
}
const me =
  (org: TestOrg, { key }: TestPerson) =>
  async () =>
    (await org.call('GET', '/me', { key })).body
const sessionsOf = async ({ call }: TestOrg, id: string) => (await call('GET', `/users/${id}/sessions`)).body.sessions
const rowOf = ({ org }: TestOrg, id: string) =>
  harness.services.db.system.kysely
    .selectFrom('users')
    .selectAll()
    .where('org', '=', org.key)
    .where('id', '=', Number(id))
    .executeTakeFirstOrThrow()
const newRegion = async ({ call }: TestOrg, name = 'Europe') =>
  (await call('POST', '/regions', { body: { name } })).body.id as number

test('usersCreate takes name and allRegions, and the user may sign in from then on [contract 11.user]', async () => {
  const org = await harness.newOrg()
  const body = { email: 'ada@example.org', role: 'admin', name: ' Ada Lovelace ', allRegions: true }
  const created = await org.call('POST', '/users', { body })
  const ada = {
    id: '1',
    email: 'ada@example.org',
    name: 'Ada Lovelace',
    role: 'admin',
    allRegions: true,
    regionIds: [],
    state: 'INVITED',
    signsInWith: [],
  }
  expect(created.body).toEqual(ada)
  expect(created.headers.get('etag')).toBe('"1"')
  const { id: _id, signsInWith: _ways, ...audited } = ada
  expect((await org.audit())[0].details.after).toEqual(audited)
  expect((await rowOf(org, '1')).invited_at).toBeTypeOf('number')
  const { name: _, ...unnamed } = ada
  expect((await put(org, '1', { name: null, allRegions: false })).body).toEqual({ ...unnamed, allRegions: false })
})

test('usersCreate with the state DISABLED makes a user who gets no link until they are enabled [contract 11.user]', async () => {
  const org = await harness.newOrg()
  const body = { email: 'ada@example.org', role: 'viewer', state: 'DISABLED' }
  const { body: ada } = await org.call('POST', '/users', { body })
  expect(ada).toMatchObject({ state: 'DISABLED', signsInWith: [] })
  expect((await org.audit())[0].details.after).toMatchObject({ state: 'DISABLED' })
  const refused = await org.call('POST', `/users/${ada.id}/invite`)
  expect([refused.status, refused.body.code]).toEqual([400, 'FAILED_PRECONDITION'])
  expect((await put(org, ada.id, { state: 'ACTIVE' })).body.state, 'has never signed in').toBe('INVITED')
  expect((await org.call('POST', `/users/${ada.id}/invite`)).status).toBe(200)
})

test.each([
  ['name', { name: '' }],
  ['name', { name: 'x'.repeat(101) }],
  ['allRegions', { allRegions: 1 }],
  ['state', { state: 'GONE' }],
  ['role', { role: 'guest' }],
])('a wrong %s is refused by name [contract 11.user]', async (field, wrong) => {
  const org = await harness.newOrg()
  const body = { email: 'eve@example.org', role: 'viewer', ...wrong }
  const refused = await org.call('POST', '/users', { body })
  expect(refused.body).toMatchObject({ code: 'INVALID_ARGUMENT', violations: [{ field }] })
  expect((await org.call('GET', '/users')).body.users).toEqual([])
})

test('INVITED or ACTIVE follows from the sign-ins: a request disables and enables [contract 11.user]', async () => {
  const org = await harness.newOrg()
  await org.call('POST', '/users', { body: { email: 'ada@example.org', role: 'viewer', state: 'ACTIVE' } })
  const person = await newPerson(harness, org, { role: 'viewer' })
  const states = async (id: string, ...wanted: string[]) => {
    const got = []
    for (const state of wanted) got.push((await put(org, id, { state })).body.state)
    return got
  }
  expect(await states('1', 'ACTIVE', 'DISABLED', 'ACTIVE', 'DISABLED', 'INVITED')).toEqual([
    'INVITED',
    'DISABLED',
    'INVITED',
    'DISABLED',
    'INVITED',
  ])
  expect(await states(person.id, 'INVITED', 'DISABLED', 'INVITED')).toEqual(['ACTIVE', 'DISABLED', 'ACTIVE'])
})

test('DISABLED ends sessions and refuses personal keys at once; enabled again, the keys work [contract 11.user]', async () => {
  const org = await harness.newOrg()
  const person = await newPerson(harness, org, { role: 'viewer', allRegions: true })
  const other = await newPerson(harness, org, { role: 'viewer', allRegions: true })
  expect([await byKey(org, person), await bySession(org, person)]).toEqual([200, 200])
  expect((await put(org, person.id, { state: 'DISABLED' })).body).toMatchObject({ state: 'DISABLED' })
  await expectAccess(org, person, 401, 401)
  const refused = await org.call('GET', '/me', { key: person.key })
  expect(refused.body.message).toContain('is disabled or has no way to sign in. Ask an owner')
  expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"')
  expect([await byKey(org, other), await bySession(org, other)]).toEqual([200, 200])
  await put(org, person.id, { state: 'ACTIVE' })
  await expectAccess(org, person, 200, 401)
})

test('a change of role or regions counts from the next request on [contract 11.user]', async () => {
  const org = await harness.newOrg()
  const region = await newRegion(org)
  const person = await newPerson(harness, org, { role: 'viewer', regionIds: [region] })
  const expectRights = (rights: object) => expectSoon(harness, me(org, person), expect.objectContaining(rights))
  await expectRights({ role: 'viewer', scopes: ['read'], allRegions: false, regionIds: [region] })
  await put(org, person.id, { role: 'operator', regionIds: [] })
  await expectRights({ role: 'operator', scopes: ['read', 'operate'], regionIds: [] })
  await put(org, person.id, { allRegions: true })
  await expectRights({ allRegions: true, regionIds: [] })
})

test('deleting a region leaves its people with nothing, not with everything [contract 11.user] [contract D.3]', async () => {
  const org = await harness.newOrg()
  const region = await newRegion(org)
  const person = await newPerson(harness, org, { role: 'admin', regionIds: [region] })
  await org.call('DELETE', `/regions/${region}`)
  await expectSoon(harness, me(org, person), expect.objectContaining({ allRegions: false, regionIds: [] }))
})

test('usersDelete ends sessions and personal keys, and names the keys [contract 11.user]', async () => {
  const org = await harness.newOrg()
  const person = await newPerson(harness, org, { role: 'viewer' })
  expect((await org.call('DELETE', `/users/${person.id}`)).body).toEqual({})
  await expectAccess(org, person, 401, 401)
  const { type, details } = (await org.audit())[0]
  expect([type, details.affected]).toEqual(['USER_DELETED', [{ type: 'key', id: person.keyId, name: 'Own key' }]])
  const keys = (await org.call('GET', '/keys')).body.keys
  expect(keys.map((k: { id: string }) => k.id)).toEqual(['1'])
})

test('userSessionsList shows the sessions, and userSessionsDelete signs out everywhere [contract 11.user]', async () => {
  const org = await harness.newOrg()
  const person = await newPerson(harness, org, { role: 'viewer', allRegions: true })
  const [session] = await sessionsOf(org, person.id)
  expect(session).toMatchObject({ via: 'link', createdAt: session.usedAt, id: expect.any(String) })
  // A session of the console that was opened with a personal key is one of the person too.
  const signIn = await fetch(`${harness.url}/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ key: person.key }),
  })
  const cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  const byCookie = async () =>
    (await org.call('GET', '/me', { key: false, headers: { cookie, 'sec-fetch-site': 'same-origin' } })).status
  expect([await bySession(org, person), await byCookie()]).toEqual([200, 200])

  expect((await org.call('DELETE', `/users/${person.id}/sessions`)).body).toEqual({})
  await expectSoon(harness, byCookie, 401)
  await expectAccess(org, person, 200, 401)
  expect(await sessionsOf(org, person.id)).toEqual([])
  expect((await org.audit())[0]).toMatchObject({
    category: 'USER',
    type: 'SESSION_REVOKED',
    target: { type: 'user', id: person.id, name: person.email },
    details: { before: { sessions: 2 } },
  })
})

test('a session that was not used for 12 hours is not listed [contract 9.session]', async () => {
  const org = await harness.newOrg()
  const person = await newPerson(harness, org, { role: 'viewer' })
  harness.clock.advance(12 * hourMs - 60_000)
  expect(await sessionsOf(org, person.id)).toHaveLength(1)
  harness.clock.advance(60_000)
  expect(await sessionsOf(org, person.id)).toEqual([])
})

test('usersUnlink removes identity, passkeys, links and sessions; a new sign-in link is needed [contract 11.user]', async () => {
  const org = await harness.newOrg()
  const person = await newPerson(harness, org, { role: 'viewer' })
  await newWayToSignIn(harness, org, person.id, 'passkey')
  await newWayToSignIn(harness, org, person.id, 'oidc')
  expect(await get(org, person.id)).toMatchObject({ state: 'ACTIVE', signsInWith: ['oidc', 'passkey'] })

  expect((await org.call('POST', `/users/${person.id}/unlink`)).body).toEqual({})

  expect(await get(org, person.id)).toMatchObject({ state: 'INVITED', signsInWith: [] })
  expect(await rowOf(org, person.id)).toMatchObject({ invited_at: null, signed_in_at: null })
  expect([await byKey(org, person), await bySession(org, person)]).toEqual([401, 401])
  expect((await org.audit())[0]).toMatchObject({
    type: 'USER_UNLINKED',
    target: { id: person.id },
    details: { before: { signsInWith: ['oidc', 'passkey'], sessions: 1 } },
  })
  await put(org, person.id, { state: 'DISABLED' })
  await org.call('POST', `/users/${person.id}/unlink`)
  expect((await get(org, person.id)).state, 'unlinking enables nobody').toBe('DISABLED')
})

test('the last owner who can sign in cannot be deleted, demoted, disabled or unlinked [contract 11.user]', async () => {
  const org = await harness.newOrg()
  const ada = await newPerson(harness, org, { role: 'owner' })
  const bob = await newPerson(harness, org, { role: 'owner' })
  // A third owner came by a link only, so that there is always another owner.
  await newPerson(harness, org, { role: 'owner' })
  const removals = {
    deleted: () => org.call('DELETE', `/users/${ada.id}`),
    demoted: () => put(org, ada.id, { role: 'admin', allRegions: true }),
    disabled: () => put(org, ada.id, { state: 'DISABLED' }),
    unlinked: () => org.call('POST', `/users/${ada.id}/unlink`),
  }
  const expectRefusals = async () => {
    const before = [await get(org, ada.id), await org.audit()]
    for (const [verb, remove] of Object.entries(removals)) {
      const refused = await remove()
      expect(refused.body.code, verb).toBe('FAILED_PRECONDITION')
      expect(refused.body.message).toContain(`the last owner who can sign in cannot be ${verb}.`)
    }
    expect([await get(org, ada.id), await org.audit()]).toEqual(before)
  }
  await newWayToSignIn(harness, org, ada.id, 'passkey')
  await expectRefusals()
  // Bob has a session of a link, but no way to sign in again; then he has one, and is disabled.
  await newWayToSignIn(harness, org, bob.id, 'oidc')
  await put(org, bob.id, { state: 'DISABLED' })
  await expectRefusals()
  await put(org, bob.id, { state: 'ACTIVE' })
  expect((await removals.unlinked()).status).toBe(200)
  expect((await removals.disabled()).status).toBe(200)
  expect((await removals.demoted()).status).toBe(200)
  expect((await removals.deleted()).status).toBe(200)
})

test('two owners who are unlinked at once: one can still sign in [contract 11.user]', async () => {
  const org = await harness.newOrg()
  const owners = [await newPerson(harness, org, { role: 'owner' }), await newPerson(harness, org, { role: 'owner' })]
  for (const { id } of owners) await newWayToSignIn(harness, org, id, 'passkey')
  const replies = await Promise.all(owners.map(({ id }) => org.call('POST', `/users/${id}/unlink`)))
  expect(replies.map((r) => r.status).sort()).toEqual([200, 400])
})

test('a caller cannot grant what it lacks, and a new address counts as a new person [contract 11.user]', async () => {
  const org = await harness.newOrg()
  const person = await newPerson(harness, org, { role: 'admin' })
  const disabled = await newPerson(harness, org, { role: 'viewer' })
  await put(org, disabled.id, { state: 'DISABLED' })
  // Write and manage do not contain Read, which every role has.
  const key = await org.newKey({ scopes: ['write'], manage: true })
  const attempt = (id: string, body: object) => org.call('PUT', `/users/${id}`, { key, body })
  const before = [(await org.call('GET', '/users')).body, await org.audit()]
  for (const refused of [
    await attempt(person.id, { email: 'mallory@example.org' }),
    await attempt(disabled.id, { state: 'ACTIVE' }),
  ]) {
    expect(refused.status).toBe(403)
    expect(refused.body.message).toContain('lacks the scope read, so it cannot grant it')
  }
  expect([(await org.call('GET', '/users')).body, await org.audit()]).toEqual(before)
  expect((await attempt(person.id, { role: 'viewer' })).status, 'less is no grant').toBe(200)
  expect((await attempt(person.id, { role: 'owner' })).status, 'read it has already; the rest the key has').toBe(403)
  expect((await attempt(person.id, { name: 'Eve' })).status).toBe(200)
})

test('the ETag of a user changes when they sign in or are seen, and If-Match compares the version alone [contract 7.9]', async () => {
  const org = await harness.newOrg()
  const person = await newPerson(harness, org, { role: 'viewer' })
  const path = `/users/${person.id}`
  const first = (await org.call('GET', path)).headers.get('etag') ?? ''
  await newWayToSignIn(harness, org, person.id, 'passkey')
  const second = (await org.call('GET', path)).headers.get('etag') ?? ''
  expect([first, second]).toEqual(['"1"', expect.stringMatching(/^"1-[\w-]+"$/)])
  const reread = await org.call('GET', path, { headers: { 'if-none-match': first } })
  expect([reread.status, reread.body.signsInWith]).toEqual([200, ['passkey']])
  const written = await org.call('PUT', path, { body: { name: 'Eve' }, headers: { 'if-match': first } })
  expect(written.status).toBe(200)
})

test('an operation on an unknown user is a 404 [contract D.4]', async () => {
  const org = await harness.newOrg()
  for (const id of ['1', '01', 'ada']) {
    expect((await org.call('GET', `/users/${id}/sessions`)).status).toBe(404)
    expect((await org.call('DELETE', `/users/${id}/sessions`)).status).toBe(404)
    expect((await org.call('POST', `/users/${id}/unlink`)).status).toBe(404)
  }
  expect(await org.audit()).toHaveLength(2)
})
