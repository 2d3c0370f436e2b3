// The agent that makers embed, against the real service: it reports, obeys once, and comes back.

import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { backOffMs } from '../../src/client/back-off.ts'
import type { EnrolAnswer } from '../../src/contract/device/protocol.ts'
import { dayMs } from '../../src/contract/durations.ts'
import { Agent } from '../../src/device/agent.ts'
import { EnrolmentRefusedError, requestEnrolment } from '../../src/device/enrol.ts'
import type { AgentHandlers, AgentSettings, AgentState } from '../../src/device/handlers.ts'
import { deviceBackOff, retryWaitMs } from '../../src/device/reconnect.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { until } from '../support/program.ts'

let harness: Harness
let org: TestOrg
let code: string
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
  code = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.dec
})
afterAll(() => harness.close())

let serials = 0
const newSerial = () => `A${++serials}`

/** A device as a maker would build it: it has settings, a screen, and a memory that survives. */
class Device implements AgentHandlers {
  readonly identity: EnrolAnswer
  readonly agent: Agent
  readonly shown: string[] = []
  readonly switched: boolean[] = []
  set: AgentSettings = {}
  reboots = 0
  kept: string | undefined
  refuses: Record<string, string> | undefined
  constructor(identity: EnrolAnswer) {
    this.identity = identity
    const storage = {
      load: () => (this.kept === undefined ? undefined : (JSON.parse(this.kept) as AgentState)),
      save: (kept: AgentState) => {
        this.kept = JSON.stringify(kept)
      },
    }
    const status = { firmwareVersion: 'NFB1.1', inCallStatus: 'NONE', otaChannel: 'beta' }
    this.agent = new Agent({ identity, status, storage, handlers: this })
    onTestFinished(() => this.agent.stop())
  }
  get at() {
    return `/endpoints/${this.identity.endpointId}`
  }
  settings = () => ({ ...this.set, primaryMode: 'zoom' })
  applyConfig(config: AgentSettings) {
    const refused = this.refuses
    this.set = Object.fromEntries(Object.entries(config).filter(([key]) => !refused || !(key in refused)))
    return refused
  }
  reboot() {
    this.reboots++
    void this.agent.stop()
  }
  showMessage(text: string) {
    this.shown.push(text)
  }
  power(on: boolean) {
    this.switched.push(on)
    this.agent.reportStatus({ power: on ? 'ON' : 'STANDBY' })
  }
  collectLogs = ({ inCallLogs }: { inCallLogs: boolean }) => gzipSync(inCallLogs ? 'calls' : 'no calls')
}

async function newDevice(): Promise<Device> {
  return new Device(await requestEnrolment(harness.url, { code, serial: newSerial(), model: 'NF19B1' }))
}

async function started(device: Device): Promise<Device> {
  const connected = once(device.agent, 'connected')
  await device.agent.start()
  await connected
  return device
}

const read = async (path: string) => (await org.call('GET', path)).body
const write = async (method: string, path: string, body?: unknown) => {
  const reply = await org.call(method, path, { body })
  expect(reply.status, reply.text).toBe(200)
  return reply.body
}
const inState = (id: string, state: string) =>
  until(`${id} is ${state}`, async () => (await read(`/operations/${id}`)).state === state)

describe('enrol', () => {
  test('returns who the device is and where it connects', async () => {
    const serial = newSerial()
    const { endpointId, credential, connect } = await requestEnrolment(`${harness.url}/`, {
      code,
      serial,
      model: 'NF19B1',
    })
    expect(credential).toMatch(/^\S{20,}$/)
    expect(connect).toContain(`mqtt://${new URL(harness.services.publicUrl()).hostname}:${harness.mqttPort}`)
    expect(await read(`/endpoints/${endpointId}`)).toMatchObject({ serial, model: 'NF19B1', connected: false })
  })

  test('says why not, and when to try again', async () => {
    const wrong = requestEnrolment(harness.url, { code: 'AAAA-AAAA-AAAA', serial: newSerial(), model: 'NF19B1' })
    await expect(wrong).rejects.toThrow(/enrolment code/)
    await expect(wrong).rejects.toBeInstanceOf(EnrolmentRefusedError)
    const device = await started(await newDevice())
    const { serial } = await read(device.at)
    const again = requestEnrolment(harness.url, { code, serial, model: 'NF19B1' })
    const { cause } = await again.then(
      () => expect.unreachable(),
      (error) => error,
    )
    expect([cause.status, cause.headers.get('retry-after')]).toEqual([409, '60'])
  })
})

