// Tests gateways and their items, through HTTP and MQTT.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../../../test/support/devices/gateway.ts'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { drivers } from '../../../contract/fleet/drivers.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const unknownId = '00000000-0000-4000-8000-000000000000'
const fingerprint = Array.from({ length: 32 }, () => 'AB').join(':')
const codec = { driver: 'roomos', host: '10.20.4.17', username: 'roomkeeper', secret: 'correct horse', roomId: 1 }
const projector = { driver: 'pjlink', host: '10.20.4.18', roomId: 1 }

interface Site extends TestOrg {
  readonly gateway: TestGateway
  /** Adds an item, and returns its id. */
  add(body?: object): Promise<string>
  item(id: string): Promise<Record<string, unknown>>
  items(path?: string): string
}

/** An organisation with the rooms 1 and 2, and a gateway in room 1. */
async function newSite(): Promise<Site> {
  const org = await harness.newOrg()
  for (const name of ['Fjord', 'Fuji']) await org.call('POST', '/rooms', { body: { name } })
  const gateway = await startGateway(harness, org, { roomId: 1 })
  const items = (path = '') => `/gateways/${gateway.id}/devices${path}`
  return {
    ...org,
    gateway,
    items,
    add: async (body = codec) => {
      const created = await org.call('POST', items(), { body })
      expect(created.status, created.text).toBe(200)
      return created.body.id
    },
    item: async (id) => (await org.call('GET', items(`/${id}`))).body,
  }
}
const stateOf = async ({ call, audit, gateway }: Site) => [
  (await call('GET', `/gateways/${gateway.id}/devices`)).text,
  (await gateway.list()).version,
  await audit(),
]

test('driversList has the fields of the items of each driver [contract 13.drivers]', async () => {
  const { call } = await harness.newOrg()
  const { body } = await call('GET', '/drivers')
  expect(body.drivers).toEqual(Object.values(drivers))
  expect(body.drivers.map((d: { id: string; name: string }) => [d.id, d.name])).toEqual([
    ['roomos', 'Cisco RoomOS codec'],
    ['pjlink', 'Projector or display with PJLink'],
    ['snmp', 'Network device, PDU, UPS or DSP with SNMP'],
    ['reach', 'Anything with a network port'],
  ])
})

test('gatewaysList shows where a gateway is, its version, what it reaches, and its items by state [contract 13.gateways]', async () => {
  const site = await newSite()
  await newDevice(harness, site, { roomId: 1 })
  const codecId = await site.add()
  await site.add(projector)
  await site.gateway.report(codecId, 'REFUSED', 'The codec refused the password.')
  const { gateways } = (await site.call('GET', '/gateways')).body
  expect(gateways).toEqual([
    {
      id: site.gateway.id,
      serial: site.gateway.device.serial,
      roomId: 1,
      roomName: 'Fjord',
      version: '0.4.0',
      state: 'ONLINE',
      since: expect.any(String),
      devices: { REFUSED: 1, NEW: 1 },
      reach: ['10.20.0.0/16'],
    },
  ])
})

test('gatewayDevicesCreate adds an item, whose secret only the gateway reads [contract 13.items] [contract 13.secrets]', async () => {
  const site = await newSite()
  const { version } = await site.gateway.device.next('devices')
  const body = { ...codec, name: 'Codec at the window', fingerprint }
  const created = await site.call('POST', site.items(), { body })
  expect(created.body).toEqual({
    id: expect.any(String),
    gatewayId: site.gateway.id,
    driver: 'roomos',
    host: '10.20.4.17',
    port: 443,
    username: 'roomkeeper',
    secrets: ['secret'],
    options: { losesPowerWithDisplay: false },
    fingerprint,
    roomId: 1,
    roomName: 'Fjord',
    name: 'Codec at the window',
    state: 'NEW',
    since: expect.any(String),
  })
  expect(await site.item(created.body.id)).toEqual(created.body)
  expect((await site.call('GET', site.items())).body).toEqual({ devices: [created.body] })
  expect(await site.gateway.device.next('devices')).toEqual({ version: version + 1 })
  expect(await site.gateway.list()).toEqual({
    version: version + 1,
    devices: [
      {
        id: created.body.id,
        revision: 1,
        targetRevision: 1,
        driver: 'roomos',
        host: '10.20.4.17',
        port: 443,
        username: 'roomkeeper',
        secret: 'correct horse',
        options: { losesPowerWithDisplay: false },
        fingerprint,
        roomId: 1,
        name: 'Codec at the window',
        state: 'NEW',
      },
    ],
    tests: [],
    sources: [],
    sourceTests: [],
  })
  expect((await site.audit())[0]).toMatchObject({
    category: 'DEVICE',
    type: 'GATEWAY_DEVICE_CREATED',
    target: { type: 'gatewayDevice', id: created.body.id, name: 'Codec at the window' },
    details: { after: { host: '10.20.4.17', secrets: ['secret'], roomId: 1 }, affected: [{ id: site.gateway.id }] },
  })
})

