// Tests what a plan says of a target, and that it writes nothing. [contract 12.plan]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { LargeFleet } from '../../../../test/support/jobs/large-fleet.ts'
import { dayMs } from '../../../contract/durations.ts'
import { sensorColumns } from '../../db/schema/schema.ts'

let harness: Harness
let org: TestOrg
let location: number
const rooms: number[] = []
const endpoints: string[] = []
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(Date.parse('2026-03-02T12:00:00Z'))
  org = await harness.newOrg()
  const make = async (path: string, body: unknown) => (await org.call('POST', path, { body })).body
  const changeWindow = { days: ['mon', 'tue'], from: '20:00', to: '05:00' }
  location = (await make('/locations', { name: 'Oslo', timezone: 'Europe/Oslo', changeWindow })).id
  for (const name of ['Fjord', 'Fjell', 'Skog', 'Vidde']) {
    rooms.push(
      (await make('/rooms', { name, locationId: name === 'Vidde' ? null : location, tags: [name.toLowerCase()] })).id,
    )
  }
  const supports = JSON.stringify({ supports: ['onlyIfIdle'], firmwareVersion: '24.1' })
  const rows = await putEndpoints(harness, org, [
    { room_id: rooms[0] as number, connected: 1, status: supports },
    { room_id: rooms[1] as number, connected: 0, model: 'NF19A1' },
    { room_id: rooms[2] as number, connected: 1 },
    { room_id: rooms[3] as number, connected: 1, model: 'NF23L1' },
  ])
  endpoints.push(...rows.map(({ id }) => id))
  const set = (at: number, body: object) => org.call('POST', `/endpoints/${endpoints[at]}/config`, { body })
  await set(0, { screenStandby: 300_000 })
  await set(1, { screenStandby: 300_000, settingsPassword: 'Quite secret' })
  await set(2, { screenStandby: 600_000 })
})
afterAll(() => harness.close())

const plan = async (more: object = {}) => {
  const action = { type: 'CONFIG', config: { screenStandby: 600_000, settingsPassword: null } }
  const body = { name: 'Standby', target: { endpointIds: endpoints }, action, ...more }
  const reply = await org.call('POST', '/jobs/plan', { body })
  expect(reply.status, reply.text).toBe(200)
  return reply.body
}
/** "Fjord (Oslo)" as "Fjord". */
const withoutPlace = (name: string) => name.replaceAll(' (Oslo)', '')
const outcomes = (body: { rooms: { name: string; outcome: string; reason?: string }[] }) =>
  Object.fromEntries(
    body.rooms.map(({ name, outcome, reason }) => [withoutPlace(name), reason ? `${outcome}: ${reason}` : outcome]),
  )

test('a plan has the present values, what is unchanged, what is offline and what waits, and writes nothing', async () => {
  const before = await org.audit()
  const planned = await plan()
  expect(planned).toMatchObject({
    unitCount: 4,
    endpointCount: 4,
    offlineCount: 1,
    unchangedCount: 1,
    notSupportingCount: 3,
    conflictCount: 0,
    stages: [{ unitCount: 4, manual: false }],
    earliestEnd: '2026-03-02T12:00:00.000Z',
  })
  expect(planned.present).toEqual({
    screenStandby: [{ value: 300_000, endpointCount: 2 }, { value: 600_000, endpointCount: 1 }, { endpointCount: 1 }],
    settingsPassword: [{ endpointCount: 3 }, { value: '***', endpointCount: 1 }],
  })
  expect(
    planned.rooms.map(({ name }: { name: string }) => name),
    'rooms are named with their locations',
  ).toContain('Fjord (Oslo)')
  expect(outcomes(planned)).toEqual({ Fjord: 'now', Fjell: 'waits: connection', Skog: 'unchanged', Vidde: 'now' })
  expect(await org.audit()).toEqual(before)
  expect((await org.call('GET', '/jobs')).body.jobs).toEqual([])
})

