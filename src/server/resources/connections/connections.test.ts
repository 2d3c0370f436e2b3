// Connection history: what ends a connection, the spans that are written, and the numbers of windows. [contract 10.connections]

import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { type EndpointValues, putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { dayMs, hourMs, minuteMs } from '../../../contract/durations.ts'
import type { ConnectionEnd } from '../../../contract/incidents/connections.ts'
import { insertNode } from '../../nodes/store.ts'
import { clearEndedNodes } from '../endpoints/ended-nodes.ts'
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

const iso = (ms: number) => new Date(ms).toISOString()
const connectionsOf = async (path: string, from: number, to?: number) => {
  const query = new URLSearchParams({ from: iso(from), ...(to !== undefined && { to: iso(to) }) })
  return (await org.call('GET', `${path}/connections?${query}`)).body
}
const storedSpans = () =>
  harness.services.db.system.kysely
    .selectFrom('connection_spans')
    .select(['endpoint', 'since', 'until', 'why'])
    .where('org', '=', org.org.key)
    .orderBy('endpoint')
    .orderBy('since')
    .execute()

const isConnected = async ({ id }: TestDevice) => (await org.call('GET', `/endpoints/${id}`)).body.connected

type Span = readonly [since: number, until: number, why?: ConnectionEnd]

async function putSpans(endpoint: number, spans: readonly Span[]): Promise<void> {
  const rows = spans.map(([since, until, why = 'LOST']) => ({ org: org.org.key, endpoint, since, until, why }))
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    for (let at = 0; at < rows.length; at += 1000) {
      const some = rows.slice(at, at + 1000)
      await kysely.insertInto('connection_spans').values(some).execute()
    }
  })
}

/** An endpoint whose row and spans are written directly. */
async function putHistory(values: EndpointValues, spans: readonly Span[]) {
  const [row] = await putEndpoints(harness, org, [{ room_id: roomId, ...values }])
  if (!row) throw new Error('no endpoint')
  await putSpans(row.number, spans)
  return row
}

