// The wire: who may connect, what they may say, and that presence is the truth.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { devicePaths, upTopic } from '../../src/contract/device/protocol.ts'
import { connack, frames, rawMqtt } from '../support/devices/raw-mqtt.ts'
import { newDevice, type TestDevice } from '../support/devices/test-device.ts'
import { engine, type Harness, newPlace, startHarness, type TestOrg } from '../support/harness.ts'
import { sumMetric } from '../support/nodes/metrics.ts'
import { until } from '../support/program.ts'
import { rawRequest } from '../support/raw-http.ts'
import { shortenLimits } from '../support/short-limits.ts'

let harness: Harness
let org: TestOrg
let room: number
beforeAll(async () => {
  // A connection without CONNECT is closed after 3 s instead of 10.
  harness = await startHarness({}, { limits: shortenLimits(0.1).limits })
  org = await harness.newOrg()
  room = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
})
afterAll(() => harness.close())

const connected = async (device: TestDevice) => (await org.call('GET', `/endpoints/${device.id}`)).body.connected
const whenConnected = (device: TestDevice, wanted: boolean) =>
  until(`connected is ${wanted}`, async () => (await connected(device)) === wanted)

test('a device that is connected is connected in the answers, and gone when it goes', async () => {
  const device = await newDevice(harness, org, { roomId: room })
  expect(await connected(device)).toBe(true)
  await device.close()
  await whenConnected(device, false)
  await device.connect()
  device.drop()
  await whenConnected(device, false)
})

test('presence and status leave the version of the endpoint alone [contract 7.8]', async () => {
  const device = await newDevice(harness, org, { roomId: room, offline: true })
  const before = await org.call('GET', `/endpoints/${device.id}`)
  await device.connect()
  await device.publish('status', { firmwareVersion: '1.2.3', inCallStatus: 'ZOOM' })
  const after = await org.call('GET', `/endpoints/${device.id}`)
  expect(after.headers.get('etag')).toBe(before.headers.get('etag'))
  expect(after.body).toMatchObject({ firmwareVersion: '1.2.3', inCallStatus: 'ZOOM', networks: [] })
  await device.close()
})

test('a status report changes what it names, and null takes it back', async () => {
  const device = await newDevice(harness, org, { roomId: room })
  await device.publish('status', { firmwareVersion: '1', timezone: 'Europe/Oslo', pairingSerial: 'LEADER' })
  await device.publish('status', { firmwareVersion: '2', timezone: null })
  const { body } = await org.call('GET', `/endpoints/${device.id}`)
  expect(body).toMatchObject({ firmwareVersion: '2', pairingSerial: 'LEADER' })
  expect(body).not.toHaveProperty('timezone')
  await device.publish('status', { pairingSerial: null })
  expect((await org.call('GET', `/endpoints/${device.id}`)).body).not.toHaveProperty('pairingSerial')
  await device.close()
})

test('a device cannot say what only the service knows', async () => {
  const device = await newDevice(harness, org, { roomId: room })
  await device.publish('status', {
    id: 'x',
    serial: 'y',
    roomId: 99,
    connected: false,
    profileId: 5,
    orientation: 'up',
  })
  const { body } = await org.call('GET', `/endpoints/${device.id}`)
  expect(body).toMatchObject({ id: device.id, serial: device.serial, roomId: room, connected: true, orientation: 'up' })
  expect(body).not.toHaveProperty('profileId')
  await device.close()
})

test('a second connection of the same device takes over', async () => {
  const device = await newDevice(harness, org, { roomId: room })
  const first = device.client
  await device.connect()
  await until('the first is closed', () => first.stream.destroyed)
  // Written after whatever the first one left behind: its absence would be seen.
  await device.publish('status', { orientation: 'landscape' })
  expect(await connected(device)).toBe(true)
  await device.close()
})

test.each([
  [
    'a wrong credential',
    (d: TestDevice) => ({
      username: d.id,
      password: `${d.credential.slice(0, -1)}${d.credential.endsWith('x') ? 'y' : 'x'}`,
    }),
  ],
  ['the credential of another device', (d: TestDevice, o: TestDevice) => ({ username: d.id, password: o.credential })],
  ['an unknown endpoint', (d: TestDevice) => ({ username: 'nobody', password: d.credential })],
  ['no password', (d: TestDevice) => ({ username: d.id, password: undefined as unknown as string })],
])('%s is refused with 5: the service does not know the credential', async (_, login) => {
  const device = await newDevice(harness, org, { roomId: room, offline: true })
  const other = await newDevice(harness, org, { roomId: room, offline: true })
  await expect(device.connect(login(device, other))).rejects.toMatchObject({ code: 5 })
  expect(await connected(device)).toBe(false)
})

