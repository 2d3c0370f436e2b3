// The driver of Neat Pulse against a second Roomkeeper with devices: what it mirrors, what it sends there, and how it fails.
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { reportedFields } from '../../../src/contract/fleet/reported-status.ts'
import { neatPulseWith } from '../../../src/gateway/sources/neat-pulse/neat-pulse.ts'
import { usualPulseTimes } from '../../../src/gateway/sources/neat-pulse/pulse-session.ts'
import { SourceFailure, type SourceSettings } from '../../../src/gateway/sources/source.ts'
import { type LiveDevice, startDevice } from '../../support/devices/agent-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../support/harness.ts'
import { network, status } from '../../support/mcp/mcp-fixture.ts'
import { until } from '../../support/program.ts'
import { openPulse, TestMemory } from '../../support/sources/pulse-source.ts'
import { UpstreamProxy } from '../../support/sources/upstream-proxy.ts'

let upstream: Harness
let org: TestOrg
let proxy: UpstreamProxy
let bar: LiveDevice
let pad: LiveDevice
let frame: LiveDevice
let rooms: { fjord: number; skog: number; oslo: number }
let source: SourceSettings

const call = async (method: string, path: string, body?: object) =>
  (await org.call(method, path, body && { body })).body

beforeAll(async () => {
  upstream = await startHarness()
  org = await upstream.newOrg()
  proxy = await UpstreamProxy.start(upstream.url, { isForFile: true })
  const europe = (await call('POST', '/regions', { name: 'Europe' })).id
  const oslo = (await call('POST', '/locations', { name: 'Oslo HQ', regionId: europe })).id
  const { profile } = await call('POST', '/profiles', { name: 'Quiet', config: { nightMode: true } })
  const fjord = (await call('POST', '/rooms', { name: 'Fjord', locationId: oslo, capacity: 8 })).id
  const skog = (await call('POST', '/rooms', { name: 'Skog' })).id
  rooms = { fjord, skog, oslo }
  const report = { ...status, networks: [network], startedAt: '2026-05-04T08:15:30.000Z', volume: 40 }
  bar = await startDevice(upstream, org, { roomId: fjord, serial: 'NB1', model: 'NF19B1', status: report })
  pad = await startDevice(upstream, org, { roomId: fjord, serial: 'NP1', model: 'NF19A1', pairingSerial: 'NB1' })
  frame = await startDevice(upstream, org, { roomId: skog, serial: 'NR1', model: 'NF21F1' })
  await call('PUT', `/endpoints/${frame.id}/profile`, { profileId: profile.id })
  const key = await org.newKey({ name: 'Mirror' })
  source = { type: 'neat-pulse', url: proxy.url, orgId: org.id, key }
})
afterAll(async () => {
  proxy.close()
  await Promise.all([bar, pad, frame].map((device) => device.stop()))
  await upstream.close()
})
beforeEach(() => {
  proxy.requests.length = 0
  proxy.fault = () => undefined
})

const failureOf = (work: Promise<unknown>): Promise<SourceFailure> =>
  work.then(
    () => {
      throw new Error('It did not fail.')
    },
    (error) => {
      expect(error).toBeInstanceOf(SourceFailure)
      return error
    },
  )

/** The fields that a device can report, as its endpoint at the source has them. */
async function fieldsThere(id: string) {
  const endpoint = await call('GET', `/endpoints/${id}`)
  const names = Object.keys(reportedFields).filter(
    (name) => !['actions', 'supports', 'reach', 'configKeys'].includes(name),
  )
  return Object.fromEntries(names.flatMap((name) => (name in endpoint ? [[name, endpoint[name]]] : [])))
}

