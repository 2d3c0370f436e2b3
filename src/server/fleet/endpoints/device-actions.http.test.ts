// Tests that a device is asked only for what it can do. [contract 5.1.actions]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const room = async (name = 'Fjord') => (await org.call('POST', '/rooms', { body: { name } })).body.id as number
const profile = async () =>
  (await org.call('POST', '/profiles', { body: { name: 'Quiet', config: { nightMode: true } } })).body.profile
    .id as number
const endpointOf = async ({ id }: TestDevice) => (await org.call('GET', `/endpoints/${id}`)).body
const versionsOf = async ({ id }: TestDevice) =>
  (await org.call('GET', `/endpoints/${id}/config/versions`)).body.versions as { version: number; state: string }[]
const refusal = (action: string, sentence: string) => ({
  status: 400,
  body: {
    code: 'FAILED_PRECONDITION',
    message: expect.stringMatching(new RegExp(`does not have the action ${action}\\. ${sentence}$`)),
  },
})

/** A device that can do only what is listed, and one that reports nothing. */
async function pair(actions: readonly string[], pairing = false) {
  org = await harness.newOrg()
  const roomId = await room()
  const bar = await newDevice(harness, org, { roomId })
  const sensor = await newDevice(harness, org, {
    ...{ roomId, model: 'AQ-1' },
    ...(pairing && { pairingSerial: bar.serial }),
  })
  await sensor.publish('status', { actions })
  return { roomId, bar, sensor, close: async () => void (await Promise.all([bar.close(), sensor.close()])) }
}

test('a message to a device without a screen is SKIPPED with a reason, and the others get it [clients]', async () => {
  const { roomId, bar, sensor, close } = await pair(['reboot'])
  const log = await org.audit()
  const replies = [
    await org.call('POST', '/endpoints/send_message', { body: { message: 'Hi', endpointIds: [sensor.id, bar.id] } }),
    await org.call('POST', '/rooms/send_message', { body: { message: 'Hi', roomIds: [roomId] } }),
    await org.call('POST', '/endpoints/send_message', { body: { message: 'Hi', endpointIds: [sensor.id] } }),
  ]
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
  const error = 'The device cannot show messages.'
  for (const { body } of replies) {
    const own = body.operations.find(({ endpointId }: { endpointId: string }) => endpointId === sensor.id)
    expect(own).toMatchObject({ type: 'MESSAGE', state: 'SKIPPED', error })
    expect((await org.call('GET', `/operations/${own.id}`)).body).toMatchObject({ state: 'SKIPPED', error })
  }
  expect(await bar.next('operation')).toMatchObject({ type: 'MESSAGE', message: 'Hi' })
  expect(await bar.next('operation')).toMatchObject({ type: 'MESSAGE', message: 'Hi' })
  expect((await org.audit()).length).toBe(log.length + 3)
  // The next command is the first that it gets.
  await org.call('POST', `/endpoints/${sensor.id}/reboot`)
  expect((await sensor.next('operation')).type).toBe('REBOOT')
  await close()
})

test('logs of a device that cannot send any are SKIPPED, in the operation and in the report [clients]', async () => {
  const { bar, sensor, close } = await pair(['message'])
  const path = '/endpoints/generate_bug_report?uploadInCallLogs=false'
  const { status, body } = await org.call('POST', path, { body: [bar.id, sensor.id] })
  expect(status).toBe(200)
  expect((await bar.next('operation')).type).toBe('COLLECT_LOGS')
  const report = (await org.call('GET', `/bug_reports/${body.supportId}`)).body
  const items = new Map(report.endpoints.map((item: { endpointId: string }) => [item.endpointId, item]))
  expect(items.get(bar.id)).toMatchObject({ state: 'REQUESTED' })
  expect(items.get(sensor.id)).toMatchObject({ state: 'SKIPPED', error: 'The device cannot send logs.' })
  await close()
})

test('a reboot of such a device alone is refused; paired with another it is SKIPPED [clients]', async () => {
  const { bar, sensor, close } = await pair(['message'], true)
  const before = await org.audit()
  const alone = (body?: object) => org.call('POST', `/endpoints/${sensor.id}/reboot`, { body })
  for (const reply of [await alone(), await alone({ when: 'idle' })]) {
    expect(reply).toMatchObject(refusal('reboot', 'The device cannot be restarted remotely\\.'))
  }
  expect(await org.audit()).toEqual(before)
  const error = 'The device cannot be restarted remotely.'
  for (const body of [{ when: 'idle' }, {}]) {
    const { operations } = (await org.call('POST', `/endpoints/${bar.id}/reboot`, { body })).body
    expect(operations).toMatchObject([
      { endpointId: bar.id, state: 'QUEUED' },
      { endpointId: sensor.id, state: 'SKIPPED', error },
    ])
  }
  await close()
})

