// MQTT 5 beside MQTT 3.1.1: what the service announces, and the reason code of everything that it refuses or ends.
import fc from 'fast-check'
import { generate, type IConnectPacket } from 'mqtt-packet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { downTopic, upTopic } from '../../src/contract/device/protocol.ts'
import { ProtocolError } from '../../src/server/devices/mqtt/packets/protocol-error.ts'
import { readConnect, readPacket } from '../../src/server/devices/mqtt/packets/reader.ts'
import { login, openMqtt5 } from '../support/devices/mqtt5-connection.ts'
import { frame, text } from '../support/devices/raw-mqtt.ts'
import { newDevice, type TestDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { runCount } from '../support/long-form.ts'
import { until } from '../support/program.ts'

let harness: Harness
let org: TestOrg
let roomId: number
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
  roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
})
afterAll(() => harness.close())

const open = () => openMqtt5(harness.mqttPort)
const bytes = (...values: number[]) => Buffer.from(values)
const offline = () => newDevice(harness, org, { roomId, offline: true })

async function connected(device: TestDevice, more: Partial<IConnectPacket> = {}) {
  const it = open()
  it.send(login(device, more))
  expect(await it.next('connack')).toMatchObject({ reasonCode: 0 })
  return it
}

test('CONNACK announces the limits of the service, an assigned client id, and that no session is kept', async () => {
  const device = await offline()
  const it = await connected(device, { properties: { sessionExpiryInterval: 3600 } })
  expect(it.received[0]).toMatchObject({ sessionPresent: false, reasonCode: 0 })
  expect(it.received[0]?.properties).toEqual({
    sessionExpiryInterval: 0,
    receiveMaximum: 8,
    retainAvailable: false,
    maximumPacketSize: 131_072,
    topicAliasMaximum: 0,
    subscriptionIdentifiersAvailable: false,
    sharedSubscriptionAvailable: false,
    assignedClientIdentifier: device.id,
  })
  const named = await connected(device, { clientId: 'mine', clean: false })
  expect(named.received[0]).toMatchObject({ sessionPresent: false })
  expect(named.received[0]?.properties).not.toHaveProperty('assignedClientIdentifier')
})

test('messages, subscriptions and pings work as in MQTT 3.1.1; user properties are ignored', async () => {
  const device = await offline()
  await org.call('POST', `/endpoints/${device.id}/config`, { body: { nightMode: true } })
  const properties = { userProperties: { colour: ['red', 'blue'], __proto__: 'x' } }
  const it = await connected(device, { properties })
  const topic = upTopic(device.id, 'status')
  const payload = '{"orientation":"portrait"}'
  const publish = { cmd: 'publish', topic, payload, dup: false, retain: true } as const
  it.send({ ...publish, qos: 1, messageId: 1, properties: { ...properties, contentType: 'application/json' } })
  expect(await it.next('puback')).toMatchObject({ messageId: 1, reasonCode: 0 })
  it.send({ ...publish, qos: 2, messageId: 2 })
  expect(await it.next('pubrec')).toMatchObject({ messageId: 2, reasonCode: 0 })
  it.send({ cmd: 'pubrel', messageId: 2 })
  expect(await it.next('pubcomp')).toMatchObject({ messageId: 2, reasonCode: 0 })
  expect((await org.call('GET', `/endpoints/${device.id}`)).body).toMatchObject({ orientation: 'portrait' })
  it.send({ cmd: 'subscribe', messageId: 3, subscriptions: [{ topic: downTopic(device.id, '#'), qos: 2, rh: 1 }] })
  expect(await it.next('suback')).toMatchObject({ messageId: 3, granted: [1] })
  expect(await it.next('publish')).toMatchObject({ topic: downTopic(device.id, 'config'), qos: 1 })
  it.send({ cmd: 'unsubscribe', messageId: 4, unsubscriptions: [downTopic(device.id, '#'), 'x'] })
  expect(await it.next('unsuback')).toMatchObject({ messageId: 4, granted: [0x00, 0x11] })
  it.send({ cmd: 'pingreq' })
  await it.next('pingresp')
  it.send({ cmd: 'disconnect', reasonCode: 4 })
  await until('the end', () => it.isClosed)
  expect(it.of('disconnect')).toEqual([])
})

