// Tests channels: which are accepted, what they show, and what happens to their secrets. [contract 10.channel]
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, startHarness, type TestOrg } from '../../../test/support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const path = '/T02/B7?token=quite-secret'
const webhook = { name: 'Operations', kind: 'webhook', url: `https://hooks.example.org${path}` }
const create = (org: TestOrg, body: object = webhook) => org.call('POST', '/channels', { body })

describe('channelsCreate [contract 10.channel]', () => {
  test('answers a webhook with its secret once, with defaults, and without the path of its address', async () => {
    const org = await harness.newOrg()
    const { status, body, headers } = await create(org)
    expect(status).toBe(200)
    const { secret, ...channel } = body
    expect(channel).toEqual({
      id: '1',
      name: 'Operations',
      kind: 'webhook',
      url: 'https://hooks.example.org/…',
      events: ['incident.opened', 'incident.acknowledged', 'incident.resolved', 'incident.reopened'],
      minSeverity: 'WARNING',
      rules: [],
      regionIds: [],
      locationIds: [],
      enabled: true,
      waiting: 0,
    })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
    const got = await org.call('GET', '/channels/1')
    expect(got.body).toEqual(channel)
    expect(got.headers.get('etag')).toBe(headers.get('etag'))
    expect((await org.call('GET', '/channels')).body).toEqual({ channels: [channel] })
  })

  test('secrets are sealed in the database, and nowhere in answers, audit entries and logs', async () => {
    const org = await harness.newOrg()
    const made = await create(org)
    const key = 'R0UT1NGKEY0123456789abcdefghijkl'
    const pager = await create(org, { name: 'Pager', kind: 'pagerduty', routingKey: key })
    expect(pager.body.routingKey).toBe('…')
    await org.call('PUT', '/channels/1', { body: { url: 'https://hooks.example.org/other-secret' } })
    await org.call('PUT', '/channels/2', { body: { routingKey: `${key}2` } })
    const rows = await harness.services.db.system.kysely.selectFrom('channels').selectAll().execute()
    const audit = await org.audit()
    expect(audit[0].details.after).toMatchObject({ routingKey: 'changed' })
    expect(audit[1].details.after).toMatchObject({ address: 'changed' })
    const texts = [
      JSON.stringify(audit),
      JSON.stringify(harness.logged),
      (await org.call('GET', '/channels')).text,
      ...rows.map((row) => row.settings + row.secrets.toString('latin1')),
    ].join()
    for (const secret of ['quite-secret', 'other-secret', key, made.body.secret.slice(6)]) {
      expect(texts).not.toContain(secret)
    }
  })

  test.each([
    ['url', { kind: 'webhook' }],
    ['url', { kind: 'slack', url: 'hooks.example.org' }],
    ['url', { kind: 'teams', url: 'ftp://example.org/' }],
    ['url', { kind: 'webhook', url: 'https://user:password@example.org/' }],
    ['url', { kind: 'webhook', url: 'https://example.org/#part' }],
    ['url', { kind: 'email', to: ['ada@example.org'], url: 'https://example.org/' }],
    ['to', { kind: 'email' }],
    ['to', { kind: 'email', to: [] }],
    ['to', { kind: 'email', to: Array.from({ length: 31 }, (_, i) => `person${i}@example.org`) }],
    ['to[1]', { kind: 'email', to: ['ada@example.org', 'Ada <ada@example.org>'] }],
    ['to[0]', { kind: 'email', to: ['a,b@example.org'] }],
    ['routingKey', { kind: 'pagerduty' }],
    ['routingKey', { kind: 'pagerduty', routingKey: 'two words' }],
    ['url', { kind: 'pagerduty', routingKey: 'abc', url: 'ftp://example.org/' }],
    ['kind', { kind: 'fax', url: 'https://example.org/' }],
    ['events[0]', { kind: 'webhook', url: webhook.url, events: ['heartbeat'] }],
    ['regionIds[0]', { kind: 'webhook', url: webhook.url, regionIds: [77] }],
    ['locationIds[1]', { kind: 'webhook', url: webhook.url, locationIds: [1, 78] }],
    ['hours', { kind: 'webhook', url: webhook.url, hours: { days: ['mon'], from: '8:00', to: '25:00' } }],
  ])('a wrong %s is a 400 that names it, and nothing is stored', async (field, body) => {
    const org = await harness.newOrg()
    await org.call('POST', '/locations', { body: { name: 'Oslo' } })
    const refused = await create(org, { name: 'Wrong', ...body })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain(field)
    expect((await org.call('GET', '/channels')).body.channels).toEqual([])
  })

  test('a PagerDuty channel sends to PagerDuty unless it names another address', async () => {
    const org = await harness.newOrg()
    const pager = { name: 'Pager', kind: 'pagerduty', routingKey: 'abc' }
    expect((await create(org, pager)).body.url).toBe('https://events.pagerduty.com/…')
    const european = 'https://events.eu.pagerduty.com/v2/enqueue'
    const { body } = await create(org, { ...pager, url: european })
    expect(body.url).toBe('https://events.eu.pagerduty.com/…')
    const renamed = await org.call('PUT', `/channels/${body.id}`, { body: { name: 'Pager of Europe' } })
    expect(renamed.body).toMatchObject({ name: 'Pager of Europe', url: 'https://events.eu.pagerduty.com/…' })
  })

  test('an organisation has 50 channels at most', async () => {
    const org = await harness.newOrg()
    for (let i = 0; i < 50; i++) await create(org)
    const refused = await create(org)
    expect([refused.status, refused.body.code]).toEqual([400, 'FAILED_PRECONDITION'])
    expect((await org.call('DELETE', '/channels/7')).status).toBe(200)
    expect((await create(org)).body.id).toBe('51')
  })
})

