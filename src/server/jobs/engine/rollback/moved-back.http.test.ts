// MOVE jobs that are rolled back: endpoints return to their rooms while they are where the job put them. [contract 12.rollback]
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { putEndpoints } from '../../../../../test/support/database/endpoint-rows.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import { jobOnce, newJob, unitsOf } from '../../../../../test/support/jobs/job-devices.ts'
import { newPerson } from '../../../../../test/support/person.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({ settleMinutes: 0 }, quickTasks)
})
afterAll(() => harness.close())
beforeEach(async () => {
  org = await harness.newOrg()
})

const newRoom = async (name: string, more: object = {}): Promise<number> =>
  (await org.call('POST', '/rooms', { body: { name, ...more } })).body.id
const newProfile = async (name: string, config: object): Promise<number> =>
  (await org.call('POST', '/profiles', { body: { name, config } })).body.profile.id
async function newEndpoints(...rooms: (number | null)[]): Promise<string[]> {
  const rows = rooms.map((room_id, i) => ({ room_id, serial: `BAR-${i}`, connected: 0 }))
  return (await putEndpoints(harness, org, rows)).map(({ id }) => id)
}
/** Makes the endpoints a pair group, wherever they are: the first one lists the others. */
const pair = ([leader, ...others]: readonly [number, ...number[]], ids: readonly string[]) =>
  harness.services.db.systemTransaction(async ({ kysely }) => {
    const set = (i: number, values: object) =>
      kysely
        .updateTable('endpoints')
        .set(values)
        .where('id', '=', ids[i] as string)
        .execute()
    await set(leader, { status: JSON.stringify({ pairedSerials: others.map((i) => `BAR-${i}`) }) })
    for (const i of others) await set(i, { pairing_serial: `BAR-${leader}` })
  })

const endpoint = async (id: string) => (await org.call('GET', `/endpoints/${id}`)).body
const roomsOf = (ids: readonly string[]) => Promise.all(ids.map(async (id) => (await endpoint(id)).roomId ?? null))
const profilesOf = (ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await endpoint(id)).profileId ?? null))

async function move(endpointIds: readonly string[], roomId: number, more: object = {}): Promise<string> {
  const action = { type: 'MOVE', roomId, ...more }
  const { id, onFailure } = await newJob(org, { name: 'Move', target: { endpointIds }, action })
  expect(onFailure).toBe('pause')
  const job = await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  expect(job.canRollBack).toBe(true)
  return id
}
async function moveByHand(endpointIds: readonly string[], roomId: number) {
  const { status, text } = await org.call('POST', '/endpoints/move_paired', { body: { endpointIds, roomId } })
  expect(status, text).toBe(200)
}
async function rollBack(id: string) {
  const { status, text } = await org.call('POST', `/jobs/${id}/roll_back`, { body: {} })
  expect(status, text).toBe(200)
  await jobOnce(org, id, 'it is rolled back', ({ state }) => state === 'ROLLED_BACK')
  const units = await unitsOf(org, id)
  const endpoints: { endpointId: string; state: string; error?: string }[] = units.flatMap((unit) => unit.endpoints)
  return {
    units: units.map(({ state }) => state),
    outcomeOf: (endpointId: string) => {
      const { state, error } = endpoints.find((each) => each.endpointId === endpointId) ?? {}
      return [state, error]
    },
  }
}
const movesInAuditLog = async () => (await org.audit()).filter(({ type }) => type === 'DEVICE_MOVED')

