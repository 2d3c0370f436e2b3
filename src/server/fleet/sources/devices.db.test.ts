// The devices of sources: which of them are adopted, excluded or missing, and what deletions make of them. [contract 15.devices]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newSourceSite, pulseSource, type SourceSite } from '../../../../test/support/devices/source-site.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { devicePaths } from '../../../contract/device/protocol.ts'
import { minuteMs } from '../../../contract/durations.ts'
import { maxGatewayDevices } from '../../../contract/fleet/gateways.ts'
import { maxSourceDevices } from '../../../contract/fleet/sources.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const bar = { key: 'bar', name: 'Fjord Bar', manufacturer: 'Neat', model: 'NF19B1', serial: 'NB1', theirRoomId: '12' }
const found = (i: number) => ({ key: `device-${i}`, model: 'NF19B1' })
const stateOf = async (site: SourceSite, key: string) => (await site.device(key)).state
const countsOf = async (site: SourceSite) => (await site.call('GET', `/sources/${site.source}`)).body.devices

test('found devices are listed in their order, by state and by key, and as CSV [contract 15.devices]', async () => {
  const site = await newSourceSite(harness)
  const sensor = {
    key: '0x1',
    model: 'SNZB-02',
    sensors: ['temp'],
    values: { temp: 21.5 },
    measuredAt: '2026-05-04T08:15:30.000Z',
    topic: 'zigbee2mqtt/0x1',
    format: 'home-assistant',
    lastMessage: '{"temperature":21.5,"text":"\u0000"}',
    notUnderstood: ['The template {{ states("x") }} is not understood.'],
  }
  await site.gateway.found(site.source, [bar])
  await site.gateway.found(site.source, [sensor])
  const { lastMessage, ...listed } = sensor
  expect(await site.devices()).toEqual([
    { ...bar, state: 'FOUND', isMissing: false, foundAt: expect.any(String) },
    { ...listed, state: 'FOUND', isMissing: false, foundAt: expect.any(String) },
  ])
  // PostgreSQL stores no character with the number 0.
  expect(await site.device('0x1')).toMatchObject({ lastMessage: lastMessage.replace('\u0000', '\uFFFD') })
  await site.decide({ key: 'bar', state: 'EXCLUDED' })
  expect((await site.devices('?state=FOUND')).map(({ key }) => key)).toEqual(['0x1'])
  expect((await site.devices('?state=EXCLUDED')).map(({ key }) => key)).toEqual(['bar'])
  expect(await site.devices('?key=unknown')).toEqual([])
  const csv = await site.call('GET', `/sources/${site.source}/devices`, { headers: { accept: 'text/csv' } })
  expect(
    csv.text
      .trim()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',')[0]),
  ).toEqual(['bar', '0x1'])
  // A later report replaces the one before, keeps the decision, and keeps the last message if it has none.
  await site.gateway.found(site.source, [
    { key: '0x1', model: 'SNZB-02D' },
    { ...bar, name: 'Other' },
  ])
  expect(await site.device('0x1')).toEqual({
    key: '0x1',
    model: 'SNZB-02D',
    lastMessage: expect.any(String),
    state: 'FOUND',
    isMissing: false,
    foundAt: expect.any(String),
  })
  expect(await site.device('bar')).toMatchObject({ name: 'Other', state: 'EXCLUDED' })
})

