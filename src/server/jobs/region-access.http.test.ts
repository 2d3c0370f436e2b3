// Tests what callers that are limited to regions see of jobs, and that they steer only jobs that they see as a whole. [contract 12.rights]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../test/support/database/endpoint-rows.ts'
import { type Harness, startHarness } from '../../../test/support/harness.ts'
import { wholeAuditLog } from '../../../test/support/places/audit-site.ts'
import { newTwoRegions, type TwoRegions } from '../../../test/support/places/two-regions.ts'

let harness: Harness
let two: TwoRegions
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(Date.now())
  two = await newTwoRegions(harness)
})
afterAll(() => harness.close())

const message = { type: 'MESSAGE', message: 'Hello.' }

test('a job of several regions is shown in part, and cannot be steered by a caller who sees a part', async () => {
  const { org, mine, other, nowhere, call } = two
  const target = {
    roomIds: [mine.room, other.room, nowhere.room],
    exclude: { regionIds: [other.region], tags: ['none'] },
  }
  const { body: job } = await org.call('POST', '/jobs', { body: { name: 'All', target, action: message } })
  expect(job).toMatchObject({ unitCount: 3, counts: { PENDING: 3 } })
  const { body: seen } = await call('GET', `/jobs/${job.id}`)
  expect(seen).toMatchObject({
    unitCount: 1,
    endpointCount: 1,
    counts: { PENDING: 1 },
    stageCounts: [{ unitCount: 1 }],
  })
  expect(seen.target).toEqual({ roomIds: [mine.room], exclude: { tags: ['none'] } })
  expect((await call('GET', `/jobs/${job.id}/rooms`)).body.rooms.map(({ name }: { name: string }) => name)).toEqual([
    'MINE room (MINE site)',
  ])
  expect((await call('GET', '/jobs')).body.jobs[0]).toMatchObject({ id: job.id, unitCount: 1 })
  for (const step of ['start', 'pause', 'resume', 'cancel', 'roll_back', 'retry']) {
    const refusal = await call('POST', `/jobs/${job.id}/${step}`)
    expect(refusal.status).toBe(400)
    expect(refusal.body.message).toContain('2 units in regions that you do not see')
  }
  expect((await org.call('GET', `/jobs/${job.id}`)).body).toEqual(job)
})

test('a target has only what its caller sees, in plans and in jobs', async () => {
  const { org, mine, other, call } = two
  const body = { name: 'Bars', target: { models: ['NF19B1'] }, action: message }
  expect((await call('POST', '/jobs/plan', { body })).body).toMatchObject({
    unitCount: 1,
    rooms: [{ name: 'MINE room (MINE site)' }],
  })
  const { body: job } = await call('POST', '/jobs', { body })
  expect(job.unitCount).toBe(1)
  expect((await org.call('GET', `/jobs/${job.id}/rooms`)).body.rooms).toHaveLength(1)
  const hidden = { ...body, target: { models: ['NF19B1'], regionIds: [other.region] } }
  expect((await call('POST', '/jobs', { body: hidden })).body.message).toContain('matches no endpoint')
  const started = await call('POST', `/jobs/${job.id}/start`)
  expect(started.body).toMatchObject({ state: 'RUNNING', startedBy: { type: 'USER', name: two.admin.email } })
  // The room is now in a region that the admin does not see, and so are the job and its events.
  await org.call('PUT', `/rooms/${mine.room}`, { body: { name: 'MINE room', locationId: other.location } })
  expect((await call('GET', `/jobs/${job.id}`)).status).toBe(404)
  expect((await call('GET', '/jobs')).body.jobs).toEqual([])
  await org.call('PUT', `/rooms/${mine.room}`, { body: { name: 'MINE room', locationId: mine.location } })
})

test('the room of a move is hidden from callers who do not see it', async () => {
  const { org, mine, other, call } = two
  const target = { roomIds: [mine.room] }
  const action = { type: 'MOVE', roomId: other.room }
  const { body: job } = await org.call('POST', '/jobs', { body: { name: 'Move', target, action } })
  expect(job.action).toEqual(action)
  expect((await call('GET', `/jobs/${job.id}`)).body.action).toEqual({ type: 'MOVE' })
  expect((await call('GET', '/jobs')).body.jobs[0].action).toEqual({ type: 'MOVE' })
})

