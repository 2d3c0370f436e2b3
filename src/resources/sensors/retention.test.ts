// Samples that are too old are forgotten, and no others.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice } from '../../../test/device.ts'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { forgetSamples, kept } from './retention.ts'

let house: Harness
beforeAll(async () => {
  house = await startHarness()
})
afterAll(() => house.close())

test('samples are kept for thirty days; the latest stays, however old', async () => {
  const org = await house.newOrg()
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const device = await newDevice(house, org, { roomId })
  const now = Math.floor(house.clock.now() / 1000)
  const samples = [kept - 3600, kept - 7200, 3600, 0].map((age) => ({ timestamp: now - age, people: 1 }))
  await device.publish('sample', { samples })
  const count = async () => (await house.ground.db.kysely.selectFrom('samples').select('timestamp').execute()).length
  await forgetSamples(house.ground)
  expect(await count()).toBe(4)
  house.clock.advance(2 * 3600_000 + 600_000)
  await forgetSamples(house.ground)
  expect(await count()).toBe(2)
  house.clock.advance(kept * 1000)
  await forgetSamples(house.ground)
  expect(await count()).toBe(0)
  expect((await org.call('GET', `/endpoints/${device.id}/sensor`)).body.endpointData.data[0].people).toBe(1)
  await device.close()
})
