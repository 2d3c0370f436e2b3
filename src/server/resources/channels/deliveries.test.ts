// Tests the list of deliveries, replays, tests and new secrets of channels. [contract 10.delivery]
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Receiver } from '../../../../test/support/channels/receiver.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import type { DeliveryState } from '../../../contract/incidents/channels.ts'
import { makeDue } from './delivery-log-store.ts'
import { queueMessages } from './outbox.ts'
import { releaseInSteps } from './release-waiting.ts'
import { channelSecretsOf } from './settings.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
})
afterAll(() => harness.close())

const noon = Date.UTC(2026, 2, 2, 12)
// Nothing listens there, and a message for a disabled channel is not sent.
const webhook = { name: 'Operations', kind: 'webhook', url: 'http://127.0.0.1:9/', enabled: false }
const rows = () => harness.services.db.system.kysely

/** An organisation with a disabled channel, for which `count` messages wait, one a second from noon on. */
async function orgWithMessages(count: number): Promise<TestOrg> {
  const org = await harness.newOrg()
  await org.call('POST', '/channels', { body: webhook })
  await harness.services.db.forOrg(org.org.key).telemetry(async (tx) => {
    const draft = { type: 'incident.resolved', severity: 'WARNING', regionIds: [], locationIds: [], data: {} } as const
    const drafts = Array.from({ length: count }, (_, i) => ({
      ...draft,
      orderKey: `incident ${i}`,
      at: noon + i * 1000,
    }))
    await queueMessages(tx, drafts)
  })
  return org
}

const numbersOf = async ({ org }: TestOrg) =>
  (await rows().selectFrom('deliveries').select('message').where('org', '=', org.key).orderBy('message').execute()).map(
    ({ message }) => message,
  )

/** Writes what became of a delivery, as its attempt would. */
const finish = async (org: TestOrg, position: number, state: DeliveryState, sequence: number) => {
  const message = (await numbersOf(org))[position] as number
  const failed = { status: 500, error: 'status 500' }
  const outcome = state === 'DELIVERED' ? { status: 204, delivered_at: noon + 9000 } : failed
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    await kysely
      .updateTable('deliveries')
      .set({ state, sequence, attempts: 3, next_at: null, ...outcome })
      .where('org', '=', org.org.key)
      .where('message', '=', message)
      .execute()
  })
}
const list = async (org: TestOrg, query = '') => (await org.call('GET', `/channels/1/deliveries${query}`)).body
const at = (seconds: number) => new Date(noon + seconds * 1000).toISOString()

describe('deliveriesList [contract 10.delivery]', () => {
  test('shows what became of each message, newest first, by state and by time', async () => {
    const org = await orgWithMessages(4)
    await finish(org, 0, 'DELIVERED', 1)
    await finish(org, 1, 'GIVEN_UP', 2)
    const { deliveries, nextPageToken } = await list(org)
    expect(nextPageToken).toBe('')
    const common = { type: 'incident.resolved', id: expect.stringMatching(/^msg_/) }
    const waiting = { ...common, sequence: 0, state: 'WAITING', attempts: 0 }
    expect(deliveries).toEqual([
      { ...waiting, createdAt: at(3), nextAt: at(3) },
      { ...waiting, createdAt: at(2), nextAt: at(2) },
      { ...common, sequence: 2, state: 'GIVEN_UP', attempts: 3, status: 500, error: 'status 500', createdAt: at(1) },
      { ...common, sequence: 1, state: 'DELIVERED', attempts: 3, status: 204, createdAt: at(0), deliveredAt: at(9) },
    ])
    const times = async (query: string) =>
      (await list(org, query)).deliveries.map(({ createdAt }: { createdAt: string }) => createdAt)
    expect(await times('?state=WAITING')).toEqual([at(3), at(2)])
    expect(await times(`?from=${at(1)}&to=${at(3)}`)).toEqual([at(2), at(1)])
    expect((await org.call('GET', `/channels/1/deliveries?from=${at(2)}&to=${at(1)}`)).status).toBe(400)
    expect((await org.call('GET', '/channels/2/deliveries')).status).toBe(404)
  })

  test('pages of any size hold every delivery once, and a token is bound to its channel and query', async () => {
    const org = await orgWithMessages(7)
    await org.call('POST', '/channels', { body: webhook })
    for (const size of [1, 3, 7, 8]) {
      const seen: string[] = []
      let token = ''
      do {
        const page = await list(org, `?pageSize=${size}&pageToken=${token}`)
        seen.push(...page.deliveries.map(({ createdAt }: { createdAt: string }) => createdAt))
        token = page.nextPageToken
      } while (token !== '')
      expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map(at))
    }
    const { nextPageToken } = await list(org, '?pageSize=2')
    for (const path of ['/channels/2/deliveries?', '/channels/1/deliveries?state=WAITING&']) {
      expect((await org.call('GET', `${path}pageToken=${nextPageToken}`)).status, path).toBe(400)
    }
  })
})

