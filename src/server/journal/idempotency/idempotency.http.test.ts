// Requests that are sent twice and done once, through HTTP. [contract 7.once]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newFixture } from '../../../../test/support/fixture.ts'
import { type Harness, hasOneNode, type Reply, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { sessionHeaders } from '../../../../test/support/person.ts'
import { dayMs, hourMs } from '../../../contract/durations.ts'
import { maxIdempotencyKeys } from '../../../contract/idempotency.ts'
import { timeLimits } from '../../core/time-limits.ts'
import { change } from '../audit/change.ts'
import { deleteOldIdempotencyKeys } from './retention.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({}, { limits: { ...timeLimits, gatewayTestMs: 500 } })
})
afterAll(() => harness.close())

const withKey = (key: string) => ({ headers: { 'idempotency-key': key } })
const createRegion = ({ call }: TestOrg, key: string, name = 'Europe', caller?: string) =>
  call('POST', '/regions', { body: { name }, ...withKey(key), ...(caller !== undefined && { key: caller }) })
const codeOf = ({ status, body }: Reply) => `${status} ${body.code ?? 'OK'}`
const isReplayed = ({ headers }: Reply) => headers.get('idempotency-replayed') === 'true'
const countRegions = async ({ call }: TestOrg) => (await call('GET', '/regions')).body.regions.length
const storedKeys = ({ org }: TestOrg) =>
  harness.services.db.schema.selectFrom('idempotency_keys').selectAll().where('org', '=', org.key).execute()

test('a repeat gets the first answer with its ETag, is marked, and makes no entry', async () => {
  const org = await harness.newOrg()
  const first = await createRegion(org, 'a')
  expect([codeOf(first), isReplayed(first)]).toEqual(['200 OK', false])
  await org.call('PUT', '/regions/1', { body: { name: 'EMEA' } })
  const entries = (await org.audit()).length
  const repeat = await createRegion(org, 'a')
  expect([codeOf(repeat), repeat.text, isReplayed(repeat)]).toEqual(['200 OK', first.text, true])
  expect(repeat.headers.get('etag')).toBe(first.headers.get('etag'))
  expect([await countRegions(org), (await org.audit()).length]).toEqual([1, entries])
})

test('a repeat gets its answer although the thing was deleted since, and although If-Match is stale', async () => {
  const org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  const note = () => org.call('POST', '/rooms/1/notes', { body: { note: 'Done.' }, ...withKey('a') })
  const first = await note()
  await org.call('DELETE', '/rooms/1')
  expect((await note()).text).toBe(first.text)
})

test('another request under the key is a 400: another body, query or path', async () => {
  const org = await harness.newOrg()
  await createRegion(org, 'a')
  const others = [
    await createRegion(org, 'a', 'Asia'),
    await org.call('POST', '/regions?x=1', { body: { name: 'Europe' }, ...withKey('a') }),
    await org.call('POST', '/locations', { body: { name: 'Europe' }, ...withKey('a') }),
  ]
  for (const reply of others) {
    expect(codeOf(reply)).toBe('400 FAILED_PRECONDITION')
    expect(reply.body.message).toContain('sent with another request')
  }
  expect([await countRegions(org), (await org.audit())[0].type]).toEqual([1, 'REGION_CREATED'])
})

test('an error is not kept, and a key whose request failed can be used', async () => {
  const org = await harness.newOrg()
  const create = () => org.call('POST', '/locations', { body: { name: 'Oslo', regionId: 1 }, ...withKey('a') })
  expect(codeOf(await create())).toBe('400 FAILED_PRECONDITION')
  expect(await storedKeys(org)).toEqual([])
  await org.call('POST', '/regions', { body: { name: 'Europe' } })
  const second = await create()
  expect([codeOf(second), isReplayed(second)]).toEqual(['200 OK', false])
})

