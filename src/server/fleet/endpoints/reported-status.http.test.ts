// Status reports of devices of any maker, and how answers show them. [contract 5.1] [contract 5.1.readings]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { follow } from '../../../../test/support/event-follower.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { EndpointCache } from './endpoint-cache.ts'

let harness: Harness
let org: TestOrg
let device: TestDevice
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  device = await newDevice(harness, org, { roomId: 1, model: 'PX-900' })
})
afterAll(() => harness.close())

const shown = async (id = device.id) => (await org.call('GET', `/endpoints/${id}`)).body

const projector = {
  name: 'Projector above the table',
  manufacturer: 'Lumen',
  kind: 'PROJECTOR',
  hardwareVersion: 'B2',
  appVersion: '4.1',
  startedAt: '2026-05-01T06:00:00.000Z',
  power: 'ON',
  sleeps: true,
  activeInput: 'HDMI 1',
  inputs: ['HDMI 1', 'HDMI 2'],
  inputResolution: '1920x1080',
  volume: 40,
  muted: false,
  sensors: ['temp'],
  peopleIs: 'PRESENCE',
  actions: ['reboot', 'power'],
  configKeys: ['timezone'],
  peripherals: [{ id: 'cam-1', name: 'Camera', kind: 'CAMERA', serial: 'C1', version: '1.2', connected: true }],
  faults: [{ code: 'lamp.old', level: 'WARNING', text: 'The lamp is worn out.' }],
  readings: [{ name: 'lampHours', value: 1200, unit: 'h' }],
  facts: [{ name: 'lens', text: 'short throw' }],
  networks: [{ type: 'NETWORK_TYPE_WIFI', dnsServers: ['192.0.2.53'], signalDbm: -61, addresses: [], gateway: [] }],
}

test('every field of a status is shown, kept by a report that does not name it, and cleared by null [contract 5.1]', async () => {
  await device.publish('status', projector)
  expect(await shown()).toMatchObject(projector)
  await device.publish('status', { power: 'STANDBY' })
  expect(await shown()).toMatchObject({ ...projector, power: 'STANDBY' })
  const names = Object.keys(projector)
  await device.publish('status', Object.fromEntries(names.map((name) => [name, null])))
  const { networks, ...cleared } = await shown()
  expect(networks).toEqual([])
  expect(Object.keys(cleared).filter((name) => names.includes(name))).toEqual([])
})

test('the last of several faults with the same code counts, and so does the last of equal facts', async () => {
  const fault = { code: 'fan', level: 'INFO', text: 'slow' }
  const lens = { name: 'lens', text: 'wide' }
  await device.publish('status', { faults: [fault, { ...fault, level: 'CRITICAL' }], facts: [lens, lens] })
  expect(await shown()).toMatchObject({ faults: [{ ...fault, level: 'CRITICAL' }], facts: [lens] })
  await device.publish('status', { faults: null, facts: null })
})

test('a model that is known has the kind and the maker of the table, whatever it reports [contract 5.1.kind]', async () => {
  for (const [model, kind] of [
    ['NF19A1', 'CONTROLLER'],
    ['NF23L1', 'CAMERA'],
    ['NF19B1', 'CODEC'],
  ]) {
    const known = await newDevice(harness, org, { roomId: 1, model: `${model}` })
    await known.publish('status', { kind: 'OTHER', manufacturer: 'Other' })
    expect(await shown(known.id)).toMatchObject({ kind, manufacturer: 'Neat' })
  }
})

test('the list has the maker that a device of an unknown model reports [contract 4.endpointsBasicList]', async () => {
  await device.publish('status', { manufacturer: 'Lumen' })
  const known = await newDevice(harness, org, { roomId: 1, model: 'NF19B1' })
  await known.publish('status', { manufacturer: 'Other' })
  const { endpoints } = (await org.call('GET', '/endpoints')).body
  const makerOf = (wanted: string) => endpoints.find(({ id }: { id: string }) => id === wanted).manufacturer
  expect([makerOf(device.id), makerOf(known.id)]).toEqual(['Lumen', undefined])
  await device.publish('status', { manufacturer: null })
})

test('a start that differs by less than a minute is the same start [contract 5.1.readings]', async () => {
  await device.publish('status', { startedAt: '2026-05-01T06:00:00.000Z' })
  await device.publish('status', { startedAt: '2026-05-01T06:00:59.000Z' })
  expect(await shown()).toMatchObject({ startedAt: '2026-05-01T06:00:00.000Z' })
  await device.publish('status', { startedAt: '2026-05-01T06:01:00.000Z' })
  expect(await shown()).toMatchObject({ startedAt: '2026-05-01T06:01:00.000Z' })
})

test('readings and signals are shown at once, make no event, and leave the list of endpoints cached [contract 5.1.readings]', async () => {
  const wifi = { type: 'NETWORK_TYPE_WIFI', addresses: [], gateway: [] }
  await device.publish('status', { networks: [wifi, { ...wifi, signalDbm: -70 }] })
  const cache = new EndpointCache(harness.services)
  const reader = await follow(org.client, { types: 'status' })
  const list = await cache.list(org.org.key)
  await device.publish('status', { readings: [{ name: 'lampHours', value: 1201, unit: 'h' }] })
  await device.publish('status', { networks: [wifi, { ...wifi, signalDbm: -71 }] })
  expect(await shown()).toMatchObject({ readings: [{ value: 1201 }], networks: [wifi, { ...wifi, signalDbm: -71 }] })
  expect(await cache.list(org.org.key), 'the same answer').toBe(list)
  await device.publish('status', { power: 'ON' })
  expect(await cache.list(org.org.key), 'another answer').not.toBe(list)
  await reader.next('status')
  expect(reader.events, 'one for the power').toHaveLength(1)
})
