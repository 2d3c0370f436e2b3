// Presence follows the node: an endpoint is connected while the row of its node is up, and the end of a node writes one row.

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { countWrites } from '../../../../test/support/database/count-writes.ts'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { storedConnection } from '../../../../test/support/devices/stored-connection.ts'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, newPlace, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { listTables } from '../../db/copy/catalog.ts'
import { withoutTransaction } from '../../db/copy/transaction-side.ts'
import type { Database } from '../../db/db.ts'
import { openDatabase } from '../../db/open.ts'
import { systemWrite } from '../../db/system.ts'
import { insertNode } from '../../nodes/store.ts'
import { clearEndedNodes } from './ended-nodes.ts'
import { markConnected, markDisconnected } from './presence.ts'

const updateState = systemWrite((db, p: { id: number; state: 'up' | 'left' }) =>
  db.updateTable('nodes').set({ state: p.state }).where('id', '=', p.id),
)

/** These are written for each task and each key that is in use, whether devices are connected or not. */
const tablesWithoutDevices = ['tasks', 'api_keys', 'sample_progress']

/** Begins to count writes to all other tables of the schema. */
async function countAllWrites(db: Database) {
  const side = withoutTransaction(db)
  const names = (await listTables(side, side.engine)).map(({ name }) => name)
  expect(names).toEqual(
    expect.arrayContaining(['connection_spans', 'messages', 'samples_latest', ...tablesWithoutDevices]),
  )
  return countWrites(
    db,
    names.filter((name) => !tablesWithoutDevices.includes(name)),
  )
}
const signal = new AbortController().signal

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
})
afterAll(() => harness.close())

const read = async (id: string) => (await org.call('GET', `/endpoints/${id}`)).body
const rowOf = (id: string) =>
  harness.services.db.system.kysely
    .selectFrom('endpoints')
    .select(['node_id', 'connection', 'connection_time'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()

/** Makes the row of a second node, which no process has. */
const newNode = async () =>
  (
    await harness.services.db.systemTransaction((on) =>
      insertNode(on, { name: 'elsewhere', process: 'elsewhere', version: '0', at: harness.clock.now() }),
    )
  )?.id as number

const endNode = (id: number, at: number) =>
  harness.services.db.systemTransaction(async ({ kysely }) => {
    await kysely.updateTable('nodes').set({ state: 'dead', ended_at: at }).where('id', '=', id).execute()
    harness.services.db.invalidateAll()
  })

test('each connection of a device has a higher number than the one before', async () => {
  const device = await newDevice(harness, org, { roomId: 1 })
  const first = await rowOf(device.id)
  expect(first).toMatchObject({ node_id: harness.services.node?.id, connection: 1 })
  await device.connect()
  expect(await rowOf(device.id)).toMatchObject({ node_id: harness.services.node?.id, connection: 2 })
  await device.close()
  await until('it is disconnected', async () => !(await read(device.id)).connected)
  expect(await rowOf(device.id)).toMatchObject({ node_id: null, connection: 2 })
})

test('the end of an old connection does not disconnect a device that has moved', async () => {
  const device = await newDevice(harness, org, { roomId: 1 })
  onTestFinished(() => device.close())
  const old = await storedConnection(harness.services, device.id, device.credential)
  // The device connects again: here, and then at another node.
  const next = await markConnected(harness.services, old)
  expect(next).toMatchObject({ nodeId: old.nodeId, number: old.number + 1 })
  await markDisconnected(harness.services, old, 'LOST')
  expect(await read(device.id)).toMatchObject({ connected: true })

  const node_id = await newNode()
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely.updateTable('endpoints').set({ node_id }).where('id', '=', device.id).execute(),
  )
  harness.services.db.invalidateAll()
  await markDisconnected(harness.services, { ...old, number: old.number + 1 }, 'LOST')
  await markDisconnected(harness.services, { ...old, number: 0 }, 'LOST')
  expect(await read(device.id)).toMatchObject({ connected: true })
  expect(await rowOf(device.id)).toMatchObject({ node_id, connection: old.number + 1 })
})

test('the end of a node disconnects its devices in every answer, at the time of its end', async () => {
  const [gone, here] = [await newNode(), harness.services.node?.id ?? 0]
  const connected = { room_id: 1, connected: 1, connection_time: harness.clock.now() - 60_000 }
  const other = await harness.newOrg()
  await other.call('POST', '/rooms', { body: { name: 'Skog' } })
  const [a, b] = await putEndpoints(harness, other, [
    { ...connected, node_id: gone },
    { ...connected, node_id: here },
  ])
  const show = async () => ({
    one: (await other.call('GET', `/endpoints/${a?.id}`)).body,
    list: (await other.call('GET', '/endpoints')).body.endpoints.map((e: { connected: boolean }) => e.connected),
    room: (await other.call('GET', '/rooms/1')).body.state,
    rooms: (await other.call('GET', '/rooms')).body.rooms[0],
    byRoom: (await other.call('GET', '/endpoints?locationId=1')).body.endpoints.length,
  })
  const before = await show()
  expect(before).toMatchObject({ one: { connected: true }, list: [true, true], room: 'HEALTHY' })
  expect(before.rooms).toMatchObject({ state: 'HEALTHY', connectedCount: 2 })

  const endedAt = harness.clock.now() - 1000
  await endNode(gone, endedAt)
  const after = await show()
  expect(after).toMatchObject({ one: { connected: false, state: 'UNKNOWN' }, room: 'HEALTHY' })
  expect(after.one.connectionTime).toBe(new Date(endedAt).toISOString())
  expect(after.list.toSorted()).toEqual([false, true])
  expect(after.rooms).toMatchObject({ state: 'HEALTHY', connectedCount: 1, unknownCount: 1 })
  const reboot = await other.call('POST', `/endpoints/${a?.id}/reboot`)
  expect(reboot.body.code).toBe('FAILED_PRECONDITION')

  // A row that is gone counts as ended, and the time of the device's own last change remains.
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely.deleteFrom('nodes').where('id', '=', gone).execute(),
  )
  harness.services.db.invalidateAll()
  expect((await show()).one).toMatchObject({
    connected: false,
    connectionTime: new Date(connected.connection_time).toISOString(),
  })
  expect((await other.call('GET', `/endpoints/${b?.id}`)).body.connected).toBe(true)
})

