// Tests moving endpoints with everything that is paired with them, through HTTP. [contract 4.endpointsMoveRoom]
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** Rooms 1, 2 and 3; profiles 1, which room 1 has, and 2, which room 2 has. */
async function building(): Promise<TestOrg> {
  const org = await harness.newOrg()
  for (const name of ['Fjord', 'Fuji', 'Attic']) await org.call('POST', '/rooms', { body: { name } })
  for (const id of [1, 2]) {
    await org.call('POST', '/profiles', { body: { name: `P${id}`, config: { brightness: id / 10 } } })
    await org.call('PUT', `/rooms/${id}/profile`, { body: { profileId: id } })
  }
  return org
}

/** A leader with two followers, of which it lists the one in another room, and a loner. */
async function group(org: TestOrg) {
  const rows = await putEndpoints(harness, org, [
    { serial: 'LEADER', room_id: 1, profile_id: 1, status: '{"pairedSerials":["FRAME"]}' },
    { serial: 'PAD', pairing_serial: 'LEADER', room_id: 1, profile_id: null },
    { serial: 'FRAME', pairing_serial: 'LEADER', room_id: 3, profile_id: 2 },
    { serial: 'LONER', room_id: 1, profile_id: 1 },
  ])
  return rows.map((row) => row.id) as [string, string, string, string]
}

const move = (org: TestOrg, body: object) => org.call('POST', '/endpoints/move_paired', { body })
const rowsOf = async ({ org }: TestOrg) =>
  Object.fromEntries(
    (
      await harness.services.db.system.kysely.selectFrom('endpoints').selectAll().where('org', '=', org.key).execute()
    ).map((row) => [row.id, row]),
  )
const roomTags = (org: TestOrg) =>
  Promise.all([1, 2, 3].map(async (n) => (await org.call('GET', `/rooms/${n}`)).headers.get('etag')))
const configVersion = async (org: TestOrg, id: string) =>
  (await org.call('GET', `/endpoints/${id}/config/state`)).body.version
const snapshot = async (org: TestOrg) => [await rowsOf(org), await roomTags(org), await org.audit()]

test.each([
  ['its leader', [0]],
  ['a follower', [2]],
  ['all of them, backwards and twice', [2, 1, 0, 1, 2]],
])('naming %s moves the whole group, each once, and no other device [contract 5.1.pairing]', async (_, named) => {
  const org = await building()
  const ids = await group(org)
  const [before, tags, log] = [await rowsOf(org), await roomTags(org), await org.audit()]
  const reply = await move(org, { endpointIds: named.map((n) => ids[n]), roomId: 2 })
  const moved = ids.slice(0, 3)
  expect(reply.status, reply.text).toBe(200)
  expect(reply.body.endpointIds).toHaveLength(3)
  expect(new Set(reply.body.endpointIds)).toEqual(new Set(moved))
  const after = await rowsOf(org)
  for (const id of moved) {
    expect(after[id]).toMatchObject({ room_id: 2, profile_id: before[id]?.profile_id })
    expect(after[id]?.version).toBeGreaterThan(before[id]?.version as number)
    expect(await configVersion(org, id), 'the profile stays, so the config does').toBe(0)
  }
  expect(after[ids[3]]).toEqual(before[ids[3]])
  const newTags = await roomTags(org)
  for (const n of [0, 1, 2]) expect(newTags[n], `room ${n + 1}`).not.toBe(tags[n])
  const [entry, ...earlier] = await org.audit()
  expect(earlier).toEqual(log)
  expect(entry).toMatchObject({
    category: 'DEVICE',
    type: 'DEVICE_MOVED',
    target: { type: 'room', id: '2', name: 'Fuji' },
  })
  const { before: was, after: is, affected } = entry.details
  expect([was, is]).toEqual([{ roomIds: { [ids[0]]: 1, [ids[1]]: 1, [ids[2]]: 3 } }, { roomId: 2 }])
  expect(new Set(affected.map((a: { serial: string }) => a.serial))).toEqual(new Set(['LEADER', 'PAD', 'FRAME']))
})

test('assignRoomProfile gives the profile of the new room, and a config version only where it changed [contract 5.4.profile]', async () => {
  const org = await building()
  const ids = await group(org)
  await move(org, { endpointIds: [ids[0]], roomId: 2, assignRoomProfile: true })
  const rows = await rowsOf(org)
  expect(ids.map((id) => rows[id]?.profile_id)).toEqual([2, 2, 2, 1])
  expect(await Promise.all(ids.map((id) => configVersion(org, id)))).toEqual([1, 1, 0, 0])
  const { before, after } = (await org.audit())[0].details
  expect(before.profileIds).toEqual({ [ids[0]]: 1, [ids[1]]: null, [ids[2]]: 2 })
  expect(after).toEqual({ roomId: 2, profileId: 2 })

  await move(org, { endpointIds: [ids[0]], roomId: 3, assignRoomProfile: true })
  const without = await rowsOf(org)
  expect(
    ids.map((id) => without[id]?.profile_id),
    'room 3 has none',
  ).toEqual([null, null, null, 1])
  expect(await Promise.all(ids.map((id) => configVersion(org, id)))).toEqual([2, 2, 1, 0])
})

