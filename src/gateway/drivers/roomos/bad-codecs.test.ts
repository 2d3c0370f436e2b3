// Codecs that refuse, misbehave or disappear: the failure says so in words, and costs neither time nor memory.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { loopbackNetwork } from '../../../../test/support/gateway/loopback-network.ts'
import { FakeCodec } from '../../../simulator/hardware-fakes/codec/fake-codec.ts'
import type { CodecSwitches } from '../../../simulator/hardware-fakes/codec/misbehaviour.ts'
import type { DriverFailure, DriverItem } from '../../driver.ts'
import { maxAnswerBytes, type RoomosLimits, roomosLimits } from './limits.ts'
import { readXapiMessage } from './read-message.ts'
import { makeRoomosDriver } from './roomos.ts'
import { statusPaths } from './xapi-paths.ts'
import { XapiTree } from './xapi-tree.ts'

const secret = 'a-secret-of-this-test'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function startCodec(switches: Partial<CodecSwitches> = {}) {
  const codec = await FakeCodec.start({ password: secret, switches })
  cleanUps.push(() => codec.stop())
  return codec
}

interface Attempt {
  readonly item?: Partial<DriverItem>
  readonly limits?: Partial<RoomosLimits>
  readonly signal?: AbortSignal
}

async function openSession(codec: FakeCodec, { item, limits, signal }: Attempt = {}) {
  const whole = { host: '127.0.0.1', port: codec.port, username: 'admin', secret, options: {}, ...item }
  const context = { network: loopbackNetwork, signal: signal ?? new AbortController().signal }
  const session = await makeRoomosDriver({ ...roomosLimits, ...limits }).open(whole, context)
  cleanUps.push(() => session.close())
  return session
}

const words = ({ state, message }: DriverFailure) => `${state}: ${message}`
/** The state and the reason of an attempt that must fail. */
const failureOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'a session',
    (error: DriverFailure) => words(error),
  )

/** A codec without its WebSocket can lack either of two settings: a technician is told both. */
const namesBothSwitches = (state: string) =>
  new RegExp(
    `^${state}: .{0,130} is off\\. Set NetworkServices HTTP Mode to HTTPS or HTTP\\+HTTPS, and NetworkServices Websocket to FollowHTTPService\\.$`,
  )

describe('no session, and no second attempt, comes from', () => {
  test('a wrong password: it is sent once, and not repeated in the reason', async () => {
    const codec = await startCodec()
    const failure = await failureOf(openSession(codec, { item: { secret: 'wrong-password' } }))
    expect(failure).toMatch(/^REFUSED: The codec refused the user or the password \(401\)\. Use a local user/)
    expect(failure.length).toBeLessThanOrEqual(255)
    expect(failure).not.toContain('wrong-password')
    expect(codec.signIns).toEqual({ right: 0, wrong: 1 })
  })

  test('another certificate than the confirmed one: no password is sent', async () => {
    const codec = await startCodec()
    const { fingerprint } = codec
    codec.changeCertificate()
    expect(await failureOf(openSession(codec, { item: { fingerprint } }))).toMatch(/^CHANGED: /)
    expect(codec.signIns).toEqual({ right: 0, wrong: 0 })
    expect((await openSession(codec)).identity.certificate?.fingerprint).toBe(codec.fingerprint)
  })

  test('a redirect: it is not followed', async () => {
    const target = await startCodec()
    const codec = await startCodec({ redirectsTo: `wss://127.0.0.1:${target.port}/ws` })
    expect(await failureOf(openSession(codec))).toMatch(/^UNSUPPORTED: The device redirects to another address\./)
    expect(target.signIns).toEqual({ right: 0, wrong: 0 })
  })

  test.each([
    [404, namesBothSwitches('UNSUPPORTED')],
    [200, namesBothSwitches('UNSUPPORTED')],
    [403, /^REFUSED: The codec refused the user or the password \(403\)/],
    [503, /^UNREACHABLE: The codec is busy or still starting \(503\)\.$/],
  ])('a codec that answers the upgrade with %i', async (upgradeStatus, sentence) => {
    const codec = await startCodec({ upgradeStatus })
    expect(await failureOf(openSession(codec))).toMatch(sentence)
  })

  test('a codec whose HTTPS is off', async () => {
    const codec = await startCodec()
    const { port } = codec
    await codec.stop()
    expect(await failureOf(openSession(codec, { item: { port } }))).toMatch(namesBothSwitches('UNREACHABLE'))
  })

  test('a device that does not say which product it is', async () => {
    const codec = await startCodec({ denied: ['SystemUnit Product'] })
    expect(await failureOf(openSession(codec))).toBe(
      'UNSUPPORTED: The device does not say which product it is, as every codec does. Check the address.',
    )
    await expect.poll(() => codec.connectionCount).toBe(0)
  })
})

