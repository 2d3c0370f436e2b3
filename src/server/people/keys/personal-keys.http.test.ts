// Tests the personal API keys of people, and what callers learn about themselves, through HTTP.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { newPerson, sessionHeaders, type TestPerson } from '../../../../test/support/person.ts'
import { dayMs } from '../../../contract/durations.ts'
import { updateSignedIn } from '../users/store.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const inDays = (days: number) => new Date(harness.clock.now() + days * dayMs).toISOString()
/** As the browser of the person. */
const asPerson = ({ call }: TestOrg, person: TestPerson, method: string, path: string, body?: object) =>
  call(method, path, { key: false, headers: sessionHeaders(harness, person), ...(body && { body }) })
const create = (org: TestOrg, person: TestPerson, body: object = {}) =>
  asPerson(org, person, 'POST', '/me/keys', { name: 'Laptop', scopes: ['read'], expiresAt: inDays(30), ...body })
const ownKeys = async (org: TestOrg, person: TestPerson) =>
  (await asPerson(org, person, 'GET', '/me/keys')).body.keys as { id: string }[]

test('meGet says who a key is, and what it may do [contract 11.user]', async () => {
  const org = await harness.newOrg('Example')
  const reader = await org.newKey({ name: 'Display', scopes: ['read'] })
  expect((await org.call('GET', '/me', { key: reader })).body).toEqual({
    actor: { type: 'KEY', id: '2', name: 'Display' },
    scopes: ['read'],
    manage: false,
    allRegions: true,
    regionIds: [],
    org: { id: org.id, name: 'Example', timezone: 'UTC' },
  })
})

test('meGet says who a person is, by session and by personal key [contract 11.user]', async () => {
  const org = await harness.newOrg('Example')
  const region = (await org.call('POST', '/regions', { body: { name: 'Europe' } })).body.id
  const person = await newPerson(harness, org, { role: 'admin', regionIds: [region] })
  const expected = {
    actor: { type: 'USER', id: person.id, name: person.email },
    role: 'admin',
    scopes: ['read', 'write'],
    manage: false,
    allRegions: false,
    regionIds: [region],
    org: { id: org.id, name: 'Example', timezone: 'UTC' },
  }
  expect((await asPerson(org, person, 'GET', '/me')).body).toEqual(expected)
  expect((await org.call('GET', '/me', { key: person.key })).body).toEqual(expected)
})

test('meUpdate changes the own name of a person and nothing else; a key has none [contract 11.user]', async () => {
  const org = await harness.newOrg()
  const person = await newPerson(harness, org, { role: 'viewer', allRegions: true })
  const user = async () => (await org.call('GET', `/users/${person.id}`)).body
  const before = await user()
  const named = await asPerson(org, person, 'PUT', '/me', { name: 'Ada Lovelace' })
  expect(named.body).toEqual({ name: 'Ada Lovelace' })
  expect(await user()).toEqual({ ...before, name: 'Ada Lovelace' })
  const [entry] = await org.audit()
  expect(entry).toMatchObject({
    type: 'USER_UPDATED',
    actor: { type: 'USER', id: person.id },
    target: { type: 'user', id: person.id },
    details: { after: { name: 'Ada Lovelace' } },
  })
  for (const body of [{ name: '' }, { name: 'x'.repeat(101) }, {}]) {
    expect((await asPerson(org, person, 'PUT', '/me', body)).status, JSON.stringify(body)).toBe(400)
  }
  for (const key of [person.key, org.key]) {
    expect((await org.call('PUT', '/me', { key, body: { name: 'Eve' } })).status).toBe(403)
  }
  expect((await user()).name).toBe('Ada Lovelace')
  expect((await asPerson(org, person, 'PUT', '/me', { name: null })).body).toEqual({})
  expect(await user()).not.toHaveProperty('name')
})

test('a person makes a personal key, which acts as that person and may no more [contract 11.local]', async () => {
  const org = await harness.newOrg()
  const person = await newPerson(harness, org, { role: 'operator', allRegions: true })
  const { key, ...created } = (await create(org, person, { scopes: ['operate', 'read'] })).body
  expect(created).toMatchObject({ name: 'Laptop', scopes: ['read', 'operate'], manage: false, userId: person.id })
  expect(await ownKeys(org, person)).toContainEqual(created)
  const [entry] = await org.audit()
  expect(entry).toMatchObject({
    type: 'API_KEY_CREATED',
    actor: { type: 'USER', id: person.id, name: person.email },
    target: { type: 'key', id: created.id },
    details: { after: { userId: person.id, scopes: ['read', 'operate'] } },
  })
  expect(JSON.stringify(entry)).not.toContain(key.slice(9))
  expect((await org.call('GET', '/me', { key })).body).toMatchObject({ role: 'operator', scopes: ['read', 'operate'] })
  const managed = (await org.call('GET', '/keys')).body.keys
  expect(managed, 'owners see personal keys').toContainEqual(created)

  await org.call('PUT', `/users/${person.id}`, { body: { role: 'viewer' } })
  expect((await org.call('GET', '/me', { key })).body, 'less than it was given').toMatchObject({ scopes: ['read'] })
  await org.call('PUT', `/users/${person.id}`, { body: { role: 'owner' } })
  expect((await org.call('GET', '/me', { key })).body, 'no more than it was given').toMatchObject({
    scopes: ['read', 'operate'],
    manage: false,
  })
})

