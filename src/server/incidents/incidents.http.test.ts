// Tests how incidents are read: filters, pages, the single incident, and what a caller that is limited to regions sees. [contract 10.states]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../test/support/database/endpoint-rows.ts'
import { newFixture } from '../../../test/support/fixture.ts'
import { type Harness, quickTasks, type Reply, startHarness } from '../../../test/support/harness.ts'
import { newIncident } from '../../../test/support/incidents.ts'
import { newPerson } from '../../../test/support/person.ts'
import { expectSameAsUnknown, newTwoRegions } from '../../../test/support/places/two-regions.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
})
afterAll(() => harness.close())

const idsOf = (body: { incidents: { id: string }[] }) => body.incidents.map(({ id }) => id)

test('a list has open incidents unless it asks for others, and every filter narrows it', async () => {
  const f = await newFixture(harness)
  const acknowledged = await newIncident(harness, f, {
    rule: 'firmware.behind',
    state: 'ACKNOWLEDGED',
    rooms: [f.room],
    assigneeId: Number(f.user),
    openedAt: Date.UTC(2026, 0, 2),
    since: Date.UTC(2026, 0, 1),
  })
  const resolved = await newIncident(harness, f, { state: 'RESOLVED', severity: 'CRITICAL', rooms: [f.room] })
  const list = async (query: string) => idsOf((await f.call('GET', `/incidents${query}`)).body)

  expect(await list('')).toEqual([acknowledged, f.incident])
  expect(await list('?state=open')).toEqual([acknowledged, f.incident])
  expect(await list('?state=all')).toEqual([resolved, acknowledged, f.incident])
  expect(await list('?state=RESOLVED')).toEqual([resolved])
  expect(await list('?state=MERGED')).toEqual([])
  expect(await list('?rule=firmware.behind')).toEqual([acknowledged])
  expect(await list('?state=all&severity=CRITICAL')).toEqual([resolved])
  expect(await list(`?regionId=${f.region}&locationId=${f.location}&roomId=${f.room}`)).toEqual([
    acknowledged,
    f.incident,
  ])
  expect(await list(`?roomId=${f.room + 1}`)).toEqual([])
  expect(await list(`?regionId=${f.emptyRegion}`)).toEqual([])
  expect(await list(`?endpointId=${f.endpoint}`)).toEqual([f.incident])
  expect(await list('?endpointId=nonsense')).toEqual([])
  expect(await list(`?assigneeId=${f.user}`)).toEqual([acknowledged])
  expect(await list('?assigneeId=999')).toEqual([])
  expect(await list('?from=2026-01-02T00:00:00Z&to=2026-01-02T00:00:01Z')).toEqual([acknowledged])
  expect(await list('?to=2026-01-02T00:00:00Z')).toEqual([])
  expect((await f.call('GET', '/incidents?state=closed')).status).toBe(400)
  expect((await f.call('GET', '/incidents?from=2026-01-02&to=2026-01-01')).body.message).toContain(
    'from must not be after to',
  )
})

test('pages follow each other without gaps, and a token is valid for its own query and caller only', async () => {
  const f = await newFixture(harness)
  const made = [f.incident]
  for (let i = 0; i < 4; i++) made.unshift(await newIncident(harness, f, { rooms: [f.room] }))
  const seen: string[] = []
  let token = ''
  do {
    const { body } = await f.call('GET', `/incidents?pageSize=2&pageToken=${token}`)
    seen.push(...idsOf(body))
    token = body.nextPageToken
  } while (token !== '')
  expect(seen).toEqual(made)

  const { body: first } = await f.call('GET', '/incidents?pageSize=2')
  const next = `pageSize=2&pageToken=${first.nextPageToken}`
  expect((await f.call('GET', `/incidents?${next}`)).status).toBe(200)
  expect((await f.call('GET', `/incidents?state=all&${next}`)).status).toBe(400)
  const key = await f.newKey({})
  expect((await f.call('GET', `/incidents?${next}`, { key })).status).toBe(400)
})

