// Tests which users a caller sees that is limited to regions. [contract 11.access]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { newPerson } from '../../../../test/support/person.ts'
import { expectSameAsUnknown, newTwoRegions } from '../../../../test/support/places/two-regions.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

interface ShownUser {
  readonly id: string
  readonly regionIds: readonly number[]
}

test('a caller sees the users whose regions overlap, owners and those of all regions, with visible regions only', async () => {
  const t = await newTwoRegions(harness)
  const [mine, other] = [t.mine.region, t.other.region]
  const person = (regionIds: readonly number[], allRegions = false) =>
    newPerson(harness, t.org, { role: 'admin', regionIds, allRegions })
  const [both, foreign, everywhere, nowhere] = [
    await person([mine, other]),
    await person([other]),
    await person([], true),
    await person([]),
  ]
  const owner = await newPerson(harness, t.org, { role: 'owner', regionIds: [other] })
  const listFor = async (key: string): Promise<Record<string, readonly number[]>> => {
    const { users } = (await t.call('GET', '/users', { key })).body as { users: ShownUser[] }
    return Object.fromEntries(users.map(({ id, regionIds }) => [id, regionIds]))
  }
  expect(await listFor(t.admin.key)).toEqual({
    [t.admin.id]: [mine],
    [both.id]: [mine],
    [everywhere.id]: [],
    [owner.id]: [],
  })
  expect(await listFor(nowhere.key), 'a caller who sees no region sees nobody').toEqual({})
  expect(Object.keys(await listFor(everywhere.key))).toHaveLength(6)
  expect((await listFor(owner.key))[both.id]).toEqual([mine, other])
  expect((await t.call('GET', `/users/${both.id}`)).body).toMatchObject({ id: both.id, regionIds: [mine] })
  for (const { id } of [foreign, nowhere]) {
    const { status } = await expectSameAsUnknown(t, [id, '9'], (id) => ['GET', `/users/${id}`])
    expect(status).toBe(404)
  }
})

test('the ETag of a user changes with what is seen only [contract 7.9]', async () => {
  const t = await newTwoRegions(harness)
  const { id } = await newPerson(harness, t.org, { role: 'admin', regionIds: [t.mine.region, t.other.region] })
  const tagFor = async (call: typeof t.call) => (await call('GET', `/users/${id}`)).headers.get('etag')
  const before = { whole: await tagFor(t.org.call), seen: await tagFor(t.call) }
  await t.org.call('PUT', `/users/${id}`, { body: { regionIds: [t.mine.region] } })
  expect(await tagFor(t.call)).toBe(before.seen)
  expect(await tagFor(t.org.call)).not.toBe(before.whole)
  const headers = { 'if-none-match': before.seen ?? '' }
  expect((await t.call('GET', `/users/${id}`, { headers })).status).toBe(304)
  await t.org.call('PUT', `/users/${id}`, { body: { name: 'Grace' } })
  expect(await tagFor(t.call)).not.toBe(before.seen)
})

test('the ETag of the list of users changes with what is seen only', async () => {
  const t = await newTwoRegions(harness)
  const foreign = await newPerson(harness, t.org, { role: 'admin', regionIds: [t.other.region] })
  const listTag = async () => (await t.call('GET', '/users')).headers.get('etag')
  const before = await listTag()
  await t.org.call('PUT', `/users/${foreign.id}`, { body: { email: 'renamed@example.org' } })
  expect(await listTag()).toBe(before)
  await t.org.call('PUT', `/users/${foreign.id}`, { body: { regionIds: [t.mine.region, t.other.region] } })
  expect(await listTag()).not.toBe(before)
})
