// Devices go and come back, and incidents open and end: the whole way from a connection to a row, an event and a message.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MailServer } from '../../../../test/support/channels/mail-server.ts'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { follow } from '../../../../test/support/event-follower.ts'
import { type Harness, quickTasks, type Reply, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import {
  countFindings,
  cut,
  incidentsOnce,
  newReceiver,
  newIncidentRoom as newRoom,
  typesOf,
} from '../../../../test/support/incidents/device-incidents.ts'
import { answerConfig, jobOnce, newJob, newRooms } from '../../../../test/support/jobs/job-devices.ts'
import { until } from '../../../../test/support/program.ts'
import { minuteMs } from '../../../contract/durations.ts'

let harness: Harness
let mailServer: MailServer
beforeAll(async () => {
  mailServer = await MailServer.start()
  const smtp = { smtpUrl: mailServer.url, smtpFrom: 'Roomkeeper <rooms@example.org>' }
  harness = await startHarness({ settleMinutes: 0, ...smtp }, quickTasks)
  // Presence counts from now on.
  harness.clock.advance(6 * minuteMs)
})
afterAll(async () => {
  await harness.close()
  await mailServer.close()
})

const countRows = (org: TestOrg) => countFindings(harness, org)

test('a device that stays away is an incident with an event and a message, and ends when it is back [contract 10.cause]', async () => {
  const org = await harness.newOrg()
  const receiver = await newReceiver(org)
  const roomId = await newRoom(org, 'Fjord')
  const [bar, other] = await Promise.all([newDevice(harness, org, { roomId }), newDevice(harness, org, { roomId })])
  const follower = await follow(org.client, { types: 'incident' })
  await cut(org, bar as TestDevice)
  harness.clock.advance(5 * minuteMs + 1000)
  const [opened] = await incidentsOnce(org, 'an incident is open', ({ length }) => length === 1)
  expect(opened).toMatchObject({
    rule: 'device.offline',
    severity: 'WARNING',
    state: 'OPEN',
    cause: { level: 'ENDPOINT', id: bar?.id, name: `Bar ${bar?.serial.slice(-6)}` },
    roomIds: [roomId],
    subjectCount: 1,
    openSubjectCount: 1,
    occurrences: 1,
  })
  expect(await follower.next('incident')).toMatchObject({
    roomIds: [roomId],
    incident: { id: opened.id, state: 'OPEN' },
  })
  harness.clock.advance(minuteMs)
  await until('it is told', () => receiver.received.length === 1)
  await bar?.connect()
  harness.clock.advance(2 * minuteMs + 1000)
  const [resolved] = await incidentsOnce(org, 'it is resolved', ([incident]) => incident.state === 'RESOLVED')
  expect(resolved).toMatchObject({ id: opened.id, subjectCount: 1, openSubjectCount: 0 })
  expect((await follower.next('incident')).incident).toEqual({ id: opened.id, state: 'RESOLVED' })
  const { timeline, subjects } = (await org.call('GET', `/incidents/${opened.id}`)).body
  expect(timeline.map(({ kind }: Reply['body']) => kind)).toEqual(['OPENED', 'RESOLVED'])
  expect(subjects).toMatchObject([{ type: 'endpoint', id: bar?.id, roomId, roomName: 'Fjord' }])
  await until('its end is told', () => receiver.received.length === 2)
  expect(typesOf(receiver)).toEqual(['incident.opened', 'incident.resolved'])
  const entries = (await org.audit()).map(({ type }) => type as string)
  expect(entries, 'what the service does itself is not audited').not.toContainEqual(expect.stringMatching(/^INCIDENT/))
  expect(entries).toContain('ROOM_CREATED')
  const { rows } = await countRows(org)
  expect(rows, 'no finding is left').toBe(0)
  await Promise.all([bar?.close(), other?.close()])
})

test('a setting of a job that five devices reject is one incident and one message [contract 10.rule]', async () => {
  const org = await harness.newOrg()
  const receiver = await newReceiver(org)
  const rooms = await newRooms(harness, org, 5)
  const { id } = await newJob(org, {
    name: 'Quiet nights',
    target: { roomIds: rooms.map(({ roomId }) => roomId) },
    action: { type: 'CONFIG', config: { nightMode: true } },
    failures: { percent: 100 },
    onFailure: 'pause',
  })
  await Promise.all(rooms.map(({ device }) => answerConfig(device, true)))
  await jobOnce(org, id, 'all of its rooms failed', ({ counts }) => counts.FAILED === 5)
  harness.clock.advance(minuteMs + 1000)
  const about = (rule: string) => (incident: Reply['body']) => incident.rule === rule
  const rejected = await incidentsOnce(org, 'all of them rejected it', (incidents) =>
    incidents.filter(about('config.rejected')).some(({ openSubjectCount }) => openSubjectCount === 5),
  )
  expect(rejected.filter(about('config.rejected'))).toMatchObject([
    {
      cause: { level: 'JOB', id, name: 'Quiet nights' },
      title: '5 devices rejected Night mode set by the job Quiet nights',
      subjectCount: 5,
    },
  ])
  harness.clock.advance(minuteMs)
  const opened = () => receiver.received.filter(({ body }) => body.type === 'incident.opened')
  await until('it is told', () => opened().some(({ body }) => body.data.incident.rule === 'config.rejected'))
  expect(opened().filter(({ body }) => body.data.incident.rule === 'config.rejected')).toHaveLength(1)
  await Promise.all(rooms.map(({ device }) => device.close()))
})

test('200 devices of a location that are cut at once are one incident and one message for each channel, and one when they are back [contract 10.cause]', async () => {
  const org = await harness.newOrg()
  const receiver = await newReceiver(org)
  const mail = { name: 'Mail', kind: 'email', to: ['ops@example.org'] }
  expect((await org.call('POST', '/channels', { body: mail })).status).toBe(200)
  const locationId = (await org.call('POST', '/locations', { body: { name: 'Oslo' } })).body.id
  const rooms: number[] = []
  for (let i = 0; i < 40; i++) rooms.push(await newRoom(org, `Room ${i}`, locationId))
  const since = harness.clock.now()
  const connected = { connected: 1, connection_time: since }
  await putEndpoints(
    harness,
    org,
    rooms.flatMap((room_id) => Array.from({ length: 5 }, () => ({ room_id, ...connected }))),
  )
  await putEndpoints(harness, org, [{ ...connected, room_id: await newRoom(org, 'Elsewhere') }])
  await setPresence(org, rooms, null)
  harness.clock.advance(5 * minuteMs + 1000)
  const [opened] = await incidentsOnce(org, 'all are subjects', ([incident]) => incident?.openSubjectCount === 200)
  expect(opened).toMatchObject({
    severity: 'CRITICAL',
    cause: { level: 'LOCATION', id: String(locationId), name: 'Oslo' },
    title: 'Oslo is offline: 200 devices',
  })
  await until('the metrics have it', async () => {
    const { text } = await harness.call('GET', '/metrics')
    return [
      // Devices of other organisations of this file may be away too.
      /^roomkeeper_incidents\{severity="CRITICAL"\} [1-9]$/m,
      /^roomkeeper_incidents\{severity="INFO"\} 0$/m,
      /^roomkeeper_incidents_opened_total\{rule="device\.offline"\} [1-9]/m,
      // The delay of each device that matured is measured.
      /^roomkeeper_incident_delay_seconds_count\{rule="device\.offline"\} 2\d\d$/m,
    ].every((pattern) => pattern.test(text))
  })
  harness.clock.advance(minuteMs)
  await until('it is told', () => receiver.received.length === 1 && mailServer.mails.length === 1)
  await setPresence(org, rooms, harness.services.node?.id ?? null)
  harness.clock.advance(2 * minuteMs + 1000)
  const all = await incidentsOnce(org, 'it is resolved', ([incident]) => incident.state === 'RESOLVED')
  expect(all).toMatchObject([{ id: opened.id, subjectCount: 200, openSubjectCount: 0 }])
  await until('its end is told', () => receiver.received.length === 2 && mailServer.mails.length === 2)
  expect(typesOf(receiver)).toEqual(['incident.opened', 'incident.resolved'])
})

test('changes that people made to an incident stay when devices join it, and its end and its return take back what they end [contract 10.states]', async () => {
  const org = await harness.newOrg()
  const locationId = (await org.call('POST', '/locations', { body: { name: 'Oslo' } })).body.id
  const rooms: number[] = []
  for (let i = 0; i < 4; i++) rooms.push(await newRoom(org, `Room ${i}`, locationId))
  const connected = { connected: 1, connection_time: harness.clock.now() }
  await putEndpoints(
    harness,
    org,
    rooms.map((room_id) => ({ room_id, ...connected })),
  )
  await setPresence(org, rooms.slice(1), null)
  harness.clock.advance(5 * minuteMs + 1000)
  const [{ id }] = await incidentsOnce(org, 'three are away', ([incident]) => incident?.openSubjectCount === 3)
  const userId = (
    await org.call('POST', '/users', { body: { email: 'ada@example.org', role: 'operator', allRegions: true } })
  ).body.id
  const assignee = { id: userId, name: 'ada@example.org' }
  for (const [method, what, body] of [
    ['POST', 'acknowledge', {}],
    ['PUT', 'assignee', { userId }],
    ['PUT', 'snooze', { until: 'cleared' }],
  ] as const) {
    const { status, text } = await org.call(method, `/incidents/${id}/${what}`, { body })
    expect(status, text).toBe(200)
  }
  await setPresence(org, rooms.slice(0, 1), null)
  harness.clock.advance(5 * minuteMs + 1000)
  const [joined] = await incidentsOnce(org, 'the fourth joins', ([incident]) => incident.openSubjectCount === 4)
  expect(joined).toMatchObject({ id, state: 'ACKNOWLEDGED', assignee, snoozedUntil: 'cleared' })
  expect(joined).toHaveProperty('acknowledgedBy')
  await setPresence(org, rooms, harness.services.node?.id ?? null)
  harness.clock.advance(2 * minuteMs + 1000)
  const [resolved] = await incidentsOnce(org, 'it is resolved', ([incident]) => incident.state === 'RESOLVED')
  expect(resolved).toMatchObject({ id, assignee })
  expect(resolved).not.toHaveProperty('snoozedUntil')
  await setPresence(org, rooms, null)
  harness.clock.advance(5 * minuteMs + 1000)
  const all = await incidentsOnce(org, 'it is open again', ([incident]) => incident.state === 'OPEN')
  expect(all).toMatchObject([{ id, occurrences: 2, assignee }])
  expect(all[0]).not.toHaveProperty('acknowledgedBy')
  expect(all[0]).not.toHaveProperty('snoozedUntil')
})

/** Connects or disconnects the devices of rooms that are only rows. */
async function setPresence(org: TestOrg, rooms: readonly number[], node: number | null): Promise<void> {
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely
      .updateTable('endpoints')
      .set({ node_id: node, connection_time: harness.clock.now() })
      .where('org', '=', org.org.key)
      .where('room_id', 'in', rooms)
      .execute(),
  )
}

