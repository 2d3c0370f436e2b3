// MQTT at its edges: malformed packets end the connection, unusual ones are understood, and every wait ends.
import { Duplex } from 'node:stream'
import fc from 'fast-check'
import { generate } from 'mqtt-packet'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { timeLimits } from '../../src/server/core/time-limits.ts'
import { IngestBudget } from '../../src/server/devices/mqtt/limits/ingest-budget.ts'
import { makeDeviceMetrics } from '../../src/server/devices/mqtt/metrics.ts'
import { ProtocolError } from '../../src/server/devices/mqtt/packets/protocol-error.ts'
import { readConnect, readPacket as readPacketOf, readVersion } from '../../src/server/devices/mqtt/packets/reader.ts'
import { reasonCodes } from '../../src/server/devices/mqtt/packets/reasons.ts'
import { packetWriters } from '../../src/server/devices/mqtt/packets/writer.ts'
import { MqttSession } from '../../src/server/devices/mqtt/session/session.ts'
import { login } from '../support/devices/mqtt5-connection.ts'
import { connack, frame, frames, pingresp, type RawConnection, rawMqtt, text } from '../support/devices/raw-mqtt.ts'
import { enrolTestDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { runCount } from '../support/long-form.ts'
import { until } from '../support/program.ts'

const { publish, suback } = {
  publish: packetWriters[4].publish.bind(packetWriters[4]),
  suback: packetWriters[4].suback.bind(packetWriters[4]),
}
const readPacket = (packet: Buffer) => readPacketOf(packet, 4)
const readOld = (packet: Buffer) => {
  readVersion(packet, 2)
  return readConnect(packet, 4)
}

let harness: Harness
let org: TestOrg
let roomId: number
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
  roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
})
afterAll(() => harness.close())

interface Login {
  readonly id: string
  readonly credential: string
}
const newLogin = async (): Promise<Login> => {
  const { answer } = await enrolTestDevice(harness, org, { roomId })
  return { id: answer.endpointId, credential: answer.credential }
}

const bytes = (...values: number[]) => Buffer.from(values)
const flags = { user: 0x80, password: 0x40, will: 0x04, clean: 0x02 }
const all = flags.user | flags.password | flags.clean

/** The body of a CONNECT, with one thing or another that is not usual. */
function connectBody(
  { id, credential }: Login,
  odd: { name?: string; level?: number; flags?: number; will?: boolean },
) {
  const will = odd.will ? [text('last/words'), text('goodbye')] : []
  const head = [text(odd.name ?? 'MQTT'), bytes(odd.level ?? 4, odd.flags ?? all, 0, 30)]
  return Buffer.concat([...head, text(''), ...will, text(id), text(credential)])
}

async function connected(): Promise<RawConnection & Login> {
  const login = await newLogin()
  const it = await rawMqtt(harness.mqttPort)
  it.socket.write(frames.connect(login.id, login.credential))
  await until('CONNACK', () => it.received[0]?.type === connack)
  return Object.assign(it, login)
}
const first = (it: RawConnection) => it.received[0]

test.each([
  ['an empty client id', {}],
  ['a session that is to be kept', { flags: flags.user | flags.password }],
  ['a will', { flags: all | flags.will | 0x28, will: true }],
  ['MQTT 3.1', { name: 'MQIsdp', level: 3 }],
] as const)('CONNECT with %s is welcome, and there is no session', async (_, odd) => {
  const login = await newLogin()
  const it = await rawMqtt(harness.mqttPort)
  it.socket.write(frame(0x10, connectBody(login, odd)))
  await until('CONNACK', () => it.received.length === 1)
  // The two bytes of a CONNACK are where others have an id: no session, code 0.
  expect(first(it)).toEqual({ type: connack, id: 0 })
  it.socket.destroy()
})

test.each([
  ['a version that is to come', { level: 6 }],
  ['the old name with a new version', { name: 'MQIsdp', level: 4 }],
] as const)('%s is refused with 1 [MQTT-3.1.2-2]', async (_, odd) => {
  const it = await rawMqtt(harness.mqttPort)
  it.socket.write(frame(0x10, connectBody(await newLogin(), odd)))
  await until('the end', () => it.isClosed)
  expect(it.received).toEqual([{ type: connack, id: 1 }])
})

