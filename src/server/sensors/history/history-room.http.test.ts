// The history of rooms, which endpoints come to and go from, and how far back a history reaches.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { daySeconds, hourSeconds } from '../../../contract/durations.ts'
import { type Rollup, sensorColumns } from '../../db/schema/schema.ts'
import { orgTimezone } from '../../journal/orgs/rules.ts'
import { rollUp } from '../rollups/roll-up.ts'

const noon = Date.UTC(2026, 9, 28, 12) / 1000
let harness: Harness
const devices: TestDevice[] = []
beforeAll(async () => {
  harness = await startHarness({ sampleRetentionDays: 3, rollupRetentionDays: 10, dailyRetentionDays: 'ever' })
})
afterAll(async () => {
  for (const device of devices) await device.close()
  await harness.close()
})

async function twoRooms(): Promise<TestOrg> {
  harness.clock.fix(noon * 1000)
  const org = await harness.newOrg()
  for (const name of ['Fjord', 'Skog']) await org.call('POST', '/rooms', { body: { name } })
  return org
}
async function deviceIn(org: TestOrg, roomId: number): Promise<TestDevice> {
  const device = await newDevice(harness, org, { roomId })
  devices.push(device)
  return device
}
const send = (device: TestDevice, at: number, co2: number) =>
  device.publish('sample', { samples: [{ timestamp: at, co2 }] })
const move = (org: TestOrg, { id }: TestDevice, roomId: number) =>
  org.call('POST', '/endpoints/move_paired', { body: { endpointIds: [id], roomId } })
const iso = (seconds: number) => new Date(seconds * 1000).toISOString()
const call = (org: TestOrg, path: string, query: Record<string, string>) =>
  org.call('GET', `${path}/sensor/history?${new URLSearchParams(query)}`)
async function read(org: TestOrg, path: string, query: Record<string, string>) {
  const { status, body, text } = await call(org, path, query)
  expect(status, text).toBe(200)
  return body
}

