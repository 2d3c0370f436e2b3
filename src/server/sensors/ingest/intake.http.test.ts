// Samples that devices send over MQTT: which are stored, which are refused, and which change nothing.
import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storedConnection } from '../../../../test/support/devices/stored-connection.ts'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { engine, type Harness, send, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { models, type Sensor, sensorRanges, sensors } from '../../../contract/device/models.ts'
import { daySeconds } from '../../../contract/durations.ts'
import { tokenHash } from '../../auth/token.ts'
import { ConnectionReplaced, type DeviceConnection } from '../../devices/mqtt/handlers.ts'
import { LatestSampleCache } from '../latest/cache.ts'
import { Horizon } from '../rollups/horizon.ts'
import { SampleIntake } from './intake.ts'

const now = Date.UTC(2026, 2, 2, 9) / 1000
const devices: TestDevice[] = []
let harness: Harness
let org: TestOrg
let intake: SampleIntake
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(now * 1000)
  intake = new SampleIntake(harness.services, new LatestSampleCache(harness.services), new Horizon())
  org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
})
afterAll(async () => {
  for (const device of devices) await device.close()
  await harness.close()
})

async function device(model: string, ...samples: object[]): Promise<TestDevice> {
  const made = await newDevice(harness, org, { roomId: 1, model })
  devices.push(made)
  if (samples.length > 0) await made.publish('sample', { samples })
  return made
}
const latest = async ({ id }: TestDevice) => {
  const { status, body } = await org.call('GET', `/endpoints/${id}/sensor`)
  return status === 404 ? undefined : body.endpointData.data[0]
}
/** The rows of an endpoint, oldest first. */
const history = ({ id }: TestDevice) =>
  harness.services.db.system.kysely
    .selectFrom('samples as s')
    .innerJoin('endpoint_rooms as r', (j) => j.onRef('r.org', '=', 's.org').onRef('r.endpoint', '=', 's.endpoint'))
    .selectAll('s')
    .where('r.endpoint_id', '=', id)
    .orderBy('s.timestamp')
    .execute()
const connectionOf = ({ id, credential }: TestDevice) => storedConnection(harness.services, id, credential)

const everything = { co2: 1, humidity: 2, illumination: 3, people: 4, temp: 5, voc: 6, vocIndex: 7 }

test.each([...Object.keys(models), 'UNHEARD-OF'])(
  'a %s keeps what its model can measure [contract 5.2.models]',
  async (code) => {
    const own = models[code]?.sensors ?? sensors
    const made = await device(code, { ...everything, shutterClosed: true, timestamp: now })
    const kept = Object.fromEntries(sensors.map((s) => [s, own.includes(s) ? everything[s] : 0]))
    const ShutterClosed = code === 'NF21F1'
    expect(await latest(made)).toEqual({ ...kept, timestamp: String(now), ShutterClosed })
    const [row] = await history(made)
    const stored = { ...row, vocIndex: row?.voc_index } as Record<Sensor, number | null>
    const missing = sensors.filter((s) => stored[s] === null)
    expect(missing, 'missing is missing, not 0').toEqual(sensors.filter((s) => !own.includes(s)))
    expect(row?.shutter_closed).toBe(Number(ShutterClosed))
  },
)

test('a value that was not sent, or sent as null, is missing; a zero is a value [contract 5.2]', async () => {
  const frame = await device('NF21F1', { timestamp: now, people: 0, temp: 0, humidity: null })
  const [row] = await history(frame)
  expect(row).toMatchObject({ people: 0, temp: 0, humidity: null, illumination: null, shutter_closed: null })
  expect(await latest(frame)).toMatchObject({ people: 0, temp: 0, humidity: 0, illumination: 0, ShutterClosed: false })
})

/** Counts the writes that note what endpoints measure. */
function countMeasuredWrites() {
  let count = 0
  harness.services.db.onWrite('endpoints', ({ columns }) => {
    if (columns?.has('sensors_measured')) count++
  })
  return () => count
}
const sensorsOfEndpoint = async ({ id }: TestDevice) => (await org.call('GET', `/endpoints/${id}`)).body.sensors
const publish = (to: TestDevice, ago: number, values: object) =>
  to.publish('sample', { samples: [{ timestamp: now - ago, ...values }] })

