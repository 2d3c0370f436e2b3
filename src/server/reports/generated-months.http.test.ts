// Use and air of generated months equal a plain calculation from their samples, which come late, twice and out of order, of devices that move. [contract 16.rooms]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../test/support/database/endpoint-rows.ts'
import { engine, type Harness, startHarness, type TestOrg } from '../../../test/support/harness.ts'
import { isLongForm, runCount } from '../../../test/support/long-form.ts'
import { plainZones } from '../../../test/support/reports/plain-clock.ts'
import {
  byQuarter,
  plainAir,
  plainQuarters,
  plainUse,
  type RoomSample,
} from '../../../test/support/reports/plain-quarters.ts'
import { between, pick, seededRandom } from '../../simulator/seeded-random.ts'
import { sensorColumns } from '../db/schema/schema.ts'
import { insertSamples, type SampleRow, valuesOf } from '../sensors/ingest/store.ts'
import { makePartition } from '../sensors/rollups/partitions.ts'
import { rollUp } from '../sensors/rollups/roll-up.ts'
import { insertDue } from '../sensors/rollups/store.ts'

/** Rooms with a location each; each run makes as many months. */
const roomCount = 2 * plainZones.length
const runs = runCount({ short: 1, full: 4, long: 250 })
/** Most clocks change in March and October. */
const months = [
  ['2026-03-02', '2026-04-06'],
  ['2026-10-05', '2026-11-09'],
] as const
const limits = { co2: { max: 1000, step: 1 }, temp: { min: 19.5, max: 26, step: 0.1 } }
const daySeconds = 86_400

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({}, { taskPauseShare: 500 })
})
afterAll(() => harness.close())

interface Stay {
  readonly room: number
  readonly since: number
  readonly until: number | null
}