test('a device without config gets no version and no profile, and loses what it got before its first status', async () => {
  org = await harness.newOrg()
  const roomId = await room()
  const profileId = await profile()
  expect((await org.call('PUT', `/rooms/${roomId}/profile`, { body: { profileId } })).status).toBe(200)
  const sensor = await newDevice(harness, org, { roomId, model: 'AQ-1' })
  expect((await sensor.next('config')).version).toBe(1)
  expect((await endpointOf(sensor)).profileId).toBe(profileId)
  await sensor.publish('status', { actions: ['logs'] })
  expect((await endpointOf(sensor)).profileId).toBeUndefined()
  expect(await versionsOf(sensor)).toMatchObject([{ version: 1, state: 'SUPERSEDED' }])
  const [entry] = await org.audit()
  expect(entry).toMatchObject({
    type: 'DEVICE_PROFILE_REMOVED',
    actor: { type: 'DEVICE' },
    details: { before: { profileId }, after: { profileId: null } },
  })

  const asked = [
    await org.call('POST', `/endpoints/${sensor.id}/config`, { body: { nightMode: true } }),
    await org.call('PUT', `/endpoints/${sensor.id}/profile`, { body: { profileId } }),
    await org.call('POST', `/endpoints/${sensor.id}/config/versions/1/restore`),
  ]
  for (const reply of asked) {
    expect(reply).toMatchObject(refusal('config', 'The settings of the device cannot be changed remotely\\.'))
  }
  expect((await org.call('PUT', `/endpoints/${sensor.id}/profile`, { body: { profileId: null } })).status).toBe(200)
  const bar = await newDevice(harness, org, { roomId })
  expect((await org.call('PUT', `/rooms/${roomId}/profile`, { body: { profileId: null } })).status).toBe(200)
  expect((await org.call('PUT', `/rooms/${roomId}/profile`, { body: { profileId } })).status).toBe(200)
  const move = { endpointIds: [sensor.id], roomId, assignRoomProfile: true }
  expect((await org.call('POST', '/endpoints/move_paired', { body: move })).status).toBe(200)
  expect((await endpointOf(bar)).profileId).toBe(profileId)
  expect((await endpointOf(sensor)).profileId).toBeUndefined()
  expect(await versionsOf(sensor)).toHaveLength(1)

  // The service knows what the device reported when it enrols again.
  await sensor.close()
  const again = await newDevice(harness, org, { roomId, model: 'AQ-1', serial: sensor.serial })
  expect((await endpointOf(again)).profileId).toBeUndefined()
  expect(await versionsOf(again)).toHaveLength(1)
  await again.publish('status', { actions: ['config'] })
  expect((await org.call('POST', `/endpoints/${again.id}/config`, { body: { nightMode: true } })).status).toBe(200)
  expect(await again.next('config')).toEqual({ version: 2, config: { nightMode: true } })
  await again.close()
  await bar.close()
})

test('a job leaves out devices that cannot do its action, and a plan counts them [contract 12.plan]', async () => {
  const { roomId, bar, sensor, close } = await pair([])
  const plan = (action: object, target: object = { roomIds: [roomId] }) =>
    org.call('POST', '/jobs/plan', { body: { name: 'All', target, action } })
  const profileId = await profile()
  for (const action of [
    { type: 'REBOOT' },
    { type: 'MESSAGE', message: 'Hi' },
    { type: 'COLLECT_LOGS' },
    { type: 'CONFIG', config: { nightMode: true } },
    { type: 'ASSIGN_PROFILE', profileId },
  ]) {
    expect((await plan(action)).body, action.type).toMatchObject({ endpointCount: 1, unableCount: 1 })
    const refused = (await plan(action, { endpointIds: [sensor.id] })).body
    expect(refused.code).toBe('INVALID_ARGUMENT')
    expect(refused.message).toContain(`target matches only endpoints whose devices cannot do ${action.type}`)
  }
  expect((await plan({ type: 'MOVE', roomId })).body).toMatchObject({ endpointCount: 2, unableCount: 0 })
  const body = { name: 'Quiet', target: { roomIds: [roomId] }, action: { type: 'ASSIGN_PROFILE', profileId } }
  const { id } = (await org.call('POST', '/jobs', { body: { ...body, start: true } })).body
  await bar.publish('config', { version: (await bar.next('config')).version, config: { nightMode: true } })
  await expect.poll(async () => (await org.call('GET', `/jobs/${id}`)).body.state).toBe('SUCCEEDED')
  // All devices that have settings are targeted, so the room has the profile too.
  expect((await org.call('GET', `/rooms/${roomId}`)).body.profileId).toBe(profileId)
  expect((await endpointOf(sensor)).profileId).toBeUndefined()
  await close()
})

test('endpointsBasicList has actions only where they are not the first four', async () => {
  const { bar, sensor, close } = await pair(['power'])
  const { endpoints } = (await org.call('GET', '/endpoints')).body
  const shown = new Map(endpoints.map((one: { id: string; actions?: string[] }) => [one.id, one.actions]))
  expect([shown.get(bar.id), shown.get(sensor.id)]).toEqual([undefined, ['power']])
  await sensor.publish('status', { actions: ['config', 'logs', 'message', 'reboot'] })
  const after = (await org.call('GET', '/endpoints')).body.endpoints
  expect(after.every((one: object) => !('actions' in one))).toBe(true)
  await close()
})
