// The audit log as a caller who is limited to regions reads it. [contract 11.access]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { closedUrl } from '../../../../test/support/fixture.ts'
import { type Harness, type Reply, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { newPerson } from '../../../../test/support/person.ts'
import {
  auditSite,
  wholeAuditLog as everything,
  readAuditLog as read,
  regionAdmin,
} from '../../../../test/support/places/audit-site.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

type Entry = Reply['body']

const site = () => auditSite(harness)
const restricted = (org: TestOrg, ...regionIds: number[]) => regionAdmin(harness, org, regionIds)
const csvOf = async (org: TestOrg, key: string) =>
  (await org.call('GET', everything, { key, headers: { accept: 'text/csv' } })).text
/** The entry of the last change as a caller sees it; undefined if the caller does not see it. */
async function newest(org: TestOrg, key: string): Promise<Entry> {
  const [whole] = await org.audit()
  return (await read(org, key)).body.logs.find(({ id }: Entry) => id === whole.id)
}

test('entries about visible places are whole, others are absent [contract 11.access]', async () => {
  const { org, post } = await site()
  const north = await restricted(org, 1)
  await org.call('PUT', '/rooms/1', { body: { name: 'Fjord 2', locationId: 1 } })
  const [whole] = await org.audit()
  expect(await newest(org, north.key)).toEqual(whole)
  for (const change of [
    () => org.call('PUT', '/rooms/2', { body: { name: 'Forum 2', locationId: 2 } }),
    () => org.call('PUT', '/rooms/3', { body: { name: 'Cellar 2' } }),
    () => org.call('PUT', '/regions/2', { body: { name: 'South 2' } }),
    () => post('/locations', { name: 'Nowhere' }),
    () => post('/profiles', { name: 'Loud', config: {} }),
    () => org.newKey({}),
  ]) {
    await change()
    expect(await newest(org, north.key)).toBeUndefined()
  }
  const { logs } = (await read(org, north.key)).body
  const visible = logs.map(({ type, target }: Entry) => [type, target.name])
  expect(visible).toEqual([
    ['ROOM_UPDATED', 'Fjord 2'],
    ['USER_CREATED', north.email],
    ['ROOM_CREATED', 'Fjord'],
    ['LOCATION_CREATED', 'Oslo'],
    ['REGION_CREATED', 'North'],
  ])
})

test('an entry that is partly visible has no details, and its target only where that is visible [contract 11.access]', async () => {
  const { org, post } = await site()
  const [north, south, both] = [await restricted(org, 1), await restricted(org, 2), await restricted(org, 1, 2)]
  const device = await newDevice(harness, org, { roomId: 1, offline: true })
  await post('/endpoints/move_paired', { roomId: 2, endpointIds: [device.id] })
  const [whole] = await org.audit()
  const { target, details: _, ...rest } = whole
  expect(await newest(org, north.key)).toEqual(rest)
  expect(await newest(org, south.key)).toEqual({ ...rest, target })
  expect(await newest(org, both.key)).toEqual(whole)

  await org.call('PUT', '/rooms/1', { body: { name: 'Left', locationId: 2 } })
  expect(await newest(org, north.key)).not.toHaveProperty('target')
  expect((await newest(org, south.key)).target.name).toBe('Left')
  await org.call('PUT', '/rooms/1', { body: { name: 'Placeless' } })
  expect(await newest(org, south.key)).not.toHaveProperty('target')
  expect(await newest(org, both.key)).not.toHaveProperty('details')
  await org.call('PUT', '/rooms/1', { body: { name: 'Back', locationId: 1 } })
  expect((await newest(org, north.key)).target.name).toBe('Back')
  expect(await newest(org, north.key)).not.toHaveProperty('details')

  const lines = (await csvOf(org, north.key)).split('\r\n')
  const ofMove = lines.find((line) => line.startsWith(`${whole.id},`))
  expect(ofMove?.split(',').slice(7, 11)).toEqual(['', '', '', ''])
  expect(ofMove).not.toContain(device.id)
})

test('an entry that names a channel has no details for callers who do not see everything [contract 11.access]', async () => {
  const { org, post } = await site()
  const north = await restricted(org, 1)
  for (const name of ['Bergen', 'Narvik']) await post('/locations', { name, regionId: 1 })
  const channel = { name: 'Secret channel', kind: 'webhook', url: closedUrl, events: ['incident.opened'] }
  await post('/channels', { ...channel, locationIds: [1, 3] })
  for (const [location, isNamed] of [
    [3, true],
    [4, false],
  ] as const) {
    await org.call('DELETE', `/locations/${location}`)
    const [whole] = await org.audit()
    expect(JSON.stringify(whole).includes(channel.name)).toBe(isNamed)
    const { details: _, ...rest } = whole
    expect(await newest(org, north.key)).toEqual(isNamed ? rest : whole)
  }
  expect(await csvOf(org, north.key)).not.toContain(channel.name)
})

test('the names of the keys of a deleted user are shown only to callers who see everything [contract 11.access]', async () => {
  const { org } = await site()
  const [north, leaving] = [await restricted(org, 1), await restricted(org, 1)]
  await org.call('DELETE', `/users/${leaving.id}`)
  expect(JSON.stringify((await org.audit())[0])).toContain('Own key')
  const seen = await newest(org, north.key)
  expect(seen).toMatchObject({ type: 'USER_DELETED' })
  expect(JSON.stringify(seen)).not.toContain('Own key')
})

test('a device that enrols is named as actor, and not to callers who see another region only [contract 11.access]', async () => {
  const { org } = await site()
  const north = await restricted(org, 1)
  const serial = `SEEN${Date.now()}`
  await newDevice(harness, org, { roomId: 1, offline: true, serial })
  expect((await newest(org, north.key)).actor).toEqual({ type: 'DEVICE', id: serial, name: serial })
  await newDevice(harness, org, { roomId: 2, offline: true })
  expect(await newest(org, north.key), 'the page of one entry is empty').toBeUndefined()
})

test('whatever happens, a restricted caller gets a part of what the log has, in pages and as CSV [contract 11.access]', async () => {
  const { org, post } = await site()
  const device = await newDevice(harness, org, { roomId: 1, offline: true })
  const profile = await post('/profiles', { name: 'Quiet', config: {} })
  await org.call('PUT', '/rooms/1/profile', { body: { profileId: profile.profile.id } })
  for (const roomId of [2, 3, 1]) await post('/endpoints/move_paired', { roomId, endpointIds: [device.id] })
  await post('/rooms/1/notes', { note: 'Loud' })
  await post('/users', { email: 'a@example.org', role: 'admin', regionIds: [1, 2] })
  await org.call('DELETE', `/endpoints/${device.id}`)
  await org.call('DELETE', '/locations/2')
  const whole = new Map((await org.audit()).map((entry: Entry) => [entry.id, entry]))
  for (const regionIds of [[], [1], [2], [1, 2]]) {
    const { key } = await restricted(org, ...regionIds)
    const { logs } = (await read(org, key)).body
    for (const entry of logs) {
      const expected = whole.get(entry.id)
      if (expected) for (const [name, value] of Object.entries(entry)) expect(value).toEqual(expected[name])
    }
    expect(logs.length).toBeLessThan(whole.size)
    expect(logs.length > 0).toBe(regionIds.length > 0)
    const inCsv = (await csvOf(org, key)).trimEnd().split('\r\n').slice(1)
    expect(inCsv.map((line) => line.split(',')[0])).toEqual(logs.map(({ id }: Entry) => id))
    const paged: Entry[] = []
    for (let token = ''; ; ) {
      const page = (await read(org, key, `&pageSize=2&pageToken=${token}`)).body
      expect(page.logs.length).toBeLessThanOrEqual(2)
      paged.push(...page.logs)
      token = page.nextPageToken
      if (token === '') break
    }
    // The export in between made an entry without a place.
    expect(paged).toEqual(logs)
  }
})

test('a page reads 5000 entries at most, and its token goes on where it ended [contract 11.access]', async () => {
  const { org } = await site()
  const north = await restricted(org, 1)
  const { db } = harness.services
  // Entries about South only. Their links are not the subject here.
  await db.systemTransaction(async ({ kysely }) => {
    const regions = '{"all":[2],"target":[2]}'
    const row = { category: 'ORG', type: 'ROOM_UPDATED', actor_type: 'KEY', actor_id: '1', actor_name: 'Key' }
    const target = { target_type: 'room', target_id: '2', target_name: 'Forum', details: '{}' }
    for (let from = 0; from < 6000; from += 500) {
      const rows = Array.from({ length: 500 }, (_, i) => ({ ...row, ...target, seq: 1000 + from + i }))
      await kysely
        .insertInto('audit_log')
        .values(
          rows.map((r) => ({
            ...r,
            org: org.org.key,
            timestamp: harness.clock.now(),
            request_id: null,
            ip: null,
            mac: Buffer.alloc(32),
            regions,
          })),
        )
        .execute()
    }
  })
  const first = (await read(org, north.key)).body
  expect(first.logs).toEqual([])
  expect(first.nextPageToken).not.toBe('')
  const second = (await read(org, north.key, `&pageToken=${first.nextPageToken}`)).body
  expect(second.logs.map(({ type }: Entry) => type)).toEqual([
    'USER_CREATED',
    'ROOM_CREATED',
    'LOCATION_CREATED',
    'REGION_CREATED',
  ])
  expect(second.nextPageToken).toBe('')
})

test('a page token is valid for its caller, role and regions only [contract 11.access]', async () => {
  const { org } = await site()
  const [north, other] = [await restricted(org, 1), await restricted(org, 1)]
  const tokenOf = async (key: string) => (await read(org, key, '&pageSize=1')).body.nextPageToken
  const token = await tokenOf(north.key)
  const withToken = (key: string) => read(org, key, `&pageSize=1&pageToken=${token}`)
  const flipped = `${token.startsWith('B') ? 'C' : 'B'}${token.slice(1)}`
  const forged = (await read(org, north.key, `&pageSize=1&pageToken=${flipped}`)).body
  const { requestId: _, ...expected } = forged
  expect((await withToken(north.key)).status).toBe(200)
  for (const key of [other.key, org.key, await org.newKey({})]) {
    const { requestId: __, ...body } = (await withToken(key)).body
    expect(body).toEqual(expected)
  }
  await org.call('PUT', `/users/${north.id}`, { body: { regionIds: [1, 2] } })
  harness.clock.advance(1000)
  expect((await withToken(north.key)).body.violations).toEqual(expected.violations)
  await org.call('PUT', `/users/${north.id}`, { body: { regionIds: [1] } })
  harness.clock.advance(1000)
  expect((await withToken(north.key)).status).toBe(200)
})

test('a page token is not valid after a change of the role, also where both roles see the same [contract 11.access]', async () => {
  const { org } = await site()
  // The last owner could not be demoted.
  await newPerson(harness, org, { role: 'owner' })
  const person = await newPerson(harness, org, { role: 'admin', allRegions: true })
  const token = (await read(org, person.key, '&pageSize=1')).body.nextPageToken
  const withToken = (pageToken: string) => read(org, person.key, `&pageSize=1&pageToken=${pageToken}`)
  const becomes = async (role: string) => {
    expect((await org.call('PUT', `/users/${person.id}`, { body: { role } })).status).toBe(200)
    harness.clock.advance(1000)
  }
  expect((await withToken(token)).status).toBe(200)
  await becomes('owner')
  const { requestId: _, ...refused } = (await withToken(token)).body
  const { requestId: __, ...forged } = (await withToken(token.replaceAll(/./g, 'A'))).body
  expect(refused).toEqual(forged)
  expect(refused.status).toBe(400)
  await becomes('admin')
  expect((await withToken(token)).status).toBe(200)
})
