// A gateway with a source against the real server: its devices are found, adopted, connected, away and back.
import { EventEmitter } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { minuteMs } from '../../src/contract/durations.ts'
import type { SourceDriver, SourceEvents, SourceSession } from '../../src/gateway/sources/source.ts'
import { deviceIdsIn, folderContent, GatewayWorld, recordIn } from '../support/gateway/gateway-world.ts'
import { LineSource } from '../support/gateway/line-source.ts'
import { lineSourceDriver } from '../support/gateway/line-source-driver.ts'
import { SourceCalls } from '../support/gateway/source-calls.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { until } from '../support/program.ts'

const sources = { 'neat-pulse': async () => lineSourceDriver }

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const notKnown = 'It is not known whether it was sent.'

const readSourceRecord = (folder: string, id: string) => {
  const file = join(folder, 'sources', `${id}.json`)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

/** After its start, and after the return of a source, the server waits before it calls a device OFFLINE. */
const settleMs = 10 * minuteMs

let serials = 0
const newDevice = (key: string) => ({ key, model: 'Line 1', serial: `SOURCE-${++serials}` })

const callsOf = (world: GatewayWorld) => new SourceCalls(org.call, world.id, world.roomId)

test('devices are found, adopted and online; they are unknown while their source is away, and come back with it', async () => {
  const world = await GatewayWorld.start(harness, org, { sources })
  const calls = callsOf(world)
  const source = await LineSource.start(newDevice('a'), newDevice('b'), newDevice('c'))
  const id = await calls.connect(source)
  await calls.isInState(id, 'CONNECTED')
  const [a = '', b = ''] = await calls.adopt(id, ['a', 'b'])
  expect(await calls.source(id)).toMatchObject({ devices: { FOUND: 1, ADOPTED: 2 }, content: { devices: 3 } })
  expect(await world.endpoint(a)).toMatchObject({
    manufacturer: 'Lines',
    model: 'Line 1',
    serial: `Lines ${source.devices.get('a')?.serial}`,
    roomId: world.roomId,
    via: world.id,
    sourceType: 'neat-pulse',
    actions: ['reboot', 'message', 'logs'],
  })
  expect(source.opened).toEqual(
    new Map([
      ['a', 1],
      ['b', 1],
    ]),
  )
  const { since } = await world.endpoint(b)
  source.fail({ state: 'FAILING', message: 'It answers with a page.', retryAfterMs: 3_000 })
  await calls.isInState(id, 'FAILING')
  expect((await calls.source(id)).reason).toBe('It answers with a page.')
  await until('its devices are unknown', async () => {
    const states = [await world.endpoint(a), await world.endpoint(b)].map(({ state, connected }) => [state, connected])
    // They are OFFLINE at no moment: the server knows that the source is away before their agents leave.
    expect(states.map(([state]) => state)).not.toContain('OFFLINE')
    return states.every(([state, connected]) => state === 'UNKNOWN' && connected === false)
  })
  await until('so are the items', async () => (await calls.device(id, 'a')).deviceState === 'UNREACHABLE')
  expect((await calls.device(id, 'a')).reason).toBe('Its source is away: It answers with a page.')
  await calls.isInState(id, 'CONNECTED')
  await until('they are back', async () => (await world.endpoint(a)).connected && (await world.endpoint(b)).connected)
  expect(await world.endpoint(b)).toMatchObject({ state: 'ONLINE', since })
  expect(source.logins).toBe(2)
  // The devices remember across sessions.
  const { deviceId } = await calls.device(id, 'a')
  expect(recordIn(world.folder, deviceId).memory).toEqual({ opened: 2 })
})

test('a device that the source no longer lists is offline with that reason, until it is listed again', async () => {
  const world = await GatewayWorld.start(harness, org, { sources })
  const calls = callsOf(world)
  const [a, b] = [newDevice('a'), newDevice('b')]
  const source = await LineSource.start(a, b, newDevice('c'))
  const id = await calls.connect(source)
  const [endpoint = '', other = ''] = await calls.adopt(id, ['a', 'b'])
  harness.clock.advance(settleMs)
  source.devices.delete('a')
  source.list()
  await until('it is missing', async () => (await calls.device(id, 'a')).isMissing)
  await until('it is offline', async () => (await world.endpoint(endpoint)).state === 'OFFLINE')
  await until('the reason', async () => (await calls.device(id, 'a')).deviceState === 'UNREACHABLE')
  expect((await calls.device(id, 'a')).reason).toBe('The source no longer lists this device.')
  expect(await world.endpoint(endpoint)).toMatchObject({ missingAtSource: true })
  expect(await world.endpoint(other)).not.toHaveProperty('missingAtSource')
  expect(await calls.source(id)).toMatchObject({ state: 'CONNECTED', devices: { ADOPTED: 2, missing: 1 } })
  // The gateway does not ask for a device that is missing.
  const before = source.opened.get('a')
  source.devices.set('a', a)
  source.list()
  await until('it is back', async () => (await world.endpoint(endpoint)).state === 'ONLINE')
  await until('the server knows', async () => {
    const { isMissing, deviceState } = await calls.device(id, 'a')
    return !isMissing && deviceState === 'CONNECTED'
  })
  expect(await world.endpoint(endpoint)).not.toHaveProperty('missingAtSource')
  expect(source.opened.get('a')).toBe((before ?? 0) + 1)
  expect((await world.endpoint(other)).state).toBe('ONLINE')

  // A device can vanish while the gateway is off, even one that was not adopted.
  await world.running.stop()
  source.devices.delete('c')
  await world.restart({ sources })
  await until('it is missing', async () => (await calls.device(id, 'c')).isMissing)
  expect((await calls.source(id)).devices).toMatchObject({ FOUND: 1, ADOPTED: 2, missing: 1 })
  await until('the others are online', async () => (await world.endpoint(endpoint)).connected)

  // An endpoint that is deleted here stays away until a person includes it.
  await org.call('DELETE', `/endpoints/${endpoint}`)
  await until('it is excluded', async () => (await calls.device(id, 'a')).state === 'EXCLUDED')
  source.list()
  expect((await org.call('DELETE', `/sources/${id}?unenrol=true`)).status).toBe(200)
  await until('the session ends', () => source.sessions === 0)
  expect((await world.org.call('GET', `/endpoints/${other}`)).status).toBe(404)
  await until('its files are gone', () => deviceIdsIn(world.folder).length === 0)
})

const sampleTimes = async (endpoint: string, from: number): Promise<number[]> => {
  const path = `/endpoints/${endpoint}/sensor/history?interval=raw&from=${new Date(from * 1000).toISOString()}`
  const { samples } = (await org.call('GET', path)).body
  return samples.map(({ timestamp }: { timestamp: string }) => Number(timestamp))
}

test('the presence of a device is that of its source, and samples keep their times', async () => {
  const world = await GatewayWorld.start(harness, org, { sources })
  const calls = callsOf(world)
  const source = await LineSource.start(newDevice('a'))
  const id = await calls.connect(source)
  const [endpoint = ''] = await calls.adopt(id, ['a'])
  harness.clock.advance(settleMs)
  source.tell('a', 'presence', 'It is offline at the source since 10:00.')
  await until('it is offline', async () => (await world.endpoint(endpoint)).state === 'OFFLINE')
  await until(
    'the reason',
    async () => (await calls.device(id, 'a')).reason === 'It is offline at the source since 10:00.',
  )
  source.tell('a', 'presence', undefined)
  await until('it is online', async () => (await world.endpoint(endpoint)).state === 'ONLINE')
  expect(source.opened.get('a')).toBe(1)
  const now = Math.floor(Date.now() / 1000)
  const [first, second] = [now - 60, now - 59] as const
  for (const timestamp of [first, second]) source.tell('a', 'sample', { timestamp, co2: 612 })
  await until('both are stored', async () => {
    const times = await sampleTimes(endpoint, first - 1)
    return times.length === 2 && times[0] === first && times[1] === second
  })
  // The source says its latest sample again, even after a start of the gateway: it is stored once, and a gap stays a gap.
  source.tell('a', 'sample', { timestamp: second, co2: 999 })
  await world.restart({ sources })
  await until('it is online', async () => (await world.endpoint(endpoint)).state === 'ONLINE' && source.sessions > 0)
  await until('it is open again', () => source.opened.get('a') === 2)
  const third = now - 10
  await until('the next one is stored', async () => {
    for (const timestamp of [second, third]) source.tell('a', 'sample', { timestamp, co2: 700 })
    return (await sampleTimes(endpoint, first - 1)).includes(third)
  })
  expect(await sampleTimes(endpoint, first - 1)).toEqual([first, second, third])
})

const sendMessage = (endpoint: string, message: string) =>
  org.call('POST', '/endpoints/send_message', { body: { message, endpointIds: [endpoint] } })
const newestCommand = async (endpoint: string) =>
  (await org.call('GET', `/endpoints/${endpoint}/operations`)).body.operations[0]
const endOf = (endpoint: string) =>
  until('the command ends', async () => {
    const newest = await newestCommand(endpoint)
    return /SUCCEEDED|FAILED/.test(newest.state) && newest
  })

test('a command goes to the source once, and one whose answer is lost has FAILED: it is not known whether it was sent', async () => {
  const world = await GatewayWorld.start(harness, org, { sources })
  const calls = callsOf(world)
  const source = await LineSource.start(newDevice('a'))
  const id = await calls.connect(source)
  const [endpoint = ''] = await calls.adopt(id, ['a'])
  await sendMessage(endpoint, 'Lunch')
  expect(await endOf(endpoint)).toMatchObject({ type: 'MESSAGE', state: 'SUCCEEDED' })
  const { supportId } = (await org.call('POST', '/endpoints/generate_bug_report', { body: [endpoint] })).body
  await until('the text of the source is there', async () => {
    const { endpoints } = (await org.call('GET', `/bug_reports/${supportId}`)).body
    return endpoints[0].state === 'UPLOADED'
  })
  await org.call('POST', `/endpoints/${endpoint}/reboot`)
  expect(await endOf(endpoint)).toMatchObject({ type: 'REBOOT', state: 'SUCCEEDED' })
  expect(source.commands.map(({ command }) => command)).toEqual(['message Lunch', 'logs', 'reboot'])

  source.answersCommands = false
  for (const action of ['message', 'reboot']) {
    await until('it is online', async () => (await world.endpoint(endpoint)).connected)
    const sent = source.commands.length
    if (action === 'message') await sendMessage(endpoint, 'Supper')
    else await org.call('POST', `/endpoints/${endpoint}/reboot`)
    await until('the source has it', () => source.commands.length === sent + 1)
    source.fail({ state: 'UNREACHABLE', message: 'It is gone.', retryAfterMs: 1_000 })
    expect(await endOf(endpoint)).toMatchObject({ state: 'FAILED', error: notKnown })
    expect(source.commands).toHaveLength(sent + 1)
  }
})

test('a key that is refused is tried once, and again only if a person changes the key or wants it; no secret is written anywhere', async () => {
  const world = await GatewayWorld.start(harness, org, { sources })
  const calls = callsOf(world)
  const source = await LineSource.start(newDevice('a'))
  const planted = 'planted-wrong-key'
  const id = await calls.connect(source, { key: planted })
  await calls.isInState(id, 'REFUSED')
  const { reason } = await calls.source(id)
  expect(reason).toBe('The source refused the key: wrong key •••.')
  await until('it is saved', () => readSourceRecord(world.folder, id)?.refused)
  expect(source.logins).toBe(1)
  await world.restart({ sources })
  await until('it has read the list', () => world.running.lines.some((line) => line.includes('REFUSED')))
  expect(source.logins).toBe(1)
  // Another name, or permission to write, does not try the key again, neither now nor after a start.
  const other = await LineSource.start()
  for (const body of [{ name: 'Other name' }, { write: true }]) {
    expect((await org.call('PUT', `/sources/${id}`, { body })).status).toBe(200)
    // The gateway has read the list by the time that it answers a test.
    const test = { type: 'neat-pulse', gatewayId: world.id, url: other.url, orgId: 'lines', key: other.key }
    expect((await org.call('POST', '/sources/test', { body: test })).body).toHaveProperty('found')
  }
  await world.restart({ sources })
  await until('it has read the list', () => world.running.lines.some((line) => line.includes('REFUSED')))
  expect([source.logins, (await calls.source(id)).state]).toEqual([1, 'REFUSED'])
  await org.call('PUT', `/sources/${id}`, { body: {} })
  await until('it has tried again', () => source.logins === 2)
  await calls.isInState(id, 'REFUSED')
  await org.call('PUT', `/sources/${id}`, { body: { key: source.key } })
  await calls.isInState(id, 'CONNECTED')
  const [endpoint = ''] = await calls.adopt(id, ['a'])
  const test = await org.call('POST', '/sources/test', { body: { sourceId: id } })
  expect(test.body).toEqual({ found: { version: 'Lines 1', content: { devices: 1 } } })
  const refused = await org.call('POST', '/sources/test', { body: { sourceId: id, key: planted } })
  expect(refused.body).toEqual({ state: 'REFUSED', reason: 'The source refused the key: wrong key •••.' })
  source.fail({ state: 'FAILING', message: `It says ${source.key}.`, retryAfterMs: 60_000 })
  await calls.isInState(id, 'FAILING')
  await until('its device says so', async () => (await calls.device(id, 'a')).deviceState === 'UNREACHABLE')
  const answers = await Promise.all(
    [
      '/sources',
      `/sources/${id}/devices`,
      `/gateways/${world.id}/devices`,
      `/endpoints/${endpoint}`,
      '/audit/logs',
    ].map((path) => org.call('GET', path)),
  )
  const written = [
    folderContent(world.folder),
    ...world.running.lines,
    JSON.stringify(harness.logged),
    ...answers.map(({ text }) => text),
  ].join('\n')
  expect(written).toContain('It says •••.')
  for (const secret of [planted, source.key]) expect(written).not.toContain(secret)
  const modes = readdirSync(world.folder, { recursive: true, withFileTypes: true }).map((entry) => {
    const { mode } = statSync(join(entry.parentPath, entry.name))
    return [entry.isFile() ? 0o600 : 0o700, mode & 0o777]
  })
  for (const [wanted, mode] of modes) expect(mode).toBe(wanted)
})

test('a driver that throws, never answers, or says the same without end does not disturb the others', async () => {
  let isFlooding = true
  const bad: SourceDriver = {
    open: async ({ orgId }, { signal }) => {
      if (orgId === 'throws') throw new TypeError('undefined is not a function')
      if (orgId === 'hangs') return new Promise(() => {})
      const session: SourceSession = Object.assign(new EventEmitter<SourceEvents>(), {
        summary: () => ({ content: { devices: Number.NaN } }),
        openDevice: () => {
          throw new TypeError('no such thing')
        },
        close: () => {
          throw new TypeError('cannot close')
        },
      })
      let count = 0
      const flood = () => {
        if (signal.aborted || !isFlooding) return
        for (let i = 0; i < 50; i++) session.emit('found', [{ key: `flood-${i}`, model: `Model ${count++}` }])
        session.emit('found', [{ key: '', model: 'a device that the server refuses' }])
        setImmediate(flood)
      }
      setImmediate(flood)
      return session
    },
  }
  const good = await LineSource.start(newDevice('a'))
  const both: SourceDriver = {
    open: (settings, context) => (settings.orgId === 'lines' ? lineSourceDriver : bad).open(settings, context),
  }
  const world = await GatewayWorld.start(harness, org, { sources: { 'neat-pulse': async () => both } })
  const calls = callsOf(world)
  const [throwing, hanging, flooding] = await Promise.all(
    ['throws', 'hangs', 'floods'].map((orgId) => calls.connect(good, { orgId })),
  )
  const id = await calls.connect(good)
  await calls.adopt(id, ['a'])
  await calls.isInState(throwing ?? '', 'FAILING')
  expect((await calls.source(throwing ?? '')).reason).toBe('The driver failed: undefined is not a function')
  expect((await calls.source(hanging ?? '')).state).toBe('NEW')
  await calls.isInState(flooding ?? '', 'CONNECTED')
  await until('its devices are found', async () => (await calls.devices(flooding ?? '')).length === 50)
  const device = { key: 'flood-1', state: 'ADOPTED', roomId: world.roomId }
  await org.call('PUT', `/sources/${flooding}/devices`, { body: { devices: [device] } })
  await until('its error', async () =>
    (await calls.device(flooding ?? '', 'flood-1')).reason?.includes('no such thing'),
  )
  isFlooding = false
  const last = await until('the last one goes up', async () => {
    const models = (await calls.devices(flooding ?? '')).map(({ model }: { model: string }) =>
      Number(model.split(' ')[1]),
    )
    return Math.max(...models) - Math.min(...models) === 49 && Math.max(...models)
  })
  expect(last % 50).toBe(49)
})
