// Tests configs with profiles: the profile overrides the endpoint, and every change of it makes versions.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { countCpuWaits } from '../../../../test/support/cpu-time.ts'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { auditAffected } from '../../../../test/support/devices/audited-endpoint.ts'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const newProfile = async ({ call }: TestOrg, config: object): Promise<number> =>
  (await call('POST', '/profiles', { body: { name: 'Quiet', config } })).body.profile.id

/** Makes an organisation with one endpoint in a room. */
async function newEndpoint(offline = true) {
  const org = await harness.newOrg()
  const room = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const device = await newDevice(harness, org, { roomId: room, offline })
  const at = `/endpoints/${device.id}/config`
  return {
    ...org,
    room,
    device,
    at,
    apply: (body: unknown) => org.call('POST', at, { body }),
    settings: async () => (await org.call('GET', at)).body,
    state: async () => (await org.call('GET', `${at}/state`)).body,
    assign: (profileId: number | null) => org.call('PUT', `/rooms/${room}/profile`, { body: { profileId } }),
    next: () => device.next('config'),
  }
}

test('the profile wins; what it hides stays stored and comes back when it goes [contract 5.3.versions]', async () => {
  const e = await newEndpoint(false)
  const own = { brightness: 0.5, nightMode: true, settingsPassword: 'own word' }
  await e.apply(own)
  expect((await e.next()).config).toEqual(own)
  const profile = await newProfile(e, { nightMode: false, fontSize: 'large', settingsPassword: 'common word' })
  await e.assign(profile)
  const laid = { brightness: 0.5, nightMode: false, fontSize: 'large', settingsPassword: 'common word' }
  expect(await e.next()).toEqual({ version: 2, config: laid })
  expect(await e.settings(), 'keys that the profile locks are left out').toEqual({ brightness: 0.5 })
  expect(await e.state()).toMatchObject({
    version: 2,
    desired: { brightness: 0.5, nightMode: true },
    profile: { fontSize: 'large', nightMode: false },
  })
  const version = (await e.call('GET', `${e.at}/versions/2`)).body
  expect(version).toMatchObject({ profileId: profile, config: { brightness: 0.5, nightMode: true } })
  expect(version.diff).toEqual({
    fontSize: { after: 'large' },
    nightMode: { before: true, after: false },
    settingsPassword: { before: '***', after: '***' },
  })
  await e.apply({ brightness: 0.6 })
  expect((await e.next()).config).toEqual({ ...laid, brightness: 0.6 })
  await e.assign(null)
  expect(await e.next()).toEqual({ version: 4, config: { ...own, brightness: 0.6 } })
  expect(await e.settings()).toEqual({ brightness: 0.6, nightMode: true })
  await e.device.close()
})

const conflict = (keys: string) =>
  `Failed to apply config: attempted to override profile settings: the following fields contain conflicts: [${keys}]`

test('a key that the profile locks cannot be applied, whatever its value [contract 4.endpointsApplyConfig]', async () => {
  const e = await newEndpoint()
  await e.assign(await newProfile(e, { nightMode: true, fontSize: 'large', settingsPassword: 'common word' }))
  await e.apply({ brightness: 0.5 })
  const before = [await e.settings(), await e.state(), await e.audit()]
  const refused: [body: object, keys: string][] = [
    [{ nightMode: false }, 'nightMode'],
    [{ nightMode: true }, 'nightMode'],
    [{ fontSize: null, brightness: 0.7 }, 'fontSize'],
    [
      { settingsPassword: 'x', nightMode: false, time24h: true, fontSize: 'small' },
      'fontSize, nightMode, settingsPassword',
    ],
  ]
  for (const [body, keys] of refused) {
    const { requestId: _, ...error } = (await e.apply(body)).body
    expect(error).toEqual({ status: 400, code: 'FAILED_PRECONDITION', message: conflict(keys) })
  }
  expect([await e.settings(), await e.state(), await e.audit()]).toEqual(before)
})

test('a change of a profile makes a version on each endpoint that has it; a rename does not [contract 5.4.profile]', async () => {
  const e = await newEndpoint(false)
  const profile = await newProfile(e, { nightMode: true })
  const put = (config: object, name = 'Quiet') => e.call('PUT', `/profiles/${profile}`, { body: { name, config } })
  const elsewhere = (await e.call('POST', '/rooms', { body: { name: 'Skog' } })).body.id
  const stranger = await newDevice(harness, e, { roomId: elsewhere, offline: true })
  await e.assign(profile)
  expect(await e.next()).toEqual({ version: 1, config: { nightMode: true } })
  await put({ nightMode: true }, 'Quieter')
  expect((await e.state()).version).toBe(1)
  await put({ nightMode: false, remoteAccessAdminPassword: 'common word' })
  const config = { nightMode: false, remoteAccessAdminPassword: 'common word' }
  expect(await e.next()).toEqual({ version: 2, config })
  const [entry, renamed] = await e.audit()
  expect(entry.details.affected).toEqual([auditAffected(e.device)])
  expect(renamed.details.affected).toBeUndefined()
  expect((await e.call('GET', `${e.at}/versions/2`)).body).toMatchObject({
    state: 'PENDING',
    profileId: profile,
    author: { type: 'KEY', name: 'Test key' },
    diff: { nightMode: { before: true, after: false }, remoteAccessAdminPassword: { after: '***' } },
  })
  expect((await e.call('GET', `/endpoints/${stranger.id}/config/state`)).body.version).toBe(0)
  await e.assign(profile)
  expect((await e.state()).version, 'it has that profile already').toBe(2)
  await e.device.close()
})

test('a device that enrols into a room with a profile gets it [contract 5.4.profile]', async () => {
  const e = await newEndpoint()
  await e.assign(await newProfile(e, { nightMode: true }))
  const device = await newDevice(harness, e, { roomId: e.room })
  expect(await device.next('config')).toEqual({ version: 1, config: { nightMode: true } })
  expect((await e.call('GET', `/endpoints/${device.id}/config/versions/1`)).body.author).toEqual({
    type: 'DEVICE',
    id: device.serial,
    name: device.serial,
  })
  await device.close()
})

test('a profile of 5,000 endpoints changes in a few seconds [contract 5.4.profile]', async () => {
  const org = await harness.newOrg()
  const profile = await newProfile(org, { nightMode: true })
  const count = 5000
  await putEndpoints(
    harness,
    org,
    Array.from({ length: count }, () => ({ profile_id: profile })),
  )
  const put = (config: object) => org.call('PUT', `/profiles/${profile}`, { body: { name: 'x', config } })
  for (const brightness of [0.1, 0.2, 0.3]) {
    const started = performance.now()
    const cpuWaitMs = countCpuWaits()
    expect((await put({ brightness })).status).toBe(200)
    expect(performance.now() - started).toBeLessThan(10_000 + cpuWaitMs())
  }
  const states = await harness.services.db.system.kysely
    .selectFrom('config_versions')
    .select(['version', 'state', (e) => e.fn.countAll<number>().as('count')])
    .where('org', '=', org.org.key)
    .groupBy(['version', 'state'])
    .orderBy('version')
    .execute()
  expect(states).toEqual([
    { version: 1, state: 'SUPERSEDED', count },
    { version: 2, state: 'SUPERSEDED', count },
    { version: 3, state: 'PENDING', count },
  ])
})
