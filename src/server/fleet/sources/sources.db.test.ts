// The rules of sources: who reads and changes them, their limits, fields and states, and their tests. [contract 15.sources]
import { X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newSourceSite, pulseSource, type SourceSite } from '../../../../test/support/devices/source-site.ts'
import { follow } from '../../../../test/support/event-follower.ts'
import { type Fixture, newFixture } from '../../../../test/support/fixture.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { newApiKey } from '../../../../test/support/places/callers.ts'
import { until } from '../../../../test/support/program.ts'
import { maxSourcesPerOrg } from '../../../contract/fleet/sources.ts'
import { makeSelfSigned } from '../../../simulator/hardware-fakes/self-signed.ts'

let harness: Harness
let f: Fixture
beforeAll(async () => {
  harness = await startHarness()
  f = await newFixture(harness)
})
afterAll(() => harness.close())

const broker = { type: 'mqtt', url: 'mqtts://broker.example.org' }
const fingerprint = Array.from({ length: 32 }, () => 'AB').join(':')
const stateOf = async (site: SourceSite) => [
  (await site.call('GET', '/sources')).text,
  await site.gateway.list(),
  await site.audit(),
]

test('a source answers its state, its settings and the names of its secrets [contract 15.sources]', async () => {
  const { status, body } = await f.call('GET', `/sources/${f.source}`)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    id: f.source,
    type: 'neat-pulse',
    gatewayId: f.gateway,
    name: 'Neat Pulse',
    url: 'https://api.pulse.neat.no',
    orgId: 'aBcD123',
    write: false,
    secrets: ['key'],
    state: 'NEW',
    devices: { FOUND: 1, ADOPTED: 0, EXCLUDED: 0, missing: 0 },
  })
  expect((await f.call('GET', '/sources')).body).toEqual({ sources: [body] })
})

test('sources need write access to all regions [contract 15.sources]', async () => {
  const [reader, oneRegion, writer] = [
    await newApiKey(f, { scopes: ['read'] }),
    await newApiKey(f, { scopes: ['read', 'write'], regionIds: [f.region] }),
    await newApiKey(f, { scopes: ['read', 'write'] }),
  ]
  for (const path of [
    '/sources',
    `/sources/${f.source}`,
    `/sources/${f.source}/devices`,
    `/sources/${f.source}/structure`,
  ]) {
    const statusOf = async (caller: object) => (await f.call('GET', path, caller)).status
    expect([await statusOf(reader), await statusOf(oneRegion), await statusOf(writer)], path).toEqual([403, 403, 200])
  }
  const stranger = await harness.newOrg()
  expect((await stranger.call('GET', `/sources/${f.source}`)).status).toBe(404)
  expect((await stranger.call('DELETE', `/sources/${f.source}`)).status).toBe(404)
})

test('a source of a type needs its fields, and refuses those of other types [contract 15.sources]', async () => {
  const create = async (body: object) => {
    const { status, body: answer } = await f.call('POST', '/sources', { body: { gatewayId: f.gateway, ...body } })
    return [status, answer.message]
  }
  const before = (await f.call('GET', '/sources')).text
  const refused: readonly (readonly [body: object, message: string])[] = [
    [{ type: 'mqtt' }, 'url is required'],
    [{ ...pulseSource, username: 'ada' }, 'username is not a field'],
    [{ ...pulseSource, secret: 'x' }, 'secret is not a field'],
    [{ ...broker, write: true }, 'write is not a field'],
    [{ ...broker, orgId: 'x' }, 'orgId is not a field'],
    [{ type: 'neat-pulse', key: 'x' }, 'orgId is required'],
    [{ type: 'neat-pulse', orgId: 'x' }, 'key is required'],
    [{ ...pulseSource, url: 'mqtt://broker' }, 'https://'],
    [{ ...broker, url: 'https://broker' }, 'mqtts://'],
    [{ ...broker, url: 'mqtt://ada:secret@broker' }, 'must not hold a user or a password'],
    [{ ...broker, url: 'mqtt://broker?x=1' }, 'query'],
    [{ ...broker, authority: 'x' }, 'is not a certificate in PEM form'],
    [{ ...broker, clientKey: 'x', clientCertificate: 'y' }, 'is not a private key'],
    [{ ...broker, gatewayId: crypto.randomUUID() }, 'there is no gateway'],
    [{ ...broker, enrolIntoRoomId: 99 }, 'there is no room 99'],
    [{ ...pulseSource, enrolIntoRoomId: f.room }, 'enrolIntoRoomId is not a field'],
    [{ type: 'webex', url: 'https://example.org' }, 'type'],
  ]
  for (const [body, message] of refused) expect(await create(body)).toEqual([400, expect.stringContaining(message)])
  expect((await f.call('GET', '/sources')).text).toBe(before)
})