describe('a receiver that never answers [contract 10.delivery]', () => {
  test('channelsTest answers after 15 s, and the attempt ends as a timeout after 15 s', async () => {
    const receiver = await Receiver.start()
    receiver.answer = () => undefined
    const org = await harness.newOrg()
    await org.call('POST', '/channels', { body: { name: 'Slow', kind: 'webhook', url: receiver.url } })
    const begunAt = performance.now()
    const tested = await org.call('POST', '/channels/1/test')
    const lastedMs = performance.now() - begunAt
    expect([tested.status, tested.body.type, tested.body.state]).toEqual([200, 'test', 'WAITING'])
    expect(lastedMs).toBeGreaterThan(14_000)
    expect(lastedMs).toBeLessThan(20_000)
    const tried = await until('the attempt has ended', async () => {
      const [delivery] = (await list(org)).deliveries
      return delivery.attempts > 0 && delivery
    })
    expect(performance.now() - begunAt).toBeLessThan(25_000)
    expect(tried).toMatchObject({ state: 'WAITING', attempts: 1, error: 'timeout' })
    expect(tried).not.toHaveProperty('status')
    expect(receiver.received).toHaveLength(1)
  })
})

describe('deliveriesReplay [contract 10.delivery]', () => {
  test('sends again what was delivered or given up in a window, under the same id and sequence', async () => {
    const org = await orgWithMessages(5)
    for (const [i, state] of (['DELIVERED', 'GIVEN_UP', 'CANCELLED', 'DELIVERED'] as const).entries()) {
      await finish(org, i, state, i + 1)
    }
    const before = (await list(org)).deliveries
    const replay = (body: object) => org.call('POST', '/channels/1/replay', { body })
    expect((await replay({ from: at(0), to: at(3) })).body).toEqual({ count: 2 })
    const after = (await list(org)).deliveries
    const states = after.map(({ state }: { state: string }) => state)
    expect(states).toEqual(['WAITING', 'DELIVERED', 'CANCELLED', 'WAITING', 'WAITING'])
    for (const key of ['id', 'sequence', 'createdAt', 'type']) {
      expect(after.map((d: never) => d[key])).toEqual(before.map((d: never) => d[key]))
    }
    expect(after[4]).toMatchObject({ attempts: 0, sequence: 1 })
    expect(after[4]).not.toHaveProperty('deliveredAt')
    expect((await replay({ from: at(0), states: ['CANCELLED'] })).body).toEqual({ count: 1 })
    expect((await org.audit())[0]).toMatchObject({
      type: 'DELIVERIES_REPLAYED',
      target: { type: 'channel', id: '1' },
      details: { after: { from: at(0), states: ['CANCELLED'], count: 1 } },
    })
    for (const body of [{ from: 'yesterday' }, { from: at(2), to: at(1) }, {}, { from: at(0), states: ['LOST'] }]) {
      expect((await replay(body)).status, JSON.stringify(body)).toBe(400)
    }
  })

  test('leaves the opening of an incident alone while it waits for its minute', async () => {
    const org = await orgWithMessages(2)
    const [opening] = await numbersOf(org)
    const opened = { type: 'incident.opened', created_at: harness.clock.now() } as const
    await harness.services.db.systemTransaction(({ kysely }) =>
      kysely
        .updateTable('messages')
        .set(opened)
        .where('number', '=', opening as number)
        .execute(),
    )
    const replay = async () =>
      (await org.call('POST', '/channels/1/replay', { body: { from: at(0), states: ['WAITING'] } })).body
    expect(await replay()).toEqual({ count: 1 })
    harness.clock.advance(60_000)
    expect(await replay()).toEqual({ count: 2 })
  })

  test('sends 10,000 messages again at most, the oldest first', async () => {
    const org = await orgWithMessages(1)
    await harness.services.db.systemTransaction(async ({ kysely }) => {
      const message = {
        org: org.org.key,
        type: 'incident.resolved',
        order_key: 'x',
        data: '{}',
        incident_id: null,
      } as const
      for (let from = 0; from < 10_010; from += 1001) {
        const values = Array.from({ length: 1001 }, (_, i) => ({ ...message, id: `m${from + i}`, created_at: noon }))
        const written = await kysely.insertInto('messages').values(values).returning('number').execute()
        const delivery = { org: org.org.key, channel_id: 1, state: 'GIVEN_UP', attempts: 1 } as const
        await kysely
          .insertInto('deliveries')
          .values(written.map(({ number }) => ({ ...delivery, message: number, next_at: null })))
          .execute()
      }
    })
    const { body } = await org.call('POST', '/channels/1/replay', { body: { from: at(0) } })
    expect(body).toEqual({ count: 10_000 })
    expect((await list(org, '?state=GIVEN_UP')).deliveries).toHaveLength(10)
    expect((await list(org, '?pageSize=1')).deliveries[0].state).toBe('GIVEN_UP')
  })
})

