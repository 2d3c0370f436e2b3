// Connection spans: which events end a connection, and how its span is written, kept and deleted. [contract 10.connections]
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import {
  iso,
  putEndpointWithSpans,
  readConnections,
  type Span,
} from '../../../../test/support/database/connection-spans.ts'
import { type EndpointValues, putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { storedConnection } from '../../../../test/support/devices/stored-connection.ts'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { dayMs, hourMs, minuteMs } from '../../../contract/durations.ts'
import { insertNode } from '../../nodes/store.ts'
import { clearEndedNodes } from '../endpoints/ended-nodes.ts'
import { markConnected } from '../endpoints/presence.ts'
import { deleteOldSpans } from './retention.ts'

const signal = new AbortController().signal

let harness: Harness
let org: TestOrg
let roomId: number
beforeAll(async () => {
  harness = await startHarness()
})
beforeEach(async () => {
  org = await harness.newOrg()
  roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
})
afterAll(() => harness.close())

const connectionsOf = (path: string, from: number, to?: number) => readConnections(org, path, from, to)
const putHistory = (values: EndpointValues, spans: readonly Span[]) =>
  putEndpointWithSpans(harness, org, { room_id: roomId, ...values }, spans)
const storedSpans = () =>
  harness.services.db.system.kysely
    .selectFrom('connection_spans')
    .select(['endpoint', 'since', 'until', 'why'])
    .where('org', '=', org.org.key)
    .orderBy('endpoint')
    .orderBy('since')
    .execute()

const isConnected = async ({ id }: TestDevice) => (await org.call('GET', `/endpoints/${id}`)).body.connected

test('a connection is stored with its start, its end and the reason of its end', async () => {
  const from = harness.clock.now()
  const device = await newDevice(harness, org, { roomId })
  onTestFinished(() => device.close())
  const spans = async () => (await connectionsOf(`/endpoints/${device.id}`, from)).spans
  const whys = async () => (await spans()).map(({ why = 'present' }: { why?: string }) => why)
  const endBy = async (end: () => unknown) => {
    harness.clock.advance(1000)
    await end()
    await until('it is disconnected', async () => !(await isConnected(device)))
    harness.clock.advance(1000)
    await device.connect()
  }
  expect(await whys()).toEqual(['present'])
  await endBy(() => device.close())
  await endBy(() => device.drop())
  await endBy(() => device.client.publish('devices/another/status', '{}', { qos: 1 }))
  harness.clock.advance(1000)
  await device.connect()
  expect(await whys()).toEqual(['DISCONNECTED', 'LOST', 'REFUSED', 'REPLACED', 'present'])

  const [first, , , replaced, present] = await spans()
  expect(first.endpointId).toBe(device.id)
  expect(Date.parse(first.to) - Date.parse(first.from)).toBeGreaterThanOrEqual(1000)
  expect(replaced.to).toBe(present.from)
  expect(present).not.toHaveProperty('to')

  harness.clock.advance(1000)
  await org.call('DELETE', `/endpoints/${device.id}`)
  await device.ended()
  expect((await storedSpans()).map(({ why }) => why)).toEqual([
    'DISCONNECTED',
    'LOST',
    'REFUSED',
    'REPLACED',
    'UNENROLLED',
  ])
  expect((await org.call('GET', `/endpoints/${device.id}/connections?from=2026-01-01`)).status).toBe(404)
})

test('two connections that are identified before either is stored: the second one ends the first [contract 10.connections]', async () => {
  const device = await newDevice(harness, org, { roomId })
  await device.close()
  await until('it is disconnected', async () => !(await isConnected(device)))
  const identified = () => storedConnection(harness.services, device.id, device.credential)
  const [first, second] = [await identified(), await identified()]
  expect([first.device.wasAway, second.device.wasAway]).toEqual([true, true])
  const since = harness.clock.now() + 1000
  const presence = await markConnected(harness.services, { ...first, since })
  expect(await markConnected(harness.services, { ...second, since: since + 1000 })).toMatchObject({
    number: (presence?.number ?? 0) + 1,
  })
  expect((await storedSpans()).at(-1)).toMatchObject({ since, until: since + 1000, why: 'REPLACED' })
  expect((await org.call('GET', `/endpoints/${device.id}`)).body.since).toBe(iso(since))
  expect((await identified()).device.wasAway).toBe(false)
})

test('deleting a room with its endpoints ends their connections', async () => {
  const now = harness.clock.now()
  await putHistory({ connected: 1, connection_time: now - 5000 }, [])
  await putHistory({ connection_time: now - 5000 }, [])
  expect((await org.call('DELETE', `/rooms/${roomId}`)).status).toBe(200)
  expect(await storedSpans()).toMatchObject([{ since: now - 5000, why: 'UNENROLLED' }])
})

/** Makes the row of a second node, which no process has. */
async function newNode(): Promise<number> {
  const node = { name: 'elsewhere', process: 'elsewhere', version: '0', at: harness.clock.now() }
  return (await harness.services.db.systemTransaction((on) => insertNode(on, node)))?.id as number
}

async function endNode(id: number, at: number): Promise<void> {
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    await kysely.updateTable('nodes').set({ state: 'dead', ended_at: at }).where('id', '=', id).execute()
  })
  harness.services.db.invalidateAll()
}

