// Names that devices report and people give do nothing in any kind of channel. [contract 5.1.label] [contract 10.channel]
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { MailServer } from '../../../../../test/support/channels/mail-server.ts'
import { Receiver } from '../../../../../test/support/channels/receiver.ts'
import { newDevice } from '../../../../../test/support/devices/test-device.ts'
import { type Harness, quickTasks, startHarness } from '../../../../../test/support/harness.ts'
import { newIncident } from '../../../../../test/support/incidents.ts'
import { until } from '../../../../../test/support/program.ts'

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

const shown = '=HYPERLINK("http://evil") <!channel> [x](http://evil) & <b>'
/** Control characters are refused. U+2028 and U+2029 separate lines too, and U+202E reverses what follows. */
const hostile = {
  reported: `\u202e${shown}\u2028\u2029Bcc: all@example.org`,
  given: `${shown}\u2028\u202eBcc: all@example.org\u2066`,
} as const
const name = `${shown} Bcc: all@example.org`
/** A title has at most 60 characters of a name. */
const nameInTitle = `${name.slice(0, 59)}…`
const isUnsafe = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

const events = ['incident.acknowledged', 'endpoint.disconnected']

/** All texts in a JSON value. */
const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

test.each(['reported', 'given'] as const)(
  'a hostile name that is %s stays text in webhook, Slack, Teams, PagerDuty and mail',
  async (origin) => {
    const org = await harness.newOrg()
    await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
    const device = await newDevice(harness, org, { roomId: 1 })
    onTestFinished(() => device.close())
    if (origin === 'given') {
      expect((await org.call('PUT', `/endpoints/${device.id}`, { body: { name: hostile.given } })).status).toBe(200)
    } else await device.publish('status', { name: hostile.reported })
    for (const lines of ['a\r\nb', 'a\u0085b']) {
      expect((await org.call('PUT', `/endpoints/${device.id}`, { body: { name: lines } })).status).toBe(400)
      await device.publish('status', { name: lines })
    }
    const stored = (await org.call('GET', `/endpoints/${device.id}`)).body.name
    expect(stored, 'what was sent is kept').toBe(hostile[origin])

    const receivers = {
      webhook: await Receiver.start(),
      slack: await Receiver.start(),
      teams: await Receiver.start(),
      pagerduty: await Receiver.start(),
    }
    for (const [kind, { url }] of Object.entries(receivers)) {
      const fields = kind === 'pagerduty' ? { url: `${url}/v2/enqueue`, routingKey: 'R0123456789ABCDEF' } : { url }
      const reply = await org.call('POST', '/channels', { body: { name: kind, kind, events, ...fields } })
      expect(reply.status, reply.text).toBe(200)
    }
    await org.call('POST', '/channels', { body: { name: 'Mail', kind: 'email', events, to: ['ops@example.org'] } })
    const id = await newIncident(harness, org, { endpoints: [device.id] })
    await org.call('POST', `/incidents/${id}/acknowledge`, { body: {} })
    device.drop()
    await until('all are told both', () => Object.values(receivers).every(({ received }) => received.length === 2))
    await until('the mails are there', () => mailServer.mails.length === 2)

    const { title } = (await org.call('GET', `/incidents/${id}`)).body
    expect(title).toBe(`${nameInTitle} in Fjord is low on storage`)

    const hooks = receivers.webhook.accepted
    expect(hooks.flatMap(textsIn).filter((text) => isUnsafe.test(text))).toEqual([])
    expect(hooks.map(({ data }) => data.incident?.cause.name ?? data.endpoint?.name)).toEqual([name, name])

    for (const { text } of receivers.slack.accepted as { text: string }[]) {
      // Only the links of Roomkeeper are markup.
      for (const markup of text.match(/<[^>]*>/g) ?? [])
        expect(markup).toMatch(/^<http:\/\/localhost:\d+\/[^|]*\|Open /)
      expect(text.split('\n').filter((line) => isUnsafe.test(line) || line.startsWith('Bcc'))).toEqual([])
      expect(text).toContain('&lt;!channel&gt;')
    }

    for (const body of receivers.teams.accepted) {
      const { content } = body.attachments[0]
      expect(new Set(content.body.map(({ type }: { type: string }) => type))).toEqual(new Set(['RichTextBlock']))
      expect(textsIn(content).filter((text) => isUnsafe.test(text))).toEqual([])
    }

    expect(receivers.pagerduty.accepted.flatMap(textsIn).filter((text) => isUnsafe.test(text))).toEqual([])
    expect(receivers.pagerduty.accepted.map(({ payload }) => payload.summary)).toEqual([
      title,
      `Device disconnected: ${name}`,
    ])

    for (const { headers, to, text } of mailServer.mails.splice(0)) {
      expect(to).toEqual(['ops@example.org'])
      expect(headers).not.toHaveProperty('bcc')
      expect(Object.values(headers).filter((value) => isUnsafe.test(value))).toEqual([])
      const lines = text.replaceAll('=\r\n', '').split(/\r?\n/)
      expect(lines.filter((line) => line.startsWith('Bcc') || isUnsafe.test(line))).toEqual([])
      expect(text).not.toContain('=E2=80=AE')
    }
  },
)
