// The sensor operations over HTTP: samples of endpoints and of rooms that devices sent.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../test/support/harness.ts'

const now = Date.UTC(2026, 2, 2, 9) / 1000
const devices: TestDevice[] = []
let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(now * 1000)
})
afterAll(async () => {
  for (const device of devices) await device.close()
  await harness.close()
})

const model = { pad: 'NF19A1', bar: 'NF19B1', barPro: 'NF21D1', frame: 'NF21F1' }
const nothing = { co2: 0, humidity: 0, illumination: 0, people: 0, temp: 0, voc: 0, vocIndex: 0 }

/** Oslo (1) in Europe (1), Tokyo (2) in Asia (2); rooms Fjord (1) in Oslo, Fuji (2) in Tokyo, Cellar (3) nowhere. */
async function building(): Promise<TestOrg> {
  const org = await harness.newOrg()
  const post = (path: string, body: object) => org.call('POST', path, { body })
  for (const name of ['Europe', 'Asia']) await post('/regions', { name })
  for (const [name, regionId] of Object.entries({ Oslo: 1, Tokyo: 2 })) await post('/locations', { name, regionId })
  for (const [name, locationId] of Object.entries({ Fjord: 1, Fuji: 2, Cellar: 0 })) {
    await post('/rooms', { name, locationId })
  }
  return org
}

/** A device in a room that has sent these samples. */
async function deviceIn(org: TestOrg, roomId: number, code: string, ...samples: object[]): Promise<TestDevice> {
  const device = await newDevice(harness, org, { roomId, model: code })
  devices.push(device)
  if (samples.length > 0) await device.publish('sample', { samples })
  return device
}
const read = async ({ call }: TestOrg, path: string) => (await call('GET', path)).body
const legacy = async ({ id, key }: TestOrg, path: string) =>
  (await harness.call('GET', `/api/v1/orgs/${id}${path}`, { key })).body

test('endpointsSensorData gives the one latest sample with every field [interface 10] [contract 4.endpointsSensorData]', async () => {
  const org = await building()
  const sent = { co2: 420, humidity: 36.24, illumination: 310, people: 4, temp: -3.35, voc: 502.4, timestamp: now - 60 }
  const bar = await deviceIn(org, 1, model.bar, { co2: 999, timestamp: now - 360 }, sent)
  const sample = { co2: 420, humidity: 36.2, illumination: 310, people: 4, temp: -3.3, voc: 502, vocIndex: 0 }
  const timestamp = String(now - 60)
  expect(await read(org, `/endpoints/${bar.id}/sensor`)).toEqual({
    endpointData: {
      data: [{ ...sample, timestamp, ShutterClosed: false }],
      shutterClosed: false,
      measured: ['co2', 'humidity', 'illumination', 'people', 'temp', 'voc'],
    },
  })
})

test('the sample is given however old it is [contract 4.endpointsSensorData]', async () => {
  const org = await building()
  const timestamp = now - 29 * 86_400
  const pad = await deviceIn(org, 1, model.pad, { timestamp, temp: 20 })
  const { data } = (await read(org, `/endpoints/${pad.id}/sensor`)).endpointData
  expect(data).toEqual([{ ...nothing, temp: 20, timestamp: String(timestamp), ShutterClosed: false }])
})

test('endpointsSensorData of an endpoint without a sample, or of no endpoint, is a 404 that says which [contract 4.endpointsSensorData]', async () => {
  const [org, elsewhere] = [await building(), await building()]
  const silent = await deviceIn(org, 1, model.bar)
  const foreign = await deviceIn(elsewhere, 1, model.bar, { timestamp: now, co2: 400 })
  const failure = async (id: string) => {
    const { status, body } = await org.call('GET', `/endpoints/${id}/sensor`)
    return [status, body.code, body.message]
  }
  const notFound = (sentence: string) => [404, 'NOT_FOUND', `Requested resource not found: ${sentence}`]
  expect(await failure(silent.id)).toEqual(notFound(`endpoint ${silent.id} has not sent a sample yet.`))
  for (const id of [foreign.id, randomUUID(), 'bar', '%00']) {
    expect(await failure(id)).toEqual(notFound(`there is no endpoint ${decodeURIComponent(id)}.`))
  }
})

test('under the legacy base the shutter is beside the sample only, under /v1 in both places, with what was measured [contract 5.2.shutter] [contract 5.2.measured]', async () => {
  const org = await building()
  const frame = await deviceIn(org, 1, model.frame, { timestamp: now, people: 2, shutterClosed: true })
  const eight = { ...nothing, people: 2, timestamp: String(now) }
  const shown = { data: [{ ...eight, ShutterClosed: true }], shutterClosed: true, measured: ['people'] }
  const without = { data: [eight], shutterClosed: true }
  const answers = (data: object) => ({
    [`/endpoints/${frame.id}/sensor`]: { endpointData: data },
    '/endpoints/sensor': { data: [{ id: frame.id, endpointData: data }] },
    '/rooms/1/sensor': { roomData: data },
    '/rooms/sensor': {
      data: [
        { id: 1, roomData: data },
        { id: 2, roomData: null },
        { id: 3, roomData: null },
      ],
    },
  })
  for (const [path, answer] of Object.entries(answers(shown))) expect(await read(org, path), path).toEqual(answer)
  for (const [path, answer] of Object.entries(answers(without))) expect(await legacy(org, path), path).toEqual(answer)
})

