// Tests which endpoints, configs and pair groups a caller sees that is limited to regions. [contract 11.access]
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { newPerson } from '../../../../test/support/person.ts'
import {
  expectNothingChanged,
  expectSameAsUnknown,
  hiddenSites,
  newTwoRegions,
  type TwoRegions,
} from '../../../../test/support/places/two-regions.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const unknownRoom = 9

/** The endpoints of the hidden sites, and one without a room. */
async function hiddenEndpoints(t: TwoRegions): Promise<string[]> {
  const [roomless] = await putEndpoints(harness, t.org, [{ serial: 'ROOMLESS' }])
  return [...hiddenSites(t).map(({ endpoint }) => endpoint), roomless?.id ?? '']
}

test('the list shows only endpoints in visible regions, with and without filters, and has an ETag of what is seen', async () => {
  const t = await newTwoRegions(harness)
  await hiddenEndpoints(t)
  const idsIn = (body: { endpoints: { id: string }[] }) => body.endpoints.map(({ id }) => id)
  expect(idsIn((await t.org.call('GET', '/endpoints')).body), 'the cached list of an owner').toHaveLength(4)
  const list = await t.call('GET', '/endpoints')
  expect(idsIn(list.body)).toEqual([t.mine.endpoint])
  expect(list.text).not.toMatch(/OTHER|NOWHERE|ROOMLESS/)
  const { region, location } = t.mine
  for (const filter of [`regionId=${region}`, `locationId=${location}`, `regionId=${region}&locationId=${location}`]) {
    expect(idsIn((await t.call('GET', `/endpoints?${filter}`)).body), filter).toEqual([t.mine.endpoint])
  }
  for (const filter of [`regionId=${t.other.region}`, `locationId=${t.nowhere.location}`]) {
    expect((await t.call('GET', `/endpoints?${filter}`)).body, filter).toEqual({ endpoints: [] })
  }
  await t.org.call('PUT', `/rooms/${t.other.room}`, { body: { name: 'Renamed', locationId: t.other.location } })
  const again = await t.call('GET', '/endpoints', { headers: { 'if-none-match': list.headers.get('etag') ?? '' } })
  expect(again.status).toBe(304)
})

test('the id of a hidden endpoint in a path gets the answer to an unknown id, and nothing happens', async () => {
  const t = await newTwoRegions(harness)
  const hidden = await hiddenEndpoints(t)
  await t.org.call('POST', `/endpoints/${t.other.endpoint}/config`, { body: { brightness: 0.5 } })
  // Owners have read them, so they are in the cache.
  for (const id of hidden) expect((await t.org.call('GET', `/endpoints/${id}`)).status).toBe(200)
  await expectNothingChanged(t, async () => {
    for (const endpoint of hidden) {
      const refused = async (method: string, path: string, body?: unknown) => {
        const ids = [endpoint, randomUUID()] as const
        const { status } = await expectSameAsUnknown(t, ids, (id) => [method, `/endpoints/${id}${path}`, body])
        expect(status).toBe(404)
      }
      await refused('GET', '')
      await refused('DELETE', '')
      await refused('PUT', '/profile', { profileId: null })
      await refused('GET', '/config')
      await refused('POST', '/config', { brightness: 0.1 })
      await refused('GET', '/config/state')
      await refused('GET', '/config/versions')
      await refused('GET', '/config/versions/1')
      await refused('POST', '/config/versions/1/restore')
      await refused('GET', '/operations')
      await refused('POST', '/reboot')
    }
  })
})

test('the id of something hidden in the body of a move gets the answer to an unknown id, and nothing happens', async () => {
  const t = await newTwoRegions(harness)
  await expectNothingChanged(t, async () => {
    const refused = async <I extends string | number>(hidden: I, unknown: I, body: (id: I) => unknown) => {
      const request = (id: I) => ['POST', '/endpoints/move_paired', body(id)] as const
      expect((await expectSameAsUnknown(t, [hidden, unknown], request)).status).toBe(400)
    }
    for (const id of await hiddenEndpoints(t)) {
      await refused(id, randomUUID(), (id) => ({ endpointIds: [t.mine.endpoint, id], roomId: t.mine.room }))
    }
    for (const { room } of hiddenSites(t)) {
      await refused(room, unknownRoom, (roomId) => ({ endpointIds: [t.mine.endpoint], roomId }))
    }
  })
})

test('an admin of a region reads, configures, moves and unenrols the endpoints in it', async () => {
  const t = await newTwoRegions(harness)
  const { endpoint, location } = t.mine
  const owned = await t.org.call('GET', `/endpoints/${endpoint}`)
  const seen = await t.call('GET', `/endpoints/${endpoint}`)
  expect([seen.text, seen.headers.get('etag')]).toEqual([owned.text, owned.headers.get('etag')])
  const done = async (method: string, path: string, body?: unknown) => {
    const reply = await t.call(method, path, body === undefined ? {} : { body })
    expect(reply.status, `${method} ${path} ${reply.text}`).toBe(200)
    return reply.body
  }
  await done('POST', `/endpoints/${endpoint}/config`, { brightness: 0.5 })
  await done('POST', `/endpoints/${endpoint}/config/versions/1/restore`)
  expect((await done('GET', `/endpoints/${endpoint}/config/versions`)).versions).toHaveLength(2)
  expect(await done('GET', `/endpoints/${endpoint}/config/state`)).toMatchObject({ version: 2 })
  const room = (await done('POST', '/rooms', { name: 'Next door', locationId: location })).id
  await done('POST', '/endpoints/move_paired', { endpointIds: [endpoint], roomId: room })
  expect(await done('GET', `/endpoints/${endpoint}`)).toMatchObject({ roomId: room, roomName: 'Next door' })
  await done('DELETE', `/endpoints/${endpoint}`)
})

