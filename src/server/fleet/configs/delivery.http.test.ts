// Tests the delivery of configs over MQTT: delivered, lost, rejected and reported.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, hasOneNode, startHarness } from '../../../../test/support/harness.ts'
import { resendAfterMs } from '../../../contract/device/protocol.ts'
import { listUndelivered } from './reported.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** Makes an organisation with one connected device. */
async function newConnected() {
  const org = await harness.newOrg()
  const room = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const device = await newDevice(harness, org, { roomId: room })
  const at = `/endpoints/${device.id}/config`
  return {
    ...org,
    room,
    device,
    apply: (body: unknown) => org.call('POST', at, { body }),
    state: async () => (await org.call('GET', `${at}/state`)).body,
    version: async (n: number) => (await org.call('GET', `${at}/versions/${n}`)).body,
    report: (version: number, config: object = {}, rejected?: Record<string, string>) =>
      device.publish('config', { version, config, ...(rejected && { rejected }) }),
    /** Waits for the next config message. */
    next: () => device.next('config'),
    /** Counts the config messages so far. Messages arrive in order, so a later message proves that none is missing. */
    async configs() {
      await org.call('POST', '/endpoints/send_message', { body: { message: 'Ping.', endpointIds: [device.id] } })
      await device.next('operation')
      return device.received.filter((m) => m.kind === 'config').length
    },
  }
}

test('a connected device gets a config at once, and what it reports makes it DELIVERED [contract 5.3.versions]', async () => {
  const e = await newConnected()
  await e.apply({ nightMode: true, brightness: 0.5, settingsPassword: 'hunter2' })
  const config = { nightMode: true, brightness: 0.5, settingsPassword: 'hunter2' }
  expect(await e.next()).toEqual({ version: 1, config })
  expect(await e.state()).toMatchObject({ version: 1, state: 'PENDING', reported: {} })
  harness.clock.advance(1000)
  await e.report(1, { nightMode: true, brightness: 0.5, screenReader: false })
  expect(await e.state()).toEqual({
    version: 1,
    state: 'DELIVERED',
    desired: { nightMode: true, brightness: 0.5 },
    profile: {},
    reported: { nightMode: true, brightness: 0.5, screenReader: false },
    rejected: {},
  })
  const version = await e.version(1)
  expect(version.state).toBe('DELIVERED')
  expect(Date.parse(version.updatedAt)).toBeGreaterThan(Date.parse(version.createdAt))
  await e.apply({ brightness: null })
  expect(await e.next(), 'all that is to be set: what is missing goes back to its default').toEqual({
    version: 2,
    config: { nightMode: true, settingsPassword: 'hunter2' },
  })
  expect((await e.version(1)).state, 'what was delivered stays so').toBe('DELIVERED')
  await e.device.close()
})

test('an offline device gets the newest version when it reconnects, and nothing once it has it [contract 4.endpointsApplyConfig]', async () => {
  const e = await newConnected()
  await e.device.close()
  for (const layoutMaxPersons of [1, 2, 3]) await e.apply({ layoutMaxPersons })
  await e.device.connect()
  expect(await e.next()).toEqual({ version: 3, config: { layoutMaxPersons: 3 } })
  e.device.drop()
  await e.device.connect()
  expect(await e.next(), 'lost with the connection').toEqual({ version: 3, config: { layoutMaxPersons: 3 } })
  await e.report(3)
  expect((await Promise.all([1, 2, 3].map(e.version))).map((v) => v.state)).toEqual([
    'SUPERSEDED',
    'SUPERSEDED',
    'DELIVERED',
  ])
  await e.device.close()
  await e.device.connect()
  expect(await e.configs()).toBe(2)
  await e.device.close()
})

