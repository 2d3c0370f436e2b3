// A clock that was ahead and is set back leaves nothing waiting for the times that it showed. [contract 10.delivery]
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  findChannelRow,
  listDeliveryRows,
  newChannel,
  newMessages,
} from '../../../../test/support/channels/channel-rows.ts'
import { Receiver } from '../../../../test/support/channels/receiver.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { newIncident } from '../../../../test/support/incidents.ts'
import { until } from '../../../../test/support/program.ts'
import { dayMs, hourMs, minuteMs } from '../../../contract/durations.ts'
import { ClockCheck } from './clock-repair.ts'

let harness: Harness
let org: TestOrg
let receiver: Receiver
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
})
afterAll(() => harness.close())
beforeEach(async () => {
  org = await harness.newOrg()
  receiver = await Receiver.start()
})

const isFinished = async (channel: number) =>
  (await listDeliveryRows(harness, channel)).every(({ state }) => state !== 'WAITING')
const typesAt = () => receiver.accepted.map(({ type }) => type)

test('audit entries are sent immediately although the clock was once 40 days ahead', async () => {
  const body = { name: 'Log', kind: 'webhook', url: receiver.url, events: ['audit.entry'] }
  const channel = Number((await org.call('POST', '/channels', { body })).body.id)
  const rename = (name: string) => org.call('POST', '/regions', { body: { name } })
  harness.clock.advance(40 * dayMs)
  await rename('North')
  await until('the entry of the wrong time is sent', () => isFinished(channel))
  harness.clock.advance(-40 * dayMs)
  const before = receiver.accepted.length
  await rename('South')
  await until('the entry after it is sent', () => receiver.accepted.length === before + 1)
  const { timestamp, data } = receiver.accepted.at(-1)
  expect(Date.parse(timestamp)).toBeLessThan(harness.clock.now() + minuteMs)
  expect(data.entry).toMatchObject({ type: 'REGION_CREATED' })
})

test('a retry, an opening and a heartbeat do not wait for the time of a clock that was set back', async () => {
  receiver.answer = ({ body }) => ({ status: body.type === 'heartbeat' ? 204 : 503 })
  const settings = { heartbeatMinutes: 60 }
  const channel = await newChannel(harness, org, { settings, secrets: { url: receiver.url } })
  harness.clock.advance(3 * hourMs)
  await until('a heartbeat has come', () => receiver.accepted.length > 0)
  await newMessages(harness, org, channel, [{ subject: 'endpoint 1', type: 'endpoint.connected' }])
  await until('the message was tried', async () =>
    (await listDeliveryRows(harness, channel)).some(({ attempts, type }) => attempts > 0 && type !== 'heartbeat'),
  )
  const id = await newIncident(harness, org, { openedAt: harness.clock.now() })
  const opening = { type: 'incident.opened', incidentId: Number(id), delayMs: minuteMs } as const
  await newMessages(harness, org, channel, [{ subject: `incident ${id}`, ...opening }])
  const heartbeats = () => typesAt().filter((type) => type === 'heartbeat').length
  const known = heartbeats()
  receiver.answer = () => ({ status: 204 })
  harness.clock.advance(-3 * hourMs)
  await until('everything is sent', () => isFinished(channel))
  expect(typesAt()).toEqual(expect.arrayContaining(['endpoint.connected', 'incident.opened']))
  await until('another heartbeat has come', () => heartbeats() > known)
  const { delivered_at, failing_since } = await findChannelRow(harness, channel)
  expect([failing_since, (delivered_at ?? 0) <= harness.clock.now()]).toEqual([null, true])
})

test('messages that wait for a time 40 days ahead are sent', async () => {
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  // As a node with a clock that was 40 days ahead has left them.
  const ahead = harness.clock.now() + 40 * dayMs
  await newMessages(harness, org, channel, [
    { subject: 'endpoint 1', type: 'endpoint.connected', delayMs: 40 * dayMs },
    { subject: 'endpoint 2', type: 'endpoint.connected', delayMs: 40 * dayMs },
  ])
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely
      .updateTable('channels')
      .set({ failing_since: ahead, last_error: 'refused' })
      .where('id', '=', channel)
      .execute(),
  )
  await until('both are sent', () => isFinished(channel))
  expect(typesAt()).toEqual(['endpoint.connected', 'endpoint.connected'])
  expect((await findChannelRow(harness, channel)).failing_since).toBeNull()
})

test('the first run of a node notices future times in the database, and later runs only a clock that goes back', async () => {
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  const db = harness.services.db.forOrg(org.org.key)
  const now = harness.clock.now()
  const unknown = { id: channel, delivered_at: null, failing_since: null, last_at: null }
  const needsRepair = async (times: object, at: number, runs: readonly number[]) => {
    const clock = new ClockCheck()
    const { signal } = new AbortController()
    const notices = runs.map((ranAt) => clock.compare(signal, ranAt))
    return clock.needsRepair(db, { ...unknown, ...times }, notices.at(-1), at)
  }
  expect(await needsRepair({}, now, [now])).toBe(false)
  expect(await needsRepair({ delivered_at: now + hourMs }, now, [now])).toBe(true)
  expect(await needsRepair({ failing_since: now + hourMs }, now, [now])).toBe(true)
  expect(await needsRepair({ last_at: now + 9 * dayMs }, now, [now]), 'the hours of a channel').toBe(false)
  await newMessages(harness, org, channel, [{ subject: 'endpoint 1', type: 'endpoint.connected' }])
  expect(await needsRepair({}, now - hourMs, [now - hourMs]), 'a message is newer').toBe(true)
  expect(await needsRepair({ delivered_at: now + hourMs }, now, [now - 1000, now])).toBe(false)
  expect(await needsRepair({}, now, [now + 5000, now]), 'clocks are corrected by seconds').toBe(false)
  expect(await needsRepair({}, now, [now + minuteMs, now])).toBe(true)
})
