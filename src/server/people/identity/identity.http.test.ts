// The settings of an identity provider: what is stored, what is refused, and when they may be turned on. [contract 11.oidc]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSession, readWith } from '../../../../test/support/console/console-session.ts'
import { startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { type ProviderOrg, ProviderSite } from '../../../../test/support/oidc/provider-site.ts'
import { newPerson, newWayToSignIn, sessionHeaders, type TestPerson } from '../../../../test/support/person.ts'
import type { Role } from '../../../contract/people/permissions.ts'

let site: ProviderSite
beforeAll(async () => {
  site = await ProviderSite.start()
})
afterAll(() => site.close())

const get = (org: TestOrg) => org.call('GET', '/identity')
const put = (org: TestOrg, body: object, headers = {}) => org.call('PUT', '/identity', { body, headers })
const provider = { issuer: 'https://login.example.org', clientId: 'roomkeeper', clientSecret: 'a client secret' }

test('an organisation without a provider has defaults, and says what is missing', async () => {
  const org = await site.harness.newOrg()
  const base = `${site.harness.url}/auth/${org.id}/oidc`
  const { body, headers } = await get(org)
  expect(body).toEqual({
    hasClientSecret: false,
    scopes: ['openid', 'email', 'profile'],
    groupsClaim: 'groups',
    groupRoles: [],
    trustedDomains: [],
    createUsers: false,
    passkeys: true,
    enabled: false,
    callbackUrl: `${base}/callback`,
    backchannelUrl: `${base}/backchannel`,
    problem: 'Company accounts are not set up. Enter issuer and client ID.',
    passkeyProblem: expect.stringContaining('IP address'),
  })
  expect(headers.get('etag')).toBe('"0"')
  expect((await org.call('POST', '/identity/test')).body).toMatchObject({ code: 'FAILED_PRECONDITION' })
})

test('settings are stored and answered, and the client secret is neither answered, nor logged, nor stored as it is', async () => {
  const org = await site.harness.newOrg()
  const stored = await put(org, { ...provider, trustedDomains: ['Example.ORG'], scopes: ['email', 'groups'] })
  expect(stored.status).toBe(200)
  expect(stored.body).toMatchObject({
    issuer: provider.issuer,
    hasClientSecret: true,
    trustedDomains: ['example.org'],
    scopes: ['openid', 'email', 'groups'],
  })
  expect((await get(org)).text).toBe(stored.text)
  const [entry] = await org.audit()
  expect(entry).toMatchObject({ type: 'IDENTITY_UPDATED', target: { name: provider.issuer } })
  const row = await site.rows((rows) =>
    rows.selectFrom('identity_providers').selectAll().where('org', '=', org.org.key).executeTakeFirstOrThrow(),
  )
  const everything =
    stored.text + JSON.stringify([entry, site.harness.logged, row.settings]) + row.client_secret?.toString('latin1')
  expect(everything).not.toContain(provider.clientSecret)
  expect((await put(org, { clientSecret: null })).body.hasClientSecret).toBe(false)
})

test.each([
  ['issuer', { issuer: 'login.example.org' }],
  ['issuer', { issuer: 'ftp://login.example.org' }],
  ['issuer', { issuer: 'https://user:password@login.example.org' }],
  ['issuer', { issuer: 'https://login.example.org/?a=b' }],
  ['issuer', { issuer: 'https://login.example.org/.well-known/openid-configuration' }],
  ['scopes[1]', { scopes: ['two words'] }],
  ['trustedDomains[0]', { trustedDomains: ['@example.org'] }],
  ['trustedDomains[0]', { trustedDomains: ['org'] }],
  ['groupRoles[0].regionIds[0]', { groupRoles: [{ group: 'a', role: 'viewer', regionIds: [77] }] }],
  ['groupRoles[0].role', { groupRoles: [{ group: 'a', role: 'owner' }] }],
])('a wrong %s is a 400 that names it, and nothing is stored', async (field, body) => {
  const org = await site.harness.newOrg()
  const refused = await put(org, { ...provider, ...body })
  expect(refused.status).toBe(400)
  expect(refused.text).toContain(field)
  expect((await get(org)).headers.get('etag')).toBe('"0"')
})

test('a stale If-Match refuses the change', async () => {
  const org = await site.harness.newOrg()
  await put(org, provider, { 'if-match': '"0"' })
  expect((await put(org, { createUsers: true }, { 'if-match': '"0"' })).status).toBe(412)
  expect((await put(org, { createUsers: true }, { 'if-match': '"1"' })).status).toBe(200)
})

const enable = { enabled: true }

test('turning on needs a test of exactly these settings, by an owner, within the last hour', async () => {
  const org: ProviderOrg = await site.newOrg()
  expect((await get(org)).body).toMatchObject({ enabled: true, testedAt: expect.any(String) })
  const changed = await put(org, { createUsers: true })
  expect(changed.body).toMatchObject({ code: 'FAILED_PRECONDITION', message: expect.stringContaining('identityTest') })
  expect((await put(org, { createUsers: true, enabled: false })).body).not.toHaveProperty('testedAt')
  expect((await put(org, enable)).body.code).toBe('FAILED_PRECONDITION')
  // The settings that were tested count again, and what people sign in with besides is no part of the test.
  expect((await put(org, { createUsers: false, enabled: true })).status).toBe(200)
  expect((await put(org, { passkeys: false })).body).toMatchObject({ enabled: true, passkeys: false })
  await put(org, { enabled: false })
  site.harness.clock.advance(3_600_000)
  expect((await put(org, enable)).body.code).toBe('FAILED_PRECONDITION')

  site.provider.addAccount('viewer', { email: 'viewer@example.org' })
  await site.invite(org, 'viewer@example.org')
  expect(await site.test(org, 'viewer')).toContain('you would not sign in as an owner')
  expect((await put(org, enable)).body.code).toBe('FAILED_PRECONDITION')
  site.provider.addAccount('owner', { email: org.owner.email, emailVerified: false })
  expect(await site.test(org)).toContain('not verified')
  expect((await put(org, enable)).body.code).toBe('FAILED_PRECONDITION')

  site.provider.addAccount('owner', { email: org.owner.email })
  const users = (await org.call('GET', '/users')).text
  expect(await site.test(org)).toContain('The test has passed')
  expect((await org.call('GET', '/users')).text).toBe(users)
  expect((await org.audit())[0]).toMatchObject({
    type: 'IDENTITY_TESTED',
    details: { after: { step: 'finished', passed: true } },
  })
  expect((await put(org, enable)).body).toMatchObject({ enabled: true })
})

test('a test that was begun before a change of the settings does not count for the new ones', async () => {
  const org = await site.newOrg()
  await put(org, { enabled: false })
  const { body } = await org.call('POST', '/identity/test')
  await put(org, { createUsers: true })
  await expect(site.open(body.url, 'owner')).rejects.toThrow(/settings have changed/)
  expect((await put(org, enable)).body.code).toBe('FAILED_PRECONDITION')
})

test('another issuer or client id clears the client secret, the identities and their sessions', async () => {
  const org = await site.newOrg()
  site.provider.addAccount('ada')
  await site.invite(org, 'ada@example.org')
  const ada = await site.signIn(org, 'ada')
  const count = async (table: 'user_identities' | 'user_sessions') =>
    (await site.rows((rows) => rows.selectFrom(table).select('org').where('org', '=', org.org.key).execute())).length
  expect([await count('user_identities'), await count('user_sessions')]).toEqual([1, 2])
  expect((await put(org, { enabled: false, groupsClaim: 'roles' })).body.hasClientSecret).toBe(true)
  expect((await ada.me()).status).toBe(200)
  expect((await put(org, { clientId: 'other' })).body).toMatchObject({ clientId: 'other', hasClientSecret: false })
  expect((await ada.me()).status).toBe(401)
  // The session of the owner did not come from the provider.
  expect([await count('user_identities'), await count('user_sessions')]).toEqual([0, 1])
  expect((await put(org, { clientId: 'another', clientSecret: 'new' })).body.hasClientSecret).toBe(true)
})

test('after a change of provider, people who had a company account only are invited again, and sign in with the new one', async () => {
  const org = await site.newOrg()
  const add = async (role: Role, ...ways: ('oidc' | 'passkey')[]) => {
    const person = await newPerson(site.harness, org, { role })
    for (const way of ways) await newWayToSignIn(site.harness, org, person.id, way)
    return person
  }
  const stranded = await add('viewer', 'oidc')
  const disabled = await add('viewer', 'oidc')
  await org.call('PUT', `/users/${disabled.id}`, { body: { state: 'DISABLED' } })
  const withPasskey = await add('viewer', 'oidc', 'passkey')
  const byLink = await add('viewer')
  const owner = await add('owner', 'oidc')
  await newWayToSignIn(site.harness, org, org.owner.id, 'passkey')
  const user = (person: TestPerson) => org.call('GET', `/users/${person.id}`)
  const etags = async () => [await user(stranded), await user(withPasskey)].map(({ headers }) => headers.get('etag'))
  const before = await etags()
  const ofKey = await openSession(site.harness, { key: stranded.key })
  const [, { clientId, clientSecret }] = site.provider.clients
  site.provider.clients[1].redirectUris.push(site.callbackUrl(org))
  expect((await put(org, { enabled: false, clientId, clientSecret })).status).toBe(200)

  const affected = [{ type: 'user', id: stranded.id, name: stranded.email }]
  expect((await org.audit())[0]).toMatchObject({ type: 'IDENTITY_UPDATED', details: { affected } })
  for (const [person, state, signsInWith] of [
    [stranded, 'INVITED', []],
    [disabled, 'DISABLED', []],
    [withPasskey, 'ACTIVE', ['passkey']],
    [byLink, 'ACTIVE', []],
    [owner, 'ACTIVE', []],
  ] as const) {
    expect((await user(person)).body, person.email).toMatchObject({ state, signsInWith })
    const expected = state === 'ACTIVE' ? 200 : 401
    const headers = sessionHeaders(site.harness, person)
    expect((await org.call('GET', '/me', { key: false, headers })).status, person.email).toBe(expected)
    expect((await org.call('GET', '/me', { key: person.key })).status, person.email).toBe(expected)
  }
  for (const [i, etag] of (await etags()).entries()) expect(etag).not.toBe(before[i])
  const enabled = await org.call('PUT', `/users/${disabled.id}`, { body: { state: 'ACTIVE' } })
  expect(enabled.body.state).toBe('INVITED')

  expect(await site.test(org)).toContain('The test has passed')
  expect((await put(org, enable)).status).toBe(200)
  for (const [i, { email, key }] of [stranded, disabled].entries()) {
    site.provider.addAccount(`again-${i}`, { email })
    expect((await site.signIn(org, `again-${i}`)).status, email).toBe(303)
    expect((await org.call('GET', '/me', { key })).status, email).toBe(200)
  }
  expect((await readWith(org, ofKey.cookie)).status, 'the session of a personal key has ended').toBe(401)
  // People with another way in add the new account themselves.
  site.provider.addAccount('other-way', { email: withPasskey.email })
  expect((await site.signIn(org, 'other-way')).status).toBe(403)
})

test('after a change of provider, a person whom a group let in signs in again only after an invitation', async () => {
  const groupRoles = [{ group: 'europe', role: 'viewer', allRegions: true }]
  const org = await site.newOrg({ groupRoles, createUsers: true })
  site.provider.addAccount('gus', { groups: ['europe'] })
  const { id, email } = (await (await site.signIn(org, 'gus')).me()).body.user
  await newWayToSignIn(site.harness, org, org.owner.id, 'passkey')
  const [, { clientId, clientSecret }] = site.provider.clients
  site.provider.clients[1].redirectUris.push(site.callbackUrl(org))
  expect((await put(org, { enabled: false, clientId, clientSecret })).status).toBe(200)
  expect((await org.call('GET', `/users/${id}`)).body).toMatchObject({ state: 'INVITED', signsInWith: [] })
  expect(await site.test(org)).toContain('The test has passed')
  expect((await put(org, enable)).status).toBe(200)
  site.provider.addAccount('same-address', { email, groups: ['europe'] })
  expect((await site.signIn(org, 'same-address')).status).toBe(403)
  expect((await org.call('POST', `/users/${id}/invite`)).status).toBe(200)
  expect((await site.signIn(org, 'same-address')).status).toBe(303)
})

test('after a change of provider, a passkey is no way in while passkeys are turned off', async () => {
  const org = await site.newOrg({ passkeys: false })
  const person = await newPerson(site.harness, org, { role: 'viewer' })
  for (const way of ['oidc', 'passkey'] as const) await newWayToSignIn(site.harness, org, person.id, way)
  expect((await put(org, { enabled: false, clientId: 'other' })).status).toBe(200)
  expect((await org.call('GET', `/users/${person.id}`)).body.state).toBe('INVITED')
})

test('a caller that lacks a permission cannot choose who signs in, but can turn the provider off [contract 11.user]', async () => {
  const org = await site.newOrg()
  const key = await org.newKey({ scopes: ['write'], manage: true })
  const attempt = (body: object) => org.call('PUT', '/identity', { key, body })
  const before = (await get(org)).text
  for (const body of [
    { createUsers: true, enabled: false },
    { clientSecret: 'mine', enabled: false },
    { enabled: true },
    { passkeys: false },
    {},
  ]) {
    const refused = await attempt(body)
    expect(refused.status, JSON.stringify(body)).toBe(403)
    expect(refused.body.message).toContain('lacks the scope read, so it cannot grant it')
  }
  expect((await get(org)).text).toBe(before)
  expect((await attempt({ enabled: false })).body).toMatchObject({ enabled: false })
})

test('identityUpdate leaves an owner a way in where one has it', async () => {
  const org = await site.newOrg()
  const refuse = async (body: object, sentence: string) => {
    const before = [(await get(org)).text, (await org.audit()).length]
    const refused = await put(org, body)
    expect([refused.status, refused.body.code]).toEqual([400, 'FAILED_PRECONDITION'])
    expect(refused.body.message).toContain(sentence)
    expect([(await get(org)).text, (await org.audit()).length]).toEqual(before)
  }
  const [withoutPasskeys, removesAccounts] = ['no owner could sign in without passkeys', 'removes the company accounts']
  await newWayToSignIn(site.harness, org, org.owner.id, 'passkey')
  await refuse({ passkeys: false }, withoutPasskeys)
  // The first company account of an owner, beside their passkey.
  await newWayToSignIn(site.harness, org, org.owner.id, 'oidc')
  await refuse({ passkeys: false, enabled: false }, withoutPasskeys)
  await refuse({ passkeys: false, enabled: false, clientId: 'other' }, withoutPasskeys)
  expect((await put(org, { passkeys: false })).status).toBe(200)
  await refuse({ enabled: false, clientId: 'other' }, removesAccounts)
  expect((await put(org, { enabled: false })).status, 'it can be turned on again').toBe(200)
  await refuse({ issuer: 'https://other.example.org' }, removesAccounts)
  expect((await put(org, { passkeys: true, clientId: 'other' })).status).toBe(200)
  // Only a company account is left to lose.
  await newWayToSignIn(site.harness, org, org.owner.id, 'oidc')
  await site.rows((rows) => rows.deleteFrom('passkeys').where('org', '=', org.org.key).execute())
  await refuse({ clientId: 'another' }, removesAccounts)
})

test('without --public-url the provider is off, and the answer says why', async () => {
  // Several nodes need --public-url to start.
  const harness = await startHarness({}, { nodes: 1 })
  try {
    const org = await harness.newOrg()
    const { body } = await put(org, provider)
    expect(body.problem).toContain('--public-url')
    expect(body, 'passkeys work at localhost').not.toHaveProperty('passkeyProblem')
    expect(body).not.toHaveProperty('callbackUrl')
    expect((await put(org, enable)).body.message).toContain('--public-url')
    expect((await org.call('POST', '/identity/test')).body.message).toContain('--public-url')
    expect((await fetch(`${harness.url}/auth/${org.id}/oidc`)).status).toBe(404)
  } finally {
    await harness.close()
  }
})
