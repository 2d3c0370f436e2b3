// Tests how commands reach devices over MQTT, and how devices report on them. [contract 5.4.operation]

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { minuteMs } from '../../../contract/durations.ts'
import { listEndpointsWithOverdueCommand } from './progress.ts'
import { deleteOldCommands } from './retention.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

async function building(): Promise<TestOrg> {
  const org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  return org
}
async function message(org: TestOrg, { id }: TestDevice, text = 'Hello'): Promise<string> {
  const { body } = await org.call('POST', '/endpoints/send_message', { body: { message: text, endpointIds: [id] } })
  return body.operations[0].id
}
async function reboot(org: TestOrg, { id }: TestDevice): Promise<string> {
  return (await org.call('POST', `/endpoints/${id}/reboot`)).body.operations[0].id
}
const read = async (org: TestOrg, id: string) => (await org.call('GET', `/operations/${id}`)).body
const stateOf = async (org: TestOrg, id: string) => (await read(org, id)).state

/** Waits for a certain command, because others may be sent again before they are acknowledged. */
async function commanded(device: TestDevice, id: string, timeoutMs = 1_000) {
  for (;;) {
    const command = await device.next('operation', timeoutMs)
    if (command.id === id) return command
  }
}
const report = (device: TestDevice, id: string, state: string, error?: string) =>
  device.publish('operation', { id, state, ...(error && { error }) })

test('a message goes from QUEUED over SENT and ACKNOWLEDGED to SUCCEEDED, and no further', async () => {
  const org = await building()
  const device = await newDevice(harness, org, { roomId: 1 })
  const id = await message(org, device)
  await commanded(device, id)
  expect(await stateOf(org, id)).toBe('SENT')
  await report(device, id, 'ACKNOWLEDGED')
  expect(await stateOf(org, id)).toBe('ACKNOWLEDGED')
  await report(device, id, 'SUCCEEDED')
  const done = await read(org, id)
  expect(done).toMatchObject({ state: 'SUCCEEDED' })
  expect(done).not.toHaveProperty('error')
  for (const late of ['ACKNOWLEDGED', 'FAILED', 'SUCCEEDED']) await report(device, id, late, 'too late')
  expect(await read(org, id), 'what comes late or twice changes nothing').toEqual(done)
  expect((await org.audit())[0].type, 'progress is not audited').toBe('DEVICE_MESSAGE_SENT')
  await device.close()
})

test('FAILED keeps what the device said', async () => {
  const org = await building()
  const device = await newDevice(harness, org, { roomId: 1 })
  const id = await message(org, device)
  await commanded(device, id)
  await report(device, id, 'FAILED', 'The screen is off.')
  expect(await read(org, id)).toMatchObject({ state: 'FAILED', error: 'The screen is off.' })
  await device.close()
})

test('a reboot SUCCEEDED when the device has come back and names it, not before', async () => {
  const org = await building()
  const device = await newDevice(harness, org, { roomId: 1 })
  const id = await reboot(org, device)
  await commanded(device, id)
  await report(device, id, 'SUCCEEDED')
  expect(await stateOf(org, id), 'it is still there').toBe('ACKNOWLEDGED')
  device.drop()
  await device.connect()
  expect(await stateOf(org, id), 'it has not named it yet').toBe('ACKNOWLEDGED')
  await report(device, id, 'SUCCEEDED')
  expect(await stateOf(org, id)).toBe('SUCCEEDED')
  await device.close()
})

test.each([-3000, 0, 3000])(
  'a reboot succeeds over a later connection, and is sent once, if clocks differ by %i ms [contract D.24]',
  async (difference) => {
    const org = await building()
    const device = await newDevice(harness, org, { roomId: 1 })
    const id = await reboot(org, device)
    await commanded(device, id)
    await report(device, id, 'ACKNOWLEDGED')
    device.drop()
    // The next connection is made at a time that another clock tells.
    harness.clock.advance(difference)
    await device.connect()
    const next = await message(org, device)
    await commanded(device, next)
    harness.services.devices.wake([device.id])
    await report(device, id, 'SUCCEEDED')
    harness.clock.advance(-difference)
    expect(await stateOf(org, id)).toBe('SUCCEEDED')
    const sent = device.received.filter(({ kind }) => kind === 'operation').map(({ body }) => body.id)
    expect(sent).toEqual([id, next])
    await device.close()
  },
)

test('commands for an offline device reach it within a second of its reconnecting, the oldest first', async () => {
  const org = await building()
  const device = await newDevice(harness, org, { roomId: 1, offline: true })
  const ids: string[] = []
  for (const text of ['one', 'two', 'three']) {
    ids.push(await message(org, device, text))
    harness.clock.advance(1)
  }
  expect(await Promise.all(ids.map((id) => stateOf(org, id)))).toEqual(['QUEUED', 'QUEUED', 'QUEUED'])
  await device.connect()
  for (const id of ids) expect(await device.next('operation', 1_000)).toMatchObject({ id })
  await device.close()
})