test('without keep-alive a connection is refused with 2', async () => {
  const device = await newDevice(harness, org, { roomId: room, offline: true })
  for (const keepalive of [0, 2, 3600]) await expect(device.connect({ keepalive })).rejects.toMatchObject({ code: 2 })
  expect(await connected(device)).toBe(false)
})

// A timer of the connection ends it. "a device that is connected is connected in the answers" shows on both databases what is stored then.
test.runIf(engine === 'sqlite')(
  'a device that sends nothing for one and a half keep-alives is disconnected',
  async () => {
    const device = await newDevice(harness, org, { roomId: room, offline: true })
    // A library would send PINGREQ by itself.
    const connection = await rawMqtt(harness.mqttPort)
    connection.socket.write(frames.connect(device.id, device.credential, 5))
    await whenConnected(device, true)
    expect(connection.received).toEqual([{ type: connack, id: 0 }])
    await until('it is disconnected', async () => !(await connected(device)), { everyMs: 200, timeoutMs: 12_000 })
    await until('its connection is closed', () => connection.isClosed)
  },
  20_000,
)

test.each([
  [
    "publishing to another device's topic",
    (d: TestDevice, o: TestDevice) => d.client.publish(upTopic(o.id, 'status'), '{}', { qos: 1 }),
  ],
  ['publishing to its own down topic', (d: TestDevice) => d.client.publish(`v1/${d.id}/down/config`, '{}', { qos: 1 })],
  ['publishing outside', (d: TestDevice) => d.client.publish('hello', 'world')],
  ['publishing to $SYS', (d: TestDevice) => d.client.publish('$SYS/x', 'world')],
  ["subscribing to another device's topic", (d: TestDevice, o: TestDevice) => d.client.subscribe(`v1/${o.id}/down/#`)],
  ['subscribing to everything', (d: TestDevice) => d.client.subscribe('#')],
  ['subscribing to everybody', (d: TestDevice) => d.client.subscribe('v1/+/down/#')],
])('%s ends the connection, and other devices are served', async (_, misbehave) => {
  const bad = await newDevice(harness, org, { roomId: room })
  const good = await newDevice(harness, org, { roomId: room })
  misbehave(bad, good)
  await bad.ended()
  await whenConnected(bad, false)
  await good.publish('status', { orientation: 'landscape' })
  expect(await connected(good)).toBe(true)
  expect(good.received).toEqual([])
  await good.close()
})

test('bad messages are acknowledged, counted, logged once a minute, and do not disturb other devices', async () => {
  const device = await newDevice(harness, org, { roomId: room })
  const before = harness.logged.length
  for (const payload of [
    '',
    '{',
    'null',
    '[]',
    '"x"',
    '{"inCallStatus":"SLEEPING"}',
    '{"firmwareVersion":5}',
    '\u0000',
  ]) {
    await device.client.publishAsync(upTopic(device.id, 'status'), payload, { qos: 1 })
  }
  await device.client.publishAsync(upTopic(device.id, 'status'), Buffer.from([0xff, 0xfe]), { qos: 1 })
  await device.client.publishAsync(`v1/${device.id}/up/unheard-of`, '{}', { qos: 1 })
  await device.client.publishAsync(upTopic(device.id, 'operation'), '{"id":"x","state":"SUCCEEDED"}', { qos: 1 })
  await device.client.publishAsync(upTopic(device.id, 'config'), '{"version":-1,"config":{}}', { qos: 1 })
  const logged = harness.logged.slice(before).filter((l) => l.msg === 'bad message of a device')
  expect(logged).toHaveLength(1)
  expect(logged[0]).toMatchObject({ endpoint: device.id, serial: device.serial })
  expect(await sumMetric(harness, 'roomkeeper_device_bad_messages_total')).toBeGreaterThanOrEqual(12)
  await device.publish('status', { orientation: 'portrait' })
  expect((await org.call('GET', `/endpoints/${device.id}`)).body.orientation).toBe('portrait')
  await device.close()
})

test('QoS 0 and QoS 2 are understood too', async () => {
  const device = await newDevice(harness, org, { roomId: room })
  await device.client.publishAsync(upTopic(device.id, 'status'), '{"timezone":"Europe/Oslo"}', { qos: 2 })
  expect((await org.call('GET', `/endpoints/${device.id}`)).body.timezone).toBe('Europe/Oslo')
  device.client.publish(upTopic(device.id, 'status'), '{"timezone":"Asia/Tokyo"}', { qos: 0 })
  await until(
    'it is written',
    async () => (await org.call('GET', `/endpoints/${device.id}`)).body.timezone === 'Asia/Tokyo',
  )
  await device.close()
})