test('a cached answer does not outlive the node that it names', async () => {
  const node_id = await newNode()
  const [endpoint] = await putEndpoints(harness, org, [{ node_id, connected: 1 }])
  const id = endpoint?.id ?? ''
  for (const state of ['up', 'left', 'up'] as const) {
    await harness.services.db.systemTransaction((on) => updateState(on, { id: node_id, state }))
    for (let i = 0; i < 2; i++) expect(await read(id)).toMatchObject({ connected: state === 'up' })
  }
})

test('endpoints of an ended node are cleared in steps without changing an answer, and its row is deleted a day later', async () => {
  const node_id = await newNode()
  const other = await harness.newOrg()
  const now = harness.clock.now()
  const times = Array.from({ length: 600 }, (_, n) => ({
    node_id,
    connected: 1,
    connection_time: now - 90_000 + n * 100,
  }))
  const rows = await putEndpoints(harness, other, times)
  const endedAt = now - 60_000
  await endNode(node_id, endedAt)
  const show = async () =>
    Promise.all(rows.slice(298, 304).map(async ({ id }) => (await other.call('GET', `/endpoints/${id}`)).body))
  const before = await show()
  const pointing = async () => {
    const { kysely } = harness.services.db.system
    const of = kysely.selectFrom('endpoints').select('id').where('node_id', '=', node_id)
    return (await of.execute()).length
  }
  const nodes = async () =>
    (await harness.services.db.system.kysely.selectFrom('nodes').select('id').execute()).map(({ id }) => id)

  // Devices have a minute to come back to the node that is up.
  const minuteLater = { ...harness.services, clock: { now: () => now + 60_000 } }
  const stopped = AbortSignal.abort()
  await clearEndedNodes(minuteLater, stopped)
  expect(await pointing()).toBe(600)
  await clearEndedNodes(minuteLater, signal)
  expect(await pointing()).toBe(0)
  harness.services.db.invalidateAll()
  expect(await show()).toEqual(before)
  expect(await nodes()).toContain(node_id)
  const later = { ...harness.services, clock: { now: () => now + 24 * 3600_000 } }
  await clearEndedNodes(later, signal)
  expect(await nodes(), 'strict reads need the highest id').toContain(node_id)
  await newNode()
  await clearEndedNodes(later, signal)
  expect(await nodes()).not.toContain(node_id)
  expect(await nodes()).toContain(harness.services.node?.id)
})

test('the death of a node with 3,000 devices writes as many rows as with 30', async () => {
  const written: object[] = []
  for (const count of [30, 3000]) {
    const { place, remove } = await newPlace({ hasTables: true })
    onTestFinished(remove)
    const crashed = await startHarness(place)
    const their = await crashed.newOrg()
    await putEndpoints(crashed, their, Array(count).fill({ connected: 1, connection_time: 0 }))
    await crashed.close()
    const { db } = await openDatabase(place, { isLocked: false, mustExist: true, onError() {} })
    // A crash leaves the row of the node as it was.
    await db.systemTransaction(({ kysely }) =>
      kysely.updateTable('nodes').set({ state: 'up', ended_at: null }).execute(),
    )
    const writes = await countAllWrites(db)
    const next = await startHarness(place)
    const path = `/v1/orgs/${their.id}/endpoints`
    const { endpoints } = (await next.call('GET', path, { key: their.key })).body
    expect(endpoints.filter((e: { connected: boolean }) => e.connected)).toHaveLength(0)
    expect(endpoints).toHaveLength(count)
    written.push(await writes())
    await db.close()
    await next.close()
  }
  expect(written[1]).toEqual(written[0])
  // The old row ends, and the new start has one of its own.
  expect(written[0]).toEqual({ nodes: 2 })
})

test('the stop of a node writes one row, however many devices are connected to it', async () => {
  const written: object[] = []
  for (const count of [1, 20]) {
    const { place, remove } = await newPlace({ hasTables: true })
    onTestFinished(remove)
    const stopping = await startHarness(place)
    const their = await stopping.newOrg()
    const roomId = (await their.call('POST', '/rooms', { body: { name: 'Skog' } })).body.id
    const devices = await Promise.all(Array.from({ length: count }, () => newDevice(stopping, their, { roomId })))
    const { db } = await openDatabase(place, { isLocked: true, mustExist: true, onError() {} })
    const writes = await countAllWrites(db)
    await stopping.close()
    await Promise.all(devices.map((device) => device.ended()))
    written.push(await writes())
    await db.close()
  }
  expect(written).toEqual([{ nodes: 1 }, { nodes: 1 }])
})
