// Names, notes and sleep that people give endpoints. [contract 6.endpointsUpdate]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'

let harness: Harness
let org: TestOrg
let device: TestDevice
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  device = await newDevice(harness, org, { roomId: 1, model: 'PX-900' })
})
afterAll(() => harness.close())

const path = () => `/endpoints/${device.id}`
const shown = async () => (await org.call('GET', path())).body
const update = (body: object, headers = {}) => org.call('PUT', path(), { body, headers })

test('a given name wins over the reported one, and both are shown; null restores the reported one', async () => {
  expect(await shown()).not.toHaveProperty('name')
  await device.publish('status', { name: 'projector-7' })
  expect(await shown()).toMatchObject({ name: 'projector-7', reportedName: 'projector-7' })
  const answer = await update({ name: '  Projector at the window ' })
  expect(answer.body).toEqual(await shown())
  expect(answer.body).toMatchObject({ name: 'Projector at the window', reportedName: 'projector-7' })
  await device.publish('status', { name: 'projector-8' })
  expect(await shown()).toMatchObject({ name: 'Projector at the window', reportedName: 'projector-8' })
  expect((await update({ name: null })).body).toMatchObject({ name: 'projector-8' })
  await device.publish('status', { name: null })
  expect(await shown()).not.toHaveProperty('name')
})

test('an absent key keeps its value, null clears it, and sleeps wins over the reported value', async () => {
  await device.publish('status', { sleeps: false })
  const all = { name: 'Projector', note: 'The remote control is\nin the drawer.', sleeps: true }
  expect((await update(all)).body).toMatchObject(all)
  expect((await update({ sleeps: null })).body).toMatchObject({ ...all, sleeps: false })
  expect((await update({ note: null })).body).not.toHaveProperty('note')
  expect(await shown()).toMatchObject({ name: 'Projector' })
})

test('the audit log has what changed, before and after, and the room that shows the endpoint has a new version', async () => {
  const room = await org.call('GET', '/rooms/1')
  await update({ name: 'Beamer' })
  const [entry] = await org.audit()
  expect(entry.type).toBe('DEVICE_UPDATED')
  expect(entry.details).toMatchObject({
    before: { serial: device.serial, name: 'Projector' },
    after: { serial: device.serial, name: 'Beamer' },
  })
  const again = await org.call('GET', '/rooms/1', { headers: { 'if-none-match': `${room.headers.get('etag')}` } })
  expect(again.status).toBe(200)
})

test('a name without a letter, with two lines or with more than 100 characters is refused, and so is another version', async () => {
  for (const name of ['', '  ', 'a\nb', 'x'.repeat(101)]) expect((await update({ name })).status).toBe(400)
  expect((await update({ note: 'x'.repeat(2001) })).status).toBe(400)
  expect((await update({ name: 'Other' }, { 'if-match': '"1"' })).status).toBe(412)
})