describe('the release of what waits', () => {
  test('takes everything, in commits of a thousand', async () => {
    const org = await orgWithMessages(2100)
    const db = harness.services.db.forOrg(org.org.key)
    const now = noon + 3_600_000
    await harness.services.db.systemTransaction(({ kysely }) =>
      kysely
        .updateTable('deliveries')
        .set({ next_at: now + 1 })
        .where('org', '=', org.org.key)
        .execute(),
    )
    const window = { channel: 1, now: now - 1, openedBefore: 0, limit: 1000 }
    const oldest = await db.telemetry((tx) => makeDue(tx, window))
    const numbers = await numbersOf(org)
    expect(oldest.map(({ message }) => message).toSorted((a, b) => a - b)).toEqual(numbers.slice(0, 1000))
    await releaseInSteps(db, 1, now)
    const late = rows().selectFrom('deliveries').where('org', '=', org.org.key).where('next_at', '>', now)
    expect(await late.select('message').execute()).toEqual([])
  })
})

describe('an edit of a channel [contract 10.delivery]', () => {
  test('makes everything due that waits, but the opening of an incident waits for its minute', async () => {
    const org = await orgWithMessages(2)
    const [tried, opening] = await numbersOf(org)
    const later = harness.clock.now() + 86_400_000
    await harness.services.db.systemTransaction(async ({ kysely }) => {
      const all = kysely.updateTable('deliveries').where('org', '=', org.org.key)
      await all.set({ next_at: later }).execute()
      await all
        .set({ attempts: 4 })
        .where('message', '=', tried as number)
        .execute()
      const opened = { type: 'incident.opened', created_at: harness.clock.now() } as const
      await kysely
        .updateTable('messages')
        .set(opened)
        .where('number', '=', opening as number)
        .execute()
      const failing = { failing_since: noon, enabled: 0, disabled_reason: 'It answered 410.' }
      await kysely.updateTable('channels').set(failing).where('org', '=', org.org.key).execute()
    })
    expect((await org.call('GET', '/channels/1')).body.disabledReason).toBe('It answered 410.')
    expect((await org.call('PUT', '/channels/1', { body: { name: 'New' } })).body).toMatchObject({
      enabled: false,
      disabledReason: 'It answered 410.',
    })
    const dueAt = async () =>
      new Map(
        (await rows().selectFrom('deliveries').selectAll().where('org', '=', org.org.key).execute()).map((d) => [
          d.message,
          d.next_at,
        ]),
      )
    expect((await dueAt()).get(tried as number)).toBeLessThanOrEqual(harness.clock.now())
    expect((await dueAt()).get(opening as number)).toBe(later)
    const enabled = await org.call('PUT', '/channels/1', { body: { enabled: true } })
    expect(enabled.body).not.toHaveProperty('disabledReason')
    const row = await rows().selectFrom('channels').selectAll().where('org', '=', org.org.key).executeTakeFirst()
    expect(row?.failing_since).toBeNull()
  })

  test('makes the oldest thousand due in its commit, and leaves the others to the first success', async () => {
    const org = await orgWithMessages(1001)
    const now = harness.clock.now()
    await harness.services.db.systemTransaction(({ kysely }) =>
      kysely
        .updateTable('deliveries')
        .set({ next_at: now + 86_400_000 })
        .where('org', '=', org.org.key)
        .execute(),
    )
    await org.call('PUT', '/channels/1', { body: { name: 'New' } })
    const late = rows()
      .selectFrom('deliveries')
      .where('org', '=', org.org.key)
      .where('next_at', '>', harness.clock.now())
    expect((await late.select('message').execute()).map(({ message }) => message)).toEqual(
      (await numbersOf(org)).slice(-1),
    )
    const row = await rows().selectFrom('channels').selectAll().where('org', '=', org.org.key).executeTakeFirst()
    expect(row?.failing_since).toBeGreaterThanOrEqual(now)
  })
})

