// Tests config versions: their content, and restoring one.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { change } from '../../journal/audit/change.ts'
import { requireConfig, setExplicit } from './set-explicit.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** Makes an organisation with one endpoint, connected or not. */
async function newEndpoint(offline = true) {
  const org = await harness.newOrg()
  const room = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const device = await newDevice(harness, org, { roomId: room, offline })
  const at = `/endpoints/${device.id}/config`
  const apply = (body: unknown) => org.call('POST', at, { body })
  const version = async (n: number) => (await org.call('GET', `${at}/versions/${n}`)).body
  const restore = (n: number, ifMatch?: string) =>
    org.call('POST', `${at}/versions/${n}/restore`, ifMatch === undefined ? {} : { headers: { 'if-match': ifMatch } })
  return { ...org, room, device, at, apply, version, restore }
}

test('a version says who made it, when, what was set and what it changed [contract 6.configVersions]', async () => {
  const e = await newEndpoint()
  await e.apply({ nightMode: true, brightness: 0.5 })
  const key = await e.newKey({ name: 'Facilities' })
  await e.call('POST', e.at, { key, body: { nightMode: false, brightness: null, fontSize: 'large' } })
  const second = await e.version(2)
  expect(second).toEqual({
    version: 2,
    state: 'PENDING',
    createdAt: second.createdAt,
    updatedAt: second.createdAt,
    author: { type: 'KEY', id: expect.any(String), name: 'Facilities' },
    config: { fontSize: 'large', nightMode: false },
    diff: {
      brightness: { before: 0.5 },
      fontSize: { after: 'large' },
      nightMode: { before: true, after: false },
    },
  })
  expect(Math.abs(Date.parse(second.createdAt) - harness.clock.now())).toBeLessThan(60_000)
  const first = await e.version(1)
  expect(first).toMatchObject({ version: 1, state: 'SUPERSEDED', author: { name: 'Test key' } })
  expect(first.diff).toEqual({ nightMode: { after: true }, brightness: { after: 0.5 } })
  expect((await e.call('GET', `${e.at}/versions`)).body).toEqual({ versions: [second, first] })
})

test('the newest 200 versions are listed, the others are still there [contract 6.configVersions]', async () => {
  const e = await newEndpoint()
  for (let i = 1; i <= 202; i++) await e.apply({ layoutMaxPersons: i })
  const { versions } = (await e.call('GET', `${e.at}/versions`)).body
  expect(versions).toHaveLength(200)
  expect(versions[0]).toMatchObject({ version: 202, diff: { layoutMaxPersons: { before: 201, after: 202 } } })
  expect(versions[199]).toMatchObject({ version: 3, diff: { layoutMaxPersons: { before: 2, after: 3 } } })
  expect(await e.version(1)).toMatchObject({ version: 1, config: { layoutMaxPersons: 1 } })
})

test('restoring makes a new version of what an old one had set [contract 6.configVersions]', async () => {
  const e = await newEndpoint()
  await e.apply({ nightMode: true, brightness: 0.5 })
  await e.apply({ nightMode: null, brightness: 0.7, fontSize: 'large' })
  const restored = await e.restore(1)
  expect(restored.body).toEqual({ config: { nightMode: true, brightness: 0.5 } })
  expect(restored.headers.get('etag')).toBe('"3"')
  expect((await e.call('GET', e.at)).body).toEqual(restored.body.config)
  expect(await e.version(3)).toMatchObject({ state: 'PENDING', config: { nightMode: true, brightness: 0.5 } })
  const [entry] = await e.audit()
  expect(entry).toMatchObject({ type: 'DEVICE_CONFIG_CHANGED', target: { id: e.device.id } })
  expect(entry.details).toEqual({
    before: { brightness: 0.7, fontSize: 'large' },
    after: { brightness: 0.5, nightMode: true },
  })
  const before = [await e.audit(), (await e.call('GET', `${e.at}/versions`)).text]
  expect((await e.restore(9, '"1"')).status, 'existence comes before If-Match').toBe(404)
  for (const n of [0, -1, 4, 2147483647, -2147483648]) expect((await e.restore(n)).status).toBe(404)
  for (const n of [0, -2147483648]) expect((await e.call('GET', `${e.at}/versions/${n}`)).status).toBe(404)
  expect((await e.restore(1, '"2"')).status).toBe(412)
  expect([await e.audit(), (await e.call('GET', `${e.at}/versions`)).text]).toEqual(before)
  expect((await e.restore(2, '"3"')).status).toBe(200)
})

test('passwords are restored too [contract 6.configVersions]', async () => {
  const e = await newEndpoint(false)
  const sent = async () => (await e.device.next('config')).config
  await e.apply({ settingsPassword: 'the first', remoteAccessAdminPassword: 'other' })
  expect(await sent()).toEqual({ settingsPassword: 'the first', remoteAccessAdminPassword: 'other' })
  await e.apply({ settingsPassword: 'the second', remoteAccessAdminPassword: null })
  expect(await sent()).toEqual({ settingsPassword: 'the second' })
  expect((await e.restore(1)).body).toEqual({ config: {} })
  expect(await sent()).toEqual({ settingsPassword: 'the first', remoteAccessAdminPassword: 'other' })
  await e.device.close()
})

test('restoring a version that has a key which the profile locks is the conflict of applying it [contract 5.3.versions]', async () => {
  const e = await newEndpoint()
  await e.apply({ brightness: 0.5 })
  await e.apply({ nightMode: true, settingsPassword: 'hunter2', fontSize: 'large' })
  await e.apply({ nightMode: null, settingsPassword: null })
  const config = { nightMode: false, settingsPassword: 'hunter3' }
  const profileId = (await e.call('POST', '/profiles', { body: { name: 'Quiet', config } })).body.profile.id
  await e.call('PUT', `/rooms/${e.room}/profile`, { body: { profileId } })
  const before = [(await e.call('GET', `${e.at}/versions`)).text, await e.audit()]
  const refused = await e.restore(2)
  expect(refused.body).toMatchObject({
    status: 400,
    code: 'FAILED_PRECONDITION',
    message:
      'Failed to apply config: attempted to override profile settings: the following fields contain conflicts: [nightMode, settingsPassword]',
  })
  expect([(await e.call('GET', `${e.at}/versions`)).text, await e.audit()]).toEqual(before)
  expect((await e.restore(1)).body).toEqual({ config: { brightness: 0.5 } })
})

test('a version and the audit entry of a change by a job name the job, and no others do [contract 12.rights]', async () => {
  const e = await newEndpoint()
  await e.apply({ nightMode: true })
  const to = { config: '{"nightMode":false}', secrets: '{}' }
  await change(e.ctx, 'endpointsApplyConfig', async (tx) =>
    setExplicit(tx, e.ctx, await requireConfig(tx, e.device.id), to, { jobId: 7 }),
  )
  const { versions } = (await e.call('GET', `${e.at}/versions`)).body
  expect(versions[0]).toMatchObject({ version: 2, jobId: '7' })
  expect(versions[1]).toMatchObject({ version: 1 })
  expect(versions[1]).not.toHaveProperty('jobId')
  const [byJob, byKey] = await e.audit()
  expect(byJob).toMatchObject({ type: 'DEVICE_CONFIG_CHANGED', target: { id: e.device.id } })
  expect(byJob.details).toEqual({ before: { nightMode: true }, after: { nightMode: false }, jobId: '7' })
  expect(byKey.details).toEqual({ before: {}, after: { nightMode: true } })
})
