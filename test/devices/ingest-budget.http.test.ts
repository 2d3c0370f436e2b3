// More than fits: what devices send waits in their sockets or, at QoS 0, is dropped and counted; nothing acknowledged is lost.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { upTopic } from '../../src/contract/device/protocol.ts'
import { storedTimes } from '../support/database/stored-samples.ts'
import { connack, frames, pingresp, puback, type RawConnection, rawMqtt } from '../support/devices/raw-mqtt.ts'
import { enrolTestDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { until } from '../support/program.ts'

let harness: Harness
let org: TestOrg
let roomId: number
beforeEach(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
  roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
})
afterEach(() => harness.close())

interface Raw extends RawConnection {
  readonly id: string
  /** One sample, in a message that is padded to about that many bytes. */
  send(timestamp: number, qos: 0 | 1, size?: number): void
}

async function connect(keepAlive = 30): Promise<Raw> {
  const { answer } = await enrolTestDevice(harness, org, { roomId })
  const raw = await rawMqtt(harness.mqttPort)
  raw.socket.write(frames.connect(answer.endpointId, answer.credential, keepAlive))
  await until('it is connected', () => raw.received.some(({ type }) => type === connack))
  const topic = upTopic(answer.endpointId, 'sample')
  return Object.assign(raw, {
    id: answer.endpointId,
    send(timestamp: number, qos: 0 | 1, size = 0) {
      const payload = `{"samples":[{"timestamp":${timestamp},"people":1}]}`.padEnd(size)
      raw.socket.write(frames.publish(topic, payload, qos, (timestamp % 65535) + 1))
    },
  })
}

/** Nothing that devices send is written until the returned function is called. */
function blockWrites(): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const blocked = harness.services.db.systemTransaction(() => promise)
  return () => {
    resolve()
    return blocked
  }
}

const measured = async (name: string) => {
  const text = await (await fetch(`${harness.url}/metrics`)).text()
  return Number(new RegExp(`^roomkeeper_${name} (\\d+)$`, 'm').exec(text)?.[1])
}
const pubacks = ({ received }: RawConnection) => received.filter(({ type }) => type === puback).length
const largeBytes = 127 * 1024
const messages = Array.from({ length: 9 }, (_, i) => i)

test('beyond the budget QoS 1 waits in its socket, QoS 0 is dropped and counted, and other devices are served', async () => {
  const crowd = await Promise.all(Array.from({ length: 20 }, () => connect()))
  const small = await connect()
  const idle = await connect()
  const now = Math.floor(harness.clock.now() / 1000)
  const release = blockWrites()
  // 20 times 8 under way would be 20 MiB.
  for (const device of crowd) for (const i of messages) device.send(now - i, 1, largeBytes)
  await until('some wait', async () => (await measured('devices_waiting')) > 0)

  small.send(now - 2, 0)
  await until('what may be lost is lost', async () => (await measured('device_dropped_total')) === 1)
  small.send(now - 1, 1)
  small.send(now, 0)
  idle.socket.write(frames.pingreq)
  await until('a ping is answered', () => idle.received.some(({ type }) => type === pingresp))
  expect((await org.call('GET', `/rooms/${roomId}`)).status).toBe(200)
  expect([...crowd, small].map(pubacks), 'nothing is acknowledged that is not durable').toEqual(
    Array(crowd.length + 1).fill(0),
  )

  await release()
  await until('all are acknowledged', () => crowd.every((device) => pubacks(device) === messages.length))
  await until('the small one too', () => pubacks(small) === 1)
  for (const device of crowd) {
    expect(await storedTimes(harness, org, device.id)).toEqual(messages.map((i) => now - i).toReversed())
    // Answers keep the order of the questions.
    const ids = device.received.filter(({ type }) => type === puback).map(({ id }) => id)
    expect(ids).toEqual(messages.map((i) => ((now - i) % 65535) + 1))
  }
  expect((await storedTimes(harness, org, small.id)).slice(0, 1)).toEqual([now - 1])
  expect(await measured('devices_waiting')).toBe(0)
  await until('nothing is under way', async () => (await measured('device_bytes_under_way')) === 0)
  for (const device of [...crowd, small, idle]) device.socket.destroy()
})

test('a device that disconnects while it waits, or in the middle of a message, leaves its place to others', async () => {
  const now = Math.floor(harness.clock.now() / 1000)
  const stubborn = await connect()
  const rounds = isFullForm ? 3 : 1
  // More than fits, in all; whatever were not given back would be missing in the end.
  for (let round = 0; round < rounds; round++) {
    const crowd = await Promise.all(Array.from({ length: 20 }, () => connect()))
    const release = blockWrites()
    for (const device of crowd) for (const i of messages) device.send(now - i, 1, largeBytes)
    await until('some wait', async () => (await measured('devices_waiting')) > 0)
    stubborn.send(now - round, 1, largeBytes)
    for (const device of crowd) device.socket.resetAndDestroy()
    await release()
    await until('the one that stayed is served', () => pubacks(stubborn) === round + 1)
  }
  // In groups: a burst of 140 enrolments would be refused as overload. [contract 7.23]
  const halves: Awaited<ReturnType<typeof connect>>[] = []
  while (halves.length < 140) halves.push(...(await Promise.all(Array.from({ length: 20 }, () => connect()))))
  const half = frames.publish('v1', ' '.repeat(largeBytes), 1, 1).subarray(0, largeBytes / 2)
  for (const device of halves) device.socket.write(half)
  await until('halves take all places', async () => (await measured('devices_waiting')) > 0)
  for (let i = rounds; i < 20; i++) stubborn.send(now - i, 1, largeBytes)
  await until('slow ones keep nobody out', () => pubacks(stubborn) === 20)
  for (const device of [...halves, stubborn]) device.socket.destroy()
  await until('nothing is under way', async () => (await measured('device_bytes_under_way')) === 0)
})

test('a device is not taken for dead because it waits for us', async () => {
  const crowd = await Promise.all(Array.from({ length: 20 }, () => connect()))
  const patient = await connect(5)
  const connected = performance.now()
  const passed = (seconds: number) =>
    until(`${seconds} s`, () => performance.now() - connected > seconds * 1000, { everyMs: 100 })
  const now = Math.floor(harness.clock.now() / 1000)
  const release = blockWrites()
  for (const device of crowd) for (const i of messages) device.send(now - i, 1, largeBytes)
  await until('some wait', async () => (await measured('devices_waiting')) > 0)
  const waiting = await measured('devices_waiting')
  await passed(5)
  patient.send(now, 1)
  await until('it waits', async () => (await measured('devices_waiting')) === waiting + 1)
  await passed(10)
  expect(patient.isClosed).toBe(false)
  await release()
  await until('it is served', () => pubacks(patient) === 1)
  for (const device of [...crowd, patient]) device.socket.destroy()
})