test('an adopted device is an item of the gateway; it moves and is renamed with its decision [contract 15.devices] [contract 13.items]', async () => {
  const site = await newSourceSite(harness)
  const { gateway, source, rooms } = site
  const item = await site.adopt('bar')
  expect(await site.device('bar')).toMatchObject({
    state: 'ADOPTED',
    deviceId: item,
    deviceState: 'NEW',
    roomId: rooms[0],
    roomName: 'Fjord',
  })
  const [listed] = (await gateway.list()).devices
  expect(listed).toEqual({
    id: item,
    revision: 1,
    targetRevision: 1,
    driver: 'neat-pulse',
    sourceId: source,
    sourceKey: 'bar',
    host: 'api.pulse.neat.no',
    port: 443,
    options: {},
    roomId: rooms[0],
    state: 'NEW',
  })
  const device = await site.connect(item)
  const endpoint = (await site.call('GET', `/endpoints/${device.id}`)).body
  expect(endpoint).toMatchObject({ roomId: rooms[0], via: gateway.id, sourceType: 'neat-pulse', connected: true })
  expect(await site.device('bar')).toMatchObject({ endpointId: device.id })
  const moved = await site.decide({ key: 'bar', roomId: rooms[1], name: 'Bar of Fuji' })
  expect(moved.body.devices).toMatchObject([{ state: 'ADOPTED', roomId: rooms[1], endpointId: device.id }])
  expect((await site.call('GET', `/endpoints/${device.id}`)).body.roomId).toBe(rooms[1])
  const items = `/gateways/${gateway.id}/devices`
  expect((await site.call('GET', `${items}/${item}`)).body).toMatchObject({ name: 'Bar of Fuji', roomId: rooms[1] })
  // Another place is no reason to connect again.
  expect((await gateway.list()).devices[0]).toMatchObject({ revision: 2, targetRevision: 1 })
  // The other operations on items know where its address comes from.
  const host = await site.call('PUT', `${items}/${item}`, { body: { host: '10.0.0.1' } })
  expect(host.body).toMatchObject({ code: 'FAILED_PRECONDITION', message: expect.stringContaining('sourcesUpdate') })
  const tested = await site.call('POST', `${items}/test`, { body: { deviceId: item } })
  expect(tested.body).toMatchObject({ code: 'FAILED_PRECONDITION', message: expect.stringContaining('sourcesTest') })
  const own = await site.call('POST', items, { body: { driver: 'neat-pulse', host: 'x', roomId: rooms[0] } })
  expect(own.status).toBe(400)
  const place = await site.call('PUT', `${items}/${item}`, { body: { roomId: rooms[0] } })
  expect(place.body).toMatchObject({ roomId: rooms[0], sourceKey: 'bar' })
  const [entry] = (await site.audit()).filter(({ type }) => type === 'SOURCE_DEVICES_UPDATED')
  expect(entry).toMatchObject({ target: { type: 'source', id: source }, details: { after: { changed: ['bar'] } } })
  await device.close()
})

test('decisions are made all or none, and each refusal says what to do [contract 15.devices]', async () => {
  const site = await newSourceSite(harness)
  const { rooms } = site
  await site.gateway.found(site.source, [
    found(1),
    found(2),
    { ...found(3), refusedBecause: 'This device is itself mirrored there.' },
  ])
  await site.adopt('adopted')
  const before = [await site.devices(), (await site.audit()).length, (await site.gateway.list()).version]
  const adopt = { key: 'device-1', state: 'ADOPTED', roomId: rooms[0] }
  const refused = async (...decisions: object[]) => {
    const { status, body } = await site.decide(adopt, ...decisions)
    return [status, body.message]
  }
  expect(await refused({ key: 'device-2', state: 'ADOPTED' })).toEqual([400, expect.stringContaining('roomId')])
  expect(await refused({ key: 'device-2', state: 'ADOPTED', roomId: 99 })).toEqual([
    400,
    expect.stringContaining('there is no room 99'),
  ])
  expect(await refused({ key: 'unknown', state: 'EXCLUDED' })).toEqual([400, expect.stringContaining('unknown')])
  expect(await refused({ key: 'device-1', state: 'EXCLUDED' })).toEqual([400, expect.stringContaining('named twice')])
  expect(await refused({ key: 'device-3', state: 'ADOPTED', roomId: rooms[0] })).toEqual([
    400,
    expect.stringContaining('itself mirrored'),
  ])
  expect(await refused({ key: 'adopted', state: 'FOUND' })).toEqual([
    400,
    expect.stringContaining('gatewayDevicesDelete'),
  ])
  expect(await refused({ key: 'device-2', roomId: rooms[0] })).toEqual([400, expect.stringContaining('is not adopted')])
  expect([await site.devices(), (await site.audit()).length, (await site.gateway.list()).version]).toEqual(before)
})

test('a device that is deleted here is excluded until a person includes it; one whose room is deleted is found again [contract 15.devices] [contract 13.rooms]', async () => {
  const site = await newSourceSite(harness)
  const { gateway, rooms } = site
  const [byItem, byEndpoint, byRoom] = [
    await site.adopt('item'),
    await site.adopt('endpoint'),
    await site.adopt('room'),
  ]
  const devices = [await site.connect(byItem), await site.connect(byEndpoint), await site.connect(byRoom)]
  const [first, second, third] = devices.map(({ id }) => id)
  expect((await site.call('DELETE', `/gateways/${gateway.id}/devices/${byItem}`)).status).toBe(200)
  expect((await site.call('DELETE', `/endpoints/${second}`)).status).toBe(200)
  expect([await stateOf(site, 'item'), await stateOf(site, 'endpoint')]).toEqual(['EXCLUDED', 'EXCLUDED'])
  // The endpoint stays, because the request has no unenrol.
  expect((await site.call('GET', `/endpoints/${first}`)).body).not.toHaveProperty('via')
  expect((await site.call('GET', `/endpoints/${first}`)).body).not.toHaveProperty('sourceType')
  // A later report does not bring them back.
  await gateway.found(site.source, [
    { key: 'item', model: 'NF19B1' },
    { key: 'endpoint', model: 'NF19B1' },
  ])
  expect(await countsOf(site)).toEqual({ FOUND: 0, ADOPTED: 1, EXCLUDED: 2, missing: 0 })
  await site.call('POST', '/endpoints/move_paired', { body: { endpointIds: [third], roomId: rooms[1] } })
  expect((await site.call('DELETE', `/rooms/${rooms[1]}`)).status).toBe(200)
  expect(await site.device('room')).toMatchObject({ state: 'FOUND' })
  expect((await site.call('GET', `/endpoints/${third}`)).status).toBe(404)
  expect((await gateway.list()).devices).toEqual([])
  await until('all sessions have ended', async () => {
    const { endpoints } = (await site.call('GET', '/endpoints')).body
    return endpoints.filter(({ connected }: { connected: boolean }) => connected).length === 1
  })
  const included = await site.decide({ key: 'item', state: 'FOUND' })
  expect(included.body.devices).toMatchObject([{ key: 'item', state: 'FOUND' }])
  const again = await site.decide({ key: 'endpoint', state: 'ADOPTED', roomId: rooms[0], name: 'Back' })
  expect(again.body.devices).toMatchObject([{ state: 'ADOPTED', roomId: rooms[0] }])
  expect((await gateway.list()).devices).toMatchObject([{ sourceKey: 'endpoint', name: 'Back', roomId: rooms[0] }])
  for (const device of devices) await device.close()
})

