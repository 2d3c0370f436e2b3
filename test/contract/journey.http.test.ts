// Tests the life of one device over real HTTP and MQTT, from enrolment to unenrolment.
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { until } from '../support/program.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const read = async (path: string) => (await org.call('GET', path)).body
const write = async (method: string, path: string, body?: unknown) => {
  const reply = await org.call(method, path, { body })
  expect(reply.status, reply.text).toBe(200)
  return reply.body
}
const stateOf = async (id: string) => (await read(`/operations/${id}`)).state

/** Disconnects and connects again, as hardware does. */
async function reboots(device: TestDevice, command: { id: string }) {
  await device.publish('operation', { id: command.id, state: 'ACKNOWLEDGED' })
  expect(await stateOf(command.id)).toBe('ACKNOWLEDGED')
  device.drop()
  await until('the device is disconnected', async () => !(await read(`/endpoints/${device.id}`)).connected)
  harness.clock.advance(1000)
  await device.connect()
  await device.publish('operation', { id: command.id, state: 'SUCCEEDED' })
}

test('enrol, report, configure, reboot the pair, move, bug report, unenrol', async () => {
  const room = await write('POST', '/rooms', { name: 'Fjord' })
  const other = await write('POST', '/rooms', { name: 'Skog' })
  const bar = await newDevice(harness, org, { roomId: room.id, serial: 'BAR1', model: 'NF19B1' })
  const pad = await newDevice(harness, org, { roomId: room.id, serial: 'PAD1', model: 'NF19A1', pairingSerial: 'BAR1' })
  expect(await read(`/rooms/${room.id}`)).toMatchObject({ state: 'HEALTHY', endpoints: [{}, {}] })

  // The device reports its status and a sample.
  await bar.publish('status', { firmwareVersion: 'NFB1.1', primaryMode: 'zoom', inCallStatus: 'NONE' })
  await bar.publish('sample', { samples: [{ timestamp: Math.floor(harness.clock.now() / 1000), people: 3, co2: 640 }] })
  expect((await read(`/endpoints/${bar.id}/sensor`)).endpointData.data[0]).toMatchObject({ people: 3, co2: 640 })
  expect((await read('/endpoints')).endpoints.map((e: { serial: string }) => e.serial).sort()).toEqual(['BAR1', 'PAD1'])

  // The operator applies a config.
  await write('POST', `/endpoints/${bar.id}/config`, { nightMode: true, settingsPassword: 'opensesame' })
  const desired = await bar.next('config')
  expect(desired).toEqual({ version: 1, config: { nightMode: true, settingsPassword: 'opensesame' } })
  await bar.publish('config', { version: 1, config: { nightMode: true, neatOtaChannel: 'stable' } })
  expect(await read(`/endpoints/${bar.id}/config/state`)).toMatchObject({ version: 1, state: 'DELIVERED' })
  expect(await read(`/endpoints/${bar.id}/config`)).toEqual({
    nightMode: true,
    neatOtaChannel: 'stable',
    primaryMode: 'zoom',
  })

  // A reboot of the pad reboots the bar too.
  const { operations } = await write('POST', `/endpoints/${pad.id}/reboot`)
  expect(operations.map((o: { endpointId: string }) => o.endpointId).sort()).toEqual([bar.id, pad.id].sort())
  await Promise.all([bar, pad].map(async (device) => reboots(device, await device.next('operation'))))
  for (const { id } of operations) expect(await stateOf(id)).toBe('SUCCEEDED')

  // Moving the pad moves the bar too.
  const moved = await write('POST', '/endpoints/move_paired', { endpointIds: [pad.id, pad.id], roomId: other.id })
  expect(moved.endpointIds.sort()).toEqual([bar.id, pad.id].sort())
  expect((await read(`/rooms/${room.id}`)).state).toBe('EMPTY')
  expect((await read(`/rooms/${other.id}`)).endpoints).toHaveLength(2)

  // The operator requests a bug report, and the device uploads its logs.
  const { supportId } = await write('POST', '/endpoints/generate_bug_report', [bar.id])
  const { logs, id: logsId } = await bar.next('operation')
  expect(logs).toMatchObject({ supportId, inCallLogs: false })
  const bundle = gzipSync('everything was fine until it was not')
  const uploaded = await fetch(logs.uploadUrl, {
    method: 'PUT',
    headers: { authorization: `Basic ${btoa(`${bar.id}:${bar.credential}`)}`, 'content-type': 'application/gzip' },
    body: bundle,
  })
  expect(uploaded.status).toBe(200)
  await bar.publish('logs', { id: logsId, state: 'UPLOADED' })
  const report = await read(`/bug_reports/${supportId}`)
  expect(report.endpoints).toMatchObject([{ endpointId: bar.id, state: 'UPLOADED', size: String(bundle.length) }])
  const file = await org.client.bugReportsFileGet({ supportId, name: report.endpoints[0].file })
  expect(Buffer.from(await file.body.arrayBuffer()).equals(bundle)).toBe(true)

  // The operator unenrols the bar.
  await write('DELETE', `/endpoints/${bar.id}`)
  await bar.ended(1000)
  await expect(bar.connect(), 'it is told that it was unenrolled').rejects.toThrow('closed')
  expect((await read(`/rooms/${other.id}`)).endpoints).toHaveLength(1)
  expect(await read(`/bug_reports/${supportId}`)).toEqual(report)

  const types = (await org.audit()).map((e) => e.type).reverse()
  expect(types.filter((t) => t.startsWith('DEVICE_'))).toEqual([
    'DEVICE_ENROLLED',
    'DEVICE_ENROLLED',
    'DEVICE_CONFIG_CHANGED',
    'DEVICE_REBOOT_REQUESTED',
    'DEVICE_MOVED',
    'DEVICE_LOGS_REQUESTED',
    'DEVICE_REMOVED',
  ])
  const written = JSON.stringify([await org.audit(), harness.logged])
  for (const secret of ['opensesame', bar.credential, pad.credential]) expect(written).not.toContain(secret)
  await pad.close()
})
