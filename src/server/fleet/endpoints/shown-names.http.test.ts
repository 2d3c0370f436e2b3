// The name of a device is shown by everything that is about the device. [contract 5.1.label]
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { Receiver } from '../../../../test/support/channels/receiver.ts'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { newIncident } from '../../../../test/support/incidents.ts'
import { newTwoRegions } from '../../../../test/support/places/two-regions.ts'
import { until } from '../../../../test/support/program.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
})
afterAll(() => harness.close())

interface NamedDevice {
  readonly org: TestOrg
  readonly device: TestDevice
  rename(name: string | null): Promise<void>
}

async function newNamedDevice(name: string): Promise<NamedDevice> {
  const org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  const device = await newDevice(harness, org, { roomId: 1, serial: 'NB1JWSL00431000' })
  onTestFinished(async () => {
    await device.close()
    // Serials are unique in the service.
    await org.call('DELETE', `/endpoints/${device.id}`)
  })
  const rename = async (to: string | null) => {
    expect((await org.call('PUT', `/endpoints/${device.id}`, { body: { name: to } })).status).toBe(200)
  }
  await rename(name)
  return { org, device, rename }
}

test('an incident has the present name of its devices in title, cause and subjects, and its ETag changes with it [contract 10.states]', async () => {
  const { org, device, rename } = await newNamedDevice('Bar at the window')
  const id = await newIncident(harness, org, { endpoints: [device.id] })
  const read = async () => {
    const { body, headers } = await org.call('GET', `/incidents/${id}`)
    return { names: [body.title, body.cause.name, body.subjects[0].name], etag: headers.get('etag') }
  }
  const before = await read()
  const named = (name: string) => [`${name} in Fjord is low on storage`, name, name]
  expect(before.names).toEqual(named('Bar at the window'))
  await rename('Bar at the door')
  const renamed = await read()
  expect(renamed.names).toEqual(named('Bar at the door'))
  expect(renamed.etag).not.toBe(before.etag)
  const [listed] = (await org.call('GET', '/incidents')).body.incidents
  expect([listed.title, listed.cause.name]).toEqual(named('Bar at the door').slice(0, 2))
  await rename(null)
  // The room is named too, and has no other device of this model.
  expect((await read()).names).toEqual(['Bar in Fjord is low on storage', 'Bar 431000', 'Bar 431000'])
})

test('an incident of many devices has another ETag when one of them gets another name', async () => {
  const { org, device, rename } = await newNamedDevice('First')
  const others = await Promise.all([1, 2, 3].map(() => newDevice(harness, org, { roomId: 1, offline: true })))
  const endpoints = [device, ...others].map((one) => one.id)
  const id = await newIncident(harness, org, { level: 'MODEL', causeName: 'NF19B1', endpoints })
  const read = () => org.call('GET', `/incidents/${id}`)
  const before = await read()
  expect(before.body.title).toBe('4 Bar devices in Fjord are low on storage')
  await rename('Second')
  const after = await read()
  expect(after.body.subjects.map((subject: { name: string }) => subject.name)).toContain('Second')
  expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'))
})

test('a device that was removed, or moved to where the caller does not see it, keeps the name that it had [contract 11.access]', async () => {
  const t = await newTwoRegions(harness)
  const id = await newIncident(harness, t.org, {
    rule: 'device.flapping',
    endpoints: [t.mine.endpoint],
    state: 'RESOLVED',
  })
  const path = `/endpoints/${t.mine.endpoint}`
  const title = async (call: typeof t.call) => (await call('GET', `/incidents/${id}`)).body.title
  await t.org.call('PUT', path, { body: { name: 'Public' } })
  expect(await title(t.call)).toBe('Public in MINE room (MINE site) keeps disconnecting')
  await t.org.call('POST', '/endpoints/move_paired', { body: { endpointIds: [t.mine.endpoint], roomId: t.other.room } })
  await t.org.call('PUT', path, { body: { name: 'Secret' } })
  expect(await title(t.call)).toBe('Bar NE-BAR in MINE room (MINE site) keeps disconnecting')
  expect(await title(t.org.call)).toBe('Secret in MINE room (MINE site) keeps disconnecting')
  await t.org.call('DELETE', path)
  expect(await title(t.org.call)).toBe('Bar NE-BAR in MINE room (MINE site) keeps disconnecting')
})

