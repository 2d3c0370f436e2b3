// How connections over MQTT 5 end: the reason code and the reason string of each end.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { downTopic, upTopic } from '../../src/contract/device/protocol.ts'
import { login, openMqtt5 } from '../support/devices/mqtt5-connection.ts'
import { newDevice, type TestDevice } from '../support/devices/test-device.ts'
import { engine, type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { until } from '../support/program.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
})
afterAll(() => harness.close())

async function newOffline(service = harness, owner = org): Promise<TestDevice> {
  const { id } = (await owner.call('POST', '/rooms', { body: { name: 'Fjord' } })).body
  return newDevice(service, owner, { roomId: id, offline: true })
}

async function connected(device: TestDevice, { service = harness, keepalive = 30 } = {}) {
  const it = openMqtt5(service.mqttPort)
  it.send(login(device, { keepalive }))
  expect(await it.next('connack')).toMatchObject({ reasonCode: 0 })
  return it
}

test('a connection that is replaced, unenrolled or silent is told so', async () => {
  const device = await newOffline()
  const first = await connected(device)
  const second = await connected(device)
  expect(await first.next('disconnect')).toMatchObject({ reasonCode: 0x8e })
  await until('the end', () => first.isClosed)
  second.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: downTopic(device.id, '#'), qos: 1 }] })
  await second.next('suback')
  await org.call('DELETE', `/endpoints/${device.id}`)
  expect(await second.next('disconnect')).toMatchObject({ reasonCode: 0x98 })
  expect(second.received.map(({ cmd }) => cmd)).toEqual(['connack', 'suback', 'publish', 'disconnect'])

  const silent = await connected(await newOffline(), { keepalive: 5 })
  expect(await silent.next('disconnect')).toMatchObject({ reasonCode: 0x8d })
})

test('a message and a connection that cannot be stored are refused with a reason', async () => {
  const other = await startHarness()
  onTestFinished(() => other.close())
  const otherOrg = await other.newOrg()
  const device = await newOffline(other, otherOrg)
  const it = await connected(device, { service: other })
  // In a transaction of its own: a refused message rolls back the one that it is in.
  const change = (text: string) => other.services.db.systemTransaction(({ kysely }) => sql.raw(text).execute(kysely))
  if (engine === 'postgres') {
    await change("create function refuse() returns trigger language plpgsql as 'begin raise ''refused''; end'")
  }
  const refusal =
    engine === 'postgres' ? 'for each row execute function refuse()' : "begin select raise(abort, 'refused'); end"
  const refuse = (event: string) =>
    change(`create trigger refused_${event.replaceAll(' ', '_')} before ${event} ${refusal}`)
  await refuse('insert on samples')
  const payload = JSON.stringify({ samples: [{ timestamp: Math.floor(other.clock.now() / 1000), people: 1 }] })
  const topic = upTopic(device.id, 'sample')
  it.send({ cmd: 'publish', topic, payload, qos: 1, messageId: 1, dup: false, retain: false })
  const reasonString = 'a message could not be stored'
  expect(await it.next('disconnect')).toMatchObject({ reasonCode: 0x89, properties: { reasonString } })

  await refuse('update on endpoints')
  const again = openMqtt5(other.mqttPort)
  again.send(login(device))
  expect(await again.next('connack')).toMatchObject({
    reasonCode: 0x88,
    properties: { reasonString: 'The service cannot accept the connection now. Try again later.' },
  })
})

test('a service that stops says so', async () => {
  const other = await startHarness()
  const otherOrg = await other.newOrg()
  const device = await newOffline(other, otherOrg)
  const codes: number[] = []
  for (const url of device.connectUrls) {
    await device.connect({ url, protocolVersion: 5 })
    device.client.once('disconnect', ({ reasonCode }) => void codes.push(reasonCode ?? -1))
  }
  await until('the first was replaced', () => codes.length === 1)
  await other.close()
  await until('both were told', () => codes.length === 2)
  expect(codes).toEqual([0x8e, 0x8b])
})