test.each([
  ['another protocol [MQTT-3.1.2-1]', { name: 'HTTP' }],
  ['a reserved flag [MQTT-3.1.2-3]', { flags: all | 1 }],
  ['the QoS of a will that is not there [MQTT-3.1.2-13]', { flags: all | 0x08 }],
  ['a will at QoS 3 [MQTT-3.1.2-14]', { flags: all | flags.will | 0x18, will: true }],
  ['a retained will that is not there [MQTT-3.1.2-15]', { flags: all | 0x20 }],
  ['a password without a name [MQTT-3.1.2-22]', { flags: flags.password | flags.clean }],
] as const)('CONNECT with %s is none', async (_, odd) => {
  const login = { id: 'name', credential: 'secret' }
  expect(readOld(frame(0x10, connectBody(login, {})))).toEqual({
    version: 4,
    keepAliveSeconds: 30,
    clientId: '',
    username: 'name',
    password: 'secret',
    limits: { receiveMaximum: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY },
  })
  expect(() => readOld(frame(0x10, connectBody(login, odd)))).toThrow(ProtocolError)
})

test('a packet that ends too early ends the connection, wherever it ends', () => {
  const connect = connectBody({ id: 'name', credential: 'secret' }, { flags: all | flags.will, will: true })
  for (let end = 0; end < connect.length; end++) {
    expect(() => readOld(frame(0x10, connect.subarray(0, end))), `${end} bytes`).toThrow(ProtocolError)
  }
  for (const [first, body, packet] of [
    [0x82, [bytes(0, 1), text('topic'), bytes(1)], { messageId: 1, subscriptions: [{ topic: 'topic', qos: 1 }] }],
    [0xa2, [bytes(0, 1), text('topic')], { messageId: 1, unsubscriptions: ['topic'] }],
    [0x32, [text('topic'), bytes(0, 1)], { messageId: 1, topic: 'topic', qos: 1 }],
    [0x62, [bytes(0, 1)], { messageId: 1 }],
  ] as const) {
    const whole = Buffer.concat(body)
    expect(readPacket(frame(first, whole))).toMatchObject(packet)
    for (let end = 0; end < whole.length; end++) {
      expect(() => readPacket(frame(first, whole.subarray(0, end))), `${first}: ${end} bytes`).toThrow(ProtocolError)
    }
  }
})

test('texts are UTF-8 without zeros [MQTT-1.5.3-1] [MQTT-1.5.3-2]', () => {
  const readAll = (topic: Buffer) => [
    () => readOld(frame(0x10, text('MQTT'), bytes(4, 0x02, 0, 30), topic)),
    () => readOld(frame(0x10, text('MQTT'), bytes(4, 0x82, 0, 30), text(''), topic)),
    () => readOld(frame(0x10, text('MQTT'), bytes(4, 0x06, 0, 30), text(''), topic, text(''))),
    () => readPacket(frame(0x82, bytes(0, 1), topic, bytes(0))),
    () => readPacket(frame(0xa2, bytes(0, 1), topic)),
    () => readPacket(frame(0x30, topic)),
  ]
  for (const wrong of [bytes(0xff), bytes(0xc0, 0x80), bytes(0xed, 0xa0, 0x80), Buffer.from('a\0b')]) {
    for (const read of readAll(text(wrong))) expect(read).toThrow(ProtocolError)
  }
  for (const right of ['', 'žluť', '\uFFFD']) for (const read of readAll(text(right))) expect(read).not.toThrow()
})

test('no bytes of one device get in the way of the next packet of another', () => {
  const good = frame(0x32, text('topic'), bytes(0, 7), Buffer.from('payload'))
  fc.assert(
    fc.property(fc.nat(255), fc.uint8Array({ maxLength: 60 }), (first, body) => {
      try {
        const packet = readPacket(frame(first, Buffer.from(body)))
        expect(['publish', 'subscribe', 'unsubscribe', 'puback', 'pubrel', 'pingreq', 'disconnect']).toContain(
          packet.cmd,
        )
      } catch (error) {
        expect(error).toBeInstanceOf(ProtocolError)
      }
      expect(readPacket(good)).toMatchObject({ topic: 'topic', messageId: 7, payload: Buffer.from('payload') })
    }),
    { numRuns: runCount({ short: 1500, full: 5000, long: 5000 }) },
  )
})

