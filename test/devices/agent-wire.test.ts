// The agent at the end of a wire where anything can come: twice, late, from the wrong place, or not at all.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttp, type Server as HttpServer } from 'node:http'
import { type AddressInfo, connect as connectPlain, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { Aedes } from 'aedes'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  type CommandReport,
  type DeviceCommandMessage,
  type DeviceSample,
  maxPacketBytes,
} from '../../src/contract/device/protocol.ts'
import { Agent, type AgentOptions } from '../../src/device/agent.ts'
import type { AgentHandlers, AgentState } from '../../src/device/handlers.ts'
import { usableAddresses } from '../../src/device/reconnect.ts'
import { createBodyServer } from '../support/body-server.ts'
import { certificate } from '../support/certificate.ts'
import { until } from '../support/program.ts'

const endpointId = '5a2f4f3e-8f2c-4f5f-9b0e-3f1f6f0c7a11'

async function portOf(server: Server | HttpServer): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** A broker that says what a test wants, and keeps what it hears. */
async function newService(refuse: () => number | undefined = () => undefined) {
  const heard: { kind: string; body: Record<string, unknown> }[] = []
  const held: { kind: string | undefined; answers: (() => void)[] } = { kind: undefined, answers: [] }
  const broker = await Aedes.createBroker({
    authenticate: (_client, username, password, done) => {
      expect([username, password?.toString()]).toEqual([endpointId, 'credential'])
      const returnCode = refuse()
      if (returnCode === undefined) done(null, true)
      else done(Object.assign(new Error('refused'), { returnCode }), null)
    },
    authorizePublish: (client, { topic, payload }, done) => {
      const kind = topic.split('/').at(-1) ?? ''
      if (client) heard.push({ kind, body: JSON.parse(payload.toString()) })
      if (kind === held.kind) held.answers.push(() => done(null))
      else done(null)
    },
  })
  onTestFinished(() => new Promise<void>((resolve) => broker.close(resolve)))
  const port = await portOf(createServer((socket) => void broker.handle(socket)))
  return {
    url: `mqtt://127.0.0.1:${port}`,
    heard,
    /** Messages of this kind get no PUBACK until `answerAll`. */
    holdAnswers: (kind: string) => {
      held.kind = kind
    },
    answerAll: () => {
      held.kind = undefined
      for (const answer of held.answers.splice(0)) answer()
    },
    reports: () => heard.filter(({ kind }) => kind === 'operation' || kind === 'logs').map(({ body }) => body),
    send: (kind: string, text: string) =>
      new Promise<void>((resolve, reject) => {
        const topic = `v1/${endpointId}/down/${kind}`
        const packet = { cmd: 'publish', topic, payload: text, qos: 1, retain: false, dup: false } as const
        broker.publish(packet, (error) => (error ? reject(error) : resolve()))
      }),
  }
}

const command = (type: DeviceCommandMessage['type'], more: Partial<DeviceCommandMessage> = {}): string =>
  JSON.stringify({ id: randomUUID(), type, deadline: new Date(Date.now() + 60_000).toISOString(), ...more })

async function newAgent(
  connect: string[],
  handlers: Partial<AgentHandlers> = {},
  kept?: AgentState,
  options: Pick<AgentOptions, 'maxQueuedSamples' | 'outcomeOf' | 'commandsOnce'> = {},
) {
  const memory: { kept?: AgentState | undefined } = { kept }
  const agent = new Agent({
    ...options,
    identity: { endpointId, credential: 'credential', connect },
    status: {},
    storage: {
      load: () => memory.kept,
      save: (state) => {
        memory.kept = state
      },
    },
    handlers: {
      settings: () => ({}),
      applyConfig: () => undefined,
      reboot: () => {},
      showMessage: () => {},
      collectLogs: () => gzipSync('logs'),
      ...handlers,
    },
  })
  onTestFinished(() => agent.stop())
  const connected = once(agent, 'connected')
  await agent.start()
  return { agent, connected, memory }
}

