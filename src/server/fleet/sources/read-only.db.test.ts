// Mirrored devices that can only be read: nothing is set on them or sent to them, and refusals say so. [contract 15.devices] [contract 5.1.actions]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newSourceSite, pulseSource, type SourceSite } from '../../../../test/support/devices/source-site.ts'
import type { TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** A mirrored device in a room with a profile. */
async function newMirror(body: object): Promise<{ site: SourceSite; device: TestDevice }> {
  const site = await newSourceSite(harness, { body })
  const [room] = site.rooms
  const profile = { name: 'Quiet', config: { nightMode: true } }
  const { id } = (await site.call('POST', '/profiles', { body: profile })).body.profile
  await site.call('PUT', `/rooms/${room}/profile`, { body: { profileId: id } })
  const device = await site.connect(await site.adopt('bar'))
  return { site, device }
}

test('a device of a source that is only read gets no profile, no restart, no message and no settings [contract 15.devices]', async () => {
  const { site, device } = await newMirror(pulseSource)
  const { call } = site
  const read = async () => (await call('GET', `/endpoints/${device.id}`)).body
  expect(await read()).not.toHaveProperty('profileId')
  await device.publish('status', { actions: [] })
  await until('the actions are stored', async () => (await read()).actions?.length === 0)
  expect((await site.audit()).map(({ type }) => type)).not.toContain('DEVICE_PROFILE_REMOVED')
  const refused = async (method: string, path: string, body?: object) =>
    (await call(method, `/endpoints/${device.id}${path}`, body && { body })).body
  expect(await refused('POST', '/reboot')).toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: expect.stringContaining('cannot be restarted remotely'),
  })
  expect(await refused('POST', '/config', { brightness: 0.5 })).toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: expect.stringContaining('settings of the device cannot be changed remotely'),
  })
  expect(await refused('POST', '/power', { on: false })).toMatchObject({
    message: expect.stringContaining('cannot be switched on or off remotely'),
  })
  const message = { message: 'Fire drill at ten.', endpointIds: [device.id] }
  const sent = await call('POST', '/endpoints/send_message', { body: message })
  expect(sent.body.operations).toMatchObject([{ state: 'SKIPPED', error: 'The device cannot show messages.' }])
  const job = { name: 'Restart', target: { endpointIds: [device.id] }, action: { type: 'REBOOT' } }
  const plan = (await call('POST', '/jobs/plan', { body: job })).body
  expect(JSON.stringify(plan)).toContain('cannot do REBOOT. Look at their actions')
  await device.close()
})

test('a device of Neat Pulse takes no profile, even with write access: neither from a room, nor directly, nor by a job [contract 15.devices]', async () => {
  const { site, device } = await newMirror({ ...pulseSource, write: true })
  const { call, rooms, gateway } = site
  const [room, other] = rooms
  const profile = (await call('GET', '/profiles')).body.profiles[0].id
  const read = async () => (await call('GET', `/endpoints/${device.id}`)).body
  const versions = async () => (await call('GET', `/endpoints/${device.id}/config/versions`)).body.versions
  await call('PUT', `/rooms/${room}/profile`, { body: { profileId: null } })
  for (const id of [room, other]) await call('PUT', `/rooms/${id}/profile`, { body: { profileId: profile } })
  const move = { endpointIds: [device.id], roomId: other, assignRoomProfile: true }
  expect((await call('POST', '/endpoints/move_paired', { body: move })).status).toBe(200)
  const direct = await call('PUT', `/endpoints/${device.id}/profile`, { body: { profileId: profile } })
  expect(direct.body).toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: expect.stringContaining('its settings come from Neat Pulse'),
  })
  const job = {
    name: 'Quiet',
    target: { endpointIds: [device.id] },
    action: { type: 'ASSIGN_PROFILE', profileId: profile },
  }
  expect((await call('POST', '/jobs/plan', { body: job })).text).toContain('cannot do ASSIGN_PROFILE')
  expect(await read()).not.toHaveProperty('profileId')
  expect(await versions()).toEqual([])

  // Its settings can be changed. When the device enrols again, nothing of that is sent again.
  expect((await call('POST', `/endpoints/${device.id}/config`, { body: { brightness: 0.5 } })).status).toBe(200)
  const { deviceId } = await site.device('bar')
  const { serial, model } = await read()
  await device.close()
  const again = await gateway.enrol(String(deviceId), { serial, model, manufacturer: 'Neat' })
  expect(again.body.endpointId).toBe(device.id)
  const state = async () => (await call('GET', `/endpoints/${device.id}/config/state`)).body
  expect(await state()).toMatchObject({ desired: {}, profile: {} })
  expect(await read()).not.toHaveProperty('profileId')
  expect((await versions()).map((one: { version: number }) => one.version)).toEqual([2, 1])
  expect((await call('POST', `/endpoints/${device.id}/config`, { body: { nightMode: true } })).status).toBe(200)
  expect((await state()).desired).toEqual({ nightMode: true })
})