test.each(Array.from({ length: runs }, (_, run) => run))('the months of run %i', async (run) => {
  let drawn = 0
  const seed = isLongForm ? Date.now() + run : run
  const random = () => seededRandom(seed, drawn++)
  const whole = (low: number, high: number) => between(low, high, random())
  const [from, to] = months[(run + 1) % 2] as (typeof months)[number]
  const [start, end] = [Date.parse(from) / 1000 - 2 * daySeconds, Date.parse(to) / 1000 + 2 * daySeconds]
  harness.clock.fix((end + daySeconds) * 1000)
  const org = await harness.newOrg()
  const airLimits = { co2: { max: 1000 }, temp: { min: 19.5, max: 26 }, voc: {}, humidity: {} }
  expect((await org.call('PUT', '', { body: { airLimits } })).status, `seed ${seed}`).toBe(200)
  const rooms = Array.from({ length: roomCount }, (_, i) => ({
    id: i + 1,
    zone: plainZones[i % plainZones.length] as string,
    location: i + 1,
    region: i % 3 === 2 ? null : (i % 3) + 1,
    capacity: random() < 0.7 ? whole(1, 9) : undefined,
    deletedAt: random() < 0.2 ? whole(start + 4 * daySeconds, end) : undefined,
  }))
  await putRooms(org, rooms)
  const devices = Array.from({ length: roomCount + 8 }, (_, i) => ({
    isPresence: random() < 0.25,
    hasPeople: random() < 0.85,
    stays: staysOf(i < roomCount ? (rooms[i] as Room) : pick(rooms, random())),
  }))

  /** A device begins in a room and moves on, until it is unenrolled or stays where it is. */
  function staysOf(first: Room): Stay[] {
    const stays: Stay[] = []
    for (let [room, since] = [first, 0]; ; ) {
      const isLast = stays.length >= 3 || random() < 0.4
      const leaves = isLast && random() < 0.7 ? null : whole(Math.max(since + 1, start), end)
      const until = room.deletedAt === undefined ? leaves : Math.min(leaves ?? end, Math.max(since + 1, room.deletedAt))
      stays.push({ room: room.id, since, until })
      if (until === null || isLast || until >= end) return stays
      ;[room, since] = [pick(rooms, random()), until]
      if (room.deletedAt !== undefined && room.deletedAt <= since) return stays
    }
  }

  const rows = await putDevices(org, devices)
  const samples: RoomSample[] = []
  for (const [i, { stays, isPresence, hasPeople }] of devices.entries()) {
    // Stretches of a sample in nearly every quarter, with some quarters that have several.
    for (let stretch = 0; stretch < 3; stretch++) {
      let at = whole(start, end - 40 * 900)
      for (let count = whole(5, run % 2 === 0 && i % 9 === 0 ? 160 : 40); count > 0; count--) {
        at += whole(60, 1100)
        const stay = stays.findLast(({ since, until }) => since <= at && (until === null || at < until))
        if (!stay || samples.some(({ device, timestamp }) => device === i && timestamp === at)) continue
        const values = {
          ...(hasPeople && random() < 0.9 && { people: isPresence ? whole(0, 1) : Math.max(0, whole(-4, 8)) }),
          ...(random() < 0.8 && { co2: whole(400, 1500) }),
          ...(random() < 0.6 && { temp: whole(170, 280) / 10 }),
        }
        if (Object.keys(values).length > 0)
          samples.push({ room: stay.room, device: i, isPresence, timestamp: at, values })
      }
    }
  }
  const shuffled = samples.map((sample) => ({ sample, order: random() })).toSorted((a, b) => a.order - b.order)
  const late = Math.floor(shuffled.length * 0.7)
  await putSamples(
    org,
    rows,
    shuffled.slice(0, late).map(({ sample }) => sample),
  )
  await rollUp(harness.services)
  // The rest is late, and some samples come a second time, with other values that do not count.
  const repeated = shuffled.slice(0, 50).map(({ sample }) => ({ ...sample, values: { people: 9, co2: 1 } }))
  await putSamples(org, rows, [...shuffled.slice(late).map(({ sample }) => sample), ...repeated])
  await rollUp(harness.services)

  const hours = pick([undefined, [32, 72], [36, 37], [88, 120]] as const, random())
  const asked = hours ? `hours=${clock(hours[0])}-${clock(hours[1] % 96)}&days=mon,tue,wed,thu,fri,sun` : 'hours=always'
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sun']
  const read = async (path: string, key?: string) => {
    const reply = await org.call('GET', `/reports/${path}&from=${from}&to=${to}&${asked}&pageSize=1000`, {
      ...(key !== undefined && { key }),
    })
    expect(reply.status, reply.text).toBe(200)
    return reply.body.rows
  }
  const there = rooms.filter(({ deletedAt, zone }) => {
    const [first] = plainQuarters({ zone, from, to, hours: undefined, days })
    return deletedAt === undefined || deletedAt > (first?.quarter ?? 0) * 900
  })
  const [use, air] = [await read('use?sort=name'), await read('air?sort=name')]
  const expected = there.map(({ id, zone, capacity }) => {
    const quarters = plainQuarters({ zone, from, to, hours, days })
    const ofRoom = byQuarter(samples.filter(({ room }) => room === id))
    return { id, use: plainUse(ofRoom, quarters, capacity), air: plainAir(ofRoom, quarters, limits), quarters, ofRoom }
  })
  const figuresOf = (list: readonly ReportRow[]) =>
    new Map(list.map(({ room, location, region, timezone, capacity, deletedAt, ...figures }) => [room.id, figures]))
  const [gotUse, gotAir] = [figuresOf(use), figuresOf(air)]
  expect(gotUse.size).toBe(there.length)
  for (const { id, use: plain, air: plainOfAir } of expected) {
    expect(gotUse.get(id), `seed ${seed}, room ${id}`).toEqual(plain)
    expect(gotAir.get(id), `seed ${seed}, room ${id}`).toEqual(plainOfAir)
  }
  expect(use.some(({ usedQuarters }: ReportRow) => Number(usedQuarters) > 0)).toBe(true)

  // Sums over places and days are those of their rooms, and a restricted caller gets a part of the rows.
  for (const groupBy of ['location', 'region', 'day', 'week']) {
    const groups: ReportRow[] = await read(`use?groupBy=${groupBy}`)
    const airGroups: ReportRow[] = await read(`air?groupBy=${groupBy}`)
    for (const [list, whole, keys] of [
      [groups, use, ['countedQuarters', 'measuredQuarters', 'usedQuarters']],
      [airGroups, air, ['countedQuarters', 'measuredQuarters', 'outsideQuarters']],
    ] as const) {
      for (const name of keys) expect(sumOf(list, name), `${groupBy} ${name}`).toBe(sumOf(whole, name))
    }
  }
  const byDay: ReportRow[] = await read('use?groupBy=day')
  for (const { day, measuredQuarters } of byDay) {
    const measured = expected.flatMap(({ quarters, ofRoom }) =>
      quarters.filter(
        (at) => at.date === day && ofRoom.get(at.quarter)?.some(({ values }) => values.people !== undefined),
      ),
    )
    expect(measuredQuarters, day).toBe(measured.length)
  }
  const key = await org.newKey({ scopes: ['read'], regionIds: [2] })
  const inRegion = new Set(rooms.filter(({ region }) => region === 2).map(({ id }) => id))
  for (const [path, all] of [
    ['use?sort=-use', await read('use?sort=-use')],
    ['air?sort=name', air],
  ] as const) {
    expect(await read(path, key)).toEqual(all.filter(({ room }: ReportRow) => inRegion.has(room.id)))
  }
})