describe('reports', () => {
  test('status and settings with every connection, changes at once, and what changed while it was away', async () => {
    const device = await started(await newDevice())
    await until('its status', async () => (await read(device.at)).firmwareVersion === 'NFB1.1')
    await until('its settings', async () => (await read(`${device.at}/config/state`)).reported.primaryMode === 'zoom')
    device.agent.reportStatus({ inCallStatus: 'ZOOM' })
    await until('the call', async () => (await read(device.at)).inCallStatus === 'ZOOM')

    const back = once(device.agent, 'connected')
    device.agent.drop()
    device.agent.reportStatus({ inCallStatus: 'NONE', otaChannel: null })
    device.set = { nightMode: true }
    await back
    await until('the end of the call', async () => (await read(device.at)).inCallStatus === 'NONE')
    expect(await read(device.at)).not.toHaveProperty('otaChannel')
    await until('the setting', async () => (await read(`${device.at}/config/state`)).reported.nightMode)
  })

  test('a sample is safe when it resolves; one that was not taken is named', async () => {
    const device = await started(await newDevice())
    const timestamp = Math.floor(Date.now() / 1000)
    const refused = once(device.agent, 'samplesRefused')
    await device.agent.sample([
      { timestamp, temp: 21.5 },
      { timestamp: timestamp + 1, temp: 400 },
    ])
    expect((await refused)[0]).toMatchObject({ refused: [{ timestamp: timestamp + 1 }] })
    await device.agent.stop()
    await expect(device.agent.sample([{ timestamp, temp: 21 }])).rejects.toThrow('The agent is stopped.')
  })

  test('samples that were refused in one message are sent again one by one, so only the bad one is lost', async () => {
    const device = await started(await newDevice())
    const refusals: unknown[] = []
    device.agent.on('messageRefused', ({ field }) => void refusals.push(field))
    const now = Math.floor(Date.now() / 1000)
    device.agent.drop()
    const calls = [20, 'warm', 22].map((temp, i) =>
      device.agent.sample([{ timestamp: now - 3 + i, temp: temp as number }]),
    )
    expect(device.agent.queuedSamples).toBe(3)
    await Promise.all(calls)
    expect(refusals).toEqual(['/samples/1/temp', '/samples/0/temp'])
    expect(device.agent.queuedSamples).toBe(0)
    const from = new Date((now - 60) * 1000).toISOString()
    const history = await read(`${device.at}/sensor/history?from=${from}&interval=raw&fields=temp`)
    expect(history.samples.map(({ temp }: { temp: number }) => temp)).toEqual([20, 22])
  })
})

