// The connection to a real mosquitto: passwords, TLS, client certificates, WebSockets, refusals, large messages and an outage.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { Aedes } from 'aedes'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  brokerPassword,
  brokerUser,
  startTestBroker,
  type TestBroker,
} from '../../../../test/support/drivers/mosquitto.ts'
import { GatewayNetwork } from '../../network.ts'
import { Reach } from '../../reach.ts'
import type { SourceSettings } from '../source.ts'
import { BrokerConnection } from './broker-connection.ts'
import { usualMqttLimits } from './limits.ts'

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker()
})
afterAll(() => broker.stop())

type TestSettings = { readonly [K in keyof SourceSettings]?: SourceSettings[K] | undefined } & { readonly url: string }

const network = new GatewayNetwork(new Reach(['127.0.0.0/8']))

function open(settings: TestSettings, limits = usualMqttLimits) {
  const ending = new AbortController()
  onTestFinished(() => ending.abort())
  const context = {
    network: network.forSource(),
    signal: ending.signal,
    own: { endpointId: 'own', url: 'https://roomkeeper.example' },
    log: () => {},
  }
  return BrokerConnection.open(
    { username: brokerUser, secret: brokerPassword, ...settings, type: 'mqtt' } as SourceSettings,
    context,
    limits,
  )
}
const whyNot = (settings: TestSettings, limits = usualMqttLimits) =>
  open(settings, limits).then(
    () => 'there is a connection',
    ({ state, message }) => `${state}: ${message}`,
  )
const plainUrl = () => `mqtt://127.0.0.1:${broker.port}`

const ways = {
  'mqtt:// with a password': () => ({ url: plainUrl() }),
  'ws:// with a password': () => ({ url: `ws://127.0.0.1:${broker.webSocketPort}` }),
  'wss:// with a password and an own authority': () => ({
    url: `wss://127.0.0.1:${broker.tlsWebSocketPort}`,
    authority: broker.cert,
  }),
  'mqtts:// with an own authority': () => ({ url: `mqtts://127.0.0.1:${broker.tlsPort}`, authority: broker.cert }),
  'mqtts:// with a client certificate': () => ({
    url: `mqtts://127.0.0.1:${broker.mutualPort}`,
    authority: broker.cert,
    clientCertificate: broker.client.cert,
    clientKey: broker.client.key,
  }),
}
test.each(Object.entries(ways))('%s, retained and new messages arrive', async (_, settings) => {
  const publisher = await broker.connect()
  onTestFinished(() => void publisher.end(true))
  await publisher.publishAsync('rooms/retained', 'before', { retain: true, qos: 1 })
  const connection = await open(settings())
  const messages: [string, string, boolean][] = []
  connection.on('message', ({ topic, payload, isRetained }) => messages.push([topic, payload.toString(), isRetained]))
  await connection.subscribe(['rooms/+'])
  await expect.poll(() => messages).toEqual([['rooms/retained', 'before', true]])
  await publisher.publishAsync('rooms/new', 'after', { qos: 1 })
  await expect.poll(() => messages).toContainEqual(['rooms/new', 'after', false])
})

test('a fingerprint that a person confirmed is enough, and another one is CHANGED before the password is sent', async () => {
  const url = `mqtts://127.0.0.1:${broker.tlsPort}`
  const refusal = await whyNot({ url })
  expect(refusal).toMatch(/^CHANGED: .*fingerprint: (?:[0-9A-F]{2}:){31}[0-9A-F]{2}\.$/)
  const fingerprint = /(?:[0-9A-F]{2}:){31}[0-9A-F]{2}/.exec(refusal)?.[0] as string
  const connection = await open({ url, fingerprint })
  expect(connection.certificate).toMatchObject({ fingerprint, isTrusted: false })
  expect(await whyNot({ url, fingerprint: fingerprint.split(':').reverse().join(':') })).toMatch(
    /^CHANGED: Another certificate/,
  )
})

test('a wrong password, no password and a missing client certificate are refused in words without the password', async () => {
  const refused = /^REFUSED: The broker 127.0.0.1:\d+ refused the user, the password or the client certificate\.$/
  expect(await whyNot({ url: plainUrl(), secret: 'wrong-secret-991' })).toMatch(refused)
  expect(await whyNot({ url: plainUrl(), username: undefined, secret: undefined })).toMatch(refused)
  const without = await whyNot({ url: `mqtts://127.0.0.1:${broker.mutualPort}`, authority: broker.cert })
  expect(without).toMatch(/^(UNREACHABLE|REFUSED|UNSUPPORTED): /)
})

