// Tests what people do about incidents: acknowledge, resolve, comment, assign, snooze; and in which states they can. [contract 10.states]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Fixture, newFixture } from '../../../test/support/fixture.ts'
import { type Harness, startHarness } from '../../../test/support/harness.ts'
import { newIncident } from '../../../test/support/incidents.ts'
import { newPerson } from '../../../test/support/person.ts'
import { expectNothingChanged, expectSameAsUnknown, newTwoRegions } from '../../../test/support/places/two-regions.ts'

let harness: Harness
let f: Fixture
beforeAll(async () => {
  harness = await startHarness()
  f = await newFixture(harness)
})
afterAll(() => harness.close())

const dayMs = 86_400_000
const newOpen = () => newIncident(harness, f, { rooms: [f.room] })
const act = (id: string, method: 'POST' | 'PUT', action: string, body: object, headers = {}) =>
  f.call(method, `/incidents/${id}/${action}`, { body, headers })
const read = async (id: string) => (await f.call('GET', `/incidents/${id}`)).body
const rowOf = (id: string) =>
  harness.services.db.system.kysely
    .selectFrom('incidents')
    .selectAll()
    .where('org', '=', f.org.key)
    .where('id', '=', Number(id))
    .executeTakeFirstOrThrow()

test('acknowledging names who did it, and can be taken back', async () => {
  const id = await newOpen()
  const { body, headers } = await act(id, 'POST', 'acknowledge', { note: 'On my way.' })
  const actor = { type: 'KEY', name: 'Test key', id: expect.any(String) }
  expect(headers.get('etag')).toMatch(/^"2-/)
  expect(body).toMatchObject({ state: 'ACKNOWLEDGED', acknowledgedBy: actor })
  expect(body.acknowledgedAt).toBe(body.updatedAt)
  expect(body.timeline.at(-1)).toEqual({ at: expect.any(String), kind: 'ACKNOWLEDGED', actor, text: 'On my way.' })
  expect(await read(id)).toEqual(body)
  expect((await f.audit())[0]).toMatchObject({
    category: 'DEVICE',
    type: 'INCIDENT_ACKNOWLEDGED',
    target: { type: 'incident', id, name: 'storage.low' },
    details: { before: { state: 'OPEN' }, after: { state: 'ACKNOWLEDGED', note: 'On my way.' } },
  })
  const again = await act(id, 'POST', 'acknowledge', {})
  expect(again).toMatchObject({ status: 400, body: { code: 'FAILED_PRECONDITION' } })
  expect(again.body.message).toContain(`incident ${id} was already acknowledged by Test key.`)

  const back = await act(id, 'POST', 'acknowledge', { acknowledged: false })
  expect(back.body).toMatchObject({ state: 'OPEN' })
  expect(back.body).not.toHaveProperty('acknowledgedBy')
  expect(back.body.acknowledgedAt, 'the first time stays').toBe(body.acknowledgedAt)
  expect(back.body.timeline.at(-1)).toMatchObject({ kind: 'UNACKNOWLEDGED' })
  expect((await f.audit())[0]).toMatchObject({ type: 'INCIDENT_UNACKNOWLEDGED' })
  expect((await act(id, 'POST', 'acknowledge', { acknowledged: false })).body.message).toContain('is not acknowledged')
})

test('resolving by hand needs a note, ends the snooze, and leaves the cause as it is', async () => {
  const id = await newOpen()
  await act(id, 'PUT', 'snooze', { until: 'cleared' })
  for (const body of [{}, { note: '  ' }]) expect((await act(id, 'POST', 'resolve', body)).status).toBe(400)
  const { body } = await act(id, 'POST', 'resolve', { note: 'The room is being rebuilt.' })
  expect(body).toMatchObject({ state: 'RESOLVED', resolvedAt: expect.any(String), openSubjectCount: 1 })
  expect(body).not.toHaveProperty('snoozedUntil')
  expect(body.timeline.at(-1)).toMatchObject({ kind: 'RESOLVED', text: 'The room is being rebuilt.' })
  expect(await rowOf(id)).toMatchObject({ state: 'RESOLVED', cause_ended_at: null })
  expect((await f.audit())[0]).toMatchObject({ type: 'INCIDENT_RESOLVED', target: { id } })
})

test('a resolved or merged incident refuses everything but comments, and says why', async () => {
  const larger = await newOpen()
  const resolved = await newIncident(harness, f, { state: 'RESOLVED', rooms: [f.room] })
  const merged = await newIncident(harness, f, { state: 'MERGED', mergedInto: larger, rooms: [f.room] })
  for (const [id, reason] of [
    [resolved, 'is resolved'],
    [merged, `was merged into incident ${larger}`],
  ] as const) {
    const before = await read(id)
    for (const [method, action, body] of [
      ['POST', 'acknowledge', {}],
      ['POST', 'acknowledge', { acknowledged: false }],
      ['POST', 'resolve', { note: 'Done.' }],
      ['PUT', 'assignee', { userId: f.user }],
      ['PUT', 'snooze', { until: 'cleared' }],
      ['PUT', 'snooze', { until: null }],
    ] as const) {
      const refused = await act(id, method, action, body)
      expect(refused).toMatchObject({ status: 400, body: { code: 'FAILED_PRECONDITION' } })
      expect(refused.body.message).toContain(reason)
    }
    expect(await read(id)).toEqual(before)
    const { body } = await act(id, 'POST', 'comments', { text: 'It was the switch.' })
    expect(body.state).toBe(before.state)
    expect(body.timeline.at(-1)).toMatchObject({ kind: 'COMMENT', text: 'It was the switch.' })
  }
  expect((await f.audit())[0]).toMatchObject({
    type: 'INCIDENT_COMMENTED',
    details: { after: { text: 'It was the switch.' } },
  })
})

test('an incident is assigned to a user who can work on it, or to none', async () => {
  const id = await newOpen()
  const { body } = await act(id, 'PUT', 'assignee', { userId: f.user })
  expect(body.assignee).toEqual({ id: f.user, name: 'ada@example.org' })
  expect(body.timeline.at(-1)).toMatchObject({ kind: 'ASSIGNED', actor: expect.anything(), text: 'ada@example.org' })
  expect((await f.audit())[0]).toMatchObject({
    type: 'INCIDENT_ASSIGNED',
    details: { before: { assigneeId: null }, after: { assigneeId: f.user } },
  })
  const elsewhere = await newPerson(harness, f, { role: 'operator', regionIds: [f.emptyRegion] })
  const disabled = await newPerson(harness, f, { role: 'operator', regionIds: [f.region] })
  await f.call('PUT', `/users/${disabled.id}`, { body: { state: 'DISABLED' } })
  const viewer = await newPerson(harness, f, { role: 'viewer', allRegions: true })
  for (const [userId, reason] of [
    ['999', 'there is no user 999'],
    ['x', 'there is no user x'],
    [elsewhere.id, `${elsewhere.email} has no access to Europe. Choose another person.`],
    [viewer.id, `${viewer.email} can view incidents, but not work on them.`],
    [disabled.id, `${disabled.email} is disabled.`],
  ] as const) {
    const refused = await act(id, 'PUT', 'assignee', { userId })
    expect(refused).toMatchObject({ status: 400, body: { code: 'FAILED_PRECONDITION' } })
    expect(refused.body.message).toContain(reason)
  }
  expect((await read(id)).assignee.id).toBe(f.user)
  const none = await act(id, 'PUT', 'assignee', { userId: null })
  expect(none.body).not.toHaveProperty('assignee')
  expect(none.body.timeline.at(-1)).toMatchObject({ kind: 'UNASSIGNED' })
  expect((await f.audit())[0]).toMatchObject({
    type: 'INCIDENT_UNASSIGNED',
    details: { before: { assigneeId: f.user } },
  })
  expect((await act(id, 'PUT', 'assignee', {})).status).toBe(400)
})

test('a snooze lasts until a time within 30 days, or until the cause ends, or is ended by null', async () => {
  const id = await newOpen()
  const now = harness.clock.now()
  const until = new Date(now + 29 * dayMs).toISOString()
  expect((await act(id, 'PUT', 'snooze', { until })).body).toMatchObject({ snoozedUntil: until, state: 'OPEN' })
  expect((await act(id, 'PUT', 'snooze', { until: 'cleared' })).body.snoozedUntil).toBe('cleared')
  expect((await f.audit())[0]).toMatchObject({
    type: 'INCIDENT_SNOOZED',
    details: { before: { snoozedUntil: until }, after: { snoozedUntil: 'cleared' } },
  })
  for (const wrong of ['soon', new Date(now - 1000).toISOString(), new Date(now + 31 * dayMs).toISOString(), 7]) {
    expect((await act(id, 'PUT', 'snooze', { until: wrong })).body.code, String(wrong)).toBe('INVALID_ARGUMENT')
  }
  const woken = await act(id, 'PUT', 'snooze', { until: null })
  expect(woken.body).not.toHaveProperty('snoozedUntil')
  expect(woken.body.timeline.slice(-3)).toMatchObject([
    { kind: 'SNOOZED', text: until },
    { kind: 'SNOOZED', text: 'cleared' },
    { kind: 'WOKEN' },
  ])
  expect((await f.audit())[0]).toMatchObject({ type: 'INCIDENT_WOKEN' })
})

test('a write for another version is refused, and changes nothing [contract 7.11]', async () => {
  const id = await newOpen()
  await act(id, 'POST', 'comments', { text: 'First.' })
  const refused = await act(id, 'POST', 'acknowledge', {}, { 'if-match': '"1"' })
  expect(refused.status).toBe(412)
  expect(await read(id)).toMatchObject({ state: 'OPEN' })
  expect((await act(id, 'POST', 'acknowledge', {}, { 'if-match': '"2"' })).status).toBe(200)
})

test('two people who acknowledge at the same moment do not both succeed', async () => {
  const id = await newOpen()
  const replies = await Promise.all(Array.from({ length: 5 }, () => act(id, 'POST', 'acknowledge', {})))
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400])
  expect((await read(id)).timeline.map((entry: { kind: string }) => entry.kind)).toEqual(['OPENED', 'ACKNOWLEDGED'])
})

