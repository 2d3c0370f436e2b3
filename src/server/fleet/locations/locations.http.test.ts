// Tests locations and their regions and rooms, through HTTP.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { newAtlas, readState } from '../../../../test/support/places/atlas.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())
const createAtlas = () => newAtlas(harness)
const oslo = { id: 1, name: 'Oslo', region: { id: 1, name: 'Europe' } }
const nowhere = { id: 2, name: 'Nowhere' }

test('locationsList gives each location with its region, and leaves out one that it does not have [interface 13] [contract 4.locationsList]', async () => {
  const { call } = await createAtlas()
  expect((await call('GET', '/locations')).body).toEqual({ locations: [oslo, nowhere] })
})

test('locationsCreate adds a location within an existing region [interface 11]', async () => {
  const { call, audit } = await createAtlas()
  const created = await call('POST', '/locations', { body: { name: 'Tokyo', regionId: 2 } })
  expect(created.body).toEqual({ id: 3, name: 'Tokyo', region: { id: 2, name: 'Asia' } })
  expect((await call('GET', '/locations')).body.locations).toEqual([oslo, nowhere, created.body])
  expect((await audit())[0]).toMatchObject({
    category: 'ORG',
    type: 'LOCATION_CREATED',
    target: { type: 'location', id: '3', name: 'Tokyo' },
    details: { after: { name: 'Tokyo', regionId: 2 } },
  })
})

test('locationsCreate takes 0 and null for no region [contract D.14]', async () => {
  const { call } = await createAtlas()
  expect((await call('POST', '/locations', { body: { name: 'a', regionId: 0 } })).body).toEqual({ id: 3, name: 'a' })
  expect((await call('POST', '/locations', { body: { name: 'b', regionId: null } })).body).toEqual({ id: 4, name: 'b' })
})

test('a region that does not exist here is a failed precondition, and nothing is done [contract 2.2]', async () => {
  const org = await createAtlas()
  const foreign = await createAtlas()
  expect((await foreign.call('POST', '/regions', { body: { name: 'Only there' } })).body.id).toBe(3)
  const before = await readState(org)
  for (const regionId of [3, 77, -1]) {
    for (const [method, path] of [
      ['POST', '/locations'],
      ['PUT', '/locations/1'],
    ] as const) {
      const refused = await org.call(method, path, { body: { name: 'Lost', regionId } })
      expect(refused.status).toBe(400)
      expect(refused.body.code).toBe('FAILED_PRECONDITION')
      expect(refused.body.message).toMatch(
        new RegExp(`^Operation preconditions not met: there is no region ${regionId}\\.`),
      )
    }
  }
  expect(await readState(org)).toEqual(before)
})

test('locationsUpdate keeps what the body does not name [interface 14] [contract 4.locationsUpdate]', async () => {
  const { call, audit } = await createAtlas()
  const renamed = await call('PUT', '/locations/1', { body: { name: 'Oslo HQ' } })
  expect(renamed.body).toEqual({ ...oslo, name: 'Oslo HQ' })
  const moved = await call('PUT', '/locations/1', { body: { regionId: 2 } })
  expect(moved.body).toEqual({ id: 1, name: 'Oslo HQ', region: { id: 2, name: 'Asia' } })
  expect(moved.headers.get('etag')).not.toBe(renamed.headers.get('etag'))
  expect((await call('GET', '/locations')).body.locations).toEqual([moved.body, nowhere])
  expect((await audit())[0]).toMatchObject({
    type: 'LOCATION_UPDATED',
    details: { before: { name: 'Oslo HQ', regionId: 1 }, after: { name: 'Oslo HQ', regionId: 2 } },
  })
})

test.each([0, null])(
  'locationsUpdate with regionId %s clears the region [contract 4.locationsUpdate]',
  async (none) => {
    const { call } = await createAtlas()
    expect((await call('PUT', '/locations/1', { body: { regionId: none } })).body).toEqual({ id: 1, name: 'Oslo' })
    expect((await call('GET', '/locations')).body.locations).toEqual([{ id: 1, name: 'Oslo' }, nowhere])
    expect((await call('GET', '/regions')).body.regions[0]).toEqual({ id: 1, name: 'Europe', locations: [] })
  },
)

test('locationsUpdate needs at least one key that it knows, of the right type [contract 4.locationsUpdate]', async () => {
  const org = await createAtlas()
  const before = await readState(org)
  for (const body of [{}, { nmae: 'x' }, { name: null }, { name: 7 }, { regionId: '1' }, { regionId: 1.5 }, []]) {
    const refused = await org.call('PUT', '/locations/1', { body })
    expect(refused.status, JSON.stringify(body)).toBe(400)
    expect(refused.body.code).toBe('INVALID_ARGUMENT')
  }
  expect(await readState(org)).toEqual(before)
})