test('all means every endpoint that the caller sees, without those that are excluded [contract 12.job]', async () => {
  expect(await plan({ target: { all: true } })).toMatchObject({ unitCount: 4, endpointCount: 4 })
  const target = { all: true, exclude: { models: ['NF19A1'] } }
  expect(await plan({ target })).toMatchObject({ unitCount: 3, endpointCount: 3 })
  const action = { type: 'REBOOT' }
  const made = await org.call('POST', '/jobs', { body: { name: 'All', target, action } })
  expect(made.body.target).toEqual(target)
  await org.call('DELETE', `/jobs/${made.body.id}`)
})

test('with stages a plan waits for windows, and its end is after the soak of the last one', async () => {
  const stages = [{ tags: ['vidde'] }, { percent: 100, manual: true }]
  const planned = await plan({ stages, soakMinutes: 60 })
  expect(outcomes(planned)).toEqual({ Vidde: 'now', Fjord: 'later', Fjell: 'later', Skog: 'later' })
  expect(planned.outcomes).toEqual([
    { outcome: 'now', unitCount: 1, endpointCount: 1 },
    { outcome: 'later', unitCount: 3, endpointCount: 3 },
  ])
  // A stage without rooms ends immediately, and the next one pauses.
  const emptyFirst = await plan({ stages: [{ tags: ['nobody'] }, { percent: 100, manual: true }] })
  expect(emptyFirst.outcomes).toEqual([{ outcome: 'later', unitCount: 4, endpointCount: 4 }])
  const isWindowRespected = { respect: { window: true } }
  expect(outcomes(await plan(isWindowRespected))).toMatchObject({ Vidde: 'now', Fjord: 'waits: window' })
  const startAt = new Date(harness.clock.now() + dayMs).toISOString()
  expect((await plan({ startAt })).outcomes).toEqual([{ outcome: 'later', unitCount: 4, endpointCount: 4 }])
  expect(planned.stages).toEqual([
    { unitCount: 1, manual: false },
    { unitCount: 3, manual: true },
  ])
  // The window in Oslo begins at 20:00, which is 19:00 UTC.
  expect(planned.earliestEnd).toBe('2026-03-02T20:00:00.000Z')
})

test('rooms that were used least in the last 14 days come first [contract 12.job]', async () => {
  const { kysely } = harness.services.db.system
  const numbers = await kysely
    .selectFrom('endpoints')
    .select(['id', 'number'])
    .where('org', '=', org.org.key)
    .orderBy('id')
    .execute()
  const today = Math.floor(harness.clock.now() / dayMs)
  const noCounts = Object.fromEntries(sensorColumns.map((column) => [`${column}_count`, 0]))
  const day = (at: number, daysAgo: number, room: number, people: number) => ({
    ...{ org: org.org.key, slot: today - daysAgo, room: rooms[room] as number, ...noCounts },
    ...{
      endpoint: numbers.find(({ id }) => id === endpoints[at])?.number as number,
      people_count: 2,
      people_sum: people,
    },
  })
  const values = [day(0, 1, 0, 4), day(1, 13, 1, 2), day(2, 15, 2, 90), day(3, 2, 0, 1), day(3, 3, 3, 10)]
  await harness.services.db.systemTransaction((tx) =>
    tx.kysely
      .insertInto('sample_days')
      .values(values as never)
      .execute(),
  )
  const { rooms: ordered } = await plan()
  // The people in Skog were there too long ago, and on one day the device of Vidde was in another room.
  const namesOf = (units: { name: string }[]) => units.map(({ name }) => withoutPlace(name))
  expect(namesOf(ordered)).toEqual(['Skog', 'Fjell', 'Fjord', 'Vidde'])

  const pads = await putEndpoints(
    harness,
    org,
    rooms.map((room_id) => ({ room_id, model: 'NF25J1', connected: 1 })),
  )
  const target = { endpointIds: pads.map(({ id }) => id) }
  expect(namesOf((await plan({ target })).rooms), 'devices that are not targeted count the people').toEqual(
    namesOf(ordered),
  )
  const [, , inSkog, inVidde] = pads
  // A group in several rooms needs a leader that reports its members.
  const pair = (serial: string | null) =>
    harness.services.db.systemTransaction(async ({ kysely }) => {
      const set = (id: string | undefined, values: { pairing_serial?: string | null; status?: string }) =>
        kysely
          .updateTable('endpoints')
          .set(values)
          .where('id', '=', id as string)
          .execute()
      await set(inSkog?.id, { pairing_serial: serial })
      await set(inVidde?.id, { status: JSON.stringify({ pairedSerials: [inSkog?.serial] }) })
    })
  await pair(inVidde?.serial as string)
  const paired = await plan({ target: { endpointIds: [pads[0]?.id, inSkog?.id] } })
  expect(namesOf(paired.rooms), 'so do devices in a room that the pair group adds').toEqual(['Fjord', 'Skog, Vidde'])
  await pair(null)
})