test('devices are found with serial, model and room, and the structure is that of the source; nothing is written there', async () => {
  const pulse = await openPulse(source)
  expect(pulse.session.summary().content).toEqual({ regions: 1, locations: 1, rooms: 2, profiles: 1, devices: 3 })
  await until('the structure', () => pulse.structure)
  expect(pulse.found.get(bar.id)).toEqual({
    key: bar.id,
    model: 'NF19B1',
    manufacturer: 'Neat',
    serial: 'NB1',
    theirRoomId: String(rooms.fjord),
  })
  expect([...pulse.listed].sort()).toEqual([bar.id, pad.id, frame.id].sort())
  const { structure } = pulse
  expect(structure?.locations).toEqual([
    { id: String(rooms.oslo), name: 'Oslo HQ', regionId: structure?.regions[0]?.id },
  ])
  expect(structure?.rooms).toContainEqual({
    id: String(rooms.fjord),
    name: 'Fjord',
    locationId: String(rooms.oslo),
    capacity: 8,
  })
  expect(structure?.profiles).toEqual([{ id: expect.any(String), name: 'Quiet', config: { nightMode: true } }])
  const { session } = await pulse.device(bar.id)
  const { apply, reboot, message, logs, power } = session
  expect([apply, reboot, message, logs, power]).toEqual(Array(5).fill(undefined))
  await call('PUT', `/rooms/${rooms.skog}`, { name: 'Skog 2' })
  await until('the new name', () => pulse.structure?.rooms.some(({ name }) => name === 'Skog 2'))
  expect(proxy.writes).toEqual([])
})

test('status, settings, samples and presence of a device are those at the source', async () => {
  const pulse = await openPulse(source)
  const mirrored = await pulse.device(bar.id)
  await call('POST', `/endpoints/${bar.id}/config`, { brightness: 0.5 })
  await until('the details', async () => mirrored.status.freeSystemStorage)
  expect(mirrored.status).toEqual(await fieldsThere(bar.id))
  expect(Object.keys(mirrored.status).length).toBeGreaterThanOrEqual(8)
  await until('the setting', () => mirrored.session.settings?.().brightness === 0.5)
  const timestamp = Math.floor(Date.now() / 1000) - 30
  await bar.sample({ timestamp, co2: 612, temp: 21.4 })
  await until('the sample', () => mirrored.samples.length > 0)
  await call('PUT', `/endpoints/${bar.id}`, { name: 'Bar at the window' })
  await until('the name', () => mirrored.status.name === 'Bar at the window')
  await pause(300)
  expect(mirrored.samples, 'the same sample does not come twice').toEqual([
    { timestamp, co2: 612, temp: 21.4, illumination: undefined, people: undefined },
  ])
  expect(mirrored.session.offlineBecause).toBeUndefined()
})

test('an offline device says so, and one that is deleted there ends and is no longer listed', async () => {
  const extra = await startDevice(upstream, org, { roomId: rooms.skog, serial: 'NX1', model: 'NF19B1' })
  const pulse = await openPulse(source)
  const mirrored = await pulse.device(extra.id)
  let changes = 0
  mirrored.session.on('presence', () => changes++)
  await extra.stop()
  await until('it is offline', () => mirrored.session.offlineBecause)
  expect(mirrored.session.offlineBecause).toMatch(/^The device is offline at 127\.0\.0\.1/)
  expect(changes).toBe(1)
  await call('DELETE', `/endpoints/${extra.id}`)
  await until('its end', () => mirrored.reason)
  expect(mirrored.reason).toMatch(/no longer lists this device/)
  expect(pulse.listed).not.toContain(extra.id)
  await expect(pulse.device(extra.id)).rejects.toThrow('no longer lists this device')
  expect(pulse.failure).toBeUndefined()
})

test('a pair group is restarted once for the commands of all its members, and again for the next ones', async () => {
  const pulse = await openPulse({ ...source, write: true })
  const [leader, follower] = [await pulse.device(bar.id), await pulse.device(pad.id)]
  const rebootAll = () => Promise.all([leader, follower].map(({ session }) => session.reboot?.({ onlyIfIdle: false })))
  for (const count of [1, 2]) {
    const before = [bar.reboots, pad.reboots]
    await rebootAll()
    await until('both have restarted', () => bar.reboots > (before[0] as number) && pad.reboots > (before[1] as number))
    expect([bar.reboots, pad.reboots]).toEqual(before.map((n) => n + 1))
    expect(proxy.writes.map(({ path }) => path)).toEqual(Array(count).fill(`/endpoints/${bar.id}/reboot`))
    await until('both are back', async () => (await call('GET', `/endpoints/${pad.id}`)).connected)
    await until('both are back', async () => (await call('GET', `/endpoints/${bar.id}`)).connected)
  }
})

