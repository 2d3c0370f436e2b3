// Devices that send bad messages: slowed after some, shut out after more, without an effect on other devices.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { upTopic } from '../../src/contract/device/protocol.ts'
import { login, openMqtt5 } from '../support/devices/mqtt5-connection.ts'
import { frames, puback, type RawConnection, rawMqtt } from '../support/devices/raw-mqtt.ts'
import { enrolTestDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { until } from '../support/program.ts'

let harness: Harness
let org: TestOrg
let room: number
let good: Sender
beforeAll(async () => {
  // The link looks after its connections once a second. Here a second passes when a test says so.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  harness = await startHarness()
  org = await harness.newOrg()
  room = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  good = await connected(await enrolTestDevice(harness, org, { roomId: room }))
})
afterAll(async () => {
  await harness.close()
  vi.useRealTimers()
})

type Enrolled = Awaited<ReturnType<typeof enrolTestDevice>>
interface Sender extends RawConnection {
  readonly id: string
  sent: number
}

/** Longer than any test lasts, by the ticks. */
const keepAliveSeconds = 250

const connect = async ({ answer: { endpointId, credential } }: Enrolled): Promise<Sender> => {
  const connection = await rawMqtt(harness.mqttPort)
  connection.socket.write(frames.connect(endpointId, credential, keepAliveSeconds))
  return Object.assign(connection, { id: endpointId, sent: 0 })
}
async function connected(device: Enrolled): Promise<Sender> {
  const it = await connect(device)
  await until('CONNACK', () => it.received.length === 1)
  return it
}

const badPayload = '{"inCallStatus":"SLEEPING"}'
function publish(it: Sender, ...payloads: string[]): void {
  const topic = upTopic(it.id, 'status')
  it.socket.write(Buffer.concat(payloads.map((payload) => frames.publish(topic, payload, 1, ++it.sent))))
}
const bad = (count: number): string[] => Array(count).fill(badPayload)
const answered = (it: Sender) => it.received.filter(({ type }) => type === puback).length
const untilAnswered = (it: Sender, count: number) => until(`${count} answers`, () => answered(it) === count)

/** A second for the service, not for the clock. */
const tick = () => vi.advanceTimersByTime(1000)

/** Another device is served: everything that could be read was read by then. */
async function othersAreServed(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    publish(good, `{"hexapaBuild":"${good.sent}"}`)
    await untilAnswered(good, good.sent)
  }
}

const limited = async (action: string): Promise<number> => {
  const metrics = await (await fetch(`${harness.url}/metrics`)).text()
  const line = new RegExp(`^roomkeeper_device_bad_message_limits_total\\{action="${action}"\\} (\\d+)$`, 'm')
  return Number(line.exec(metrics)?.[1] ?? 0)
}
const warnings = (it: Sender, msg: string) =>
  harness.logged.filter((line) => line.msg === msg && line.endpoint === it.id)
const orientation = async (it: Sender) => (await org.call('GET', `/endpoints/${it.id}`)).body.orientation

test('ten bad messages in a minute change nothing', async () => {
  const it = await connected(await enrolTestDevice(harness, org, { roomId: room }))
  publish(it, ...bad(10), ...Array(20).fill('{"orientation":"portrait"}'))
  await untilAnswered(it, 30)
  expect(await orientation(it)).toBe('portrait')
  it.socket.destroy()
})

test('after more than ten, one message a second is read, in order, and none is lost', async () => {
  const device = await enrolTestDevice(harness, org, { roomId: room })
  const before = await limited('slowed')
  const it = await connected(device)
  publish(it, ...bad(11), '{"orientation":"first"}', badPayload, '{"orientation":"second"}')
  await untilAnswered(it, 11)
  await othersAreServed()
  expect(answered(it)).toBe(11)
  expect(await orientation(it)).toBe(undefined)
  tick()
  await untilAnswered(it, 12)
  await othersAreServed()
  expect(answered(it)).toBe(12)
  expect(await orientation(it)).toBe('first')
  tick()
  await untilAnswered(it, 13)
  tick()
  await untilAnswered(it, 14)
  expect(await orientation(it)).toBe('second')
  expect(it.received.slice(1).map(({ id }) => id)).toEqual(Array.from({ length: 14 }, (_, i) => i + 1))
  expect(await limited('slowed')).toBe(before + 1)
  expect(warnings(it, 'device slowed to one message a second')).toEqual([
    expect.objectContaining({ level: 40, serial: device.serial, reason: 'more than 10 bad messages in a minute' }),
  ])
  it.socket.destroy()
})