describe('roomsSensorHistory [contract 6.sensorHistory]', () => {
  test('a bucket of a room has the samples of all its endpoints', async () => {
    const org = await twoRooms()
    const [one, two] = [await deviceIn(org, 1), await deviceIn(org, 1)]
    await send(await deviceIn(org, 2), noon - 100, 9999)
    await send(one, noon - 100, 400)
    await send(two, noon - 100, 500)
    await send(two, noon - 200, 700)
    for (const interval of ['5m', '15m', '1h', '1d']) {
      const { buckets } = await read(org, '/rooms/1', { from: iso(noon - hourSeconds), interval })
      expect(buckets, interval).toHaveLength(1)
      expect(buckets[0].co2).toEqual({ min: 400, max: 700, mean: 533.33, count: 3 })
    }
    const { samples } = await read(org, '/rooms/1', { from: iso(noon - hourSeconds), interval: 'raw' })
    const at = (ago: number) => String(noon - ago)
    expect(samples).toEqual([
      { timestamp: at(200), endpointId: two.id, co2: 700 },
      { timestamp: at(100), endpointId: one.id, co2: 400 },
      { timestamp: at(100), endpointId: two.id, co2: 500 },
    ])
  })

  test('a sample counts for the room that its endpoint was in when it measured it, also if it comes later [contract D.35]', async () => {
    const org = await twoRooms()
    const device = await deviceIn(org, 1)
    await send(device, noon - daySeconds, 100)
    harness.clock.advance(hourSeconds * 1000)
    await move(org, device, 2)
    harness.clock.advance(hourSeconds * 1000)
    await send(device, noon + hourSeconds - 1, 200)
    await send(device, noon + hourSeconds, 300)
    await move(org, device, 1)
    await send(device, noon + 2 * hourSeconds, 400)
    const valuesOf = async (room: number) => {
      const { samples } = await read(org, `/rooms/${room}`, {
        from: iso(noon - 2 * daySeconds),
        to: iso(noon + daySeconds),
        interval: 'raw',
      })
      return samples.map((s: { co2: number }) => s.co2)
    }
    const countsOf = async (room: number, interval: string) => {
      const { buckets } = await read(org, `/rooms/${room}`, { from: iso(noon), to: iso(noon + daySeconds), interval })
      return buckets.map((b: { co2: { min: number; max: number } }) => [b.co2.min, b.co2.max])
    }
    const [first, second] = [await valuesOf(1), await valuesOf(2)]
    expect([first, second]).toEqual([[100, 200, 400], [300]])
    for (const isRolledUp of [false, true]) {
      if (isRolledUp) {
        harness.clock.advance(daySeconds * 1000)
        await rollUp(harness.services)
      }
      expect(await countsOf(1, '1h')).toEqual([
        [200, 200],
        [400, 400],
      ])
      expect(await countsOf(1, '1d')).toEqual([[200, 400]])
      expect(await countsOf(2, '1d')).toEqual([[300, 300]])
    }
    const { buckets } = await read(org, `/endpoints/${device.id}`, { from: iso(noon), interval: '1d' })
    expect(buckets[0].co2, 'its own history is all of it, wherever it was').toMatchObject({ count: 3 })
  })

  test('the samples of an endpoint stay in the history of its room after it is unenrolled [interface 5]', async () => {
    const org = await twoRooms()
    const device = await deviceIn(org, 1)
    await send(device, noon - hourSeconds, 400)
    await org.call('DELETE', `/endpoints/${device.id}`)
    harness.clock.advance(hourSeconds * 1000)
    const query = { from: iso(noon - daySeconds), interval: 'raw' }
    expect((await call(org, `/endpoints/${device.id}`, query)).status).toBe(404)
    const sample = { timestamp: String(noon - hourSeconds), endpointId: device.id, co2: 400 }
    expect((await read(org, '/rooms/1', query)).samples).toEqual([sample])
    await rollUp(harness.services)
    expect((await read(org, '/rooms/1', { ...query, interval: '1d' })).buckets).toHaveLength(1)
    expect((await read(org, '/rooms/2', query)).samples).toEqual([])
    expect((await call(org, '/rooms/3', query)).body.message).toBe('Requested resource not found: there is no room 3.')
  })

  test('a page that would take very many rows ends earlier, and its token goes on [contract D.39]', async () => {
    const org = await twoRooms()
    const endpoints = await putEndpoints(
      harness,
      org,
      Array.from({ length: 120 }, () => ({ room_id: 1 })),
    )
    const last = Math.floor(noon / 900) - 1
    await putQuarters(
      org,
      endpoints.flatMap(({ number }) => Array.from({ length: 600 }, (_, i) => [number, last - i] as const)),
    )
    const seen: { start: string; co2: object }[] = []
    let [token, pages] = ['', 0]
    do {
      const body = await read(org, '/rooms/1', { from: iso(noon - 8 * daySeconds), pageToken: token })
      expect(body.buckets.length).toBeGreaterThan(0)
      seen.push(...body.buckets)
      token = body.nextPageToken
      pages++
    } while (token !== '')
    expect(pages).toBeGreaterThan(1)
    expect(seen.map((b) => b.start)).toEqual(Array.from({ length: 600 }, (_, i) => iso((last - 599 + i) * 900)))
    expect(new Set(seen.map((b) => JSON.stringify(b.co2)))).toEqual(
      new Set(['{"min":400,"max":500,"mean":450,"count":480}']),
    )
  })
})

/** Quarters that were rolled up, as rows: four values of co2 each. */
async function putQuarters({ org }: TestOrg, quarters: readonly (readonly [endpoint: number, slot: number])[]) {
  const nothing = Object.fromEntries(sensorColumns.map((c) => [`${c}_count`, 0])) as unknown as Rollup
  const co2 = { co2_count: 4, co2_min: 400, co2_max: 500, co2_sum: 1800 }
  const rows = quarters.map(([endpoint, slot]) => ({ ...nothing, org: org.key, endpoint, slot, room: 1, ...co2 }))
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    for (let at = 0; at < rows.length; at += 1000) {
      await kysely
        .insertInto('sample_quarters')
        .values(rows.slice(at, at + 1000))
        .execute()
    }
  })
}