test('says what it has before it subscribes', async () => {
  const service = await newService()
  const { connected } = await newAgent([service.url])
  await connected
  expect(service.heard.map(({ kind }) => kind)).toEqual(['config', 'status'])
})

test('a command that comes twice is executed once, and answered each time', async () => {
  const service = await newService()
  const shown: string[] = []
  let reboots = 0
  const { agent, connected } = await newAgent([service.url], {
    showMessage: (text) => void shown.push(text),
    reboot: () => void reboots++,
  })
  await connected
  const message = command('MESSAGE', { message: 'Hello.' })
  await service.send('operation', message)
  await service.send('operation', message)
  await until('two answers', () => service.reports().length === 2)
  expect(shown).toEqual(['Hello.'])
  expect(service.reports().map(({ state }) => state)).toEqual(['SUCCEEDED', 'SUCCEEDED'])

  const reboot = command('REBOOT')
  await service.send('operation', reboot)
  await service.send('operation', reboot)
  await until('two more', () => service.reports().length === 4)
  await agent.stop()
  const back = once(agent, 'connected')
  await agent.start()
  await back
  await service.send('operation', reboot)
  await until('two after it is back', () => service.reports().length === 6)
  expect(reboots).toBe(1)
  expect(
    service
      .reports()
      .slice(2)
      .map(({ state }) => state),
  ).toEqual(['ACKNOWLEDGED', 'ACKNOWLEDGED', 'SUCCEEDED', 'SUCCEEDED'])
})

test('a reboot succeeds if its handler itself stops and starts the agent', async () => {
  const service = await newService()
  const { agent, connected } = await newAgent([service.url], {
    reboot: async () => {
      await agent.stop()
      await agent.start()
    },
  })
  await connected
  await service.send('operation', command('REBOOT'))
  await until('the outcome', () => service.reports().some(({ state }) => state === 'SUCCEEDED'))
  expect(service.reports().map(({ state }) => state)).toEqual(['ACKNOWLEDGED', 'SUCCEEDED'])
})

test('an agent that can start without its device is told what became of a reboot', async () => {
  const service = await newService()
  const outcomes: (Pick<CommandReport, 'state' | 'error'> | undefined)[] = [
    undefined,
    { state: 'FAILED', error: 'The device did not restart.' },
  ]
  const outcomeOf = ({ type }: { type: string }) => (type === 'REBOOT' ? outcomes.shift() : undefined)
  const { agent, connected, memory } = await newAgent([service.url], {}, undefined, { outcomeOf })
  await connected
  await service.send('operation', command('REBOOT'))
  await until('it is acknowledged', () => service.reports().length === 1)
  for (let start = 0; start < 2; start++) {
    await agent.stop()
    const back = once(agent, 'connected')
    await agent.start()
    await back
  }
  await until('the outcome', () => service.reports().some(({ state }) => state === 'FAILED'))
  expect(service.reports().map(({ state }) => state)).not.toContain('SUCCEEDED')
  await until('nothing is kept of a reboot that has ended', () => memory.kept?.started?.length === 0)
})

const notKnown = { state: 'FAILED', error: 'It is not known whether it was sent.' } as const

test('with commandsOnce, each command is saved before its handler, and none is handled again after a crash', async () => {
  const service = await newService()
  const outcomeOf = () => notKnown
  const savedStates: unknown[] = []
  const hanging: string[] = []
  const first = await newAgent(
    [service.url],
    {
      showMessage: (text) => {
        savedStates.push(first.memory.kept?.outcomes.map(({ state }) => state))
        hanging.push(text)
        return new Promise<void>(() => {})
      },
    },
    undefined,
    { outcomeOf, commandsOnce: true },
  )
  await first.connected
  const message = command('MESSAGE', { message: 'Hello.' })
  await service.send('operation', message)
  await until('its handler runs', () => hanging.length === 1)
  expect(savedStates).toEqual([['ACKNOWLEDGED']])
  await first.agent.stop()

  const shown: string[] = []
  const handlers = { showMessage: (text: string) => void shown.push(text) }
  const second = await newAgent([service.url], handlers, first.memory.kept, { outcomeOf, commandsOnce: true })
  await second.connected
  await until('the outcome', () => service.reports().some(({ state }) => state === 'FAILED'))
  await service.send('operation', message)
  await until('the answer', () => service.reports().filter(({ state }) => state === 'FAILED').length >= 2)
  expect(service.reports().at(-1)).toMatchObject(notKnown)
  await service.send('operation', command('MESSAGE', { message: 'Next.' }))
  await until('the next one', () => service.reports().some(({ state }) => state === 'SUCCEEDED'))
  expect([hanging, shown]).toEqual([['Hello.'], ['Next.']])
})

