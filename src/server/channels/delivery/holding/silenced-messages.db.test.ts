// Messages about incidents whose places are silenced wait until the silence ends. [contract 10.silence]
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { listDeliveryRows, newChannel, newMessages } from '../../../../../test/support/channels/channel-rows.ts'
import { Receiver } from '../../../../../test/support/channels/receiver.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import { newIncident } from '../../../../../test/support/incidents.ts'
import { until } from '../../../../../test/support/program.ts'
import { hourMs, minuteMs } from '../../../../contract/durations.ts'

let harness: Harness
let org: TestOrg
let room: number
let receiver: Receiver
let channel: number
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
})
afterAll(() => harness.close())
beforeEach(async () => {
  org = await harness.newOrg()
  room = (await org.call('POST', '/rooms', { body: { name: 'Board' } })).body.id
  receiver = await Receiver.start()
  channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
})

const messageOf = (id: string, type: 'incident.opened' | 'incident.resolved', delayMs = 0) => ({
  ...{ type, subject: `incident ${id}`, incidentId: Number(id), data: { incident: { id } }, delayMs },
})

async function open(rooms: readonly number[]): Promise<string> {
  const id = await newIncident(harness, org, { openedAt: harness.clock.now(), rooms })
  await newMessages(harness, org, channel, [messageOf(id, 'incident.opened', minuteMs)])
  return id
}

/** Ends the incident and writes the message about it in one commit, as the engine does. */
async function resolve(id: string): Promise<void> {
  const at = harness.clock.now()
  await newMessages(harness, org, channel, [messageOf(id, 'incident.resolved')], async (kysely) => {
    const values = { state: 'RESOLVED' as const, resolved_at: at, updated_at: at, cause_ended_at: at }
    const rows = kysely.updateTable('incidents').set(values).where('org', '=', org.org.key)
    await rows.where('id', '=', Number(id)).execute()
    const ended = kysely.updateTable('incident_subjects').set({ ended_at: at }).where('org', '=', org.org.key)
    await ended.where('incident_id', '=', Number(id)).execute()
  })
}

async function silence(lengthMs: number): Promise<string> {
  const to = new Date(harness.clock.now() + lengthMs).toISOString()
  const body = { place: { roomId: room }, reason: 'Painting.', to }
  return (await org.call('POST', '/silences', { body })).body.id
}

const rowsOf = async (id: string) =>
  (await listDeliveryRows(harness, channel)).filter(({ subject }) => subject === `incident ${id}`)
const isHeld = (id: string) =>
  until('it is held', async () => {
    const last = (await rowsOf(id)).at(-1)
    return last?.state === 'WAITING' && (last.next_at ?? 0) > harness.clock.now()
  })
const typesAt = () => receiver.received.map(({ body }) => `${body.type} ${body.data.incident?.id}`)

test('an opening that was written before a silence waits for its end, and other incidents do not', async () => {
  const [held, other] = [await open([room]), await open([])]
  harness.clock.advance(30_000)
  await silence(hourMs)
  harness.clock.advance(31_000)
  await until('the other one is sent', () => receiver.received.length > 0)
  await isHeld(held)
  expect(typesAt()).toEqual([`incident.opened ${other}`])
  harness.clock.advance(hourMs)
  await until('it is sent', () => receiver.received.length === 2)
  expect(typesAt()[1]).toBe(`incident.opened ${held}`)
})

test('an incident that ends during the silence that held its opening is never sent', async () => {
  const id = await open([room])
  harness.clock.advance(30_000)
  await silence(hourMs)
  harness.clock.advance(31_000)
  await isHeld(id)
  harness.clock.advance(10 * minuteMs)
  await resolve(id)
  harness.clock.advance(hourMs)
  await until('nothing waits', async () => (await rowsOf(id)).every(({ state }) => state !== 'WAITING'))
  expect((await rowsOf(id)).map(({ state, error }) => [state, error])).toEqual([
    ['CANCELLED', 'ended before it was sent'],
    ['CANCELLED', 'ended before it was sent'],
  ])
  expect(receiver.received).toEqual([])
})

test('the end of an incident that was sent before the silence is sent after it, or when a person deletes the silence', async () => {
  const id = await open([room])
  harness.clock.advance(61_000)
  await until('it is sent', () => receiver.received.length === 1)
  const silenceId = await silence(12 * hourMs)
  await resolve(id)
  await isHeld(id)
  harness.clock.advance(2 * minuteMs)
  await isHeld(id)
  expect(receiver.received).toHaveLength(1)
  await org.call('DELETE', `/silences/${silenceId}`)
  harness.clock.advance(minuteMs)
  await until('the end is sent', () => receiver.received.length === 2)
  expect(typesAt()).toEqual([`incident.opened ${id}`, `incident.resolved ${id}`])
})