test('a single incident has its subjects, those still affected first, and its timeline, oldest entry first', async () => {
  const f = await newFixture(harness)
  const since = Date.UTC(2026, 0, 1)
  const id = await newIncident(harness, f, {
    rooms: [f.room],
    endpoints: [f.endpoint],
    endedSubjects: [f.endpoint],
    since,
    timeline: [{ at: since + 400_000, kind: 'COMMENT', text: 'Somebody is there.' }],
    snoozedUntil: 'cleared',
    occurrences: 3,
  })
  const { body, headers } = await f.call('GET', `/incidents/${id}`)
  expect(headers.get('etag')).toMatch(/^"1-/)
  expect(body).toMatchObject({
    id,
    rule: 'storage.low',
    severity: 'WARNING',
    state: 'OPEN',
    cause: { level: 'ENDPOINT', id: f.endpoint },
    since: '2026-01-01T00:00:00.000Z',
    openedAt: '2026-01-01T00:05:00.000Z',
    occurrences: 3,
    flapping: false,
    snoozedUntil: 'cleared',
    roomIds: [f.room],
    locationIds: [f.location],
    regionIds: [f.region],
    subjectCount: 2,
    openSubjectCount: 1,
    subjects: [
      { type: 'room', id: String(f.room), name: 'Fjord', roomId: f.room, roomName: 'Fjord' },
      { type: 'endpoint', id: f.endpoint, endedAt: expect.any(String) },
    ],
    timeline: [
      { at: '2026-01-01T00:05:00.000Z', kind: 'OPENED' },
      { at: '2026-01-01T00:06:40.000Z', kind: 'COMMENT', text: 'Somebody is there.' },
    ],
  })
  expect(body.title).toBe('Fjord in Fjord (Oslo HQ) is low on storage')
  expect(body.hint).not.toBe('')
  const { subjects: _, timeline: __, ...listed } = body
  expect((await f.call('GET', '/incidents')).body.incidents).toContainEqual(listed)
  for (const unknown of ['999', '01', 'x', '99999999999']) {
    expect((await f.call('GET', `/incidents/${unknown}`)).body.message).toBe(
      `Requested resource not found: there is no incident ${unknown}.`,
    )
  }
})

test('the first 200 subjects and the last 200 entries of the timeline are shown, and the counts are of all', async () => {
  const f = await newFixture(harness)
  const endpoints = await putEndpoints(
    harness,
    f,
    Array.from({ length: 203 }, (_, i) => ({ room_id: f.room, serial: `MANY-${i}`, number: 500 + i })),
  )
  const timeline = Array.from({ length: 205 }, (_, i) => ({ at: i, kind: 'COMMENT' as const, text: `Entry ${i}` }))
  const id = await newIncident(harness, f, { endpoints: endpoints.map((e) => e.id), timeline })
  const { body } = await f.call('GET', `/incidents/${id}`)
  expect(body).toMatchObject({ subjectCount: 203, openSubjectCount: 203 })
  expect(body.subjects).toHaveLength(200)
  expect(body.timeline).toHaveLength(200)
  expect(body.timeline.at(-1).text).toBe('Entry 204')
  expect(body.timeline[0].text).toBe('Entry 5')
})

test('an assignee is shown with a name, which has its part in the ETag', async () => {
  const f = await newFixture(harness)
  const id = await newIncident(harness, f, { rooms: [f.room], assigneeId: Number(f.user) })
  const before = await f.call('GET', `/incidents/${id}`)
  expect(before.body.assignee).toEqual({ id: f.user, name: 'ada@example.org' })
  await f.call('PUT', `/users/${f.user}`, { body: { name: 'Ada' } })
  const after = await f.call('GET', `/incidents/${id}`)
  expect(after.body.assignee).toEqual({ id: f.user, name: 'Ada' })
  expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'))
  await f.call('DELETE', `/users/${f.user}`)
  expect((await f.call('GET', `/incidents/${id}`)).body).not.toHaveProperty('assignee')
})

test('a snooze that has ended is not shown', async () => {
  const f = await newFixture(harness)
  const { clock } = harness.services
  const asleep = await newIncident(harness, f, { rooms: [f.room], snoozedUntil: clock.now() + 3_600_000 })
  const awake = await newIncident(harness, f, { rooms: [f.room], snoozedUntil: clock.now() - 1 })
  expect((await f.call('GET', `/incidents/${asleep}`)).body.snoozedUntil).toEqual(expect.any(String))
  expect((await f.call('GET', `/incidents/${awake}`)).body).not.toHaveProperty('snoozedUntil')
})

test('an incident is visible if one of its subjects is, and a hidden one is answered like an unknown id [contract 11.access]', async () => {
  const t = await newTwoRegions(harness)
  const mine = await newIncident(harness, t.org, { endpoints: [t.mine.endpoint] })
  const other = await newIncident(harness, t.org, { endpoints: [t.other.endpoint] })
  const nowhere = await newIncident(harness, t.org, { endpoints: [t.nowhere.endpoint] })
  const ofOrganisation = await newIncident(harness, t.org)
  expect(idsOf((await t.call('GET', '/incidents?state=all')).body)).toEqual([mine])
  expect((await t.call('GET', `/incidents/${mine}`)).body).toEqual((await t.org.call('GET', `/incidents/${mine}`)).body)
  for (const hidden of [other, nowhere, ofOrganisation]) {
    expect((await expectSameAsUnknown(t, [hidden, '9'], (id) => ['GET', `/incidents/${id}`])).status).toBe(404)
  }
})

test('title, cause, severity, counts and ids of a partly visible incident are of the visible subjects [contract 11.access]', async () => {
  const t = await newTwoRegions(harness)
  const [second] = await putEndpoints(harness, t.org, [
    { room_id: t.mine.room, serial: 'MINE-TOUCH', number: 2000, connected: 1 },
  ])
  // A device that was never connected does not count for its room.
  await putEndpoints(harness, t.org, [{ room_id: t.mine.room, serial: 'MINE-NEW', number: 2001 }])
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    const used = kysely.updateTable('endpoints').set({ connection_time: harness.clock.now() })
    await used.where('org', '=', t.org.org.key).where('number', '!=', 2001).execute()
  })
  const incident = {
    rule: 'device.offline',
    severity: 'CRITICAL',
    level: 'ORGANISATION',
    causeId: t.org.id,
    causeName: 'Test organisation',
  } as const
  const everywhere = [t.mine.endpoint, t.other.endpoint, t.nowhere.endpoint]
  const id = await newIncident(harness, t.org, { ...incident, endpoints: everywhere, state: 'RESOLVED' })
  const whole = (await t.org.call('GET', `/incidents/${id}`)).body
  expect(whole).toMatchObject({ severity: 'CRITICAL', subjectCount: 3, cause: { level: 'ORGANISATION' } })
  expect(whole.title).toBe('MINE site, OTHER site and 1 more location are offline: 3 devices')

  // One of the two devices of the visible room is a subject, so that room is not lost.
  const seen = (await t.call('GET', `/incidents/${id}`)).body
  expect(seen).toMatchObject({
    severity: 'WARNING',
    cause: { level: 'ENDPOINT', id: t.mine.endpoint },
    roomIds: [t.mine.room],
    locationIds: [t.mine.location],
    regionIds: [t.mine.region],
    subjectCount: 1,
    subjects: [{ id: t.mine.endpoint }],
  })
  expect(seen.title).toBe('Bar NE-BAR in MINE room (MINE site) is offline')
  expect(JSON.stringify(seen)).not.toMatch(/OTHER|NOWHERE|Test organisation/)

  await t.org.call('PUT', '/incident_rules/device.offline', { body: { severity: 'INFO' } })
  expect((await t.call('GET', `/incidents/${id}`)).body).toMatchObject({ severity: 'INFO' })
  await t.org.call('PUT', '/incident_rules/device.offline', { body: { severity: null } })

  const both = await newIncident(harness, t.org, {
    ...incident,
    endpoints: [...everywhere, second?.id ?? ''],
    state: 'RESOLVED',
  })
  expect((await t.call('GET', `/incidents/${both}`)).body).toMatchObject({
    severity: 'CRITICAL',
    cause: { level: 'ROOM', id: String(t.mine.room), name: 'MINE room' },
    subjectCount: 2,
  })

  // A filter looks at what the caller sees, too.
  const list = async (query: string) => idsOf((await t.call('GET', `/incidents?state=all${query}`)).body)
  expect(await list('&severity=WARNING')).toEqual([id])
  expect(await list('&severity=CRITICAL')).toEqual([both])
  expect(await list(`&roomId=${t.mine.room}`)).toEqual([both, id])
  expect(await list(`&roomId=${t.other.room}`)).toEqual([])
  expect(await list(`&endpointId=${t.other.endpoint}`)).toEqual([])
  expect(await list(`&regionId=${t.other.region}`)).toEqual([])
})

