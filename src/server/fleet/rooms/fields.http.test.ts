// Tests the fields of a room through HTTP: its enrolment code, its capacity and its tags.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import {
  writtenCode as code,
  etag,
  neverUsed,
  newBuilding,
  others,
  room,
  roomOfCode,
} from '../../../../test/support/places/building.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(Date.UTC(2026, 2, 2, 9))
})
afterAll(() => harness.close())
const createBuilding = () => newBuilding(harness)
const findRoomOfCode = (text: string) => roomOfCode(harness, text)

test('roomsCreate answers with the enrolment code, which only keys with Write see again [contract 5.4.room] [contract D.6]', async () => {
  const org = await createBuilding()
  const [reader, writer] = [await org.newKey({ scopes: ['read'] }), await org.newKey({ scopes: ['write'] })]
  const created = (await org.call('POST', '/rooms', { body: { name: 'Loft' }, key: writer })).body
  const { dec, enrolmentUrl, decUsed, decTimeout, ...rest } = created
  expect([dec, decUsed, decTimeout]).toEqual([code, neverUsed, 24])
  expect(enrolmentUrl).toBe(`${harness.publicUrl}/enrol#${dec}`)
  expect(rest).toEqual({ id: 5, name: 'Loft', state: 'EMPTY', endpoints: [] })
  expect(await room(org, 5)).toEqual(created)
  expect((await org.call('GET', '/rooms/5', { key: reader })).body).toEqual(rest)
  expect(await findRoomOfCode(dec)).toBe(5)
  expect(await findRoomOfCode(` ${dec.toLowerCase().replaceAll('-', ' ')}`), 'as people type it').toBe(5)
  const stored = await harness.services.db.system.kysely.selectFrom('rooms').select('dec_sealed').execute()
  expect(Buffer.concat(stored.map((r) => r.dec_sealed)).includes(dec), 'in clear text').toBe(false)
  expect(JSON.stringify(await org.audit())).not.toContain(dec)
})

test('an enrolment code expires decTimeout hours after its first use, and is then left out [contract 5.4.room]', async () => {
  const org = await createBuilding()
  const { dec } = await room(org, 1)
  const dec_used_at = harness.clock.now()
  await harness.services.db.systemTransaction((t) =>
    t.kysely.updateTable('rooms').set({ dec_used_at }).where('org', '=', org.org.key).where('id', '=', 1).execute(),
  )
  const times = { decUsed: String(dec_used_at / 1000), decTimeout: 24 }
  harness.clock.advance(24 * 3_600_000 - 1)
  expect(await room(org, 1)).toMatchObject({ dec, ...times })
  harness.clock.advance(1)
  expect(await room(org, 1)).toMatchObject(times)
  expect(await room(org, 1)).not.toHaveProperty('dec')
  expect(await room(org, 1)).not.toHaveProperty('enrolmentUrl')
  expect(await room(org, 2), 'an unused code does not expire').toMatchObject({ dec: code })
  const renewed = (await org.call('POST', '/rooms/1/regenerate_dec')).body.dec
  expect(await room(org, 1)).toMatchObject({ dec: renewed, decUsed: neverUsed })
})

test.each(['regenerate_dec', 'regenerate-dec'])('%s invalidates the old code [contract 6.rooms]', async (verb) => {
  const org = await createBuilding()
  const [old, version, rest] = [await room(org, 1), await etag(org, 1), await others(org)]
  const { dec, ...more } = (await org.call('POST', `/rooms/1/${verb}`)).body
  expect([dec, more]).toEqual([code, {}])
  expect(dec).not.toBe(old.dec)
  expect(await room(org, 1)).toEqual({ ...old, dec, enrolmentUrl: `${harness.publicUrl}/enrol#${dec}` })
  expect(await etag(org, 1)).not.toBe(version)
  expect([await findRoomOfCode(old.dec), await findRoomOfCode(dec)]).toEqual([undefined, 1])
  expect(await others(org)).toEqual(rest)
  const log = await org.audit()
  expect(log[0]).toMatchObject({ category: 'DEVICE', type: 'DEVICE_ENROLMENT_CODE_GENERATED', target: { id: '1' } })
  expect(JSON.stringify(log)).not.toContain(dec)
})