describe('how far back a history reaches [contract D.40]', () => {
  test('samples, then quarters and hours, then days: each as long as it is kept', async () => {
    const org = await twoRooms()
    const device = await deviceIn(org, 1)
    const samples = Array.from({ length: (3 * daySeconds) / 300 }, (_, i) => ({ timestamp: noon - i * 300, co2: 400 }))
    for (let at = 0; at < samples.length; at += 400) {
      await device.publish('sample', { samples: samples.slice(at, at + 400) })
    }
    const path = `/endpoints/${device.id}`
    const firstOf = async (interval: string, query: Record<string, string> = {}) => {
      const { buckets, samples } = await read(org, path, { from: '1970-01-01', interval, ...query })
      const [first] = buckets ?? samples
      return first && (first.start ?? iso(Number(first.timestamp)))
    }
    await rollUp(harness.services)
    harness.clock.advance((daySeconds + 450) * 1000)
    const now = noon + daySeconds + 450
    expect(await firstOf('raw')).toBe(iso(now - 3 * daySeconds + 150))
    expect(await firstOf('5m')).toBe(iso(now - 3 * daySeconds + 150))
    expect(await firstOf('15m')).toBe(iso(noon - 3 * daySeconds))
    harness.clock.advance(7 * daySeconds * 1000)
    await rollUp(harness.services)
    expect(await firstOf('raw')).toBeUndefined()
    expect(await firstOf('5m')).toBeUndefined()
    expect(await firstOf('15m'), 'the one that is old in part is not shown').toBe(iso(noon - 2 * daySeconds + 900))
    expect(await firstOf('1h')).toBe(iso(noon - 2 * daySeconds + hourSeconds))
    expect(await firstOf('1d')).toBe('2026-10-25T00:00:00.000Z')
    harness.clock.advance(1000 * daySeconds * 1000)
    expect(await firstOf('1h')).toBeUndefined()
    expect(await firstOf('1d')).toBe('2026-10-25T00:00:00.000Z')
  })

  test("beyond quarters there are days of the organisation's zone only, and the refusal names the first of the other [contract D.38]", async () => {
    const org = await twoRooms()
    await orgTimezone(org.ctx, 'Europe/Oslo')
    const device = await deviceIn(org, 1)
    await send(device, noon - daySeconds, 400)
    await rollUp(harness.services)
    const path = `/endpoints/${device.id}`
    harness.clock.advance(11 * daySeconds * 1000)
    // Ten days before 2026-11-08T12:00Z, which is 21:00 in Tokyo.
    const first = '2026-10-29T15:00:00.000Z'
    const ask = (from: string, timezone: string) => call(org, path, { from, interval: '1d', timezone })
    const refused = await ask('2026-10-29T14:59:59Z', 'Asia/Tokyo')
    expect([refused.status, refused.body.code]).toEqual([400, 'INVALID_ARGUMENT'])
    expect(refused.body.violations).toEqual([
      {
        field: 'from',
        error:
          'must not be before 2026-10-30 in the time zone Asia/Tokyo: older days are kept only in that of the organisation, Europe/Oslo. Ask from 2026-10-30 on, or for timezone Europe/Oslo',
      },
    ])
    expect((await ask(first, 'Asia/Tokyo')).status).toBe(200)
    expect((await ask('2026-10-30', 'Asia/Tokyo')).status, 'a date is that of the zone [contract D.36]').toBe(200)
    expect((await ask('2026-10-29', 'Asia/Tokyo')).status).toBe(400)
    expect((await ask('2026-10-28', 'America/New_York')).body.violations[0].error).toMatch(/Ask from 2026-10-30 on/)
    expect((await ask('2026-10-30', 'America/New_York')).status).toBe(200)
    expect((await ask('1970-01-01', 'Europe/Oslo')).body.buckets).toMatchObject([{ day: '2026-10-27' }])
    expect(
      (await call(org, path, { from: '1970-01-01', timezone: 'Asia/Tokyo' })).status,
      'only days have a zone',
    ).toBe(200)
  })
})