test('a pair in two regions is named by the device that the caller sees [contract 11.access]', async () => {
  const t = await newTwoRegions(harness)
  const pair = { rule: 'device.offline', endpoints: [t.other.endpoint, t.mine.endpoint], state: 'RESOLVED' } as const
  const id = await newIncident(harness, t.org, pair)
  expect((await t.org.call('GET', `/incidents/${id}`)).body.cause).toMatchObject({ id: t.other.endpoint })
  const seen = (await t.call('GET', `/incidents/${id}`)).body
  expect(seen.cause).toMatchObject({ level: 'ENDPOINT', id: t.mine.endpoint })
  expect(seen.title).toBe('Bar in MINE room (MINE site) is offline')
  expect(JSON.stringify(seen)).not.toMatch(/OTHER/)
})

test('a hidden change of an incident shows only that something changed: updatedAt, the version, JOINED and LEFT [contract 10.states]', async () => {
  const t = await newTwoRegions(harness)
  const subjects = { endpoints: [t.mine.endpoint, t.other.endpoint] }
  const id = await newIncident(harness, t.org, { ...subjects, rule: 'config.undelivered', state: 'RESOLVED' })
  const read = async () => {
    const { body, headers } = await t.call('GET', `/incidents/${id}`)
    const { updatedAt, timeline, ...shown } = body
    return { updatedAt, timeline, shown, etag: headers.get('etag') }
  }
  const before = await read()
  const [listed] = (await t.call('GET', '/incidents?state=all')).body.incidents
  expect(listed.updatedAt).toBe(before.updatedAt)
  // The service changes the incident because of the hidden device.
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    const incident = { org: t.org.org.key, incident_id: Number(id) }
    const at = Date.parse(before.updatedAt) + 60_000
    await kysely
      .updateTable('incident_subjects')
      .set({ ended_at: at })
      .where('org', '=', incident.org)
      .where('incident_id', '=', incident.incident_id)
      .where('subject_id', '=', t.other.endpoint)
      .execute()
    await kysely
      .updateTable('incidents')
      .set({ version: 2, updated_at: at })
      .where('org', '=', incident.org)
      .where('id', '=', incident.incident_id)
      .execute()
    await kysely
      .insertInto('incident_timeline')
      .values({ ...incident, number: 9, at, kind: 'LEFT' })
      .execute()
  })
  const after = await read()
  expect(after.shown).toEqual(before.shown)
  expect(after.updatedAt).not.toBe(before.updatedAt)
  expect(after.etag).not.toBe(before.etag)
  expect(after.timeline).toEqual([...before.timeline, { at: after.updatedAt, kind: 'LEFT' }])
})