test('a bad message has an acknowledgement with a reason code, and the usual answer', async () => {
  const device = await offline()
  const it = await connected(device)
  it.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: downTopic(device.id, '#'), qos: 1 }] })
  const bad = { cmd: 'publish', topic: upTopic(device.id, 'status'), payload: '[]', dup: false, retain: false } as const
  it.send({ ...bad, qos: 1, messageId: 2 })
  it.send({ ...bad, qos: 2, messageId: 3 })
  expect(await it.next('puback')).toMatchObject({ messageId: 2, reasonCode: 0x99 })
  expect(await it.next('pubrec')).toMatchObject({ messageId: 3, reasonCode: 0x99 })
  expect(it.of('publish')).toHaveLength(2)
  it.send({ cmd: 'pingreq' })
  await it.next('pingresp')
})

test('no bytes of one device get in the way of the next packet of another', () => {
  const good = frame(0x32, text('topic'), bytes(0, 7, 0), Buffer.from('payload'))
  const outcome = (read: () => unknown) => {
    try {
      read()
    } catch (error) {
      expect(error).toBeInstanceOf(ProtocolError)
    }
  }
  fc.assert(
    fc.property(fc.nat(255), fc.uint8Array({ maxLength: 60 }), (first, body) => {
      outcome(() => readPacket(frame(first, Buffer.from(body)), 5))
      // Most packets of random bytes end early; these have a topic, an id, and random properties.
      outcome(() => readPacket(frame(0x32, text('topic'), bytes(0, 1, body.length), Buffer.from(body)), 5))
      outcome(() => readConnect(frame(0x10, text('MQTT'), bytes(5, first & 0xfe, 0, 30), Buffer.from(body)), 5))
      expect(readPacket(good, 5)).toMatchObject({ topic: 'topic', messageId: 7, payload: Buffer.from('payload') })
    }),
    { numRuns: runCount({ short: 1000, full: 3000, long: 3000 }) },
  )
})

const overview = { cmd: 'connack', properties: { reasonString: expect.stringMatching(/./) } }
test.each([
  ['a wrong credential', { password: Buffer.from('rkd_x') }, 0x87],
  ['no password', { password: undefined as never }, 0x87],
  ['a keep-alive of 0', { keepalive: 0 }, 0x83],
  ['a receive maximum of 0', { properties: { receiveMaximum: 0 } }, 0x82],
  ['a maximum packet size of 0', { properties: { maximumPacketSize: 0 } }, 0x82],
  ['an authentication method', { properties: { authenticationMethod: 'SCRAM-SHA-1' } }, 0x8c],
  ['authentication data alone', { properties: { authenticationData: Buffer.from('x') } }, 0x82],
] as const)('CONNECT with %s is refused with a reason', async (_, more, reasonCode) => {
  const it = open()
  it.send(login(await offline(), more as Partial<IConnectPacket>))
  await until('the end', () => it.isClosed)
  expect(it.received).toEqual([expect.objectContaining({ ...overview, reasonCode })])
  expect(it.failed).toBeUndefined()
})

test('other refusals have reasons, too: too often, and a device that was unenrolled', async () => {
  const device = await offline()
  const codes: unknown[] = []
  // Each node has a limit of its own.
  for (let i = 0; i < 12 * harness.nodeUrls.length; i++) {
    const it = open()
    it.send(login(device))
    codes.push((await it.next('connack')).reasonCode)
    it.end()
  }
  expect(codes).toContain(0x9f)
  const gone = await offline()
  await org.call('DELETE', `/endpoints/${gone.id}`)
  const it = open()
  it.send(login(gone))
  await until('the end', () => it.isClosed)
  expect(it.received).toMatchObject([
    { cmd: 'connack', reasonCode: 0 },
    { cmd: 'publish', topic: downTopic(gone.id, 'operation') },
    { cmd: 'disconnect', reasonCode: 0x98, properties: { reasonString: 'The endpoint was unenrolled.' } },
  ])
})

test('a reason string is left out where it would be larger than the device accepts', async () => {
  const it = open()
  const device = await offline()
  it.send(login(device, { keepalive: 0, properties: { maximumPacketSize: 20 } }))
  await until('the end', () => it.isClosed)
  expect(it.received).toEqual([expect.objectContaining({ cmd: 'connack', reasonCode: 0x83 })])
  expect(it.received[0]).not.toHaveProperty('properties')
})

const connectHead = [text('MQTT'), bytes(5, 0x02, 0, 30)]
test.each([
  ['an unknown property', [bytes(2, 0x7f, 0), text('')], 0x81],
  ['a property of another packet', [bytes(3, 0x23, 0, 1), text('')], 0x81],
  ['a property that comes twice', [bytes(6, 0x21, 0, 5, 0x21, 0, 6), text('')], 0x82],
  ['properties that end too early', [bytes(3, 0x21, 0)], 0x81],
  ['a text that is not UTF-8', [bytes(0), text(bytes(0xff))], 0x81],
] as const)('CONNECT with %s is answered with its code', async (_, rest, reasonCode) => {
  const it = open()
  it.send(frame(0x10, ...connectHead, ...rest))
  await until('the end', () => it.isClosed)
  expect(it.received).toEqual([expect.objectContaining({ ...overview, reasonCode })])
})