describe('roomsSensorHistoryAll [contract 6.sensorHistoryAll]', () => {
  const download = (org: TestOrg, query: Record<string, string>, key?: string) =>
    org.call('GET', `/rooms/sensor/history?${new URLSearchParams(query)}`, { ...(key !== undefined && { key }) })

  test('has the buckets of each room, by room and then by time, as the CSV of the room has them', async () => {
    const org = await twoRooms()
    await org.call('POST', '/regions', { body: { name: 'Europe' } })
    await org.call('POST', '/locations', { body: { name: 'Oslo, =HQ', regionId: 1 } })
    await org.call('POST', '/rooms', { body: { name: '=Empty' } })
    await org.call('PUT', '/rooms/2', { body: { name: 'Skog', locationId: 1 } })
    for (const roomId of [2, 1, 2]) {
      const device = await deviceIn(org, roomId)
      await send(device, noon - 5 * hourSeconds, 400 + roomId)
      await send(device, noon - hourSeconds, 500 + roomId)
    }
    harness.clock.advance(hourSeconds * 1000)
    await rollUp(harness.services)
    const seer = await org.newKey({ scopes: ['read'], regionIds: [1] })
    for (const interval of ['15m', '1h', '1d']) {
      const query = { from: iso(noon - daySeconds), interval, fields: 'co2,people' }
      const expected: Record<number, string[]> = {}
      let header = ''
      for (const [id, place] of [
        [1, '1,Fjord,,'],
        [2, '2,Skog,1,"Oslo, =HQ"'],
        [3, "3,'=Empty,,"],
      ] as const) {
        const path = `/rooms/${id}/sensor/history?${new URLSearchParams(query)}`
        const { text } = await org.call('GET', path, { headers: { accept: 'text/csv' } })
        const [first = '', ...lines] = text.split('\r\n').slice(0, -1)
        header = `roomId,roomName,locationId,locationName,${first}`
        expected[id] = lines.map((line) => `${place},${line}`)
      }
      expect(expected[1]?.length, interval).toBeGreaterThan(0)
      const linesOf = ({ text }: { text: string }) => text.split('\r\n').slice(0, -1)
      const all = await download(org, query)
      expect(all.headers.get('content-type')).toBe('text/csv; charset=utf-8')
      expect(linesOf(all)).toEqual([header, ...[1, 2, 3].flatMap((id) => expected[id] ?? [])])
      const inRegion = [header, ...(expected[2] ?? [])]
      expect(linesOf(await download(org, query, seer))).toEqual(inRegion)
      expect(linesOf(await download(org, { ...query, regionId: '1' }))).toEqual(inRegion)
      expect(linesOf(await download(org, { ...query, locationId: '1' }))).toEqual(inRegion)
      expect(linesOf(await download(org, { ...query, regionId: '1', locationId: '9' }))).toEqual([header])
    }
  })

  test('refuses more than 366 days, and intervals that no rollup has', async () => {
    const org = await twoRooms()
    const refused = [
      await download(org, { from: iso(noon - 366 * daySeconds - 1), to: iso(noon) }),
      await download(org, { from: iso(noon - hourSeconds), interval: 'raw' }),
    ]
    expect(refused.map(({ status, body }) => [status, body.violations[0].field])).toEqual([
      [400, 'from'],
      [400, 'interval'],
    ])
    expect((await download(org, { from: iso(noon - 366 * daySeconds), to: iso(noon) })).status).toBe(200)
  })
})
