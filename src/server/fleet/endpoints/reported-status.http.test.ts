// Status reports of devices of any maker, and how answers show them. [contract 5.1] [contract 5.1.readings]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { csvLines } from '../../../../test/support/csv-lines.ts'
import { fullStatusReport, reportedCases } from '../../../../test/support/devices/reported-cases.ts'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { follow } from '../../../../test/support/event-follower.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { secondMs } from '../../../contract/durations.ts'
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

/** The fields as an answer shows them. Given values can replace `name` and `sleeps`, but not `reportedName` and `reportedSleeps`. */
const shownFields = (fields: Readonly<Record<string, unknown>>) => {
  const { name, sleeps } = fields
  return {
    ...fields,
    ...(name !== undefined && { reportedName: name }),
    ...(sleeps !== undefined && { reportedSleeps: sleeps }),
  }
}

/** Follows the status events. The function counts those since its last call; several changes of an endpoint can share one. */
async function countStatusEvents(): Promise<() => Promise<number>> {
  const reader = await follow(org.client, { types: 'status,structure' })
  let counted = 0
  const count = async () => {
    const before = counted
    // The event of this change comes after all of them.
    await org.call('PUT', '/rooms/1', { body: { name: `Fjord ${reader.events.length}` } })
    await reader.next('structure')
    counted = reader.of('status').length
    return counted - before
  }
  await count()
  return count
}

test('every field of a status is shown, in the list too if the console saves it as CSV, and kept by a report that does not name it [contract 5.1]', async () => {
  await device.publish('status', fullStatusReport)
  expect(await shown()).toMatchObject(shownFields(fullStatusReport))
  await device.publish('status', { power: 'ON' })
  await device.publish('status', { power: 'STANDBY' })
  expect(await shown()).toMatchObject(shownFields(fullStatusReport))
  const { endpoints } = (await org.call('GET', '/endpoints')).body
  const inFile = Object.entries(reportedCases).filter(([, { consoleCsv }]) => consoleCsv)
  expect(endpoints).toMatchObject([Object.fromEntries(inFile.map(([name, { value }]) => [name, value]))])
})

test('every field of a status has a cell in the CSV of the list, even for a list of names or of a gateway [contract 6.csv]', async () => {
  const cells = Object.entries(reportedCases).map(([name, { cell }]) => [name, cell])
  const rowAt = async (path: string) => {
    const { text } = await org.call('GET', path, { headers: { accept: 'text/csv' } })
    const [header = [], row = [], ...others] = csvLines(text)
    expect(others).toEqual([])
    return Object.fromEntries(header.map((name, column) => [name, row[column]]))
  }
  for (const path of ['/endpoints', `/endpoints?ids=${device.id}`]) {
    expect(await rowAt(path), path).toMatchObject(Object.fromEntries(cells))
  }
  const [faults, inputs] = [[{ code: 'fan', level: 'INFO', text: 'slow' }], ['=1+1', 'HDMI 2']]
  await device.publish('status', { faults: [...faults, { ...faults[0], code: 'lamp' }], inputs, sensors: [] })
  expect(await rowAt('/endpoints')).toMatchObject({
    faults: 'INFO fan: slow; INFO lamp: slow',
    inputs: "'=1+1; HDMI 2",
    sensors: '',
  })
  await device.publish('status', fullStatusReport)
})

test('every field of a status is refused if its value is wrong, and nothing of such a report is stored [contract 5.1]', async () => {
  const before = await shown()
  for (const [name, { wrong }] of Object.entries(reportedCases)) {
    for (const value of wrong) {
      await device.publish('status', { volume: 41, [name]: value })
      const refusal = await device.next('message-refused')
      expect(refusal.field, `${name}: ${JSON.stringify(value)}`).toMatch(new RegExp(`^/${name}(/|$)`))
      // Many bad messages within a minute slow a device down.
      harness.clock.advance(7 * secondMs)
    }
  }
  expect(await shown()).toEqual(before)
})

test('every field of a status is cleared by null, and no other field with it [contract 5.1]', async () => {
  const left = new Map(Object.entries(fullStatusReport))
  const reported = async () => {
    const { networks, ...endpoint } = await shown()
    const names = new Set([...Object.keys(reportedCases), 'reportedName', 'reportedSleeps'])
    const entries = Object.entries({ ...endpoint, ...(networks.length > 0 && { networks }) })
    return Object.fromEntries(entries.filter(([name]) => names.has(name)))
  }
  expect(await reported()).toEqual(shownFields(fullStatusReport))
  for (const name of Object.keys(reportedCases)) {
    await device.publish('status', { [name]: null })
    left.delete(name)
    expect(await reported(), name).toEqual(shownFields(Object.fromEntries(left)))
  }
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

test('a start that differs by less than a minute is the same start, and makes no event [contract 5.1.readings]', async () => {
  const eventCount = await countStatusEvents()
  await device.publish('status', { startedAt: '2026-05-01T06:00:00.000Z' })
  expect(await eventCount()).toBe(1)
  await device.publish('status', { startedAt: '2026-05-01T06:00:59.000Z' })
  expect(await shown()).toMatchObject({ startedAt: '2026-05-01T06:00:00.000Z' })
  expect(await eventCount()).toBe(0)
  await device.publish('status', { startedAt: '2026-05-01T06:01:00.000Z' })
  expect(await shown()).toMatchObject({ startedAt: '2026-05-01T06:01:00.000Z' })
  expect(await eventCount()).toBe(1)
  await device.publish('status', { startedAt: null })
})

test('readings and signals are shown at once, make no event, and leave the list of endpoints cached [contract 5.1.readings]', async () => {
  const wifi = { type: 'NETWORK_TYPE_WIFI', addresses: [], gateway: [] }
  await device.publish('status', { networks: [wifi, { ...wifi, signalDbm: -70 }] })
  const cache = new EndpointCache(harness.services)
  const eventCount = await countStatusEvents()
  const list = await cache.list(org.org.key)
  await device.publish('status', { readings: [{ name: 'lampHours', value: 1201, unit: 'h' }] })
  await device.publish('status', { networks: [wifi, { ...wifi, signalDbm: -71 }] })
  expect(await shown()).toMatchObject({ readings: [{ value: 1201 }], networks: [wifi, { ...wifi, signalDbm: -71 }] })
  expect(await cache.list(org.org.key), 'the same answer').toBe(list)
  expect(await eventCount()).toBe(0)
  await device.publish('status', { power: 'ON' })
  expect(await cache.list(org.org.key), 'another answer').not.toBe(list)
  expect(await eventCount(), 'one for the power').toBe(1)
})
