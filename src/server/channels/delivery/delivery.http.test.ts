// Webhooks are signed, numbered, retried and kept in order, at real receivers. [contract 10.delivery]
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  findChannelRow,
  listDeliveryRows,
  newChannel,
  newMessages,
  testSigningSecret,
} from '../../../../test/support/channels/channel-rows.ts'
import { Receiver } from '../../../../test/support/channels/receiver.ts'
import { freePort } from '../../../../test/support/free-port.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { makeSigningSecret } from '../settings.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const hourMs = 3_600_000
const states = async (channel: number) => (await listDeliveryRows(harness, channel)).map(({ state }) => state)
const isDelivered = async (channel: number) => (await states(channel)).every((state) => state === 'DELIVERED')

/** Returns when messages that became due before were looked at. */
async function deliverElsewhere(): Promise<void> {
  const receiver = await Receiver.start()
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  await newMessages(harness, org, channel, [{ subject: 'incident 1' }])
  await until('a message to another channel is delivered', () => isDelivered(channel))
}

test('a message arrives once, signed as Standard Webhooks 1.0 says, with its sequence and address', async () => {
  const receiver = await Receiver.start()
  const channel = await newChannel(harness, org, { secrets: { url: `${receiver.url}/hook?token=1` } })
  const incident = { id: '12', title: 'Board room is offline', severity: 'CRITICAL' }
  const [id] = await newMessages(harness, org, channel, [
    { type: 'incident.changed', subject: 'incident 12', data: { incident } },
  ])
  await until('the message is delivered', () => isDelivered(channel))
  expect(receiver.received).toHaveLength(1)
  const [{ path, headers, text, body }] = receiver.received as [(typeof receiver.received)[number]]
  expect(path).toBe('/hook?token=1')
  expect(headers['content-type']).toBe('application/json')
  expect(headers['webhook-id']).toBe(id)
  expect(new Webhook(testSigningSecret).verify(text, headers as Record<string, string>)).toEqual(body)
  expect(() => new Webhook(makeSigningSecret()).verify(text, headers as Record<string, string>)).toThrow()
  expect(body).toEqual({
    type: 'incident.changed',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    data: { org: org.id, sequence: 1, url: `${harness.publicUrl}/incidents/12`, incident },
  })
  expect(await listDeliveryRows(harness, channel)).toMatchObject([
    { state: 'DELIVERED', attempts: 1, sequence: 1, status: 204, error: null, next_at: null },
  ])
  expect((await findChannelRow(harness, channel)).delivered_at).not.toBeNull()
})

test('metrics count attempts by kind and outcome, and what waits', async () => {
  const channel = await newChannel(harness, org, {
    kind: 'teams',
    secrets: { url: `http://127.0.0.1:${await freePort()}/` },
  })
  await newMessages(harness, org, channel, [{ subject: 'incident 1' }, { subject: 'incident 2' }])
  await until('both were tried', async () =>
    (await listDeliveryRows(harness, channel)).every(({ attempts, error }) => attempts > 0 && error === 'refused'),
  )
  // A scrape does not wait long for the count of what waits, so on a busy machine a later one shows it; and of several nodes, one counts attempts.
  await until('a scrape shows both', async () => {
    const { text } = await harness.call('GET', '/metrics')
    const isCounted = /^roomkeeper_deliveries_total\{kind="teams",outcome="failed"\} [2-9]$/m.test(text)
    return isCounted && /^roomkeeper_deliveries_waiting\{kind="teams"\} 2$/m.test(text)
  })
})

test('the path and the query of an address are in no log, answer, audit entry or delivery when attempts fail', async () => {
  const own = await harness.newOrg()
  const receiver = await Receiver.start()
  receiver.answer = () => ({ status: 500 })
  const secrets = ['path-secret-4711', 'query-secret-4712']
  const [path, query] = secrets
  const origins = {
    'answered 500': receiver.url,
    refused: `http://127.0.0.1:${await freePort()}`,
    'not found': 'https://hooks.invalid',
    // The receiver speaks no TLS.
    tls: receiver.url.replace('http:', 'https:'),
  }
  for (const [name, origin] of Object.entries(origins)) {
    const body = { name, kind: 'webhook', url: `${origin}/${path}?token=${query}` }
    const { status, text } = await own.call('POST', '/channels', { body })
    expect(status, text).toBe(200)
  }
  const seen: unknown[] = [(await own.call('GET', '/channels')).body]
  for (const { id } of (await own.call('GET', '/channels')).body.channels) {
    const { body } = await own.call('POST', `/channels/${id}/test`)
    expect(body).toMatchObject({ state: 'WAITING', attempts: 1 })
    seen.push(body, (await own.call('GET', `/channels/${id}/deliveries`)).body)
  }
  expect(receiver.received.map((request) => request.path)).toEqual([`/${path}?token=${query}`])
  const text = JSON.stringify([seen, await own.audit(), harness.logged])
  for (const secret of secrets) expect(text).not.toContain(secret)
})

