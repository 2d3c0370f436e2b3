// The plan of a source against a real service: what it makes, what it links, and what a later plan shows. [contract 15.links]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/support/devices/gateway.ts'
import { type Harness, startHarness, type TestOrg } from '../../test/support/harness.ts'
import { type Client, makeClient } from '../client/client.ts'
import { waitingFetch } from '../client/waiting-fetch.ts'
import { devicePaths } from '../contract/device/protocol.ts'
import { planSource, type SourcePlan } from '../plan/source/source-plan.ts'
import { applySourcePlan } from './apply-source-plan.ts'
import { readOrganisation } from './read-organisation.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

interface World {
  readonly org: TestOrg
  readonly client: Client
  readonly source: string
  readonly gateway: TestGateway
  report(structure: object): Promise<void>
  plan(): Promise<SourcePlan>
  apply(plan: SourcePlan, isChosen?: (name: string) => boolean): ReturnType<typeof applySourcePlan>
}

async function newWorld(): Promise<World> {
  const org = await harness.newOrg()
  const { body: room } = await org.call('POST', '/rooms', { body: { name: 'Plant room' } })
  const gateway = await startGateway(harness, org, { roomId: room.id })
  const body = { type: 'neat-pulse', gatewayId: gateway.id, orgId: 'aBcD123', key: 'correct horse' }
  const { id: source } = (await org.call('POST', '/sources', { body })).body
  const { client } = org
  return {
    org,
    client,
    source,
    gateway,
    async report(structure) {
      const path = `${devicePaths.gatewaySources}/${source}/structure`
      const { status, text } = await gateway.call('PUT', path, {
        revision: 1,
        readAt: new Date().toISOString(),
        isLast: true,
        ...structure,
      })
      expect(status, text).toBe(200)
    },
    async plan() {
      const sections = { organisation: org.id, regions: [], locations: [], rooms: [], profiles: [] }
      const [{ body: structure }, snapshot] = await Promise.all([
        client.sourcesStructure({ id: source }),
        readOrganisation(client, sections),
      ])
      return planSource(structure, snapshot)
    },
    apply: (plan, isChosen = () => true) =>
      applySourcePlan(client, source, plan, { isChosen: ({ path }) => isChosen(path.at(-1) ?? '') }),
  }
}

const fatesOf = ({ rows }: SourcePlan) => rows.map(({ kind, path, fate }) => [fate, kind, path.join(' / ')].join(' '))
const structure = {
  regions: [{ id: '1', name: 'Nordics' }],
  locations: [{ id: '4', name: 'Oslo', regionId: '1' }],
  rooms: [
    { id: '12', name: 'Fjord', locationId: '4', profileId: '9', capacity: 8 },
    { id: '13', name: 'Ås', locationId: '4' },
    { id: '14', name: 'Lobby' },
  ],
  profiles: [{ id: '9', name: 'Quiet', config: { nightMode: true } }],
}

test('a plan makes and links everything; after it the next plan is empty, and later differences are in a plan', async () => {
  const { org, report, plan, apply, client, source } = await newWorld()
  await report(structure)
  const first = await plan()
  expect(fatesOf(first)).toEqual([
    'created region Nordics',
    'created location Nordics / Oslo',
    'created room Nordics / Oslo / Fjord',
    'created room Nordics / Oslo / Ås',
    'created room Lobby',
    'created profile Quiet',
  ])
  expect(first.plan.problems).toEqual([])
  expect((await org.call('GET', '/rooms')).body.rooms).toHaveLength(1)
  const results = await apply(first)
  expect(results.map(({ state }) => state)).toEqual(Array(6).fill('done'))
  const { rooms } = (await org.call('GET', '/rooms')).body
  expect(rooms.find(({ name }: { name: string }) => name === 'Fjord')).toMatchObject({
    capacity: 8,
    profileId: 1,
    location: { name: 'Oslo' },
  })
  expect((await org.call('GET', '/locations')).body.locations).toMatchObject([{ region: { name: 'Nordics' } }])
  expect(fatesOf(await plan())).toEqual([])

  await report({
    ...structure,
    locations: [...structure.locations, { id: '5', name: 'Bergen' }],
    rooms: [
      { id: '12', name: 'Fjord 2', locationId: '5', profileId: '9', capacity: 8 },
      { id: '13', name: 'Ås', locationId: '4' },
    ],
    profiles: [{ id: '9', name: 'Quiet', config: { nightMode: false } }],
  })
  const later = await plan()
  expect(fatesOf(later)).toEqual(['created location Bergen', 'changed room Bergen / Fjord 2', 'changed profile Quiet'])
  // The location that the chosen room needs is made too, and the other rows are left.
  expect((await apply(later, (name) => name === 'Fjord 2')).map(({ row }) => row.path.at(-1))).toEqual([
    'Bergen',
    'Fjord 2',
  ])
  expect(fatesOf(await plan())).toEqual(['changed profile Quiet'])

  // A room without a location there keeps its location here.
  await report({ ...structure, rooms: [{ id: '13', name: 'Ås' }] })
  expect(fatesOf(await plan())).toEqual([])
  const { body } = await client.sourcesStructure({ id: source })
  expect(body.rooms[0]?.linkedId).toBe(rooms.find(({ name }: { name: string }) => name === 'Ås').id)
})

