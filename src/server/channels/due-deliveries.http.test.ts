// Tests how deliveries become due again: by a replay, by the release of all that wait, and by an edit of their channel. [contract 10.delivery]
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noon, waitingDeliveries } from '../../../test/support/channels/waiting-deliveries.ts'
import { type Harness, quickTasks, startHarness } from '../../../test/support/harness.ts'
import { makeDue } from './delivery-log-store.ts'
import { releaseInSteps } from './release-waiting.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
})
afterAll(() => harness.close())

const { rows, orgWithMessages, numbersOf, finish, list, at } = waitingDeliveries(() => harness)

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
    const window = { channel: 1, now: now - 1, openedBefore: 0, openedUntil: 0, limit: 1000 }
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
