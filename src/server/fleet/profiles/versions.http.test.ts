// Tests the versions of profiles: their content, and restoring one.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditAffected } from '../../../../test/support/devices/audited-endpoint.ts'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** Makes an organisation with a profile. */
async function newProfile(config: object, description?: string) {
  const org = await harness.newOrg()
  await org.call('POST', '/profiles', { body: { name: 'Quiet', description, config } })
  const put = (body: object) => org.call('PUT', '/profiles/1', { body: { name: 'Quiet', ...body } })
  const version = async (n: number) => (await org.call('GET', `/profiles/1/versions/${n}`)).body
  const list = async () => (await org.call('GET', '/profiles/1/versions')).body.versions
  const restore = (n: number, ifMatch?: string) =>
    org.call('POST', `/profiles/1/versions/${n}/restore`, ifMatch ? { headers: { 'if-match': ifMatch } } : {})
  return { ...org, put, version, list, restore }
}

test('a version of a profile says who made it, when, what it was and what it changed [contract 12.profiles]', async () => {
  const p = await newProfile({ nightMode: true, brightness: 0.5 }, 'For huddle rooms')
  const key = await p.newKey({ name: 'Facilities', scopes: ['write'] })
  harness.clock.advance(1000)
  const body = { name: 'Loud', config: { nightMode: false, fontSize: 'large' } }
  await p.call('PUT', '/profiles/1', { key, body })
  const second = await p.version(2)
  expect(second).toEqual({
    version: 2,
    createdAt: second.createdAt,
    author: { type: 'KEY', id: expect.any(String), name: 'Facilities' },
    name: 'Loud',
    config: { fontSize: 'large', nightMode: false },
    diff: { brightness: { before: 0.5 }, fontSize: { after: 'large' }, nightMode: { before: true, after: false } },
  })
  const first = await p.version(1)
  expect(first).toEqual({
    version: 1,
    createdAt: first.createdAt,
    author: { type: 'KEY', id: expect.any(String), name: 'Test key' },
    name: 'Quiet',
    description: 'For huddle rooms',
    config: { nightMode: true, brightness: 0.5 },
    diff: { nightMode: { after: true }, brightness: { after: 0.5 } },
  })
  expect(Date.parse(second.createdAt)).toBeGreaterThan(Date.parse(first.createdAt))
  expect(await p.list()).toEqual([second, first])
})

test('the newest 200 versions of a profile are listed, the others are still there [contract 12.profiles]', async () => {
  const p = await newProfile({ layoutMaxPersons: 1 })
  const { kysely } = harness.services.db.system
  const row = await kysely
    .selectFrom('profile_versions')
    .selectAll()
    .where('org', '=', p.org.key)
    .executeTakeFirstOrThrow()
  const rows = Array.from({ length: 200 }, (_, i) => ({
    ...row,
    version: i + 2,
    config: `{"layoutMaxPersons":${i + 2}}`,
  }))
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    await kysely.insertInto('profile_versions').values(rows).execute()
    await kysely.updateTable('profiles').set({ version: 201 }).where('org', '=', p.org.key).execute()
  })
  await p.put({ config: { layoutMaxPersons: 202 } })
  const versions = await p.list()
  expect(versions).toHaveLength(200)
  expect(versions[0]).toMatchObject({ version: 202, diff: { layoutMaxPersons: { before: 201, after: 202 } } })
  expect(versions[199]).toMatchObject({ version: 3, diff: { layoutMaxPersons: { before: 2, after: 3 } } })
  expect(await p.version(1)).toMatchObject({ version: 1, config: { layoutMaxPersons: 1 } })
})