test('after a restart of the gateway the reboot of the other member still counts, and an open one is not repeated', async () => {
  const memories = [new TestMemory(), new TestMemory()] as const
  const first = await openPulse({ ...source, write: true })
  const leader = await first.device(bar.id, memories[0])
  await first.device(pad.id, memories[1])
  proxy.fault = ({ path }) => (path.endsWith('/reboot') ? 'lost before' : undefined)
  await expect(leader.session.reboot?.({ onlyIfIdle: false })).rejects.toThrow('not known whether it was sent')
  first.session.close()
  const second = await openPulse({ ...source, write: true })
  const follower = await second.device(pad.id, memories[1])
  await expect(follower.session.reboot?.({ onlyIfIdle: false })).rejects.toThrow('not known whether it was sent')
  expect(proxy.writes).toHaveLength(1)
})

test('messages with the same text go out together, and a bug report has the support ID of the source', async () => {
  const pulse = await openPulse({ ...source, write: true })
  const [leader, follower] = [await pulse.device(bar.id), await pulse.device(pad.id)]
  const text = 'Please leave the room as you found it.'
  await Promise.all([leader, follower].map(({ session }) => session.message?.(text, 60_000)))
  await until('both show it', () => bar.messages.includes(text) && pad.messages.includes(text))
  expect(proxy.writes.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
    ['/endpoints/send_message', { message: text, endpointIds: [bar.id, pad.id] }],
  ])
  const where = String(await leader.session.logs?.({ inCallLogs: false }))
  const [, supportId] = /support ID (\S+)\.\n$/.exec(where) ?? []
  expect((await call('GET', `/bug_reports/${supportId}`)).endpoints).toMatchObject([{ endpointId: bar.id }])
})

test.each([['lost before' as const], ['lost after' as const]])(
  'a command whose request was %s fails as not known, and is not sent again',
  async (fault) => {
    const pulse = await openPulse({ ...source, write: true })
    const { session } = await pulse.device(frame.id)
    proxy.fault = ({ method }) => (method === 'POST' ? fault : undefined)
    const text = `Hello ${fault}`
    await expect(session.message?.(text, 60_000)).rejects.toThrow('not known whether it was sent')
    await pause(300)
    expect(proxy.writes).toHaveLength(1)
    expect(frame.messages.includes(text)).toBe(fault === 'lost after')
  },
)

test('a refused command fails in the words of the source', async () => {
  const pulse = await openPulse({ ...source, write: true, key: await org.newKey({ name: 'Reads', scopes: ['read'] }) })
  const { session } = await pulse.device(frame.id)
  await expect(session.message?.('Hello', 60_000)).rejects.toThrow(/scope/)
})

test('only changed settings are sent, a locked one is rejected with the words of the source, and changes there stay', async () => {
  const pulse = await openPulse({ ...source, write: true })
  const mirrored = await pulse.device(frame.id)
  const rejected = await mirrored.session.apply?.({ nightMode: false, brightness: 0.5 })
  expect(rejected).toEqual({
    nightMode:
      'Failed to apply config: attempted to override profile settings: the following fields contain conflicts: [nightMode]',
  })
  await until('the device has it', () => frame.settings.brightness === 0.5)
  await call('POST', `/endpoints/${frame.id}/config`, { brightness: 0.9 })
  await until('it is reported', () => mirrored.session.settings?.().brightness === 0.9)
  expect(await mirrored.session.apply?.({ brightness: 0.5, bluetooth: true })).toBeUndefined()
  expect((await call('GET', `/endpoints/${frame.id}/config`)).brightness).toBe(0.9)
  expect(proxy.writes.map(({ body }) => JSON.parse(body))).toEqual([
    { nightMode: false, brightness: 0.5 },
    { brightness: 0.5 },
    { bluetooth: true },
  ])
})