test.runIf(hasOneNode)('while the first request runs, a repeat is a 409 with Retry-After', async () => {
  const org = await harness.newOrg()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: held, resolve: hold } = Promise.withResolvers<void>()
  const blocking = change(org.ctx, 'regionsCreate', async () => {
    hold()
    await released
    return { result: undefined, target: { type: 'region', id: '0', name: 'None' } }
  })
  await held
  const both = [createRegion(org, 'a'), createRegion(org, 'a')]
  const refused = await Promise.race(both)
  release()
  expect([codeOf(refused), refused.headers.get('retry-after')]).toEqual(['409 ABORTED', '1'])
  expect((await Promise.all(both)).map(codeOf).sort()).toEqual(['200 OK', '409 ABORTED'])
  await blocking
  expect([await countRegions(org), isReplayed(await createRegion(org, 'a'))]).toEqual([1, true])
})

test('many equal requests at the same time make one thing', async () => {
  const org = await harness.newOrg()
  const replies = await Promise.all(Array.from({ length: 20 }, () => createRegion(org, 'a')))
  expect(new Set(replies.map(codeOf)).difference(new Set(['200 OK', '409 ABORTED'])).size).toBe(0)
  const made = replies.filter(({ status }) => status === 200)
  expect([new Set(made.map(({ text }) => text)).size, await countRegions(org)]).toEqual([1, 1])
  expect(made.filter((reply) => !isReplayed(reply))).toHaveLength(1)
})

test('an answer that shows a secret is not stored: a repeat is a 400 that names what was made', async () => {
  const org = await harness.newOrg()
  const create = () => org.call('POST', '/keys', { body: { name: 'CI', scopes: ['read'] }, ...withKey('a') })
  const { body } = await create()
  const repeat = await create()
  expect(codeOf(repeat)).toBe('400 FAILED_PRECONDITION')
  expect(repeat.body.message).toContain(`key ${body.id} (CI)`)
  expect(repeat.text).not.toContain(body.key)
  expect((await storedKeys(org)).map(({ answer }) => answer)).toEqual([null])
})

test('an answer with the enrolment code of a room is sealed in the database', async () => {
  const org = await harness.newOrg()
  const { body } = await org.call('POST', '/rooms', { body: { name: 'Fjord' }, ...withKey('a') })
  const [row] = await storedKeys(org)
  expect(row?.answer?.includes(body.dec)).toBe(false)
})

test('a key belongs to its caller, and counts for other callers as new', async () => {
  const org = await harness.newOrg()
  await createRegion(org, 'a')
  const other = await createRegion(org, 'a', 'Europe', await org.newKey({}))
  expect([codeOf(other), isReplayed(other), await countRegions(org)]).toEqual(['200 OK', false, 2])
})

test('after a change of the role or the regions of its caller a key is refused', async () => {
  const f = await newFixture(harness)
  const { person } = f
  const send = () =>
    f.call('POST', `/rooms/${f.room}/notes`, {
      key: false,
      body: { note: 'Done.' },
      headers: { ...sessionHeaders(harness, person), 'idempotency-key': 'a' },
    })
  const first = await send()
  expect([codeOf(first), isReplayed(await send())]).toEqual(['200 OK', true])
  const { body: user } = await f.call('GET', `/users/${person.id}`)
  const { email, role } = user
  const change = { email, role: role === 'admin' ? 'operator' : 'admin', regionIds: [f.region], allRegions: false }
  expect(codeOf(await f.call('PUT', `/users/${person.id}`, { body: change }))).toBe('200 OK')
  const refused = await send()
  expect(codeOf(refused)).toBe('400 FAILED_PRECONDITION')
  expect(refused.body.message).toContain('another role or other regions')
})

test('after 24 hours a key is new, whether or not it was deleted yet', async () => {
  const org = await harness.newOrg()
  await createRegion(org, 'a')
  await createRegion(org, 'b')
  harness.clock.advance(dayMs - hourMs)
  expect(isReplayed(await createRegion(org, 'a'))).toBe(true)
  harness.clock.advance(hourMs)
  expect(isReplayed(await createRegion(org, 'a'))).toBe(false)
  expect(await countRegions(org)).toBe(3)
  expect(await storedKeys(org)).toHaveLength(2)
  await deleteOldIdempotencyKeys(harness.services)
  expect((await storedKeys(org)).map(({ number }) => number)).toEqual([3])
  expect(isReplayed(await createRegion(org, 'a'))).toBe(true)
})