test('the audit entry of a job has its details only for callers who see everything that it names [contract 11.entries]', async () => {
  const { org, mine, other, call } = two
  const rebooted = { type: 'REBOOT' }
  const targets = [
    [{ roomIds: [mine.room] }, rebooted, true],
    [{ models: ['NF19B1'], regionIds: [mine.region] }, rebooted, true],
    [{ roomIds: [mine.room], exclude: { tags: ['none'], locationIds: [mine.location] } }, rebooted, true],
    [{ regionIds: [mine.region, other.region], locationIds: [mine.location] }, rebooted, false],
    [{ roomIds: [mine.room], locationIds: [mine.location, other.location] }, rebooted, false],
    [{ roomIds: [mine.room, other.room], locationIds: [mine.location] }, rebooted, false],
    [{ roomIds: [mine.room], endpointIds: [mine.endpoint, other.endpoint] }, rebooted, false],
    [{ roomIds: [mine.room], exclude: { regionIds: [other.region] } }, rebooted, false],
    [{ roomIds: [mine.room], exclude: { locationIds: [other.location] } }, rebooted, false],
    [{ roomIds: [mine.room], exclude: { roomIds: [other.room] } }, rebooted, false],
    [{ roomIds: [mine.room], exclude: { endpointIds: [other.endpoint] } }, rebooted, false],
    // An id that does not exist looks like one that the caller does not see.
    [{ roomIds: [mine.room], exclude: { roomIds: [999_999] } }, rebooted, false],
    [{ roomIds: [mine.room], exclude: { regionIds: [999_999] } }, rebooted, false],
    [{ roomIds: [mine.room] }, { type: 'MOVE', roomId: other.room }, false],
    [{ roomIds: [mine.room] }, { type: 'MOVE', roomId: mine.room }, true],
  ] as const
  for (const [target, action, isShown] of targets) {
    const made = await org.call('POST', '/jobs', { body: { name: 'Named', target, action } })
    expect(made.body, made.text).toMatchObject({ unitCount: 1 })
    // Jobs of other tests go on, and write entries of their own.
    const isOfJob = (entry: { type: string; target?: { id: string } }) =>
      entry.type === 'JOB_CREATED' && entry.target?.id === made.body.id
    const entry = (await call('GET', `${wholeAuditLog}&pageSize=20`)).body.logs.find(isOfJob)
    const named = JSON.stringify([target, action])
    expect(entry, named).toBeDefined()
    if (isShown) expect(entry.details.after, named).toMatchObject({ target, action })
    else expect(entry, named).not.toHaveProperty('details')
    const whole = (await org.audit()).find(isOfJob)
    expect(whole?.details, named).toMatchObject({ after: { target, action } })
  }
})

test('a reboot is refused if the caller does not see the whole pair group', async () => {
  const { mine, other, call } = two
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    const set = (id: string, values: object) =>
      kysely.updateTable('endpoints').set(values).where('id', '=', id).execute()
    await set(other.endpoint, { status: JSON.stringify({ pairedSerials: ['MINE-BAR'] }) })
    await set(mine.endpoint, { pairing_serial: 'OTHER-BAR' })
  })
  const body = { name: 'Reboot', target: { roomIds: [mine.room] }, action: { type: 'REBOOT' } }
  expect((await call('POST', '/jobs', { body })).body.message).toContain('outside the regions that you see')
  const { body: job } = await two.org.call('POST', '/jobs', { body })
  const { rooms } = (await two.org.call('GET', `/jobs/${job.id}/rooms`)).body
  expect(rooms).toMatchObject([
    { roomIds: [mine.room, other.room], name: 'MINE room (MINE site), OTHER room (OTHER site)' },
  ])
  expect((await call('GET', `/jobs/${job.id}`)).status).toBe(404)
})

test('a room that was deleted hides neither its unit nor the job, and prevents no caller from steering it', async () => {
  const { org, mine, other, call } = two
  const create = async (name: string, locationId: number) => {
    const id: number = (await org.call('POST', '/rooms', { body: { name, locationId } })).body.id
    await putEndpoints(harness, org, [{ room_id: id, connected: 0, model: 'NF21C1', number: 2000 + id }])
    return id
  }
  const [kept, doomed] = [await create('Kept', mine.location), await create('Doomed', mine.location)]
  const hidden = await create('Hidden', other.location)
  // The engine leaves jobs alone that start later.
  const startAt = new Date(harness.clock.now() + 86_400_000).toISOString()
  const newJob = async (roomIds: readonly number[], by = call) =>
    (await by('POST', '/jobs', { body: { name: 'Rooms', start: true, startAt, target: { roomIds }, action: message } }))
      .body
  const both = await newJob([kept, doomed])
  const alone = await newJob([doomed])
  const elsewhere = await newJob([hidden, kept], org.call)
  for (const id of [doomed, hidden]) expect((await org.call('DELETE', `/rooms/${id}`)).status).toBe(200)
  for (const [{ id }, names] of [
    [both, ['Doomed (MINE site)', 'Kept (MINE site)']],
    [alone, ['Doomed (MINE site)']],
    // The name of a room of another region stays hidden.
    [elsewhere, ['Kept (MINE site)']],
  ] as const) {
    const { rooms } = (await call('GET', `/jobs/${id}/rooms`)).body
    expect(rooms.map(({ name }: { name: string }) => name).sort()).toEqual(names)
    expect((await call('GET', `/jobs/${id}`)).body.unitCount).toBe(names.length)
    const cancelled = await call('POST', `/jobs/${id}/cancel`)
    expect([cancelled.status, cancelled.body.state], cancelled.text).toEqual([200, 'CANCELLED'])
  }
  const listed = (await call('GET', '/jobs?state=CANCELLED')).body.jobs.map(({ id }: { id: string }) => id)
  expect(listed).toEqual([elsewhere.id, alone.id, both.id])
})
