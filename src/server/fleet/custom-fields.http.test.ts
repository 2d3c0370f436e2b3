// External ids, custom fields, and what else people note about sites, rooms and endpoints. [contract 5.5]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../test/support/harness.ts'
import { newBuilding } from '../../../test/support/places/building.ts'

let harness: Harness
let org: TestOrg
let device: TestDevice
let other: TestDevice
beforeAll(async () => {
  harness = await startHarness()
  org = await newBuilding(harness)
  await org.call('POST', '/profiles', { body: { name: 'Quiet', config: {} } })
  await org.call('POST', '/profiles', { body: { name: 'Loud', config: {} } })
  device = await newDevice(harness, org, { roomId: 1 })
  other = await newDevice(harness, org, { roomId: 2 })
})
afterAll(() => harness.close())

const get = async (path: string) => (await org.call('GET', path)).body
const details = async () => (await org.audit())[0].details

/** Each kind with two of its resources, what an update needs, and where its answer and its list have the values. */
const kinds = [
  ['region', () => ['/regions/1', '/regions/2'] as const, { name: 'Europe' }, 'regions'],
  ['location', () => ['/locations/1', '/locations/2'] as const, {}, 'locations'],
  ['room', () => ['/rooms/1', '/rooms/2'] as const, { name: 'Fjord', locationId: 1 }, 'rooms'],
  ['profile', () => ['/profiles/1', '/profiles/2'] as const, { name: 'Quiet', config: {} }, 'profiles'],
  ['endpoint', () => [`/endpoints/${device.id}`, `/endpoints/${other.id}`] as const, {}, 'endpoints'],
] as const
const idOf = (path: string) => path.split('/')[2]

test.each(kinds)(
  'a %s has an external id: unique in its kind, absent keeps it, null clears it [contract 5.5.externalId]',
  async (kind, paths, needed, list) => {
    const [first, second] = paths()
    const put = (path: string, body: object) => org.call('PUT', path, { body: { ...needed, ...body } })
    const shown = (body: Record<string, { externalId?: string }>) => body.profile ?? body
    const listed = async () =>
      (await get(`/${list}`))[list].find(({ id }: { id: number | string }) => String(id) === idOf(first)).externalId

    const set = await put(first, { externalId: ' CMDB-1 ' })
    expect(shown(set.body), set.text).toMatchObject({ externalId: 'CMDB-1' })
    expect(await details()).toMatchObject({ before: { externalId: null }, after: { externalId: 'CMDB-1' } })
    expect(shown(await get(first))).toMatchObject({ externalId: 'CMDB-1' })
    expect(await listed()).toBe('CMDB-1')
    expect(shown((await put(first, kind === 'location' ? { name: 'Oslo' } : {})).body)).toMatchObject({
      externalId: 'CMDB-1',
    })
    expect((await put(first, { externalId: 'CMDB-1' })).status, 'its own id again').toBe(200)

    const before = await get(second)
    const refused = await put(second, { externalId: 'CMDB-1' })
    expect(refused.body).toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: `Operation preconditions not met: ${kind} ${idOf(first)} already has the externalId CMDB-1. Send another one, or clear that one first.`,
    })
    expect(await get(second)).toEqual(before)
    for (const externalId of ['', ' ', 'a\nb', 'x'.repeat(129), 7]) {
      expect((await put(first, { externalId })).body.violations, String(externalId)).toMatchObject([
        { field: 'externalId' },
      ])
    }
    expect((await put(second, { externalId: 'cmdb-1' })).status, 'another case').toBe(200)
    expect(shown((await put(first, { externalId: null })).body)).not.toHaveProperty('externalId')
    expect(await listed()).toBeUndefined()
    expect((await put(second, { externalId: 'CMDB-1' })).status, 'it is free again').toBe(200)
  },
)

