// Tests which regions, locations, rooms and notes a caller sees that is limited to regions. [contract 11.access]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { newPerson } from '../../../../test/support/person.ts'
import {
  expectNothingChanged,
  expectSameAsUnknown,
  hiddenSites,
  newTwoRegions,
} from '../../../../test/support/places/two-regions.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** No fixture has so many things, and its ids have one digit too. */
const unknown = 9

test('lists show only what is in a visible region, and nothing that is in none', async () => {
  const t = await newTwoRegions(harness)
  const { mine } = t
  const regions = (await t.call('GET', '/regions')).body
  const site = { id: mine.location, name: 'MINE site' }
  expect(regions).toEqual({ regions: [{ id: mine.region, name: 'MINE', locations: [site] }] })
  const locations = (await t.call('GET', '/locations')).body
  expect(locations).toEqual({ locations: [{ ...site, region: { id: mine.region, name: 'MINE' } }] })
  const rooms = (await t.call('GET', '/rooms')).body.rooms
  expect(rooms).toMatchObject([{ id: mine.room, location: site, endpointCount: 1, connectedCount: 1 }])
  expect(rooms).toHaveLength(1)
  const notes = (await t.call('GET', '/rooms/notes')).body.notes
  expect(notes).toMatchObject([{ id: mine.note, roomId: mine.room }])
  expect(notes).toHaveLength(1)
  expect((await t.org.call('GET', '/rooms')).body.rooms, 'an owner sees all of them').toHaveLength(3)
})

test('an ETag of a list changes with what is seen only', async () => {
  const t = await newTwoRegions(harness)
  const lists = ['/regions', '/locations', '/rooms', '/rooms/notes']
  const tagsOf = () => Promise.all(lists.map(async (path) => (await t.call('GET', path)).headers.get('etag')))
  const before = await tagsOf()
  await t.org.call('PUT', `/regions/${t.other.region}`, { body: { name: 'OTHER again' } })
  for (const { room, location } of hiddenSites(t)) {
    await t.org.call('PUT', `/locations/${location}`, { body: { name: 'Renamed' } })
    await t.org.call('PUT', `/rooms/${room}`, { body: { name: 'Renamed', locationId: location } })
    await t.org.call('POST', `/rooms/${room}/notes`, { body: { note: 'More' } })
  }
  expect(await tagsOf()).toEqual(before)
  await t.org.call('PUT', `/rooms/${t.mine.room}`, { body: { name: 'Renamed', locationId: t.mine.location } })
  expect((await t.call('GET', '/rooms')).headers.get('etag')).not.toBe(before[2])
})

test('a filter for a hidden region or location gives the empty list of an unknown one', async () => {
  const t = await newTwoRegions(harness)
  const ids = { regionId: [t.other.region], locationId: hiddenSites(t).map(({ location }) => location) }
  for (const [name, hidden] of Object.entries(ids)) {
    for (const id of hidden) {
      const { body } = await expectSameAsUnknown(t, [id, unknown], (id) => ['GET', `/rooms?${name}=${id}`])
      expect(body).toEqual({ rooms: [] })
    }
  }
  const both = `regionId=${t.mine.region}&locationId=${t.mine.location}`
  expect((await t.call('GET', `/rooms?${both}`)).body.rooms).toHaveLength(1)
})

test('the id of something hidden in a path gets the answer to an unknown id, and nothing happens', async () => {
  const t = await newTwoRegions(harness)
  await expectNothingChanged(t, async () => {
    for (const { location, room, note } of hiddenSites(t)) {
      const refused = async (id: number, method: string, path: (id: number) => string, body?: unknown) => {
        const { status } = await expectSameAsUnknown(t, [id, unknown], (id) => [method, path(id), body])
        expect(status).toBe(404)
      }
      await refused(location, 'PUT', (id) => `/locations/${id}`, { name: 'Taken' })
      await refused(location, 'PUT', (id) => `/locations/${id}`, { regionId: t.mine.region })
      await refused(location, 'DELETE', (id) => `/locations/${id}`)
      await refused(room, 'GET', (id) => `/rooms/${id}`)
      await refused(room, 'GET', (id) => `/rooms/${id}/enrolment`)
      await refused(room, 'PUT', (id) => `/rooms/${id}`, { name: 'Taken', locationId: t.mine.location })
      await refused(room, 'DELETE', (id) => `/rooms/${id}`)
      await refused(room, 'POST', (id) => `/rooms/${id}/regenerate_dec`)
      await refused(room, 'PUT', (id) => `/rooms/${id}/profile`, { profileId: null })
      await refused(room, 'GET', (id) => `/rooms/${id}/notes`)
      await refused(room, 'POST', (id) => `/rooms/${id}/notes`, { note: 'Taken' })
      await refused(room, 'GET', (id) => `/rooms/${id}/notes/${note}`)
      await refused(room, 'DELETE', (id) => `/rooms/${id}/notes/${note}`)
      // A note is looked up in its room, so the note of a hidden room is not in a visible one.
      await refused(Number(note), 'GET', (id) => `/rooms/${t.mine.room}/notes/${id}`)
      await refused(Number(note), 'DELETE', (id) => `/rooms/${t.mine.room}/notes/${id}`)
    }
  })
})