test('profilesRestore makes a new version with name, description and config of an old one [contract 12.profiles]', async () => {
  const p = await newProfile({ nightMode: true }, 'For huddle rooms')
  await p.put({ name: 'Loud', config: { brightness: 0.7 } })
  const { configId } = (await p.call('GET', '/profiles/1')).body.profile
  const restored = await p.restore(1, '"2"')
  expect(restored.body).toEqual({
    profile: { id: 1, name: 'Quiet', description: 'For huddle rooms', configId: restored.body.profile.configId },
    config: { nightMode: true },
  })
  expect(restored.body.profile.configId).not.toBe(configId)
  expect(restored.headers.get('etag')).toBe('"3"')
  expect((await p.call('GET', '/profiles/1')).body).toEqual(restored.body)
  expect(await p.version(3)).toMatchObject({ name: 'Quiet', config: { nightMode: true } })
  const [entry] = await p.audit()
  expect(entry).toMatchObject({ type: 'PROFILE_UPDATED', target: { id: '1', name: 'Quiet' } })
  expect(entry.details).toMatchObject({
    before: { name: 'Loud', config: { brightness: 0.7 } },
    after: { name: 'Quiet', config: { nightMode: true } },
  })
  const before = [await p.audit(), await p.list()]
  expect((await p.restore(9, '"1"')).status, 'existence comes before If-Match').toBe(404)
  expect((await p.restore(1, '"2"')).status).toBe(412)
  for (const n of [0, -1, 4, 2147483647]) expect((await p.restore(n)).status).toBe(404)
  expect((await p.call('GET', '/profiles/1/versions/4')).status).toBe(404)
  expect((await p.call('GET', '/profiles/2/versions')).status).toBe(404)
  expect([await p.audit(), await p.list()]).toEqual(before)
})

test('a restore changes the devices with the profile, and returns a password that no answer shows [contract 12.profiles]', async () => {
  const [first, second] = ['correct-horse-battery', 'staple-1234567890']
  const p = await newProfile({ nightMode: true, settingsPassword: first })
  const roomId = (await p.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  await p.call('PUT', `/rooms/${roomId}/profile`, { body: { profileId: 1 } })
  const device = await newDevice(harness, p, { roomId })
  expect(await device.next('config')).toMatchObject({ config: { nightMode: true, settingsPassword: first } })
  await p.put({ config: { nightMode: false, settingsPassword: second } })
  expect(await device.next('config')).toMatchObject({ config: { nightMode: false, settingsPassword: second } })
  await p.put({ config: { nightMode: false, settingsPassword: null } })
  expect(await device.next('config')).toMatchObject({ config: { nightMode: false } })
  const restored = await p.restore(1)
  expect(await device.next('config')).toMatchObject({ config: { nightMode: true, settingsPassword: first } })
  await device.close()

  const [entry] = await p.audit()
  expect(entry.details.affected).toEqual([auditAffected(device)])
  const diffs = (await p.list()).map((v: { diff: { settingsPassword: unknown } }) => v.diff.settingsPassword)
  expect(diffs).toEqual([{ after: '***' }, { before: '***' }, { before: '***', after: '***' }, { after: '***' }])
  const rows = await harness.services.db.system.kysely.selectFrom('profile_versions').selectAll().execute()
  const texts = JSON.stringify([await p.list(), restored.text, await p.audit(), rows, harness.logged])
  for (const word of [first, second]) expect(texts).not.toContain(word)
})

test('the first change of a profile from before versions keeps what it was [contract 12.profiles]', async () => {
  const p = await newProfile({ nightMode: true, settingsPassword: 'hunter2' }, 'For huddle rooms')
  await p.put({ config: { brightness: 0.7 } })
  const { org } = p
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    await kysely.deleteFrom('profile_versions').where('org', '=', org.key).execute()
  })
  expect(await p.list()).toEqual([])
  await p.put({ config: { brightness: 0.8, settingsPassword: null } })
  const [third, kept, ...older] = await p.list()
  expect(older).toEqual([])
  expect(third).toMatchObject({ version: 3, author: { name: 'Test key' } })
  expect(third.diff).toEqual({ brightness: { before: 0.7, after: 0.8 }, settingsPassword: { before: '***' } })
  expect(kept).toMatchObject({ version: 2, author: { type: 'SYSTEM', name: 'Unknown' }, config: { brightness: 0.7 } })
  expect(kept.diff, 'what was before it is not known').toEqual({})
  expect((await p.restore(2)).body.config).toEqual({ brightness: 0.7 })
})

test('the versions of a profile are deleted with it', async () => {
  const p = await newProfile({ nightMode: true })
  await p.call('DELETE', '/profiles/1')
  expect((await p.call('GET', '/profiles/1/versions')).status).toBe(404)
  const rows = harness.services.db.system.kysely.selectFrom('profile_versions').selectAll()
  expect(await rows.where('org', '=', p.org.key).execute()).toEqual([])
})