test.each([
  ['a second CONNECT [MQTT-3.1.0-2]', (it: Login) => frames.connect(it.id, it.credential)],
  ['a SUBSCRIBE without the bits that belong to it [MQTT-3.8.1-1]', (it: Login) => wants(it, 0x80, 1)],
  ['a SUBSCRIBE at QoS 3 [MQTT-3.8.3-4]', (it: Login) => wants(it, 0x82, 3)],
  ['a SUBSCRIBE with the id 0 [MQTT-2.3.1-1]', (it: Login) => frames.subscribe(`v1/${it.id}/down/#`, 0)],
  ['a SUBSCRIBE to nothing [MQTT-3.8.3-3]', () => frame(0x82, bytes(0, 1))],
  ['an UNSUBSCRIBE from nothing [MQTT-3.10.3-2]', () => frame(0xa2, bytes(0, 1))],
  ['a PINGREQ with something in it', () => frame(0xc0, bytes(1))],
  ['a PUBACK that is too long', () => frame(0x40, bytes(0, 1, 0))],
  ['the answer to a question at QoS 2 that nobody asked', () => frame(0x50, bytes(0, 1))],
  ['what only a server says', () => frame(0x90, bytes(0, 1, 0))],
  ['a type that does not exist', () => frame(0xf0)],
] as const)('%s ends the connection without an answer', async (_, wrong) => {
  const it = await connected()
  it.socket.write(wrong(it))
  await until('the end', () => it.isClosed)
  expect(it.received).toHaveLength(1)
})
const wants = ({ id }: Login, type: number, qos: number) =>
  frame(type, bytes(0, 1), text(`v1/${id}/down/#`), bytes(qos))

test('pings, subscriptions and what ends them are answered, with their ids and in their order', async () => {
  const it = await connected()
  const topics = ['config', 'operation'].map((kind) => text(`v1/${it.id}/down/${kind}`))
  it.socket.write(
    Buffer.concat([
      frames.pingreq,
      frame(0x82, bytes(1, 2), topics[0] as Buffer, bytes(2), topics[1] as Buffer, bytes(0)),
      frame(0x40, bytes(0, 9)),
      frame(0xa2, bytes(3, 4), ...topics),
      frames.pingreq,
    ]),
  )
  await until('all answers', () => it.received.length === 5)
  expect(it.received.slice(1)).toEqual([
    { type: pingresp, id: 0 },
    { type: 9, id: 0x0102 },
    { type: 11, id: 0x0304 },
    { type: pingresp, id: 0 },
  ])
  expect(suback(0x0102, [1, 0])).toEqual(bytes(0x90, 4, 1, 2, 1, 0))
  it.socket.write(frames.disconnect)
  await until('the end', () => it.isClosed)
})

test('messages to devices are what MQTT says, at any length', () => {
  expect(publish('a/b', 'ž', 1, 0x0102)).toEqual(frame(0x32, text('a/b'), bytes(1, 2), Buffer.from('ž')))
  expect(publish('a/b', 'ž', 0, 7)).toEqual(frame(0x30, text('a/b'), Buffer.from('ž')))
  for (const length of [119, 120, 121, 16_375, 16_376, 16_377, 100_000]) {
    const payload = 'x'.repeat(length)
    expect(publish('a/b', payload, 1, 1).equals(frame(0x32, text('a/b'), bytes(0, 1), Buffer.from(payload)))).toBe(true)
  }
})

/** A session whose other end reads only if it wants to, and whose seconds are counted by hand. */
function newSession(readsOn = true) {
  const sent: Buffer[] = []
  const socket = new Duplex({
    read() {},
    write: (chunk, _encoding, done) => {
      sent.push(chunk)
      if (readsOn) done()
    },
  })
  socket.on('error', () => {})
  const { promise: outcome, resolve: decide } = Promise.withResolvers<'accepted'>()
  const published: string[] = []
  const session = new MqttSession(socket, {
    limits: timeLimits,
    budget: new IngestBudget(),
    metrics: makeDeviceMetrics(new Registry()),
    onConnect: () => outcome,
    onPublish: (_session, { topic }) => published.push(topic),
    onRefused() {},
  })
  session.start()
  const secondsUntilEnd = () => {
    for (let second = 1; second <= 100; second++) {
      session.tick()
      if (socket.destroyed) return second
    }
    return undefined
  }
  return { session, socket, sent, published, accept: () => decide('accepted'), secondsUntilEnd }
}
const nextTurn = () => new Promise(setImmediate)

