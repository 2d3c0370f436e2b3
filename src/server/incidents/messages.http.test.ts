// Messages about incidents say where: receivers get names of rooms, locations and regions, the local time, values, limits and a link. [contract 10.delivery]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MailServer } from '../../../test/support/channels/mail-server.ts'
import { Receiver } from '../../../test/support/channels/receiver.ts'
import { putEndpoints } from '../../../test/support/database/endpoint-rows.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../test/support/harness.ts'
import { newIncident } from '../../../test/support/incidents.ts'
import { until } from '../../../test/support/program.ts'
import { maxMessageBytes } from '../../contract/channels/messages.ts'

let harness: Harness
let mailServer: MailServer
beforeAll(async () => {
  mailServer = await MailServer.start()
  harness = await startHarness({ smtpUrl: mailServer.url, smtpFrom: 'Roomkeeper <rooms@example.org>' }, quickTasks)
})
afterAll(async () => {
  await harness.close()
  await mailServer.close()
})

/** The incidents of these tests were not announced; a channel that had chosen openings would hear nothing more about them. */
const events = ['incident.acknowledged']

async function create(org: TestOrg, path: string, body: object): Promise<number> {
  const reply = await org.call('POST', path, { body })
  expect(reply.status, `${path}: ${reply.body.message}`).toBe(200)
  return reply.body.id
}

async function newLocation(org: TestOrg, name: string): Promise<{ regionId: number; locationId: number }> {
  const regionId = await create(org, '/regions', { name: 'Iberia' })
  const locationId = await create(org, '/locations', { name, regionId, timezone: 'Europe/Lisbon' })
  return { regionId, locationId }
}

const since = Date.parse('2027-07-05T21:28:43.767Z')

test('webhook, Slack, Teams, mail and PagerDuty name room, location and region, local time, value, limit and the page of the room', async () => {
  harness.clock.fix(since + 600_000)
  const org = await harness.newOrg()
  const { regionId, locationId } = await newLocation(org, 'Lisbon & Baixa')
  const roomId = await create(org, '/rooms', { name: 'Fern <!channel>', locationId })
  const [frame] = await putEndpoints(harness, org, [{ room_id: roomId, serial: 'NF1JWSL00042000', model: 'NF21F1' }])
  const receivers = {
    webhook: await Receiver.start(),
    slack: await Receiver.start(),
    teams: await Receiver.start(),
    pagerduty: await Receiver.start(),
  }
  for (const [kind, { url }] of Object.entries(receivers)) {
    const fields = kind === 'pagerduty' ? { url: `${url}/v2/enqueue`, routingKey: 'R0123456789ABCDEF' } : { url }
    await create(org, '/channels', { name: kind, kind, events, ...fields })
  }
  await create(org, '/channels', { name: 'Mail', kind: 'email', events, to: ['ops@example.org'] })
  const detail = { storage: 'internal', freePercent: 9, opensBelowPercent: 10 }
  const id = await newIncident(harness, org, { endpoints: [frame?.id ?? ''], detail, since })
  await org.call('POST', `/incidents/${id}/acknowledge`, { body: {} })
  await until('all are told', () => Object.values(receivers).every(({ received }) => received.length === 1))
  await until('the mail is there', () => mailServer.mails.length === 1)

  const title = 'Frame in Fern <!channel> (Lisbon & Baixa) is low on internal storage: 9 % free'
  const roomUrl = `${harness.publicUrl}/rooms/${roomId}`
  const { data } = receivers.webhook.received[0]?.body ?? {}
  expect(data).toMatchObject({
    url: `${harness.publicUrl}/incidents/${id}`,
    roomUrl,
    incident: {
      title,
      since: '2027-07-05T21:28:43.767Z',
      roomIds: [roomId],
      locationIds: [locationId],
      regionIds: [regionId],
      readings: [{ name: 'freeStorage', value: 9, unit: '%', min: 10 }],
    },
  })
  expect(data.places).toEqual([
    {
      roomId,
      roomName: 'Fern <!channel>',
      locationId,
      locationName: 'Lisbon & Baixa',
      regionId,
      regionName: 'Iberia',
      timezone: 'Europe/Lisbon',
      localSince: '2027-07-05T22:28:43+01:00',
    },
  ])

  const actor = data.incident.acknowledgedBy.name
  const hint = data.incident.hint
  expect(receivers.slack.received[0]?.body.text.split('\n')).toEqual([
    '*Acknowledged: Frame in Fern &lt;!channel&gt; (Lisbon &amp; Baixa) is low on internal storage: 9 % free*',
    `Warning · since 22:28 (Lisbon) · #${id}`,
    'Region: Iberia',
    'Free storage: 9 % (limit 10 %)',
    `Acknowledged by: ${actor}`,
    hint,
    `<${harness.publicUrl}/incidents/${id}|Open in Roomkeeper> · <${roomUrl}|Open room>`,
  ])

  const { content } = receivers.teams.received[0]?.body.attachments[0] ?? {}
  const lines = content.body.map(({ inlines }: { inlines: { text: string }[] }) =>
    inlines.map(({ text }) => text).join(''),
  )
  expect(lines).toEqual([
    `Acknowledged: ${title}`,
    `Warning · since 22:28 (Lisbon) · #${id}`,
    'Region: Iberia',
    'Free storage: 9 % (limit 10 %)',
    `Acknowledged by: ${actor}`,
    hint,
  ])
  expect(content.actions).toContainEqual({ type: 'Action.OpenUrl', title: 'Open room', url: roomUrl })

  expect(receivers.pagerduty.received[0]?.body).toMatchObject({
    links: [{ text: 'Open in Roomkeeper' }, { href: roomUrl, text: 'Open room' }],
    payload: {
      summary: title,
      source: 'Fern <!channel> (Lisbon & Baixa)',
      custom_details: { Region: 'Iberia', 'Free storage': '9 % (limit 10 %)' },
    },
  })

  const [mail] = mailServer.mails
  expect(mail?.headers.subject).toContain(`[Roomkeeper] Incident ${id}: Storage low, Fern`)
  const text = mail?.text.replaceAll('=\r\n', '') ?? ''
  for (const part of ['since 22:28 (Lisbon)', 'Region: Iberia', `Room: ${roomUrl}`]) expect(text).toContain(part)
})

