// Tests API keys, through HTTP.

import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, newPlace, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { hourMs } from '../../../contract/durations.ts'

const start = Date.UTC(2026, 2, 2, 9, 15)

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(start)
})
afterAll(() => harness.close())

const rowsOf = ({ org }: TestOrg) =>
  harness.services.db.system.kysely
    .selectFrom('api_keys')
    .selectAll()
    .where('org', '=', org.key)
    .orderBy('id')
    .execute()
const hashesOf = ({ org }: TestOrg) =>
  harness.services.db.system.kysely
    .selectFrom('key_directory')
    .selectAll()
    .where('org', '=', org.key)
    .orderBy('key_id')
    .execute()
/** last_used_at is written in the background, so comparisons leave it out. */
const stateOf = async (org: TestOrg) => [
  (await rowsOf(org)).map(({ last_used_at: _, ...row }) => row),
  await hashesOf(org),
  await org.audit(),
]
const create = ({ call }: TestOrg, body: object, key?: string) =>
  call('POST', '/keys', { body: { name: 'Wall display', scopes: ['read'], ...body }, ...(key && { key }) })
const works = async ({ call }: TestOrg, key: string) => (await call('GET', '/regions', { key })).status
const isoIn = (ms: number) => new Date(harness.clock.now() + ms).toISOString()

test('keysCreate shows the key once; later its prefix and six characters more [contract 3.2] [contract 6.keys]', async () => {
  const org = await harness.newOrg()
  const expiresAt = isoIn(hourMs)
  const { key, ...created } = (await create(org, { scopes: ['write', 'read'], expiresAt })).body
  expect(key).toMatch(/^rk_[0-9A-Za-z]{40}$/)
  expect(created).toEqual({
    id: '2',
    name: 'Wall display',
    prefix: key.slice(0, 9),
    scopes: ['read', 'write'],
    manage: false,
    createdAt: new Date(harness.clock.now()).toISOString(),
    expiresAt,
  })
  const list = await org.call('GET', '/keys')
  expect(list.body.keys[1]).toEqual(created)
  expect(list.text).not.toContain(key.slice(9))
  const log = await org.audit()
  expect(log[0]).toMatchObject({ category: 'USER', type: 'API_KEY_CREATED', target: { type: 'key', id: '2' } })
  expect(JSON.stringify([log, harness.logged])).not.toContain(key.slice(9))
})

test('the database holds a hash of the key and nothing else of it [contract 3.2]', async () => {
  const org = await harness.newOrg()
  const { key } = (await create(org, {})).body
  const hash = (await hashesOf(org)).find((row) => row.key_id === 2)?.hash
  expect(hash).toEqual(createHash('sha256').update(key).digest())
  expect(JSON.stringify([await rowsOf(org), await hashesOf(org)])).not.toContain(key.slice(9))
})

test('a key has the scopes that it was given, and Write does not include Read [contract 3.3]', async () => {
  const org = await harness.newOrg()
  const body = { name: 'Europe' }
  const reader = (await create(org, { scopes: ['read'], rateLimit: 1 })).body.key
  const writer = (await create(org, { scopes: ['write'], manage: false, expiresAt: null })).body.key
  const regions = (method: string, key: string) =>
    org.call(method, '/regions', { key, ...(method === 'POST' && { body }) })
  expect((await regions('GET', reader)).status).toBe(200)
  expect((await regions('POST', reader)).status).toBe(403)
  expect((await regions('GET', writer)).status).toBe(403)
  expect((await regions('POST', writer)).status).toBe(200)
  expect((await rowsOf(org))[1]?.rate_limit, 'only the command line gives a limit').toBeNull()
})

test('a key cannot give what it does not have, and nothing is made [contract 3.6]', async () => {
  const org = await harness.newOrg()
  const writer = await org.newKey({ scopes: ['write'], manage: true })
  const before = await stateOf(org)
  for (const scopes of [['read'], ['read', 'write']]) {
    const refused = await create(org, { scopes }, writer)
    expect(refused.status).toBe(403)
    expect(refused.body).toMatchObject({ code: 'PERMISSION_DENIED', message: expect.stringContaining('read') })
    expect(refused.headers.get('www-authenticate')).toContain('error="insufficient_scope"')
  }
  expect(await stateOf(org)).toEqual(before)
  const given = (await create(org, { scopes: ['write'], manage: true }, writer)).body
  expect(given).toMatchObject({ scopes: ['write'], manage: true })
})