test('a refusal does not name a holder that the caller does not see [contract 5.5.externalId]', async () => {
  const here = await org.newKey({ scopes: ['read', 'write'], regionIds: [1] })
  await org.call('PUT', '/rooms/2', { body: { name: 'Fuji', locationId: 2, externalId: 'HIDDEN' } })
  await org.call('PUT', '/locations/2', { body: { externalId: 'HIDDEN' } })
  await org.call('PUT', `/endpoints/${other.id}`, { body: { externalId: 'HIDDEN' } })
  for (const [kind, method, path, body] of [
    ['room', 'POST', '/rooms', { name: 'Skog', locationId: 1 }],
    ['location', 'POST', '/locations', { name: 'Bergen', regionId: 1 }],
    ['endpoint', 'PUT', `/endpoints/${device.id}`, {}],
  ] as const) {
    const refused = await org.call(method, path, { body: { ...body, externalId: 'HIDDEN' }, key: here })
    expect(refused.body.message).toBe(
      `Operation preconditions not met: another ${kind}, which you do not see, already has the externalId HIDDEN. Send another one, or clear that one first.`,
    )
  }
})

test('locations have an address and a contact, rooms a floor and a contact, with an audit entry for each change [contract 5.5]', async () => {
  const address = 'Storgata 1\n0155 Oslo'
  for (const [path, needed, values] of [
    ['/locations', { name: 'Bergen' }, { address, contact: 'Reception, 21 00 00 00', externalId: 'L-7' }],
    ['/rooms', { name: 'Vik' }, { floor: 'Level B2', contact: 'Ada', externalId: 'R-7', fields: { wall: 'B2' } }],
  ] as const) {
    const made = await org.call('POST', path, { body: { ...needed, ...values } })
    expect(made.body).toMatchObject(values)
    expect(await details()).toEqual({
      after: {
        ...needed,
        ...values,
        ...(path === '/rooms' && { locationId: null }),
        ...(path === '/locations' && { regionId: null }),
      },
    })
    const one = `${path}/${made.body.id}`
    expect((await org.call('PUT', one, { body: needed })).body).toMatchObject(values)
    for (const [name, value] of Object.entries(values)) {
      const cleared = (await org.call('PUT', one, { body: { ...needed, [name]: null } })).body
      expect(cleared).not.toHaveProperty(name)
      expect(await details()).toMatchObject({ before: { [name]: value }, after: { [name]: null } })
      await org.call('PUT', one, { body: { ...needed, [name]: value } })
    }
    expect(await get(one)).toMatchObject(values)
    await org.call('DELETE', one)
    expect((await details()).before).toMatchObject({ ...needed, ...values })
  }
  for (const [path, body] of [
    ['/locations/1', { address: 'x'.repeat(501) }],
    ['/locations/1', { contact: 'a\nb' }],
    ['/rooms/1', { name: 'Fjord', floor: 'x'.repeat(65) }],
    ['/rooms/1', { name: 'Fjord', contact: 'x'.repeat(256) }],
  ] as const) {
    expect((await org.call('PUT', path, { body })).status, JSON.stringify(body).slice(0, 40)).toBe(400)
  }
})

test('endpoints have an inventory number and days that the calendar has [contract 5.5]', async () => {
  const path = `/endpoints/${device.id}`
  const put = (body: object) => org.call('PUT', path, { body })
  const values = { assetTag: 'IT-0042', installedOn: '2024-02-29', warrantyUntil: '2027-12-31' }
  expect((await put(values)).body).toMatchObject(values)
  expect((await details()).after).toMatchObject(values)
  const listed = async () => (await get('/endpoints')).endpoints.find(({ id }: { id: string }) => id === device.id)
  expect(await listed(), 'the cached list follows').toMatchObject(values)
  expect((await get('/rooms/1')).endpoints[0]).toMatchObject(values)
  expect((await put({ name: 'Bar' })).body).toMatchObject(values)
  for (const day of ['2026-02-29', '2026-13-01', '2026-1-1', '2026-03-02T00:00:00Z', 'tomorrow', '', 20260302]) {
    const refused = await put({ warrantyUntil: day })
    expect(refused.body.violations, String(day)).toMatchObject([{ field: 'warrantyUntil' }])
  }
  expect((await put({ assetTag: 'x'.repeat(101) })).status).toBe(400)
  expect((await put({ installedOn: null, warrantyUntil: null, assetTag: null })).body).not.toHaveProperty('installedOn')
  expect(await details()).toMatchObject({ before: values, after: { assetTag: null, warrantyUntil: null } })
  expect(await listed()).not.toHaveProperty('assetTag')
})