test('an item has the fields and options of its driver [contract 13.items]', async () => {
  const site = await newSite()
  const before = await stateOf(site)
  for (const [body, field] of [
    [{ ...codec, driver: 'telnet' }, 'driver'],
    [{ ...codec, host: 'http://10.20.4.17' }, 'host'],
    [{ ...codec, host: '10.20.4.17:443' }, 'host'],
    [{ ...codec, host: '-x' }, 'host'],
    [{ ...codec, port: 0 }, 'port'],
    [{ ...codec, username: undefined }, 'username'],
    [{ ...codec, secret: null }, 'secret'],
    [{ ...codec, fingerprint: 'AB:CD' }, 'fingerprint'],
    [{ ...codec, options: { version: '3' } }, 'options.version'],
    [{ ...projector, username: 'admin' }, 'username'],
    [{ ...projector, options: { keepOpen: 'yes' } }, 'options.keepOpen'],
    [{ ...projector, options: { pollSeconds: 1 } }, 'options.pollSeconds'],
    [{ ...projector, options: { pollSeconds: 1.5 } }, 'options.pollSeconds'],
    [{ ...projector, driver: 'snmp', options: { version: '1' } }, 'options.version'],
    [{ ...projector, driver: 'reach', secret: 'x' }, 'secret'],
    [{ ...projector, driver: 'reach', options: { path: 'a\nb' } }, 'options.path'],
  ] as const) {
    const refused = await site.call('POST', site.items(), { body })
    expect(refused.status, JSON.stringify(body)).toBe(400)
    expect(refused.body.violations?.map((v: { field: string }) => v.field)).toEqual([field])
  }
  for (const roomId of [9, 0]) {
    const refused = await site.call('POST', site.items(), { body: { ...codec, roomId } })
    expect(refused.body).toMatchObject({ code: 'FAILED_PRECONDITION' })
  }
  expect(await stateOf(site)).toEqual(before)

  const snmp = { driver: 'snmp', host: 'fd00::17', roomId: 1, username: 'ops', secret: 'one' }
  const id = await site.add({ ...snmp, options: { version: '3', privSecret: 'two', pollSeconds: 30 } })
  expect(await site.item(id)).toMatchObject({
    port: 161,
    secrets: ['secret', 'privSecret'],
    options: { version: '3', authProtocol: 'sha256', privProtocol: 'aes', pollSeconds: 30 },
  })
  const [listed] = (await site.gateway.list()).devices
  expect(listed).toMatchObject({ secret: 'one', options: { version: '3', privSecret: 'two', pollSeconds: 30 } })
})

test('only an endpoint that reported that it is a gateway has items [contract 13.gateways]', async () => {
  const site = await newSite()
  const { id } = await newDevice(harness, site, { roomId: 1 })
  for (const gateway of [id, unknownId, 'abc']) {
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['GET', `/${unknownId}`],
      ['POST', '/test'],
    ] as const) {
      const body = method === 'POST' ? codec : undefined
      const reply = await site.call(method, `/gateways/${gateway}/devices${path}`, { body })
      expect(reply.status, `${method} ${gateway}${path}`).toBe(404)
    }
  }
  expect((await site.call('GET', '/gateways')).body.gateways).toHaveLength(1)
})

test('gatewayDevicesUpdate keeps absent values, clears those that are null, and has the gateway try again [contract 13.items]', async () => {
  const site = await newSite()
  const id = await site.add({ ...codec, name: 'Codec' })
  await site.gateway.report(id, 'REFUSED', 'The codec refused the password.')
  const named = await site.call('PUT', site.items(`/${id}`), { body: { name: null } })
  expect(named.body, 'a name is nothing to try').toMatchObject({ state: 'REFUSED', secrets: ['secret'] })
  expect(named.body).not.toHaveProperty('name')
  expect((await site.gateway.list()).devices).toMatchObject([{ revision: 2, targetRevision: 1 }])
  const changed = await site.call('PUT', site.items(`/${id}`), { body: { secret: 'battery staple' } })
  expect(changed.body).toMatchObject({ state: 'NEW', host: '10.20.4.17', username: 'roomkeeper' })
  expect(changed.body).not.toHaveProperty('reason')
  expect((await site.gateway.list()).devices).toMatchObject([
    { revision: 3, targetRevision: 3, secret: 'battery staple' },
  ])
  expect((await site.audit())[0].details).toMatchObject({
    before: { secrets: ['secret'] },
    after: { secrets: ['secret (changed)'] },
  })
  const etag = changed.headers.get('etag') ?? ''
  await site.gateway.report(id, 'CONNECTED')
  expect((await site.call('GET', site.items(`/${id}`))).headers.get('etag')).not.toBe(etag)
  const update = (body: object, ifMatch: string) =>
    site.call('PUT', site.items(`/${id}`), { body, headers: { 'if-match': ifMatch } })
  expect((await update({ name: 'A' }, etag)).status, 'a report of the gateway is no other version').toBe(200)
  expect((await update({ name: 'B' }, etag)).status).toBe(412)
})