test('a title has the present name of the location, its ETag changes with it, and a location that is moved away is not named [contract 11.access]', async () => {
  const t = await newTwoRegions(harness)
  // An incident as version 0.2.0 stored it: the model as its code, and no value.
  const old = { rule: 'device.flapping', endpoints: [t.mine.endpoint], state: 'RESOLVED' } as const
  const id = await newIncident(harness, t.org, old)
  const read = async () => {
    const { body, headers } = await t.call('GET', `/incidents/${id}`)
    return { title: body.title, etag: headers.get('etag') }
  }
  const before = await read()
  expect(before.title).toBe('Bar in MINE room (MINE site) keeps disconnecting')
  const rename = { name: 'New site', regionId: t.mine.region }
  expect((await t.org.call('PUT', `/locations/${t.mine.location}`, { body: rename })).status).toBe(200)
  const after = await read()
  expect(after.title).toBe('Bar in MINE room (New site) keeps disconnecting')
  expect(after.etag).not.toBe(before.etag)
  const moved = { name: 'Secret site', regionId: t.other.region }
  expect((await t.org.call('PUT', `/locations/${t.mine.location}`, { body: moved })).status).toBe(200)
  expect((await read()).title).toBe('Bar NE-BAR in MINE room keeps disconnecting')
  expect((await t.org.call('GET', `/incidents/${id}`)).body.title).toContain('(Secret site)')
})

