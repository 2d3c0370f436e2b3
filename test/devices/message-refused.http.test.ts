// The answer to a bad message: what was wrong, where, and the allowed values, once, and never at QoS 0.
import { once } from 'node:events'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { upTopic } from '../../src/contract/device/protocol.ts'
import { Agent } from '../../src/device/agent.ts'
import { frames, puback, rawMqtt } from '../support/devices/raw-mqtt.ts'
import { enrolTestDevice, newDevice, type TestDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { until } from '../support/program.ts'

let harness: Harness
let org: TestOrg
let roomId: number
let device: TestDevice
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
  roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  device = await newDevice(harness, org, { roomId })
})
afterAll(async () => {
  await device.close()
  await harness.close()
})

const calls = ['NONE', 'ZOOM', 'TEAMS', 'MEET', 'OTHER']
const longKey = 'k'.repeat(300)
const operationId = '0b0f3c52-6d3c-4c3e-8c55-0d5b5f0e8f10'

test.each([
  ['status', '{', '', 'it is not JSON'],
  ['status', Buffer.from([0xff]), '', 'it is not UTF-8 text'],
  ['status', '[]', '', 'it must be object'],
  ['status', { inCallStatus: 'SLEEPING' }, '/inCallStatus', `inCallStatus must be one of ${calls.join(', ')}`, calls],
  ['status', { inCallStatus: 5 }, '/inCallStatus', `inCallStatus must be one of ${calls.join(', ')}`, calls],
  ['status', { firmwareVersion: 5 }, '/firmwareVersion', 'firmwareVersion must be string or null'],
  ['status', { timezone: 'a\u0000b' }, '/timezone', 'timezone must not hold control characters'],
  [
    'status',
    { networks: [{}, { display: 'a\nb' }] },
    '/networks/1/display',
    'networks.1.display must not hold control characters',
  ],
  ['sample', { samples: [{ timestamp: 1 }, { co2: 5 }] }, '/samples/1/timestamp', 'samples.1.timestamp is missing'],
  ['config', { version: -1, config: {} }, '/version', 'version must be >= 0'],
  ['config', { version: 0, config: { 'a/b': [] } }, '/config/a~1b', 'config.a~1b must be boolean or number or string'],
  [
    'config',
    { version: 0, config: { 'a/b~': '\u0001' } },
    '/config/a~1b~0',
    'config.a~1b~0 must not hold control characters',
  ],
  [
    'config',
    { version: 0, config: { [longKey]: [] } },
    `/config/${longKey}`.slice(0, 200),
    `config.${longKey}`.slice(0, 199),
  ],
  ['operation', { id: 'x', state: 'FAILED' }, '/id', 'id must match format "uuid"'],
  [
    'operation',
    { id: operationId, state: 'DONE' },
    '/state',
    'state must be one of',
    ['ACKNOWLEDGED', 'SUCCEEDED', 'FAILED'],
  ],
  [
    'x'.repeat(100),
    {},
    '',
    'it is of a kind that does not exist',
    ['status', 'sample', 'config', 'operation', 'logs', 'devices', 'sources'],
  ],
] as const)(
  'a bad message of the kind %s is answered: %j is wrong at "%s"',
  async (kind, body, field, reason, allowed?: readonly string[]) => {
    const payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    await device.client.publishAsync(`v1/${device.id}/up/${kind}`, payload, { qos: 1 })
    // A minute later the device has no bad messages.
    harness.clock.advance(60_000)
    const answer = await device.next('message-refused')
    expect(answer).toEqual({
      kind: kind.slice(0, 40),
      field,
      reason: expect.stringContaining(`The message was not stored: ${reason}`),
      ...(allowed && { allowed: [...allowed] }),
    })
    expect(JSON.stringify(answer).length).toBeLessThan(1000)
  },
)

test('a bad message at QoS 2 is answered, one at QoS 0 is not', async () => {
  const topic = upTopic(device.id, 'status')
  device.client.publish(topic, '{"orientation":0}', { qos: 0 })
  await device.client.publishAsync(topic, '{"orientation":2}', { qos: 2 })
  await device.publish('status', { orientation: 'portrait' })
  expect((await device.next('message-refused')).field).toBe('/orientation')
  expect(device.received.at(-1)?.body.field, 'it was the last message').toBe('/orientation')
  await expect(device.next('message-refused', 100)).rejects.toThrow('no message-refused came')
})

test('the answer comes before the acknowledgement; to a device that has not subscribed it comes after SUBACK', async () => {
  const { answer } = await enrolTestDevice(harness, org, { roomId })
  const it = await rawMqtt(harness.mqttPort)
  onTestFinished(() => void it.socket.destroy())
  const types = () => it.received.map(({ type }) => type)
  const bad = (id: number) => frames.publish(upTopic(answer.endpointId, 'status'), '[]', 1, id)
  it.socket.write(frames.connect(answer.endpointId, answer.credential))
  it.socket.write(bad(1))
  await until('the first PUBACK', () => types().includes(puback))
  expect(types()).toEqual([2, puback])
  it.socket.write(Buffer.concat([frames.subscribe(`v1/${answer.endpointId}/down/message-refused`, 2), bad(3)]))
  await until('the second PUBACK', () => types().lastIndexOf(puback) > 1)
  expect(types()).toEqual([2, puback, 9, 3, 3, puback])
})

test('a device is told once for each kind of message and connection which keys were ignored, and they do not count as bad', async () => {
  const talkative = await newDevice(harness, org, { roomId })
  const status = { brand: 'Lumen', networks: [{ 'speed/max': 10 }], 'x~y': 1, power: 'ON' }
  for (let i = 0; i < 20; i++) await talkative.publish('status', status)
  const timestamp = Math.floor(harness.clock.now() / 1000)
  await talkative.publish('sample', { samples: [{ timestamp, co2: 400, noise: 40 }] })
  await talkative.publish('sample', { samples: [{ timestamp: timestamp + 1, co2: 400, noise: 41 }] })
  await talkative.publish('status', { power: 'OFF' })
  const answers = talkative.received.map(({ body }) => body)
  expect(answers).toEqual([
    { kind: 'status', keys: ['/brand', '/networks/0/speed~1max', '/x~0y'] },
    { kind: 'sample', keys: ['/samples/0/noise'] },
  ])
  talkative.drop()
  await talkative.connect()
  await talkative.publish('status', status)
  expect(await talkative.next('keys-ignored')).toMatchObject({ kind: 'status' })
})

test('many bad messages are answered at the rate at which they are read', async () => {
  const noisy = await newDevice(harness, org, { roomId })
  const sending = Array.from({ length: 30 }, () => noisy.publish('status', []))
  await Promise.all(sending.slice(0, 11))
  expect(noisy.received.length).toBeLessThan(15)
  for (const one of sending) one.catch(() => {})
  noisy.drop()
})

test('the agent hands the answer to its maker', async () => {
  const { answer: identity } = await enrolTestDevice(harness, org, { roomId })
  const storage = { load: () => undefined, save: () => {} }
  const handlers = {
    settings: () => ({}),
    applyConfig: () => undefined,
    reboot: () => {},
    showMessage: () => {},
    collectLogs: () => Buffer.alloc(0),
  }
  const agent = new Agent({ identity, status: {}, storage, handlers })
  onTestFinished(() => agent.stop())
  const connected = once(agent, 'connected')
  await agent.start()
  await connected
  const refused = once(agent, 'messageRefused')
  agent.reportStatus({ primaryMode: 'webex' })
  expect((await refused)[0]).toMatchObject({ kind: 'status', field: '/primaryMode' })
})