// biome-ignore lint/suspicious/noExplicitAny: a row of any report
type ReportRow = any
const sumOf = (list: readonly ReportRow[], name: string): number => list.reduce((sum, row) => sum + row[name], 0)
const clock = (quarter: number) =>
  `${String(Math.floor(quarter / 4)).padStart(2, '0')}:${String((quarter % 4) * 15).padStart(2, '0')}`

interface Room {
  readonly id: number
  readonly zone: string
  readonly location: number
  readonly region: number | null
  readonly capacity: number | undefined
  /** In Unix seconds. */
  readonly deletedAt: number | undefined
}

const inTransaction: Harness['services']['db']['systemTransaction'] = (work) =>
  harness.services.db.systemTransaction(work)

async function putRooms({ org: { key: org } }: TestOrg, rooms: readonly Room[]): Promise<void> {
  const places = rooms.map(({ location, region, zone }) => ({
    ...{ org, id: location, version: 1, name: `Location ${location}`, region_id: region, timezone: zone },
    change_window: null,
  }))
  const lasting = rooms.filter(({ deletedAt }) => deletedAt === undefined)
  await inTransaction(async ({ kysely }) => {
    const regions = [1, 2].map((id) => ({ org, id, version: 1, name: `Region ${id}` }))
    await kysely.insertInto('regions').values(regions).execute()
    await kysely.insertInto('locations').values(places).execute()
    for (const { id, location, capacity = null } of lasting) {
      const code = { dec_sealed: Buffer.from([0]), dec_used_at: null, dec_timeout: 0 }
      const room = { org, id, version: 1, name: `Room ${id}`, location_id: location, profile_id: null, capacity }
      await kysely
        .insertInto('rooms')
        .values({ ...room, ...code })
        .execute()
    }
    for (const { id, location, region, zone, capacity = null, deletedAt } of rooms) {
      if (deletedAt === undefined) continue
      const place = { location_id: location, location_name: `Location ${location}`, region_id: region, timezone: zone }
      const room = { org, id, name: `Room ${id}`, capacity, tags: '[]', fields: null, deleted_at: deletedAt * 1000 }
      const region_name = region === null ? null : `Region ${region}`
      await kysely
        .insertInto('deleted_rooms')
        .values({ ...room, ...place, region_name })
        .execute()
    }
  })
}

/** Returns the numbers of the devices. A device whose last stay has ended was unenrolled. */
async function putDevices(
  org: TestOrg,
  devices: readonly { readonly isPresence: boolean; readonly stays: readonly Stay[] }[],
): Promise<number[]> {
  const rows = await putEndpoints(
    harness,
    org,
    devices.map(({ isPresence }) => ({ presence_only: isPresence ? 1 : 0 })),
  )
  await inTransaction(async ({ kysely }) => {
    for (const [i, { stays, isPresence }] of devices.entries()) {
      const { number: endpoint, id: endpoint_id } = rows[i] as (typeof rows)[number]
      for (const { room: room_id, since, until } of stays) {
        const kept = until === null ? {} : { serial: 'S', model: 'M', presence_only: isPresence ? 1 : 0 }
        const stay = { org: org.org.key, endpoint, endpoint_id, since, until, room_id }
        await kysely
          .insertInto('endpoint_rooms')
          .values({ ...stay, ...kept })
          .execute()
      }
      if (stays.at(-1)?.until === null) continue
      await kysely.deleteFrom('endpoints').where('org', '=', org.org.key).where('id', '=', endpoint_id).execute()
    }
  })
  harness.services.db.invalidateAll()
  return rows.map(({ number }) => number)
}

async function putSamples({ org: { key: org } }: TestOrg, numbers: readonly number[], samples: readonly RoomSample[]) {
  const { db } = harness.services
  if (engine === 'postgres') {
    const days = new Set(samples.map(({ timestamp }) => Math.floor(timestamp / daySeconds)))
    for (const day of days) await makePartition(db, day, 5000)
  }
  for (let at = 0; at < samples.length; at += 500) {
    await inTransaction(async (tx) => {
      for (const { device, timestamp, values } of samples.slice(at, at + 500)) {
        const number = numbers[device] as number
        const row = Object.fromEntries(sensorColumns.map((name) => [name, storedValue(name, values)]))
        const sample = { ...row, timestamp, shutter_closed: null } as SampleRow
        await insertSamples(tx, [valuesOf(sample, org, Math.floor(timestamp / 300), number)])
        await insertDue(tx, [[org, number, Math.floor(timestamp / 900)]])
      }
    })
  }
}

const storedValue = (name: string, values: Readonly<Record<string, number>>): number | null => {
  const value = values[name]
  return value === undefined ? null : name === 'temp' ? Math.round(value * 10) : value
}