test('a plan lists 200 rooms and 200 conflicts, and counts the others [contract 12.plan]', async () => {
  const fleet = await LargeFleet.make(harness, { rooms: 201 })
  const profile = { name: 'Fixed', config: { nightMode: false } }
  const { id } = (await fleet.org.call('POST', '/profiles', { body: profile })).body.profile
  const { key } = fleet.org.org
  await fleet.write((db) => db.updateTable('endpoints').set({ profile_id: id }).where('org', '=', key).execute())
  const action = { type: 'CONFIG', config: { nightMode: true } }
  const body = { name: 'Night', target: { models: ['NF19B1'] }, action }
  const planned = (await fleet.org.call('POST', '/jobs/plan', { body })).body
  expect(planned).toMatchObject({ unitCount: 201, conflictCount: 201 })
  expect([planned.rooms.length, planned.conflicts.length]).toEqual([200, 200])
})

test('a plan counts rooms without a device, which are no units, and devices that restart only because they are paired [contract 12.plan]', async () => {
  const make = async (name: string, tags: string[]) =>
    (await org.call('POST', '/rooms', { body: { name, tags } })).body.id as number
  const empty = [await make('Holme', ['fjord']), await make('Viken', ['fjord', 'closed'])]
  const emptyCount = async (target: object) => (await plan({ target })).emptyRoomCount
  expect(await emptyCount({ roomIds: [...rooms, ...empty] })).toBe(2)
  expect(await emptyCount({ roomIds: rooms })).toBe(0)
  expect(await emptyCount({ tags: ['fjord'] })).toBe(2)
  expect(await emptyCount({ tags: ['fjord'], exclude: { tags: ['closed'] } })).toBe(1)
  expect(await emptyCount({ tags: ['fjord'], exclude: { tags: ['closed'], models: ['NF23L1'] } })).toBe(2)
  expect(await emptyCount({ roomIds: [...rooms, ...empty], models: ['NF19B1'] })).toBe(0)
  for (const id of empty) expect((await org.call('DELETE', `/rooms/${id}`)).status).toBe(200)

  const [leader] = await putEndpoints(harness, org, [{ room_id: rooms[0] as number, model: 'NF20C1' }])
  const [member] = await putEndpoints(harness, org, [
    { room_id: rooms[0] as number, model: 'NF20C1', pairing_serial: leader?.serial as string },
  ])
  const of = async (type: string) =>
    (await plan({ target: { endpointIds: [member?.id] }, action: { type } })).notSupportingCount
  expect([await of('REBOOT'), await of('COLLECT_LOGS')]).toEqual([2, 1])
})

test('a plan counts the units that cannot know whether they are in use', async () => {
  // A Pad does not count people; no device has reported a call.
  expect((await plan({ action: { type: 'REBOOT' }, respect: { idle: true } })).blindCount).toBe(1)
})

