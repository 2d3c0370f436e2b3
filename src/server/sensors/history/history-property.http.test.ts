// History against a plain recomputation: any samples in any order, moves between rooms, days of any length, rollups at any moment.

import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { runCount } from '../../../../test/support/long-form.ts'
import { type PlainSample, plainHistory, type Question } from '../../../../test/support/plain-history.ts'
import { type Sensor, sensors } from '../../../contract/device/models.ts'
import { daySeconds, hourSeconds } from '../../../contract/durations.ts'
import { intervals } from '../../../contract/sensors/sensor-history.ts'
import { orgTimezone } from '../../journal/orgs/rules.ts'
import { rollUp } from '../rollups/roll-up.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const zones = [
  'UTC',
  'Europe/Oslo',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'America/St_Johns',
] as const
/** Nights in which clocks are set: Oslo, New York and St John's, Lord Howe by half an hour; and one in which none is. */
const nights = ['2026-03-29T01:00Z', '2026-10-25T01:00Z', '2026-11-01T06:00Z', '2026-04-04T15:00Z', '2026-06-10T00:00Z']

const readings = fc.record(
  {
    co2: fc.integer({ min: 0, max: 40_000 }),
    humidity: fc.integer({ min: 0, max: 1000 }).map((n) => n / 10),
    temp: fc.integer({ min: -400, max: 850 }).map((n) => n / 10),
    people: fc.integer({ min: 0, max: 3 }),
    voc: fc.integer({ min: 0, max: 100_000 }),
    vocIndex: fc.integer({ min: 0, max: 500 }),
  },
  { requiredKeys: [] },
)
/** Seconds before now: mostly few, so that samples meet in buckets and fall on the same second. */
const age = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: -300, max: 2 * hourSeconds }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 36 }).map((n) => n * 900) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 4 * daySeconds }) },
)
const one = fc.nat({ max: 1 })
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant('send' as const),
      device: one,
      samples: fc.array(fc.record({ age, readings }), { minLength: 1, maxLength: 12 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('move' as const), device: one, room: one }) },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('wait' as const),
      seconds: fc.oneof(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 0, max: 12 * hourSeconds })),
    }),
  },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('roll up' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('set zone' as const), zone: fc.constantFrom(...zones) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('ask' as const),
      whileRollingUp: fc.boolean(),
      fields: fc.subarray([...sensors], { minLength: 1 }),
      interval: fc.constantFrom(...intervals),
      zone: fc.constantFrom(...zones),
      back: fc.oneof(fc.integer({ min: 0, max: 3 * hourSeconds }), fc.integer({ min: 0, max: 5 * daySeconds })),
      length: fc.oneof(
        fc.constant(6 * daySeconds),
        fc.integer({ min: 0, max: 3 * hourSeconds }),
        fc.integer({ min: 0, max: 5 * daySeconds }),
      ),
      pageSize: fc.constantFrom(4, 30, 1000),
    }),
  },
)

/** Two devices that move between two rooms, and what the service has accepted of them. */
class World {
  readonly org: TestOrg
  readonly devices: readonly TestDevice[]
  readonly #moves: readonly [at: number, room: number][][]
  readonly #accepted: Map<number, Partial<Record<Sensor, number>>>[] = [new Map(), new Map()]

  constructor(org: TestOrg, devices: readonly TestDevice[]) {
    this.org = org
    this.devices = devices
    this.#moves = devices.map(() => [[0, 1]])
  }

  get now() {
    return Math.floor(harness.clock.now() / 1000)
  }

  /** The samples with their rooms: the room of a sample is where its device was, also if the sample comes late. */
  get samples(): PlainSample[] {
    return this.#accepted.flatMap((accepted, i) =>
      [...accepted].map(([timestamp, values]) => {
        const [, room] = (this.#moves[i] ?? []).findLast(([at]) => at <= timestamp) as [number, number]
        return { endpointId: (this.devices[i] as TestDevice).id, room, timestamp, values }
      }),
    )
  }

  async send(device: number, samples: readonly { age: number; readings: Partial<Record<Sensor, number>> }[]) {
    const { now } = this
    await this.devices[device]?.publish('sample', {
      samples: samples.map(({ age, readings }) => ({ timestamp: now - age, ...readings })),
    })
    const accepted = this.#accepted[device]
    for (const { age, readings } of samples) if (!accepted?.has(now - age)) accepted?.set(now - age, readings)
  }

