// The regions, locations, rooms and profiles of a source, and their links. [contract 15.links] [contract 15.reports]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newSourceSite, pulseSource, type SourceSite } from '../../../../test/support/devices/source-site.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { devicePaths } from '../../../contract/device/protocol.ts'
import { structureParts } from '../../../contract/fleet/source-structure.ts'
import { maxSourceDevices, type StructureThings } from '../../../contract/fleet/sources.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const none: StructureThings = { regions: [], locations: [], rooms: [], profiles: [] }
const small: StructureThings = {
  regions: [{ id: '1', name: 'Nordics' }],
  locations: [{ id: '4', name: 'Oslo', regionId: '1' }],
  rooms: [
    { id: '12', name: 'Fjord', locationId: '4', profileId: '2', capacity: 8 },
    { id: '13', name: 'Fuji' },
  ],
  profiles: [{ id: '2', name: 'Quiet', description: 'For libraries.', config: { nightMode: true } }],
}
let readings = 0

/** Reports a structure in its parts, and answers their statuses. */
async function report({ gateway, source }: SourceSite, things: StructureThings, { skipLast = false } = {}) {
  const [{ revision } = { revision: 0 }] = (await gateway.list()).sources.filter(({ id }) => id === source)
  const readAt = new Date(Date.UTC(2026, 4, 4) + readings++ * 1000).toISOString()
  const parts = structureParts({ revision, ...things }, readAt)
  const statuses: number[] = []
  for (const part of skipLast ? parts.slice(0, -1) : parts) {
    statuses.push((await gateway.call('PUT', `${devicePaths.gatewaySources}/${source}/structure`, part)).status)
  }
  return { readAt, statuses }
}
const structureOf = async (site: SourceSite, source = site.source) =>
  (await site.call('GET', `/sources/${source}/structure`)).body

test('a structure is answered as the gateway read it last, with the settings that are valid here and no passwords [contract 15.links]', async () => {
  const site = await newSourceSite(harness)
  expect(await structureOf(site)).toEqual(none)
  const profiles = [
    {
      id: '2',
      name: 'Quiet',
      config: {
        nightMode: true,
        brightness: 7,
        unknownKey: 'x',
        remoteAccessAdminPassword: 'planted-5a1',
        ntpServer: ' a ',
      },
    },
  ]
  const { readAt } = await report(site, { ...small, profiles })
  const settled = [{ id: '2', name: 'Quiet', config: { nightMode: true, ntpServer: 'a' } }]
  expect(await structureOf(site)).toEqual({ readAt, ...small, profiles: settled })
  expect((await site.gateway.list()).sources).toMatchObject([{ hasStructure: true }])
  const later = { ...none, rooms: [{ id: '13', name: 'Mount Fuji' }] }
  const { readAt: readLater } = await report(site, later)
  expect(await structureOf(site)).toEqual({ readAt: readLater, ...later })
  const rows = await harness.services.db.system.kysely.selectFrom('source_things').select('report').execute()
  expect(JSON.stringify(rows)).not.toContain('planted-5a1')
})

test('a structure of 20,000 things is reported in parts, and replaces the one before with its last part [contract 15.reports]', async () => {
  const site = await newSourceSite(harness)
  const { readAt } = await report(site, small)
  const make = (name: string) =>
    Array.from({ length: maxSourceDevices + 1 }, (_, i) => ({ id: String(i), name: `${name} ${i} ${'å'.repeat(50)}` }))
  const large = { regions: make('Region'), locations: make('Location'), rooms: make('Room'), profiles: make('Profile') }
  const { statuses } = await report(site, large, { skipLast: true })
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect((await structureOf(site)).readAt).toBe(readAt)
  // The next reading makes an end of the unfinished one.
  await report(site, small)
  expect(await structureOf(site)).toMatchObject(small)
  await report(site, large)
  const { regions, locations, rooms, profiles } = await structureOf(site)
  for (const things of [regions, locations, rooms, profiles]) {
    expect(new Set(things.map(({ id }: { id: string }) => id)).size).toBe(maxSourceDevices)
  }
  await report(site, none)
  expect(await structureOf(site)).toMatchObject(none)
})