test('with commandsOnce, logs that could not be uploaded are uploaded later and not collected again', async () => {
  const service = await newService()
  let [collected, uploads] = [0, 0]
  const uploadPort = await portOf(
    createBodyServer((_, __, response) => {
      uploads++
      response.writeHead(uploads === 1 ? 403 : 200).end('{}')
    }),
  )
  const uploadUrl = `http://127.0.0.1:${uploadPort}/`
  const collectLogs = () => {
    collected++
    return gzipSync('Support id S-4711')
  }
  const options = { outcomeOf: () => notKnown, commandsOnce: true }
  const { connected } = await newAgent([service.url], { collectLogs }, undefined, options)
  await connected
  const logs = command('COLLECT_LOGS', { logs: { supportId: 'K7QF-2MXA', inCallLogs: false, uploadUrl } })
  await service.send('operation', logs)
  await until('a new address is wanted', () => service.reports().some(({ state }) => state === 'URL_WANTED'))
  await service.send('operation', logs)
  await until('they are uploaded', () => service.reports().some(({ state }) => state === 'UPLOADED'))
  await service.send('operation', logs)
  await until('the answer', () => service.reports().filter(({ state }) => state === 'UPLOADED').length === 2)
  expect([collected, uploads]).toEqual([1, 2])
})

test('refuses a reboot with onlyIfIdle while the device is in use, and says that it can', async () => {
  const service = await newService()
  let [isUsed, reboots] = [true, 0]
  const { connected } = await newAgent([service.url], { isInUse: () => isUsed, reboot: () => void reboots++ })
  await connected
  expect(service.heard.find(({ kind }) => kind === 'status')?.body).toEqual({ supports: ['onlyIfIdle'] })
  const refused = command('REBOOT', { onlyIfIdle: true })
  await service.send('operation', refused)
  await until('the refusal', () => service.reports().length === 1)
  expect(service.reports()[0]).toMatchObject({ state: 'FAILED', error: 'in use' })
  isUsed = false
  await service.send('operation', refused)
  await until('the refusal again', () => service.reports().length === 2)
  expect(reboots, 'a known operation is answered, not carried out').toBe(0)
  await service.send('operation', command('REBOOT', { onlyIfIdle: true }))
  await until('a reboot', () => reboots === 1)
  expect(service.reports()[2]).toMatchObject({ state: 'ACKNOWLEDGED' })
  isUsed = true
  await service.send('operation', command('REBOOT'))
  await until('a reboot that does not depend on use', () => reboots === 2)
})