test('endpointsBulkSensorData has an entry for every endpoint, null where there is no sample [interface 4]', async () => {
  const [org, elsewhere] = [await building(), await building()]
  await deviceIn(elsewhere, 1, model.bar, { timestamp: now, co2: 400 })
  const oslo = await deviceIn(org, 1, model.bar, { timestamp: now, co2: 0, people: 3 })
  const tokyo = await deviceIn(org, 2, model.pad)
  const cellar = await deviceIn(org, 3, model.pad, { timestamp: now, co2: 700 })
  const entry = ({ id }: TestDevice, values: object, measured: string[]) => ({
    id,
    endpointData: {
      data: [{ ...nothing, ...values, timestamp: String(now), ShutterClosed: false }],
      shutterClosed: false,
      measured,
    },
  })
  const entries = [
    entry(oslo, { people: 3 }, ['co2', 'people']),
    { id: tokyo.id, endpointData: null },
    entry(cellar, { co2: 700 }, ['co2']),
  ] as const
  const sorted = (list: { id: string }[]) => list.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  expect(await read(org, '/endpoints/sensor')).toEqual({ data: sorted([...entries]) })
  expect(await read(org, '/endpoints/sensor?regionId=1')).toEqual({ data: [entries[0]] })
  expect(await read(org, '/endpoints/sensor?locationId=2')).toEqual({ data: [entries[1]] })
  expect(await read(org, '/endpoints/sensor?regionId=2&locationId=2')).toEqual({ data: [entries[1]] })
  for (const query of ['regionId=1&locationId=2', 'regionId=77', 'locationId=77']) {
    expect(await read(org, `/endpoints/sensor?${query}`), query).toEqual({ data: [] })
  }
})

test('a room is its endpoints together: most people, mean of the rest, newest time [contract 5.2.aggregate]', async () => {
  const org = await building()
  const bar = { people: 3, co2: 0, temp: 21.1, humidity: 40, illumination: 100, timestamp: now - 30 }
  await deviceIn(org, 1, model.bar, bar)
  await deviceIn(org, 1, model.pad, { co2: 501, temp: 21.4, humidity: 40.3, voc: 200, timestamp: now - 90 })
  await deviceIn(org, 1, model.barPro, { people: 5, temp: 22, vocIndex: 100, timestamp: now - 60 })
  await deviceIn(org, 2, model.bar, { people: 9, timestamp: now })
  const sample = { co2: 251, humidity: 40.2, illumination: 100, people: 5, temp: 21.5, voc: 200, vocIndex: 100 }
  const roomData = {
    data: [{ ...sample, timestamp: String(now - 30), ShutterClosed: false }],
    shutterClosed: false,
    measured: ['co2', 'humidity', 'illumination', 'people', 'temp', 'voc', 'vocIndex'],
  }
  expect(await read(org, '/rooms/1/sensor')).toEqual({ roomData })
  expect((await read(org, '/rooms/sensor')).data[0]).toEqual({ id: 1, roomData })
})

test('a room has only what its devices measure: a CO₂ sensor says nothing about people [contract 5.2.measured]', async () => {
  const org = await building()
  const air = await deviceIn(org, 1, 'AIR-1', { timestamp: now - 60, co2: 700 })
  await deviceIn(org, 1, 'PROJECTOR-1')
  const { roomData } = await read(org, '/rooms/1/sensor')
  expect(roomData).toMatchObject({ data: [{ co2: 700, people: 0, voc: 0 }], measured: ['co2'] })
  const [room] = (await read(org, '/rooms')).rooms
  expect(room).not.toHaveProperty('people')
  const from = new Date((now - 3600) * 1000).toISOString()
  const [bucket] = (await read(org, `/rooms/1/sensor/history?from=${from}`)).buckets
  expect(Object.keys(bucket)).toEqual(['start', 'co2'])
  await air.publish('status', { sensors: ['co2', 'people'] })
  expect(await read(org, '/rooms/1/sensor'), 'a sensor without a value yet').toEqual({ roomData })
})