test('a source has all fields of its type, and only its gateway reads the secrets [contract 15.secrets]', async () => {
  const { cert, key } = makeSelfSigned({ lifetimeDays: 1 })
  const mapping = {
    format: 'json',
    model: 'AM307',
    topic: 'sensors/+',
    device: 'topic[1]',
    values: [{ sensor: 'co2', template: 'value_json.co2', unit: 'ppm' }],
  }
  const settings = {
    name: 'Sensors',
    url: 'wss://broker.example.org:8884/mqtt',
    username: 'roomkeeper',
    topics: ['homeassistant/#', 'sensors/+'],
    authority: cert,
    clientCertificate: cert,
    mappings: [mapping],
    fingerprint,
  }
  const secrets = { secret: 'correct horse', clientKey: key }
  const site = await newSourceSite(harness, { body: { type: 'mqtt', ...settings, ...secrets } })
  const { body } = await site.call('GET', `/sources/${site.source}`)
  const { name: _, ...listedSettings } = settings
  const pem = (text: string) => text.trim()
  expect(body).toMatchObject({
    ...settings,
    authority: pem(cert),
    clientCertificate: pem(cert),
    secrets: ['secret', 'clientKey'],
    state: 'CONNECTED',
  })
  expect(body).not.toHaveProperty('write')
  expect(new X509Certificate(body.authority).subject).toContain('CN')
  const [listed] = (await site.gateway.list()).sources
  expect(listed).toMatchObject({
    type: 'mqtt',
    ...listedSettings,
    authority: pem(cert),
    clientCertificate: pem(cert),
    secret: 'correct horse',
  })
  const [entry] = (await site.audit()).filter(({ type }) => type === 'SOURCE_CREATED')
  expect(entry?.details.after).toMatchObject({ url: settings.url, secrets: ['secret', 'clientKey'] })
  expect(JSON.stringify(entry)).not.toContain('BEGIN')
  // Null clears, absent keeps.
  const cleared = {
    topics: null,
    mappings: [],
    authority: null,
    clientCertificate: null,
    clientKey: null,
    username: null,
  }
  const updated = await site.call('PUT', `/sources/${site.source}`, { body: cleared })
  expect(updated.status, updated.text).toBe(200)
  for (const name of ['topics', 'mappings', 'authority', 'clientCertificate', 'username']) {
    expect(updated.body).not.toHaveProperty(name)
  }
  expect(updated.body).toMatchObject({ fingerprint, secrets: ['secret'], state: 'NEW' })
})