test('endpoints return to their rooms, with the profiles that the job changed', async () => {
  const [loud, quiet] = [await newProfile('Loud', { bluetooth: true }), await newProfile('Quiet', { nightMode: true })]
  const [fjord, coral, hall] = [await newRoom('Fjord'), await newRoom('Coral'), await newRoom('Hall')]
  await org.call('PUT', `/rooms/${hall}/profile`, { body: { profileId: quiet } })
  const ids = await newEndpoints(fjord, fjord, coral, hall)
  await org.call('PUT', `/endpoints/${ids[0]}/profile`, { body: { profileId: loud } })
  const job = await move(ids, hall, { assignRoomProfile: true })
  expect(await roomsOf(ids)).toEqual([hall, hall, hall, hall])
  expect(await profilesOf(ids)).toEqual([quiet, quiet, quiet, quiet])

  const entries = (await movesInAuditLog()).length
  const { units, outcomeOf } = await rollBack(job)
  expect(await roomsOf(ids)).toEqual([fjord, fjord, coral, hall])
  expect(await profilesOf(ids)).toEqual([loud, null, null, null])
  expect(units).toEqual(['ROLLED_BACK', 'ROLLED_BACK', 'ROLLED_BACK'])
  for (const id of ids) expect(outcomeOf(id)).toEqual(['ROLLED_BACK', undefined])
  const returned = (await movesInAuditLog()).slice(0, -entries)
  expect(returned.map(({ target }) => target)).toEqual(
    expect.arrayContaining([expect.objectContaining({ type: 'room', id: String(fjord), name: 'Fjord' })]),
  )
  const entry = returned.find(({ details }) => JSON.stringify(details).includes(ids[0] as string))
  expect(entry?.details).toMatchObject({
    jobId: job,
    before: { roomIds: { [ids[0] as string]: hall }, profileIds: { [ids[0] as string]: quiet } },
    after: { roomIds: { [ids[0] as string]: fjord }, profileIds: { [ids[0] as string]: loud } },
    affected: [{ type: 'endpoint', id: ids[0] }],
  })
  const { versions } = (await org.call('GET', `/endpoints/${ids[0]}/config/versions`)).body
  expect(versions, 'Loud, Quiet and Loud again').toHaveLength(3)
})

test('an endpoint that is no longer where the job put it, or has no room to return to, is KEPT with the reason', async () => {
  const [fjord, coral, doomed, hall] = [
    await newRoom('Fjord'),
    await newRoom('Coral'),
    await newRoom('Doomed'),
    await newRoom('Hall'),
  ]
  const ids = await newEndpoints(fjord, fjord, doomed, fjord, null)
  const [stays, taken, homeless, removed, roomless] = ids as [string, string, string, string, string]
  const job = await move(ids, hall)
  await moveByHand([taken], coral)
  await org.call('DELETE', `/rooms/${doomed}`)
  await org.call('DELETE', `/endpoints/${removed}`)

  const { units, outcomeOf } = await rollBack(job)
  expect(await roomsOf([stays, taken, homeless, roomless])).toEqual([fjord, coral, hall, null])
  expect(outcomeOf(stays)).toEqual(['ROLLED_BACK', undefined])
  expect(outcomeOf(taken)).toEqual(['KEPT', 'it was moved to another room since'])
  expect(outcomeOf(homeless)).toEqual(['KEPT', `the room ${doomed} that it had was deleted`])
  expect(outcomeOf(removed)).toEqual(['KEPT', 'the endpoint was deleted'])
  expect(outcomeOf(roomless)).toEqual(['ROLLED_BACK', undefined])
  expect(units.sort()).toEqual(['KEPT', 'ROLLED_BACK', 'ROLLED_BACK'])
})

test('a profile that a person has changed since is kept, and the endpoint returns', async () => {
  const [quiet, own] = [await newProfile('Quiet', { nightMode: true }), await newProfile('Own', { bluetooth: true })]
  const [fjord, hall] = [await newRoom('Fjord'), await newRoom('Hall')]
  await org.call('PUT', `/rooms/${hall}/profile`, { body: { profileId: quiet } })
  const ids = await newEndpoints(fjord)
  const job = await move(ids, hall, { assignRoomProfile: true })
  await org.call('PUT', `/endpoints/${ids[0]}/profile`, { body: { profileId: own } })
  const { outcomeOf } = await rollBack(job)
  expect([await roomsOf(ids), await profilesOf(ids)]).toEqual([[fjord], [own]])
  expect(outcomeOf(ids[0] as string)).toEqual(['ROLLED_BACK', expect.stringContaining('the profile was changed by')])
})

test('a pair group returns together, with members that the job did not target, each to its own room', async () => {
  const [fjord, coral, hall] = [await newRoom('Fjord'), await newRoom('Coral'), await newRoom('Hall')]
  const ids = await newEndpoints(fjord, coral)
  await pair([0, 1], ids)
  const job = await move([ids[0] as string], hall)
  expect(await roomsOf(ids)).toEqual([hall, hall])
  const { units } = await rollBack(job)
  expect(await roomsOf(ids)).toEqual([fjord, coral])
  expect(units).toEqual(['ROLLED_BACK'])
})