test.each([
  [['read', 'write'], false, 'manage'],
  [['read'], true, 'write'],
  [['read'], false, 'write'],
] as const)(
  'a key with %j and manage %s cannot touch keys: it lacks %s [contract 6.keys] [contract D.13]',
  async (scopes, manage, lacking) => {
    const org = await harness.newOrg()
    const key = await org.newKey({ scopes, manage })
    const before = await stateOf(org)
    for (const refused of [
      await org.call('GET', '/keys', { key }),
      await create(org, { scopes: ['read'] }, key),
      await org.call('DELETE', '/keys/1', { key }),
    ]) {
      expect(refused.status).toBe(403)
      expect(refused.body).toMatchObject({ code: 'PERMISSION_DENIED', message: expect.stringContaining(lacking) })
      expect(refused.headers.get('www-authenticate')).toMatch(new RegExp(`error="insufficient_scope".*${lacking}`))
    }
    expect(await stateOf(org)).toEqual(before)
  },
)

test('a key with Write and manage manages keys, also without Read [contract 6.keys]', async () => {
  const org = await harness.newOrg()
  const key = await org.newKey({ scopes: ['write'], manage: true })
  expect((await org.call('GET', '/keys', { key })).body.keys).toHaveLength(2)
  const { id } = (await create(org, { scopes: ['write'] }, key)).body
  expect((await org.call('DELETE', `/keys/${id}`, { key })).body).toEqual({})
})

test.each([
  ['name', { name: '' }],
  ['name', { name: 'x'.repeat(101) }],
  ['name', { name: undefined }],
  ['scopes', { scopes: undefined }],
  ['scopes', { scopes: [] }],
  ['scopes[0]', { scopes: ['manage'] }],
  ['scopes[0]', { scopes: ['Read'] }],
  ['manage', { manage: 'yes' }],
  ['expiresAt', { expiresAt: 'tomorrow' }],
  ['expiresAt', { expiresAt: '2020-01-01T00:00:00Z' }],
  ['expiresAt', { expiresAt: '2030-02-30T00:00:00Z' }],
  ['expiresAt', { expiresAt: 1893456000000 }],
])('a wrong %s in %j is refused by name, and no key is made [contract 6.keys]', async (field, wrong) => {
  const org = await harness.newOrg()
  const before = await stateOf(org)
  const refused = await create(org, wrong)
  expect(refused.status).toBe(400)
  expect(refused.body).toMatchObject({ code: 'INVALID_ARGUMENT', violations: [{ field }] })
  expect(await stateOf(org)).toEqual(before)
})

test('a key works until the moment of its expiry, and stays in the list [contract 3.3] [contract 2.2]', async () => {
  const org = await harness.newOrg()
  expect((await create(org, { expiresAt: isoIn(0) })).status, 'now is not the future').toBe(400)
  const { key, expiresAt } = (await create(org, { expiresAt: isoIn(hourMs).replace('Z', '+00:00') })).body
  expect(expiresAt).toBe(isoIn(hourMs))
  harness.clock.advance(hourMs - 1)
  expect(await works(org, key)).toBe(200)
  harness.clock.advance(1)
  const refused = await org.call('GET', '/regions', { key })
  expect(refused.status).toBe(401)
  expect(refused.body.code).toBe('UNAUTHENTICATED')
  expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"')
  expect((await org.call('GET', '/keys')).body.keys).toHaveLength(2)
  expect(await works(org, org.key)).toBe(200)
})

test('a revoked key stops at once, and no other does [contract 3.10] [contract 6.keys]', async () => {
  const org = await harness.newOrg()
  const { key, id, prefix, name, scopes } = (await create(org, {})).body
  const other = (await create(org, {})).body.key
  expect([await works(org, key), await works(org, other)]).toEqual([200, 200])
  expect((await org.call('DELETE', `/keys/${id}`, { headers: { 'if-match': '"2"' } })).status).toBe(412)
  expect(await works(org, key)).toBe(200)
  const hashes = await hashesOf(org)

  expect((await org.call('DELETE', `/keys/${id}`, { headers: { 'if-match': '"1"' } })).body).toEqual({})

  expect([await works(org, key), await works(org, other), await works(org, org.key)]).toEqual([401, 200, 200])
  expect(await hashesOf(org)).toEqual(hashes.filter((row) => String(row.key_id) !== id))
  expect((await org.audit())[0]).toMatchObject({
    type: 'API_KEY_REVOKED',
    target: { id },
    details: { before: { name, prefix, scopes, manage: false } },
  })
  expect((await org.call('DELETE', `/keys/${id}`)).status).toBe(404)
  expect((await create(org, {})).body.id, 'no id comes back').toBe('4')
})