test('a new serial number is what the session says', async () => {
  const codec = await startCodec()
  codec.set('Status', 'SystemUnit Hardware Module SerialNumber', 'FOC2600R999')
  expect((await openSession(codec)).identity.serial).toBe('FOC2600R999')
  codec.set('Status', 'SystemUnit Hardware Module SerialNumber', '00000000')
  expect((await openSession(codec)).identity).not.toHaveProperty('serial')
})

const kilobytes = maxAnswerBytes / 1024
const misbehaviours: [name: string, Partial<CodecSwitches>, reason: string][] = [
  ['an endless message', { isEndless: true }, `sent a message of more than ${kilobytes} KB.`],
  ['a gigabyte', { sendsGigabyte: true }, `sent a message of more than ${kilobytes} KB.`],
  ['binary data', { sendsBinary: true }, 'sent binary data.'],
  ['a deep JSON bomb', { sendsJsonBomb: true }, 'sent a message with more than 24 levels.'],
  ['a wide JSON bomb', { sendsWideBomb: true }, 'sent a message with more than 20000 values.'],
  ['an answer to another question', { answersAnother: true }, 'answered a question that was not asked.'],
  ['a flood of feedback', { floods: true }, 'sent more than 4 MB in 10 seconds.'],
]
describe.each(misbehaviours)('a codec that sends %s', (_, switches, reason) => {
  test('while a session opens', async () => {
    const codec = await startCodec(switches)
    expect(await failureOf(openSession(codec))).toBe(`UNSUPPORTED: The codec ${reason} The session was ended.`)
    await expect.poll(() => codec.connectionCount).toBe(0)
  })

  test('during a session', async () => {
    const codec = await startCodec()
    const session = await openSession(codec)
    const ended = once(session, 'ended')
    Object.assign(codec.switches, switches)
    // The flood lets the answer through.
    await session.message?.('Hello', 1_000).catch(() => {})
    expect(words((await ended)[0])).toBe(`UNSUPPORTED: The codec ${reason} The session was ended.`)
    await expect.poll(() => codec.connectionCount).toBe(0)
  })
})

describe('a codec that is slow or gone', () => {
  test('sends its handshake byte by byte', async () => {
    const codec = await startCodec({ dribbles: 'handshake', dribbleMs: 5 })
    expect(await failureOf(openSession(codec, { limits: { connectMs: 150 } }))).toBe(
      'UNREACHABLE: The device accepts connections, but does not answer them in time.',
    )
  })

  test('sends its answers byte by byte', async () => {
    const codec = await startCodec({ dribbles: 'answers', dribbleMs: 5 })
    expect(await failureOf(openSession(codec, { limits: { answerMs: 150 } }))).toBe(
      'UNREACHABLE: The codec did not answer within 0.15 s.',
    )
  })

  test('never answers', async () => {
    const codec = await startCodec({ isSilent: true })
    expect(await failureOf(openSession(codec, { limits: { openMs: 150 } }))).toBe(
      'UNREACHABLE: The codec answers too slowly.',
    )
    await expect.poll(() => codec.connectionCount).toBe(0)
  })

  test('drops every packet without closing', async () => {
    const codec = await startCodec()
    const session = await openSession(codec, { limits: { pingMs: 300 } })
    const ended = once(session, 'ended')
    codec.freeze()
    expect(words((await ended)[0])).toBe('UNREACHABLE: The codec no longer answers.')
    expect(roomosLimits.pingMs * 2).toBeLessThanOrEqual(45_000)
  })

  test('closes the connection', async () => {
    const codec = await startCodec()
    const session = await openSession(codec)
    codec.switches.closesIdleMs = 50
    await session.power?.(true)
    expect(words((await once(session, 'ended'))[0])).toBe('UNREACHABLE: The codec closed the connection.')
  })

  test('closes idle connections, and does not close one with pings', async () => {
    const codec = await startCodec({ closesIdleMs: 1_200 })
    const session = await openSession(codec, { limits: { pingMs: 300, sampleMs: 1_500 } })
    let isEnded = false
    session.on('ended', () => {
      isEnded = true
    })
    await once(session, 'sample')
    await once(session, 'sample')
    expect({ isEnded, connections: codec.connectionCount }).toEqual({ isEnded: false, connections: 1 })
  })
})