test('presence makes a room in use, but is not a head count [contract 5.2.aggregate]', async () => {
  const org = await building()
  const shown = async () => {
    const [{ people, peopleIs }] = (await read(org, '/rooms')).rooms
    const alone = (await read(org, '/rooms/1/sensor')).roomData
    expect((await read(org, '/rooms/sensor')).data[0]).toEqual({ id: 1, roomData: alone })
    expect([alone.data[0].people, alone.peopleIs]).toEqual([people, peopleIs])
    return [people, peopleIs]
  }
  const detector = await deviceIn(org, 1, 'PIR-1', { timestamp: now - 60, people: 0 })
  expect(await shown()).toEqual([0, undefined])
  await detector.publish('status', { peopleIs: 'PRESENCE' })
  expect(await shown()).toEqual([0, 'PRESENCE'])
  await detector.publish('sample', { samples: [{ timestamp: now - 50, people: 7 }] })
  expect(await shown(), 'more than 1 is stored as 1').toEqual([1, 'PRESENCE'])
  const bar = await deviceIn(org, 1, model.bar, { timestamp: now - 40, people: 0 })
  expect(await shown(), 'the device that counts sees nobody').toEqual([1, 'PRESENCE'])
  await bar.publish('sample', { samples: [{ timestamp: now - 30, people: 3 }] })
  expect(await shown()).toEqual([3, undefined])
  const [{ roomData }] = (await legacy(org, '/rooms/sensor')).data
  expect(Object.keys(roomData)).toEqual(['data', 'shutterClosed'])
})

test('the shutter of a room is closed when that of any Frame is [contract 5.2.aggregate]', async () => {
  const org = await building()
  await deviceIn(org, 1, model.frame, { timestamp: now, shutterClosed: false })
  await deviceIn(org, 1, model.bar, { timestamp: now, shutterClosed: true })
  const shutter = async () => (await read(org, '/rooms/1/sensor')).roomData.shutterClosed
  expect(await shutter()).toBe(false)
  await deviceIn(org, 1, model.frame, { timestamp: now, shutterClosed: true })
  expect(await shutter()).toBe(true)
})

test('a sample counts for a room for 15 minutes, then the room has none [contract 5.2.aggregate]', async () => {
  const org = await building()
  await deviceIn(org, 1, model.bar, { timestamp: now - 900, people: 1 })
  await deviceIn(org, 1, model.bar, { timestamp: now - 901, people: 8 })
  await deviceIn(org, 2, model.bar, { timestamp: now - 901, people: 8 })
  expect((await read(org, '/rooms/1/sensor')).roomData.data[0].people).toBe(1)
  const { data } = await read(org, '/rooms/sensor')
  expect(data.map((d: { id: number; roomData: object | null }) => [d.id, d.roomData !== null])).toEqual([
    [1, true],
    [2, false],
    [3, false],
  ])
  const stale = await org.call('GET', '/rooms/2/sensor')
  expect([stale.status, stale.body.message]).toEqual([
    404,
    'Requested resource not found: room 2 has no sample of the last 15 minutes.',
  ])
  const unknown = await org.call('GET', '/rooms/77/sensor')
  expect([unknown.status, unknown.body.message]).toEqual([404, 'Requested resource not found: there is no room 77.'])
})

test('roomsBulkSensorData fails while the organisation has no endpoints, whatever the filter [interface 19]', async () => {
  const org = await building()
  for (const path of ['/rooms/sensor', '/rooms/sensor?regionId=1']) {
    const { status, body } = await org.call('GET', path)
    expect([status, body.code]).toEqual([400, 'FAILED_PRECONDITION'])
    expect(body.message).toMatch(/^Operation preconditions not met: the organisation has no endpoints\./)
  }
  await deviceIn(org, 1, model.bar)
  const ids = async (query: string) => (await read(org, `/rooms/sensor${query}`)).data.map((d: { id: number }) => d.id)
  expect(await ids('')).toEqual([1, 2, 3])
  expect(await ids('?regionId=2')).toEqual([2])
  expect(await ids('?locationId=1')).toEqual([1])
  expect(await ids('?regionId=2&locationId=2')).toEqual([2])
  for (const query of ['?regionId=1&locationId=2', '?regionId=77', '?locationId=77'])
    expect(await ids(query)).toEqual([])
})

test('a sample goes with its endpoint: to another room, and away when it is unenrolled [interface 5]', async () => {
  const org = await building()
  const bar = await deviceIn(org, 1, model.bar, { timestamp: now, people: 6 })
  await org.call('POST', '/endpoints/move_paired', { body: { endpointIds: [bar.id], roomId: 2 } })
  expect((await org.call('GET', '/rooms/1/sensor')).status).toBe(404)
  expect((await read(org, '/rooms/2/sensor')).roomData.data[0].people).toBe(6)
  await org.call('DELETE', `/endpoints/${bar.id}`)
  expect((await org.call('GET', `/endpoints/${bar.id}/sensor`)).status).toBe(404)
  expect(await read(org, '/endpoints/sensor')).toEqual({ data: [] })
})