  async move(device: number, room: number) {
    const body = { endpointIds: [this.devices[device]?.id], roomId: room + 1 }
    expect((await this.org.call('POST', '/endpoints/move_paired', { body })).status).toBe(200)
    ;(this.#moves[device] as [number, number][]).push([this.now, room + 1])
  }

  /** Every page of the answer, for an endpoint and for a room. */
  async ask(question: Question, pageSize: number): Promise<void> {
    const [device] = this.devices as [TestDevice]
    const ofRoom = (room: number) => this.samples.filter((sample) => sample.room === room)
    const ofDevice = this.samples.filter(({ endpointId }) => endpointId === device.id)
    await this.#compare(`/endpoints/${device.id}`, question, pageSize, plainHistory(ofDevice, question, false))
    await this.#compare('/rooms/1', question, pageSize, plainHistory(ofRoom(1), question, true))
    await this.#compare('/rooms/2', question, pageSize, plainHistory(ofRoom(2), question, true))
  }

  async #compare(path: string, { interval, fields, zone, from, to }: Question, pageSize: number, expected: object[]) {
    const found: object[] = []
    let pageToken: string | undefined
    while (pageToken !== '') {
      const query = new URLSearchParams({
        from: new Date(from * 1000).toISOString(),
        to: new Date(to * 1000).toISOString(),
        fields: fields.join(),
        timezone: zone,
        pageSize: String(pageSize),
        interval,
        pageToken: pageToken ?? '',
      })
      const { status, body, text } = await this.org.call('GET', `${path}/sensor/history?${query}`)
      // Its zone was changed, and its days are made anew just now.
      if (status === 503 && interval === '1d') continue
      expect(status, text).toBe(200)
      const items = interval === 'raw' ? body.samples : body.buckets
      expect(items.length).toBeLessThanOrEqual(pageSize)
      found.push(...items)
      pageToken = body.nextPageToken as string
    }
    // Two endpoints may have measured in the same second: neither is first.
    const inOrder = (list: object[]) => (interval === 'raw' ? list.map((s) => JSON.stringify(s)).sort() : list)
    expect(inOrder(found), `${path} ${interval} ${zone}`).toEqual(inOrder(expected))
  }
}

async function newWorld(zone: string, night: string): Promise<World> {
  harness.clock.fix(Date.parse(night) + 2 * daySeconds * 1000)
  const org = await harness.newOrg()
  await orgTimezone(org.ctx, zone)
  for (const name of ['Fjord', 'Skog']) await org.call('POST', '/rooms', { body: { name } })
  // A model that is not known has every sensor.
  const devices = [1, 2].map(() => newDevice(harness, org, { roomId: 1, model: 'UNHEARD-OF' }))
  return new World(org, await Promise.all(devices))
}

test('every interval of every history equals what its samples say, at any moment [contract 6.sensorHistory]', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...zones),
      fc.constantFrom(...nights),
      fc.array(step, { minLength: 5, maxLength: 40 }),
      async (zone, night, steps) => {
        const world = await newWorld(zone, night)
        try {
          for (const act of steps) {
            if (act.does === 'send') await world.send(act.device, act.samples)
            else if (act.does === 'move') await world.move(act.device, act.room)
            else if (act.does === 'wait') harness.clock.advance(act.seconds * 1000)
            else if (act.does === 'roll up') await rollUp(harness.services)
            else if (act.does === 'set zone') await orgTimezone(world.org.ctx, act.zone)
            else {
              const from = world.now - act.back
              const question = { ...act, from, to: from + act.length }
              await Promise.all([act.whileRollingUp && rollUp(harness.services), world.ask(question, act.pageSize)])
            }
          }
          const all = { zone, fields: sensors, from: world.now - 7 * daySeconds, to: world.now + daySeconds }
          for (const interval of intervals) await world.ask({ ...all, interval }, 1000)
          harness.clock.advance(daySeconds * 1000)
          await rollUp(harness.services)
          for (const interval of intervals) await world.ask({ ...all, interval }, 1000)
          for (const other of zones) await world.ask({ ...all, interval: '1d', zone: other }, 1000)
        } finally {
          for (const device of world.devices) await device.close()
        }
      },
    ),
    { numRuns: runCount({ short: 8, long: 100 }), endOnFailure: true },
  )
}, 1_200_000)