test('a pair group of which one cannot return stays together', async () => {
  const [fjord, coral, hall] = [await newRoom('Fjord'), await newRoom('Coral'), await newRoom('Hall')]
  const ids = await newEndpoints(fjord, coral, fjord, hall)
  await pair([0, 1], ids)
  const job = await move(ids.slice(0, 3), hall)
  await org.call('DELETE', `/rooms/${coral}`)
  // The third is now paired with a device that was in the room before.
  await pair([3, 2], ids)
  const { units, outcomeOf } = await rollBack(job)
  expect(await roomsOf(ids)).toEqual([hall, hall, hall, hall])
  expect(outcomeOf(ids[0] as string)).toEqual(['KEPT', 'a device that it is paired with cannot return'])
  expect(outcomeOf(ids[1] as string)).toEqual(['KEPT', `the room ${coral} that it had was deleted`])
  expect(outcomeOf(ids[2] as string)).toEqual(['KEPT', 'it is now paired with a device that the job did not move'])
  expect(units).toEqual(['KEPT'])
})

test('a retry does not forget the room that an endpoint had before the job, and a move of a person in between counts', async () => {
  const [fjord, coral, hall] = [await newRoom('Fjord'), await newRoom('Coral'), await newRoom('Hall')]
  const ids = await newEndpoints(fjord, fjord)
  const job = await move(ids, hall)
  await moveByHand([ids[1] as string], coral)
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    const ofJob = { org: org.org.key, job: Number(job) }
    const set = { state: 'FAILED' } as const
    await kysely
      .updateTable('job_units')
      .set(set)
      .where('org', '=', ofJob.org)
      .where('job_id', '=', ofJob.job)
      .execute()
    await kysely
      .updateTable('job_endpoints')
      .set(set)
      .where('org', '=', ofJob.org)
      .where('job_id', '=', ofJob.job)
      .execute()
    await kysely
      .updateTable('jobs')
      .set({ state: 'INCOMPLETE' })
      .where('org', '=', ofJob.org)
      .where('id', '=', ofJob.job)
      .execute()
  })
  expect((await org.call('POST', `/jobs/${job}/retry`, { body: {} })).status).toBe(200)
  await jobOnce(org, job, 'it has ended again', ({ state }) => state === 'SUCCEEDED')
  expect(await roomsOf(ids)).toEqual([hall, hall])
  await rollBack(job)
  expect(await roomsOf(ids)).toEqual([fjord, coral])
})

test('an endpoint that version 0.2.0 moved is KEPT, because its room was not recorded', async () => {
  const [fjord, hall] = [await newRoom('Fjord'), await newRoom('Hall')]
  const ids = await newEndpoints(fjord)
  const job = await move(ids, hall)
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely.deleteFrom('job_moves').where('org', '=', org.org.key).execute(),
  )
  const { outcomeOf } = await rollBack(job)
  expect(outcomeOf(ids[0] as string)).toEqual(['KEPT', 'the room that it had was not recorded'])
  expect(await roomsOf(ids)).toEqual([hall])
})

test('a job does not roll back a move by itself, and a caller who does not see its room cannot', async () => {
  const region = async (name: string) => (await org.call('POST', '/regions', { body: { name } })).body.id
  const [north, south] = [await region('North'), await region('South')]
  const at = async (regionId: number) => ({
    locationId: (await org.call('POST', '/locations', { body: { name: `Site ${regionId}`, regionId } })).body.id,
  })
  const [fjord, hall] = [await newRoom('Fjord', await at(north)), await newRoom('Hall', await at(south))]
  const ids = await newEndpoints(fjord)
  const body = { name: 'Move', target: { endpointIds: ids }, action: { type: 'MOVE', roomId: hall } }
  const refused = await org.call('POST', '/jobs', { body: { ...body, onFailure: 'rollBack' } })
  expect([refused.status, refused.body.code], refused.text).toEqual([400, 'FAILED_PRECONDITION'])
  const job = await move(ids, hall)
  const { key } = await newPerson(harness, org, { role: 'admin', regionIds: [north] })
  const seen = await org.call('GET', `/jobs/${job}`, { key })
  expect(seen.body).toMatchObject({ state: 'SUCCEEDED', action: { type: 'MOVE' }, canRollBack: false })
  const { status, body: answer } = await org.call('POST', `/jobs/${job}/roll_back`, { key, body: {} })
  expect([status, answer.message]).toEqual([400, expect.stringContaining('a room that you do not see')])
  expect(await roomsOf(ids)).toEqual([hall])
})
