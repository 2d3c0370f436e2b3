// MQTT at its edges: what is no packet ends the connection, what is an odd one is understood, and nobody waits for ever.
import { Duplex } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Connection } from '../src/link/mqtt/connection.ts'
import { Pressure } from '../src/link/mqtt/ingest-budget.ts'
import { publish, readConnect, readSubscribe, readUnsubscribe, suback } from '../src/link/mqtt/packets.ts'
import { enrolDevice } from './device.ts'
import { type Harness, startHarness, type TestOrg } from './harness.ts'
import { until } from './program.ts'
import { connack, frame, frames, pingresp, type RawConnection, rawMqtt, text } from './raw-mqtt.ts'

let house: Harness
let org: TestOrg
let roomId: number
beforeAll(async () => {
  house = await startHarness()
  org = await house.newOrg()
  roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
})
afterAll(() => house.close())

interface Login {
  readonly id: string
  readonly credential: string
}
const newLogin = async (): Promise<Login> => {
  const { answer } = await enrolDevice(house, org, { roomId })
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
  const it = await rawMqtt(house.mqttPort)
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
  const it = await rawMqtt(house.mqttPort)
  it.socket.write(frame(0x10, connectBody(login, odd)))
  await until('CONNACK', () => it.received.length === 1)
  // The two bytes of a CONNACK are where others have an id: no session, code 0.
  expect(first(it)).toEqual({ type: connack, id: 0 })
  it.socket.destroy()
})

test.each([
  ['MQTT 5', { level: 5 }],
  ['a version that is to come', { level: 6 }],
  ['the old name with a new version', { name: 'MQIsdp', level: 4 }],
] as const)('%s is refused with 1 [MQTT-3.1.2-2]', async (_, odd) => {
  const it = await rawMqtt(house.mqttPort)
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
  expect(readConnect(connectBody(login, {}))).toEqual({ keepAlive: 30, username: 'name', password: 'secret' })
  expect(readConnect(connectBody(login, odd))).toBeUndefined()
})

test('what ends too early is no packet, wherever it ends', () => {
  const connect = connectBody({ id: 'name', credential: 'secret' }, { flags: all | flags.will, will: true })
  for (let end = 0; end < connect.length; end++) {
    expect(readConnect(connect.subarray(0, end)), `${end} bytes`).toBeUndefined()
  }
  const [subscribe, unsubscribe] = [
    [bytes(0, 1), text('topic'), bytes(1)],
    [bytes(0, 1), text('topic')],
  ].map((parts) => Buffer.concat(parts)) as [Buffer, Buffer]
  expect(readSubscribe(subscribe)).toEqual({ id: 1, subscriptions: [{ topic: 'topic', qos: 1 }] })
  expect(readUnsubscribe(unsubscribe)).toEqual({ id: 1, topics: ['topic'] })
  for (let end = 0; end < subscribe.length; end++) expect(readSubscribe(subscribe.subarray(0, end))).toBeUndefined()
  for (let end = 0; end < unsubscribe.length; end++) {
    expect(readUnsubscribe(unsubscribe.subarray(0, end))).toBeUndefined()
  }
})

test('texts are UTF-8 without zeros [MQTT-1.5.3-1] [MQTT-1.5.3-2]', () => {
  for (const wrong of [bytes(0xff), bytes(0xc0, 0x80), bytes(0xed, 0xa0, 0x80), Buffer.from('a\0b')]) {
    const topic = Buffer.concat([bytes(0, wrong.length), wrong])
    expect(readSubscribe(Buffer.concat([bytes(0, 1), topic, bytes(0)]))).toBeUndefined()
    expect(readUnsubscribe(Buffer.concat([bytes(0, 1), topic]))).toBeUndefined()
  }
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

/** A connection whose other end reads only if it wants to, and whose seconds are counted by hand. */
function byHand(readsOn: boolean) {
  const stream = new Duplex({
    read() {},
    write: (_chunk, _encoding, done) => {
      if (readsOn) done()
    },
  })
  stream.on('error', () => {})
  const nobody = () => expect.unreachable('nothing was sent')
  const takes = { pressure: new Pressure(), published: nobody, controlled: nobody, dropped: nobody }
  const connection = new Connection(stream, {}, takes)
  const secondsUntilEnd = () => {
    for (let second = 1; second <= 100; second++) {
      connection.tick()
      if (stream.destroyed) return second
    }
    return undefined
  }
  return { connection, stream, secondsUntilEnd }
}

test('a stranger has ten seconds to say who he is', () => {
  expect(byHand(true).secondsUntilEnd()).toBe(11)
})

test('whoever does not read what it is told is cut off after twenty seconds; a slow one is not', () => {
  const large = Buffer.alloc(100_000)
  for (const readsOn of [true, false]) {
    const { connection, secondsUntilEnd } = byHand(readsOn)
    connection.keepAlive = 300
    connection.gate.open(128 * 1024)
    connection.write(large)
    expect(secondsUntilEnd(), `reads on: ${readsOn}`).toBe(readsOn ? undefined : 21)
  }
})