test('an id that does not exist here is a 404, whatever its form [contract D.4]', async () => {
  const org = await harness.newOrg()
  const foreign = await harness.newOrg()
  await create(foreign, {})
  const before = [await stateOf(org), await stateOf(foreign)]
  for (const id of ['2', '01', '1.0', 'abc', '2147483648', '-1', org.key]) {
    expect((await org.call('DELETE', `/keys/${id}`)).status, id).toBe(404)
  }
  expect([await stateOf(org), await stateOf(foreign)]).toEqual(before)
})

test('the last key with manage cannot be revoked [contract 3.7]', async () => {
  const org = await harness.newOrg()
  await create(org, { scopes: ['read', 'write'] })
  const before = await stateOf(org)
  const refused = await org.call('DELETE', '/keys/1')
  expect(refused.status).toBe(400)
  expect(refused.body.code).toBe('FAILED_PRECONDITION')
  expect(refused.body.message).toMatch(/^Operation preconditions not met: /)
  expect(await stateOf(org)).toEqual(before)
  expect(await works(org, org.key)).toBe(200)

  const heir = (await create(org, { scopes: ['read', 'write'], manage: true })).body.key
  expect((await org.call('DELETE', '/keys/1')).body, 'a key may revoke itself').toEqual({})
  expect([await works(org, org.key), await works(org, heir)]).toEqual([401, 200])
})

test('an expired key with manage does not count as one [contract 3.7]', async () => {
  const org = await harness.newOrg()
  await create(org, { scopes: ['read', 'write'], manage: true, expiresAt: isoIn(hourMs) })
  harness.clock.advance(hourMs)
  const before = await stateOf(org)
  expect((await org.call('DELETE', '/keys/1')).body.code).toBe('FAILED_PRECONDITION')
  expect(await stateOf(org)).toEqual(before)
  expect((await org.call('DELETE', '/keys/2')).body, 'the expired one itself can go').toEqual({})
})

test('a key with manage but without Write does not stand in for one that has both [contract D.20]', async () => {
  const org = await harness.newOrg()
  await create(org, { scopes: ['read'], manage: true })
  const before = await stateOf(org)
  expect((await org.call('DELETE', '/keys/1')).body.code).toBe('FAILED_PRECONDITION')
  expect(await stateOf(org)).toEqual(before)
  expect((await org.call('DELETE', '/keys/2')).body).toEqual({})
})

test('two keys with manage that are revoked at once: one stays [contract 3.7]', async () => {
  const org = await harness.newOrg()
  await create(org, { scopes: ['read', 'write'], manage: true })
  const replies = await Promise.all(['/keys/1', '/keys/2'].map((path) => org.call('DELETE', path)))
  expect(replies.filter((r) => r.status === 200)).toHaveLength(1)
  expect((await rowsOf(org)).filter((row) => row.manage === 1)).toHaveLength(1)
})

test('the last-used time is written in a batch, at the latest when the service stops, and not audited [contract 3.4]', async () => {
  const { place, remove } = await newPlace()
  const first = await startHarness(place)
  first.clock.fix(start)
  const org = await first.newOrg()
  await create(org, { name: 'Never used' })
  const log = await org.audit()
  await first.close()

  const second = await startHarness(place)
  const get = async (path: string) => (await second.call('GET', `/v1/orgs/${org.id}${path}`, { key: org.key })).body
  const { keys } = await get('/keys')
  const { logs } = await get('/audit/logs?from=1970-01-01&to=9999-01-01')
  await second.close()
  await remove()
  expect(keys).toMatchObject([{ id: '1', lastUsedAt: '2026-03-02T09:15:00.000Z' }, { name: 'Never used' }])
  expect(keys[1]).not.toHaveProperty('lastUsedAt')
  expect(logs).toEqual(log)
})