test('messages name the device: what happens to it, its commands, its settings and its incidents [contract 10.delivery]', async () => {
  const { org, device, rename } = await newNamedDevice('Bar at the window')
  const receiver = await Receiver.start()
  const events = [
    ...['endpoint.disconnected', 'endpoint.removed', 'operation.finished', 'config.delivered'],
    'incident.acknowledged',
  ]
  await org.call('POST', '/channels', { body: { name: 'Hook', kind: 'webhook', events, url: receiver.url } })
  const told = (type: string) =>
    until(`${type} is told`, () => receiver.accepted.find((body) => body.type === type)?.data as Record<string, never>)
  await org.call('POST', `/endpoints/${device.id}/config`, { body: { nightMode: true } })
  const { version } = await device.next('config')
  await device.publish('config', { version, config: { nightMode: true } })
  expect(await told('config.delivered')).toMatchObject({
    config: { endpointId: device.id, endpointName: 'Bar at the window' },
  })
  await rename('Bar at the door')
  const id = await newIncident(harness, org, { endpoints: [device.id] })
  await org.call('POST', `/incidents/${id}/acknowledge`, { body: {} })
  expect(await told('incident.acknowledged')).toMatchObject({
    incident: { title: 'Bar at the door in Fjord is low on storage', cause: { name: 'Bar at the door' } },
  })
  device.drop()
  const endpoint = { id: device.id, name: 'Bar at the door', serial: device.serial, model: device.model }
  expect(await told('endpoint.disconnected')).toMatchObject({ endpoint })
  await org.call('POST', '/endpoints/send_message', { body: { endpointIds: [device.id], message: 'Hello' } })
  await org.call('DELETE', '/rooms/1')
  expect(await told('operation.finished')).toMatchObject({
    operation: { endpointId: device.id, endpointName: 'Bar at the door' },
  })
  expect(await told('endpoint.removed')).toMatchObject({ endpoint })
})

test('a job, the reach of a profile and a bug report name the device [contract 12.job]', async () => {
  const { org, device } = await newNamedDevice('Bar at the window')
  const action = { type: 'MESSAGE', message: 'Hello' }
  const target = { endpointIds: [device.id] }
  const job = await org.call('POST', '/jobs', { body: { name: 'Say hello', target, action } })
  expect(job.status, job.text).toBe(200)
  const { rooms: units } = (await org.call('GET', `/jobs/${job.body.id}/rooms`)).body
  expect(units[0].endpoints).toMatchObject([{ endpointId: device.id, name: 'Bar at the window' }])
  expect((await org.call('POST', '/profiles', { body: { name: 'Quiet', config: { nightMode: true } } })).status).toBe(
    200,
  )
  await org.call('PUT', '/rooms/1/profile', { body: { profileId: 1 } })
  const reach = (await org.call('GET', '/profiles/1/reach')).body
  expect(reach.rooms[0].endpoints).toMatchObject([{ name: 'Bar at the window', serial: device.serial }])
  const { supportId } = (await org.call('POST', '/endpoints/generate_bug_report', { body: [device.id] })).body
  const report = (await org.call('GET', `/bug_reports/${supportId}`)).body
  expect(report.endpoints).toMatchObject([{ name: 'Bar at the window', serial: device.serial }])
})

test('the audit log names the device, and has its serial where the device is one of several [contract 5.4.audit]', async () => {
  const { org, device, rename } = await newNamedDevice('Bar at the window')
  const [renamed, enrolled] = await org.audit()
  expect(renamed.target).toEqual({ type: 'endpoint', id: device.id, name: 'Bar at the window' })
  expect(enrolled.target).toEqual({ type: 'endpoint', id: device.id, name: 'Bar 431000' })
  await rename('Bar at the door')
  await org.call('DELETE', '/rooms/1')
  const [deleted] = await org.audit()
  expect(deleted.details.affected).toEqual([
    { type: 'endpoint', id: device.id, name: 'Bar at the door', serial: device.serial },
  ])
})
