// Tests the list of deliveries, the tests of channels, and their new secrets. [contract 10.delivery]
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Receiver } from '../../../test/support/channels/receiver.ts'
import { noon, waitingDeliveries, silentWebhook as webhook } from '../../../test/support/channels/waiting-deliveries.ts'
import { countCpuWaits } from '../../../test/support/cpu-time.ts'
import { type Harness, quickTasks, startHarness } from '../../../test/support/harness.ts'
import { until } from '../../../test/support/program.ts'
import { shortenLimits } from '../../../test/support/short-limits.ts'
import { channelSecretsOf } from './settings.ts'

/** channelsTest and an attempt last 3.3 s at most, instead of 15. */
const { limits } = shortenLimits(0.1)

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({}, { ...quickTasks, limits })
})
afterAll(() => harness.close())

const { rows, orgWithMessages, numbersOf, finish, list, at } = waitingDeliveries(() => harness)

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
    const cpuWaitMs = countCpuWaits()
    const tested = await org.call('POST', '/channels/1/test')
    const lastedMs = performance.now() - begunAt
    expect([tested.status, tested.body.type, tested.body.state]).toEqual([200, 'test', 'WAITING'])
    expect(lastedMs).toBeGreaterThan(limits.channelTestMs - 1000)
    expect(lastedMs).toBeLessThan(limits.channelTestMs + 5000 + cpuWaitMs())
    const tried = await until('the attempt has ended', async () => {
      const [delivery] = (await list(org)).deliveries
      return delivery.attempts > 0 && delivery
    })
    expect(performance.now() - begunAt).toBeLessThan(limits.outboundRequestMs + 10_000 + cpuWaitMs())
    expect(tried).toMatchObject({ state: 'WAITING', attempts: 1, error: 'timeout' })
    expect(tried).not.toHaveProperty('status')
    expect(receiver.received).toHaveLength(1)
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