test('a connection to a node that ended is over at once, and its span is written in batches after a minute', async () => {
  const node_id = await newNode()
  const now = harness.clock.now()
  const rows = await putEndpoints(
    harness,
    org,
    Array.from({ length: 300 }, (_, i) => ({
      node_id,
      connection: 1,
      connection_time: now - hourMs + i,
      room_id: roomId,
    })),
  )
  const readEndpoints = () =>
    harness.services.db.system.kysely
      .selectFrom('endpoints')
      .selectAll()
      .where('node_id', '=', node_id)
      .orderBy('number')
      .execute()
  const connected = await readEndpoints()
  expect(connected).toHaveLength(300)
  await endNode(node_id, now - 1000)
  const path = `/endpoints/${rows[0]?.id}`
  const before = await connectionsOf(path, now - dayMs, now)
  expect(before.spans).toMatchObject([{ from: iso(now - hourMs), to: iso(now - 1000), why: 'SERVER_ENDED' }])
  expect(before).toMatchObject({ onlineShare: 1, outages: 0, longestOutageSeconds: 0 })

  await clearEndedNodes(harness.services, signal)
  expect(await storedSpans(), 'devices have a minute to come back').toEqual([])
  expect(await readEndpoints(), 'the end of a node is a write to its own row only').toEqual(connected)
  const later = { ...harness.services, clock: { now: () => now + 59_000 } }
  await clearEndedNodes(later, signal)
  const spans = await storedSpans()
  expect(spans).toHaveLength(300)
  expect(new Set(spans.map(({ until, why }) => `${until} ${why}`))).toEqual(new Set([`${now - 1000} SERVER_ENDED`]))
  expect(await connectionsOf(path, now - dayMs, now)).toEqual(before)
  await clearEndedNodes(later, signal)
  expect(await storedSpans()).toHaveLength(300)
})

test('a device that returns after its node ended gets the span of the connection that it had', async () => {
  const device = await newDevice(harness, org, { roomId })
  onTestFinished(() => device.close())
  harness.clock.advance(5000)
  const node_id = await newNode()
  const endedAt = harness.clock.now() - 2000
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely.updateTable('endpoints').set({ node_id }).where('id', '=', device.id).execute(),
  )
  await endNode(node_id, endedAt)
  await device.connect()
  expect(await storedSpans()).toMatchObject([{ until: endedAt, why: 'SERVER_ENDED' }])
  const { spans, outages } = await connectionsOf(`/endpoints/${device.id}`, endedAt - hourMs)
  expect(spans).toHaveLength(2)
  expect(outages, 'a device that comes back in time had no outage').toBe(0)
})

test('spans are deleted when rollups of their time are', async () => {
  const now = harness.clock.now()
  const { rollupRetentionSeconds } = harness.services.settings
  const oldest = now - rollupRetentionSeconds * 1000
  const row = await putHistory({ connection_time: now - hourMs }, [
    [oldest - hourMs, oldest - 1000],
    [oldest - 500, oldest + 1000],
    [now - 2 * hourMs, now - hourMs],
  ])
  await deleteOldSpans(harness.services)
  expect((await storedSpans()).map(({ since }) => since)).toEqual([oldest - 500, now - 2 * hourMs])
  const { knownFrom, spans } = await connectionsOf(`/endpoints/${row.id}`, oldest - dayMs)
  expect(spans).toHaveLength(2)
  const known = Date.parse(knownFrom) - oldest
  expect(known >= 0 && known < dayMs + minuteMs, knownFrom).toBe(true)
})