describe('an attempt or a session that is stopped', () => {
  test('ends while it connects', async () => {
    const codec = await startCodec({ isSilent: true })
    const stop = new AbortController()
    const attempt = failureOf(openSession(codec, { signal: stop.signal }))
    await expect.poll(() => codec.requests.length, { interval: 1 }).toBeGreaterThan(0)
    stop.abort()
    expect(await attempt).toMatch(/^UNREACHABLE: /)
    await expect.poll(() => codec.connectionCount).toBe(0)
  })

  test('sends no password if it was stopped while the network connected', async () => {
    const codec = await startCodec()
    const stop = new AbortController()
    const network = {
      ...loopbackNetwork,
      async connectTls(options: Parameters<typeof loopbackNetwork.connectTls>[0]) {
        const connection = await loopbackNetwork.connectTls({ ...options, signal: new AbortController().signal })
        stop.abort()
        return connection
      },
    }
    const item = { host: '127.0.0.1', port: codec.port, username: 'admin', secret, options: {} }
    expect(await failureOf(makeRoomosDriver().open(item, { network, signal: stop.signal }))).toBe(
      'UNREACHABLE: The attempt was stopped.',
    )
    expect(codec.signIns).toEqual({ right: 0, wrong: 0 })
  })

  test('ends without an event, and commands after it fail', async () => {
    const codec = await startCodec()
    const stop = new AbortController()
    const session = await openSession(codec, { signal: stop.signal })
    const events: unknown[] = []
    session.on('ended', (failure) => events.push(failure))
    session.on('status', (changes) => events.push(changes))
    stop.abort()
    await expect.poll(() => codec.connectionCount).toBe(0)
    codec.set('Status', 'Audio Volume', 3)
    await expect(session.power?.(true)).rejects.toThrow('The connection to the codec has ended.')
    expect(events).toEqual([])
  })
})

test('brackets inside of a text do not count as levels', () => {
  const text = JSON.stringify({ id: '1', result: `${'['.repeat(100)}"\\${','.repeat(30_000)}` })
  expect(readXapiMessage(text)).toEqual(JSON.parse(text))
  expect(() => readXapiMessage('[1]')).toThrow('a message that is not a JSON-RPC object.')
  expect(() => readXapiMessage('{"id":')).toThrow('a message that is not JSON.')
})

test('a codec cannot make the known values grow', () => {
  const tree = new XapiTree(statusPaths)
  const device = (id: number) => ({ id, Name: 'x'.repeat(10_000), Unknown: { Deep: 'y' } })
  tree.merge({ Peripherals: { ConnectedDevice: [device(1), device(2)] }, Coffee: { Level: 3 } })
  expect(tree.ids('Peripherals ConnectedDevice[n]')).toEqual(['1', '2'])
  expect(tree.text('Peripherals ConnectedDevice[n] Name', '1')).toHaveLength(300)
  expect(() => {
    for (let id = 3; id < 10_000; id++) tree.merge({ Peripherals: { ConnectedDevice: [device(id)] } })
  }).toThrow()
  tree.replace(['Peripherals', 'ConnectedDevice'], [])
  expect(tree.ids('Peripherals ConnectedDevice[n]')).toEqual([])
})

test('the values of a codec that sends long texts take less than 1 MB, because no long text is kept', () => {
  const moduleOf = (name: string) => JSON.stringify(new URL(name, import.meta.url).href)
  const program = `
    const { XapiTree } = await import(${moduleOf('xapi-tree.ts')})
    const { statusPaths } = await import(${moduleOf('xapi-paths.ts')})
    const fill = () => {
      const tree = new XapiTree(statusPaths)
      try {
        for (let id = 1; id < 5_000; id++) {
          const item = { id, Name: '€' + 'x'.repeat(10_000) }
          tree.merge(JSON.parse(JSON.stringify({ Peripherals: { ConnectedDevice: [item] } })))
        }
      } catch {}
      return tree
    }
    fill() // compiles what is measured
    gc()
    const before = process.memoryUsage().heapUsed
    const tree = fill()
    gc()
    process.stdout.write(String(process.memoryUsage().heapUsed - before) + ' ' + tree.ids('Peripherals ConnectedDevice[n]').length)`
  const output = execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', program], {
    encoding: 'utf8',
  })
  const [bytes, items] = output.split(' ').map(Number)
  expect(items).toBeGreaterThan(200)
  expect(bytes).toBeLessThan(1024 * 1024)
})
