// Tests that jobs and their units are found by a room, and that a hidden room has none. [contract 12.rights]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enrolTestDevice } from '../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../test/support/harness.ts'

let harness: Harness
let org: TestOrg
const rooms: number[] = []
let regionIds: number[]
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg('Nordlys AS')
  const create = async (path: string, body: object): Promise<number> => (await org.call('POST', path, { body })).body.id
  regionIds = [await create('/regions', { name: 'Europe' }), await create('/regions', { name: 'Asia' })]
  for (const [index, regionId] of regionIds.entries()) {
    const locationId = await create('/locations', { name: `Site ${index}`, regionId })
    const roomId = await create('/rooms', { name: `Room ${index}`, locationId })
    await enrolTestDevice(harness, org, { roomId, serial: `BAR0000${index}`, model: 'NF19B1' })
    rooms.push(roomId)
  }
})
afterAll(() => harness.close())

const newJob = async (name: string, roomIds: readonly number[]): Promise<string> => {
  const body = { name, target: { roomIds }, action: { type: 'CONFIG', config: { nightMode: true } } }
  return (await org.call('POST', '/jobs', { body })).body.id
}
const namesOf = async (query: string, key?: string) =>
  (await org.call('GET', `/jobs?${query}`, key === undefined ? {} : { key })).body.jobs.map(
    ({ name }: { name: string }) => name,
  )

test('jobs are listed by room, newest first, and the unit of the room is found', async () => {
  const [first, second] = rooms
  await newJob('First', [first as number])
  const both = await newJob('Both', rooms)
  expect(await namesOf(`roomId=${first}`)).toEqual(['Both', 'First'])
  expect(await namesOf(`roomId=${second}&state=open`)).toEqual(['Both'])
  expect(await namesOf(`roomId=${second}&state=RUNNING`)).toEqual([])
  expect(await namesOf('roomId=999')).toEqual([])
  const { body } = await org.call('GET', `/jobs/${both}/rooms?roomId=${second}`)
  expect(body.rooms.map(({ roomIds }: { roomIds: number[] }) => roomIds)).toEqual([[second]])

  // A page token belongs to the room that it was made for.
  const page = await org.call('GET', `/jobs?roomId=${first}&pageSize=1`)
  expect(page.body.nextPageToken).not.toBe('')
  const token = encodeURIComponent(page.body.nextPageToken)
  expect(await namesOf(`roomId=${first}&pageSize=1&pageToken=${token}`)).toEqual(['First'])
  expect((await org.call('GET', `/jobs?roomId=${second}&pageToken=${token}`)).status).toBe(400)
})

test('a caller who does not see a room learns nothing about its jobs', async () => {
  await newJob('Everywhere', rooms)
  const key = await org.newKey({ scopes: ['read'], regionIds: [regionIds[0] as number] })
  expect(await namesOf(`roomId=${rooms[0]}`, key)).toContain('Everywhere')
  expect(await namesOf(`roomId=${rooms[1]}`, key)).toEqual([])
})