test.each([
  ['the host', codec, { host: '10.20.4.99' }],
  ['the port', codec, { port: 8443 }],
  ['the driver', { ...projector, secret: 'correct horse' }, { driver: 'snmp' }],
  ['an option that binds secrets', { ...projector, secret: 'correct horse' }, { options: { challenge: 'md5' } }],
])('a change of %s deletes secret and fingerprint [contract 13.secrets]', async (_, item, moved) => {
  const site = await newSite()
  const id = await site.add({ ...item, fingerprint })
  const same = { host: item.host, driver: item.driver, roomId: 1, options: {} }
  const kept = await site.call('PUT', site.items(`/${id}`), { body: same })
  expect(kept.body).toMatchObject({ secrets: ['secret'], fingerprint })
  const changed = await site.call('PUT', site.items(`/${id}`), { body: moved })
  expect(changed.body).toMatchObject({ secrets: [], state: 'NEW' })
  expect(changed.body).not.toHaveProperty('fingerprint')
  const [listed] = (await site.gateway.list()).devices
  expect(listed).not.toHaveProperty('secret')
  expect(listed).not.toHaveProperty('fingerprint')
})

test('a gateway has at most 1,000 items, and reads them in pages [contract 13.items] [contract 13.list]', async () => {
  const site = await newSite()
  const id = await site.add()
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    const row = await kysely.selectFrom('gateway_devices').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    const copies = Array.from({ length: 999 }, () => ({ ...row, secrets: null, id: crypto.randomUUID() }))
    for (let i = 0; i < copies.length; i += 100) {
      await kysely
        .insertInto('gateway_devices')
        .values(copies.slice(i, i + 100))
        .execute()
    }
  })
  const { devices } = await site.gateway.list()
  expect(new Set(devices.map((device) => device.id)).size).toBe(1000)
  const refused = await site.call('POST', site.items(), { body: projector })
  expect(refused.body).toMatchObject({ code: 'FAILED_PRECONDITION', message: expect.stringContaining('1000') })
  const first = await site.gateway.call('GET', '/device/v1/gateway/devices')
  expect(first.body.devices).toHaveLength(200)
  expect((await site.gateway.call('GET', '/device/v1/gateway/devices?pageToken=abc')).status).toBe(400)
})

test('a gateway reports states, and only of items that have not changed since [contract 13.states]', async () => {
  const site = await newSite()
  const id = await site.add()
  await site.gateway.report(id, 'UNREACHABLE', 'No answer from 10.20.4.17 within 5 s.')
  expect(await site.item(id)).toMatchObject({ state: 'UNREACHABLE', reason: 'No answer from 10.20.4.17 within 5 s.' })
  expect(await site.item(id)).not.toHaveProperty('reachedAt')
  await site.gateway.report(id, 'CONNECTED')
  const connected = await site.item(id)
  expect(connected).toMatchObject({ state: 'CONNECTED', reachedAt: connected.since })
  expect(connected).not.toHaveProperty('reason')
  await site.call('PUT', site.items(`/${id}`), { body: { username: 'other' } })
  const late = { id, revision: 1, state: 'REFUSED', reason: 'The codec refused the password.' }
  const others = [
    { id: unknownId, revision: 1, state: 'CONNECTED' },
    { ...late, revision: 2, state: 'DUPLICATE' },
  ]
  await site.gateway.device.publish('devices', { devices: [late, ...others] })
  expect(await site.item(id)).toMatchObject({ state: 'NEW' })

  const neighbour = await startGateway(harness, site, { roomId: 1 })
  await neighbour.device.publish('devices', { devices: [{ id, revision: 2, state: 'REFUSED' }] })
  expect(await site.item(id), 'an item of another gateway').toMatchObject({ state: 'NEW' })
})