describe('an agent that does not run on its device', () => {
  test('asks what became of a reboot, and reports it when it is known', async () => {
    const service = await newService()
    const asked: boolean[] = []
    const memory = { outcome: undefined as ReturnType<NonNullable<AgentOptions['outcomeOf']>> }
    const options = { outcomeOf: () => memory.outcome }
    const reboot = ({ onlyIfIdle }: { onlyIfIdle: boolean }) => void asked.push(onlyIfIdle)
    const first = await newAgent([service.url], { reboot, isInUse: () => false }, undefined, options)
    await first.connected
    const atMs = Date.now()
    await service.send('operation', command('REBOOT', { onlyIfIdle: true }))
    await until('it acknowledges', () => service.reports().length === 1)
    await expect.poll(() => first.agent.decideStarted()).toBe(1)
    await first.agent.stop()
    expect(asked).toEqual([true])
    const [started] = first.memory.kept?.started ?? []
    expect(started).toMatchObject({ type: 'REBOOT' })
    expect(started?.atMs).toBeGreaterThanOrEqual(atMs)

    const second = await newAgent([service.url], { reboot }, first.memory.kept, options)
    await second.connected
    expect(await second.agent.decideStarted()).toBe(1)
    memory.outcome = { state: 'FAILED', error: 'The device has not restarted.' }
    expect(await second.agent.decideStarted()).toBe(0)
    expect(service.reports().map(({ state, error }) => [state, error])).toEqual([
      ['ACKNOWLEDGED', undefined],
      ['FAILED', 'The device has not restarted.'],
    ])
    await expect.poll(() => second.memory.kept?.started).toEqual([])
    expect(asked).toHaveLength(1)
  })

  test('reports an outcome again that was saved, but not confirmed, when its process was killed', async () => {
    const service = await newService()
    const id = randomUUID()
    const started = [{ id, type: 'REBOOT' as const, atMs: 0 }]
    const kept = { version: 0, outcomes: [{ id, state: 'SUCCEEDED' as const }], started }
    const options = { outcomeOf: () => undefined }
    const { connected, memory } = await newAgent([service.url], {}, kept, options)
    await connected
    await expect.poll(() => service.reports()).toEqual([{ id, state: 'SUCCEEDED' }])
    await expect.poll(() => memory.kept?.started).toEqual([])
  })
})

test('remembers the last hundred operations', async () => {
  const service = await newService()
  const { connected, memory } = await newAgent([service.url])
  await connected
  for (let n = 0; n < 103; n++) await service.send('operation', command('MESSAGE', { message: `${n}` }))
  await until('all answers', () => service.reports().length === 103)
  expect(memory.kept?.outcomes.map(({ id }) => id)).toEqual(
    service
      .reports()
      .slice(3)
      .map(({ id }) => id),
  )
})

test('does nothing after the deadline, nothing with what it cannot read, and goes on', async () => {
  const service = await newService()
  const shown: string[] = []
  const { agent, connected } = await newAgent([service.url], { showMessage: (text) => void shown.push(text) })
  await connected
  const warning = once(agent, 'warning')
  await service.send('operation', '{"id":')
  expect((await warning)[0]).toBeInstanceOf(SyntaxError)
  const past = new Date(Date.now() - 1).toISOString()
  await service.send('operation', command('MESSAGE', { message: 'Too late.', deadline: past }))
  await service.send('operation', command('UPGRADE' as DeviceCommandMessage['type']))
  await service.send('operation', command('MESSAGE', { message: 'In time.' }))
  await until('two answers', () => service.reports().length === 2)
  expect(shown).toEqual(['In time.'])
  expect(service.reports()).toMatchObject([
    { state: 'FAILED', error: 'This device does not support the operation UPGRADE.' },
    { state: 'SUCCEEDED' },
  ])
})

test('asks for another address when an upload is refused, and uploads to that', async () => {
  const service = await newService()
  const puts: { url: string | undefined; authorization: string | undefined; bytes: Buffer }[] = []
  const port = await portOf(
    createHttp(async (request, response) => {
      const bytes = Buffer.concat(await request.toArray())
      puts.push({ url: request.url, authorization: request.headers.authorization, bytes })
      response.writeHead(request.url === '/old' ? 403 : 200).end('{}')
    }),
  )
  const { connected } = await newAgent([service.url])
  await connected
  const id = randomUUID()
  const wanted = (path: string) =>
    command('COLLECT_LOGS', {
      id,
      logs: { supportId: 'K7QF-2MXA', inCallLogs: false, uploadUrl: `http://127.0.0.1:${port}${path}` },
    })
  await service.send('operation', wanted('/old'))
  await until('the wish', () => service.reports().length === 1)
  await service.send('operation', wanted('/new'))
  await until('the end', () => service.reports().length === 2)
  expect(service.reports()).toEqual([
    { id, state: 'URL_WANTED' },
    { id, state: 'UPLOADED' },
  ])
  const authorization = `Basic ${Buffer.from(`${endpointId}:credential`).toString('base64')}`
  expect(puts).toEqual(['/old', '/new'].map((url) => ({ url, authorization, bytes: gzipSync('logs') })))
})

