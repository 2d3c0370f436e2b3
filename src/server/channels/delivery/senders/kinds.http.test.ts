// E-mail, Teams, Slack and PagerDuty get what they expect, and names of rooms cannot do anything there. [contract 10.channel]
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  listDeliveryRows,
  type NewChannel,
  newChannel,
  newMessages,
} from '../../../../../test/support/channels/channel-rows.ts'
import { MailServer } from '../../../../../test/support/channels/mail-server.ts'
import { Receiver } from '../../../../../test/support/channels/receiver.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import { until } from '../../../../../test/support/program.ts'

const smtpPassword = 'mail-secret-4713'
let mailServer: MailServer
let harness: Harness
let org: TestOrg
beforeAll(async () => {
  mailServer = await MailServer.start()
  const smtpUrl = mailServer.url.replace('//', `//ops:${smtpPassword}@`)
  harness = await startHarness({ smtpUrl, smtpFrom: 'Roomkeeper <rooms@example.org>' }, quickTasks)
  org = await harness.newOrg()
})
afterAll(async () => {
  await harness.close()
  await mailServer.close()
})

const hostile = '<!channel> [x](http://evil.example) *Board* & <b>\r\nBcc: all@example.org'
const incident = {
  id: '12',
  rule: 'device.offline',
  severity: 'CRITICAL',
  state: 'OPEN',
  title: `${hostile} is offline`,
  hint: 'Check the power.',
  cause: { level: 'ROOM', id: '3', name: hostile },
  since: '2026-05-04T08:00:00.000Z',
}
const lifeOfIncident = [
  { type: 'incident.reopened', subject: 'incident 12', data: { incident } },
  {
    type: 'incident.acknowledged',
    subject: 'incident 12',
    data: { incident: { ...incident, state: 'ACKNOWLEDGED', acknowledgedBy: { name: 'Ada' } } },
  },
  { type: 'incident.resolved', subject: 'incident 12', data: { incident: { ...incident, state: 'RESOLVED' } } },
] as const

async function deliver(channel: NewChannel, messages: Parameters<typeof newMessages>[3]): Promise<number> {
  const id = await newChannel(harness, org, channel)
  await newMessages(harness, org, id, messages)
  await until('everything is delivered', async () =>
    (await listDeliveryRows(harness, id)).every(({ state }) => state === 'DELIVERED'),
  )
  return id
}

test('Slack gets text in which names cannot mention anyone or make links', async () => {
  const receiver = await Receiver.start()
  await deliver({ kind: 'slack', secrets: { url: `${receiver.url}/services/T0/B0/x` } }, lifeOfIncident)
  expect(receiver.received.map(({ path }) => path)).toEqual(Array(3).fill('/services/T0/B0/x'))
  const [opened] = receiver.received.map(({ body }) => body.text as string) as [string]
  expect(opened).toContain(
    '*Reopened: &lt;!channel&gt; [x](http://evil.example) *Board* &amp; &lt;b&gt; Bcc: all@example.org is offline*',
  )
  expect(opened.match(/<[^>]*>/g)).toEqual([`<${harness.publicUrl}/incidents/12|Open in Roomkeeper>`])
  expect(opened).toContain('\nCritical · since 4 May 08:00 (UTC) · #12\n')
})

test('Teams gets an Adaptive Card whose runs are not read as Markdown', async () => {
  const receiver = await Receiver.start()
  await deliver({ kind: 'teams', secrets: { url: receiver.url } }, lifeOfIncident)
  const { type, attachments } = receiver.received[0]?.body ?? {}
  expect(type).toBe('message')
  const [{ contentType, content }] = attachments
  expect(contentType).toBe('application/vnd.microsoft.card.adaptive')
  expect(content).toMatchObject({ type: 'AdaptiveCard', version: '1.4' })
  expect(content.body.every((block: { type: string }) => block.type === 'RichTextBlock')).toBe(true)
  expect(content.body[0].inlines[0].text).toMatch(/^Reopened: <!channel>/)
  expect(content.actions).toEqual([
    { type: 'Action.OpenUrl', title: 'Open in Roomkeeper', url: `${harness.publicUrl}/incidents/12` },
  ])
})