test('an Update of only name and room keeps the target revision; one that changes neither asks for another try [contract 13.items]', async () => {
  const site = await newSite()
  const id = await site.add({ ...codec, name: 'Codec' })
  const { body: room } = await site.call('POST', '/rooms', { body: { name: 'Skog' } })
  const revisions: (readonly number[])[] = []
  const { host, username, secret } = codec
  const updates = [{ name: 'Other' }, { roomId: room.id }, { name: 'Third', host, username, secret }, { secret }]
  for (const body of [...updates, { name: 'Fourth', port: 8443, secret }]) {
    const reply = await site.call('PUT', site.items(`/${id}`), { body })
    expect(reply.status, reply.text).toBe(200)
    const [item] = (await site.gateway.list()).devices
    revisions.push([item?.revision ?? 0, item?.targetRevision ?? 0])
  }
  expect(revisions).toEqual([
    [2, 1],
    [3, 1],
    [4, 1],
    [5, 5],
    [6, 6],
  ])
})

test('gatewayDevicesRetry raises the revision and keeps the state [contract 13.items]', async () => {
  const site = await newSite()
  const id = await site.add()
  await site.gateway.report(id, 'REFUSED', 'The codec refused the password.')
  const { version } = await site.gateway.list()
  const retried = await site.call('POST', site.items(`/${id}/retry`))
  expect(retried.body).toMatchObject({ state: 'REFUSED', reason: 'The codec refused the password.' })
  expect(await site.gateway.list()).toMatchObject({
    version: version + 1,
    devices: [{ revision: 2, targetRevision: 2 }],
  })
  expect((await site.audit())[0]).toMatchObject({ type: 'GATEWAY_DEVICE_RETRIED', target: { id } })
})

test('gateways learn the version of their list when they subscribe, and when it changes; other devices do not [contract 13.list]', async () => {
  const site = await newSite()
  const { device } = site.gateway
  expect(await device.next('devices')).toEqual({ version: 1 })
  await device.client.subscribeAsync(`v1/${device.id}/down/devices`, { qos: 1 })
  expect(await device.next('devices')).toEqual({ version: 1 })
  await device.close()
  const id = await site.add()
  await device.connect()
  expect(await device.next('devices')).toEqual({ version: 2 })
  await site.call('POST', '/endpoints/send_message', { body: { message: 'Hello.', endpointIds: [device.id] } })
  await site.call('DELETE', site.items(`/${id}`))
  expect(await device.next('devices')).toEqual({ version: 3 })
  expect(device.received.filter(({ kind }) => kind === 'devices')).toHaveLength(4)

  const other = await newDevice(harness, site, { roomId: 1 })
  const refused = await harness.call('GET', '/device/v1/gateway/devices', {
    headers: { authorization: `Basic ${btoa(`${other.id}:${other.credential}`)}` },
  })
  expect(refused.status).toBe(403)
  expect(other.received).toEqual([])
})

test('a gateway reads its list over TLS or loopback only [contract 13.list]', async () => {
  const behind = await startHarness({ trustProxy: ['127.0.0.1'] })
  const org = await behind.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  const { device } = await startGateway(behind, org, { roomId: 1 })
  const from = (headers: Record<string, string>) =>
    behind.call('GET', '/device/v1/gateway/devices', {
      headers: { authorization: `Basic ${btoa(`${device.id}:${device.credential}`)}`, ...headers },
    })
  const elsewhere = { 'x-forwarded-for': '192.0.2.7' }
  expect((await from({ ...elsewhere, 'x-forwarded-proto': 'http' })).body).toMatchObject({
    code: 'FAILED_PRECONDITION',
  })
  const secure = await from({ ...elsewhere, 'x-forwarded-proto': 'https' })
  expect(secure.status).toBe(200)
  expect(secure.headers.get('cache-control')).toBe('no-store')
  await behind.close()
})

test('an endpoint whose status came before this version becomes a gateway when it reports again [contract 13.gateways]', async () => {
  const site = await newSite()
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely.deleteFrom('gateways').where('endpoint_id', '=', site.gateway.id).execute(),
  )
  const { device } = site.gateway
  await device.close()
  await device.connect()
  expect((await site.call('GET', '/gateways')).body.gateways).toEqual([])
  await device.publish('status', { supports: ['gateway'] })
  expect((await site.call('GET', '/gateways')).body.gateways).toHaveLength(1)
  await device.next('devices')
  expect(await device.next('devices')).toEqual({ version: 1 })
})

test.each([
  ['without a credential', undefined],
  ['with a wrong credential', `Basic ${btoa(`${unknownId}:wrong`)}`],
])('the paths of gateways refuse a request %s [contract 13.list]', async (_, authorization) => {
  for (const [method, path] of [
    ['GET', '/device/v1/gateway/devices'],
    ['POST', `/device/v1/gateway/devices/${unknownId}/enrol`],
    ['POST', `/device/v1/gateway/tests/${unknownId}`],
  ] as const) {
    const reply = await harness.call(method, path, {
      headers: authorization ? { authorization } : {},
      ...(method === 'POST' && { body: {} }),
    })
    expect(reply.status).toBe(401)
  }
})
