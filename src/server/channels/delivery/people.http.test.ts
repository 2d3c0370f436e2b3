// Tests the mails to new assignees of incidents, at a real mail server. [contract 10.channel]
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { MailServer } from '../../../../test/support/channels/mail-server.ts'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { newIncident } from '../../../../test/support/incidents.ts'
import { newPerson, type TestPerson } from '../../../../test/support/person.ts'
import { until } from '../../../../test/support/program.ts'

let harness: Harness
let mailServer: MailServer
let org: TestOrg
let channel: string
let nora: TestPerson
let per: TestPerson
let places: { nordics: number; iberia: number; fjord: number; fern: number }
beforeAll(async () => {
  mailServer = await MailServer.start()
  harness = await startHarness({ smtpUrl: mailServer.url, smtpFrom: 'Roomkeeper <rooms@example.org>' }, quickTasks)
})
afterAll(async () => {
  await harness.close()
  await mailServer.close()
})

async function create(path: string, body: object) {
  const reply = await org.call('POST', path, { body })
  expect(reply.status, `${path}: ${reply.body.message}`).toBe(200)
  return reply.body.id
}

beforeEach(async () => {
  mailServer.mails.length = 0
  mailServer.refused.clear()
  org = await harness.newOrg()
  const nordics = await create('/regions', { name: 'Nordics' })
  const iberia = await create('/regions', { name: 'Iberia' })
  const oslo = await create('/locations', { name: 'Oslo', regionId: nordics, timezone: 'Europe/Oslo' })
  const lisbon = await create('/locations', { name: 'Lisbon', regionId: iberia })
  const fjord = await create('/rooms', { name: 'Fjord', locationId: oslo })
  const fern = await create('/rooms', { name: 'Fern', locationId: lisbon })
  places = { nordics, iberia, fjord, fern }
  nora = await newPerson(harness, org, { role: 'operator', regionIds: [nordics] })
  per = await newPerson(harness, org, { role: 'operator', regionIds: [nordics, iberia] })
  channel = await create('/channels', { name: 'Assignees', kind: 'people' })
})

const assign = async (id: string, userId: string | null, key?: string) => {
  const reply = await org.call('PUT', `/incidents/${id}/assignee`, { body: { userId }, ...(key && { key }) })
  expect(reply.status, reply.body.message).toBe(200)
}
const deliveries = async () => (await org.call('GET', `/channels/${channel}/deliveries`)).body.deliveries
const allAreDone = () =>
  until('nothing waits', async () => (await deliveries()).every(({ state }: { state: string }) => state !== 'WAITING'))
const textOf = (mail: (typeof mailServer.mails)[number] | undefined) => mail?.text.replaceAll('=\r\n', '') ?? ''

test('the assignee gets one mail with what is wrong, where, since when, who assigned it, and the links', async () => {
  const [frame] = await putEndpoints(harness, org, [
    { room_id: places.fjord, serial: 'NF1JWSL00042000', model: 'NF21F1' },
  ])
  const id = await newIncident(harness, org, { endpoints: [frame?.id ?? ''] })
  await assign(id, nora.id)
  await allAreDone()
  expect(mailServer.mails).toHaveLength(1)
  const [mail] = mailServer.mails
  expect(mail?.to).toEqual([nora.email])
  expect(mail?.headers.subject).toContain('[Roomkeeper] Assigned to you: Frame in Fjord (Oslo)')
  const text = textOf(mail)
  for (const part of ['Warning', '(Oslo)', `#${id}`, 'Region: Nordics', 'Assigned by: Test key'])
    expect(text).toContain(part)
  expect(text).toContain(`${harness.publicUrl}/incidents/${id}`)
  expect(text).toContain(`Room: ${harness.publicUrl}/rooms/${places.fjord}`)

  // The log of the channel names the incident.
  const { title } = (await org.call('GET', `/incidents/${id}`)).body
  expect((await deliveries())[0].incident).toEqual({ id, title })

  // The assignee already knows about the second assignment, and an end is not told.
  await assign(id, nora.id)
  await assign(id, null)
  expect(await deliveries()).toHaveLength(1)
  expect(JSON.stringify(await deliveries())).not.toContain(nora.email)
})

test('a person who takes an incident gets no mail, and who gets it from that person does', async () => {
  const id = await newIncident(harness, org, { rooms: [places.fjord] })
  await assign(id, nora.id, nora.key)
  expect(await deliveries()).toEqual([])
  await assign(id, per.id, nora.key)
  await allAreDone()
  expect(mailServer.mails.map(({ to }) => to)).toEqual([[per.email]])
  expect(textOf(mailServer.mails[0])).toContain(`Assigned by: ${nora.email}`)
})

test('the mail has the part of the incident that the assignee sees', async () => {
  const id = await newIncident(harness, org, {
    rooms: [places.fjord, places.fern],
    endedSubjects: [places.fern],
    level: 'ORGANISATION',
    causeName: 'Nordlys',
  })
  await assign(id, nora.id)
  await allAreDone()
  const text = textOf(mailServer.mails[0])
  expect(text).toContain('Region: Nordics')
  for (const hidden of ['Fern', 'Lisbon', 'Iberia']) expect(text).not.toContain(hidden)
})

