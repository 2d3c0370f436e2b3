// Saved views through HTTP: whose they are, who shares them, limits, events and what becomes of them when their owner goes. [contract 11.views]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { follow } from '../../../../test/support/event-follower.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { newPerson } from '../../../../test/support/person.ts'
import { type Credentials, newApiKey, newSession, sessionOf } from '../../../../test/support/places/callers.ts'
import { makeClient } from '../../../client/client.ts'
import { maxOwnViews, maxSharedViews } from '../../../contract/people/views.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const offline = { name: 'Offline', page: 'rooms', query: 'state=OFFLINE&sort=-people', columns: ['name', 'state'] }
const create = (caller: Credentials, body: object = offline) => org.call('POST', '/views', { ...caller, body })
const namesFor = async (caller: Credentials) =>
  (await org.call('GET', '/views', caller)).body.views.map(({ name }: { name: string }) => name)

test('a viewer of one region saves, changes and deletes views that no other caller sees [contract 11.views]', async () => {
  const region = (await org.call('POST', '/regions', { body: { name: 'Europe' } })).body.id
  const viewer = await newSession(harness, org, 'viewer', [region])
  const other = await newSession(harness, org, 'owner')
  const created = await create(viewer)
  expect(created.status, created.text).toBe(200)
  const { id, createdBy, ...rest } = created.body
  expect(rest).toEqual({ ...offline, shared: false, version: 1 })
  expect(createdBy.type).toBe('USER')
  expect(created.headers.get('etag')).toBe('"1"')
  expect(await namesFor(viewer)).toEqual(['Offline'])
  expect(await namesFor(other)).toEqual([])
  for (const method of ['PUT', 'DELETE']) {
    const body = method === 'PUT' ? { body: { name: 'Mine now' } } : {}
    const refused = await org.call(method, `/views/${id}`, { ...other, ...body })
    expect([refused.status, refused.body.code], method).toEqual([404, 'NOT_FOUND'])
  }

  const changed = await org.call('PUT', `/views/${id}`, { ...viewer, body: { query: '', columns: null } })
  expect(changed.body).toEqual({ ...created.body, query: '', columns: undefined, version: 2 })
  const late = await org.call('PUT', `/views/${id}`, {
    ...viewer,
    headers: { ...viewer.headers, 'if-match': '"1"' },
    body: { name: 'X' },
  })
  expect([late.status, late.headers.get('etag')]).toEqual([412, '"2"'])
  expect(
    (await org.call('DELETE', `/views/${id}`, { ...viewer, headers: { ...viewer.headers, 'if-match': '"2"' } })).status,
  ).toBe(200)
  expect(await namesFor(viewer)).toEqual([])
})

test('sharing needs write, and everybody has a shared view at once [contract 11.views]', async () => {
  const viewer = await newSession(harness, org, 'viewer', [])
  const admin = await newSession(harness, org, 'admin', [])
  const refused = await create(viewer, { ...offline, shared: true })
  expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining('shared views need')])
  expect(await namesFor(viewer)).toEqual([])

  const { id } = (await create(admin, { ...offline, name: 'Team', shared: true })).body
  expect(await namesFor(viewer)).toEqual(['Team'])
  const attempts = [
    ['PUT', { body: { name: 'Theirs' } }],
    ['PUT', { body: { shared: false } }],
    ['DELETE', {}],
  ] as const
  for (const [method, options] of attempts)
    expect((await org.call(method, `/views/${id}`, { ...viewer, ...options })).status).toBe(403)
  expect(await namesFor(viewer)).toEqual(['Team'])

  const own = (await create(viewer)).body.id
  expect((await org.call('PUT', `/views/${own}`, { ...viewer, body: { shared: true } })).status).toBe(403)

  // Another admin takes it back: it is theirs.
  const second = await newSession(harness, org, 'admin', [])
  expect((await org.call('PUT', `/views/${id}`, { ...second, body: { shared: false } })).body.shared).toBe(false)
  expect(await namesFor(viewer)).toEqual(['Offline'])
  expect(await namesFor(admin)).toEqual([])
  expect(await namesFor(second)).toEqual(['Team'])
})