const someId = '5a2f4f3e-8f2c-4f5f-9b0e-3f1f6f0c7a11'
const toTopic = (topic: string, more: object = {}) =>
  generate(
    { cmd: 'publish', topic, payload: '{}', qos: 1, messageId: 1, dup: false, retain: false, ...more },
    { protocolVersion: 5 },
  )
const wants = (topic: string, properties: object = {}) =>
  generate({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos: 1 }], properties }, { protocolVersion: 5 })
test.each([
  ['AUTH', () => frame(0xf0, bytes(0x18, 0)), 0x82],
  ['a second CONNECT', (d: TestDevice) => generate(login(d)), 0x82],
  ['a packet of a server', () => frame(0x90, bytes(0, 1, 0, 0)), 0x82],
  ['a reserved flag', () => frame(0xc1), 0x81],
  ['an unknown property', (d: TestDevice) => frame(0x32, text(upTopic(d.id, 'status')), bytes(0, 1, 2, 0x7f, 0)), 0x81],
  [
    'a property of another packet',
    (d: TestDevice) => toTopic(upTopic(d.id, 'status'), { properties: { receiveMaximum: 5 } }),
    0x81,
  ],
  ['a topic alias', (d: TestDevice) => toTopic(upTopic(d.id, 'status'), { properties: { topicAlias: 1 } }), 0x94],
  ['an empty topic', () => frame(0x32, text(''), bytes(0, 1, 0)), 0x82],
  ['a topic with a wildcard', () => toTopic('v1/+/up/status'), 0x90],
  ['a topic of another device', () => toTopic(upTopic(someId, 'status')), 0x87],
  ['a subscription to another device', () => wants(downTopic(someId, '#')), 0x87],
  ['a shared subscription', (d: TestDevice) => wants(`$share/all/${downTopic(d.id, '#')}`), 0x9e],
  ['a subscription identifier', (d: TestDevice) => wants(downTopic(d.id, '#'), { subscriptionIdentifier: 7 }), 0xa1],
  ['a SUBSCRIBE without topics', () => frame(0x82, bytes(0, 1, 0)), 0x82],
  [
    'a packet that is too large',
    (d: TestDevice) => toTopic(upTopic(d.id, 'status'), { payload: 'x'.repeat(200_000) }),
    0x95,
  ],
  ['a malformed length', () => bytes(0x30, 0xff, 0xff, 0xff, 0xff, 0x7f), 0x81],
] as const)('%s ends the connection with its code', async (_, packet, reasonCode) => {
  const device = await offline()
  const it = await connected(device)
  it.send(packet(device))
  await until('the end', () => it.isClosed)
  expect(it.received.slice(1)).toEqual([
    expect.objectContaining({
      cmd: 'disconnect',
      reasonCode,
      properties: { reasonString: expect.stringMatching(/./) },
    }),
  ])
  expect(it.failed, 'no reset, which could swallow the reason').toBeUndefined()
  await until('it is gone', async () => !(await org.call('GET', `/endpoints/${device.id}`)).body.connected)
})

test('no more messages are sent without an acknowledgement than the device accepts, and none that is too large', async () => {
  const device = await offline()
  const send = (message: string) =>
    org.call('POST', '/endpoints/send_message', { body: { message, endpointIds: [device.id] } })
  for (const message of ['1', '2', '3', '4', 'long'.repeat(200), '5']) await send(message)
  const it = await connected(device, { properties: { receiveMaximum: 2, maximumPacketSize: 600 } })
  it.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: downTopic(device.id, '#'), qos: 1 }] })
  await until('two messages', () => it.of('publish').length === 2)
  it.send({ cmd: 'pingreq' })
  await it.next('pingresp')
  expect(it.of('publish')).toHaveLength(2)
  let acknowledged = 0
  await until('all messages', () => {
    const next = it.of('publish')[acknowledged]
    if (next) {
      acknowledged++
      it.send({ cmd: 'puback', messageId: next.messageId as number, reasonCode: 0 })
    }
    return acknowledged === 5
  })
  const texts = it.of('publish').map(({ payload }) => JSON.parse(String(payload)).message)
  expect(texts).toEqual(['1', '2', '3', '4', '5'])
})
