// The statements of gateways, their items and their tests, on both databases.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { openStores, type StoreWorld, storedAt } from '../../../../test/support/database/store-world.ts'
import type { TelemetryTx, Tx } from '../../db/handles.ts'
import { releaseEndpoints, updateRoomOf } from '../endpoints/store.ts'
import type { GatewayItemRow } from './fields.ts'
import {
  countItemsByState,
  deleteItem,
  deleteTestsUntil,
  findGateway,
  findItem,
  findListVersion,
  findOwnItem,
  findTest,
  insertGateway,
  insertItem,
  insertTest,
  listAllItems,
  listGatewayItems,
  listGateways,
  listItemsAfter,
  listItemsOfGatewaysInRoom,
  listOpenTests,
  listTestTimes,
  raiseListVersions,
  updateItem,
  updateItemEndpoint,
  updateItemsWithoutEndpoint,
  updateItemsWithoutRoom,
  updateReportedState,
  updateTestEnded,
} from './store.ts'

let world: StoreWorld
beforeAll(async () => {
  world = await openStores()
  for (const { id } of [world.here, world.there]) await telemetry((tx) => insertGateway(tx, { id }))
})
afterAll(() => world.close())

const times = { now: storedAt, unknownAfter: storedAt, settleMs: 1000, settledAt: storedAt, lastEnd: storedAt }
const telemetry = <T>(work: (tx: TelemetryTx) => Promise<T>) => world.all.telemetry(work)
const audited = <T>(work: (tx: Tx) => Promise<T>) => world.write((tx) => work(tx.forOrg(world.org)))
const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)
const target = {
  driver: 'roomos',
  host: '10.20.4.17',
  port: 443,
  username: 'roomkeeper',
  secrets: Buffer.from([1, 2, 3]),
  options: '{}',
  fingerprint: null,
} as const

/** Adds an item of the gateway in the first region. */
async function newItem(values: Partial<GatewayItemRow> = {}): Promise<GatewayItemRow> {
  const row: GatewayItemRow = {
    id: randomUUID(),
    gateway_id: world.here.id,
    revision: 1,
    target_revision: 1,
    ...target,
    room_id: 1,
    name: null,
    endpoint_id: null,
    duplicate_of: null,
    state: 'NEW',
    reason: null,
    since: storedAt,
    reached_at: null,
    created_at: storedAt,
    source_id: null,
    source_key: null,
    ...values,
  }
  await audited((tx) => insertItem(tx, row))
  return row
}

test('an endpoint becomes a gateway once, and its list has a version', async () => {
  const { here, there, all, ofRegion } = world
  expect(await telemetry((tx) => insertGateway(tx, { id: here.id }))).toBe(false)
  expect(idsOf(await listGateways(all, times)).sort()).toEqual([here.id, there.id].sort())
  expect(idsOf(await listGateways(ofRegion, times))).toEqual([here.id])
  expect(await listGateways(all, times)).toContainEqual(
    expect.objectContaining({ id: here.id, room_name: 'Room 1', location_name: 'Place 1', state: 'ONLINE' }),
  )
  for (const on of [all, ofRegion]) {
    expect(await findGateway(on, { id: here.id })).toMatchObject({ connected: 1, version: 1 })
  }
  expect(await findGateway(ofRegion, { id: there.id })).toBeUndefined()
  await audited((tx) => raiseListVersions(tx, { gateways: [here.id] }))
  expect(await findListVersion(all, { id: here.id })).toEqual({ version: 2 })
  expect(await findListVersion(all, { id: there.id })).toEqual({ version: 1 })
})

test('a caller sees the items whose room and gateway are in their regions', async () => {
  const { here, there, all, ofRegion, ofNothing } = world
  const own = await newItem()
  const elsewhere = await newItem({ room_id: 2 })
  const homeless = await newItem({ room_id: null })
  const foreign = await newItem({ gateway_id: there.id, room_id: 1 })
  const gateway = here.id
  expect(idsOf(await listGatewayItems(all, { gateway })).sort()).toEqual([own.id, elsewhere.id, homeless.id].sort())
  expect(idsOf(await listGatewayItems(ofRegion, { gateway }))).toEqual([own.id])
  expect(await listGatewayItems(ofRegion, { gateway: there.id })).toEqual([])
  expect(await listGatewayItems(ofNothing, { gateway })).toEqual([])
  expect(await countItemsByState(all)).toHaveLength(2)
  expect(await countItemsByState(ofRegion)).toEqual([{ gateway_id: gateway, state: 'NEW', items: 1 }])
  for (const on of [all, ofRegion]) {
    expect(await findItem(on, { gateway, id: own.id })).toMatchObject({ room_name: 'Room 1', ...target })
  }
  for (const { id } of [elsewhere, homeless, foreign]) {
    expect(await findItem(ofRegion, { gateway, id })).toBeUndefined()
  }
  expect(await findOwnItem(ofNothing, { gateway, id: elsewhere.id })).toMatchObject({ room_name: 'Room 2' })
  expect(await listAllItems(ofNothing, { gateway })).toHaveLength(3)
  expect(idsOf(await listItemsOfGatewaysInRoom(all, { room: 2 }))).toEqual([foreign.id])
  const [first, ...others] = [own.id, elsewhere.id, homeless.id].sort() as [string, ...string[]]
  expect(idsOf(await listItemsAfter(all, { gateway, after: first, limit: 5 }))).toEqual(others)
  for (const { id } of [own, elsewhere, homeless, foreign]) await audited((tx) => deleteItem(tx, { id }))
  expect(await countItemsByState(all)).toEqual([])
})