test.each([
  ['rooms', (): string => '/rooms/1', { name: 'Fjord', locationId: 1 }],
  ['endpoints', (): string => `/endpoints/${device.id}`, {}],
] as const)(
  '%s have up to 20 custom fields, which a request sets and clears one by one [contract 5.5.fields]',
  async (_, path, needed) => {
    const put = (fields: unknown): ReturnType<typeof org.call> =>
      org.call('PUT', path(), { body: { ...needed, fields } })
    expect((await put({ wall: ' B2 ', cost_centre: '4711' })).body.fields).toEqual({ wall: 'B2', cost_centre: '4711' })
    expect((await details()).after).toMatchObject({ fields: { wall: 'B2', cost_centre: '4711' } })
    expect((await put(undefined)).body.fields).toEqual({ wall: 'B2', cost_centre: '4711' })
    const changed = (await put({ wall: null, owner: 'Ada', gone: null })).body
    expect(JSON.stringify(changed.fields)).toBe('{"cost_centre":"4711","owner":"Ada"}')
    expect(await details()).toMatchObject({
      before: { fields: { wall: 'B2', cost_centre: '4711' } },
      after: { fields: { cost_centre: '4711', owner: 'Ada' } },
    })
    const named = (count: number, text: string | null) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, text]))
    const many = await put(named(19, 'x'))
    expect(many.body.violations).toMatchObject([{ field: 'fields', error: expect.stringContaining('would be 21') }])
    expect((await put({ ...named(19, '🏔'.repeat(255)), cost_centre: null })).status).toBe(200)
    const swapped = await put({
      ...named(19, null),
      owner: null,
      ...JSON.parse('{"__proto__":"x"}'),
    })
    expect(Object.entries(swapped.body.fields)).toEqual([['__proto__', 'x']])
    for (const [wrong, field] of [
      [{ Wall: 'B2' }, 'fields.Wall'],
      [{ 'a b': 'x' }, 'fields.a b'],
      [{ ['x'.repeat(41)]: 'x' }, `fields.${'x'.repeat(41)}`],
      [{ wall: 'x'.repeat(256) }, 'fields.wall'],
      [{ wall: '' }, 'fields.wall'],
      [{ wall: 'a\nb' }, 'fields.wall'],
      [{ wall: 7 }, 'fields.wall'],
      [named(41, null), 'fields'],
      [['wall'], 'fields'],
      ['wall', 'fields'],
    ] as const) {
      expect((await put(wrong)).body.violations, JSON.stringify(wrong).slice(0, 60)).toMatchObject([{ field }])
    }
    expect((await put(null)).body).not.toHaveProperty('fields')
    expect((await put({})).body).not.toHaveProperty('fields')
  },
)

test('lists are filtered by custom fields: all of them must match exactly [contract 5.5.filter]', async () => {
  const lists = [
    {
      path: '/rooms',
      key: 'rooms',
      ids: [1, 2],
      put: (id: number | string, fields: object) =>
        org.call('PUT', `/rooms/${id}`, { body: { name: 'Room', locationId: id, fields } }),
    },
    {
      path: '/endpoints',
      key: 'endpoints',
      ids: [device.id, other.id],
      put: (id: number | string, fields: object) => org.call('PUT', `/endpoints/${id}`, { body: { fields } }),
    },
  ] as const
  for (const { path, key, ids, put } of lists) {
    const [first, second] = ids
    await put(first, { wall: 'B2', note: 'a:b, "c" & d' })
    await put(second, { wall: 'B2', floor: '3' })
    const found = async (...fields: string[]) => {
      const query = new URLSearchParams(fields.map((field): [string, string] => ['field', field]))
      return (await get(`${path}?${query}`))[key].map(({ id }: { id: number | string }) => id)
    }
    expect((await found('wall:B2')).sort()).toEqual([...ids].sort())
    expect(await found('wall:B2', 'floor:3')).toEqual([second])
    expect(await found('note:a:b, "c" & d')).toEqual([first])
    for (const none of ['wall:b2', 'wall:B', 'floor:', 'constructor:x', 'other:B2'])
      expect(await found(none)).toEqual([])
    expect(await found('wall:B2', 'wall:B3')).toEqual([])
    const within = async (query: string) =>
      (await get(`${path}?${query}`))[key].map(({ id }: { id: number | string }) => id)
    expect(await within(`field=wall:B2&ids=${first}`)).toEqual([first])
    expect(await within('field=wall:B2&regionId=2')).toEqual([second])
    expect((await get(`${path}?field=floor:3`))[key][0].fields).toEqual({ floor: '3', wall: 'B2' })
    await put(second, { floor: '4' })
    expect(await found('floor:3')).toEqual([])
    expect(await found('floor:4')).toEqual([second])
    for (const wrong of ['wall', ':B2', 'Wall:B2']) {
      const refused = await org.call('GET', `${path}?field=${wrong}`)
      expect(refused.body.violations, wrong).toMatchObject([{ field: 'field' }])
    }
    const often = Array(21).fill('field=wall:B2').join('&')
    expect((await org.call('GET', `${path}?${often}`)).body.violations).toMatchObject([{ field: 'field' }])
  }
})

