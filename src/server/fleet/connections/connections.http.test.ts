// Connection history: the spans and the numbers that a window of it shows, of an endpoint and of a room. [contract 10.connections]
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  iso,
  putEndpointWithSpans,
  readConnections,
  type Span,
} from '../../../../test/support/database/connection-spans.ts'
import type { EndpointValues } from '../../../../test/support/database/endpoint-rows.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { dayMs, hourMs, minuteMs } from '../../../contract/durations.ts'

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
  expect(answer).toEqual({ endpointId: never.id, outages: 0, longestOutageSeconds: 0, spans: [], gaps: [] })
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
  expect(lines[0]).toBe('endpointId,from,to,why,followedBy')
  expect(lines.slice(1).sort()).toEqual(
    [
      `${a.id},${iso(at(100))},${iso(at(40))},LOST,`,
      `${a.id},${iso(at(10))},,,`,
      `${b.id},${iso(at(60))},${iso(at(20))},LOST,`,
    ].sort(),
  )
  const empty = (await org.call('POST', '/rooms', { body: { name: 'Empty' } })).body.id
  expect(await connectionsOf(`/rooms/${empty}`, at(200))).toEqual({
    ...{ outages: 0, longestOutageSeconds: 0 },
    endpoints: [],
    spans: [],
    gaps: [],
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

test('the gaps of a device are right if its gateway was away more often than one page of its connections has', async () => {
  const { settleMs } = harness.services.reconnects.current
  const count = 1500
  const start = harness.clock.now() - count * hourMs
  const spans = Array.from({ length: count }, (_, i): Span => [start + i * hourMs, start + (i + 0.5) * hourMs])
  const gateway = await putHistory({ connected: 1, connection_time: start + count * hourMs }, spans)
  const device = await putHistory({ connection_time: start }, [[start - hourMs, start]])
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely.updateTable('connection_spans').set({ via: gateway.id }).where('endpoint', '=', device.number).execute(),
  )
  const { gaps } = await connectionsOf(`/endpoints/${device.id}`, start, start + (count - 1) * hourMs)
  expect(gaps).toEqual(
    Array.from({ length: count - 1 }, (_, i) => {
      const backAt = start + (i + 1) * hourMs
      const to = i === count - 2 ? backAt : backAt + settleMs
      return { endpointId: device.id, from: iso(backAt - hourMs / 2 - minuteMs), to: iso(to), state: 'UNKNOWN' }
    }),
  )
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
