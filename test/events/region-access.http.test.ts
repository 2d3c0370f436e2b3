// Event streams of callers who are limited to regions: which events they get, what is left out of them, and when they end. [contract 11.access]
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { makeClient } from '../../src/client/client.ts'
import { newDevice } from '../support/devices/test-device.ts'
import { follow } from '../support/event-follower.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { newIncident } from '../support/incidents.ts'
import { type NewPerson, newPerson } from '../support/person.ts'
import { newApiKey } from '../support/places/callers.ts'
import { until } from '../support/program.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** North (1) with Oslo (1) and Fjord (1), South (2) with Rome (2) and Forum (2), and the room Cellar (3) in no region. */
async function site() {
  const org = await harness.newOrg()
  const post = async (path: string, body: object) => (await org.call('POST', path, { body })).body
  for (const name of ['North', 'South']) await post('/regions', { name })
  for (const [name, regionId] of Object.entries({ Oslo: 1, Rome: 2 })) await post('/locations', { name, regionId })
  for (const [name, locationId] of Object.entries({ Fjord: 1, Forum: 2, Cellar: 0 }))
    await post('/rooms', { name, locationId })
  const device = async (roomId: number) => {
    const made = await newDevice(harness, org, { roomId })
    onTestFinished(() => made.close())
    return made
  }
  return { org, post, device }
}

async function clientFor(org: TestOrg, wanted: NewPerson) {
  const person = await newPerson(harness, org, wanted)
  return { person, client: makeClient({ baseUrl: harness.url, org: org.id, token: person.key }) }
}
const adminOf = (org: TestOrg, ...regionIds: number[]) => clientFor(org, { role: 'admin', regionIds })
/** The streams of new people, which begin when all of them exist. */
async function followAs(org: TestOrg, ...people: NewPerson[]): Promise<Follower[]> {
  const clients = []
  for (const wanted of people) clients.push((await clientFor(org, wanted)).client)
  return Promise.all(clients.map((client) => follow(client)))
}
const admin = (...regionIds: number[]): NewPerson => ({ role: 'admin', regionIds })
const rename = (org: TestOrg, name: string) => org.call('PUT', '/rooms/1', { body: { name, locationId: 1 } })
type Follower = Awaited<ReturnType<typeof follow>>
const named = (name: string) => (event: Follower['events'][number]) => event.change?.target?.name === name

test('events of endpoints reach those who see the region of their room [contract 11.access]', async () => {
  const { org, device } = await site()
  const [inNorth, inSouth, inCellar] = [await device(1), await device(2), await device(3)]
  const readers = await followAs(org, admin(1), admin(2), admin())
  const [north, south, nothing] = readers as [Follower, Follower, Follower]
  const everything = await follow(org.client)
  const at = Math.floor(harness.clock.now() / 1000)
  for (const d of [inSouth, inCellar, inNorth]) await d.publish('sample', { samples: [{ timestamp: at, people: 1 }] })
  await everything.next('sample', ({ endpointId }) => endpointId === inNorth.id)
  await rename(org, 'Last')
  for (const reader of [everything, north]) await reader.next('structure', named('Last'))
  await org.call('PUT', '/regions/2', { body: { name: 'Last' } })
  await south.next('structure', named('Last'))
  const idsIn = (reader: Follower) => reader.of('sample').map(({ endpointId }) => endpointId)
  expect(idsIn(everything)).toHaveLength(3)
  expect(idsIn(north)).toEqual([inNorth.id])
  expect(idsIn(south)).toEqual([inSouth.id])
  expect(north.of('sample')).toEqual(everything.of('sample').filter(({ endpointId }) => endpointId === inNorth.id))
  expect([north.of('structure').length, south.of('structure').length, nothing.events]).toEqual([1, 1, []])
})

test('a change that is about several regions reaches each reader without what is elsewhere [contract 11.access]', async () => {
  const { org, post, device } = await site()
  const d = await device(1)
  const readers = await followAs(org, admin(1), admin(1), admin(2), admin(1, 2))
  const [north, north2, south, both] = readers as [Follower, Follower, Follower, Follower]
  const everything = await follow(org.client)
  await post('/endpoints/move_paired', { roomId: 2, endpointIds: [d.id] })
  const whole = await everything.next('structure')
  const { target, ...change } = whole.change ?? { id: '', type: '' }
  expect([whole.roomIds, target?.name]).toEqual([[1, 2], 'Forum'])
  for (const reader of [north, north2])
    expect(await reader.next('structure')).toEqual({ ...whole, roomIds: [1], change })
  expect(await south.next('structure')).toEqual({ ...whole, roomIds: [2] })
  expect(await both.next('structure')).toEqual(whole)

  await org.call('DELETE', '/rooms/1')
  expect((await north.next('structure', named('Fjord'))).roomIds).toEqual([1])
  await post('/profiles', { name: 'Without a place', config: {} })
  await org.call('PUT', '/regions/2', { body: { name: 'Last' } })
  await south.next('structure', named('Last'))
  expect(south.of('structure')).toHaveLength(2)
  expect(both.events.some(named('Without a place'))).toBe(false)
})