test('a thing with the same name at the same place is linked and not changed; names that several things have are left out', async () => {
  const { org, report, plan, apply } = await newWorld()
  await org.call('POST', '/regions', { body: { name: 'Nordics' } })
  await org.call('POST', '/locations', { body: { name: 'Oslo', regionId: 1 } })
  await org.call('POST', '/rooms', { body: { name: 'Fjord', locationId: 1, capacity: 4 } })
  for (const _ of [1, 2]) await org.call('POST', '/rooms', { body: { name: 'Lobby' } })
  await org.call('POST', '/profiles', { body: { name: 'Quiet', config: { nightMode: false } } })
  await report({
    ...structure,
    rooms: [...structure.rooms, { id: '15', name: 'Ås', locationId: '4' }, { id: '16', name: 'x'.repeat(101) }],
  })
  const first = await plan()
  expect(fatesOf(first)).toEqual([
    'linked region Nordics',
    'linked location Oslo',
    'linked room Fjord',
    'created room Nordics / Oslo / Ås',
    'linked profile Quiet',
  ])
  expect(first.leftOut.map(({ theirId, reason }) => `${theirId}: ${reason}`)).toEqual([
    '14: Several rooms here have this name. Give them different names, or link one.',
    '15: Another room of the source has the same name at the same place. The next plan has it.',
    '16: Its name is longer than 100 characters.',
  ])
  const before = (await org.audit()).length
  expect((await apply(first)).every(({ state }) => state === 'done')).toBe(true)
  // One request for the links of what exists, one room, and its link.
  expect((await org.audit()).length).toBe(before + 3)
  expect(fatesOf(await plan())).toEqual([
    'changed room Nordics / Oslo / Fjord',
    'created room Nordics / Oslo / Ås',
    'changed profile Quiet',
  ])
})

test('a creation whose link was lost makes nothing twice, and one that was deleted since is made again', async () => {
  const { org, report, plan, apply, client } = await newWorld()
  await report({ rooms: [{ id: '14', name: 'Lobby' }] })
  const first = await plan()
  await apply(first)
  // The plan is applied again, as from another tab: the answer is that of the first room.
  expect((await apply(first)).map(({ state }) => state)).toEqual(['done'])
  const lobbies = async () =>
    (await client.roomsList()).body.rooms.filter(({ name }) => name === 'Lobby').map(({ id }) => id)
  const [id] = await lobbies()
  expect(await lobbies()).toHaveLength(1)
  await org.call('DELETE', `/rooms/${id}`)
  expect(fatesOf(await plan())).toEqual(['created room Lobby'])
  expect((await apply(await plan())).map(({ state }) => state)).toEqual(['done'])
  expect(await lobbies()).toHaveLength(1)
  expect(fatesOf(await plan())).toEqual([])
})

test('a plan that two tabs apply at once makes each thing once, and equal rooms of two sources stay two rooms', async () => {
  const { org, report, plan, client, source, gateway } = await newWorld()
  await report({ rooms: [{ id: '14', name: 'Lobby' }] })
  const first = await plan()
  const all = { isChosen: () => true }
  const patient = makeClient({ baseUrl: harness.url, org: org.id, token: org.key, fetch: waitingFetch(() => {}) })
  const results = await Promise.all([1, 2].map(() => applySourcePlan(patient, source, first, all)))
  expect(results.flat().map(({ state }) => state)).toEqual(['done', 'done'])
  const lobbies = async () => (await client.roomsList()).body.rooms.filter(({ name }) => name === 'Lobby')
  expect(await lobbies()).toHaveLength(1)
  // The other plan was made before the first one was applied.
  const body = { type: 'neat-pulse', gatewayId: gateway.id, orgId: 'other', key: 'correct horse' }
  const { id: other } = (await org.call('POST', '/sources', { body })).body
  const path = `${devicePaths.gatewaySources}/${other}/structure`
  const structure = { readAt: new Date().toISOString(), isLast: true, rooms: [{ id: '14', name: 'Lobby' }] }
  expect((await gateway.call('PUT', path, { revision: 1, ...structure })).status).toBe(200)
  expect((await applySourcePlan(client, other, first, all)).map(({ state }) => state)).toEqual(['done'])
  const ids = (await lobbies()).map(({ id }) => id)
  const linkedAt = async (id: string) => (await client.sourcesStructure({ id })).body.rooms[0]?.linkedId
  expect(new Set([await linkedAt(source), await linkedAt(other)])).toEqual(new Set(ids))
  expect(ids).toHaveLength(2)
})