test('an incident that a person resolved stays closed while the device is away [contract 10.states]', async () => {
  const org = await harness.newOrg()
  const device = await newDevice(harness, org, { roomId: await newRoom(org, 'Fjord') })
  await cut(org, device)
  harness.clock.advance(5 * minuteMs + 1000)
  const [opened] = await incidentsOnce(org, 'an incident is open', ({ length }) => length === 1)
  expect(opened).toMatchObject({ severity: 'CRITICAL', cause: { level: 'ROOM', name: 'Fjord' } })
  await org.call('POST', `/incidents/${opened.id}/resolve`, { body: { note: 'The room is being rebuilt.' } })
  harness.clock.advance(61 * minuteMs)
  const other = await newDevice(harness, org, { roomId: await newRoom(org, 'Oslo') })
  await cut(org, other)
  harness.clock.advance(5 * minuteMs + 1000)
  // The engine has run since, because it has found the other device.
  const [, first] = await incidentsOnce(org, 'the other device is noticed', ({ length }) => length === 2)
  expect(first).toMatchObject({ id: opened.id, state: 'RESOLVED', openSubjectCount: 1 })
})

test('a device that is deleted, or moved to another room, leaves its incident [contract 10.finding]', async () => {
  const org = await harness.newOrg()
  const [fjord, oslo] = [await newRoom(org, 'Fjord'), await newRoom(org, 'Oslo')]
  const deleted = await newDevice(harness, org, { roomId: fjord })
  const moved = await newDevice(harness, org, { roomId: oslo })
  await cut(org, deleted, moved)
  harness.clock.advance(5 * minuteMs + 1000)
  await incidentsOnce(org, 'two incidents are open', ({ length }) => length === 2)
  const bergen = await newRoom(org, 'Bergen')
  expect((await org.call('DELETE', `/endpoints/${deleted.id}`)).status).toBe(200)
  const put = await org.call('POST', '/endpoints/move_paired', { body: { endpointIds: [moved.id], roomId: bergen } })
  expect(put.status, put.text).toBe(200)
  const after = await incidentsOnce(org, 'both are resolved', (incidents) =>
    incidents.filter(({ roomIds }) => roomIds[0] !== bergen).every(({ state }) => state === 'RESOLVED'),
  )
  expect(after.filter(({ roomIds }) => roomIds[0] !== bergen)).toHaveLength(2)
  harness.clock.advance(minuteMs)
  await incidentsOnce(org, 'the moved device is offline there', (incidents) =>
    incidents.some(({ cause, state }) => cause.name === 'Bergen' && state === 'OPEN'),
  )
})

test('a problem of a device counts from its beginning after the device was moved [contract 10.finding]', async () => {
  const org = await harness.newOrg()
  const [fjord, oslo] = [await newRoom(org, 'Fjord'), await newRoom(org, 'Oslo')]
  const device = await newDevice(harness, org, { roomId: fjord })
  await device.publish('status', { ntpServerReachable: false })
  harness.clock.advance(minuteMs)
  const beginning = async () => {
    const rows = harness.services.db.system.kysely.selectFrom('findings').select('since')
    return (await rows.where('org', '=', org.org.key).where('rule', '=', 'clock.unreachable').executeTakeFirst())?.since
  }
  const since = await until('it has begun', beginning)
  harness.clock.advance(50 * minuteMs)
  const moved = await org.call('POST', '/endpoints/move_paired', { body: { endpointIds: [device.id], roomId: oslo } })
  expect(moved.status, moved.text).toBe(200)
  await until('it has ended', async () => (await beginning()) === undefined)
  harness.clock.advance(minuteMs)
  expect(await until('it has begun again', beginning)).toBeGreaterThan(since + 50 * minuteMs)
  await device.close()
})