test('a thousand messages at once are all taken, in their order', async () => {
  const device = await newDevice(harness, org, { roomId: room })
  const all = Array.from({ length: 1000 }, (_, i) => device.publish('status', { hexapaBuild: String(i) }))
  await Promise.all(all)
  expect((await org.call('GET', `/endpoints/${device.id}`)).body.hexapaBuild).toBe('999')
  await device.close()
})

test('an oversize packet ends the connection', async () => {
  const device = await newDevice(harness, org, { roomId: room })
  await device.publish('status', { orientation: 'before' })
  device.client.publish(upTopic(device.id, 'status'), '{"orientation":"after"}'.padEnd(200_000), { qos: 1 })
  await device.ended()
  await whenConnected(device, false)
  expect((await org.call('GET', `/endpoints/${device.id}`)).body.orientation).toBe('before')
})

test('a device that connects without pause is told to try later, not that it is dead', async () => {
  const device = await newDevice(harness, org, { roomId: room, offline: true })
  const codes = new Set<number>()
  // Each node has a limit of its own.
  for (let i = 0; i < 15 * harness.nodeUrls.length; i++) {
    await device.connect({ subscribe: false }).then(
      () => device.drop(),
      (error) => codes.add(error.code),
    )
  }
  expect([...codes]).toEqual([3])
  harness.clock.advance(30_000)
  await device.connect()
  await device.close()
})

test('devices can connect over the WebSocket on the HTTP port', async () => {
  const device = await newDevice(harness, org, { roomId: room, offline: true })
  const url = device.connectUrls.find((u) => u.startsWith('ws://'))
  expect(url).toBe(`${harness.services.publicUrl().replace('http', 'ws')}${devicePaths.mqtt}`)
  await device.connect({ url: url as string })
  await device.publish('status', { orientation: 'landscape' })
  expect((await org.call('GET', `/endpoints/${device.id}`)).body).toMatchObject({
    connected: true,
    orientation: 'landscape',
  })
  device.client.publish(upTopic(device.id, 'status'), Buffer.alloc(200_000, 'x'), { qos: 1 })
  await device.ended()
  await whenConnected(device, false)
})

test('an upgrade to anything else is answered as a plain request', async () => {
  const request = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n'
  expect(await rawRequest(Number(new URL(harness.url).port), request)).toMatch(/^HTTP\/1.1 200 OK/)
})

test('unenrolling tells the device and ends its connection', async () => {
  const device = await newDevice(harness, org, { roomId: room })
  await org.call('DELETE', `/endpoints/${device.id}`)
  expect(await device.next('operation')).toMatchObject({ type: 'UNENROL' })
  await device.ended()
})

test('a server that stops leaves no device connected in the database', async () => {
  const { place, remove } = await newPlace({ hasTables: true })
  onTestFinished(remove)
  const other = await startHarness(place)
  const strangers = await other.newOrg()
  const roomId = (await strangers.call('POST', '/rooms', { body: { name: 'Skog' } })).body.id
  const device = await newDevice(other, strangers, { roomId })
  expect(await storedConnected(place)).toEqual([1])
  await other.close()
  await device.ended()
  // The next start would mark everybody as disconnected, so the test asks the database itself.
  expect(await storedConnected(place)).toEqual([0])
})

/** Whether each endpoint is connected, read without a service. */
async function storedConnected({ dataDir, databaseUrl }: Harness['place']): Promise<number[]> {
  const statement =
    "SELECT CASE d.state WHEN 'up' THEN 1 ELSE 0 END AS connected FROM endpoints e LEFT JOIN nodes d ON d.id = e.node_id"
  if (!databaseUrl) {
    const file = new Database(join(dataDir, 'roomkeeper.db'), { readonly: true })
    const connected = file.prepare(statement).pluck().all() as number[]
    file.close()
    return connected
  }
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ connected: number }>(statement)
  await client.end()
  return rows.map(({ connected }) => connected)
}

// Nothing is looked up before a CONNECT.
test.runIf(engine === 'sqlite')(
  'a connection whose first bytes are not MQTT is closed without a CONNACK, and devices are served on',
  async () => {
    const device = await newDevice(harness, org, { roomId: room })
    for (const bytes of ['GET / HTTP/1.1\r\n\r\n', '\u0010\u00ff\u00ff\u00ff\u007f', '\u0000'.repeat(64)]) {
      const connection = await rawMqtt(harness.mqttPort)
      connection.socket.write(Buffer.from(bytes, 'latin1'))
      await until('it is closed', () => connection.isClosed)
      expect(connection.received).toEqual([])
    }
    await device.publish('status', { orientation: 'landscape' })
    expect(device.client.connected).toBe(true)
    expect((await newDevice(harness, org, { roomId: room })).client.connected).toBe(true)
  },
)