test('an organisation with 100,000 keys gets a 429 for one more, and still the answers of those', async () => {
  const org = await harness.newOrg()
  await createRegion(org, 'a')
  await createRegion(org, 'b')
  const { schema } = harness.services.db
  await schema
    .updateTable('idempotency_keys')
    .set({ number: maxIdempotencyKeys })
    .where('org', '=', org.org.key)
    .where('number', '=', 2)
    .execute()
  const refused = await createRegion(org, 'c')
  expect(codeOf(refused)).toBe('429 RESOURCE_EXHAUSTED')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(86_000)
  expect(isReplayed(await createRegion(org, 'b'))).toBe(true)
  expect(codeOf(await org.call('POST', '/regions', { body: { name: 'Asia' } }))).toBe('200 OK')
})

test('the answers of an organisation are stored up to 256 MiB: a repeat of a later request names what was made', async () => {
  const org = await harness.newOrg()
  await createRegion(org, 'a')
  await createRegion(org, 'b')
  const { schema } = harness.services.db
  await schema
    .updateTable('idempotency_keys')
    .set((e) => ({ total_bytes: e('total_bytes', '+', 256 * 1024 * 1024) }))
    .where('org', '=', org.org.key)
    .where('number', '=', 2)
    .execute()
  const late = await createRegion(org, 'c', 'Asia')
  const repeat = await createRegion(org, 'c', 'Asia')
  expect([codeOf(late), codeOf(repeat)]).toEqual(['200 OK', '400 FAILED_PRECONDITION'])
  expect(repeat.body.message).toContain(`region ${late.body.id} (Asia)`)
})

test('an answer that follows the commit is stored then; without one, a repeat waits and then names what was made', async () => {
  const f = await newFixture(harness)
  const send = () =>
    f.call('POST', `/gateways/${f.gateway}/devices/test`, {
      body: { driver: 'reach', host: '10.20.4.18', options: { check: 'tcp' } },
      ...withKey('a'),
    })
  const first = await send()
  expect(codeOf(first)).toBe('200 OK')
  const repeat = await send()
  expect([repeat.text, isReplayed(repeat)]).toEqual([first.text, true])
  // As after a crash between the commit and the answer.
  const pending_until = harness.clock.now() + timeLimits.lateAnswerMs
  const { schema } = harness.services.db
  const key = await schema.selectFrom('idempotency_keys').selectAll().orderBy('created_at', 'desc').executeTakeFirst()
  await schema
    .updateTable('idempotency_keys')
    .set({ answer: null, pending_until })
    .where('org', '=', key?.org as number)
    .execute()
  expect(codeOf(await send())).toBe('409 ABORTED')
  harness.clock.advance(timeLimits.lateAnswerMs)
  const refused = await send()
  expect(codeOf(refused)).toBe('400 FAILED_PRECONDITION')
  expect(refused.body.message).toContain(f.gateway)
})

test.each(['', 'a b', 'a, a', 'x'.repeat(129)])('a malformed key %j is a 400 that names the header', async (key) => {
  const org = await harness.newOrg()
  const reply = await createRegion(org, key)
  expect(codeOf(reply)).toBe('400 INVALID_ARGUMENT')
  expect(reply.body.violations).toMatchObject([{ field: 'Idempotency-Key' }])
})

test('the key is looked at after the parameters and before existence [contract 2.3]', async () => {
  const org = await harness.newOrg()
  const bad = await org.call('POST', '/rooms/1/notes', { body: { note: 1 }, ...withKey('a b') })
  expect(bad.body.violations).toMatchObject([{ field: 'note' }])
  const missing = await org.call('POST', '/rooms/1/notes', { body: { note: 'x' }, ...withKey('a b') })
  expect(missing.body.violations).toMatchObject([{ field: 'Idempotency-Key' }])
})

test('other methods, and a POST without an audit entry, ignore the header', async () => {
  const org = await harness.newOrg()
  await createRegion(org, 'a')
  const rename = (name: string) => org.call('PUT', '/regions/1', { body: { name }, ...withKey('a') })
  expect([codeOf(await rename('Asia')), codeOf(await rename('Africa'))]).toEqual(['200 OK', '200 OK'])
  expect(await storedKeys(org)).toHaveLength(1)
})