test('a device of an unknown model has the sensors of which it ever sent a number; each is stored once [contract 5.1.models]', async () => {
  const writes = countMeasuredWrites()
  const air = await device('AIR-1')
  expect(await sensorsOfEndpoint(air)).toBeUndefined()
  for (const ago of [50, 40]) await publish(air, ago, { co2: 500, people: null })
  expect([await sensorsOfEndpoint(air), writes()]).toEqual([['co2'], 1])
  await publish(air, 30, { co2: 510, voc: 0 })
  expect([await sensorsOfEndpoint(air), writes()]).toEqual([['co2', 'voc'], 2])
  await air.close()
  await air.connect()
  await publish(air, 20, { voc: 3 })
  expect([await sensorsOfEndpoint(air), writes()]).toEqual([['co2', 'voc'], 2])
  await device('NF19B1', { timestamp: now, co2: 1 })
  expect(writes(), 'the table has the sensors of its models').toBe(2)
  const { endpoints } = (await org.call('GET', '/endpoints')).body
  expect(endpoints.find((e: { id: string }) => e.id === air.id).sensors).toEqual(['co2', 'voc'])
})

test('a device that names its sensors has those only, from its status on [contract 5.1.models]', async () => {
  const air = await device('AIR-1', { timestamp: now - 60, co2: 1, people: 2 })
  expect(await sensorsOfEndpoint(air)).toEqual(['co2', 'people'])
  // The sample is sent before the status was acknowledged, and is read by it all the same.
  await Promise.all([
    air.publish('status', { sensors: ['temp', 'co2'] }),
    publish(air, 50, { co2: 2, people: 3, temp: 20 }),
  ])
  expect(await sensorsOfEndpoint(air)).toEqual(['co2', 'temp'])
  await publish(air, 40, { people: 20_000, co2: 3 })
  const rows = await history(air)
  expect(rows.map(({ co2, people, temp }) => [co2, people, temp])).toEqual([
    [1, 2, null],
    [2, null, 200],
    [3, null, null],
  ])
  await air.publish('status', { sensors: [] })
  expect(await sensorsOfEndpoint(air)).toEqual([])
  await air.publish('status', { sensors: null })
  expect(await sensorsOfEndpoint(air), 'what it has sent').toEqual(['co2', 'people', 'temp'])
})

test('the table of models wins over what a device names [contract 5.1.models]', async () => {
  const center = await device('NF23L1')
  await center.publish('status', { sensors: ['co2'] })
  await publish(center, 0, { co2: 4, people: 5 })
  expect(await sensorsOfEndpoint(center)).toEqual(['people'])
  expect(await history(center)).toMatchObject([{ co2: null, people: 5 }])
})

test('only samples that are wrong are refused, each with its reason; all are acknowledged [contract D.41]', async () => {
  const good = { timestamp: now - 10, co2: 400 }
  const wrong = [
    { timestamp: now + 301, co2: 400 },
    { timestamp: now - 30 * daySeconds - 1, co2: 400 },
    { timestamp: now - 20, co2: 40_001 },
    { timestamp: now - 30, temp: -40.1, humidity: 100.01, people: 3 },
  ]
  const bar = await device('NF19B1')
  await bar.publish('sample', { samples: [...wrong.slice(0, 2), good, ...wrong.slice(2)] })
  const { refused } = await bar.next('sample-refused')
  expect(refused.map((r: { timestamp: number }) => r.timestamp)).toEqual(wrong.map((w) => w.timestamp))
  expect(refused.map((r: { reason: string }) => r.reason)).toEqual([
    'The timestamp is 301 seconds ahead of the service, which allows 300. Set the clock of the device.',
    'The sample is from before 2026-01-31T09:00:00.000Z, and nothing older is kept. Do not send it again.',
    'The sample was not stored: co2 must be from 0 to 40000 ppm and is 40001. Do not send it again.',
    'The sample was not stored: humidity must be from 0 to 100 %rH and is 100.01; temp must be from -40 to 85 °C and is -40.1. Do not send it again.',
  ])
  expect((await history(bar)).map((row) => [row.timestamp, row.co2])).toEqual([[now - 10, 400]])
})

test('a message of which nothing is kept is acknowledged and changes nothing', async () => {
  const bar = await device('NF19B1', { timestamp: now, people: -1 })
  expect((await bar.next('sample-refused')).refused).toHaveLength(1)
  expect([await latest(bar), await history(bar)]).toEqual([undefined, []])
})

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])('%d is refused', async (co2) => {
  const bar = await device('NF19B1')
  const answer = await intake.receive(await connectionOf(bar), { samples: [{ timestamp: now, co2 }] })
  expect(answer?.refused).toEqual([{ timestamp: now, reason: expect.stringContaining('co2 must be from 0 to 40000') }])
  expect(await history(bar)).toEqual([])
})