test('a device has ten seconds to send CONNECT, and no limit while its credential is looked up', async () => {
  expect(newSession().secondsUntilEnd()).toBe(11)
  const { socket, secondsUntilEnd } = newSession()
  socket.push(frames.connect('name', 'secret'))
  await nextTurn()
  expect(secondsUntilEnd()).toBeUndefined()
})

test('a device that does not read what it is sent is cut off after twenty seconds; one that reads is not', async () => {
  for (const readsOn of [true, false]) {
    const { session, socket, accept, secondsUntilEnd } = newSession(readsOn)
    socket.push(frames.connect('name', 'secret', 200))
    accept()
    await nextTurn()
    session.write(Buffer.alloc(100_000))
    expect(secondsUntilEnd(), `reads on: ${readsOn}`).toBe(readsOn ? undefined : 21)
  }
})

test('packets behind CONNECT wait until the device is accepted', async () => {
  const { socket, published, accept } = newSession()
  const connect = frames.connect('name', 'secret')
  const more = Buffer.concat([frames.publish('a', 'x', 1, 1), frames.publish('b', 'x'.repeat(5000), 1, 2)])
  for (const piece of [
    connect.subarray(0, 9),
    Buffer.concat([connect.subarray(9), more]),
    frames.publish('c', 'x', 0),
  ]) {
    socket.push(piece)
    await nextTurn()
  }
  expect(published).toEqual([])
  accept()
  await expect.poll(() => published).toEqual(['a', 'b', 'c'])
  socket.destroy()
})

test('a session that was closed while its device connected stays closed', async () => {
  const { session, socket, published, accept, secondsUntilEnd } = newSession()
  socket.push(Buffer.concat([frames.connect('name', 'secret'), frames.publish('a', 'x', 1, 1)]))
  await nextTurn()
  session.close('replaced', 60_000)
  accept()
  await expect.poll(() => socket.writableFinished).toBe(true)
  expect(secondsUntilEnd(), 'the other side does not close').toBe(3)
  expect(session.isOpen).toBe(false)
  expect(published).toEqual([])
})

test('each end of a session gives the device and the record what the table of session.ts says', async () => {
  const { notAuthorized, keepAliveTimeout, serverBusy } = reasonCodes
  const ends: [(session: MqttSession) => void, code: number, reason: string, why: string][] = [
    [(session) => session.fail('a foreign topic', notAuthorized), 0x87, 'a foreign topic', 'REFUSED'],
    [(session) => session.fail('silent', keepAliveTimeout), 0x8d, 'silent', 'LOST'],
    [(session) => session.fail('not stored', serverBusy), 0x89, 'not stored', 'SERVER_ENDED'],
    [(session) => session.close('replaced'), 0x8e, 'replaced', 'REPLACED'],
    [(session) => session.close('unenrolled'), 0x98, 'unenrolled', 'UNENROLLED'],
    [(session) => session.close('database away'), 0x88, 'database away', 'SERVER_ENDED'],
    [(session) => session.close('shutting down'), 0x8b, 'shutting down', 'SERVER_ENDED'],
  ]
  for (const version of [4, 5]) {
    for (const [end, code, reason, why] of ends) {
      const { session, socket, sent, accept } = newSession()
      socket.push(
        version === 5
          ? generate(login({ id: 'name', credential: 'secret' }), { protocolVersion: 5 })
          : frames.connect('name', 'secret'),
      )
      accept()
      await expect.poll(() => sent.length, { message: reason }).toBe(1)
      end(session)
      session.close('replaced')
      expect(session.ended, 'the first reason stays').toMatchObject({ reason, why })
      await expect.poll(() => socket.destroyed || socket.writableEnded, { message: reason }).toBe(true)
      const [, disconnect] = sent
      expect(disconnect?.subarray(0, 1).toString('hex'), reason).toBe(version === 5 ? 'e0' : undefined)
      expect(disconnect?.at(2), reason).toBe(version === 5 ? code : undefined)
      expect(session.isOpen).toBe(false)
      socket.destroy()
    }
  }
})