test('during an overlap both secrets sign, and after it the new one alone', async () => {
  const receiver = await Receiver.start()
  const [before, after] = [makeSigningSecret(), makeSigningSecret()]
  const signing = [{ secret: after }, { secret: before, until: harness.clock.now() + hourMs }]
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url, signing } })
  await newMessages(harness, org, channel, [{ subject: 'incident 1' }])
  await until('it is delivered', () => isDelivered(channel))
  const check = (secret: string, n: number) => {
    const { text, headers } = receiver.received[n] as (typeof receiver.received)[number]
    return new Webhook(secret).verify(text, headers as Record<string, string>)
  }
  expect(check(before, 0)).toEqual(check(after, 0))
  harness.clock.advance(hourMs)
  await newMessages(harness, org, channel, [{ subject: 'incident 1' }])
  await until('the second is delivered', () => isDelivered(channel))
  harness.clock.advance(-hourMs)
  const signatures = receiver.received.map(({ headers }) => String(headers['webhook-signature']).split(' ').length)
  expect(signatures).toEqual([2, 1])
})

test('a failed message is sent again with the same id, later ones about its subject wait, and others pass', async () => {
  const receiver = await Receiver.start()
  receiver.answer = ({ body }) => ({ status: body.data.n === 1 ? 503 : 200 })
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  const about = (subject: string, n: number) => ({ subject, data: { n } })
  await newMessages(harness, org, channel, [about('incident 1', 1), about('incident 1', 2), about('incident 2', 3)])
  await until('the other one has passed', () => receiver.accepted.some(({ data }) => data.n === 3))
  const [first, second] = await until('the failure is stored', async () => {
    const rows = await listDeliveryRows(harness, channel)
    return (rows[0]?.attempts ?? 0) > 0 && rows
  })
  expect(first).toMatchObject({ state: 'WAITING', status: 503, error: 'answered 503' })
  expect(second).toMatchObject({ state: 'WAITING', attempts: 0 })
  receiver.answer = () => ({ status: 200 })
  // A success of the third message lets the first be sent again, which can fail once more before the receiver answers 200.
  const endings = async () => {
    const rows = await listDeliveryRows(harness, channel)
    const gapMs = (rows[0]?.next_at ?? 0) - harness.clock.now()
    if (rows[0]?.state === 'WAITING' && gapMs > 0) harness.clock.advance(gapMs)
    return rows.map(({ state, error }) => error ?? state)
  }
  await expect.poll(endings).toEqual(['DELIVERED', 'DELIVERED', 'DELIVERED'])
  expect(receiver.accepted.map(({ data }) => data.n)).toEqual([3, 1, 2])
  const idsOfFirst = receiver.received
    .filter(({ body }) => body.data.n === 1)
    .map(({ headers }) => headers['webhook-id'])
  expect(idsOfFirst.length).toBeGreaterThan(1)
  expect(new Set(idsOfFirst).size).toBe(1)
  expect(receiver.accepted.map(({ data }) => data.sequence).toSorted()).toEqual([1, 2, 3])
})

test('Retry-After is followed up to a day, and the gap counts where it is longer', async () => {
  const receiver = await Receiver.start()
  receiver.answer = ({ body }) => ({ status: 429, headers: { 'retry-after': body.data.after } })
  const waits: number[] = []
  for (const after of ['10', '999999999', '0']) {
    const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
    await newMessages(harness, org, channel, [{ subject: 'incident 1', data: { after } }])
    const [row] = await until('it was tried', async () => {
      const rows = await listDeliveryRows(harness, channel)
      return rows[0]?.attempts === 1 && rows
    })
    waits.push((row?.next_at ?? 0) - harness.clock.now())
  }
  const [ten, day, none] = waits as [number, number, number]
  expect(ten).toBeGreaterThan(8_000)
  expect(ten).toBeLessThanOrEqual(10_000)
  expect(day).toBeGreaterThan(24 * hourMs - 5_000)
  expect(day).toBeLessThanOrEqual(24 * hourMs)
  expect(none).toBeGreaterThan(3_000)
  expect(none).toBeLessThanOrEqual(5_500)
})

test('410 disables the channel with a sentence, and what waits is kept', async () => {
  const receiver = await Receiver.start()
  receiver.answer = () => ({ status: 410 })
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  await newMessages(harness, org, channel, [{ subject: 'incident 1' }])
  const row = await until('it is disabled', async () => {
    const found = await findChannelRow(harness, channel)
    return found.enabled === 0 && found
  })
  expect(row.disabled_reason).toMatch(/410.*enable the channel/)
  expect(row.version).toBe(2)
  await newMessages(harness, org, channel, [{ subject: 'incident 2' }])
  harness.clock.advance(10 * hourMs)
  await deliverElsewhere()
  expect(await states(channel)).toEqual(['WAITING', 'WAITING'])
  expect(receiver.received).toHaveLength(1)
})

test('a redirect is not followed, and neither its target nor the body of an answer is stored', async () => {
  const [receiver, target] = [await Receiver.start(), await Receiver.start()]
  receiver.answer = () => ({ status: 307, headers: { location: target.url }, body: 'secret of the receiver' })
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  await newMessages(harness, org, channel, [{ subject: 'incident 1' }])
  const rows = await until('it was tried', async () => {
    const found = await listDeliveryRows(harness, channel)
    return found[0]?.attempts === 1 && found
  })
  expect(rows).toMatchObject([{ state: 'WAITING', error: 'redirect', status: 307 }])
  expect(target.received).toEqual([])
  const stored = JSON.stringify([rows, await findChannelRow(harness, channel), harness.logged])
  expect(stored).not.toContain('secret of the receiver')
  expect(stored).not.toContain(target.url)
})