test('a connected device gets the config of its new profile', async () => {
  const org = await building()
  const device = await newDevice(harness, org, { roomId: 1 })
  await move(org, { endpointIds: [device.id], roomId: 2, assignRoomProfile: true })
  await expect.poll(async () => (await device.next('config')).config).toEqual({ brightness: 0.2 })
  expect((await org.call('GET', `/endpoints/${device.id}`)).body).toMatchObject({
    roomId: 2,
    roomName: 'Fuji',
    profileId: 2,
  })
  await device.close()
})

test('the answer also names endpoints that were in the room already', async () => {
  const org = await building()
  const ids = await group(org)
  expect(new Set((await move(org, { endpointIds: [ids[2]], roomId: 3 })).body.endpointIds)).toEqual(
    new Set(ids.slice(0, 3)),
  )
})

test('unknown and foreign ids are a 400 that names each, and nothing moves [contract 2.2]', async () => {
  const [org, elsewhere] = [await building(), await building()]
  const ids = await group(org)
  const [foreign] = await putEndpoints(harness, elsewhere, [{ serial: 'LEADER', room_id: 1 }])
  const [before, beforeElsewhere] = [await snapshot(org), await snapshot(elsewhere)]
  const wrong = [randomUUID(), foreign?.id as string, 'nonsense', 'a\u0000b', '\ud800', ids[0].toUpperCase()]
  const { status, body } = await move(org, { endpointIds: [ids[0], ...wrong, wrong[0]], roomId: 2 })
  expect([status, body.code]).toEqual([400, 'INVALID_ARGUMENT'])
  expect(body.message).toMatch(/^Invalid request: there are no endpoints /)
  expect(body.violations).toHaveLength(wrong.length)
  for (const [n, id] of wrong.entries()) {
    const shown = id.toWellFormed()
    expect(body.message).toContain(shown)
    expect(body.violations[n]).toEqual({ field: 'endpointIds', error: expect.stringContaining(shown) })
  }
  expect(body.message).not.toContain(ids[0])
  expect(await snapshot(org)).toEqual(before)
  expect(await snapshot(elsewhere)).toEqual(beforeElsewhere)
})

test('an unknown room, and a bad body, move nothing [contract 2.2]', async () => {
  const org = await building()
  const [first] = await group(org)
  const before = await snapshot(org)
  for (const roomId of [77, 0, -1]) {
    const { status, body } = await move(org, { endpointIds: [first], roomId })
    expect([status, body.code]).toEqual([400, 'FAILED_PRECONDITION'])
    expect(body.message).toContain(`room ${roomId}`)
  }
  for (const body of [
    { roomId: 2 },
    { endpointIds: [], roomId: 2 },
    { endpointIds: [first] },
    { endpointIds: [1], roomId: 2 },
  ]) {
    expect((await move(org, body)).body.code).toBe('INVALID_ARGUMENT')
  }
  const tooMany = Array.from({ length: 1001 }, () => first)
  expect((await move(org, { endpointIds: tooMany, roomId: 2 })).body.violations).toMatchObject([
    { field: 'endpointIds' },
  ])
  expect(await snapshot(org)).toEqual(before)
})

test('groups of other organisations with the same leader are other groups [contract 5.1.pairing]', async () => {
  const [org, elsewhere] = [await building(), await building()]
  const ids = await group(org)
  await putEndpoints(harness, elsewhere, [{ serial: 'OTHER', pairing_serial: 'LEADER', room_id: 1 }])
  const before = await snapshot(elsewhere)
  expect((await move(org, { endpointIds: [ids[0]], roomId: 2 })).body.endpointIds).toHaveLength(3)
  expect(await snapshot(elsewhere)).toEqual(before)
})

test('a group of a thousand moves at once, with its profile', async () => {
  const org = await building()
  const [leader] = await putEndpoints(harness, org, [{ serial: 'LEADER', room_id: 1, profile_id: 1 }])
  const paired = Array.from({ length: 999 }, () => ({ pairing_serial: 'LEADER', room_id: 1 }))
  const followers = await putEndpoints(harness, org, paired)
  const { body } = await move(org, {
    endpointIds: [followers[500]?.id, leader?.id],
    roomId: 2,
    assignRoomProfile: true,
  })
  expect(new Set(body.endpointIds).size).toBe(1000)
  const rows = Object.values(await rowsOf(org))
  expect(rows.every((row) => row.room_id === 2 && row.profile_id === 2)).toBe(true)
  expect(await configVersion(org, followers[999 - 1]?.id as string)).toBe(1)
  expect((await org.audit())[0].details.affected).toHaveLength(1000)
  const named = rows.map((row) => row.id)
  expect((await move(org, { endpointIds: named, roomId: 3 })).body.endpointIds).toHaveLength(1000)
})