test('an endpoint appears and disappears with its place, whatever the cache has', async () => {
  const t = await newTwoRegions(harness)
  const { endpoint, location } = t.other
  const statusOf = async () => (await t.call('GET', `/endpoints/${endpoint}`)).status
  const moveTo = (roomId: number) =>
    t.org.call('POST', '/endpoints/move_paired', { body: { endpointIds: [endpoint], roomId } })
  const putLocation = (regionId: number) => t.org.call('PUT', `/locations/${location}`, { body: { regionId } })
  expect(await statusOf()).toBe(404)
  await moveTo(t.mine.room)
  expect(await statusOf()).toBe(200)
  await moveTo(t.other.room)
  expect(await statusOf()).toBe(404)
  await putLocation(t.mine.region)
  expect(await statusOf()).toBe(200)
  await putLocation(t.other.region)
  expect(await statusOf()).toBe(404)
  const nobody = await newPerson(harness, t.org, { role: 'admin' })
  expect((await t.call('GET', `/endpoints/${t.mine.endpoint}`, { key: nobody.key })).status).toBe(404)
  expect((await t.call('GET', '/endpoints', { key: nobody.key })).body).toEqual({ endpoints: [] })
})

test('cached bytes of a hidden room are not shown for an endpoint that has left it', async () => {
  const t = await newTwoRegions(harness)
  const { endpoint } = t.other
  expect((await t.org.call('GET', `/endpoints/${endpoint}`)).body).toMatchObject({ roomName: 'OTHER room' })
  // The cache does not hear of this move, as if it happened after the look into the cache.
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely.updateTable('endpoints').set({ room_id: t.mine.room, version: 2 }).where('id', '=', endpoint).execute(),
  )
  expect((await t.call('GET', `/endpoints/${endpoint}`)).body).toMatchObject({ roomName: 'MINE room' })
})

test('a reboot, move or bug report of endpoints that are paired with hidden ones is refused with their number', async () => {
  const t = await newTwoRegions(harness)
  const status = JSON.stringify({ pairedSerials: ['FAR', 'NO-ROOM', 'NEAR'] })
  const paired = { pairing_serial: 'LEADER', connected: 1 }
  const rows = await putEndpoints(harness, t.org, [
    { serial: 'LEADER', room_id: t.mine.room, connected: 1, status },
    { serial: 'NEAR', room_id: t.mine.room, ...paired },
    { serial: 'FAR', room_id: t.other.room, ...paired },
    { serial: 'NO-ROOM', ...paired },
  ])
  const [leader, near, far, roomless] = rows.map(({ id }) => id)
  const writes = (id: string | undefined): [path: string, body?: unknown][] => [
    [`/endpoints/${id}/reboot`],
    ['/endpoints/move_paired', { endpointIds: [id], roomId: t.mine.room }],
    ['/endpoints/generate_bug_report', [t.mine.endpoint, id]],
  ]
  const post = (path: string, body?: unknown) => t.call('POST', path, body === undefined ? {} : { body })
  await expectNothingChanged(t, async () => {
    for (const id of [leader, near]) {
      for (const [path, body] of writes(id)) {
        const reply = await post(path, body)
        expect([reply.status, reply.body.code], path).toEqual([400, 'FAILED_PRECONDITION'])
        expect(reply.body.message, path).toBe(
          'Operation preconditions not met: 2 paired endpoints are outside the regions that you see, so nothing was done. Ask a person who sees all of these regions.',
        )
        expect(reply.text).not.toMatch(new RegExp(`${far}|${roomless}|FAR|NO-ROOM`))
      }
    }
  })
  const all = { endpointIds: [far, roomless], roomId: t.mine.room }
  expect((await t.org.call('POST', '/endpoints/move_paired', { body: all })).status).toBe(200)
  for (const [path, body] of writes(near)) expect((await post(path, body)).status, path).toBe(200)
})

test('a device shows which devices it reports as paired, wherever these are [contract 11.access]', async () => {
  const t = await newTwoRegions(harness)
  const pairedSerials = ['FAR', 'NOT-ENROLLED']
  const [bar, pad] = await putEndpoints(harness, t.org, [
    { serial: 'LEADER', room_id: t.mine.room, status: JSON.stringify({ pairedSerials }) },
    { serial: 'PAD', room_id: t.mine.room, pairing_serial: 'FAR' },
    { serial: 'FAR', room_id: t.other.room, pairing_serial: 'LEADER' },
  ])
  const { endpoints: listed } = (await t.call('GET', '/endpoints')).body
  const { endpoints: inRoom } = (await t.call('GET', `/rooms/${t.mine.room}`)).body
  for (const [endpoint, pairs] of [
    [bar, { pairedSerials }],
    [pad, { pairingSerial: 'FAR' }],
  ] as const) {
    expect((await t.call('GET', `/endpoints/${endpoint?.id}`)).body).toMatchObject(pairs)
    for (const list of [listed, inRoom])
      expect(list.find(({ id }: { id: string }) => id === endpoint?.id)).toMatchObject(pairs)
  }
})