test('changes are audited, and only those of shared views reach readers who may not read the audit log [contract 11.views]', async () => {
  const place = await harness.newOrg()
  const viewer = await newPerson(harness, place, { role: 'viewer', regionIds: [] })
  const reader = await follow(makeClient({ baseUrl: harness.url, org: place.id, token: viewer.key }))
  const { id } = (await place.call('POST', '/views', { body: offline })).body
  await place.call('PUT', `/views/${id}`, { body: { name: 'Secret plan' } })
  await place.call('PUT', `/views/${id}`, { body: { name: 'Team', shared: true } })
  await place.call('PUT', `/views/${id}`, { body: { shared: false } })
  await place.call('DELETE', `/views/${id}`)
  const [deleted, taken, shared, renamed, created] = await place.audit()
  const own = { type: 'view', id, name: 'Offline' }
  expect(created).toMatchObject({ category: 'USER', type: 'VIEW_CREATED', target: own })
  expect(created.details.after).toEqual({ ...offline, shared: false })
  expect(renamed.details).toEqual({ before: { name: 'Offline' }, after: { name: 'Secret plan' } })
  expect(shared).toMatchObject({ type: 'VIEW_UPDATED', target: { type: 'sharedView', id, name: 'Team' } })
  expect(taken).toMatchObject({ target: { type: 'sharedView' }, details: { after: { shared: false } } })
  expect(deleted).toMatchObject({ type: 'VIEW_DELETED', target: { ...own, name: 'Team' } })

  await place.call('PUT', '', { body: { name: 'The end' } })
  const seen = []
  for (;;) {
    const { change } = await reader.next('structure')
    if (change?.type === 'ORG_UPDATED') break
    seen.push([change?.type, change?.target?.name])
  }
  expect(seen).toEqual([
    ['VIEW_UPDATED', 'Team'],
    ['VIEW_UPDATED', 'Team'],
  ])
})

test('own views go with their person or key, and shared ones stay [contract 11.views]', async () => {
  const place = await harness.newOrg()
  const person = await newPerson(harness, place, { role: 'admin', allRegions: true })
  const { id: keyId, key } = (await place.call('POST', '/keys', { body: { name: 'Wall', scopes: ['read', 'write'] } }))
    .body
  for (const caller of [sessionOf(harness, person), { key }]) {
    for (const shared of [false, true]) {
      const created = await place.call('POST', '/views', { ...caller, body: { ...offline, shared } })
      expect(created.status, created.text).toBe(200)
    }
  }
  // A personal key has the views of its person.
  expect((await place.call('GET', '/views', { key: person.key })).body.views).toHaveLength(3)
  expect((await place.call('GET', '/views', { key })).body.views).toHaveLength(3)
  await place.call('DELETE', `/users/${person.id}`)
  await place.call('DELETE', `/keys/${keyId}`)
  const rows = await harness.services.db.systemTransaction(({ kysely }) =>
    kysely.selectFrom('saved_views').select(['user_id', 'key_id']).where('org', '=', place.org.key).execute(),
  )
  expect(rows).toEqual([
    { user_id: null, key_id: null },
    { user_id: null, key_id: null },
  ])
  const left = (await place.call('GET', '/views')).body.views
  expect(left.map(({ createdBy }: { createdBy: { name: string } }) => createdBy.name)).toEqual([person.email, 'Wall'])
})

test.each([
  ['query of more than 2,000 characters', { query: 'q'.repeat(2001) }],
  ['query of two lines', { query: 'a\nb' }],
  ['unknown page', { page: 'wall' }],
  ['empty list of columns', { columns: [] }],
])('a view with %s is refused', async (_, wrong) => {
  const before = await namesFor({})
  expect((await create({}, { ...offline, ...wrong })).body.code).toBe('INVALID_ARGUMENT')
  expect(await namesFor({})).toEqual(before)
})

test(`there are at most ${maxOwnViews} own and ${maxSharedViews} shared views [contract 11.views]`, async () => {
  const full = await harness.newOrg()
  const add = (caller: object, shared: boolean) =>
    full.call('POST', '/views', { ...caller, body: { name: 'V', page: 'jobs', query: '', shared } })
  const other = await newApiKey(full, { scopes: ['read'] })
  for (let i = 0; i < maxOwnViews; i++) expect((await add({}, false)).status).toBe(200)
  expect((await add({}, false)).body.message).toContain('50 views of your own')
  expect((await add(other, false)).status).toBe(200)
  let last = ''
  for (let i = 0; i < maxSharedViews; i++) last = (await add({}, true)).body.id
  expect((await add({}, true)).body.message).toContain('200 shared views')
  const moved = await full.call('PUT', `/views/${last}`, { body: { shared: false } })
  expect(moved.body.code).toBe('FAILED_PRECONDITION')
})
