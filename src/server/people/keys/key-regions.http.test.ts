// Tests API keys that are limited to regions, and the scope operate, through HTTP.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** Creates the regions 1 to 3. */
async function newOrg(): Promise<TestOrg> {
  const org = await harness.newOrg()
  for (const name of ['Europe', 'Asia', 'Africa']) await org.call('POST', '/regions', { body: { name } })
  return org
}
const create = ({ call }: TestOrg, body: object, key?: string) =>
  call('POST', '/keys', { body: { name: 'Wall display', scopes: ['read'], ...body }, ...(key && { key }) })
const keysOf = async ({ call }: TestOrg) => (await call('GET', '/keys')).body.keys
const stateOf = async (org: TestOrg) => [
  (await keysOf(org)).map(({ lastUsedAt: _, ...key }: Record<string, unknown>) => key),
  await org.audit(),
]
const me = async ({ call }: TestOrg, key: string) => (await call('GET', '/me', { key })).body

test('keysCreate limits a key to regions, once each and in order [contract 3.3]', async () => {
  const org = await newOrg()
  const { key, ...created } = (await create(org, { regionIds: [3, 1, 3] })).body
  expect(created).toMatchObject({ id: '2', regionIds: [1, 3], manage: false })
  expect((await keysOf(org))[1]).toEqual(created)
  expect((await keysOf(org))[0], 'a key of all regions has no list').not.toHaveProperty('regionIds')
  expect(await me(org, key)).toMatchObject({ actor: { type: 'KEY', id: '2' }, allRegions: false, regionIds: [1, 3] })
  expect((await org.audit())[0]).toMatchObject({ type: 'API_KEY_CREATED', details: { after: { regionIds: [1, 3] } } })
  await org.call('DELETE', '/keys/2')
  expect((await org.audit())[0]).toMatchObject({ type: 'API_KEY_REVOKED', details: { before: { regionIds: [1, 3] } } })
})

test.each([
  ['an empty list', { regionIds: [] }, 'regionIds'],
  ['an unknown region', { regionIds: [1, 77] }, 'regionIds[1]'],
  ['a region together with manage', { regionIds: [1], scopes: ['read', 'write'], manage: true }, 'regionIds'],
  ['null', { regionIds: null }, 'regionIds'],
  ['more than 1000', { regionIds: Array.from({ length: 1001 }, () => 1) }, 'regionIds'],
])('%s is a 400 that names the field, and no key is made [contract 3.5] [contract 6.keys]', async (_, body, field) => {
  const org = await newOrg()
  const before = await stateOf(org)
  const refused = await create(org, body)
  expect(refused.status).toBe(400)
  expect(refused.body).toMatchObject({ code: 'INVALID_ARGUMENT', violations: [{ field }] })
  expect(await stateOf(org)).toEqual(before)
})

test('the scope operate is enough to operate, and neither reads nor changes [contract 3.3]', async () => {
  const org = await newOrg()
  const room = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const { key, scopes } = (await create(org, { scopes: ['operate'] })).body
  expect(scopes).toEqual(['operate'])
  const note = { body: { note: 'The cable is on order.' }, key }
  expect((await org.call('POST', `/rooms/${room}/notes`, note)).status).toBe(200)
  expect((await org.call('GET', '/rooms', { key })).status).toBe(403)
  const refused = await org.call('POST', '/rooms', { body: { name: 'Skog' }, key })
  expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining('lacks the scope write')])
  const writer = (await create(org, { scopes: ['write'] })).body.key
  expect((await org.call('POST', `/rooms/${room}/notes`, { ...note, key: writer })).status, 'Write contains it').toBe(
    200,
  )
})

test('Write contains operate: it is granted with it, and not listed beside it [contract 3.3] [contract 3.6]', async () => {
  const org = await newOrg()
  const writer = await org.newKey({ scopes: ['write'], manage: true })
  expect((await create(org, { scopes: ['operate'] }, writer)).body.scopes).toEqual(['operate'])
  expect((await create(org, { scopes: ['operate', 'write'] }, writer)).body.scopes).toEqual(['write'])
  expect((await create(org, { scopes: ['read', 'operate'] }, writer)).status).toBe(403)
})

test('deleting a region takes it from keys, which then see nothing, and lists them as affected [contract D.3]', async () => {
  const org = await newOrg()
  const { key, id } = (await create(org, { regionIds: [2] })).body
  await org.call('POST', '/users', { body: { email: 'ada@example.org', role: 'admin', regionIds: [2] } })
  expect((await me(org, key)).regionIds).toEqual([2])
  expect((await org.call('DELETE', '/regions/2')).body).toEqual({})
  expect(await me(org, key)).toMatchObject({ allRegions: false, regionIds: [] })
  expect((await keysOf(org))[1].regionIds).toEqual([])
  expect((await org.audit())[0]).toMatchObject({
    type: 'REGION_DELETED',
    details: {
      affected: [
        { type: 'user', id: '1', name: 'ada@example.org' },
        { type: 'key', id, name: 'Wall display' },
      ],
    },
  })
  expect((await org.call('DELETE', `/keys/${id}`, { headers: { 'if-match': '"1"' } })).status).toBe(412)
  expect((await org.call('DELETE', `/keys/${id}`, { headers: { 'if-match': '"2"' } })).status).toBe(200)
})

test('/metrics refuses a key that is limited to regions [contract 3.3] [contract D.10]', async () => {
  const org = await newOrg()
  const { key } = (await create(org, { regionIds: [1] })).body
  // A request that came through a proxy does not count as local.
  const headers = { 'x-forwarded-for': '192.0.2.1' }
  const refused = await harness.call('GET', '/metrics', { key, headers })
  expect(refused.status).toBe(403)
  expect(refused.body.message).toContain('lacks access to all regions')
  expect((await harness.call('GET', '/metrics', { key: org.key, headers })).status).toBe(200)
})