test('a message names 20 places, and is not larger than 20 KiB with the longest names', async () => {
  const org = await harness.newOrg()
  const receiver = await Receiver.start()
  await create(org, '/channels', { name: 'Hook', kind: 'webhook', events, url: receiver.url })
  const tell = async (rooms: readonly number[]) => {
    const count = receiver.received.length
    const id = await newIncident(harness, org, { rooms })
    await org.call('POST', `/incidents/${id}/acknowledge`, { body: {} })
    await until('it is told', () => receiver.received.length > count)
    return receiver.received.at(-1)
  }
  const newRooms = async (name: string, locationId: number) => {
    const rooms: number[] = []
    for (let i = 0; i < 25; i++) rooms.push(await create(org, '/rooms', { name, locationId }))
    return rooms
  }
  const { locationId } = await newLocation(org, 'Oslo')
  const rooms = await newRooms('Fjord', locationId)
  const { data } = (await tell(rooms))?.body ?? {}
  expect(data.places).toHaveLength(20)
  expect(data.places[0]).toMatchObject({ roomName: 'Fjord', locationName: 'Oslo', regionName: 'Iberia' })
  expect(data.incident.roomIds).toHaveLength(25)
  expect(data).not.toHaveProperty('roomUrl')

  const { locationId: longest } = await newLocation(org, '🪑'.repeat(100))
  const request = await tell(await newRooms('🪑'.repeat(100), longest))
  expect(Buffer.byteLength(request?.text ?? '')).toBeLessThanOrEqual(maxMessageBytes)
  expect(request?.body.data.places.length).toBeGreaterThanOrEqual(5)
})

test('a receiver whose channel has rules gets incidents of these rules only', async () => {
  const org = await harness.newOrg()
  const [all, storage] = [await Receiver.start(), await Receiver.start()]
  const common = { kind: 'webhook', events, minSeverity: 'INFO' }
  await create(org, '/channels', { ...common, name: 'All', url: all.url })
  const rules = ['storage.low', 'device.fault']
  const channel = await create(org, '/channels', { ...common, name: 'Storage', rules, url: storage.url })
  const { locationId } = await newLocation(org, 'Oslo')
  const room = await create(org, '/rooms', { name: 'Fjord', locationId })
  const [frame] = await putEndpoints(harness, org, [{ room_id: room, serial: 'NF1JWSL00042001', model: 'NF21F1' }])
  const told = ['clock.unreachable', 'storage.low', 'firmware.behind'] as const
  for (const [i, rule] of told.entries()) {
    const id = await newIncident(harness, org, { rule, endpoints: [frame?.id ?? ''] })
    await org.call('POST', `/incidents/${id}/acknowledge`, { body: {} })
    await until('it is told', () => all.received.length === i + 1)
  }
  await until('all is delivered', async () => (await org.call('GET', `/channels/${channel}`)).body.waiting === 0)
  const rulesOf = ({ received }: Receiver) => received.map(({ body }) => body.data.incident.rule)
  expect(rulesOf(all)).toEqual(told)
  expect(rulesOf(storage)).toEqual(['storage.low'])
  expect((await org.call('GET', `/channels/${channel}`)).body.rules).toEqual(rules)
})