describe('config', () => {
  test('is applied and reported, passwords arrive and stay on the device', async () => {
    const device = await started(await newDevice())
    await write('POST', `${device.at}/config`, { nightMode: true, settingsPassword: 'secret' })
    await until('delivered', async () => (await read(`${device.at}/config/state`)).state === 'DELIVERED')
    expect(device.set).toEqual({ nightMode: true, settingsPassword: 'secret' })
  })

  test('a setting that the device cannot use is named with its reason; an error that it throws is the reason for all', async () => {
    const device = await newDevice()
    device.refuses = { bluetooth: 'There is no radio in here.' }
    await started(device)
    await write('POST', `${device.at}/config`, { nightMode: true, bluetooth: true })
    await until('failed', async () => (await read(`${device.at}/config/state`)).state === 'FAILED')
    expect(await read(`${device.at}/config/state`)).toMatchObject({
      reported: { nightMode: true },
      rejected: { bluetooth: 'There is no radio in here.' },
    })
    device.applyConfig = () => {
      throw new Error('The storage is full.')
    }
    await write('POST', `${device.at}/config`, { highContrast: true })
    await until('reason', async () =>
      Object.entries((await read(`${device.at}/config/state`)).rejected).some(
        ([key, reason]) => key === 'highContrast' && reason === 'The storage is full.',
      ),
    )
  })

  test('a version that was made while it was away comes with the next connection', async () => {
    const device = await newDevice()
    await write('POST', `${device.at}/config`, { time24h: true })
    await started(device)
    await until('delivered', async () => (await read(`${device.at}/config/state`)).state === 'DELIVERED')
    expect(device.set).toEqual({ time24h: true })
    expect(JSON.parse(device.kept ?? '{}')).toMatchObject({ version: 1, outcomes: [] })
  })
})

describe('operations', () => {
  test('a reboot is acknowledged, and succeeds when the device is back, also as a new process', async () => {
    const device = await started(await newDevice())
    const { operations } = await write('POST', `${device.at}/reboot`)
    const { id } = operations[0]
    await until('the reboot', () => device.reboots === 1)
    await until('offline', async () => !(await read(device.at)).connected)
    expect((await read(`/operations/${id}`)).state).toBe('ACKNOWLEDGED')

    const reborn = new Device(device.identity)
    reborn.kept = device.kept
    await started(reborn)
    await inState(id, 'SUCCEEDED')
    expect(reborn.reboots).toBe(0)
  })

  test('a message is shown, and one that cannot be shown fails with the reason', async () => {
    const device = await started(await newDevice())
    const send = async (message: string) =>
      (await write('POST', '/endpoints/send_message', { message, endpointIds: [device.identity.endpointId] }))
        .operations[0].id
    await inState(await send('Lunch is ready.'), 'SUCCEEDED')
    expect(device.shown).toEqual(['Lunch is ready.'])
    device.showMessage = () => {
      throw new Error('The screen is dark.')
    }
    const failed = await send('Again.')
    await inState(failed, 'FAILED')
    expect((await read(`/operations/${failed}`)).error).toBe('The screen is dark.')
  })

  test('logs are uploaded, in-call logs only when they were asked for', async () => {
    const device = await started(await newDevice())
    for (const [query, text] of [
      ['', 'no calls'],
      ['?uploadInCallLogs=true', 'calls'],
    ]) {
      const { supportId } = await write('POST', `/endpoints/generate_bug_report${query}`, [device.identity.endpointId])
      const item = await until('the bundle', async () => {
        const [endpoint] = (await read(`/bug_reports/${supportId}`)).endpoints
        return endpoint.state === 'UPLOADED' && endpoint
      })
      const file = await fetch(`${harness.url}/v1/orgs/${org.id}/bug_reports/${supportId}/files/${item.file}`, {
        headers: { authorization: `Bearer ${org.key}` },
      })
      expect(gunzipSync(Buffer.from(await file.arrayBuffer())).toString()).toBe(text)
    }
  })
})

test('switches on request, and answers a command that comes again without switching twice [contract 8.power]', async () => {
  const device = await newDevice()
  device.agent.reportStatus({ actions: ['power'], power: 'ON' })
  await started(device)
  const isReported = async () => (await read(device.at)).power === 'ON'
  await until('its status', isReported)
  const [{ id }] = (await write('POST', `${device.at}/power`, { on: false })).operations
  await inState(id, 'SUCCEEDED')
  expect(device.switched).toEqual([false])
  expect(await read(device.at)).toMatchObject({ power: 'STANDBY' })
  expect(JSON.parse(device.kept ?? '').outcomes).toEqual([{ id, state: 'SUCCEEDED' }])
})

