// Tests pairing: which endpoints are rebooted and moved together, and that no device joins a group by its own report. [contract 5.1.pairing]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** Rooms 1, 2 and 3, and room 9, which stays empty. */
async function building(): Promise<TestOrg> {
  const org = await harness.newOrg()
  for (let n = 1; n <= 9; n++) await org.call('POST', '/rooms', { body: { name: `Room ${n}` } })
  return org
}

interface Given {
  readonly serial: string
  readonly room?: number
  /** The serial that it reports as its leader. */
  readonly leader?: string
  /** The serials that it reports as paired with it. */
  readonly lists?: readonly string[]
}

/** The serials that were rebooted or moved, sorted. */
interface Groups {
  rebooted(serial: string): Promise<string[]>
  moved(...serials: string[]): Promise<string[]>
}

async function groupsOf(org: TestOrg, endpoints: readonly Given[]): Promise<Groups> {
  const rows = await putEndpoints(
    harness,
    org,
    endpoints.map(({ serial, room, leader, lists }) => ({
      serial,
      room_id: room ?? null,
      pairing_serial: leader ?? null,
      connected: 1,
      status: JSON.stringify({ ...(lists && { pairedSerials: lists }) }),
    })),
  )
  const serials = new Map(rows.map(({ id, serial }) => [id, serial]))
  const ids = new Map(rows.map(({ id, serial }) => [serial, id]))
  const named = (found: readonly string[]) => found.map((id) => serials.get(id) as string).sort()
  return {
    async rebooted(serial) {
      const { status, body } = await org.call('POST', `/endpoints/${ids.get(serial)}/reboot`)
      expect(status).toBe(200)
      expect(body.operations[0].endpointId, 'the requested endpoint comes first').toBe(ids.get(serial))
      return named(body.operations.map(({ endpointId }: { endpointId: string }) => endpointId))
    },
    async moved(...serials) {
      const endpointIds = serials.map((serial) => ids.get(serial))
      const { status, body } = await org.call('POST', '/endpoints/move_paired', { body: { endpointIds, roomId: 9 } })
      expect(status).toBe(200)
      return named(body.endpointIds)
    },
  }
}

/** Expects that a reboot of any member reboots the whole group. */
async function expectGroups(groups: Groups, ...expected: readonly (readonly string[])[]): Promise<void> {
  for (const members of expected) {
    for (const serial of members) expect(await groups.rebooted(serial), serial).toEqual([...members].sort())
  }
}

test('an endpoint in the room of the leader that it names is in its group, listed or not', async () => {
  const groups = await groupsOf(await building(), [
    { serial: 'BAR', room: 1, lists: [] },
    { serial: 'PAD', room: 1, leader: 'BAR' },
    { serial: 'OTHER', room: 1 },
  ])
  await expectGroups(groups, ['BAR', 'PAD'], ['OTHER'])
  expect(await groups.moved('PAD')).toEqual(['BAR', 'PAD'])
})

test('an endpoint in another room is in the group of the leader that it names if the leader lists it', async () => {
  const groups = await groupsOf(await building(), [
    { serial: 'BAR', room: 1, lists: ['FRAME', 'NOT HERE'] },
    { serial: 'PAD', room: 1, leader: 'BAR' },
    { serial: 'FRAME', room: 2, leader: 'BAR' },
  ])
  await expectGroups(groups, ['BAR', 'FRAME', 'PAD'])
  expect(await groups.moved('FRAME')).toEqual(['BAR', 'FRAME', 'PAD'])
})

test('a device that names a leader in another room, which does not list it, is not moved with it, and moves no other device', async () => {
  const org = await building()
  const endpoints = [
    { serial: 'BAR', room: 1, lists: ['PAD'] },
    { serial: 'PAD', room: 1, leader: 'BAR' },
    { serial: 'HOSTILE', room: 2, leader: 'BAR', lists: ['BAR', 'PAD'] },
    { serial: 'NEXT', room: 2, leader: 'BAR' },
    { serial: 'ROOMLESS', leader: 'BAR' },
  ]
  const groups = await groupsOf(org, endpoints)
  await expectGroups(groups, ['BAR', 'PAD'], ['HOSTILE'], ['NEXT'], ['ROOMLESS'])
  expect(await groups.moved('HOSTILE')).toEqual(['HOSTILE'])
  expect(await groups.moved('BAR')).toEqual(['BAR', 'PAD'])
})

test('a leader that lists a device which does not name it moves alone', async () => {
  const groups = await groupsOf(await building(), [
    { serial: 'HOSTILE', room: 1, lists: ['BAR', 'PAD'] },
    { serial: 'BAR', room: 2 },
    { serial: 'PAD', room: 2, leader: 'BAR' },
  ])
  await expectGroups(groups, ['HOSTILE'], ['BAR', 'PAD'])
  expect(await groups.moved('HOSTILE')).toEqual(['HOSTILE'])
})