test('a device that its source no longer lists is missing: OFFLINE with that reason, and never deleted [contract 15.reports]', async () => {
  const site = await newSourceSite(harness)
  const { gateway, source } = site
  const item = await site.adopt('bar')
  const device = await site.connect(item)
  await gateway.found(source, [found(1)])
  await gateway.found(source, [
    { key: 'bar', model: 'NF19B1', isMissing: true },
    { ...found(1), isMissing: true },
  ])
  await gateway.report(item, 'UNREACHABLE', 'Neat Pulse no longer lists this device.')
  await device.close()
  // The source has returned long ago.
  harness.clock.advance(10 * minuteMs)
  await until('the endpoint is offline', async () => {
    return (await site.call('GET', `/endpoints/${device.id}`)).body.state === 'OFFLINE'
  })
  const endpoint = async () => (await site.call('GET', `/endpoints/${device.id}`)).body
  expect(await endpoint()).toMatchObject({ state: 'OFFLINE', missingAtSource: true })
  expect(await site.device('bar')).toMatchObject({
    state: 'ADOPTED',
    isMissing: true,
    deviceState: 'UNREACHABLE',
    reason: 'Neat Pulse no longer lists this device.',
    endpointId: device.id,
  })
  expect(await countsOf(site)).toEqual({ FOUND: 1, ADOPTED: 1, EXCLUDED: 0, missing: 2 })
  await gateway.found(source, [{ key: 'bar', model: 'NF19B1' }])
  expect(await site.device('bar')).toMatchObject({ state: 'ADOPTED', isMissing: false })
  expect(await endpoint()).not.toHaveProperty('missingAtSource')
  // A complete list without it says the same, until the source is removed.
  await gateway.call('POST', `${devicePaths.gatewaySources}/${source}/devices`, {
    revision: 1,
    devices: [],
    listed: [],
  })
  expect(await endpoint()).toMatchObject({ missingAtSource: true })
  await site.call('DELETE', `/sources/${source}`)
  expect(await endpoint()).not.toHaveProperty('missingAtSource')
})

test('a complete list makes every other device of its source missing, and an outdated one none [contract 15.reports]', async () => {
  const site = await newSourceSite(harness)
  const { gateway, source } = site
  await gateway.found(source, [found(1), found(2), found(3)])
  const path = `${devicePaths.gatewaySources}/${source}/devices`
  const [listed] = (await gateway.list()).sources
  const revision = listed?.revision ?? 0
  const keys = [found(1).key, 'beyond the limit']
  const missing = async () => (await site.devices()).flatMap(({ key, isMissing }) => (isMissing ? [key] : []))
  expect((await gateway.call('POST', path, { revision: revision - 1, devices: [], listed: keys })).status).toBe(200)
  expect(await missing()).toEqual([])
  expect((await gateway.call('POST', path, { revision, devices: [], listed: keys })).status).toBe(200)
  expect(await missing()).toEqual([found(2).key, found(3).key])
  await gateway.found(source, [found(2)])
  expect(await missing()).toEqual([found(3).key])
})

