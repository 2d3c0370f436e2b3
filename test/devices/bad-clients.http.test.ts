// Devices that do not wait, do not read, or break the rules of MQTT: they are served, held back or cut off, and cost other devices little.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { upTopic } from '../../src/contract/device/protocol.ts'
import { connack, frames, puback, type RawConnection, rawMqtt } from '../support/devices/raw-mqtt.ts'
import { enrolTestDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { until } from '../support/program.ts'

let harness: Harness
let org: TestOrg
let room: number
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
  room = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
})
afterAll(() => harness.close())

interface Rude extends RawConnection {
  readonly id: string
  readonly connect: Buffer
}
async function rude(): Promise<Rude> {
  const { answer } = await enrolTestDevice(harness, org, { roomId: room })
  const { endpointId: id, credential } = answer
  return Object.assign(await rawMqtt(harness.mqttPort), { id, connect: frames.connect(id, credential) })
}
async function connected(): Promise<Rude> {
  const it = await rude()
  it.socket.write(it.connect)
  await until('CONNACK', () => it.received[0]?.type === connack)
  return it
}
const sample = (it: Rude, age: number, id: number, bytes = 1000) => {
  const timestamp = Math.floor(harness.clock.now() / 1000) - age
  const body = JSON.stringify({ samples: [{ timestamp, co2: 400 }] }).padEnd(bytes)
  return frames.publish(upTopic(it.id, 'sample'), body, 1, id)
}

test.each([3_900, 5_000, 60_000])('a message of %i bytes may follow CONNECT at once [MQTT-3.1.4-5]', async (size) => {
  const it = await rude()
  const message = frames.publish(upTopic(it.id, 'status'), `{"hexapaBuild":"1"}${' '.repeat(size)}`, 1, 7)
  it.socket.write(Buffer.concat([it.connect, message]))
  await until('both answers', () => it.received.length === 2)
  expect(it.received).toEqual([
    { type: connack, id: expect.any(Number) },
    { type: puback, id: 7 },
  ])
  it.socket.destroy()
})

/** The bytes that the service has not read yet. The kernel buffers some megabytes more. */
const unsent = (it: RawConnection) => it.socket.writableLength

test('a client that sends without waiting is answered in order, and keeps what was not processed', async () => {
  const it = await connected()
  // 30 MB, more than the buffers of the kernel hold: in the short form in fewer messages.
  const count = isFullForm ? 30_000 : 3000
  const all = Array.from({ length: count }, (_, i) => sample(it, i, (i % 65_535) + 1, 30_000_000 / count))
  const one = Buffer.concat(all)
  it.socket.write(one)
  let most = 0
  await until(
    'all are answered',
    () => {
      const answered = it.received.length - 1
      // Taken off our hands, and not answered: this much is held by the kernel or by the service.
      const sent = one.length - unsent(it)
      most = Math.max(most, sent - (answered / count) * one.length)
      return answered === count
    },
    { everyMs: 5, timeoutMs: 60_000 },
  )
  expect(most).toBeLessThan(one.length / 2)
  expect(it.received.slice(1).every(({ type, id }, i) => type === puback && id === (i % 65_535) + 1)).toBe(true)
  it.socket.destroy()
})

test('a client that sends PUBRELs and never reads is not read either', async () => {
  const it = await connected()
  it.socket.pause()
  const many = Buffer.concat(Array.from({ length: 250_000 }, () => Buffer.from([0x62, 2, 0, 1])))
  for (let i = 0; i < 40; i++) it.socket.write(many)
  await until('something was taken', () => unsent(it) < 40 * many.length)
  let before = -1
  await until(
    'no more is taken',
    () => {
      const isSame = unsent(it) === before
      before = unsent(it)
      return isSame
    },
    { everyMs: 500 },
  )
  expect(unsent(it)).toBeGreaterThan(10 * many.length)
  it.socket.destroy()
})

test.each([
  ['a packet id of 0 [MQTT-2.3.1-1]', (it: Rude) => sample(it, 0, 0)],
  ['a wildcard in a topic [MQTT-3.3.2-2]', (it: Rude) => frames.publish(`v1/${it.id}/up/sample/#`, '{}', 1, 1)],
  ['a zero in a topic [MQTT-1.5.3-2]', (it: Rude) => frames.publish(`v1/${it.id}/up/a\0b`, '{}', 1, 1)],
  ['a PUBREL that is too long', () => Buffer.from([0x62, 3, 0, 1, 0])],
] as const)('%s ends the connection without an answer', async (_name, wrong) => {
  const it = await connected()
  it.socket.write(wrong(it))
  await until('the end', () => it.isClosed)
  expect(it.received).toHaveLength(1)
})

test('an unknown kind of message is bad, and acknowledged', async () => {
  const it = await connected()
  it.socket.write(frames.publish(`v1/${it.id}/up/žluť`, '{}', 1, 9))
  await until('PUBACK', () => it.received.length === 2)
  expect(it.received[1]).toEqual({ type: puback, id: 9 })
  it.socket.destroy()
})