test('the title of a device without a name and without a room has the end of its serial number', async () => {
  const org = await harness.newOrg()
  const [device] = await putEndpoints(harness, org, [{ serial: 'NF1JWSL00042000', model: 'NF21F1' }])
  const id = await newIncident(harness, org, { rule: 'device.flapping', endpoints: [device?.id ?? ''] })
  expect((await org.call('GET', `/incidents/${id}`)).body.title).toBe('Frame 042000 keeps disconnecting')
})

test('rooms, locations and regions are those that are still affected; the filters look at all [contract 10.states]', async () => {
  const t = await newTwoRegions(harness)
  const id = await newIncident(harness, t.org, { rooms: [t.mine.room, t.other.room], endedSubjects: [t.mine.room] })
  const { roomIds, locationIds, regionIds } = (await t.org.call('GET', `/incidents/${id}`)).body
  expect({ roomIds, locationIds, regionIds }).toEqual({
    roomIds: [t.other.room],
    locationIds: [t.other.location],
    regionIds: [t.other.region],
  })
  expect(idsOf((await t.org.call('GET', `/incidents?roomId=${t.mine.room}`)).body)).toEqual([id])
})

test('the timeline names an assignee to readers who see that user, and to no others [contract 10.states]', async () => {
  const t = await newTwoRegions(harness)
  const assignee = await newPerson(harness, t.org, { role: 'operator', regionIds: [t.other.region] })
  // The assignee sees everything that is still affected, and the admin what has ended.
  const [endpoints, endedSubjects] = [[t.mine.endpoint, t.other.endpoint], [t.mine.endpoint]]
  const id = await newIncident(harness, t.org, { endpoints, endedSubjects })
  for (const userId of [assignee.id, null]) {
    expect((await t.org.call('PUT', `/incidents/${id}/assignee`, { body: { userId } })).status).toBe(200)
  }
  const assigned = (reply: Reply) => reply.body.timeline.find(({ kind }: { kind: string }) => kind === 'ASSIGNED')
  const whole = await t.org.call('GET', `/incidents/${id}`)
  expect(assigned(whole).text).toBe((await t.org.call('GET', `/users/${assignee.id}`)).body.email)
  expect(assigned(await t.call('GET', `/incidents/${id}`))).not.toHaveProperty('text')
  await t.org.call('PUT', `/users/${assignee.id}`, { body: { name: 'Grace' } })
  const renamed = await t.org.call('GET', `/incidents/${id}`)
  expect(assigned(renamed).text).toBe('Grace')
  expect(renamed.headers.get('etag')).not.toBe(whole.headers.get('etag'))
})