test.each(Object.entries(sensorRanges))(
  'the ends of the range of %s are inside, what is beyond is not',
  async (sensor, { min, max }) => {
    const samples = [min, max, min - 0.1, max + 0.1].map((value, i) => ({ timestamp: now - i, [sensor]: value }))
    const any = await device('ANY', ...samples)
    const { refused } = await any.next('sample-refused')
    expect(refused.map((r: { timestamp: number }) => r.timestamp)).toEqual([now - 2, now - 3])
    expect(await latest(any)).toMatchObject({ [sensor]: min, timestamp: String(now) })
    expect(await history(any)).toHaveLength(2)
  },
)

test('a value that the model does not measure is dropped, also when it is out of range', async () => {
  const center = await device('NF23L1', { timestamp: now, people: 2, temp: 4000 })
  expect(await latest(center)).toMatchObject({ people: 2, temp: 0 })
})

test('five minutes ahead and thirty days back are still inside', async () => {
  const bar = await device('NF19B1', { timestamp: now + 300, co2: 1 }, { timestamp: now - 30 * daySeconds, co2: 2 })
  expect((await history(bar)).map((row) => row.co2)).toEqual([2, 1])
  expect(await latest(bar)).toMatchObject({ co2: 1, timestamp: String(now + 300) })
})

test('a second sample of the same time changes nothing, in one message or in two', async () => {
  const bar = await device('NF19B1', { timestamp: now, co2: 1 }, { timestamp: now, co2: 2 })
  await bar.publish('sample', { samples: [{ timestamp: now, co2: 3, people: 3 }] })
  expect((await history(bar)).map((row) => [row.co2, row.people])).toEqual([[1, null]])
  expect(await latest(bar)).toMatchObject({ co2: 1, people: 0 })
})

test('a late sample goes to the history and never replaces a newer latest one', async () => {
  const bar = await device('NF19B1', { timestamp: now, co2: 1 })
  await bar.publish('sample', { samples: [{ timestamp: now - 600, co2: 2 }] })
  expect((await history(bar)).map((row) => row.co2)).toEqual([2, 1])
  expect(await latest(bar)).toMatchObject({ co2: 1, timestamp: String(now) })
})

test('a device that was away for a week catches up; doing it twice changes nothing', async () => {
  const bar = await device('NF19B1')
  const week = Array.from({ length: 2016 }, (_, i) => ({
    timestamp: now - (2015 - i) * 300,
    co2: 400 + i,
    temp: i / 100,
  }))
  const catchUp = () =>
    Promise.all(
      Array.from({ length: 5 }, (_, i) => bar.publish('sample', { samples: week.slice(i * 500, (i + 1) * 500) })),
    )
  await catchUp()
  const rows = await history(bar)
  expect(rows.map((row) => [row.timestamp, row.co2])).toEqual(week.map((s) => [s.timestamp, s.co2]))
  await catchUp()
  expect(await history(bar)).toEqual(rows)
  expect(await latest(bar)).toMatchObject({ co2: 2415, temp: 20.2, timestamp: String(now) })
})

test('a message of more than 500 samples is bad as a whole, and acknowledged [contract D.41]', async () => {
  const samples = Array.from({ length: 501 }, (_, i) => ({ timestamp: now - i, co2: 1 }))
  const bar = await device('NF19B1')
  await bar.publish('sample', { samples })
  expect(await history(bar)).toEqual([])
  await bar.publish('sample', { samples: samples.slice(1) })
  expect(await history(bar)).toHaveLength(500)
})

const commits = async () => {
  const { text } = await send(harness.url, 'GET', '/metrics')
  return Number(text.match(/transaction_duration_seconds_count\{outcome="committed"\} (\d+)/)?.[1])
}

test('messages that come together share a commit', async () => {
  const sender = await connectionOf(await device('NF19B1', { timestamp: now, co2: 1 }))
  const before = await commits()
  await Promise.all(
    Array.from({ length: 200 }, (_, i) => intake.receive(sender, { samples: [{ timestamp: now - i, co2: 1 }] })),
  )
  expect((await commits()) - before).toBeLessThan(5)
})