test('a device that reports an old version gets the newest again, but not in a loop [contract 5.3.versions]', async () => {
  const e = await newConnected()
  await e.apply({ nightMode: true })
  await e.next()
  await e.report(0, { nightMode: false })
  expect(await e.next(), 'it had not listened').toMatchObject({ version: 1 })
  expect(await e.state()).toMatchObject({ state: 'PENDING', reported: { nightMode: false } })
  for (let i = 0; i < 5; i++) await e.report(0)
  expect(await e.configs(), 'nothing is said again so soon, also when something else wakes it').toBe(2)
  harness.clock.advance(60_000)
  await e.report(0)
  expect(await e.next()).toMatchObject({ version: 1 })
  await e.report(1)
  expect((await e.state()).state).toBe('DELIVERED')
  await e.report(0)
  expect(await e.next(), 'it was reset').toMatchObject({ version: 1 })
  expect((await e.state()).state, 'a state does not move back').toBe('DELIVERED')
  await e.report(7)
  expect(await e.next(), 'it was somewhere else').toMatchObject({ version: 1 })
  await e.device.close()
})

test('applies and reports that cross each other end in agreement [contract 5.3.versions]', async () => {
  const e = await newConnected()
  const last = 40
  let seen = 0
  const device = (async () => {
    while (seen < last) {
      const { version, config } = await e.next()
      seen = version
      await e.report(version, config)
    }
  })()
  const applied = Array.from({ length: last }, (_, i) => e.apply({ layoutMaxPersons: i }))
  expect((await Promise.all(applied)).map((r) => r.status)).toEqual(Array(last).fill(200))
  await device
  const { desired, reported, ...rest } = await e.state()
  expect(rest).toMatchObject({ version: last, state: 'DELIVERED' })
  expect(reported).toEqual(desired)
  const { versions } = (await e.call('GET', `/endpoints/${e.device.id}/config/versions`)).body
  expect(versions).toHaveLength(last)
  for (const { version, state } of versions) {
    expect(version === last ? ['DELIVERED'] : ['DELIVERED', 'SUPERSEDED']).toContain(state)
  }
  await e.device.close()
})

// This asks and wakes one node, which must be the one that the device is connected to.
test.runIf(hasOneNode)(
  'a connected device that stays silent is listed, so that its config is sent again [contract 5.3.versions]',
  async () => {
    const e = await newConnected()
    const isSilent = async () => (await listUndelivered(harness.services)).includes(e.device.id)
    await e.apply({ nightMode: true })
    await e.next()
    expect(await isSilent()).toBe(false)
    harness.clock.advance(resendAfterMs + 1)
    expect(await isSilent()).toBe(true)
    harness.services.devices.wake([e.device.id])
    expect(await e.next()).toMatchObject({ version: 1 })
    await e.report(1)
    expect(await isSilent()).toBe(false)
    await e.report(0)
    expect(await isSilent(), 'it has lost it again').toBe(true)
    await e.device.close()
  },
)

