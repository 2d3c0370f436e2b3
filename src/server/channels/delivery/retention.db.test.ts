// Messages are kept for 30 days: what waits is given up then, and what was delivered is deleted. [contract 10.delivery]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listDeliveryRows, newChannel, newMessages } from '../../../../test/support/channels/channel-rows.ts'
import { Receiver } from '../../../../test/support/channels/receiver.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { deleteOldMessages } from './retention.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const dayMs = 86_400_000

test('a waiting delivery is given up after 30 days and shown for 30 more; a sent one is deleted after 30', async () => {
  const receiver = await Receiver.start()
  receiver.answer = ({ body }) => ({ status: body.data.isRefused ? 500 : 200 })
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  await newMessages(harness, org, channel, [
    { subject: 'incident 1', data: { isRefused: true } },
    { subject: 'incident 2' },
  ])
  await until('both were tried', async () =>
    (await listDeliveryRows(harness, channel)).every(({ attempts }) => attempts > 0),
  )
  const statesAfter = async (days: number) => {
    harness.clock.advance(days * dayMs)
    await deleteOldMessages(harness.services)
    return (await listDeliveryRows(harness, channel)).map(({ state, error, subject }) => [subject, state, error])
  }
  receiver.answer = () => ({ status: 500 })
  expect(await statesAfter(29)).toMatchObject([
    ['incident 1', 'WAITING', 'answered 500'],
    ['incident 2', 'DELIVERED', null],
  ])
  expect(await statesAfter(1.1)).toEqual([['incident 1', 'GIVEN_UP', 'waited for 30 days']])
  expect(await statesAfter(29)).toEqual([['incident 1', 'GIVEN_UP', 'waited for 30 days']])
  expect(await statesAfter(1)).toEqual([])
})

test('a delivery that is sent again waits for another 30 days, and is shown for 30 more after that', async () => {
  const receiver = await Receiver.start()
  receiver.answer = () => ({ status: 500 })
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  await newMessages(harness, org, channel, [{ subject: 'incident 1' }])
  const from = new Date(harness.clock.now() - 1000).toISOString()
  await until('it was tried', async () => ((await listDeliveryRows(harness, channel))[0]?.attempts ?? 0) > 0)
  const stateAfter = async (days: number) => {
    harness.clock.advance(days * dayMs)
    await deleteOldMessages(harness.services)
    return (await listDeliveryRows(harness, channel))[0]?.state
  }
  expect(await stateAfter(31)).toBe('GIVEN_UP')
  const replayed = await org.call('POST', `/channels/${channel}/replay`, { body: { from } })
  expect(replayed.body).toEqual({ count: 1 })
  expect(await stateAfter(29)).toBe('WAITING')
  expect(await stateAfter(1.1)).toBe('GIVEN_UP')
  expect(await stateAfter(29)).toBe('GIVEN_UP')
  expect(await stateAfter(1)).toBe(undefined)
})