test('a report counts for the present revision of an own item, if it says something new', async () => {
  const { here, there, all } = world
  const item = await newItem()
  const report = { gateway: here.id, id: item.id, revision: 1, state: 'REFUSED', duplicateOf: null } as const
  const store = (values: object, since: number, reason: string | null = 'No.') =>
    telemetry((tx) => updateReportedState(tx, { ...report, reason, since, ...values }))
  const shown = async () => findOwnItem(all, { gateway: here.id, id: item.id })
  expect(await store({ revision: 2 }, storedAt + 1)).toBeUndefined()
  expect(await store({ gateway: there.id }, storedAt + 1)).toBeUndefined()
  expect(await store({}, storedAt + 1)).toEqual({ id: item.id })
  expect(await store({}, storedAt + 2)).toBeUndefined()
  expect(await store({}, storedAt + 3, 'Still no.')).toEqual({ id: item.id })
  expect(await shown()).toMatchObject({ state: 'REFUSED', reason: 'Still no.', since: storedAt + 1, reached_at: null })
  await store({ state: 'CONNECTED' }, storedAt + 4, null)
  await store({ state: 'DUPLICATE', duplicateOf: there.id }, storedAt + 5)
  expect(await shown()).toMatchObject({ since: storedAt + 5, reached_at: storedAt + 4, duplicate_of: there.id })
  await audited((tx) => updateItem(tx, { ...item, state: 'REMOVED', revision: 2 }))
  expect(await store({ revision: 2 }, storedAt + 6)).toBeUndefined()
  await audited((tx) => deleteItem(tx, { id: item.id }))
})

test('an item follows its endpoint, and loses it', async () => {
  const { here, all } = world
  const [device] = await putEndpoints(...world.rows, [{ room_id: 1 }])
  const endpoint = device?.id ?? ''
  const item = await newItem()
  const shown = async () => findOwnItem(all, { gateway: here.id, id: item.id })
  await audited((tx) => updateItemEndpoint(tx, { id: item.id, endpoint }))
  expect(await shown()).toMatchObject({ known_endpoint_id: endpoint, endpoint_serial: device?.serial })
  await audited((tx) => updateRoomOf(tx, [endpoint], 2, storedAt))
  expect(await shown()).toMatchObject({ room_id: 2 })
  await world.put('credential_directory', { hash: Buffer.alloc(32, 7), org: world.org, endpoint_id: endpoint })
  await audited((tx) => releaseEndpoints(tx, [endpoint]))
  const left = await world.db.system.kysely
    .selectFrom('credential_directory')
    .select('org')
    .where('endpoint_id', '=', endpoint)
    .execute()
  expect(left).toEqual([])
  const removed = { state: 'REMOVED', reason: 'Gone.', since: storedAt } as const
  const gateways = [{ gateway_id: here.id }]
  expect(await audited((tx) => updateItemsWithoutEndpoint(tx, { ...removed, endpoints: [endpoint] }))).toEqual(gateways)
  expect(await shown()).toMatchObject({ ...removed, endpoint_id: null, room_id: 2 })
  expect(await audited((tx) => updateItemsWithoutRoom(tx, { ...removed, room: 2 }))).toEqual(gateways)
  expect(await shown()).toMatchObject({ room_id: null })
  await audited((tx) => deleteItem(tx, { id: item.id }))
})

test('a test waits until it ends, and loses its secrets', async () => {
  const { here, there, all } = world
  const gateway = here.id
  const [first, second] = [randomUUID(), randomUUID()]
  for (const [id, created_at] of [
    [first, storedAt],
    [second, storedAt + 1000],
  ] as const) {
    await audited((tx) => insertTest(tx, { id, gateway_id: gateway, ...target, created_at }))
  }
  expect(await listOpenTests(all, { gateway, since: storedAt })).toEqual([{ id: second, ...target }])
  expect(await listOpenTests(all, { gateway: there.id, since: 0 })).toEqual([])
  const end = (by: string) => telemetry((tx) => updateTestEnded(tx, { gateway: by, id: second, answer: '{}' }))
  expect([await end(there.id), await end(gateway), await end(gateway)]).toEqual([false, true, false])
  expect(await findTest(all, { id: second })).toEqual({ ended: 1, answer: '{}' })
  expect(await listTestTimes(all, { gateway, since: storedAt - 1 })).toEqual([
    { created_at: storedAt, ended: 0 },
    { created_at: storedAt + 1000, ended: 1 },
  ])
  await world.write((tx) => deleteTestsUntil(tx, { until: storedAt }))
  expect(await findTest(all, { id: first })).toBeUndefined()
  const rows = await world.db.system.kysely.selectFrom('gateway_tests').select('secrets').execute()
  expect(rows).toEqual([{ secrets: null }])
})