test('one request makes a room with its profile and all values, and answers where to enrol [contract 6.rooms]', async () => {
  const values = {
    ...{ capacity: 8, tags: ['huddle'], floor: '3', contact: 'Ada', externalId: 'R-900' },
    fields: { wall: 'B2' },
  }
  const made = await org.call('POST', '/rooms', { body: { name: 'Loft', locationId: 1, profileId: 1, ...values } })
  const { body } = made
  expect(body, made.text).toMatchObject({ ...values, profileId: 1, location: { id: 1 } })
  expect(await details()).toEqual({ after: { name: 'Loft', locationId: 1, profileId: 1, ...values } })
  const enrolment = await get(`/rooms/${body.id}/enrolment`)
  expect(body).toMatchObject({ dec: enrolment.dec, enrolmentUrl: enrolment.url })
  expect(await get(`/rooms/${body.id}`)).toEqual(body)
  const reader = await org.newKey({ scopes: ['read'] })
  const read = (await org.call('GET', `/rooms/${body.id}`, { key: reader })).body
  expect(read).toMatchObject(values)
  expect(read).not.toHaveProperty('enrolmentUrl')
  const enrolled = await newDevice(harness, org, { roomId: body.id })
  expect(await get(`/endpoints/${enrolled.id}`)).toMatchObject({ profileId: 1 })

  const before = await get('/rooms')
  const refused = await org.call('POST', '/rooms', { body: { name: 'Attic', profileId: 99 } })
  expect(refused.body.message).toContain('there is no profile 99')
  expect(await get('/rooms')).toEqual(before)
  for (const profileId of [0, null]) {
    expect((await org.call('POST', '/rooms', { body: { name: 'Attic', profileId } })).body).not.toHaveProperty(
      'profileId',
    )
  }
})

test('endpointsDelete writes what people noted into the audit log, and frees the external id [contract 5.4.audit]', async () => {
  const gone = await newDevice(harness, org, { roomId: 3 })
  const values = {
    name: 'Bar',
    assetTag: 'IT-9',
    warrantyUntil: '2027-12-31',
    externalId: 'E-9',
    fields: { wall: 'B2' },
  }
  await org.call('PUT', `/endpoints/${gone.id}`, { body: values })
  await org.call('DELETE', `/endpoints/${gone.id}`)
  expect((await details()).before).toMatchObject({ ...values, serial: gone.serial, roomId: 3 })
  expect((await org.call('PUT', `/endpoints/${device.id}`, { body: { externalId: 'E-9' } })).status).toBe(200)
})

test('the external id of a profile is not part of its versions [contract 5.4.profile]', async () => {
  const put = (body: object) => org.call('PUT', '/profiles/1', { body: { name: 'Quiet', config: {}, ...body } })
  await put({ externalId: 'P-1' })
  const { version } = (await get('/profiles/1/versions')).versions[0]
  await put({ externalId: 'P-2', config: { nightMode: true } })
  expect((await org.call('POST', `/profiles/1/versions/${version}/restore`)).body.profile.externalId).toBe('P-2')
})