test('tries later when it is told so, tries the next address when one is silent, and forgets nothing', async () => {
  let refusals = 0
  const service = await newService(() => (refusals++ === 0 ? 3 : undefined))
  const closed = createServer()
  const silent = `mqtt://127.0.0.1:${await portOf(closed)}`
  closed.close()
  const { agent, connected } = await newAgent([silent, service.url])
  const reasons: (number | string | undefined)[] = []
  agent.on('disconnected', (reason) => void reasons.push((reason as NodeJS.ErrnoException | undefined)?.code))
  agent.on('unenrolled', () => void reasons.push('unenrolled'))
  await connected
  expect(reasons).toEqual(['ECONNREFUSED', 3, 'ECONNREFUSED'])
})

test('a device that has had TLS never falls back to plain MQTT, also after a reboot', async () => {
  const site = { dataDir: mkdtempSync(join(tmpdir(), 'roomkeeper-tls-')) }
  onTestFinished(() => rmSync(site.dataDir, { recursive: true }))
  const { cert, key } = certificate(site)
  const service = await newService()
  const { port: plainPort } = new URL(service.url)
  const tls = createTlsServer({ cert: readFileSync(cert), key: readFileSync(key) }, (socket) =>
    socket
      .pipe(connectPlain(Number(plainPort), '127.0.0.1').on('error', () => {}))
      .pipe(socket)
      .on('error', () => {}),
  )
  let plainConnections = 0
  const plain = createServer((socket) => {
    plainConnections++
    socket.destroy()
  })
  const addresses = [`mqtts://127.0.0.1:${await portOf(tls)}`, `mqtt://127.0.0.1:${await portOf(plain)}`]
  const authorities = getCACertificates('default')
  setDefaultCACertificates([...authorities, readFileSync(cert, 'utf8')])
  onTestFinished(() => setDefaultCACertificates(authorities))
  const { agent, connected, memory } = await newAgent(addresses)
  await connected
  expect(memory.kept?.hasHadTls).toBe(true)
  await agent.stop()
  setDefaultCACertificates(authorities)

  // The certificate is not trusted any more, as if an attacker stood between the device and the service.
  const failures: unknown[] = []
  const reborn = await newAgent(addresses, {}, memory.kept)
  reborn.agent.on('disconnected', (reason) => failures.push(reason))
  reborn.connected.catch(() => {})
  await until('two more attempts', () => failures.length >= 2)
  expect(plainConnections).toBe(0)
})

test('plain addresses are used as long as there was no TLS, or the service has no encrypted address', () => {
  const [mqtts, wss, plain, ws] = ['mqtts://a:1', 'wss://a/x', 'mqtt://a:2', 'ws://a/x'] as const
  expect(usableAddresses([mqtts, wss, plain, ws], false)).toEqual([mqtts, wss, plain, ws])
  expect(usableAddresses([mqtts, wss, plain, ws], true)).toEqual([mqtts, wss])
  expect(usableAddresses([plain, ws], true)).toEqual([plain, ws])
})

test('a message is to be shown for a minute, and is reported when it has appeared', async () => {
  const service = await newService()
  const shown: [string, number][] = []
  const { connected } = await newAgent([service.url], { showMessage: (...message) => void shown.push(message) })
  await connected
  await service.send('operation', command('MESSAGE', { message: 'Lunch.' }))
  await until('the report', () => service.reports().length === 1)
  expect(service.reports()).toMatchObject([{ state: 'SUCCEEDED' }])
  expect(shown).toEqual([['Lunch.', 60_000]])
})

test('outcomes that were not confirmed when the connection was cut are sent again on the next connection', async () => {
  const service = await newService()
  const { agent, connected } = await newAgent([service.url], { showMessage: () => agent.drop() })
  await connected
  const back = once(agent, 'connected')
  await service.send('operation', command('MESSAGE', { message: 'Cut.' }))
  await back
  await until('the outcome', () => service.reports().some(({ state }) => state === 'SUCCEEDED'))
})

