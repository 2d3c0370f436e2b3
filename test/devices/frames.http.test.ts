// The wire below the surface of a library: order of answers, a connection replaced in the middle, frames in one piece.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { upTopic } from '../../src/contract/device/protocol.ts'
import { storedTimes } from '../support/database/stored-samples.ts'
import { connack, frames, puback, rawMqtt } from '../support/devices/raw-mqtt.ts'
import { enrolTestDevice, newDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
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

const endpoint = async (id: string) => (await org.call('GET', `/endpoints/${id}`)).body

test('a connection that breaks while it replaces another one leaves no open session', async () => {
  for (let i = 0; i < 5; i++) {
    const device = await newDevice(harness, org, { roomId: room })
    const second = await rawMqtt(harness.mqttPort)
    second.socket.write(frames.connect(device.id, device.credential))
    second.socket.resetAndDestroy()
    // It counted from its login on: the first is over, whatever became of the second.
    await org.call('DELETE', `/endpoints/${device.id}`)
    await device.ended(1000)
    await until('the second is closed', () => second.isClosed)
    expect([device.client.connected, second.isClosed]).toEqual([false, true])
    expect((await org.call('GET', `/endpoints/${device.id}`)).status).toBe(404)
  }
})

test('answers come in the order of the questions [MQTT-4.6.0-2]', async () => {
  const { answer } = await enrolTestDevice(harness, org, { roomId: room })
  const it = await rawMqtt(harness.mqttPort)
  const messages = Array.from({ length: 60 }, (_, i) => {
    // Some wait for a commit, some are bad and wait for nothing; no more of these than a device may send in a minute.
    const [kind, body] =
      i % 6 === 0 ? (['operation', 'rubbish'] as const) : (['status', `{"hexapaBuild":"${i}"}`] as const)
    return frames.publish(upTopic(answer.endpointId, kind), body, 1, i + 1)
  })
  it.socket.write(Buffer.concat([frames.connect(answer.endpointId, answer.credential), ...messages]))
  await until('all are answered', () => it.received.length === 61)
  expect(it.received[0]?.type).toBe(connack)
  expect(it.received.slice(1)).toEqual(messages.map((_, i) => ({ type: puback, id: i + 1 })))
  expect((await endpoint(answer.endpointId)).hexapaBuild).toBe('59')
  it.socket.destroy()
})

test('frames may come byte by byte', async () => {
  const { answer } = await enrolTestDevice(harness, org, { roomId: room })
  const it = await rawMqtt(harness.mqttPort)
  const bytes = Buffer.concat([
    frames.connect(answer.endpointId, answer.credential),
    frames.publish(upTopic(answer.endpointId, 'status'), `{"hexapaBuild":"${'x'.repeat(200)}"}`, 1, 7),
  ])
  for (const byte of bytes) {
    it.socket.write(Buffer.from([byte]))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await until('it is answered', () => it.received.some(({ type, id }) => type === puback && id === 7))
  expect(it.received.map(({ type }) => type)).toEqual([connack, puback])
  expect((await endpoint(answer.endpointId)).hexapaBuild).toBe('x'.repeat(200))
  it.socket.destroy()
})

test('messages before a DISCONNECT are stored, also at QoS 0 and in one segment', async () => {
  const { answer } = await enrolTestDevice(harness, org, { roomId: room })
  const it = await rawMqtt(harness.mqttPort)
  const at = Math.floor(harness.clock.now() / 1000)
  const samples = Array.from({ length: 40 }, (_, i) =>
    frames.publish(upTopic(answer.endpointId, 'sample'), `{"samples":[{"timestamp":${at - 40 + i},"people":${i}}]}`, 0),
  )
  it.socket.end(Buffer.concat([frames.connect(answer.endpointId, answer.credential), ...samples, frames.disconnect]))
  await until('the last one is there', async () => {
    const { body } = await org.call('GET', `/endpoints/${answer.endpointId}/sensor`)
    return body.endpointData?.data[0].people === 39
  })
  expect(await storedTimes(harness, org, answer.endpointId)).toEqual(Array.from({ length: 40 }, (_, i) => at - 40 + i))
})

test('a subscription to an unknown topic ends the connection; after UNSUBSCRIBE a device gets no messages', async () => {
  const device = await newDevice(harness, org, { roomId: room })
  await device.client.unsubscribeAsync(`v1/${device.id}/down/#`)
  await org.call('POST', '/endpoints/send_message', { body: { message: 'Hello.', endpointIds: [device.id] } })
  await device.publish('status', { orientation: 'landscape' })
  expect(device.received).toEqual([])
  await device.client.subscribeAsync(`v1/${device.id}/down/operation`, { qos: 0 })
  expect(await device.next('operation')).toMatchObject({ message: 'Hello.' })
  device.client.subscribe(`v1/${device.id}/down/whatever`)
  await device.ended()
})

test('a message that was sent is not sent again at every wake', async () => {
  const device = await newDevice(harness, org, { roomId: room })
  await org.call('POST', `/endpoints/${device.id}/config`, { body: { nightMode: true } })
  for (let i = 0; i < 20; i++) {
    await org.call('POST', '/endpoints/send_message', { body: { message: `${i}`, endpointIds: [device.id] } })
  }
  for (let i = 0; i < 20; i++) expect(await device.next('operation')).toMatchObject({ message: `${i}` })
  await device.publish('status', { orientation: 'landscape' })
  expect(device.received.filter((m) => m.kind === 'operation')).toHaveLength(20)
  expect(device.received.filter((m) => m.kind === 'config')).toHaveLength(1)
  await device.close()
})

test('connections without a valid CONNECT do not keep a server from stopping', async () => {
  const other = await startHarness()
  const silent = await rawMqtt(other.mqttPort)
  const half = await rawMqtt(other.mqttPort)
  half.socket.write(Buffer.from([0x10]))
  await new Promise((resolve) => setImmediate(resolve))
  await other.close()
  await until('both are out', () => silent.isClosed && half.isClosed)
  expect([silent.received, half.received], 'neither was answered').toEqual([[], []])
})

test('a device that subscribes piece by piece gets each piece at once', async () => {
  for (const order of [
    ['operation', 'config'],
    ['config', 'operation'],
  ] as const) {
    const device = await newDevice(harness, org, { roomId: room, offline: true })
    await org.call('POST', `/endpoints/${device.id}/config`, { body: { nightMode: true } })
    const { body } = await org.call('POST', '/endpoints/send_message', {
      body: { message: 'Hello.', endpointIds: [device.id] },
    })
    await device.connect({ subscribe: false })
    for (const [i, kind] of order.entries()) {
      await device.client.subscribeAsync(`v1/${device.id}/down/${kind}`, { qos: 1 })
      await device.next(kind, 1000)
      const waits = i === 0 && kind === 'config'
      const { state } = (await org.call('GET', `/operations/${body.operations[0].id}`)).body
      expect(state, 'nothing is SENT that nobody listens to').toBe(waits ? 'QUEUED' : 'SENT')
    }
    await device.close()
  }
})

test('changes from before its subscription are sent after it: a config that the device has lost, and new commands', async () => {
  const device = await newDevice(harness, org, { roomId: room })
  await org.call('POST', `/endpoints/${device.id}/config`, { body: { nightMode: true } })
  const { version } = await device.next('config')
  await device.publish('config', { version, config: { nightMode: true } })
  await device.close()
  // Now nothing waits, and each time something does before it subscribes.
  await device.connect({ subscribe: false })
  await device.publish('config', { version: 0, config: {} })
  await device.client.subscribeAsync(`v1/${device.id}/down/#`, { qos: 1 })
  expect(await device.next('config', 1000)).toMatchObject({ version })
  await device.publish('config', { version, config: { nightMode: true } })
  await device.connect({ subscribe: false })
  await org.call('POST', '/endpoints/send_message', { body: { message: 'Hello.', endpointIds: [device.id] } })
  await device.client.subscribeAsync(`v1/${device.id}/down/#`, { qos: 1 })
  expect(await device.next('operation', 1000)).toMatchObject({ message: 'Hello.' })
  await device.close()
})

test('texts of a device are trimmed, and what it leaves out of its networks is filled in', async () => {
  const device = await newDevice(harness, org, { roomId: room })
  await device.publish('status', {
    pairingSerial: ' LEAD ',
    networks: [{ display: 'eth0', addresses: [{ address: { ipv4: 'wKgBKg==' } }] }, { display: 'wlan0' }],
  })
  const { pairingSerial, networks } = await endpoint(device.id)
  expect(pairingSerial).toBe('LEAD')
  expect(networks).toEqual([
    { display: 'eth0', addresses: [{ address: { ipv4: 'wKgBKg==' }, broadcast: {} }], gateway: [] },
    { display: 'wlan0', addresses: [], gateway: [] },
  ])
  for (const bad of [{ firmwareVersion: '1\n2' }, { totalSystemStorage: 'lots' }, { pairingSerial: 'x'.repeat(65) }]) {
    await device.publish('status', { orientation: 'wrong', ...bad })
  }
  expect(await endpoint(device.id)).not.toHaveProperty('orientation')
  await device.close()
})

test('keys that the schema does not know are dropped unread, but not more than 6,000 of all', async () => {
  const device = await newDevice(harness, org, { roomId: room })
  const others = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1]))
  await device.publish('status', { orientation: 'first', unknown: '\u0001', networks: [{ display: 'a', x: '\u0001' }] })
  expect(await endpoint(device.id)).toMatchObject({ orientation: 'first', networks: [{ display: 'a' }] })
  await device.publish('status', { orientation: 'second', ...others(5_999) })
  expect((await endpoint(device.id)).orientation).toBe('second')
  await device.publish('status', { orientation: 'third', ...others(6_000) })
  expect((await endpoint(device.id)).orientation).toBe('second')
  await device.close()
})