test('an unenrolled device hears of it and does not come back, also if it was offline', async () => {
  const device = await started(await newDevice())
  const unenrolled = once(device.agent, 'unenrolled')
  await write('DELETE', device.at)
  await unenrolled
  expect(device.agent.isConnected).toBe(false)

  const late = new Device(device.identity)
  let disconnections = 0
  late.agent.on('disconnected', () => disconnections++)
  const told = once(late.agent, 'unenrolled')
  await late.agent.start()
  await told
  await pause(1_200)
  expect(disconnections, 'it does not try again').toBe(0)
})

test('a refused credential is shown and tried again, and works when the service knows it again', async () => {
  const device = await newDevice()
  const stranger = new Device({ ...device.identity, credential: `${device.identity.credential.slice(0, -1)}_` })
  let unenrolled = 0
  stranger.agent.on('unenrolled', () => unenrolled++)
  const refusals: Date[] = []
  stranger.agent.on('credentialRefused', (since) => refusals.push(since))
  await stranger.agent.start()
  await until('two attempts', () => refusals.length >= 2)
  expect(unenrolled).toBe(0)
  expect(refusals[1], 'the time of the first refusal').toEqual(refusals[0])
  expect(JSON.parse(stranger.kept ?? '{}').refusedSince).toBe(refusals[0]?.getTime())
  await stranger.agent.stop()

  // The service finds its database again: the credential that was refused is known.
  const known = new Device(device.identity)
  known.kept = stranger.kept
  await started(known)
  expect(JSON.parse(known.kept ?? '{}')).not.toHaveProperty('refusedSince')
})

test('a refused credential is tried with back-off for 7 days, then once an hour', () => {
  const waitMs = (failures: number, refusedForMs: number | undefined, random: number) =>
    retryWaitMs(failures, refusedForMs, { longestWaitMs: 5_000 }, random)
  expect([0, 3, 7 * dayMs - 1].map((refusedFor) => waitMs(50, refusedFor, 1))).toEqual([60_000, 60_000, 60_000])
  for (const failures of [0, 50]) {
    expect(waitMs(failures, 7 * dayMs, 0)).toBe(2_400_000)
    expect(waitMs(failures, 7 * dayMs, 0.5)).toBe(3_600_000)
    expect(waitMs(failures, 700 * dayMs, 1)).toBe(4_800_000)
  }
  expect(waitMs(50, undefined, 1), 'one that is known').toBe(5_000)
  expect(retryWaitMs(50, undefined, undefined, 1)).toBe(60_000)
})

test('the pause doubles up to a minute, and the jitter comes after that', () => {
  expect([0, 1, 2, 5].map((failures) => backOffMs(failures, deviceBackOff, 1))).toEqual([1_000, 2_000, 4_000, 32_000])
  for (const failures of [6, 7, 50, 5_000]) {
    expect(backOffMs(failures, deviceBackOff, 1)).toBe(60_000)
    expect(backOffMs(failures, deviceBackOff, 0)).toBe(30_000)
  }
})

test('with MQTT 5 an agent is told that another connection has replaced its own, and that a message was bad', async () => {
  const identity = await requestEnrolment(harness.url, { code, serial: newSerial(), model: 'NF19B1' })
  const agents = [1, 2].map(() => {
    const handlers = new Device(identity)
    const storage = { load: () => undefined, save: () => {} }
    const agent = new Agent({ identity, status: {}, storage, handlers, mqttVersion: 5 })
    onTestFinished(() => agent.stop())
    return agent
  }) as [Agent, Agent]
  const [first, second] = agents
  const subscribed = once(first, 'connected')
  await first.start()
  await subscribed
  const refused = once(first, 'messageRefused')
  first.reportStatus({ inCallStatus: 'PHONE' })
  expect((await refused)[0]).toMatchObject({ kind: 'status', field: '/inCallStatus' })
  // A bad sample is acknowledged with a refusal, and not sent forever.
  await first.sample([{ timestamp: 1.5 } as never])
  expect(first.queuedSamples).toBe(0)
  const replaced = Promise.all([once(first, 'replaced'), once(first, 'disconnected')])
  await second.start()
  await replaced
})