describe('samples', () => {
  const timestamps = (heard: { kind: string; body: Record<string, unknown> }[]) =>
    heard
      .filter(({ kind }) => kind === 'sample')
      .map(({ body }) => (body.samples as DeviceSample[]).map(({ timestamp }) => timestamp))
  const sampleAt = (timestamp: number) => [{ timestamp, temp: 21 }]

  test('that were in flight when the connection was cut, or came later, are sent on the next one: in order, in one message', async () => {
    const service = await newService()
    const { agent, connected } = await newAgent([service.url])
    await connected
    const first = agent.sample(sampleAt(1))
    agent.drop()
    const others = [2, 3, 4].map((timestamp) => agent.sample(sampleAt(timestamp)))
    await Promise.all([first, ...others])
    expect(timestamps(service.heard).at(-1)).toEqual([1, 2, 3, 4])
    expect(agent.queuedSamples).toBe(0)
  })

  test('that wait are sent with up to 500 in a message, and the next message after the PUBACK of the one before', async () => {
    const service = await newService()
    const { agent, connected } = await newAgent([service.url])
    service.holdAnswers('sample')
    const calls = Array.from({ length: 1_100 }, (_, i) => agent.sample(sampleAt(i)))
    await connected
    agent.reportStatus({ name: 'later' })
    await until('what was sent after it', () => service.heard.some(({ body }) => body.name === 'later'))
    expect(timestamps(service.heard).map(({ length }) => length)).toEqual([500])
    service.answerAll()
    await Promise.all(calls)
    expect(timestamps(service.heard).map(({ length }) => length)).toEqual([500, 500, 100])
    expect(timestamps(service.heard).flat()).toEqual(Array.from({ length: 1_100 }, (_, i) => i))
  })

  test('are bounded: the oldest are dropped and counted, and their promises need no handler', async () => {
    const service = await newService()
    const { agent, connected } = await newAgent([service.url], {}, undefined, { maxQueuedSamples: 3 })
    const dropped: number[] = []
    agent.on('samplesDropped', (count) => void dropped.push(count))
    const calls = [1, 2, 3, 4, 5].map((timestamp) => agent.sample(sampleAt(timestamp)))
    await expect(calls[0]).rejects.toThrow('The samples were dropped')
    await connected
    await Promise.all(calls.slice(2))
    expect(timestamps(service.heard)).toEqual([[3, 4, 5]])
    expect([agent.droppedSamples, dropped]).toEqual([2, [1, 1]])
  })

  test('that no message can hold are refused at once, because they would end every connection', async () => {
    const service = await newService()
    const { agent, connected } = await newAgent([service.url])
    await connected
    const many = Array.from({ length: 501 }, (_, timestamp) => ({ timestamp }))
    await expect(agent.sample(many)).rejects.toThrow('at most 500 samples')
    const large = [{ timestamp: 1, note: 'x'.repeat(maxPacketBytes) }]
    await expect(agent.sample(large)).rejects.toThrow('at most 500 samples')
    await agent.sample(sampleAt(2))
    expect(timestamps(service.heard)).toEqual([[2]])
  })

  test('are sent on a new connection if an acknowledgement is missing for one and a half keep-alives', async () => {
    const service = await newService()
    const { agent, connected } = await newAgent([service.url])
    await connected
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    service.holdAnswers('sample')
    const stored = agent.sample(sampleAt(1))
    await until('it has arrived', () => timestamps(service.heard).length === 1)
    service.holdAnswers('nothing')
    vi.advanceTimersByTime(45_000)
    vi.useRealTimers()
    await stored
    expect(timestamps(service.heard)).toEqual([[1], [1]])
  })

  test('that the service has not stored are given back when the agent stops', async () => {
    const { agent } = await newAgent(['mqtt://127.0.0.1:9'])
    const waiting = agent.sample(sampleAt(1))
    await agent.stop()
    await expect(waiting).rejects.toThrow('The agent is stopped.')
    expect(agent.queuedSamples).toBe(0)
  })
})
