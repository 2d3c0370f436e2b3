// Refused connections are counted by reason and logged once a minute. Enrolments and ended connections are logged.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { upTopic } from '../../src/contract/device/protocol.ts'
import { frame, rawMqtt, text } from '../support/devices/raw-mqtt.ts'
import { newDevice, type TestDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
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

const refusals = () => harness.logged.filter(({ msg }) => msg === 'device refused')
async function counted(reason: string): Promise<number> {
  const metrics = await (await fetch(`${harness.url}/metrics`)).text()
  const line = new RegExp(`^roomkeeper_device_refused_total\\{reason="${reason}"\\} (\\d+)$`, 'm')
  return Number(line.exec(metrics)?.[1] ?? 0)
}

async function sendUnknownVersion(): Promise<void> {
  const it = await rawMqtt(harness.mqttPort)
  it.socket.write(frame(0x10, text('MQTT'), Buffer.from([6, 2, 0, 30]), text('')))
  await until('the end', () => it.isClosed)
}
async function useTopicOf(device: TestDevice, use: (other: string) => void): Promise<void> {
  await device.connect()
  use('5a2f4f3e-8f2c-4f5f-9b0e-3f1f6f0c7a11')
  await device.ended()
}
const refused = (connecting: Promise<void>) => expect(connecting).rejects.toThrow()

test.each([
  ['version', 'this version of MQTT is not supported', 'nothing', sendUnknownVersion],
  [
    'keep-alive',
    'the keep-alive is not between 5 and 300 seconds',
    'serial',
    (d: TestDevice) => refused(d.connect({ keepalive: 301 })),
  ],
  [
    'keep-alive',
    'the keep-alive is not between 5 and 300 seconds',
    'endpoint',
    (d: TestDevice) => refused(d.connect({ keepalive: 301, password: 'rkd_secret' })),
  ],
  [
    'credential',
    'the credential is not known',
    'endpoint',
    (d: TestDevice) => refused(d.connect({ password: 'rkd_secret' })),
  ],
  [
    'foreign topic',
    'the topic is not its own',
    'serial',
    (d: TestDevice) => useTopicOf(d, (other) => d.client.publish(upTopic(other, 'status'), '{}')),
  ],
  [
    'foreign topic',
    'the topic is not its own',
    'serial',
    (d: TestDevice) => useTopicOf(d, (other) => d.client.subscribe(`v1/${other}/down/#`)),
  ],
] as const)(
  '%s: each is counted, and one in a minute is logged with what is known',
  async (cause, reason, known, provoke) => {
    // Lines of the tests before are older than a minute.
    harness.clock.advance(60_000)
    const device = await newDevice(harness, org, { roomId, offline: true })
    const before = await counted(cause)
    const linesBefore = refusals().length
    for (let i = 0; i < 3; i++) await provoke(device)
    expect(await counted(cause)).toBe(before + 3)
    // The serial is read from the database before the line is written.
    await until('the line', () => refusals().length > linesBefore)
    const lines = refusals().slice(linesBefore)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({ level: 30, address: '127.0.0.1', reason })
    expect(lines[0]?.endpoint).toBe(known === 'nothing' ? undefined : device.id)
    expect(lines[0]?.serial).toBe(known === 'serial' ? device.serial : undefined)
    harness.clock.advance(60_000)
    await provoke(device)
    await until('the next line', () => refusals().length > linesBefore + 1)
    expect(refusals()).toHaveLength(linesBefore + 2)
  },
)

test('devices behind one address are logged each, and at most 30 of those that claim ever new names', async () => {
  harness.clock.fix(harness.clock.now() + 60_000)
  const before = refusals().length
  const device = await newDevice(harness, org, { roomId, offline: true })
  for (let i = 0; i < 35; i++) await refused(device.connect({ username: randomUUID(), keepalive: 301 }))
  await until('the lines', () => refusals().length >= before + 30)
  const lines = refusals().slice(before)
  expect(lines).toHaveLength(30)
  expect(new Set(lines.map(({ serial }) => serial)), 'an id that is not proven has no serial').toEqual(
    new Set([undefined]),
  )
  expect(new Set(lines.map(({ endpoint }) => endpoint)).size).toBe(30)
})

test('a secret in the place of the user name is not logged', async () => {
  harness.clock.advance(60_000)
  const device = await newDevice(harness, org, { roomId, offline: true })
  await refused(device.connect({ username: device.credential, password: 'wrong' }))
  expect(JSON.stringify(refusals())).not.toContain(device.credential)
  expect(JSON.stringify(refusals())).not.toContain('rkd_')
})

test('an enrolment is one line, without the credential', async () => {
  const before = harness.logged.length
  const device = await newDevice(harness, org, { roomId, offline: true })
  const lines = harness.logged.slice(before).filter(({ msg }) => msg === 'device enrolled')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatchObject({
    level: 30,
    org: org.id,
    endpoint: device.id,
    serial: device.serial,
    model: device.model,
    room: roomId,
    address: '127.0.0.1',
  })
  expect(JSON.stringify(harness.logged)).not.toContain(device.credential)
})

test('a connection that ends is one info line with its reason', async () => {
  const device = await newDevice(harness, org, { roomId, offline: true })
  const lines = () =>
    harness.logged
      .filter(({ msg, serial }) => msg === 'device disconnected' && serial === device.serial)
      .map(({ endpoint, reason }) => ({ endpoint, reason }))
  await device.connect()
  await device.close()
  await until('the first line', () => lines().length === 1)
  await device.connect()
  device.client.publish(upTopic('5a2f4f3e-8f2c-4f5f-9b0e-3f1f6f0c7a11', 'status'), '{}')
  await device.ended()
  await until('the second line', () => lines().length === 2)
  expect(lines()).toEqual([
    { endpoint: device.id, reason: 'DISCONNECT' },
    { endpoint: device.id, reason: 'a device may publish to its own topics only' },
  ])
})