test('an address without a broker, or with another protocol, is named in words', async () => {
  expect(await whyNot({ url: 'mqtt://127.0.0.1:1' })).toMatch(/^UNREACHABLE: 127\.0\.0\.1 port 1 refuses connections/)
  const silent = createServer().listen(0, '127.0.0.1')
  const web = createServer((socket) => socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')).listen(
    0,
    '127.0.0.1',
  )
  onTestFinished(() => {
    silent.close()
    web.close()
  })
  await Promise.all([once(silent, 'listening'), once(web, 'listening')])
  const portOf = (server: typeof web) => (server.address() as { port: number }).port
  const brief = { ...usualMqttLimits, connectMs: 300 }
  expect(await whyNot({ url: `mqtt://127.0.0.1:${portOf(silent)}` }, brief)).toMatch(
    /^UNREACHABLE: 127\.0\.0\.1:\d+ accepts connections, but does not answer as an MQTT broker\.$/,
  )
  expect(await whyNot({ url: `mqtt://127.0.0.1:${portOf(web)}` })).toMatch(
    /^(UNSUPPORTED|UNREACHABLE): 127\.0\.0\.1:\d+ /,
  )
  expect(await whyNot({ url: `ws://127.0.0.1:${portOf(web)}/broker` })).toMatch(
    /^UNSUPPORTED: 127\.0\.0\.1:\d+ answers 404 at \/broker instead of opening a WebSocket for MQTT\. Check the path\.$/,
  )
})

test('an address outside the reach of the gateway is refused', async () => {
  expect(await whyNot({ url: 'mqtt://10.1.2.3:1883' })).toMatch(
    /^UNREACHABLE: 10\.1\.2\.3 is outside the reach of this gateway/,
  )
})

// mosquitto itself is slow with large messages over WebSockets.
test.each([
  ['mqtt', 10_000_000, usualMqttLimits.maxPacketBytes],
  ['ws', 20_000, 10_000],
] as const)(
  'over %s:// a message of %i bytes is left out and counted, and the next one arrives',
  async (scheme, bytes, maxPacketBytes) => {
    const publisher = await broker.connect()
    onTestFinished(() => void publisher.end(true))
    const port = scheme === 'ws' ? broker.webSocketPort : broker.port
    const connection = await open({ url: `${scheme}://127.0.0.1:${port}` }, { ...usualMqttLimits, maxPacketBytes })
    await connection.subscribe(['large/#'])
    const messages: [string, number][] = []
    connection.on('message', ({ topic, payload }) => messages.push([topic, payload.length]))
    await publisher.publishAsync('large/one', Buffer.alloc(bytes, 0x5b), { qos: 1 })
    await publisher.publishAsync('large/two', 'small', { qos: 1 })
    await publisher.publishAsync('large/three', Buffer.alloc(maxPacketBytes - 100, 0x20), { qos: 1 })
    await expect
      .poll(() => messages)
      .toEqual([
        ['large/two', 5],
        ['large/three', maxPacketBytes - 100],
      ])
    expect(connection.skippedCount).toBe(1)
    expect(connection.largestSkippedBytes).toBeGreaterThan(bytes)
  },
)

test('a flood is slowed down, and nothing of it is lost', async () => {
  const publisher = await broker.connect()
  onTestFinished(() => void publisher.end(true))
  const connection = await open({ url: plainUrl() }, { ...usualMqttLimits, maxMessagesPerSecond: 200 })
  await connection.subscribe(['flood/#'])
  const arrivedMs: number[] = []
  connection.on('message', () => arrivedMs.push(performance.now()))
  // Each is so large that one chunk of the socket has only a few.
  for (let i = 0; i < 500; i++) publisher.publish(`flood/${i}`, Buffer.alloc(8000))
  await expect.poll(() => arrivedMs.length).toBe(500)
  expect((arrivedMs.at(-1) as number) - (arrivedMs[0] as number)).toBeGreaterThan(900)
})

test('a topic that the broker refuses is noted, and the others are read', async () => {
  // mosquitto grants every subscription, and then sends nothing.
  const strict = await Aedes.createBroker()
  strict.authorizeSubscribe = (_, subscription, done) =>
    done(null, subscription.topic.startsWith('secret/') ? null : subscription)
  const server = createServer(strict.handle).listen(0, '127.0.0.1')
  onTestFinished(() => {
    strict.close()
    server.close()
  })
  await once(server, 'listening')
  const connection = await open({ url: `mqtt://127.0.0.1:${(server.address() as { port: number }).port}` })
  const many = Array.from({ length: 250 }, (_, i) => `open/${i}`)
  await connection.subscribe([...many.slice(0, 120), 'secret/door', ...many.slice(120)])
  expect([connection.refusedTopicCount, connection.refusedTopics]).toEqual([1, ['secret/door']])
  const topics: string[] = []
  connection.on('message', ({ topic }) => topics.push(topic))
  strict.publish({ cmd: 'publish', topic: 'open/249', payload: 'x', qos: 0, dup: false, retain: false }, () => {})
  await expect.poll(() => topics).toEqual(['open/249'])
})

test('a broker that goes away ends the connection once', async () => {
  const other = await startTestBroker()
  onTestFinished(() => other.stop())
  const connection = await open({ url: `mqtt://127.0.0.1:${other.port}` })
  const failures: string[] = []
  connection.on('ended', ({ state, message }) => failures.push(`${state}: ${message}`))
  await other.kill()
  await expect.poll(() => failures).toEqual([`UNREACHABLE: 127.0.0.1:${other.port} closed the connection.`])
})