test('a config report has up to 500 keys', async () => {
  const device = await newDevice(harness, org, { roomId: room })
  const reported = async () => (await org.call('GET', `/endpoints/${device.id}/config/state`)).body.reported
  const config = (nightMode: boolean, others: number) => ({
    nightMode,
    ...Object.fromEntries(Array.from({ length: others }, (_, i) => [`k${i}`, 'x'])),
  })
  await device.publish('config', { version: 0, config: config(true, 499) })
  expect(await reported()).toEqual({ nightMode: true })
  await device.publish('config', { version: 0, config: config(false, 500) })
  await device.publish('config', {
    version: 0,
    config: config(false, 1),
    rejected: Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`k${i}`, 'x'])),
  })
  expect(await reported()).toEqual({ nightMode: true })
  await device.close()
})

test('a number that is none refuses its own sample alone; a time that is none is a bad message', async () => {
  const device = await newDevice(harness, org, { roomId: room })
  const at = Math.floor(harness.clock.now() / 1000) - 10
  const publish = (payload: string) => device.client.publishAsync(upTopic(device.id, 'sample'), payload, { qos: 1 })
  // vocIndex is nothing that a Bar has: an infinite one is refused all the same.
  await publish(`{"samples":[
    {"timestamp":${at},"co2":1e999},{"timestamp":${at + 1},"co2":500,"people":-1e999},{"timestamp":${at + 2},"vocIndex":1e999},
    {"timestamp":${at + 3},"co2":501,"shutterClosed":null}]}`)
  const { refused } = await device.next('sample-refused')
  expect(refused.map(({ timestamp }: { timestamp: number }) => timestamp)).toEqual([at, at + 1, at + 2])
  expect(refused[0].reason).toMatch(/co2/)
  expect(await storedTimes(harness, org, device.id)).toEqual([at + 3])

  const before = harness.logged.length
  for (const time of ['1e999', '-1e999', 'null', '1.5']) {
    await publish(`{"samples":[{"timestamp":${at + 5},"co2":500},{"timestamp":${time},"co2":500}]}`)
  }
  const said = harness.logged.slice(before).filter(({ msg }) => msg === 'bad message of a device')
  expect(said.map(({ reason }) => reason)).toEqual([expect.stringMatching(/^samples\.1\.timestamp must/)])
  expect(await storedTimes(harness, org, device.id)).toEqual([at + 3])
  await device.close()
})