test('a location that does not exist is a 404, also if the region does not exist either [contract 2.3]', async () => {
  const org = await createAtlas()
  const before = await readState(org)
  expect((await org.call('PUT', '/locations/9', { body: { name: 'x', regionId: 77 } })).status).toBe(404)
  expect((await org.call('DELETE', '/locations/9')).status).toBe(404)
  expect((await org.call('DELETE', '/locations/01')).body.violations).toMatchObject([{ field: 'id' }])
  expect(await readState(org)).toEqual(before)
})

test('a stale If-Match refuses the write, and nothing changes [contract 7.11]', async () => {
  const org = await createAtlas()
  const { headers } = await org.call('PUT', '/locations/1', { body: { name: 'Oslo HQ' } })
  const before = await readState(org)
  const stale = { 'if-match': '"1"' }
  expect((await org.call('PUT', '/locations/1', { body: { name: 'x' }, headers: stale })).status).toBe(412)
  expect((await org.call('DELETE', '/locations/1', { headers: stale })).status).toBe(412)
  expect(await readState(org)).toEqual(before)
  const current = { 'if-match': headers.get('etag') ?? '' }
  expect((await org.call('DELETE', '/locations/1', { headers: current })).status).toBe(200)
})

test('locationsDelete leaves its rooms without a location and the other rooms alone [interface 12] [contract 4.locationsDelete]', async () => {
  const { call, audit } = await createAtlas()
  await call('POST', '/rooms', { body: { name: 'Fjord', locationId: 1 } })
  await call('POST', '/rooms', { body: { name: 'Dune', locationId: 2 } })
  const [fjord, dune] = [await call('GET', '/rooms/1'), await call('GET', '/rooms/2')]
  const entries = (await audit()).length

  expect((await call('DELETE', '/locations/1')).body).toEqual({})

  const { location: _, ...withoutLocation } = fjord.body
  const after = await call('GET', '/rooms/1')
  expect(after.body).toEqual(withoutLocation)
  expect(after.headers.get('etag')).not.toBe(fjord.headers.get('etag'))
  expect((await call('GET', '/rooms/2')).text).toBe(dune.text)
  expect((await call('GET', '/rooms/2')).headers.get('etag')).toBe(dune.headers.get('etag'))
  expect((await call('GET', '/locations')).body).toEqual({ locations: [nowhere] })
  expect((await call('GET', '/regions')).body.regions).toMatchObject([{ name: 'Europe', locations: [] }, { id: 2 }])
  const log = await audit()
  expect(log).toHaveLength(entries + 1)
  expect(log[0]).toMatchObject({
    type: 'LOCATION_DELETED',
    target: { type: 'location', id: '1', name: 'Oslo' },
    details: { before: { name: 'Oslo', regionId: 1 }, affected: [{ type: 'room', id: '1', name: 'Fjord' }] },
  })
  expect((await call('DELETE', '/locations/1')).status).toBe(404)
  expect((await call('POST', '/locations', { body: { name: 'New' } })).body.id, 'no id is reused').toBe(3)
})

test('renaming a region changes the version of its locations, which show the name [contract D.9]', async () => {
  const { call } = await createAtlas()
  const { headers } = await call('PUT', '/locations/1', { body: { name: 'Oslo' } })
  const old = { 'if-match': headers.get('etag') ?? '' }
  await call('PUT', '/regions/1', { body: { name: 'EMEA' } })
  expect((await call('DELETE', '/locations/1', { headers: old })).status).toBe(412)
  expect((await call('GET', '/locations')).body.locations[0]).toEqual({ ...oslo, region: { id: 1, name: 'EMEA' } })
})

test.each([
  ['creating', 'POST', '/locations', { name: 'Bergen', regionId: 1 }],
  ['renaming', 'PUT', '/locations/1', { name: 'Oslo HQ' }],
  ['moving away', 'PUT', '/locations/1', { regionId: 2 }],
  ['deleting', 'DELETE', '/locations/1', undefined],
])('%s a location changes the version of its region, which lists it [contract D.9]', async (_, method, path, body) => {
  const { call } = await createAtlas()
  const { headers } = await call('PUT', '/regions/1', { body: { name: 'Europe' } })
  const old = { 'if-match': headers.get('etag') ?? '' }
  await call(method, path, { body })
  expect((await call('PUT', '/regions/1', { body: { name: 'x' }, headers: old })).status).toBe(412)
  expect((await call('GET', '/regions')).body.regions[0].name).toBe('Europe')
})