describe('channelsTest', () => {
  test('answers what became of the first attempt, and refuses a disabled channel', async () => {
    const org = await orgWithMessages(0)
    const refused = await org.call('POST', '/channels/1/test')
    expect([refused.status, refused.body.code]).toEqual([400, 'FAILED_PRECONDITION'])
    await org.call('PUT', '/channels/1', { body: { enabled: true } })
    const answer = org.call('POST', '/channels/1/test')
    await expect.poll(() => numbersOf(org)).toHaveLength(1)
    await finish(org, 0, 'WAITING', 1)
    expect((await answer).body).toMatchObject({ type: 'test', state: 'WAITING', sequence: 1 })
    expect((await answer).body.attempts).toBeGreaterThan(0)
    expect((await org.audit())[0]).toMatchObject({ type: 'CHANNEL_TESTED' })
  })

  test('is attempted although an earlier test failed and waits', async () => {
    const org = await harness.newOrg()
    const receiver = await Receiver.start()
    receiver.answer = () => ({ status: 500 })
    await org.call('POST', '/channels', { body: { ...webhook, url: receiver.url, enabled: true } })
    const run = async () => (await org.call('POST', '/channels/1/test')).body
    expect(await run()).toMatchObject({ state: 'WAITING', attempts: 1, status: 500 })
    await expect.poll(async () => (await list(org)).deliveries[0].attempts, { timeout: 15_000 }).toBe(1)
    receiver.answer = () => ({ status: 200 })
    expect(await run()).toMatchObject({ state: 'DELIVERED', attempts: 1 })
  })
})

describe('channelsRotateSecret [contract 10.channel]', () => {
  test('gives a new secret once; the old one signs until the overlap ends, and an older one no more', async () => {
    const org = await harness.newOrg()
    const { secret: first } = (await org.call('POST', '/channels', { body: webhook })).body
    harness.clock.fix(noon)
    const rotate = async (body: object) => (await org.call('POST', '/channels/1/rotate_secret', { body })).body.secret
    const stored = async () => {
      const row = await rows()
        .selectFrom('channels')
        .selectAll()
        .where('org', '=', org.org.key)
        .executeTakeFirstOrThrow()
      return channelSecretsOf(harness.services.secrets, row).signing
    }
    const second = await rotate({})
    expect(await stored()).toEqual([{ secret: second }, { secret: first, until: noon + 24 * 3_600_000 }])
    const third = await rotate({ overlapHours: 1.5 })
    expect(await stored()).toEqual([{ secret: third }, { secret: second, until: noon + 1.5 * 3_600_000 }])
    const fourth = await rotate({ overlapHours: 0 })
    expect(await stored()).toEqual([{ secret: fourth }])
    expect(new Set([first, second, third, fourth]).size).toBe(4)
    expect(JSON.stringify([await org.audit(), harness.logged])).not.toContain(fourth.slice(6))
    expect((await org.audit())[0]).toMatchObject({
      type: 'CHANNEL_SECRET_ROTATED',
      details: { after: { overlapHours: 0 } },
    })
    const pager = { name: 'Pager', kind: 'pagerduty', routingKey: 'abc' }
    await org.call('POST', '/channels', { body: pager })
    expect((await org.call('POST', '/channels/2/rotate_secret', { body: {} })).body.code).toBe('FAILED_PRECONDITION')
  })
})