test('reports of another revision or gateway change no structure [contract 15.reports]', async () => {
  const site = await newSourceSite(harness)
  await report(site, small)
  const before = await structureOf(site)
  const part = { revision: 99, readAt: '2027-01-01T00:00:00.000Z', isLast: true }
  const path = `${devicePaths.gatewaySources}/${site.source}/structure`
  expect((await site.gateway.call('PUT', path, part)).status).toBe(200)
  const other = await newSourceSite(harness)
  expect((await other.gateway.call('PUT', path, { ...part, revision: 1 })).status).toBe(404)
  for (const wrong of [
    { ...part, rooms: [{ id: '1' }] },
    { ...part, rooms: Array.from({ length: 501 }, (_, i) => ({ id: String(i), name: 'Room' })) },
    { ...part, readAt: 'yesterday' },
  ]) {
    expect((await site.gateway.call('PUT', path, wrong)).status).toBe(400)
  }
  expect(await structureOf(site)).toEqual(before)
})

test('links belong to one source; they are refused without both ends, and make way when the thing here is gone [contract 15.links]', async () => {
  const site = await newSourceSite(harness)
  const { call, gateway, source } = site
  await report(site, small)
  const second = (await call('POST', '/sources', { body: { ...pulseSource, gatewayId: gateway.id } })).body.id
  await report({ ...site, source: second }, small)
  const region = (await call('POST', '/regions', { body: { name: 'Nordics' } })).body.id
  const make = async () => (await call('POST', '/rooms', { body: { name: 'Linked' } })).body.id
  const [fjord, fuji] = [await make(), await make()]
  const link = (links: object[], of = source) => call('PUT', `/sources/${of}/links`, { body: { links } })
  const theirs = { kind: 'room', theirId: '12', linkedId: fjord }
  expect((await link([theirs, { kind: 'region', theirId: '1', linkedId: region }])).body).toEqual({})
  const [entry] = await site.audit()
  expect(entry).toMatchObject({
    type: 'SOURCE_LINKED',
    target: { type: 'source', id: source },
    details: { after: { roomLinks: { 12: fjord }, regionLinks: { 1: region } } },
  })
  // Two sources can both have a region 1, and a room here can belong to both.
  expect((await link([{ kind: 'region', theirId: '1', linkedId: region }, theirs], second)).status).toBe(200)
  const linkedIds = async (of = source) => {
    const { rooms } = await structureOf(site, of)
    return Object.fromEntries(rooms.map((room: { id: string; linkedId?: number }) => [room.id, room.linkedId]))
  }
  expect(await linkedIds()).toEqual({ 12: fjord, 13: undefined })
  const entries = (await site.audit()).length
  const refused = async (...links: object[]) => (await link(links)).body
  for (const [wrong, text] of [
    [{ ...theirs, theirId: '99' }, 'the source has no room 99'],
    [{ ...theirs, linkedId: 99 }, 'there is no room 99'],
    [{ ...theirs, theirId: '13' }, `room ${fjord} is linked to room 12`],
  ] as const) {
    const free = { kind: 'room', theirId: '13', linkedId: fuji }
    expect(await refused(free, wrong)).toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: expect.stringContaining(text),
    })
  }
  expect(await linkedIds()).toEqual({ 12: fjord, 13: undefined })
  expect(await site.audit()).toHaveLength(entries)
  // A device shows the room here that is linked to its room there.
  await gateway.found(source, [{ key: 'bar', model: 'NF19B1', theirRoomId: '12' }])
  expect(await site.device('bar')).toMatchObject({ theirRoomName: 'Fjord', linkedRoomId: fjord })
  expect(
    (
      await link([
        { ...theirs, linkedId: null },
        { ...theirs, theirId: '13' },
      ])
    ).status,
  ).toBe(200)
  expect(await linkedIds()).toEqual({ 12: undefined, 13: fjord })
  expect(await linkedIds(second)).toEqual({ 12: fjord, 13: undefined })
  await call('DELETE', `/rooms/${fjord}`)
  expect(await linkedIds()).toEqual({ 12: undefined, 13: undefined })
  expect((await link([{ kind: 'room', theirId: '13', linkedId: fuji }])).status).toBe(200)
  expect(await linkedIds()).toEqual({ 12: undefined, 13: fuji })
})
