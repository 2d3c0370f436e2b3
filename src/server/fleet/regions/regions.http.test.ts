// Tests regions, through HTTP.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

test('regionsList returns all regions and the locations assigned to them [interface 16]', async () => {
  const { call } = await harness.newOrg()
  const europe = (await call('POST', '/regions', { body: { name: 'Europe' } })).body
  const asia = (await call('POST', '/regions', { body: { name: 'Asia' } })).body
  const oslo = (await call('POST', '/locations', { body: { name: 'Oslo', regionId: europe.id } })).body
  const bergen = (await call('POST', '/locations', { body: { name: 'Bergen', regionId: europe.id } })).body
  await call('POST', '/locations', { body: { name: 'Nowhere' } })
  expect((await call('GET', '/regions')).body).toEqual({
    regions: [
      {
        id: europe.id,
        name: 'Europe',
        locations: [
          { id: oslo.id, name: 'Oslo' },
          { id: bergen.id, name: 'Bergen' },
        ],
      },
      { id: asia.id, name: 'Asia', locations: [] },
    ],
  })
})

test('region ids start at 1 in every organisation and are not reused [contract 1.5] [contract D.5]', async () => {
  const { call } = await harness.newOrg()
  expect((await call('POST', '/regions', { body: { name: 'a' } })).body.id).toBe(1)
  expect((await call('POST', '/regions', { body: { name: 'b' } })).body.id).toBe(2)
  await call('DELETE', '/regions/2')
  expect((await call('POST', '/regions', { body: { name: 'c' } })).body.id).toBe(3)
})

test('regionsUpdate changes the name of that region only [interface 17]', async () => {
  const { call, audit } = await harness.newOrg()
  await call('POST', '/regions', { body: { name: 'Europe' } })
  await call('POST', '/regions', { body: { name: 'Asia' } })
  await call('POST', '/locations', { body: { name: 'Oslo', regionId: 1 } })
  const updated = await call('PUT', '/regions/1', { body: { name: 'EMEA' } })
  expect(updated.body).toEqual({ id: 1, name: 'EMEA', locations: [{ id: 1, name: 'Oslo' }] })
  expect((await call('GET', '/regions')).body.regions.map((r: { name: string }) => r.name)).toEqual(['EMEA', 'Asia'])
  const [entry] = await audit()
  expect(entry).toMatchObject({
    type: 'REGION_UPDATED',
    target: { type: 'region', id: '1', name: 'EMEA' },
    details: { before: { name: 'Europe' }, after: { name: 'EMEA' } },
  })
})

test('regionsDelete fails while a location is assigned, and nothing changes [interface 15]', async () => {
  const { call, audit } = await harness.newOrg()
  await call('POST', '/regions', { body: { name: 'Europe' } })
  await call('POST', '/locations', { body: { name: 'Oslo', regionId: 1 } })
  const before = await audit()
  const refused = await call('DELETE', '/regions/1')
  expect(refused.status).toBe(400)
  expect(refused.body).toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: 'Operation preconditions not met: region 1 still has locations. Move or delete them first.',
  })
  expect(await audit()).toEqual(before)
  expect((await call('GET', '/regions')).body.regions).toHaveLength(1)

  await call('PUT', '/locations/1', { body: { regionId: null } })
  expect((await call('DELETE', '/regions/1')).body).toEqual({})
  expect((await call('GET', '/regions')).body.regions).toEqual([])
  expect((await call('DELETE', '/regions/1')).status).toBe(404)
})

test('deleting a region removes it from its users, and the audit entry names them [contract D.3]', async () => {
  const { call, audit } = await harness.newOrg()
  await call('POST', '/regions', { body: { name: 'Europe' } })
  const user = (await call('POST', '/users', { body: { email: 'a@example.org', role: 'admin', regionIds: [1] } })).body
  const etag = (await call('GET', `/users/${user.id}`)).headers.get('etag')
  expect((await call('DELETE', '/regions/1')).status).toBe(200)
  const after = await call('GET', `/users/${user.id}`)
  expect(after.body.regionIds).toEqual([])
  expect(after.headers.get('etag')).not.toBe(etag)
  expect((await audit())[0].details.affected).toEqual([{ type: 'user', id: user.id, name: 'a@example.org' }])
})