test('a room has a capacity of 1 to 10,000: absent keeps it, null clears it, and an absent locationId still clears the location [contract 5.4.room]', async () => {
  const org = await createBuilding()
  const read = async (id: number) => (await org.call('GET', `/rooms/${id}`)).body
  const made = await org.call('POST', '/rooms', { body: { name: 'Hall', locationId: 1, capacity: 10_000 } })
  expect(made.body).toMatchObject({ capacity: 10_000, location: { id: 1 } })
  const { id } = made.body
  const listed = async () =>
    (await org.call('GET', '/rooms')).body.rooms.find((room: { id: number }) => room.id === id).capacity
  expect(await listed()).toBe(10_000)
  expect((await org.call('GET', '/rooms/1')).body).not.toHaveProperty('capacity')

  const put = (body: object) => org.call('PUT', `/rooms/${id}`, { body: { name: 'Hall', ...body } })
  const changed = (await put({ locationId: 1, capacity: 12 })).body
  expect(changed.capacity).toBe(12)
  expect((await org.audit())[0].details).toMatchObject({ before: { capacity: 10_000 }, after: { capacity: 12 } })
  const kept = (await put({})).body
  expect(kept.capacity).toBe(12)
  expect(kept).not.toHaveProperty('location')
  for (const capacity of [0, 10_001, 1.5, '12']) {
    const refused = await put({ capacity })
    expect(refused.status, String(capacity)).toBe(400)
    expect(refused.body.violations).toMatchObject([{ field: 'capacity' }])
  }
  expect((await read(id)).capacity).toBe(12)
  expect((await put({ capacity: null })).body).not.toHaveProperty('capacity')
  expect(await listed()).toBeUndefined()
})

test('a room has up to 20 tags, each once: absent keeps them, null or an empty list clears them, and roomsList finds them [contract 12.when]', async () => {
  const org = await createBuilding()
  const body = { name: 'Hall', tags: ['huddle', 'canary', 'huddle'] }
  const made = (await org.call('POST', '/rooms', { body })).body
  expect(made.tags).toEqual(['huddle', 'canary'])
  expect((await org.audit())[0].details.after).toMatchObject({ tags: ['huddle', 'canary'] })
  expect((await org.call('GET', '/rooms/1')).body).not.toHaveProperty('tags')
  const found = async (query: string) =>
    (await org.call('GET', `/rooms?${query}`)).body.rooms.map(({ id, tags }: { id: number; tags?: string[] }) => ({
      id,
      tags,
    }))
  const { id } = made
  const hall = { id, tags: ['huddle', 'canary'] }
  expect(await found('tag=canary')).toEqual([hall])
  expect(await found('')).toContainEqual(hall)
  expect(await found('')).toContainEqual({ id: 1, tags: undefined })
  for (const query of ['tag=can', 'tag=', 'tag=%22', 'tag=canary&locationId=1']) expect(await found(query)).toEqual([])

  const put = (changes: object) => org.call('PUT', `/rooms/${id}`, { body: { name: 'Hall', ...changes } })
  expect((await put({ locationId: 1 })).body.tags).toEqual(hall.tags)
  expect((await org.audit())[0].details.after).not.toHaveProperty('tags')
  expect(await found('tag=canary&locationId=1')).toEqual([hall])
  expect((await put({ tags: ['a-1'] })).body.tags).toEqual(['a-1'])
  expect((await org.audit())[0].details).toMatchObject({ before: { tags: hall.tags }, after: { tags: ['a-1'] } })
  const many = Array.from({ length: 21 }, (_, n) => `t${n}`)
  for (const tags of ['a', [1], [''], ['A'], ['a b'], ['a\n'], ['x'.repeat(41)], ['a', null], many, {}]) {
    const refused = await put({ tags })
    expect(refused.status, JSON.stringify(tags)).toBe(400)
    expect(refused.body.violations[0].field).toMatch(/^tags/)
  }
  expect((await put({})).body.tags).toEqual(['a-1'])
  expect((await put({ tags: many.slice(1) })).body.tags).toHaveLength(20)
  for (const tags of [null, []]) {
    expect((await put({ tags: ['x'.repeat(40)] })).body.tags).toHaveLength(1)
    expect((await put({ tags })).body).not.toHaveProperty('tags')
  }
})

test('roomsDelete writes every field of the room into the audit log [contract 5.4.audit]', async () => {
  const org = await createBuilding()
  const fields = { name: 'Hall', locationId: 1, capacity: 40, tags: ['town-hall'] }
  const { id } = (await org.call('POST', '/rooms', { body: fields })).body
  expect((await org.audit())[0].details).toEqual({ after: fields })
  const profile = (await org.call('POST', '/profiles', { body: { name: 'Loud', config: {} } })).body.profile
  await org.call('PUT', `/rooms/${id}/profile`, { body: { profileId: profile.id } })
  await org.call('DELETE', `/rooms/${id}`)
  expect((await org.audit())[0].details).toEqual({ before: { ...fields, profileId: profile.id } })
})