test('a command that was sent and not acknowledged is sent again, under the same id', async () => {
  const org = await building()
  const device = await newDevice(harness, org, { roomId: 1 })
  const id = await message(org, device)
  await commanded(device, id)
  device.drop()
  await device.connect()
  await commanded(device, id)
  expect(await listEndpointsWithOverdueCommand(harness.services)).not.toContain(device.id)
  harness.clock.advance(minuteMs + 1)
  expect(await listEndpointsWithOverdueCommand(harness.services), 'a silent device gets the command again').toContain(
    device.id,
  )
  harness.services.devices.wake([device.id])
  await commanded(device, id)
  expect(await listEndpointsWithOverdueCommand(harness.services)).not.toContain(device.id)
  await report(device, id, 'ACKNOWLEDGED')
  harness.clock.advance(minuteMs + 1)
  expect(await listEndpointsWithOverdueCommand(harness.services)).not.toContain(device.id)
  device.drop()
  await device.connect()
  const next = await message(org, device)
  expect((await device.next('operation')).id, 'an acknowledged one is not').toBe(next)
  await device.close()
})

test('an operation expires at its deadline without anybody asking, sent or not', async () => {
  const org = await building()
  const [away, silent] = [
    await newDevice(harness, org, { roomId: 1, offline: true }),
    await newDevice(harness, org, { roomId: 1 }),
  ]
  const [queued, sent] = [await message(org, away), await message(org, silent)]
  await commanded(silent, sent)
  harness.clock.advance(4 * minuteMs)
  const young = await message(org, away, 'young')
  harness.clock.advance(minuteMs + 1)
  for (const id of [queued, sent]) await expect.poll(() => stateOf(org, id), { timeout: 3_000 }).toBe('EXPIRED')
  expect(await stateOf(org, young)).toBe('QUEUED')
  await report(silent, sent, 'SUCCEEDED')
  expect(await stateOf(org, sent), 'a final state stays').toBe('EXPIRED')
  await away.connect()
  expect((await away.next('operation')).id).toBe(young)
  expect((await org.call('DELETE', `/operations/${queued}`)).body.message).toContain('EXPIRED')
  for (const device of [away, silent]) await device.close()
})

test('a device reports its own operations only, and an unknown operation changes nothing', async () => {
  const [org, elsewhere] = [await building(), await building()]
  const [device, neighbour] = [
    await newDevice(harness, org, { roomId: 1 }),
    await newDevice(harness, org, { roomId: 1 }),
  ]
  const foreigner = await newDevice(harness, elsewhere, { roomId: 1 })
  const id = await message(org, device)
  await commanded(device, id)
  const before = await read(org, id)
  for (const other of [neighbour, foreigner]) {
    await report(other, id, 'SUCCEEDED')
    await report(other, randomUUID(), 'SUCCEEDED')
  }
  expect(await read(org, id)).toEqual(before)
  for (const each of [device, neighbour, foreigner]) await each.close()
})

test('logs are not there because a device says so: the upload decides', async () => {
  const org = await building()
  const device = await newDevice(harness, org, { roomId: 1 })
  const { supportId } = (await org.call('POST', '/endpoints/generate_bug_report', { body: [device.id] })).body
  const command = await device.next('operation')
  expect(command).toMatchObject({ type: 'COLLECT_LOGS', logs: { supportId, inCallLogs: false } })
  expect(command.logs.uploadUrl).toContain(command.id)
  await report(device, command.id, 'SUCCEEDED')
  expect(await stateOf(org, command.id)).toBe('ACKNOWLEDGED')
  await device.close()
})

test('commands that ended 90 days ago are deleted, and no others', async () => {
  const org = await building()
  const device = await newDevice(harness, org, { roomId: 1, offline: true })
  const old = await message(org, device)
  await org.call('DELETE', `/operations/${old}`)
  harness.clock.advance(89 * 24 * 60 * minuteMs)
  const recent = await message(org, device)
  await deleteOldCommands(harness.services)
  expect(await stateOf(org, old)).toBe('CANCELLED')
  harness.clock.advance(2 * 24 * 60 * minuteMs)
  await expect.poll(() => stateOf(org, recent), { timeout: 3_000 }).toBe('EXPIRED')
  await deleteOldCommands(harness.services)
  expect((await org.call('GET', `/operations/${old}`)).status).toBe(404)
  expect(await stateOf(org, recent)).toBe('EXPIRED')
})