test('PagerDuty gets one alert for an incident, under its id, and change events for everything else', async () => {
  const receiver = await Receiver.start()
  const secrets = { url: `${receiver.url}/v2/enqueue`, routingKey: 'R0123456789ABCDEF' }
  await deliver({ kind: 'pagerduty', secrets }, [
    ...lifeOfIncident,
    { type: 'endpoint.connected', subject: 'endpoint a', data: { endpoint: { id: 'a', serial: 'S1' } } },
    { type: 'test', subject: 'test' },
  ])
  const alerts = receiver.received.filter(({ body }) => body.dedup_key === '12')
  expect(alerts.map(({ body }) => body.event_action)).toEqual(['trigger', 'acknowledge', 'resolve'])
  expect(alerts[0]).toMatchObject({
    path: '/v2/enqueue',
    body: {
      routing_key: 'R0123456789ABCDEF',
      client_url: `${harness.publicUrl}/incidents/12`,
      payload: { severity: 'critical', class: 'device.offline', custom_details: { Hint: 'Check the power.' } },
    },
  })
  const change = receiver.received.find(({ path }) => path === '/v2/change/enqueue')
  expect(change?.body).toMatchObject({
    routing_key: 'R0123456789ABCDEF',
    payload: { summary: 'Device connected: S1' },
    links: [{ href: `${harness.publicUrl}/devices/a` }],
  })
  // The alert of a test is resolved right away, because nothing else would end it.
  const tests = receiver.received.filter(({ path, body }) => path === '/v2/enqueue' && body.dedup_key !== '12')
  expect(tests.map(({ body }) => body.event_action)).toEqual(['trigger', 'resolve'])
  expect(new Set(tests.map(({ body }) => body.dedup_key)).size).toBe(1)
})

test('e-mail about a pair in two rooms keeps its subject when the first of them is back', async () => {
  const both = [
    { roomId: 3, roomName: 'Fjord', locationName: 'Oslo' },
    { roomId: 4, roomName: 'Skog', locationName: 'Oslo' },
  ]
  const pair = { ...incident, cause: { level: 'ENDPOINT', id: 'a', name: 'Bar' } }
  const message = (type: 'incident.opened' | 'incident.acknowledged', places: object) =>
    ({ type, subject: 'incident 12', data: { incident: pair, places } }) as const
  await deliver({ kind: 'email', settings: { to: ['ops@example.org'] } }, [
    message('incident.opened', both),
    message('incident.acknowledged', both.toReversed()),
  ])
  const subjects = mailServer.mails.splice(0).map(({ headers }) => headers.subject)
  expect(subjects).toHaveLength(2)
  expect(new Set(subjects).size).toBe(1)
})

test('e-mail about an incident is one thread with one subject, and a line break in a name begins no header', async () => {
  const opened = { ...lifeOfIncident[0], type: 'incident.opened' as const }
  await deliver({ kind: 'email', settings: { to: ['ops@example.org', 'it@example.org'] } }, [
    opened,
    ...lifeOfIncident.slice(1),
  ])
  const mails = mailServer.mails.splice(0)
  expect(mails.map(({ to }) => to)).toEqual(Array(3).fill(['ops@example.org', 'it@example.org']))
  expect(mails[0]?.from).toBe('rooms@example.org')
  expect(new Set(mails.map(({ headers }) => headers.subject)).size).toBe(1)
  const thread = mails[0]?.headers['message-id']
  expect(thread).toMatch(/^<incident-12\.[\w.-]+@example\.org>$/)
  expect(mails.slice(1).map(({ headers }) => headers['in-reply-to'])).toEqual([thread, thread])
  expect(mails.slice(1).map(({ headers }) => headers.references)).toEqual([thread, thread])
  expect(new Set(mails.map(({ headers }) => headers['message-id'])).size).toBe(3)
  for (const { headers, text } of mails) {
    expect(headers).not.toHaveProperty('bcc')
    expect(headers['auto-submitted']).toBe('auto-generated')
    expect(text.replaceAll('=\r\n', '')).toContain('/incidents/12')
  }
})