test('a person cannot give a personal key what they lack: the 403 names role and scope [contract 11.user]', async () => {
  const org = await harness.newOrg()
  const person = await newPerson(harness, org, { role: 'viewer', allRegions: true })
  const before = [await ownKeys(org, person), await org.audit()]
  for (const scope of ['operate', 'write']) {
    const refused = await create(org, person, { scopes: ['read', scope] })
    expect(refused.status).toBe(403)
    expect(refused.body.message).toMatch(
      /^Your role viewer lacks the scope operate or write|^Your role viewer lacks the scope write/,
    )
  }
  const reader = (await create(org, await newPerson(harness, org, { role: 'admin' }))).body.key
  const body = { name: 'More', scopes: ['write'], expiresAt: inDays(1) }
  expect((await org.call('POST', '/me/keys', { key: reader, body })).status, 'a key with Read gives Read').toBe(403)
  expect([await ownKeys(org, person), (await org.audit()).slice(2)]).toEqual(before)
})

test.each([
  ['no expiry', { expiresAt: undefined }, 'expiresAt'],
  ['null', { expiresAt: null }, 'expiresAt'],
  ['the past', { expiresAt: '2020-01-01' }, 'expiresAt'],
  ['no scope', { scopes: [] }, 'scopes'],
  ['no name', { name: ' ' }, 'name'],
])('a personal key with %s is refused by name [contract 11.local]', async (_, wrong, field) => {
  const org = await harness.newOrg()
  const person = await newPerson(harness, org, { role: 'owner' })
  expect((await create(org, person, wrong)).body).toMatchObject({ violations: [{ field }] })
  expect(await ownKeys(org, person)).toHaveLength(1)
})

test('a personal key lasts 365 days at most [contract 11.local]', async () => {
  const org = await harness.newOrg()
  const person = await newPerson(harness, org, { role: 'owner' })
  harness.clock.fix(harness.clock.now())
  expect((await create(org, person, { expiresAt: inDays(365) })).status).toBe(200)
  const beyond = new Date(harness.clock.now() + 365 * dayMs + 1).toISOString()
  expect((await create(org, person, { expiresAt: beyond })).body.violations).toEqual([
    { field: 'expiresAt', error: 'must be within 365 days' },
  ])
})

test('a person has 10 keys at most, also when several are made at once [contract 11.local]', async () => {
  const org = await harness.newOrg()
  const person = await newPerson(harness, org, { role: 'viewer' })
  const other = await newPerson(harness, org, { role: 'viewer' })
  const replies = await Promise.all(Array.from({ length: 11 }, () => create(org, person)))
  expect(replies.filter((r) => r.status === 200)).toHaveLength(9)
  const refused = replies.find((r) => r.status !== 200)
  expect(refused?.body).toMatchObject({ code: 'FAILED_PRECONDITION', message: expect.stringContaining('Revoke one') })
  expect(await ownKeys(org, person)).toHaveLength(10)
  expect((await create(org, other)).status).toBe(200)
  await asPerson(org, person, 'DELETE', `/me/keys/${person.keyId}`)
  expect((await create(org, person)).status).toBe(200)
})

test('myKeysDelete revokes own keys only: any other is a 404 [contract 11.local]', async () => {
  const org = await harness.newOrg()
  const person = await newPerson(harness, org, { role: 'owner' })
  const other = await newPerson(harness, org, { role: 'owner' })
  const before = [await ownKeys(org, other), await org.audit()]
  for (const id of [other.keyId, '1', '77', '01', 'x'])
    expect((await asPerson(org, person, 'DELETE', `/me/keys/${id}`)).status, id).toBe(404)
  expect([await ownKeys(org, other), await org.audit()]).toEqual(before)
  expect((await asPerson(org, person, 'DELETE', `/me/keys/${person.keyId}`)).body).toEqual({})
  expect((await org.call('GET', '/me', { key: person.key })).status).toBe(401)
  expect((await org.audit())[0]).toMatchObject({ type: 'API_KEY_REVOKED', actor: { type: 'USER', id: person.id } })
  expect((await org.call('DELETE', `/keys/${other.keyId}`)).status, 'owners revoke any key').toBe(200)
})

test('a key that is not personal has no personal keys: 403 [contract 11.local]', async () => {
  const org = await harness.newOrg()
  for (const method of ['GET', 'POST'])
    expect((await org.call(method, '/me/keys', method === 'POST' ? { body: {} } : {})).status).toBe(403)
})

test('after 30 days without a sign-in a personal key is refused with the reason, until the next one [contract 11.oidc]', async () => {
  const org = await harness.newOrg()
  harness.clock.fix(harness.clock.now())
  const person = await newPerson(harness, org, { role: 'viewer', allRegions: true })
  const { key } = (await create(org, person, { expiresAt: inDays(60) })).body
  const read = () => org.call('GET', '/me', { key })
  harness.clock.advance(30 * dayMs - 1)
  expect((await read()).status).toBe(200)
  harness.clock.advance(1)
  const refused = await read()
  expect(refused.status).toBe(401)
  expect(refused.body.message).toContain('has not signed in for 30 days. It works again when that user has signed in')
  expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"')
  await harness.services.db.systemTransaction((tx) =>
    updateSignedIn(tx.forOrg(org.org.key), { user: Number(person.id), at: harness.clock.now() }),
  )
  harness.services.keysChanged()
  expect((await read()).status).toBe(200)
  harness.clock.advance(30 * dayMs)
  expect((await read()).body.message, 'an expired key is just expired').toContain('expired')
})

test('the last key that manages is one that is not personal [contract 3.7]', async () => {
  const org = await harness.newOrg()
  // The key of this person is stored with manage, which no personal key gets from the API.
  const person = await newPerson(harness, org, { role: 'owner' })
  expect((await org.call('DELETE', '/keys/1')).body.code).toBe('FAILED_PRECONDITION')
  expect((await org.call('DELETE', `/keys/${person.keyId}`)).status).toBe(200)
})