test('a new connection of the same device is slowed too, until a minute has passed', async () => {
  const device = await enrolTestDevice(harness, org, { roomId: room })
  const first = await connected(device)
  publish(first, ...bad(11))
  await untilAnswered(first, 11)
  const it = await connected(device)
  publish(it, ...Array(20).fill('{"orientation":"portrait"}'))
  await untilAnswered(it, 1)
  await othersAreServed()
  expect(answered(it)).toBe(1)
  harness.clock.advance(60_000)
  tick()
  await untilAnswered(it, 20)
  it.socket.destroy()
})

test('waiting messages are not read into memory', async () => {
  const it = await connected(await enrolTestDevice(harness, org, { roomId: room }))
  publish(it, ...bad(11))
  await untilAnswered(it, 11)
  const messageBytes = 100_000
  publish(it, ...Array(400).fill(`{"orientation":"portrait"}`.padEnd(messageBytes)))
  await othersAreServed()
  let before = -1
  await until(
    'no more is taken',
    () => {
      const isSame = it.socket.writableLength === before
      before = it.socket.writableLength
      return isSame
    },
    { everyMs: 100 },
  )
  expect(before).toBeGreaterThan(200 * messageBytes)
  it.socket.destroy()
})

test('bad messages at QoS 0 count too', async () => {
  const it = await connected(await enrolTestDevice(harness, org, { roomId: room }))
  const topic = upTopic(it.id, 'status')
  it.socket.write(Buffer.concat(bad(11).map((payload) => frames.publish(topic, payload, 0))))
  publish(it, '{"orientation":"first"}', '{"orientation":"second"}')
  await until('it is slowed', () => warnings(it, 'device slowed to one message a second').length === 1)
  await othersAreServed()
  expect(answered(it)).toBe(0)
  tick()
  await untilAnswered(it, 1)
  it.socket.destroy()
})

test('over MQTT 5 the end after more than sixty has its reason code', async () => {
  const { endpointId: id, credential } = (await enrolTestDevice(harness, org, { roomId: room })).answer
  const it = openMqtt5(harness.mqttPort)
  it.send(login({ id, credential }, { keepalive: keepAliveSeconds }))
  await it.next('connack')
  const topic = upTopic(id, 'status')
  for (let messageId = 1; messageId <= 61; messageId++) {
    it.send({ cmd: 'publish', topic, payload: '[]', qos: 1, messageId, dup: false, retain: false })
  }
  for (let read = 11; read <= 60; read++) {
    await until(`answer ${read}`, () => it.of('puback').length === read)
    tick()
  }
  expect(await it.next('disconnect')).toMatchObject({
    reasonCode: 0x97,
    properties: { reasonString: expect.stringContaining('bad messages') },
  })
})

test('after more than sixty the connection is closed, and CONNACK is 3 for a minute', async () => {
  const device = await enrolTestDevice(harness, org, { roomId: room })
  const before = await limited('closed')
  const it = await connected(device)
  publish(it, ...bad(61))
  await untilAnswered(it, 11)
  for (let read = 12; read <= 60; read++) {
    tick()
    await untilAnswered(it, read)
  }
  expect(it.isClosed).toBe(false)
  tick()
  await until('the end', () => it.isClosed)
  expect(answered(it)).toBe(60)
  expect(await limited('closed')).toBe(before + 1)
  expect(warnings(it, 'device connection closed and refused for a minute')).toEqual([
    expect.objectContaining({ level: 40, serial: device.serial, reason: 'more than 60 bad messages in a minute' }),
  ])
  await othersAreServed()

  const returnCode = async () => {
    const again = await connect(device)
    // These two bytes of a CONNACK are the session flag and the return code.
    const connack = await until('CONNACK', () => again.received[0])
    again.socket.destroy()
    return connack.id
  }
  expect(await returnCode()).toBe(3)
  // The clock also goes on by itself, by seconds on a busy machine.
  harness.clock.advance(45_000)
  expect(await returnCode()).toBe(3)
  harness.clock.advance(15_000)
  const back = await connected(device)
  expect(back.received[0]?.id).toBe(0)
  publish(back, ...bad(1), ...Array(20).fill('{"orientation":"portrait"}'))
  await untilAnswered(back, 21)
  back.socket.destroy()
})
