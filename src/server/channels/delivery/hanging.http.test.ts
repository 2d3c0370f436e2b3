// Receivers that never answer do not hold up the others of their organisation. [contract 10.delivery]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listDeliveryRows, newChannel, newMessages } from '../../../../test/support/channels/channel-rows.ts'
import { Receiver } from '../../../../test/support/channels/receiver.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { timeLimits } from '../../core/time-limits.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  // The attempts do not end during the test, however busy the machine is.
  harness = await startHarness({}, { ...quickTasks, limits: { ...timeLimits, outboundRequestMs: 600_000 } })
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const minuteMs = 60_000

test('messages to a healthy webhook arrive while 50 webhooks that hang are in their first attempts', async () => {
  const receivers: Receiver[] = []
  const subjects = Array.from({ length: 5 }, (_, i) => ({ subject: `incident ${i + 1}`, delayMs: minuteMs }))
  for (let n = 0; n < 50; n++) {
    const receiver = await Receiver.start()
    receiver.answer = () => undefined
    receivers.push(receiver)
    const id = await newChannel(harness, org, { secrets: { url: receiver.url } })
    await newMessages(harness, org, id, subjects)
  }
  const healthy = await Receiver.start()
  const channel = await newChannel(harness, org, { secrets: { url: healthy.url } })
  await newMessages(harness, org, channel, [{ subject: 'endpoint 1', delayMs: minuteMs }])
  /** Counts the attempts that have ended. */
  const countEnded = async () =>
    (
      await harness.services.db.system.kysely
        .selectFrom('deliveries')
        .select('message')
        .where('channel_id', '<>', channel)
        .where('attempts', '>', 0)
        .execute()
    ).length
  // The messages become due together, that of the healthy channel last.
  harness.clock.advance(minuteMs)
  await until('the first message arrives', () => healthy.accepted.length === 1)
  expect(await countEnded()).toBe(0)
  await until('each of the 50 was called', () => receivers.every(({ received }) => received.length > 0))
  const before = await countEnded()
  await newMessages(harness, org, channel, [{ subject: 'endpoint 2' }])
  const endings = async () => (await listDeliveryRows(harness, channel)).map(({ state, error }) => error ?? state)
  await expect.poll(endings).toEqual(['DELIVERED', 'DELIVERED'])
  expect(await countEnded()).toBe(before)
})