test('a mail that the server cannot take is sent again, and its words are not stored', async () => {
  mailServer.isBusy = true
  const channel = await newChannel(harness, org, { kind: 'email', settings: { to: ['ops@example.org'] } })
  await newMessages(harness, org, channel, [{ type: 'test', subject: 'test' }])
  const rows = await until('it was tried', async () => {
    const found = await listDeliveryRows(harness, channel)
    return found[0]?.attempts === 1 && found
  })
  expect(rows).toMatchObject([{ state: 'WAITING', error: 'message refused (451)', status: null }])
  expect(JSON.stringify([rows, harness.logged])).not.toContain('secret words')
  expect(mailServer.signIns[0]).toEqual({ username: 'ops', password: smtpPassword })
  expect(JSON.stringify([rows, harness.logged])).not.toContain(smtpPassword)
  mailServer.isBusy = false
  harness.clock.advance(6_000)
  await until('it is delivered', async () => (await listDeliveryRows(harness, channel))[0]?.state === 'DELIVERED')
  expect(mailServer.mails.splice(0)).toHaveLength(1)
})

test('an invitation is mailed where an SMTP server is set, and the answer says whether the server took it', async () => {
  const { id } = (await org.call('POST', '/users', { body: { email: 'ada@example.org', role: 'viewer' } })).body
  const { url, mailed } = (await org.call('POST', `/users/${id}/invite`)).body
  expect(mailed).toBe(true)
  const [mail] = mailServer.mails.splice(0)
  expect(mail?.to).toEqual(['ada@example.org'])
  expect(mail?.text.replaceAll('=\r\n', '').replaceAll('=3D', '=')).toContain(url)
  mailServer.refused.add('ada@example.org')
  expect((await org.call('POST', `/users/${id}/invite`)).body).toMatchObject({ mailed: false })
  expect(JSON.stringify(harness.logged)).not.toContain(url)
})

test('a mail of which one address is refused is delivered to the others, and the log says so', async () => {
  mailServer.refused.add('gone@example.org')
  const to = ['gone@example.org', 'ops@example.org']
  const channel = await deliver({ kind: 'email', settings: { to } }, [{ type: 'test', subject: 'test' }])
  expect(await listDeliveryRows(harness, channel)).toMatchObject([{ error: '1 of the addresses refused' }])
  expect(mailServer.mails.splice(0)).toMatchObject([{ to: ['ops@example.org'] }])
})

test('an address that the server puts off gets the mail later, and after four times the others get no further copy', async () => {
  const to = ['busy@example.org', 'ops@example.org']
  const putOff = async () => {
    mailServer.putOff.add('busy@example.org')
    const channel = await newChannel(harness, org, { kind: 'email', settings: { to } })
    await newMessages(harness, org, channel, [{ type: 'test', subject: 'test' }])
    const [row] = await until('it was tried', async () => {
      const found = await listDeliveryRows(harness, channel)
      return found[0]?.attempts === 1 && found
    })
    expect(row).toMatchObject({ state: 'WAITING', error: 'address refused (450)' })
    return channel
  }
  const channel = await putOff()
  mailServer.putOff.clear()
  harness.clock.advance(6_000)
  await until('it is delivered', async () => (await listDeliveryRows(harness, channel))[0]?.state === 'DELIVERED')
  const mails = mailServer.mails.splice(0)
  expect(mails.map((mail) => mail.to)).toEqual([['ops@example.org'], to])
  expect(new Set(mails.map(({ headers }) => headers['message-id'])).size).toBe(1)
  const other = await putOff()
  await until('it is delivered', async () => {
    const [row] = await listDeliveryRows(harness, other)
    if (row?.state === 'WAITING') harness.clock.fix(row.next_at ?? 0)
    return row?.state === 'DELIVERED'
  })
  expect(await listDeliveryRows(harness, other)).toMatchObject([{ attempts: 5, error: '1 of the addresses refused' }])
  expect(mailServer.mails.splice(0)).toHaveLength(5)
})