test('an incident in two regions reaches each reader with the rooms that it sees, and a hidden one reaches none [contract 10.states]', async () => {
  const { org, post } = await site()
  const [shared, hidden] = [
    await newIncident(harness, org, { rooms: [1, 2] }),
    await newIncident(harness, org, { rooms: [2] }),
  ]
  const readers = await followAs(org, admin(1), admin(2))
  const [north, south] = readers as [Follower, Follower]
  const everything = await follow(org.client)
  for (const id of [hidden, shared]) await post(`/incidents/${id}/comments`, { text: 'On my way.' })
  await rename(org, 'Last')
  for (const reader of [everything, north]) await reader.next('structure', named('Last'))
  await org.call('PUT', '/regions/2', { body: { name: 'Last' } })
  await south.next('structure', named('Last'))
  const seenBy = (reader: Follower) =>
    reader.of('incident').map(({ incident, roomIds }) => [incident?.id, roomIds?.join()].join(': '))
  expect(seenBy(north)).toEqual([`${shared}: 1`])
  expect(seenBy(south)).toEqual([`${hidden}: 2`, `${shared}: 2`])
  expect(seenBy(everything).toSorted()).toEqual([`${hidden}: 2`, `${shared}: 1`, `${shared}: 2`].toSorted())
})

test('a filter for a hidden place gets what an unknown place gets [contract 11.access]', async () => {
  const { org, post, device } = await site()
  const d = await device(1)
  const { client } = await adminOf(org, 1)
  const hidden = []
  for (const query of [{ roomId: 2 }, { locationId: 2 }, { regionId: 2 }, { regionId: 1, roomId: 2 }, { roomId: 4711 }])
    hidden.push(await follow(client, query))
  const visible = await follow(client, { regionId: 1, locationId: 1, roomId: 1 })
  await post('/endpoints/move_paired', { roomId: 2, endpointIds: [d.id] })
  await rename(org, 'Last')
  await visible.next('structure', named('Last'))
  expect(visible.of('structure')).toHaveLength(2)
  for (const reader of hidden) expect(reader.events).toEqual([])
})

test('changes of the category USER reach those who may read the audit log [contract 11.user]', async () => {
  const { org, post } = await site()
  const readers = await followAs(
    org,
    { role: 'viewer', allRegions: true },
    { role: 'operator', regionIds: [1] },
    admin(1),
  )
  const [viewer, operator, auditor] = readers as [Follower, Follower, Follower]
  const key = await follow(org.client)
  await post('/users', { email: 'new@example.org', role: 'admin', regionIds: [1] })
  await rename(org, 'Last')
  for (const reader of [viewer, operator, auditor, key]) await reader.next('structure', named('Last'))
  const namesOf = (reader: Follower) => reader.of('structure').map(({ change }) => change?.target?.name)
  expect([namesOf(viewer), namesOf(operator)]).toEqual([['Last'], ['Last']])
  expect([namesOf(auditor), namesOf(key)]).toEqual(Array.from({ length: 2 }, () => ['new@example.org', 'Last']))
})

test('a stream ends when the role or the regions of its caller change, and only then [contract 11.access]', async () => {
  const { org } = await site()
  const [moved, demoted, other] = [await adminOf(org, 1), await adminOf(org, 1), await adminOf(org, 1)]
  const readers = []
  for (const { client } of [moved, demoted, other]) readers.push(await follow(client))
  const [ofMoved, ofDemoted, ofOther] = readers as [Follower, Follower, Follower]
  await rename(org, 'Before')
  await ofMoved.next('structure', named('Before'))
  const lastEventId = ofMoved.received.at(-1)?.id ?? ''
  await org.call('PUT', `/users/${moved.person.id}`, { body: { regionIds: [2] } })
  await org.call('PUT', `/users/${demoted.person.id}`, { body: { role: 'viewer' } })
  await org.call('PUT', `/users/${other.person.id}`, { body: { email: 'renamed@example.org' } })
  await until('their streams end', () => ofMoved.ended === 'by the server' && ofDemoted.ended === 'by the server')
  await rename(org, 'After')
  await ofOther.next('structure', named('After'))
  expect(ofMoved.events.some(named('After'))).toBe(false)

  // The stream resumes from its last id, with the regions that the caller has now.
  const resumed = await follow(moved.client, {}, { lastEventId })
  await org.call('PUT', '/regions/2', { body: { name: 'Last' } })
  await resumed.next('structure', named('Last'))
  expect(resumed.of('reset')).toEqual([])
  expect(resumed.events.some(named('After'))).toBe(false)
})

test('a stream ends when a region of its person or key is deleted, and no other does [contract 11.access] [contract D.3]', async () => {
  const { org, post } = await site()
  const empty = (await post('/regions', { name: 'Empty' })).id
  const keyOf = async (...regionIds: number[]) => {
    const { key = '' } = await newApiKey(org, { scopes: ['read'], regionIds })
    return makeClient({ baseUrl: harness.url, org: org.id, token: key || '' })
  }
  const ending = [(await adminOf(org, 1, empty)).client, (await adminOf(org, empty)).client, await keyOf(1, empty)]
  const staying = [(await adminOf(org, 1)).client, await keyOf(1), org.client]
  const ended = await Promise.all(ending.map((client) => follow(client)))
  const open = await Promise.all(staying.map((client) => follow(client)))
  expect((await org.call('DELETE', `/regions/${empty}`)).status).toBe(200)
  await until('their end', () => ended.every((reader) => reader.ended))
  expect(ended.map((reader) => reader.ended)).toEqual(ended.map(() => 'by the server'))
  await rename(org, 'After')
  for (const reader of open) await reader.next('structure', named('After'))
  expect(open.map((reader) => reader.ended)).toEqual(open.map(() => undefined))
})

test('a reset reaches everybody [contract 11.access]', async () => {
  const { org } = await site()
  const { client } = await adminOf(org, 1)
  const nothing = await adminOf(org)
  const [first, second] = [await follow(client, { types: 'sample', roomId: 4711 }), await follow(nothing.client)]
  harness.services.bus.send('nodeEnded', { nodeId: 1_000_000 })
  for (const reader of [first, second]) expect(await reader.next('reset')).toMatchObject({ roomIds: [] })
  const late = await follow(nothing.client, {}, { lastEventId: 'unknown-1' })
  await late.next('reset')
})