describe('channelsUpdate', () => {
  test('an absent key keeps its value, null clears, and a masked secret that is sent back keeps the secret', async () => {
    const org = await harness.newOrg()
    const hours = { days: ['mon', 'fri'], from: '08:00', to: '18:00' }
    await create(org, { ...webhook, hours, heartbeatMinutes: 60, minSeverity: 'INFO', enabled: false })
    const before = (await org.call('GET', '/channels/1')).body
    const sealed = async () =>
      (await harness.services.db.system.kysely.selectFrom('channels').selectAll().execute()).find(
        ({ org: key }) => key === org.org.key,
      )
    const { id: _, kind: __, waiting: ___, ...changeable } = before
    const same = await org.call('PUT', '/channels/1', { body: changeable })
    expect(same.body).toEqual(before)
    const { name, enabled } = (await org.call('PUT', '/channels/1', { body: { name: 'Night', enabled: true } })).body
    expect([name, enabled]).toEqual(['Night', true])
    const cleared = (await org.call('PUT', '/channels/1', { body: { hours: null, heartbeatMinutes: null } })).body
    expect(cleared).not.toHaveProperty('hours')
    expect(cleared).not.toHaveProperty('heartbeatMinutes')
    expect(cleared).toMatchObject({ url: before.url, minSeverity: 'INFO' })
    expect((await sealed())?.heartbeat_at).toBeNull()
    expect((await org.call('PUT', '/channels/1', { body: { to: ['a@example.org'] } })).status).toBe(400)
    expect((await org.call('PUT', '/channels/9', { body: {} })).status).toBe(404)
  })

  test('a stale If-Match refuses the change, and what deliveries change is no new version', async () => {
    const org = await harness.newOrg()
    const tag = (await create(org)).headers.get('etag') ?? ''
    expect((await org.call('PUT', '/channels/1', { body: {}, headers: { 'if-match': tag } })).status).toBe(200)
    expect((await org.call('PUT', '/channels/1', { body: {}, headers: { 'if-match': tag } })).status).toBe(412)
    const second = (await org.call('GET', '/channels/1')).headers.get('etag') ?? ''
    await harness.services.db.systemTransaction(async ({ kysely }) => {
      await kysely.updateTable('channels').set({ delivered_at: 5 }).where('org', '=', org.org.key).execute()
    })
    const third = await org.call('GET', '/channels/1', { headers: { 'if-none-match': second } })
    expect(third.status).toBe(200)
    expect(third.body.lastDeliveredAt).toBe('1970-01-01T00:00:00.005Z')
    expect((await org.call('DELETE', '/channels/1', { headers: { 'if-match': second } })).status).toBe(200)
  })
})

describe('addresses [contract 10.outbound]', () => {
  test('literal addresses that are not public, and http, are refused unless the operator names them', async () => {
    const strict = await startHarness({
      host: '0.0.0.0',
      outboundAllow: ['10.1.0.0/16', 'hooks.lan', '192.168.3.4:8080'],
    })
    try {
      const org = await strict.newOrg()
      const status = async (url: string) => (await create(org, { ...webhook, url })).status
      for (const url of [
        'https://127.0.0.1/',
        'https://[::1]/',
        'https://169.254.169.254/latest/meta-data',
        'https://192.168.3.4/',
        'https://0x7f.1/',
        'https://[::ffff:10.2.0.1]/',
        'https://[64:ff9b::a02:1]/',
        'http://93.184.216.34/',
        'https://2130706433/',
      ]) {
        expect([url, await status(url)]).toEqual([url, 400])
      }
      for (const url of [
        'https://10.1.2.3/',
        'http://10.1.2.3/',
        'http://192.168.3.4:8080/',
        'http://hooks.lan/',
        'https://93.184.216.34/',
      ]) {
        expect([url, await status(url)]).toEqual([url, 200])
      }
      expect((await org.audit()).filter(({ type }) => type === 'CHANNEL_CREATED')).toHaveLength(5)
    } finally {
      await strict.close()
    }
  })
})