test('an Update keeps what is absent, raises the revision and has the gateway try again [contract 15.sources] [contract 15.states]', async () => {
  const site = await newSourceSite(harness)
  const { gateway, source } = site
  const first = await site.call('GET', `/sources/${source}`)
  expect(first.body).toMatchObject({ state: 'CONNECTED', reachedAt: expect.any(String) })
  const [{ revision } = { revision: 0 }] = (await gateway.list()).sources
  const set = (body: object, headers = {}) => site.call('PUT', `/sources/${source}`, { body, headers })
  // Neither name, write nor an empty change concern the session.
  expect((await set({ name: 'Pulse', write: true })).body).toMatchObject({
    name: 'Pulse',
    write: true,
    state: 'CONNECTED',
  })
  const targets = async () => (await gateway.list()).sources
  expect(await targets()).toMatchObject([{ revision: revision + 1, targetRevision: revision, write: true }])
  expect((await set({})).body.state).toBe('CONNECTED')
  const tried = { revision: revision + 2, targetRevision: revision + 2 }
  expect(await targets()).toMatchObject([{ ...tried, key: 'correct horse' }])
  expect((await set({ name: 'Late' }, { 'if-match': first.headers.get('etag') ?? '' })).status).toBe(412)
  const renewed = await set({ key: 'another horse' })
  expect(renewed.body).toMatchObject({ state: 'NEW', reachedAt: first.body.reachedAt })
  expect(renewed.body).not.toHaveProperty('reason')
  expect(await targets()).toMatchObject([{ revision: revision + 3, targetRevision: revision + 3 }])
  const [entry] = await site.audit()
  expect(entry).toMatchObject({ type: 'SOURCE_UPDATED', details: { after: { secrets: ['key (changed)'] } } })
  // A report about the revision before counts for nothing.
  await gateway.device.publish('sources', { sources: [{ id: source, revision, state: 'REFUSED', reason: 'Old.' }] })
  expect((await site.call('GET', `/sources/${source}`)).body.state).toBe('NEW')
  await gateway.reportSource(source, 'REFUSED', { reason: 'It refused the key.', content: { devices: 3 } })
  const refused = await site.call('GET', `/sources/${source}`)
  expect(refused.body).toMatchObject({ state: 'REFUSED', reason: 'It refused the key.', content: { devices: 3 } })
  expect(refused.headers.get('etag')).not.toBe(renewed.headers.get('etag'))
  const same = await site.call('GET', `/sources/${source}`, {
    headers: { 'if-none-match': refused.headers.get('etag') ?? '' },
  })
  expect(same.status).toBe(304)
})

test('a change of the address deletes secrets and fingerprint, unless the request has new ones [contract 15.secrets]', async () => {
  const site = await newSourceSite(harness, { body: { ...pulseSource, fingerprint } })
  const { gateway, source } = site
  const item = await site.adopt('bar')
  const set = (body: object) => site.call('PUT', `/sources/${source}`, { body })
  const moved = await set({ url: 'https://pulse.example.org/api/' })
  expect(moved.body).toMatchObject({
    url: 'https://pulse.example.org/api',
    orgId: 'aBcD123',
    secrets: [],
    state: 'NEW',
  })
  for (const name of ['fingerprint', 'reachedAt', 'content']) expect(moved.body).not.toHaveProperty(name)
  const { sources, devices } = await gateway.list()
  expect(sources[0]).not.toHaveProperty('key')
  expect(sources[0]).not.toHaveProperty('fingerprint')
  expect(devices).toMatchObject([{ id: item, host: 'pulse.example.org', port: 443 }])
  const back = await set({ url: 'https://api.pulse.neat.no', key: 'another horse', fingerprint })
  expect(back.body).toMatchObject({ secrets: ['key'], fingerprint })
  expect((await gateway.list()).sources).toMatchObject([{ key: 'another horse' }])
  // A slash at its end does not make another address.
  expect((await set({ url: 'https://api.pulse.neat.no/' })).body).toMatchObject({ secrets: ['key'], fingerprint })
  expect((await set({ key: null })).body.secrets).toEqual([])
})

test('an organisation has at most 20 sources, and a refusal changes nothing [contract 15.sources]', async () => {
  const site = await newSourceSite(harness)
  const create = () => site.call('POST', '/sources', { body: { ...broker, gatewayId: site.gateway.id } })
  for (let i = 1; i < maxSourcesPerOrg; i++) expect((await create()).status).toBe(200)
  const before = await stateOf(site)
  expect((await create()).body).toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: expect.stringContaining('at most 20 sources'),
  })
  expect(await stateOf(site)).toEqual(before)
  expect((await site.call('DELETE', `/sources/${site.source}`)).status).toBe(200)
  expect((await create()).status).toBe(200)
})