test('all keys of a target must hold, with any value of each, and an exclusion takes away what matches all of its keys', async () => {
  const named = async (target: object) =>
    (await plan({ target })).rooms.map(({ name }: { name: string }) => withoutPlace(name)).sort()
  expect(await named({ models: ['NF19B1', 'NF19A1'] })).toEqual(['Fjell', 'Fjord', 'Skog'])
  expect(await named({ models: ['NF19B1', 'NF19A1'], tags: ['fjell', 'vidde'] })).toEqual(['Fjell'])
  expect(await named({ firmwareVersions: ['24.1'] })).toEqual(['Fjord'])
  expect(await named({ endpointIds: endpoints, exclude: { roomIds: [rooms[0]], models: ['NF19A1'] } })).toHaveLength(4)
  expect(await named({ endpointIds: endpoints, exclude: { firmwareVersions: ['24.1'] } })).toEqual([
    'Fjell',
    'Skog',
    'Vidde',
  ])
  expect(await named({ endpointIds: endpoints, exclude: { tags: ['fjord', 'skog'], models: ['NF19B1'] } })).toEqual([
    'Fjell',
    'Vidde',
  ])
  const { id: regionId } = (await org.call('POST', '/regions', { body: { name: 'Nord' } })).body
  expect((await org.call('PUT', `/locations/${location}`, { body: { regionId } })).status).toBe(200)
  expect(await named({ locationIds: [location, 999] })).toEqual(['Fjell', 'Fjord', 'Skog'])
  expect(await named({ regionIds: [regionId] })).toEqual(['Fjell', 'Fjord', 'Skog'])
  const profile = { name: 'Quiet', config: { nightMode: true } }
  const { id: profileId } = (await org.call('POST', '/profiles', { body: profile })).body.profile
  await org.call('PUT', `/endpoints/${endpoints[2]}/profile`, { body: { profileId } })
  expect(await named({ profileIds: [profileId] })).toEqual(['Skog'])
  expect(await named({ endpointIds: endpoints, exclude: { profileIds: [profileId] } })).toEqual([
    'Fjell',
    'Fjord',
    'Vidde',
  ])
  const tags = ['fjord', 'skog', 'vidde']
  const exclude = { roomIds: [rooms[0]] }
  expect(await named({ regionIds: [regionId], models: ['NF19B1'], tags, exclude })).toEqual(['Skog'])
})

test('a stage of another kind that would have fewer units than the one before it is refused, also when a draft starts [contract 12.job]', async () => {
  const other = await harness.newOrg()
  const room = async () => (await other.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id as number
  const roomIds = [await room(), await room(), await room(), await room()]
  const rows = await putEndpoints(
    harness,
    other,
    roomIds.map((room_id) => ({ room_id })),
  )
  const body = (firstRooms: number) => ({
    ...{ name: 'Night', target: { roomIds }, action: { type: 'CONFIG', config: { nightMode: true } } },
    stages: [{ rooms: firstRooms }, { percent: 50 }, { percent: 100 }],
  })
  const tooFew = (count: number, all: number) =>
    `stages.1 would have ${count} of ${all} units, fewer than the stage before it`
  for (const path of ['/jobs/plan', '/jobs']) {
    const refused = (await other.call('POST', path, { body: body(3) })).body
    expect(refused).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(tooFew(2, 4)) })
  }
  const { id } = (await other.call('POST', '/jobs', { body: body(2) })).body
  for (const endpoint of rows.slice(2)) await other.call('DELETE', `/endpoints/${endpoint.id}`)
  const refused = (await other.call('POST', `/jobs/${id}/start`)).body
  expect(refused).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(tooFew(1, 2)) })
  expect((await other.call('GET', `/jobs/${id}`)).body.state).toBe('DRAFT')
})
