// A receiver that is away for three days gets everything, in order, and nothing again that it has accepted. [contract 10.delivery]
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  findChannelRow,
  listDeliveryRows,
  newChannel,
  newMessages,
} from '../../../../test/support/channels/channel-rows.ts'
import { Receiver } from '../../../../test/support/channels/receiver.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
  org = await harness.newOrg()
  harness.clock.fix(Date.now())
})
afterAll(() => harness.close())

const hourMs = 3_600_000

/** Moves the clock from one round of attempts to the next, until the end; each attempt must have been stored before the clock moves on. */
async function letTimePass(channel: number, lengthMs: number): Promise<void> {
  const end = harness.clock.now() + lengthMs
  for (;;) {
    const waiting = await until('what was due is tried', async () => {
      const rows = (await listDeliveryRows(harness, channel)).filter(({ state }) => state === 'WAITING')
      const isTried = rows.every(({ next_at }) => (next_at ?? 0) > harness.clock.now())
      return (isTried || (await findChannelRow(harness, channel)).enabled === 0) && rows
    })
    const next = Math.max(harness.clock.now(), ...waiting.map(({ next_at }) => next_at ?? end))
    if (next >= end || waiting.length === 0 || (await findChannelRow(harness, channel)).enabled === 0)
      return harness.clock.fix(end)
    harness.clock.fix(next)
  }
}

test('after 72 h everything arrives in order for each incident, once, as soon as one message has arrived', async () => {
  const receiver = await Receiver.start()
  receiver.answer = () => ({ status: 503 })
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  let n = 0
  const tell = (subjects: readonly string[]) =>
    newMessages(
      harness,
      org,
      channel,
      subjects.map((subject) => ({ subject, data: { subject, n: ++n } })),
    )
  await tell(['incident 1', 'incident 1', 'incident 2'])
  await letTimePass(channel, 24 * hourMs)
  await tell(['incident 2', 'incident 3', 'incident 1'])
  await letTimePass(channel, 48 * hourMs)
  const attempts = receiver.received.length
  // Each of three incidents is tried on its own, at most ten times in three days.
  expect(attempts).toBeGreaterThan(12)
  expect(attempts).toBeLessThan(32)
  expect((await findChannelRow(harness, channel)).enabled).toBe(1)
  receiver.answer = () => ({ status: 200 })
  await tell(['incident 4'])
  await until('everything is delivered', async () =>
    (await listDeliveryRows(harness, channel)).every(({ state }) => state === 'DELIVERED'),
  )
  const accepted = receiver.accepted.map(({ data }) => data as { subject: string; n: number; sequence: number })
  expect(accepted).toHaveLength(7)
  expect(new Set(receiver.received.slice(attempts).map(({ headers }) => headers['webhook-id'])).size).toBe(7)
  for (const subject of ['incident 1', 'incident 2', 'incident 3']) {
    const order = accepted.filter((data) => data.subject === subject).map((data) => data.n)
    expect(order, subject).toEqual(order.toSorted((a, b) => a - b))
  }
  expect(accepted.map(({ sequence }) => sequence).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7])
  await letTimePass(channel, 24 * hourMs)
  expect(receiver.accepted).toHaveLength(7)
  expect(await findChannelRow(harness, channel)).toMatchObject({ failing_since: null, last_error: null })
})

test('after 120 h without a success the channel is disabled; what waits goes out when it is enabled again', async () => {
  const receiver = await Receiver.start()
  receiver.answer = () => ({ status: 500 })
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  await newMessages(harness, org, channel, [{ subject: 'incident 1' }, { subject: 'incident 1' }])
  await letTimePass(channel, 119 * hourMs)
  expect((await findChannelRow(harness, channel)).enabled).toBe(1)
  await letTimePass(channel, 25 * hourMs)
  const row = await findChannelRow(harness, channel)
  expect(row.disabled_reason).toMatch(/^Nothing could be delivered for 120 hours; the last error was: answered 500\. /)
  receiver.answer = () => ({ status: 200 })
  expect((await org.call('PUT', `/channels/${channel}`, { body: { enabled: true } })).status).toBe(200)
  await until('everything is delivered', async () =>
    (await listDeliveryRows(harness, channel)).every(({ state }) => state === 'DELIVERED'),
  )
  expect(receiver.accepted).toHaveLength(2)
  expect(await findChannelRow(harness, channel)).toMatchObject({ enabled: 1, disabled_reason: null })
})

test('a message that is refused for good does not hold the others, and is not sent again with each of them', async () => {
  const receiver = await Receiver.start()
  receiver.answer = ({ body }) => ({ status: body.data.isPoison ? 400 : 200 })
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  await newMessages(harness, org, channel, [{ subject: 'incident 1', data: { isPoison: true } }])
  for (let n = 0; n < 8; n++) {
    await newMessages(harness, org, channel, [{ subject: `incident ${n + 2}` }])
    await until('it is delivered', () => receiver.accepted.length === n + 1)
    harness.clock.advance(1000)
  }
  expect(receiver.received.filter(({ status }) => status === 400).length).toBeLessThan(5)
})