test('a caller who does not see all open subjects may only comment [contract 11.access]', async () => {
  const t = await newTwoRegions(harness)
  const shared = { endpoints: [t.mine.endpoint, t.other.endpoint, t.nowhere.endpoint] }
  const id = await newIncident(harness, t.org, shared)
  await expectNothingChanged(t, async () => {
    for (const [method, action, body] of [
      ['POST', 'acknowledge', {}],
      ['POST', 'resolve', { note: 'Done.' }],
      ['PUT', 'assignee', { userId: null }],
      ['PUT', 'snooze', { until: 'cleared' }],
    ] as const) {
      const refused = await t.call(method, `/incidents/${id}/${action}`, { body })
      expect(refused).toMatchObject({ status: 400, body: { code: 'FAILED_PRECONDITION' } })
      expect(refused.body.message).toContain('also affects 2 subjects in regions that you do not see')
      expect(refused.text).not.toMatch(/OTHER|NOWHERE/)
    }
  })
  const { body } = await t.call('POST', `/incidents/${id}/comments`, { body: { text: 'Ours is unplugged.' } })
  expect(body).toMatchObject({ subjectCount: 1, subjects: [{ id: t.mine.endpoint }] })

  // Subjects whose problem has ended do not count.
  const mine = await newIncident(harness, t.org, { ...shared, endedSubjects: [t.other.endpoint, t.nowhere.endpoint] })
  expect((await t.call('POST', `/incidents/${mine}/acknowledge`, { body: {} })).body.state).toBe('ACKNOWLEDGED')

  const hidden = await newIncident(harness, t.org, { endpoints: [t.other.endpoint] })
  await expectNothingChanged(t, async () => {
    for (const [method, action, body] of [
      ['POST', 'comments', { text: 'Hello.' }],
      ['POST', 'acknowledge', {}],
      ['PUT', 'snooze', { until: 'cleared' }],
    ] as const) {
      const answer = await expectSameAsUnknown(t, [hidden, '9'], (x) => [method, `/incidents/${x}/${action}`, body])
      expect(answer.status).toBe(404)
    }
  })
})