test('sourcesDelete revokes the credentials of its endpoints, which stay OFFLINE or are unenrolled [contract 15.sources]', async () => {
  for (const unenrol of [false, true]) {
    const site = await newSourceSite(harness)
    const { gateway, source, rooms } = site
    const device = await site.connect(await site.adopt('bar'))
    await gateway.found(source, [{ key: 'other', model: 'NF19B1' }])
    const projector = { driver: 'pjlink', host: '10.20.4.18', roomId: rooms[0] }
    const own = (await site.call('POST', `/gateways/${gateway.id}/devices`, { body: projector })).body.id
    const reader = await follow(site.client)
    expect((await site.call('DELETE', `/sources/${source}${unenrol ? '?unenrol=true' : ''}`)).body).toEqual({})
    await reader.next('structure', ({ change }) => change?.type === 'SOURCE_DELETED')
    expect((await site.call('GET', '/sources')).body).toEqual({ sources: [] })
    expect((await site.call('GET', `/sources/${source}/devices`)).status).toBe(404)
    const { devices, sources } = await gateway.list()
    expect([devices.map(({ id }) => id), sources]).toEqual([[own], []])
    const endpoint = async () => site.call('GET', `/endpoints/${device.id}`)
    if (unenrol) expect((await endpoint()).status).toBe(404)
    else {
      await until('the session has ended', async () => !(await endpoint()).body.connected)
      const { body } = await endpoint()
      expect(body).toMatchObject({ state: 'OFFLINE', roomId: rooms[0] })
      expect(body).not.toHaveProperty('via')
      expect(body).not.toHaveProperty('sourceType')
      await expect(device.connect()).rejects.toThrow()
    }
    expect((await site.call('GET', '/rooms')).body.rooms).toHaveLength(3)
    const [entry] = (await site.audit()).filter(({ type }) => type === 'SOURCE_DELETED')
    expect(entry?.details.before).toMatchObject({ devices: 1, secrets: ['key'] })
    await device.close()
  }
})

test('the end of a gateway is the end of its sources [contract 13.rooms]', async () => {
  const site = await newSourceSite(harness)
  await site.adopt('bar')
  const path = `/endpoints/${site.gateway.id}`
  expect((await site.call('DELETE', path)).body).toMatchObject({ code: 'FAILED_PRECONDITION' })
  expect((await site.call('DELETE', `${path}?items=true`)).status).toBe(200)
  expect((await site.call('GET', '/sources')).body).toEqual({ sources: [] })
})

test('sourcesTest has the gateway try values, with stored secrets at their address and gateway only [contract 15.test]', async () => {
  const site = await newSourceSite(harness)
  const { gateway, source } = site
  const run = (body: object) => site.call('POST', '/sources/test', { body })
  const answerNext = async (answer: object) => {
    const wanted = await until('the test is listed', async () => (await gateway.list()).sourceTests[0])
    const reply = await gateway.call('POST', `/device/v1/gateway/source-tests/${wanted.id}`, answer)
    expect(reply.status, reply.text).toBe(200)
    return wanted
  }
  const found = {
    version: 'Neat Pulse',
    content: { regions: 2, rooms: 38, devices: 44 },
    notes: ['One region has no rooms.'],
  }
  const [stored, tried] = await Promise.all([run({ sourceId: source, orgId: 'other' }), answerNext({ found })])
  expect(stored.body).toEqual({ found })
  expect(tried).toEqual({
    id: expect.any(String),
    type: 'neat-pulse',
    url: 'https://api.pulse.neat.no',
    orgId: 'other',
    key: 'correct horse',
  })
  expect((await gateway.list()).sourceTests).toEqual([])
  expect((await site.call('GET', `/sources/${source}`)).body.orgId).toBe('aBcD123')
  const entries = (await site.audit()).length
  const refused = async (body: object) => (await run(body)).body
  expect(await refused({ sourceId: source, url: 'https://192.0.2.1' })).toMatchObject({ code: 'FAILED_PRECONDITION' })
  const other = await newSourceSite(harness)
  expect(await refused({ sourceId: source, gatewayId: other.gateway.id })).toMatchObject({
    code: 'FAILED_PRECONDITION',
  })
  expect(await refused({ sourceId: other.source })).toMatchObject({ code: 'NOT_FOUND' })
  expect(await refused({ type: 'neat-pulse' })).toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(await site.audit()).toHaveLength(entries)
  const anew = { url: 'https://192.0.2.1', key: 'another horse' }
  const failed = { state: 'REFUSED', reason: 'It refused the key.' }
  const [moved, wanted] = await Promise.all([run({ sourceId: source, ...anew }), answerNext(failed)])
  expect(moved.body).toEqual(failed)
  expect(wanted).toMatchObject(anew)
  const [entry] = await site.audit()
  expect(entry).toMatchObject({
    type: 'SOURCE_TESTED',
    target: { id: gateway.id },
    details: { after: { sourceId: source } },
  })
})