test('endpoints that name a leader which is not enrolled form a group for each room', async () => {
  const groups = await groupsOf(await building(), [
    { serial: 'A1', room: 1, leader: 'GONE' },
    { serial: 'A2', room: 1, leader: 'GONE' },
    { serial: 'B1', room: 2, leader: 'GONE' },
    { serial: 'B2', room: 2, leader: 'GONE' },
    { serial: 'C1', room: 1, leader: 'ALSO GONE' },
    { serial: 'D1', leader: 'GONE' },
    { serial: 'D2', leader: 'GONE' },
  ])
  await expectGroups(groups, ['A1', 'A2'], ['B1', 'B2'], ['C1'], ['D1'], ['D2'])
  expect(await groups.moved('A1', 'B2')).toEqual(['A1', 'A2', 'B1', 'B2'])
})

test('a leader in another organisation is not enrolled in this one', async () => {
  const [org, elsewhere] = [await building(), await building()]
  const others = await groupsOf(elsewhere, [{ serial: 'BAR', room: 1, lists: ['A1', 'B1'] }])
  const groups = await groupsOf(org, [
    { serial: 'A1', room: 1, leader: 'BAR' },
    { serial: 'A2', room: 1, leader: 'BAR' },
    { serial: 'B1', room: 2, leader: 'BAR' },
  ])
  await expectGroups(groups, ['A1', 'A2'], ['B1'])
  await expectGroups(others, ['BAR'])
})

test('an endpoint that is not paired with the leader that it names leads those that name it', async () => {
  const groups = await groupsOf(await building(), [
    { serial: 'FAR', room: 1 },
    { serial: 'BAR', room: 2, leader: 'FAR' },
    { serial: 'PAD', room: 2, leader: 'BAR' },
    { serial: 'SELF', room: 2, leader: 'SELF' },
  ])
  await expectGroups(groups, ['FAR'], ['BAR', 'PAD'], ['SELF'])
  expect(await groups.moved('PAD')).toEqual(['BAR', 'PAD'])
})

test('groups follow what devices report and where they are; both serials are shown as reported', async () => {
  const org = await building()
  const bar = await newDevice(harness, org, { roomId: 1 })
  const pad = await newDevice(harness, org, { roomId: 2, pairingSerial: bar.serial })
  const rebooted = async () => {
    const { operations } = (await org.call('POST', `/endpoints/${bar.id}/reboot`)).body
    return operations.map(({ endpointId }: { endpointId: string }) => endpointId)
  }
  const move = (id: string, roomId: number) =>
    org.call('POST', '/endpoints/move_paired', { body: { endpointIds: [id], roomId } })
  const listed = async (id: string) =>
    (await org.call('GET', '/endpoints')).body.endpoints.find((one: { id: string }) => one.id === id)

  expect(await rebooted()).toEqual([bar.id])
  expect((await org.call('GET', `/endpoints/${pad.id}`)).body).toMatchObject({ pairingSerial: bar.serial })
  expect(await listed(bar.id)).not.toHaveProperty('pairedSerials')

  const pairedSerials = [`${pad.serial}`, 'A "quoted]" one', '']
  await bar.publish('status', { firmwareVersion: '1', pairedSerials })
  expect(await rebooted()).toEqual([bar.id, pad.id])
  expect((await org.call('GET', `/endpoints/${bar.id}`)).body).toMatchObject({ pairedSerials })
  expect(await listed(bar.id)).toMatchObject({ firmwareVersion: '1', pairedSerials })
  await bar.publish('status', { firmwareVersion: '2' })
  expect(await rebooted(), 'what a report does not name stays').toEqual([bar.id, pad.id])

  await bar.publish('status', { pairedSerials: null })
  expect(await rebooted()).toEqual([bar.id])
  expect((await move(pad.id, 1)).body.endpointIds).toEqual([pad.id])
  expect(await rebooted(), 'in the same room').toEqual([bar.id, pad.id])
  expect((await move(bar.id, 3)).body.endpointIds.sort()).toEqual([bar.id, pad.id].sort())

  await pad.publish('status', { pairingSerial: null })
  expect(await rebooted()).toEqual([bar.id])
  for (const device of [bar, pad]) await device.close()
})

test('a list of more than 32 serials, or of something else, is a bad message, and none of it is stored', async () => {
  const org = await building()
  const bar = await newDevice(harness, org, { roomId: 1 })
  const read = async () => (await org.call('GET', `/endpoints/${bar.id}`)).body
  const most = Array.from({ length: 32 }, (_, n) => `SERIAL-${n}`)
  await bar.publish('status', { pairedSerials: most })
  const before = await read()
  expect(before.pairedSerials).toEqual(most)
  for (const bad of [[...most, 'one more'], ['x'.repeat(65)], [1], [null], 'PAD', {}]) {
    await bar.publish('status', { firmwareVersion: 'bad', pairedSerials: bad })
    expect(await read(), JSON.stringify(bad).slice(0, 40)).toEqual(before)
  }
  await bar.close()
})