test('filters of the channel choose: another region, a worse severity or another rule sends nothing', async () => {
  await org.call('PUT', `/channels/${channel}`, { body: { regionIds: [places.iberia] } })
  const id = await newIncident(harness, org, { rooms: [places.fjord] })
  await assign(id, per.id)
  await org.call('PUT', `/channels/${channel}`, { body: { regionIds: [], minSeverity: 'CRITICAL' } })
  await assign(id, nora.id)
  await org.call('PUT', `/channels/${channel}`, { body: { minSeverity: 'INFO', rules: ['air.beyond'] } })
  await assign(id, per.id)
  expect(await deliveries()).toEqual([])
  await org.call('PUT', `/channels/${channel}`, { body: { rules: ['storage.low'] } })
  await assign(id, nora.id)
  await allAreDone()
  expect(mailServer.mails.map(({ to }) => to)).toEqual([[nora.email]])
})

test('a silence holds nothing back, because a person assigned the incident', async () => {
  const to = new Date(harness.clock.now() + 3_600_000).toISOString()
  await create('/silences', { place: { roomId: places.fjord }, reason: 'Painting', to })
  const id = await newIncident(harness, org, { rooms: [places.fjord], openedAt: harness.clock.now() })
  await assign(id, nora.id)
  await allAreDone()
  expect(mailServer.mails).toHaveLength(1)
})

test('a message is cancelled if its incident has ended or has another assignee, or if the assignee is disabled', async () => {
  await org.call('PUT', `/channels/${channel}`, { body: { enabled: false } })
  const [ended, moved, left] = [
    await newIncident(harness, org, { rooms: [places.fjord] }),
    await newIncident(harness, org, { rooms: [places.fjord], rule: 'device.fault' }),
    await newIncident(harness, org, { rooms: [places.fjord], rule: 'firmware.behind' }),
  ]
  const gone = await newPerson(harness, org, { role: 'operator', allRegions: true })
  await assign(ended, nora.id)
  await org.call('POST', `/incidents/${ended}/resolve`, { body: { note: 'Accepted.' } })
  await assign(moved, nora.id)
  await assign(moved, per.id)
  await assign(left, gone.id)
  await org.call('PUT', `/users/${gone.id}`, { body: { state: 'DISABLED' } })
  await org.call('PUT', `/channels/${channel}`, { body: { enabled: true } })
  await allAreDone()
  expect(mailServer.mails.map(({ to }) => to)).toEqual([[per.email]])
  const states = (await deliveries()).map(({ state }: { state: string }) => state)
  expect(states).toEqual(['CANCELLED', 'DELIVERED', 'CANCELLED', 'CANCELLED'])
})

test('a mailbox that refuses mail for good leaves a note, and the others and the channel go on', async () => {
  mailServer.refused.add(nora.email)
  const id = await newIncident(harness, org, { rooms: [places.fjord] })
  await assign(id, nora.id)
  await allAreDone()
  await assign(id, per.id)
  await allAreDone()
  expect(mailServer.mails.map(({ to }) => to)).toEqual([[per.email]])
  expect((await deliveries())[1]).toMatchObject({ state: 'DELIVERED', error: 'address refused (550)' })
  expect((await org.call('GET', `/channels/${channel}`)).body).toMatchObject({ enabled: true, waiting: 0 })
})

test('a test message goes to the person who asks for it, and an API key without a person is refused', async () => {
  const owner = await newPerson(harness, org, { role: 'owner' })
  const { body } = await org.call('POST', `/channels/${channel}/test`, { key: owner.key })
  expect(body).toMatchObject({ state: 'DELIVERED', type: 'test' })
  expect(mailServer.mails.map(({ to }) => to)).toEqual([[owner.email]])
  const refused = await org.call('POST', `/channels/${channel}/test`)
  expect(refused).toMatchObject({ status: 400, body: { code: 'FAILED_PRECONDITION' } })
  expect(refused.body.message).toContain('goes to the person who asks for it')
})

test.each([
  ['a target', { to: ['a@example.org'] }, 'to'],
  ['another type of message', { events: ['incident.opened'] }, 'events'],
  ['a heartbeat', { heartbeatMinutes: 5 }, 'heartbeatMinutes'],
])('a channel to people has no %s', async (_, fields, field) => {
  const created = await org.call('POST', '/channels', { body: { name: 'People', kind: 'people', ...fields } })
  expect(created).toMatchObject({ status: 400, body: { violations: [{ field }] } })
  const updated = await org.call('PUT', `/channels/${channel}`, { body: fields })
  expect(updated).toMatchObject({ status: 400, body: { violations: [{ field }] } })
  expect((await org.call('GET', `/channels/${channel}`)).body).toMatchObject({
    events: ['incident.assigned'],
    minSeverity: 'INFO',
  })
})

test('other kinds cannot choose messages to assignees', async () => {
  const body = { name: 'Hook', kind: 'webhook', url: 'https://hooks.example.org/x', events: ['incident.assigned'] }
  expect((await org.call('POST', '/channels', { body })).body.violations).toEqual([
    { field: 'events', error: 'incident.assigned goes to channels of the kind people only. Leave it out' },
  ])
})