test('the audit entry of an action is visible where a subject is, and whole where all of them are [contract 11.entries]', async () => {
  const t = await newTwoRegions(harness)
  const entriesOf = async (id: string) => {
    const window = 'from=1970-01-01T00:00:00Z&to=9999-01-01T00:00:00Z'
    const { logs } = (await t.call('GET', `/audit/logs?${window}`)).body
    return logs.filter(
      (entry: { type: string; target?: { id: string } }) =>
        entry.type === 'INCIDENT_COMMENTED' && (!entry.target || entry.target.id === id),
    )
  }
  const comment = (id: string) => t.org.call('POST', `/incidents/${id}/comments`, { body: { text: 'Hello.' } })
  const other = await newIncident(harness, t.org, { endpoints: [t.other.endpoint] })
  await comment(other)
  expect(await entriesOf(other)).toEqual([])
  const mine = await newIncident(harness, t.org, { endpoints: [t.mine.endpoint] })
  await comment(mine)
  expect(await entriesOf(mine)).toMatchObject([
    { target: { type: 'incident', id: mine }, details: { after: { text: 'Hello.' } } },
  ])
  const both = await newIncident(harness, t.org, { endpoints: [t.mine.endpoint, t.other.endpoint] })
  await comment(both)
  const [entry] = await entriesOf(both)
  expect(entry).toMatchObject({ target: { type: 'incident', id: both, name: 'storage.low' } })
  expect(entry).not.toHaveProperty('details')
})

