// Metrics of ten thousand rooms: one answer, of which no turn of the event loop is long. [contract 16.metrics]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { engine, type Harness, startHarness } from '../../../../test/support/harness.ts'
import { newIncident } from '../../../../test/support/incidents.ts'
import { LargeFleet } from '../../../../test/support/jobs/large-fleet.ts'
import { cpuLimitMs, runCount } from '../../../../test/support/long-form.ts'
import { shortestOfLongestTurns } from '../../../../test/support/longest-turn.ts'
import { LatestSampleCache } from '../../sensors/latest/cache.ts'
import { metricsGet } from './rules.ts'

const rooms = runCount({ short: 3000, full: 10_000, long: 10_000 })
const now = Date.UTC(2026, 2, 2, 12)
let harness: Harness
let fleet: LargeFleet
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(now)
  fleet = await LargeFleet.make(harness, { rooms, devicesPerRoom: 2, locations: 100 })
  const { key } = fleet.org.org
  const numbers = [...fleet.connections.values()].map(({ device }) => device.number)
  for (let at = 0; at < numbers.length; at += 1000) {
    const values = numbers.slice(at, at + 1000).map((endpoint) => ({
      ...{ org: key, endpoint, timestamp: now / 1000 - 60, shutter_closed: null },
      ...{ co2: 600, humidity: 400, illumination: 300, people: 2, temp: 215, voc: 100, voc_index: 50 },
    }))
    await fleet.write((db) => db.insertInto('samples_latest').values(values).execute())
  }
  const ids = [...fleet.connections.keys()]
  await newIncident(harness, fleet.org, { endpoints: ids.slice(0, 1000), rule: 'device.offline' })
})
afterAll(() => harness.close())

test('the event loop is not blocked while the metrics of all rooms are read and written', async () => {
  const work = async () => {
    const answer = await metricsGet(fleet.org.ctx, new LatestSampleCache(harness.services), {})
    let bytes = 0
    for await (const piece of answer.content) bytes += piece.length
    expect(bytes).toBe(answer.length)
  }
  const shortest = await shortestOfLongestTurns(cpuLimitMs(20), work)
  process.stdout.write(`longest turn of metrics of ${rooms} rooms: ${shortest.toFixed(1)} ms\n`)
  if (engine === 'sqlite') expect(shortest).toBeLessThan(cpuLimitMs(20))
})

test('the answer has a series for each room and each endpoint', async () => {
  const { text, headers } = await fleet.org.call('GET', '/metrics')
  const count = (name: string) => text.split(`\n${name}{`).length - 1
  expect(count('roomkeeper_room_co2_ppm')).toBe(rooms)
  expect(count('roomkeeper_endpoint_info')).toBe(rooms * 2)
  expect(headers.get('content-length')).toBe(String(Buffer.byteLength(text)))
  expect(text.split('\n# TYPE ').length).toBe(new Set(text.match(/^# TYPE \S+/gm)).size + 1)
})