test('a connection is remembered with its begin, its end and the reason of its end', async () => {
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

test('deleting a room with its endpoints ends their connections', async () => {
  const now = harness.clock.now()
  await putHistory({ connected: 1, connection_time: now - 5000 }, [])
  await putHistory({ connection_time: now - 5000 }, [])
  expect((await org.call('DELETE', `/rooms/${roomId}`)).status).toBe(200)
  expect(await storedSpans()).toMatchObject([{ since: now - 5000, why: 'UNENROLLED' }])
})

test('spans are cut at the window, and the numbers are about the part of it that is known', async () => {
  const now = harness.clock.now()
  const at = (hours: number) => now - hours * hourMs
  const { id } = await putHistory({ connected: 1, connection_time: at(2) }, [
    [at(20), at(16), 'DISCONNECTED'],
    [at(16), at(10), 'REPLACED'],
    [at(10), at(5), 'LOST'],
  ])
  const path = `/endpoints/${id}`
  const whole = await connectionsOf(path, at(40))
  expect(whole).toMatchObject({ endpointId: id, knownFrom: iso(at(20)), outages: 1, longestOutageSeconds: 3 * 3600 })
  expect(whole.onlineShare).toBeCloseTo(17 / 20, 3)
  expect(whole.spans).toHaveLength(4)

  const part = await connectionsOf(path, at(12), at(1))
  expect(part.spans).toEqual([
    { endpointId: id, from: iso(at(12)), to: iso(at(10)), why: 'REPLACED' },
    { endpointId: id, from: iso(at(10)), to: iso(at(5)), why: 'LOST' },
    // A span that did not end in the window has no reason.
    { endpointId: id, from: iso(at(2)), to: iso(at(1)) },
  ])
  expect(part).toMatchObject({ outages: 1, longestOutageSeconds: 3 * 3600 })
  expect(part.onlineShare).toBeCloseTo(8 / 11, 10)

  // An outage that reaches over the window is cut too.
  expect(await connectionsOf(path, at(4), at(3))).toMatchObject({
    ...{ onlineShare: 0, outages: 1, longestOutageSeconds: 3600 },
    spans: [],
  })
  const before = await connectionsOf(path, at(40), at(30))
  expect(before).toMatchObject({ outages: 0, longestOutageSeconds: 0, spans: [] })
  expect(before).not.toHaveProperty('onlineShare')
  const future = await connectionsOf(path, now + hourMs, now + 2 * hourMs)
  expect(future).toMatchObject({ outages: 0, spans: [] })
  const tomorrow = await connectionsOf(path, at(1), now + dayMs)
  expect(tomorrow).toMatchObject({ onlineShare: 1, outages: 0, spans: [{ from: iso(at(1)) }] })
})

test('nothing is known of an endpoint that was never connected, and little of one that was disconnected before spans were written', async () => {
  const now = harness.clock.now()
  const never = await putHistory({}, [])
  const answer = await connectionsOf(`/endpoints/${never.id}`, now - dayMs)
  expect(answer).toEqual({ endpointId: never.id, outages: 0, longestOutageSeconds: 0, spans: [] })
  const old = await putHistory({ connection_time: now - hourMs }, [])
  expect(await connectionsOf(`/endpoints/${old.id}`, now - dayMs)).toMatchObject({
    ...{ knownFrom: iso(now - hourMs), onlineShare: 0, outages: 1 },
    spans: [],
  })
})

test('the numbers of a room are about times in which none of its endpoints was connected', async () => {
  const now = harness.clock.now()
  const at = (minutes: number) => now - minutes * minuteMs
  const a = await putHistory({ connected: 1, connection_time: at(10) }, [[at(100), at(40)]])
  const b = await putHistory({ connection_time: at(20) }, [[at(60), at(20)]])
  const room = await connectionsOf(`/rooms/${roomId}`, at(200), now)
  expect(room).toMatchObject({ outages: 1, longestOutageSeconds: 600 })
  expect(room.onlineShare).toBeCloseTo(0.9, 3)
  const byId = (x: { endpointId: string }, y: { endpointId: string }) => (x.endpointId < y.endpointId ? -1 : 1)
  expect(room.endpoints.toSorted(byId)).toMatchObject(
    [
      { endpointId: a.id, knownFrom: iso(at(100)), outages: 1, longestOutageSeconds: 1800 },
      { endpointId: b.id, knownFrom: iso(at(60)), outages: 1, longestOutageSeconds: 1200 },
    ].toSorted(byId),
  )
  expect(room.spans).toHaveLength(3)
  const csv = await org.call('GET', `/rooms/${roomId}/connections?from=${iso(at(200))}`, {
    headers: { accept: 'text/csv' },
  })
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const lines = csv.text.trimEnd().split('\r\n')
  expect(lines[0]).toBe('endpointId,from,to,why')
  expect(lines.slice(1).sort()).toEqual(
    [
      `${a.id},${iso(at(100))},${iso(at(40))},LOST`,
      `${a.id},${iso(at(10))},,`,
      `${b.id},${iso(at(60))},${iso(at(20))},LOST`,
    ].sort(),
  )
  const empty = (await org.call('POST', '/rooms', { body: { name: 'Empty' } })).body.id
  expect(await connectionsOf(`/rooms/${empty}`, at(200))).toEqual({
    ...{ outages: 0, longestOutageSeconds: 0 },
    endpoints: [],
    spans: [],
  })
})

test('an answer has the newest 5,000 spans and the numbers of all; CSV has all', async () => {
  const now = harness.clock.now()
  const start = now - 10_500 * minuteMs
  const spans = Array.from({ length: 10_500 }, (_, i): Span => [start + i * minuteMs, start + i * minuteMs + 30_000])
  const { id } = await putHistory({ connection_time: now - 30_000 }, spans)
  const answer = await connectionsOf(`/endpoints/${id}`, start, now)
  expect(answer).toMatchObject({ outages: 10_500, omittedSpans: 5500, longestOutageSeconds: 30 })
  expect(answer.onlineShare).toBeCloseTo(0.5, 3)
  expect(answer.spans).toHaveLength(5000)
  expect(answer.spans.at(-1).from).toBe(iso(start + 10_499 * minuteMs))
  const query = `from=${iso(start)}&to=${iso(now)}`
  const csv = await org.call('GET', `/endpoints/${id}/connections?${query}`, { headers: { accept: 'text/csv' } })
  expect(csv.text.trimEnd().split('\r\n')).toHaveLength(10_501)
})

test('a window that ends before it begins is refused', async () => {
  const { id } = await putHistory({}, [])
  const query = 'from=2026-05-04T00:00:00Z&to=2026-05-03T00:00:00Z'
  for (const path of [`/endpoints/${id}`, `/rooms/${roomId}`]) {
    const reply = await org.call('GET', `${path}/connections?${query}`)
    expect(reply.status).toBe(400)
    expect(reply.text).toContain('must not be after to')
  }
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
  expect(before).toMatchObject({ outages: 1, longestOutageSeconds: 1 })

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
  expect(outages).toBe(1)
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