test('a source has at most 5,000 devices, and those that were adopted count among the items of its gateway [contract 15.reports] [contract 13.items]', async () => {
  const site = await newSourceSite(harness)
  const { gateway, source, rooms } = site
  const all = Array.from({ length: maxSourceDevices + 200 }, (_, i) => found(i))
  for (let i = 0; i < all.length; i += 200) {
    expect((await gateway.found(source, all.slice(i, i + 200))).status).toBe(200)
  }
  expect(await countsOf(site)).toMatchObject({ FOUND: maxSourceDevices })
  expect(new Set((await site.devices()).map(({ key }) => key)).size).toBe(maxSourceDevices)
  expect((await gateway.list()).sources).toMatchObject([{ deviceCount: maxSourceDevices }])
  // New devices take the place of those that are missing, unless a person has decided about them.
  await site.decide({ key: 'device-4998', state: 'EXCLUDED' })
  const missing = [4998, 4999].map((i) => ({ ...found(i), isMissing: true }))
  expect((await gateway.found(source, [...missing, found(6000), found(6001)])).status).toBe(200)
  const states = await Promise.all([4998, 4999, 6000, 6001].map(async (i) => stateOf(site, `device-${i}`)))
  expect(states).toEqual(['EXCLUDED', 'FOUND', undefined, undefined])
  expect((await gateway.found(source, [found(6000), found(6001)])).status).toBe(200)
  expect(await stateOf(site, 'device-4998')).toBe('EXCLUDED')
  expect([await stateOf(site, 'device-4999'), await stateOf(site, 'device-6000')]).toEqual([undefined, 'FOUND'])
  expect(await countsOf(site)).toEqual({ FOUND: maxSourceDevices - 1, ADOPTED: 0, EXCLUDED: 1, missing: 1 })
  // Known ones are still updated.
  await gateway.found(source, [{ ...found(7), name: 'Seven' }])
  expect(await site.device('device-7')).toMatchObject({ name: 'Seven' })
  expect((await gateway.found(source, all.slice(0, 201))).status).toBe(400)
  const control = await gateway.found(source, [{ key: 'a\u0000b', model: 'NF19B1' }])
  expect(control.body.violations).toEqual([{ field: 'devices[0].key', error: 'must not hold control characters' }])
  const adopt = (from: number, to: number) =>
    site.decide(...all.slice(from, to).map(({ key }) => ({ key, state: 'ADOPTED', roomId: rooms[0] })))
  for (let i = 0; i < maxGatewayDevices - 1; i += 200) {
    const reply = await adopt(i, Math.min(i + 200, maxGatewayDevices - 1))
    expect(reply.status, reply.text).toBe(200)
  }
  expect((await adopt(1500, 1502)).body.message).toContain('1000 devices')
  expect((await adopt(1500, 1501)).status).toBe(200)
  const projector = { driver: 'pjlink', host: '10.20.4.18', roomId: rooms[0] }
  const refused = await site.call('POST', `/gateways/${gateway.id}/devices`, { body: projector })
  expect(refused.body).toMatchObject({ code: 'FAILED_PRECONDITION' })
  expect((await gateway.list()).devices).toHaveLength(maxGatewayDevices)
})

test('a source that enrols by itself adopts the devices that are new then, and no other does [contract 15.devices]', async () => {
  const site = await newSourceSite(harness, { body: { type: 'mqtt', url: 'mqtt://broker.example.org' } })
  const { gateway, source, rooms } = site
  await gateway.found(source, [found(1)])
  expect(await stateOf(site, 'device-1')).toBe('FOUND')
  const set = (body: object) => site.call('PUT', `/sources/${source}`, { body })
  expect((await set({ enrolIntoRoomId: 99 })).body.message).toContain('there is no room 99')
  expect((await set({ enrolIntoRoomId: rooms[1] })).body).toMatchObject({ enrolIntoRoomId: rooms[1] })
  await gateway.found(source, [
    found(1),
    found(2),
    { ...found(3), refusedBecause: 'No.' },
    { ...found(4), isMissing: true },
  ])
  const states = async () => Object.fromEntries((await site.devices()).map(({ key, state }) => [key, state]))
  expect(await states()).toEqual({
    'device-1': 'FOUND',
    'device-2': 'ADOPTED',
    'device-3': 'FOUND',
    'device-4': 'FOUND',
  })
  expect(await site.device('device-2')).toMatchObject({ roomId: rooms[1] })
  const [entry] = await site.audit()
  expect(entry).toMatchObject({
    type: 'SOURCE_DEVICES_UPDATED',
    actor: { type: 'DEVICE' },
    details: { after: { adopted: ['device-2'] } },
  })
  // After the room is gone, new devices wait for a person, and the source says so by its absence.
  await site.call('DELETE', `/rooms/${rooms[1]}`)
  await gateway.found(source, [found(5)])
  expect(await stateOf(site, 'device-5')).toBe('FOUND')
  expect((await site.call('GET', `/sources/${source}`)).body).not.toHaveProperty('enrolIntoRoomId')
  expect(
    (
      await site.call('POST', '/sources', {
        body: { ...pulseSource, gatewayId: gateway.id, enrolIntoRoomId: rooms[0] },
      })
    ).status,
  ).toBe(400)
})