test.runIf(engine === 'postgres')(
  'on PostgreSQL samples wait 25 ms for others to share their commit, and nothing else waits',
  async () => {
    const sender = await connectionOf(await device('NF19B1', { timestamp: now, co2: 1 }))
    const sample = (seconds: number) => ({ samples: [{ timestamp: now - seconds, co2: 1 }] })
    // A timer is never early, whatever else the machine does.
    const startedAt = performance.now()
    await intake.receive(sender, sample(1_000))
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(24)
    // With a longer wait the machine may be slow.
    const { services } = harness
    const patient = new SampleIntake(services, new LatestSampleCache(services), new Horizon(), 1_500)
    let isStored = false
    const first = patient.receive(sender, sample(1_001)).then(() => {
      isStored = true
    })
    await setTimeout(10)
    const second = patient.receive(sender, sample(1_002))
    await services.db.forOrg(org.org.key).telemetry(async () => {})
    expect(isStored, 'another write is committed first').toBe(false)
    await Promise.all([first, second])
    const stored = services.db.system.kysely.selectFrom('samples').where('timestamp', 'in', [now - 1_001, now - 1_002])
    const transactions = await stored.select(sql<string>`xmin::text`.as('id')).execute()
    expect(transactions).toHaveLength(2)
    expect(new Set(transactions.map(({ id }) => id)).size).toBe(1)
  },
)

test('messages that come together are written in their order', async () => {
  const [one, two] = [await device('NF19B1'), await device('NF19B1')]
  const [first, second] = [await connectionOf(one), await connectionOf(two)]
  const send = (to: DeviceConnection, co2: number) => intake.receive(to, { samples: [{ timestamp: now, co2 }] })
  await Promise.all([send(first, 1), send(second, 2), send(first, 3), send(second, 4)])
  expect([(await latest(one)).co2, (await latest(two)).co2]).toEqual([1, 2])
})

test('samples that an unenrolled device still sends belong to no endpoint, and no endpoint inherits its history [interface 5]', async () => {
  const gone = await device('NF19B1', { timestamp: now, co2: 1 })
  const session = await connectionOf(gone)
  await org.call('DELETE', `/endpoints/${gone.id}`)
  const bulk = (await org.call('GET', '/endpoints/sensor')).body
  const late = intake.receive(session, { samples: [{ timestamp: now + 5, co2: 2 }] })
  await expect(late).rejects.toBeInstanceOf(ConnectionReplaced)
  const stored = harness.services.db.system.kysely.selectFrom('samples').select('timestamp')
  expect(await stored.where('timestamp', '=', now + 5).execute()).toEqual([])
  expect((await org.call('GET', '/endpoints/sensor')).body).toEqual(bulk)
  expect(await latest(gone)).toBeUndefined()
  const next = await device('NF19B1', { timestamp: now - 5, co2: 3 })
  expect((await history(next)).map((row) => row.co2)).toEqual([3])
})

test('samples of a replaced credential are refused, those of an earlier connection and of others in the batch are stored', async () => {
  const [one, two] = [await device('NF19B1'), await device('NF19B1')]
  const [first, second] = [await connectionOf(one), await connectionOf(two)]
  const earlier = { ...first, nodeId: 99, number: 0 }
  const revoked = { ...first, credentialHash: tokenHash('replaced').toString('hex') }
  const send = (over: DeviceConnection, timestamp: number) => intake.receive(over, { samples: [{ timestamp, co2: 1 }] })
  const outcomes = await Promise.allSettled([send(earlier, now - 1), send(revoked, now - 2), send(second, now - 3)])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect((await history(one)).map((row) => row.timestamp)).toEqual([now - 1])
  expect((await history(two)).map((row) => row.timestamp)).toEqual([now - 3])
})

test('samples that were written and refused are counted', async () => {
  const counts = async () => {
    const { text } = await send(harness.url, 'GET', '/metrics')
    return ['stored', 'refused'].map((what) => Number(text.match(`roomkeeper_samples_${what}_total (\\d+)`)?.[1]))
  }
  const [stored = 0, refused = 0] = await counts()
  await device('NF19B1', { timestamp: now, co2: 1 }, { timestamp: now - 1, co2: 2 }, { timestamp: now - 2, co2: -1 })
  expect(await counts()).toEqual([stored + 2, refused + 1])
})

test('samples are not audited and no version moves with them [contract 5.4.audit] [contract 7.8]', async () => {
  const bar = await device('NF19B1')
  const etags = async () =>
    Promise.all([`/endpoints/${bar.id}`, '/rooms/1'].map(async (p) => (await org.call('GET', p)).headers.get('etag')))
  const before = [await org.audit(), await etags()]
  await bar.publish('sample', { samples: [{ timestamp: now, co2: 1 }] })
  expect([await org.audit(), await etags()]).toEqual(before)
})
