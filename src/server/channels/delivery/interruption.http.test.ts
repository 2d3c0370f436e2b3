// Errors and edits in the middle of a batch neither double messages nor send them to an address that is not meant any more.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listDeliveryRows, newChannel, newMessages } from '../../../../test/support/channels/channel-rows.ts'
import { Receiver } from '../../../../test/support/channels/receiver.ts'
import { engine, type Harness, quickTasks, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const isDelivered = async (channel: number) =>
  (await listDeliveryRows(harness, channel)).every(({ state }) => state === 'DELIVERED')
const numbered = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ subject: `incident ${i + 1}`, data: { n: i + 1 } }))

/** Returns when all channels were looked at twice. */
async function deliverElsewhere(): Promise<void> {
  const receiver = await Receiver.start()
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  for (const message of numbered(2)) {
    await newMessages(harness, org, channel, [message])
    await until('a message to another channel is delivered', () => isDelivered(channel))
  }
}

const status = 201
const run = (text: string) => sql.raw(text).execute(harness.services.db.schema)

/** The database refuses to store that a receiver answered 201. */
async function refuseStatus(): Promise<void> {
  if (engine === 'sqlite') {
    return void (await run(`CREATE TRIGGER refused BEFORE UPDATE ON deliveries WHEN new.status = ${status}
      BEGIN SELECT raise(abort, 'refused by the test'); END`))
  }
  await run(`CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''refused by the test''; END'`)
  await run(`CREATE TRIGGER refused BEFORE UPDATE ON deliveries FOR EACH ROW WHEN (new.status = ${status})
    EXECUTE FUNCTION refused()`)
}
const acceptStatus = () => run(engine === 'sqlite' ? 'DROP TRIGGER refused' : 'DROP FUNCTION refused CASCADE')

test('after an outcome that cannot be stored, attempts under way end before the next, which comes after a pause', async () => {
  const receiver = await Receiver.start()
  const requests = [0, 0, 0, 0, 0, 0]
  const gate = Promise.withResolvers<void>()
  receiver.answer = async ({ body: { data } }) => {
    requests[data.n] = (requests[data.n] ?? 0) + 1
    if (data.n !== 1) await gate.promise
    return { status: data.n === 1 ? status : 200 }
  }
  await refuseStatus()
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  await newMessages(harness, org, channel, numbered(5))
  await until('four messages are under way', () => requests.join('') === '011110')
  harness.clock.advance(31_000)
  await deliverElsewhere()
  expect(requests).toEqual([0, 1, 1, 1, 1, 0])
  gate.resolve()
  const interruptions = () => harness.logged.filter(({ channel: id, reason }) => id === channel && reason)
  await until('the error is logged', () => interruptions().length > 0)
  await deliverElsewhere()
  expect(interruptions()).toMatchObject([{ reason: expect.stringContaining('refused by the test') }])
  expect(requests).toEqual([0, 1, 1, 1, 1, 0])
  await acceptStatus()
  harness.clock.advance(31_000)
  await until('everything is delivered', () => isDelivered(channel))
  expect(requests).toEqual([0, 2, 1, 1, 1, 1])
})

test('a new address and a disabled channel end a batch that is under way', async () => {
  const [first, second] = [await Receiver.start(), await Receiver.start()]
  const channel = await newChannel(harness, org, { secrets: { url: first.url } })
  const hold = (receiver: Receiver) => {
    const gate = Promise.withResolvers<void>()
    let count = 0
    receiver.answer = async () => {
      count++
      await gate.promise
      return { status: 200 }
    }
    return { areFour: () => count === 4, open: gate.resolve }
  }
  const edit = async (body: object) =>
    expect((await org.call('PUT', `/channels/${channel}`, { body })).status, JSON.stringify(body)).toBe(200)
  const [atFirst, atSecond] = [hold(first), hold(second)]
  await newMessages(harness, org, channel, numbered(12))
  await until('four messages are under way to the first address', atFirst.areFour)
  await edit({ url: second.url })
  atFirst.open()
  await until('four messages are under way to the second address', atSecond.areFour)
  await edit({ enabled: false })
  atSecond.open()
  const delivered = async () =>
    (await listDeliveryRows(harness, channel)).filter(({ state }) => state === 'DELIVERED').length
  await until('the attempts under way are stored', async () => (await delivered()) === 8)
  await deliverElsewhere()
  expect([first.received.length, second.received.length]).toEqual([4, 4])
  await edit({ enabled: true })
  await until('everything is delivered', () => isDelivered(channel))
  expect([first.received.length, second.received.length]).toEqual([4, 8])
})