const page = { status: 200, text: '<html>Sign in</html>', headers: { 'content-type': 'text/html' } }
const changed = (from: string | RegExp, to: string) => ({ change: (text: string) => text.replaceAll(from, to) })
test.each([
  ['an empty list', '/endpoints', { status: 200, text: '{"endpoints":[]}' }, /not complete|empty list/],
  ['a part of a list', '/endpoints', { change: (text: string) => text.slice(0, 200) }, /not complete JSON/],
  ['a list without some devices', '/endpoints', { change: withoutFirst }, /list of devices that is not complete/],
  ['a web page', '/endpoints', page, /web page instead of data/],
  ['a web page for samples', '/endpoints/sensor', page, /web page instead of data/],
  ['a changed type', '/endpoints', changed(/"connected":true/g, '"connected":"yes"'), /whose connected is "yes"/],
  ['a list under another name', '/endpoints', changed('"endpoints":', '"devices":'), /no list of endpoints/],
  ['a room without devices', `/rooms/`, changed('"endpoints":', '"devices":'), /room without a list of its devices/],
  ['429', '/endpoints', { status: 429, headers: { 'retry-after': '1' } }, /limits the requests/],
  ['503', '/endpoints', { status: 503, headers: { 'retry-after': '1' } }, /not available \(503\)/],
  ['500', '/endpoints', { status: 500, text: '{"message":"Oh."}' }, /status 500. It says: Oh\./],
  ['401', '/endpoints', { status: 401 }, /refuses the API key/],
  ['a closed connection', '/endpoints', 'lost before' as const, /closed the connection/],
  [
    'a redirect',
    '/endpoints',
    { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
    /Redirects are not followed/,
  ],
])(
  '%s ends the session with a reason, and the source is read again when it is over',
  async (name, path, fault, reason) => {
    const pulse = await openPulse(source)
    const mirrored = await pulse.device(bar.id)
    proxy.fault = (seen) =>
      seen.path === path || (path.endsWith('/') && seen.path.startsWith(path)) ? fault : undefined
    const failure = await until('the end', () => pulse.failure)
    expect(failure.message).toMatch(reason)
    expect(failure.state).toBe(name === '401' ? 'REFUSED' : name === 'a closed connection' ? 'UNREACHABLE' : 'FAILING')
    expect(failure.message).not.toContain(source.key)
    if (name === '401') expect(failure.retryAfterMs).toBe(120_000)
    expect(pulse.listed, 'no device counts as missing').toHaveLength(3)
    expect(mirrored.reason).toBeUndefined()
    if (name !== 'an empty list') expect((await failureOf(openPulse(source))).message).toMatch(reason)
    expect((await failureOf(openPulse(source, { deviceCount: 3 }))).message).toMatch(reason)
    proxy.fault = () => undefined
    expect((await openPulse(source)).session.summary().content?.devices).toBe(3)
  },
)

function withoutFirst(text: string): string {
  const answer = JSON.parse(text)
  return JSON.stringify({ ...answer, endpoints: answer.endpoints.slice(1) })
}

test('a list and samples without the same devices fail in each new session too, if a device that was known before is there', async () => {
  const knownKeys = ['gone', 'gone too', pad.id, 'long gone', 'gone last']
  const cut = (text: string) => {
    const { endpoints, data } = JSON.parse(text)
    const isLeft = (one: { id?: string; endpointId?: string }) => one.id !== pad.id && one.endpointId !== pad.id
    return JSON.stringify({
      ...(endpoints && { endpoints: endpoints.filter(isLeft) }),
      ...(data && { data: data.filter(isLeft) }),
    })
  }
  proxy.fault = ({ path }) => (path === '/endpoints' || path === '/endpoints/sensor' ? { change: cut } : undefined)
  for (let i = 0; i < 3; i++) {
    const failure = await failureOf(openPulse(source, { knownKeys }))
    expect([failure.state, failure.message]).toEqual([
      'FAILING',
      expect.stringContaining('list of devices that is not complete'),
    ])
  }
  const lookedUp = proxy.requests.filter(({ path }) => /^\/endpoints\/(gone|long)/.test(path)).map(({ path }) => path)
  expect(lookedUp).toEqual(Array(3).fill('/endpoints/gone'))
  proxy.fault = () => undefined
  // Devices that are gone there are missing in a complete list.
  expect((await openPulse(source, { knownKeys })).session.summary().content?.devices).toBe(3)
})

test('an organisation that is not known, this installation, and devices that are mirrored there are refused', async () => {
  const unknown = await failureOf(openPulse({ ...source, orgId: 'nobody' }))
  expect([unknown.state, unknown.message]).toEqual([
    'REFUSED',
    expect.stringContaining('does not know the organisation'),
  ])
  const own = await failureOf(openPulse(source, { own: { endpointId: bar.id, url: 'http://roomkeeper.test' } }))
  expect([own.state, own.message]).toEqual(['UNSUPPORTED', expect.stringContaining('is the installation')])
  const same = await failureOf(openPulse(source, { own: { endpointId: 'own', url: `${proxy.url}/` } }))
  expect(same.state).toBe('UNSUPPORTED')
  proxy.fault = ({ path }) =>
    path === '/endpoints' ? changed('"model":"NF21F1"', '"model":"NF21F1","sourceType":"neat-pulse"') : undefined
  const pulse = await openPulse(source)
  await until('it is found', () => pulse.found.get(frame.id))
  expect(pulse.found.get(frame.id)?.refusedBecause).toMatch(/itself mirrored/)
  await expect(pulse.device(frame.id)).rejects.toThrow(/itself mirrored/)
})

test('devices whose settings cannot be read do not stop the others, and the source is not away', async () => {
  const bad = [pad.id, frame.id]
  proxy.fault = ({ path }) =>
    bad.some((id) => path === `/endpoints/${id}/config`) ? { status: 500, text: '{"message":"Oh."}' } : undefined
  const pulse = await openPulse(source)
  const mirrored = await Promise.all([bar, pad, frame].map(({ id }) => pulse.device(id)))
  await call('POST', `/endpoints/${bar.id}/config`, { brightness: 0.4 })
  await until('the setting of the good one', () => mirrored[0]?.session.settings?.().brightness === 0.4)
  await pause(1_000)
  await call('POST', `/endpoints/${bar.id}/config`, { brightness: 0.6 })
  await until('the next setting', () => mirrored[0]?.session.settings?.().brightness === 0.6)
  expect(pulse.failure).toBeUndefined()
  expect((await openPulse(source)).session.summary().content?.devices).toBe(3)
})

test('without profiles everything else is mirrored, and a test of the source says so', async () => {
  proxy.fault = ({ path }) => (path.startsWith('/profiles') ? { status: 404, text: '404 page not found' } : undefined)
  const pulse = await openPulse(source)
  expect(pulse.session.summary().notes).toContain('The API key does not show the profiles, so the plan has none.')
  expect((await until('the structure', () => pulse.structure)).profiles).toEqual([])
})

test('both addresses of the interface work, with and without its version', async () => {
  for (const path of ['/api', '/api/', '/v1', '/']) {
    const pulse = await openPulse({ ...source, url: proxy.url + path })
    expect(pulse.session.summary().content?.devices).toBe(3)
    const mirrored = await pulse.device(bar.id)
    await until('details', () => mirrored.status.freeSystemStorage)
    pulse.session.close()
  }
})

test('at most two requests go out in a second, by all sessions and tests together, and none before Retry-After is over', async () => {
  const driver = neatPulseWith(usualPulseTimes)
  const pulse = await openPulse({ ...source, write: true }, { driver })
  const devices = await Promise.all([bar, pad, frame].map(({ id }) => pulse.device(id)))
  await devices[2]?.session.message?.('Hello', 60_000)
  const tested = await openPulse({ ...source, url: `${proxy.url}/v1` }, { driver })
  tested.session.close()
  await openPulse(source, { driver })
  expect(proxy.requests.length).toBeGreaterThan(20)
  // On a busy machine a request can arrive a second late, and those after it do not.
  expect(proxy.mostWithin(2_500)).toBeLessThanOrEqual(8)
  proxy.fault = () => ({ status: 429, headers: { 'retry-after': '7' } })
  await expect(devices[2]?.session.message?.('Hello again', 60_000)).rejects.toThrow('Nothing was sent')
  // A request that was on its way when the refusal came may still arrive, and is refused too.
  await pause(1_000)
  const count = proxy.requests.length
  proxy.fault = () => undefined
  pulse.session.close()
  const refused = await failureOf(openPulse(source, { driver }))
  expect([refused.state, refused.message]).toEqual(['FAILING', expect.stringContaining('limits the requests')])
  expect(refused.retryAfterMs).toBeGreaterThan(1_000)
  expect(proxy.requests).toHaveLength(count)
  // Another organisation has a limit of its own.
  expect((await failureOf(openPulse({ ...source, orgId: 'nobody' }, { driver }))).state).toBe('REFUSED')
  const known = () => proxy.requests.filter(({ orgId }) => orgId === org.id)
  await until('the next request', () => known().length > count)
  expect((known()[count]?.atMs ?? 0) - (known()[count - 1]?.atMs ?? 0)).toBeGreaterThan(6_900)
})
