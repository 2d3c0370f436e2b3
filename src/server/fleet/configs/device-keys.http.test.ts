// Tests that a device is sent only the settings that it has. [contract 5.3.keys]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { resendAfterMs } from '../../../contract/device/protocol.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const stateOf = async (id: string) => (await org.call('GET', `/endpoints/${id}/config/state`)).body

async function roomWithProfile(config: object) {
  const { id: profileId } = (await org.call('POST', '/profiles', { body: { name: 'Quiet', config } })).body.profile
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id as number
  await org.call('PUT', `/rooms/${roomId}/profile`, { body: { profileId } })
  return { profileId: profileId as number, roomId }
}

test('keys of a profile that a device does not have are not sent, and are not rejected', async () => {
  const { profileId, roomId } = await roomWithProfile({ nightMode: true, brightness: 0.4 })
  const display = await newDevice(harness, org, { roomId, model: 'D-55', offline: true })
  const bar = await newDevice(harness, org, { roomId, offline: true })
  await display.connect({ subscribe: false })
  await display.publish('status', { configKeys: ['brightness', 'volumeOfTheMaker'] })
  await display.close()
  await display.connect()
  expect(await display.next('config')).toEqual({ version: 1, config: { brightness: 0.4 } })
  const rejected = { nightMode: 'unknown setting' }
  await display.publish('config', { version: 1, config: { brightness: 0.4 }, rejected })
  const state = await stateOf(display.id)
  expect(state).toMatchObject({ version: 1, state: 'DELIVERED', rejected: {}, notForDevice: ['nightMode'] })
  expect(await stateOf(bar.id)).not.toHaveProperty('notForDevice')
  const reach = (await org.call('GET', `/profiles/${profileId}/reach`)).body
  expect(reach).toMatchObject({ endpointCount: 2, deliveredCount: 1, rejectedCount: 0, notForDeviceCount: 1 })
  const listed = new Map(reach.rooms[0].endpoints.map((one: { id: string }) => [one.id, one]))
  expect(listed.get(display.id)).toMatchObject({ state: 'DELIVERED', notForDevice: ['nightMode'] })
  expect(listed.get(bar.id)).not.toHaveProperty('notForDevice')

  // With other settings, the config means something else: a key is sent that was left out before.
  harness.clock.advance(resendAfterMs)
  await display.publish('status', { configKeys: ['brightness', 'nightMode'] })
  expect(await display.next('config')).toEqual({ version: 1, config: { brightness: 0.4, nightMode: true } })
  expect(await stateOf(display.id)).toMatchObject({ version: 1, state: 'PENDING' })
  await display.publish('config', { version: 1, config: {}, rejected })
  expect(await stateOf(display.id)).toMatchObject({ state: 'FAILED', rejected })
  // A report with an unchanged list does not send the config again.
  await display.publish('status', { configKeys: ['brightness', 'nightMode'] })
  expect(await stateOf(display.id)).toMatchObject({ state: 'FAILED', rejected })
  await display.publish('status', { configKeys: null })
  expect(await stateOf(display.id)).toMatchObject({ state: 'PENDING' })
  await display.close()
})

test('endpointsApplyConfig refuses settings that the device does not have, and removes them all the same', async () => {
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Skog' } })).body.id as number
  const display = await newDevice(harness, org, { roomId, model: 'D-55' })
  const apply = (body: object) => org.call('POST', `/endpoints/${display.id}/config`, { body })
  expect((await apply({ nightMode: true, brightness: 0.5 })).status).toBe(200)
  await display.publish('status', { configKeys: ['brightness'] })
  const before = await org.audit()
  const refused = await apply({ bluetooth: true, nightMode: false, brightness: 0.1 })
  expect(refused).toMatchObject({ status: 400, body: { code: 'FAILED_PRECONDITION' } })
  expect(refused.body.message).toContain('does not have these settings: bluetooth, nightMode. Leave them out.')
  expect(await org.audit()).toEqual(before)
  // A client may send back what it read.
  expect((await apply({ nightMode: true, brightness: 0.2 })).status).toBe(200)
  expect((await apply({ nightMode: null })).status).toBe(200)
  expect(await stateOf(display.id)).toMatchObject({ desired: { brightness: 0.2 } })
  await display.close()
})

test('a CONFIG job sets the keys that each device has, and leaves out devices that have none of them', async () => {
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Vidde' } })).body.id as number
  const bar = await newDevice(harness, org, { roomId })
  const display = await newDevice(harness, org, { roomId, model: 'D-55' })
  const speaker = await newDevice(harness, org, { roomId, model: 'S-1' })
  await display.publish('status', { configKeys: ['brightness'] })
  await speaker.publish('status', { configKeys: [] })
  const config = { brightness: 0.3, nightMode: true }
  const body = { name: 'Dim', target: { roomIds: [roomId] }, action: { type: 'CONFIG', config } }
  const plan = (await org.call('POST', '/jobs/plan', { body })).body
  expect(plan).toMatchObject({ endpointCount: 2, unableCount: 1 })
  expect(plan.present).toEqual({ brightness: [{ endpointCount: 2 }], nightMode: [{ endpointCount: 1 }] })
  await org.call('POST', '/jobs', { body: { ...body, start: true } })
  expect((await bar.next('config')).config).toEqual(config)
  expect((await display.next('config')).config).toEqual({ brightness: 0.3 })
  expect(await stateOf(display.id)).toMatchObject({ desired: { brightness: 0.3 } })
  for (const device of [bar, display, speaker]) await device.close()
})
