// Tests how devices enrol through a gateway, and what happens to items when endpoints, rooms and gateways are deleted.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../../../test/support/devices/gateway.ts'
import { enrolTestDevice, newDevice, TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, type Reply, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { hourMs } from '../../../contract/durations.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const codec = { driver: 'roomos', host: '10.20.4.17', username: 'roomkeeper', secret: 'correct horse', roomId: 2 }
let count = 0
const newSerial = () => `FOC${Date.now()}${++count}`

interface Site extends TestOrg {
  readonly gateway: TestGateway
  add(body?: object): Promise<string>
  item(id: string): Promise<Reply['body']>
  items(path?: string): string
}

/** An organisation with the rooms 1, 2 and 3, and a gateway in room 1. */
async function newSite(): Promise<Site> {
  const org = await harness.newOrg()
  for (const name of ['Fjord', 'Fuji', 'Etna']) await org.call('POST', '/rooms', { body: { name } })
  const gateway = await startGateway(harness, org, { roomId: 1 })
  const items = (path = '') => `/gateways/${gateway.id}/devices${path}`
  return {
    ...org,
    gateway,
    items,
    add: async (body = codec) => (await org.call('POST', items(), { body })).body.id,
    item: async (id) => (await org.call('GET', items(`/${id}`))).body,
  }
}

const identity = () => ({ serial: newSerial(), model: 'Codec Pro', manufacturer: 'Cisco' })
const deviceOf = ({ body }: Reply, serial = '') => new TestDevice(harness.mqttPort, serial, 'Codec Pro', body)
const endpointsOf = async ({ call }: TestOrg) => (await call('GET', '/endpoints')).body.endpoints

/** Adds an item and enrols its device, which connects. */
async function enrolled(site: Site, body: object = codec) {
  const id = await site.add(body)
  const found = identity()
  const reply = await site.gateway.enrol(id, found)
  expect(reply.status, reply.text).toBe(200)
  const device = deviceOf(reply)
  await device.connect()
  await site.gateway.report(id, 'CONNECTED')
  return { id, found, device, endpointId: reply.body.endpointId as string }
}

test('a device enrols through its gateway into the room of its item, with its name, and connects by itself [contract 13.enrolment]', async () => {
  const site = await newSite()
  const id = await site.add({ ...codec, name: 'Codec at the window' })
  const found = identity()
  const entries = (await site.audit()).length
  const reply = await site.gateway.enrol(id, found)
  expect(reply.body).toEqual({
    endpointId: expect.any(String),
    credential: expect.any(String),
    connect: expect.any(Array),
  })
  const { endpointId } = reply.body
  const device = deviceOf(reply)
  await device.connect()
  await device.publish('status', { name: 'codec-17', actions: ['reboot'] })
  expect((await site.call('GET', `/endpoints/${endpointId}`)).body).toMatchObject({
    serial: `Cisco ${found.serial}`,
    model: 'Codec Pro',
    name: 'Codec at the window',
    roomId: 2,
    via: site.gateway.id,
    state: 'ONLINE',
  })
  expect(await site.item(id)).toMatchObject({ endpointId, endpointName: 'Codec at the window', state: 'NEW' })
  expect((await site.gateway.list()).devices).toMatchObject([{ endpointId }])
  const log = await site.audit()
  expect(log).toHaveLength(entries + 1)
  expect(log[0]).toMatchObject({
    type: 'DEVICE_ENROLLED',
    actor: { type: 'DEVICE', name: site.gateway.device.serial },
    target: { id: endpointId },
    details: { after: { roomId: 2 } },
  })
})

test('a device enrols again for its item only, and its old credential stops working [contract 13.enrolment]', async () => {
  const site = await newSite()
  const { id, found, device, endpointId } = await enrolled(site)
  await site.call('PUT', `/endpoints/${endpointId}`, { body: { name: 'Named since' } })
  const again = await site.gateway.enrol(id, { ...found, manufacturer: 'Cisco Systems' })
  expect(again.body.endpointId).toBe(endpointId)
  await device.ended()
  await expect(device.connect()).rejects.toThrow()
  await deviceOf(again).connect()
  expect(await endpointsOf(site)).toHaveLength(2)
  expect((await site.call('GET', `/endpoints/${endpointId}`)).body).toMatchObject({ name: 'Named since', roomId: 2 })
})

test('a serial that is enrolled for another item, directly, or elsewhere is DUPLICATE [contract 13.enrolment]', async () => {
  const site = await newSite()
  const { found, endpointId } = await enrolled(site)
  const direct = await newDevice(harness, site, { roomId: 3, serial: newSerial() })
  const other = await newSite()
  const elsewhere = await enrolled(other)
  const second = await site.add({ ...codec, host: '10.20.4.18' })
  for (const [request, duplicateOf] of [
    [found, endpointId],
    [{ serial: direct.serial, manufacturer: 'Neat' }, direct.id],
    [elsewhere.found, undefined],
  ] as const) {
    const before = await endpointsOf(site)
    const reply = await site.gateway.enrol(second, request)
    expect(reply.status).toBe(409)
    expect(reply.body.message).toMatch(/is enrolled already/)
    const item = await site.item(second)
    expect(item).toMatchObject({ state: 'DUPLICATE', reason: reply.body.message })
    expect(item.duplicateOf).toBe(duplicateOf)
    expect(item).not.toHaveProperty('endpointId')
    expect(await endpointsOf(site)).toEqual(before)
  }
  await site.call('DELETE', `/endpoints/${direct.id}`)
  const freed = await site.gateway.enrol(second, { serial: direct.serial, manufacturer: 'Neat' })
  expect(freed.status, freed.text).toBe(200)
  await site.gateway.report(second, 'CONNECTED')
  expect(await site.item(second)).not.toHaveProperty('duplicateOf')
})

/** Two regions with a room each, a gateway in the first, and a key that sees and changes only the first. */
async function newRegions() {
  const org = await harness.newOrg()
  const make = async (path: string, body: object) => (await org.call('POST', path, { body })).body.id
  const rooms: number[] = []
  const regions: number[] = []
  for (const name of ['Own', 'Foreign']) {
    const regionId = await make('/regions', { name })
    regions.push(regionId)
    rooms.push(await make('/rooms', { name, locationId: await make('/locations', { name, regionId }) }))
  }
  const [ownRoom = 0, foreignRoom = 0] = rooms
  const gateway = await startGateway(harness, org, { roomId: ownRoom })
  const key = await org.newKey({ name: 'Own', regionIds: [regions[0] as number] })
  return { org, make, gateway, key, ownRoom, foreignRoom }
}

test('a caller who does not see the other endpoint does not learn which it is [contract 13.enrolment]', async () => {
  const { org, make, gateway, key, ownRoom, foreignRoom } = await newRegions()
  const taken = await newDevice(harness, org, { roomId: foreignRoom, serial: newSerial() })
  const id = await make(`/gateways/${gateway.id}/devices`, { ...codec, roomId: ownRoom })
  await gateway.enrol(id, { serial: taken.serial, manufacturer: 'Neat' })
  const path = `/gateways/${gateway.id}/devices/${id}`
  expect((await org.call('GET', path)).body.duplicateOf).toBe(taken.id)
  const seen = (await org.call('GET', path, { key })).body
  expect(seen).toMatchObject({ state: 'DUPLICATE' })
  expect(JSON.stringify(seen)).not.toContain(taken.id)
})

test('a caller who does not see all items of a gateway does not delete it [contract 13.rooms]', async () => {
  const { org, gateway, key, foreignRoom } = await newRegions()
  const path = `/endpoints/${gateway.id}?items=true`
  const item = await org.call('POST', `/gateways/${gateway.id}/devices`, { body: { ...codec, roomId: foreignRoom } })
  expect((await org.call('DELETE', path, { key })).body).toMatchObject({ code: 'FAILED_PRECONDITION' })
  expect((await org.call('GET', `/gateways/${gateway.id}/devices`, { key })).body).toEqual({ devices: [] })
  expect((await org.call('GET', '/gateways', { key })).body.gateways).toMatchObject([{ id: gateway.id, devices: {} }])
  expect((await org.call('GET', `/gateways/${gateway.id}/devices/${item.body.id}`)).status).toBe(200)
  expect((await org.call('DELETE', path)).status).toBe(200)
})

test.each([undefined, 'To be filled by O.E.M.', '0000000', '-', 'Default string', '123456789'])(
  'a device whose serial is %j gets one of its item, and keeps it [contract 13.enrolment]',
  async (serial) => {
    const site = await newSite()
    const request = { ...(serial && { serial }), manufacturer: 'Epson', model: 'EB-L200F' }
    const [first, second] = [await site.add(), await site.add({ ...codec, host: '10.20.4.18' })]
    const ids: string[] = []
    for (const id of [first, second, first]) ids.push((await site.gateway.enrol(id, request)).body.endpointId)
    expect(ids[2]).toBe(ids[0])
    expect(new Set(ids).size).toBe(2)
    const serials = (await endpointsOf(site)).map((e: { serial: string }) => e.serial)
    expect(serials.filter((text: string) => text.endsWith(first) || text.endsWith(second))).toHaveLength(2)
  },
)

test('an item whose device has another serial is CHANGED, until its endpoint is unenrolled and a person tries again [contract 13.states]', async () => {
  const site = await newSite()
  const { id, endpointId } = await enrolled(site)
  const other = identity()
  const refused = await site.gateway.enrol(id, other)
  expect(refused.status).toBe(409)
  expect(await site.item(id)).toMatchObject({ state: 'CHANGED', reason: refused.body.message, endpointId })
  await site.call('DELETE', `/endpoints/${endpointId}`)
  const { version } = await site.gateway.list()
  expect(await site.item(id)).toMatchObject({ state: 'REMOVED', roomId: 2 })
  expect((await site.gateway.enrol(id, other)).status, 'nobody has tried again').toBe(409)
  expect(await site.item(id)).toMatchObject({ state: 'REMOVED' })
  expect((await site.call('POST', site.items(`/${id}/retry`))).body).toMatchObject({ state: 'NEW' })
  expect((await site.gateway.list()).version).toBe(version + 1)
  expect((await site.gateway.enrol(id, other)).status).toBe(200)
})

test('a gateway enrols devices of its own items only [contract 13.enrolment]', async () => {
  const site = await newSite()
  const id = await site.add()
  const neighbour = await startGateway(harness, site, { roomId: 1 })
  for (const item of [id, 'abc']) expect((await neighbour.enrol(item, identity())).status).toBe(404)
  expect((await site.gateway.enrol(id, { serial: 'a\u0007b' })).status).toBe(400)
  expect(await site.item(id)).toMatchObject({ state: 'NEW' })
})

test('a box that replaces a gateway under its serial enrols the items again, and the old box loses them [contract 13.enrolment]', async () => {
  const site = await newSite()
  const { id, found, device, endpointId } = await enrolled(site)
  await site.gateway.device.close()
  await until(
    'the gateway is offline',
    async () => !(await site.call('GET', `/endpoints/${site.gateway.id}`)).body.connected,
  )
  const box = await startGateway(harness, site, { roomId: 1, serial: site.gateway.device.serial })
  expect(box.id).toBe(site.gateway.id)
  expect((await site.gateway.call('GET', '/device/v1/gateway/devices')).status).toBe(401)
  expect((await box.list()).devices).toMatchObject([{ id, endpointId, secret: 'correct horse' }])
  const again = await box.enrol(id, found)
  expect(again.body.endpointId).toBe(endpointId)
  await device.ended()
  await deviceOf(again).connect()
})

test('an item is where its endpoint is, and its roomId moves the endpoint [contract 13.rooms]', async () => {
  const site = await newSite()
  const { id, endpointId } = await enrolled(site)
  await site.call('POST', '/endpoints/move_paired', { body: { endpointIds: [endpointId], roomId: 3 } })
  expect(await site.item(id)).toMatchObject({ roomId: 3, roomName: 'Etna', state: 'CONNECTED' })
  const moved = await site.call('PUT', site.items(`/${id}`), { body: { roomId: 2 } })
  expect(moved.body).toMatchObject({ roomId: 2, state: 'CONNECTED' })
  expect((await site.call('GET', `/endpoints/${endpointId}`)).body.roomId).toBe(2)
  const [entry] = await site.audit()
  expect(entry).toMatchObject({
    type: 'GATEWAY_DEVICE_UPDATED',
    details: { before: { roomId: 3 }, after: { roomId: 2 } },
  })
  expect(entry.details.affected.map((ref: { id: string }) => ref.id)).toContain(endpointId)
})

/** How the last connection of an endpoint ended, as the connection history shows it. */
async function lastEndOf(site: Site, endpointId: string): Promise<object> {
  const from = new Date(harness.clock.now() - hourMs).toISOString()
  return until('the connection has ended', async () => {
    const { spans } = (await site.call('GET', `/endpoints/${endpointId}/connections?from=${from}`)).body
    const { why, followedBy } = spans.at(-1) ?? {}
    return why && { why, followedBy }
  })
}

test('gatewayDevicesDelete leaves the endpoint, OFFLINE and without a gateway, whose credential stops working [contract 13.items]', async () => {
  const site = await newSite()
  const { id, device, endpointId } = await enrolled(site)
  expect((await site.call('DELETE', site.items(`/${id}`))).body).toEqual({})
  await device.ended()
  await expect(device.connect()).rejects.toThrow()
  const endpoint = (await site.call('GET', `/endpoints/${endpointId}`)).body
  expect(endpoint).toMatchObject({ state: 'OFFLINE', roomId: 2 })
  expect(endpoint).not.toHaveProperty('via')
  expect(await lastEndOf(site, endpointId)).toEqual({ why: 'RELEASED', followedBy: 'OFFLINE' })
  expect((await site.gateway.list()).devices).toEqual([])
  expect((await site.call('GET', site.items(`/${id}`))).status).toBe(404)
})

test('gatewayDevicesDelete with unenrol=true unenrols the endpoint [contract 13.items]', async () => {
  const site = await newSite()
  const { id, device, endpointId } = await enrolled(site)
  const entries = (await site.audit()).length
  await site.call('DELETE', site.items(`/${id}?unenrol=true`))
  expect(await device.next('operation')).toMatchObject({ type: 'UNENROL' })
  expect((await site.call('GET', `/endpoints/${endpointId}`)).status).toBe(404)
  const log = await site.audit()
  expect(log).toHaveLength(entries + 1)
  expect(log[0].details.affected.map((ref: { id: string }) => ref.id)).toContain(endpointId)
})

test('endpointsDelete refuses a gateway with items; with items=true they go with it [contract 13.rooms]', async () => {
  const site = await newSite()
  const { device, endpointId } = await enrolled(site)
  const path = `/endpoints/${site.gateway.id}`
  for (const query of ['', '?items=false']) {
    const refused = await site.call('DELETE', path + query)
    expect(refused.body).toMatchObject({ code: 'FAILED_PRECONDITION', message: expect.stringContaining('items=true') })
  }
  expect((await site.call('DELETE', `${path}?items=true`)).body).toEqual({})
  await device.ended()
  await expect(device.connect()).rejects.toThrow()
  const endpoint = (await site.call('GET', `/endpoints/${endpointId}`)).body
  expect(endpoint).toMatchObject({ state: 'OFFLINE', roomId: 2 })
  expect(endpoint).not.toHaveProperty('via')
  expect(await lastEndOf(site, endpointId)).toEqual({ why: 'RELEASED', followedBy: 'OFFLINE' })
  expect((await site.call('GET', '/gateways')).body).toEqual({ gateways: [] })
  expect((await site.call('GET', site.items())).status).toBe(404)
})

test('roomsDelete takes a gateway with its items, and removes the items of others in the room [contract 13.rooms]', async () => {
  const site = await newSite()
  const { device, endpointId } = await enrolled(site)
  const second = await startGateway(harness, site, { roomId: 3 })
  const item = (await site.call('POST', `/gateways/${second.id}/devices`, { body: { ...codec, roomId: 1 } })).body
  const { version } = await second.list()
  expect((await site.call('DELETE', '/rooms/1')).body).toEqual({})
  await device.ended()
  const endpoint = (await site.call('GET', `/endpoints/${endpointId}`)).body
  expect(endpoint).toMatchObject({ state: 'OFFLINE', roomId: 2 })
  expect(endpoint).not.toHaveProperty('via')
  expect(await second.list()).toMatchObject({ version: version + 1, devices: [{ id: item.id, state: 'REMOVED' }] })
  const path = `/gateways/${second.id}/devices/${item.id}`
  const removed = (await site.call('GET', path)).body
  expect(removed).toMatchObject({ state: 'REMOVED', reason: expect.stringContaining('room was deleted') })
  expect(removed).not.toHaveProperty('roomId')
  expect((await site.call('POST', `${path}/retry`)).body).toMatchObject({ code: 'FAILED_PRECONDITION' })
  await site.call('PUT', path, { body: { roomId: 2 } })
  expect((await site.call('POST', `${path}/retry`)).body).toMatchObject({ state: 'NEW', roomId: 2 })
})

test('a device that enrols by itself takes its endpoint from the gateway [contract 13.enrolment]', async () => {
  const site = await newSite()
  const id = await site.add({ ...codec, roomId: 2 })
  const serial = newSerial()
  const { body } = await site.gateway.enrol(id, { serial, manufacturer: 'Neat', model: 'NF19B1' })
  const direct = await enrolTestDevice(harness, site, { roomId: 2, serial })
  expect(direct.answer.endpointId).toBe(body.endpointId)
  expect((await site.call('GET', `/endpoints/${body.endpointId}`)).body).not.toHaveProperty('via')
  expect(await site.item(id)).toMatchObject({ state: 'DUPLICATE' })
  expect(await site.item(id)).not.toHaveProperty('endpointId')
})