test('the id of something hidden in a body gets the answer to an unknown id, and nothing happens', async () => {
  const t = await newTwoRegions(harness)
  await expectNothingChanged(t, async () => {
    const { mine, other } = t
    const refused = async (id: number, method: string, path: string, body: (id: number) => unknown) => {
      const { status } = await expectSameAsUnknown(t, [id, unknown], (id) => [method, path, body(id)])
      expect(status).toBe(400)
    }
    await refused(other.region, 'POST', '/locations', (regionId) => ({ name: 'New', regionId }))
    await refused(other.region, 'PUT', `/locations/${mine.location}`, (regionId) => ({ regionId }))
    for (const { location } of hiddenSites(t)) {
      await refused(location, 'POST', '/rooms', (locationId) => ({ name: 'New', locationId }))
      await refused(location, 'PUT', `/rooms/${mine.room}`, (locationId) => ({ name: 'New', locationId }))
    }
  })
})

test('a write after which its caller would no longer see the thing is refused, and the message says what to do', async () => {
  const t = await newTwoRegions(harness)
  const { mine } = t
  await expectNothingChanged(t, async () => {
    const refusal = async (method: string, path: string, body?: unknown): Promise<string> => {
      const { status, body: error } = await t.call(method, path, body === undefined ? {} : { body })
      expect([status, error.code], `${method} ${path}`).toEqual([400, 'FAILED_PRECONDITION'])
      return error.message
    }
    const locationRefusal =
      'Operation preconditions not met: you would not see a location without a region, because your access is limited to regions. Send the regionId of a region that you see.'
    expect(await refusal('POST', '/locations', { name: 'New' })).toBe(locationRefusal)
    expect(await refusal('POST', '/locations', { name: 'New', regionId: null })).toBe(locationRefusal)
    expect(await refusal('PUT', `/locations/${mine.location}`, { regionId: 0 })).toBe(locationRefusal)
    const roomRefusal =
      'Operation preconditions not met: you would not see a room without a location, because your access is limited to regions. Send the locationId of a location that you see.'
    expect(await refusal('POST', '/rooms', { name: 'New' })).toBe(roomRefusal)
    expect(await refusal('PUT', `/rooms/${mine.room}`, { name: 'New' })).toBe(roomRefusal)
    expect(await refusal('PUT', `/rooms/${mine.room}`, { name: 'New', locationId: null })).toBe(roomRefusal)
    expect(await refusal('DELETE', `/locations/${mine.location}`)).toBe(
      `Operation preconditions not met: you would not see the rooms of location ${mine.location} any more, because your access is limited to regions. Move or delete them first.`,
    )
  })
  expect((await t.call('GET', `/rooms/${mine.room}`)).body).toMatchObject({ location: { id: mine.location } })
})

test('an admin of a region makes, changes and deletes locations, rooms and notes in it', async () => {
  const t = await newTwoRegions(harness)
  const { mine } = t
  const done = async (method: string, path: string, body?: unknown) => {
    const reply = await t.call(method, path, body === undefined ? {} : { body })
    expect(reply.status, `${method} ${path} ${reply.text}`).toBe(200)
    return reply.body
  }
  const location = (await done('POST', '/locations', { name: 'Annex', regionId: mine.region })).id
  await done('PUT', `/locations/${location}`, { name: 'West wing', regionId: mine.region })
  const room = await done('POST', '/rooms', { name: 'Lake', locationId: location })
  expect(room).toMatchObject({ dec: expect.any(String), location: { region: { id: mine.region } } })
  await done('PUT', `/rooms/${room.id}`, { name: 'Pond', locationId: mine.location })
  const note = (await done('POST', `/rooms/${room.id}/notes`, { note: 'Wet' })).id
  await done('DELETE', `/rooms/${room.id}/notes/${note}`)
  await done('DELETE', `/rooms/${room.id}`)
  await done('DELETE', `/locations/${location}`)
})

test('a caller who sees no region sees nothing, and what is moved into a visible region appears', async () => {
  const t = await newTwoRegions(harness)
  const nobody = await newPerson(harness, t.org, { role: 'admin' })
  for (const path of ['/regions', '/locations', '/rooms', '/rooms/notes']) {
    const { body } = await t.call('GET', path, { key: nobody.key })
    expect(Object.values(body), path).toEqual([[]])
  }
  await t.org.call('PUT', `/locations/${t.nowhere.location}`, { body: { regionId: t.mine.region } })
  expect((await t.call('GET', '/rooms')).body.rooms).toHaveLength(2)
  await t.org.call('PUT', `/locations/${t.nowhere.location}`, { body: { regionId: t.other.region } })
  expect((await t.call('GET', '/rooms')).body.rooms).toHaveLength(1)
})

test('the enrolment code of a room is shown to those who may operate', async () => {
  const { org, mine } = await newTwoRegions(harness)
  const roomSeenBy = async (operate: 0 | 1) => {
    const key = await org.newKey({ scopes: ['read'], name: `Operate ${operate}` })
    await harness.services.db.systemTransaction(({ kysely }) =>
      kysely.updateTable('api_keys').set({ operate }).where('name', '=', `Operate ${operate}`).execute(),
    )
    return (await org.call('GET', `/rooms/${mine.room}`, { key })).body
  }
  expect(await roomSeenBy(1)).toMatchObject({ dec: expect.any(String), decTimeout: 24 })
  const fields = Object.keys(await roomSeenBy(0))
  expect(fields).not.toContain('dec')
  expect(fields).not.toContain('decUsed')
})
