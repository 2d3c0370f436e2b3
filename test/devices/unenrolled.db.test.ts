// Devices that were offline when their endpoint was unenrolled are told for 90 days, and can do nothing else. [contract 8.unenrolment]

import { connect } from 'node:net'
import { parser } from 'mqtt-packet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { upTopic } from '../../src/contract/device/protocol.ts'
import { deletePastCredentials } from '../../src/server/fleet/endpoints/past-credentials.ts'
import { frames } from '../support/devices/raw-mqtt.ts'
import { enrolTestDevice, newDevice, type TestDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'

let harness: Harness
let org: TestOrg
let roomId: number
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
  roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
})
afterAll(() => harness.close())

const dayMs = 86_400_000

/** Everything that the service sends until it ends the connection, to a device that sends more than it should. */
async function talk({ id, credential }: Pick<TestDevice, 'id' | 'credential'>) {
  const packets: Record<string, unknown>[] = []
  const reading = parser({ protocolVersion: 4 }).on('packet', (packet) => packets.push({ ...packet }))
  const socket = connect(harness.mqttPort, '127.0.0.1')
  socket.on('data', (chunk) => reading.parse(chunk))
  const ended = new Promise<Error | undefined>((resolve) => {
    socket.once('error', resolve)
    socket.once('end', () => resolve(undefined))
  })
  const report = frames.publish(upTopic(id, 'status'), '{"orientation":"portrait"}'.padEnd(100_000), 1, 7)
  socket.write(Buffer.concat([frames.connect(id, credential), report, frames.subscribe(`v1/${id}/down/#`, 8)]))
  socket.write(frames.pingreq)
  expect(await ended, 'no reset, which could swallow the message').toBeUndefined()
  socket.destroy()
  return packets
}

test('CONNACK 0, UNENROL, the end, and nothing else', async () => {
  const device = await newDevice(harness, org, { roomId, offline: true })
  await org.call('DELETE', `/endpoints/${device.id}`)
  const audited = await org.audit()
  const packets = await talk(device)
  expect(packets.map(({ cmd }) => cmd)).toEqual(['connack', 'publish'])
  expect(packets[0]).toMatchObject({ returnCode: 0, sessionPresent: false })
  expect(packets[1]).toMatchObject({ topic: `v1/${device.id}/down/operation`, qos: 1 })
  const command = JSON.parse(String(packets[1]?.payload))
  expect(command).toMatchObject({ type: 'UNENROL', id: expect.any(String) })
  expect(Date.parse(command.deadline)).toBeGreaterThan(harness.clock.now())
  expect((await org.call('GET', `/endpoints/${device.id}`)).status).toBe(404)
  expect(await org.audit(), 'nothing was changed').toEqual(audited)
  const metrics = await (await fetch(`${harness.url}/metrics`)).text()
  expect(metrics).toMatch(/^roomkeeper_devices_connected 0$/m)
  expect(metrics).toMatch(/^roomkeeper_device_refused_total\{reason="unenrolled"\} 1$/m)
  expect(harness.logged.filter(({ msg }) => msg === 'device refused')).toEqual([
    expect.objectContaining({ endpoint: device.id, serial: device.serial, address: '127.0.0.1' }),
  ])
})

test('the endpoints of a deleted room are unenrolled too', async () => {
  const { id } = (await org.call('POST', '/rooms', { body: { name: 'Skog' } })).body
  const devices = [
    await newDevice(harness, org, { roomId: id, offline: true }),
    await newDevice(harness, org, { roomId: id, offline: true }),
  ]
  await org.call('DELETE', `/rooms/${id}`)
  for (const device of devices) expect((await talk(device)).map(({ cmd }) => cmd)).toEqual(['connack', 'publish'])
})

test('a credential with another endpoint ID, or with one wrong character, is refused', async () => {
  const device = await newDevice(harness, org, { roomId, offline: true })
  const other = await newDevice(harness, org, { roomId, offline: true })
  await org.call('DELETE', `/endpoints/${device.id}`)
  for (const login of [
    { id: other.id, credential: device.credential },
    { id: device.id, credential: other.credential },
    { id: device.id, credential: `${device.credential.slice(0, -1)}_` },
  ]) {
    expect(await talk(login)).toMatchObject([{ cmd: 'connack', returnCode: 5 }])
  }
  await other.connect()
  await other.close()
})

test('the serial can be enrolled again; the old credential stays that of an unenrolled endpoint', async () => {
  const device = await newDevice(harness, org, { roomId, offline: true })
  await org.call('DELETE', `/endpoints/${device.id}`)
  const { answer } = await enrolTestDevice(harness, org, { roomId, serial: device.serial })
  expect(answer.endpointId).not.toBe(device.id)
  expect((await talk(device)).map(({ cmd }) => cmd)).toEqual(['connack', 'publish'])
  const again = await newDevice(harness, org, { roomId, serial: device.serial })
  expect(again.id).toBe(answer.endpointId)
  expect((await org.call('GET', `/endpoints/${again.id}`)).body.connected).toBe(true)
  await talk(device)
  expect((await org.call('GET', `/endpoints/${again.id}`)).body.connected, 'it is not disturbed').toBe(true)
  await again.close()
})

test('a client library hands the message over, although it has not subscribed', async () => {
  const device = await newDevice(harness, org, { roomId, offline: true })
  await org.call('DELETE', `/endpoints/${device.id}`)
  // Another client gets the message too, before its subscription is answered.
  await device.connect({ subscribe: false })
  expect(await device.next('operation')).toMatchObject({ type: 'UNENROL' })
  await device.ended()
})

test('a device that asks without pause is told to try later', async () => {
  const device = await newDevice(harness, org, { roomId, offline: true })
  await org.call('DELETE', `/endpoints/${device.id}`)
  const codes: unknown[] = []
  // Each node has a limit of its own, and connections go to the nodes in turn.
  const nodes = harness.nodeUrls.length
  for (let i = 0; i < 12 * nodes; i++) codes.push((await talk(device))[0]?.returnCode)
  expect(codes.slice(0, 10 * nodes)).toEqual(Array(10 * nodes).fill(0))
  expect(codes).toContain(3)
})

test('after 90 days the credential is unknown, and its hash is deleted', async () => {
  const device = await newDevice(harness, org, { roomId, offline: true })
  const later = await newDevice(harness, org, { roomId, offline: true })
  await org.call('DELETE', `/endpoints/${device.id}`)
  harness.clock.advance(dayMs)
  await org.call('DELETE', `/endpoints/${later.id}`)
  harness.clock.advance(89 * dayMs - 60_000)
  expect((await talk(device))[0]).toMatchObject({ returnCode: 0 })
  harness.clock.advance(120_000)
  expect(await talk(device), 'before the task has run').toMatchObject([{ returnCode: 5 }])
  await deletePastCredentials(harness.services)
  harness.clock.advance(-120_000)
  expect(await talk(device), 'its hash is gone').toMatchObject([{ returnCode: 5 }])
  expect((await talk(later))[0], 'the younger one is still there').toMatchObject({ returnCode: 0 })
})