test('an action queues one message in its commit; not of a flapping incident, and of a silenced one only its end', async () => {
  const org = await newFixture(harness)
  const events = ['incident.acknowledged', 'incident.changed', 'incident.resolved']
  const channel = { name: 'All', kind: 'webhook', url: 'https://hooks.example.org/x', events, minSeverity: 'INFO' }
  expect((await org.call('POST', '/channels', { body: channel })).status).toBe(200)
  const messagesOf = async (id: string) => {
    const { kysely } = harness.services.db.system
    const rows = kysely.selectFrom('messages').select(['type', 'order_key', 'data']).where('org', '=', org.org.key)
    return (await rows.where('incident_id', '=', Number(id)).orderBy('number').execute()).map(({ data, ...row }) => ({
      ...row,
      incident: JSON.parse(data).incident,
    }))
  }
  const doEverything = async (id: string) => {
    for (const [method, action, body] of [
      ['POST', 'acknowledge', {}],
      ['POST', 'acknowledge', { acknowledged: false }],
      ['PUT', 'assignee', { userId: org.user }],
      ['PUT', 'snooze', { until: 'cleared' }],
      ['POST', 'comments', { text: 'Hello.' }],
      ['POST', 'resolve', { note: 'Done.' }],
    ] as const) {
      expect((await org.call(method, `/incidents/${id}/${action}`, { body })).status).toBe(200)
    }
  }
  const told = await newIncident(harness, org, { endpoints: [org.endpoint] })
  await doEverything(told)
  const messages = await messagesOf(told)
  expect(messages.map(({ type }) => type)).toEqual([
    'incident.acknowledged',
    'incident.changed',
    'incident.changed',
    'incident.changed',
    'incident.changed',
    'incident.resolved',
  ])
  expect(messages[0]).toMatchObject({ order_key: `incident ${told}`, incident: { id: told, state: 'ACKNOWLEDGED' } })
  expect(messages[2]?.incident.assignee).toEqual({ id: org.user, name: 'ada@example.org' })
  expect(messages[5]?.incident).not.toHaveProperty('subjects')

  const refused = await newIncident(harness, org, { endpoints: [org.endpoint], state: 'RESOLVED' })
  await org.call('POST', `/incidents/${refused}/acknowledge`, { body: {} })
  expect(await messagesOf(refused)).toEqual([])
  const flapping = await newIncident(harness, org, { endpoints: [org.endpoint], flapping: true })
  await doEverything(flapping)
  expect(await messagesOf(flapping)).toEqual([])

  const to = new Date(harness.clock.now() + 3_600_000).toISOString()
  const silence = { place: { roomId: org.room }, reason: 'Painting.', to }
  await org.call('POST', '/silences', { body: silence })
  const silenced = await newIncident(harness, org, { endpoints: [org.endpoint] })
  await doEverything(silenced)
  expect((await messagesOf(silenced)).map(({ type }) => type)).toEqual(['incident.resolved'])
  // A subject elsewhere is not silenced, and neither is a rule about security.
  const other = (await org.call('POST', '/rooms', { body: { name: 'Skog', locationId: org.location } })).body.id
  const inPart = await newIncident(harness, org, { rooms: [org.room, other] })
  const security = await newIncident(harness, org, { endpoints: [org.endpoint], rule: 'credential.shared' })
  for (const id of [inPart, security]) {
    await org.call('POST', `/incidents/${id}/acknowledge`, { body: {} })
    expect(await messagesOf(id)).toMatchObject([{ type: 'incident.acknowledged' }])
  }
})