test('a refused key makes the version FAILED, stays desired, and is not sent again until it changes [contract 5.3.versions]', async () => {
  const e = await newConnected()
  await e.apply({ nightMode: true, timezone: 'Europe/Oslo', layoutMaxPersons: 9 })
  await e.next()
  await e.report(
    1,
    { nightMode: true },
    { timezone: 'not in this country', layoutMaxPersons: 'at most\n8 ', colour: 'x' },
  )
  const reasons = { timezone: 'not in this country', layoutMaxPersons: 'at most 8' }
  const error = 'timezone: not in this country; layoutMaxPersons: at most 8'
  expect(await e.state()).toMatchObject({ version: 1, state: 'FAILED', error, rejected: reasons })
  expect((await e.state()).desired).toEqual({ nightMode: true, timezone: 'Europe/Oslo', layoutMaxPersons: 9 })
  expect(await e.version(1)).toMatchObject({ state: 'FAILED', error })
  await e.report(1, { nightMode: true })
  expect((await e.state()).state, 'the first word counts').toBe('FAILED')

  await e.apply({ nightMode: false })
  expect(await e.next()).toEqual({ version: 2, config: { nightMode: false } })
  expect(await e.state()).toMatchObject({ state: 'PENDING', rejected: reasons })
  await e.report(2, { nightMode: false })
  expect(await e.state()).toMatchObject({ version: 2, state: 'FAILED', error, rejected: reasons })

  await e.apply({ layoutMaxPersons: 8 })
  expect(await e.next()).toEqual({ version: 3, config: { nightMode: false, layoutMaxPersons: 8 } })
  await e.report(3)
  expect(await e.state()).toMatchObject({ state: 'FAILED', rejected: { timezone: 'not in this country' } })
  await e.apply({ timezone: null })
  expect(await e.next()).toEqual({ version: 4, config: { nightMode: false, layoutMaxPersons: 8 } })
  await e.report(4)
  const settled = await e.state()
  expect(settled).toMatchObject({ version: 4, state: 'DELIVERED', rejected: {} })
  expect(settled.error).toBeUndefined()
  await e.apply({ timezone: 'Europe/Oslo' })
  expect((await e.next()).config, 'unset since then, so it may be tried again').toMatchObject({
    timezone: 'Europe/Oslo',
  })
  await e.device.close()
})

test('a refused password is marked without being known, and never quoted [contract 5.3]', async () => {
  const e = await newConnected()
  await e.apply({ settingsPassword: 'hunter2-hunter2' })
  await e.next()
  await e.report(1, {}, { settingsPassword: '"hunter2-hunter2" is too long' })
  expect(await e.state()).toMatchObject({ state: 'FAILED', rejected: { settingsPassword: '"***" is too long' } })
  await e.apply({ settingsPassword: 'hunter2-hunter2' })
  expect(await e.next()).toEqual({ version: 2, config: {} })
  await e.apply({ settingsPassword: '1234' })
  expect(await e.next()).toEqual({ version: 3, config: { settingsPassword: '1234' } })
  const rows = await harness.services.db.system.kysely
    .selectFrom('endpoint_configs')
    .selectAll()
    .where('endpoint_id', '=', e.device.id)
    .execute()
  expect(JSON.stringify([rows, await e.state(), harness.logged])).not.toContain('hunter2-')
  await e.device.close()
})

test('only known keys of a report with valid values are stored, never a password [contract 4.endpointsSettings]', async () => {
  const e = await newConnected()
  const valid = { nightMode: true, brightness: 1, usbMode: 'AUTO', ntpServer: 'time.example', scheduledUpdateDelay: -1 }
  await e.report(0, {
    ...valid,
    ...{
      settingsPassword: 'hunter2',
      colour: 'red',
      constructor: true,
      highContrast: 'yes',
      framingBoundaryDepth: '1',
    },
    ...{ layoutMaxPersons: 1.5, screenStandby: 3e9, usbCableInstructions: 'NONE', fontSize: '' },
    ...{ multiDevicePbp: 1, neatOtaChannel: 7 },
  })
  expect((await e.state()).reported).toEqual(valid)
  await e.report(0, { ...valid, brightness: 1.01 })
  expect((await e.state()).reported.brightness).toBeUndefined()
  await e.report(0, { ...valid, logLevel: 'a\u0000b' })
  expect((await e.state()).reported, 'a message with control characters is a bad one').not.toHaveProperty('logLevel')
  await e.device.close()
})

test('a report about an endpoint that was just unenrolled does no harm', async () => {
  const e = await newConnected()
  const gone = e.report(0, { nightMode: true }).catch(() => {})
  expect((await e.call('DELETE', `/endpoints/${e.device.id}`)).status).toBe(200)
  await e.device.ended()
  await Promise.race([gone, e.device.close()])
  const other = await newConnected()
  await other.report(0, { nightMode: true })
  expect((await other.state()).reported).toEqual({ nightMode: true })
  await other.device.close()
})
