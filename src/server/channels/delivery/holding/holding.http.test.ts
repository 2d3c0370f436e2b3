// Messages that are held, gathered or cancelled before their first attempt, and heartbeats. [contract 10.delivery]
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  findChannelRow,
  listDeliveryRows,
  newChannel,
  newMessages,
} from '../../../../../test/support/channels/channel-rows.ts'
import { Receiver } from '../../../../../test/support/channels/receiver.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import { type NewIncident, newIncident } from '../../../../../test/support/incidents.ts'
import { until } from '../../../../../test/support/program.ts'
import { endedUntold } from '../batch.ts'
import { cancelUntold } from '../store.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const minuteMs = 60_000

const changeIncident = (id: string, values: object) =>
  harness.services.db.systemTransaction(({ kysely }) =>
    kysely.updateTable('incidents').set(values).where('org', '=', org.org.key).where('id', '=', Number(id)).execute(),
  )

/** Opens an incident and queues the messages as the outbox does: the first one waits a minute. */
async function openIncident(channel: number, incident: NewIncident = {}): Promise<string> {
  const id = await newIncident(harness, org, { openedAt: harness.clock.now(), ...incident })
  await tell(channel, id, 'incident.opened', minuteMs)
  return id
}

const tell = (
  channel: number,
  id: string,
  type: 'incident.opened' | 'incident.changed' | 'incident.resolved' | 'incident.reopened',
  delayMs = 0,
) =>
  newMessages(harness, org, channel, [
    { type, subject: `incident ${id}`, incidentId: Number(id), data: { incident: { id } }, delayMs },
  ])

async function resolveIncident(channel: number, id: string): Promise<void> {
  await changeIncident(id, { state: 'RESOLVED', resolved_at: harness.clock.now(), updated_at: harness.clock.now() })
  await tell(channel, id, 'incident.resolved')
}

const stateOf = async (channel: number) => (await listDeliveryRows(harness, channel)).map(({ state }) => state)
const isFinished = async (channel: number) => !(await stateOf(channel)).includes('WAITING')
/** Waits while the time goes on: an attempt that fails after one step of the clock is repeated after the next. */
const untilFinished = (channel: number) =>
  until('nothing waits', () => {
    harness.clock.advance(10 * minuteMs)
    return isFinished(channel)
  })
const typesAt = (receiver: Receiver) => receiver.received.map(({ body }) => `${body.type} ${body.data.incident?.id}`)

test('messages about an incident that was reopened after it was read are not cancelled', async () => {
  const channel = await newChannel(harness, org, {})
  const id = await newIncident(harness, org, { openedAt: harness.clock.now() })
  await tell(channel, id, 'incident.changed', 60 * minuteMs)
  const cancel = () =>
    harness.services.db
      .forOrg(org.org.key)
      .telemetry((tx) =>
        cancelUntold(tx, { channel, incident: Number(id), orderKey: `incident ${id}`, error: endedUntold }),
      )
  expect(await cancel()).toEqual([])
  await changeIncident(id, { state: 'RESOLVED', resolved_at: harness.clock.now() })
  expect(await cancel()).toHaveLength(1)
})

test('an incident that ends within a minute is never told, and leaves no gap in the sequence', async () => {
  const receiver = await Receiver.start()
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  const short = await openIncident(channel)
  const long = await openIncident(channel)
  harness.clock.advance(30_000)
  await resolveIncident(channel, short)
  harness.clock.advance(31_000)
  await until('the long one is told', () => receiver.received.length > 0)
  await resolveIncident(channel, long)
  await until('nothing waits', () => isFinished(channel))
  expect(typesAt(receiver)).toEqual([`incident.opened ${long}`, `incident.resolved ${long}`])
  expect(receiver.received.map(({ body }) => body.data.sequence)).toEqual([1, 2])
  expect(
    (await listDeliveryRows(harness, channel)).map(({ state, error, sequence }) => [state, error, sequence]),
  ).toEqual([
    ['CANCELLED', endedUntold, null],
    ['DELIVERED', null, 1],
    ['CANCELLED', endedUntold, null],
    ['DELIVERED', null, 2],
  ])
})

test('an incident that outlasts a minute is told even if its receiver was away until its end', async () => {
  const receiver = await Receiver.start()
  receiver.answer = () => ({ status: 500 })
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  const id = await openIncident(channel)
  harness.clock.advance(61_000)
  await until('it was tried', () => receiver.received.length > 0)
  await resolveIncident(channel, id)
  receiver.answer = () => ({ status: 200 })
  await untilFinished(channel)
  expect(receiver.accepted.map(({ type }) => type)).toEqual(['incident.opened', 'incident.resolved'])
})

test('more than twenty openings in ten minutes are one digest, later changes come one by one, and PagerDuty gets each', async () => {
  const [receiver, pager] = [await Receiver.start(), await Receiver.start()]
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  const pagerChannel = await newChannel(harness, org, {
    kind: 'pagerduty',
    secrets: { url: `${pager.url}/v2/enqueue`, routingKey: 'R1' },
  })
  const ids: string[] = []
  for (let n = 0; n < 25; n++) {
    const id = await openIncident(channel, n === 0 ? { severity: 'CRITICAL' } : {})
    await tell(pagerChannel, id, 'incident.opened', minuteMs)
    ids.push(id)
  }
  harness.clock.advance(61_000)
  await until('nothing waits', async () => (await isFinished(channel)) && (await isFinished(pagerChannel)))
  expect(receiver.received).toHaveLength(1)
  const { type, data } = receiver.received[0]?.body ?? {}
  expect(type).toBe('incident.digest')
  expect(data).toMatchObject({
    sequence: 1,
    url: `${harness.publicUrl}/incidents`,
    digest: { count: 25, bySeverity: { CRITICAL: 1, WARNING: 24 }, byRule: { 'storage.low': 25 } },
  })
  expect(data.digest.incidentIds.toSorted()).toEqual(ids.toSorted())
  expect(pager.received).toHaveLength(25)
  const [first = '', second = ''] = ids
  await resolveIncident(channel, first)
  await until('the change is told', () => receiver.received.length === 2)
  expect(typesAt(receiver)[1]).toBe(`incident.resolved ${first}`)
  // Openings that follow wait for the end of the ten minutes. They are few then, and are told one by one.
  const late = await openIncident(channel)
  harness.clock.advance(2 * minuteMs)
  await resolveIncident(channel, second)
  await until('another change is told', () => receiver.received.length === 3)
  expect(await stateOf(channel)).toContain('WAITING')
  harness.clock.advance(10 * minuteMs)
  await until('nothing waits', () => isFinished(channel))
  expect(typesAt(receiver).slice(2)).toEqual([`incident.resolved ${second}`, `incident.opened ${late}`])
})

test('after a digest a critical opening is sent alone after its minute, others wait, and one that ends while it waits is never sent', async () => {
  const receiver = await Receiver.start()
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  for (let n = 0; n < 21; n++) await openIncident(channel)
  harness.clock.advance(61_000)
  await until('the digest has come', () => receiver.received.length === 1)
  const [critical, over, milder] = [
    await openIncident(channel, { severity: 'CRITICAL' }),
    await openIncident(channel),
    await openIncident(channel),
  ]
  harness.clock.advance(61_000)
  await until('the critical one is told', () => receiver.received.length === 2)
  expect(typesAt(receiver)[1]).toBe(`incident.opened ${critical}`)
  harness.clock.advance(84_000)
  // As in an outage that was over after 205 s: its opening came at 668 s, and nothing after it.
  await resolveIncident(channel, over)
  await resolveIncident(channel, critical)
  await until('the end of the critical one is told', () => receiver.received.length === 3)
  harness.clock.advance(10 * minuteMs)
  await until('nothing waits', () => isFinished(channel))
  expect(typesAt(receiver).slice(1)).toEqual([
    `incident.opened ${critical}`,
    `incident.resolved ${critical}`,
    `incident.opened ${milder}`,
  ])
})

test('more than twenty critical openings that follow a digest are another digest at once', async () => {
  const receiver = await Receiver.start()
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  for (let n = 0; n < 21; n++) await openIncident(channel)
  harness.clock.advance(61_000)
  await until('the digest has come', () => receiver.received.length === 1)
  for (let n = 0; n < 21; n++) await openIncident(channel, { severity: 'CRITICAL' })
  harness.clock.advance(61_000)
  await until('nothing waits', () => isFinished(channel))
  expect(receiver.received.map(({ body }) => body.data.digest?.bySeverity)).toEqual([{ WARNING: 21 }, { CRITICAL: 21 }])
})

test('an incident whose opening was cancelled by a merge comes back as opened, not as reopened', async () => {
  const receiver = await Receiver.start()
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  const id = await openIncident(channel)
  harness.clock.advance(20_000)
  const at = harness.clock.now()
  await changeIncident(id, { state: 'MERGED', resolved_at: at, updated_at: at })
  await tell(channel, id, 'incident.resolved')
  await until('both are cancelled', () => isFinished(channel))
  harness.clock.advance(5 * minuteMs)
  await changeIncident(id, { state: 'OPEN', resolved_at: null, occurrences: 2 })
  await tell(channel, id, 'incident.reopened')
  harness.clock.advance(61_000)
  await until('nothing waits', () => isFinished(channel))
  await resolveIncident(channel, id)
  await until('nothing waits', () => isFinished(channel))
  expect(typesAt(receiver)).toEqual([`incident.opened ${id}`, `incident.resolved ${id}`])
  expect(receiver.received[0]?.body.data.incident.occurrences).toBe(2)
  const { body } = await org.call('GET', `/channels/${channel}/deliveries`)
  expect(body.deliveries.map(({ type, state }: { type: string; state: string }) => [type, state])).toEqual([
    ['incident.resolved', 'DELIVERED'],
    ['incident.opened', 'DELIVERED'],
    ['incident.resolved', 'CANCELLED'],
    ['incident.opened', 'CANCELLED'],
  ])
})

test('the end of an incident comes after the digest that has its opening, also if the digest fails at first', async () => {
  const receiver = await Receiver.start()
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  const ids: string[] = []
  for (let n = 0; n < 21; n++) ids.push(await openIncident(channel))
  const [first = ''] = ids
  let isDown = true
  receiver.answer = ({ body }) => ({ status: isDown && body.type === 'incident.digest' ? 503 : 200 })
  harness.clock.advance(61_000)
  await until('the digest was tried', () => receiver.received.length === 1)
  await resolveIncident(channel, first)
  await newMessages(harness, org, channel, [{ subject: 'endpoint a', type: 'endpoint.connected' }])
  await until('another message is delivered', () => receiver.accepted.length > 0)
  isDown = false
  await untilFinished(channel)
  expect(receiver.accepted.map(({ type }) => type)).toEqual([
    'endpoint.connected',
    'incident.digest',
    'incident.resolved',
  ])
})

test('a channel that wants no openings is not told about an incident that ended in its first minute', async () => {
  const receiver = await Receiver.start()
  const settings = { events: ['incident.changed', 'incident.resolved'] as const }
  const channel = await newChannel(harness, org, { settings, secrets: { url: receiver.url } })
  const openedAt = harness.clock.now()
  const [short, long] = [await newIncident(harness, org, { openedAt }), await newIncident(harness, org, { openedAt })]
  await tell(channel, long, 'incident.changed')
  harness.clock.advance(10_000)
  await resolveIncident(channel, short)
  harness.clock.advance(49_000)
  await until('the one is cancelled and the other waits', async () => {
    const [changed, resolved] = await listDeliveryRows(harness, channel)
    return changed?.next_at === openedAt + minuteMs && resolved?.state === 'CANCELLED'
  })
  expect(receiver.received).toEqual([])
  harness.clock.advance(1000)
  await until('nothing waits', () => isFinished(channel))
  expect(typesAt(receiver)).toEqual([`incident.changed ${long}`])
})

test('many openings that waited for the hours of a channel are one digest, although they opened one by one', async () => {
  const receiver = await Receiver.start()
  harness.clock.fix(Date.parse('2027-03-06T12:00:00Z'))
  const days = ['mon', 'tue', 'wed', 'thu', 'fri'] as ['mon', 'tue', 'wed', 'thu', 'fri']
  const settings = { hours: { days, from: '08:00', to: '18:00' } }
  const channel = await newChannel(harness, org, { settings, secrets: { url: receiver.url } })
  for (let n = 0; n < 22; n++) {
    await openIncident(channel)
    harness.clock.advance(15 * minuteMs)
  }
  harness.clock.fix(Date.parse('2027-03-08T08:00:00Z'))
  await until('nothing waits', () => isFinished(channel))
  expect(receiver.received.map(({ body }) => [body.type, body.data.digest?.count])).toEqual([['incident.digest', 22]])
})

test('the hours of a channel hold what is not critical, in the zone of the location of the incident', async () => {
  const receiver = await Receiver.start()
  const region = (await org.call('POST', '/regions', { body: { name: 'Asia' } })).body.id
  const locationId = (await org.call('POST', '/locations', { body: { name: 'Tokyo', regionId: region } })).body.id
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely.updateTable('locations').set({ timezone: 'Asia/Tokyo' }).where('id', '=', locationId).execute(),
  )
  const room = (await org.call('POST', '/rooms', { body: { name: 'Board', locationId } })).body.id
  // Monday, 12:00 in UTC, is 21:00 in Tokyo.
  harness.clock.fix(Date.parse('2027-03-01T12:00:00Z'))
  const hours = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '18:00' } as const
  const settings = { hours: { ...hours, days: [...hours.days] } }
  const channel = await newChannel(harness, org, { settings, secrets: { url: receiver.url } })
  const here = await openIncident(channel)
  const far = await openIncident(channel, { rooms: [room] })
  const critical = await openIncident(channel, { rooms: [room], severity: 'CRITICAL' })
  harness.clock.advance(minuteMs)
  await until('two are told', () => receiver.received.length === 2)
  expect(typesAt(receiver).toSorted()).toEqual([`incident.opened ${here}`, `incident.opened ${critical}`].toSorted())
  const held = await until('the third is held', async () => {
    const rows = await listDeliveryRows(harness, channel)
    return rows.find(({ subject, next_at }) => subject === `incident ${far}` && (next_at ?? 0) > harness.clock.now())
  })
  // The next morning in Tokyo.
  expect(new Date(held.next_at ?? 0).toISOString()).toBe('2027-03-01T23:00:00.000Z')
  // An incident that becomes critical is told immediately, beginning with its opening.
  await changeIncident(far, { severity: 'CRITICAL' })
  await tell(channel, far, 'incident.changed')
  await until('the third is told', () => receiver.received.length === 4)
  expect(typesAt(receiver).slice(2)).toEqual([`incident.opened ${far}`, `incident.changed ${far}`])
})

test('heartbeats come as often as the channel asks for, and do not pile up while the receiver is away', async () => {
  const receiver = await Receiver.start()
  const channel = await newChannel(harness, org, { settings: { heartbeatMinutes: 5 }, secrets: { url: receiver.url } })
  // While the last one waits for its outcome to be stored, no further one is written.
  const hasCome = (count: number) =>
    until(`heartbeat ${count}`, async () => receiver.accepted.length === count && (await isFinished(channel)))
  await hasCome(1)
  harness.clock.advance(5 * minuteMs)
  await hasCome(2)
  receiver.answer = () => ({ status: 503 })
  for (let n = 0; n < 3; n++) {
    const { heartbeat_at } = await findChannelRow(harness, channel)
    harness.clock.advance(5 * minuteMs)
    await until(
      'the time was noticed',
      async () => (await findChannelRow(harness, channel)).heartbeat_at !== heartbeat_at,
    )
  }
  expect(await stateOf(channel)).toEqual(['DELIVERED', 'DELIVERED', 'WAITING'])
  // A failure that is stored after the last step of the clock would wait for a step that does not come.
  await until('the failure is stored', async () => {
    const waiting = (await listDeliveryRows(harness, channel)).find(({ state }) => state === 'WAITING')
    return (waiting?.next_at ?? 0) > harness.clock.now()
  })
  receiver.answer = () => ({ status: 200 })
  harness.clock.advance(minuteMs * 35)
  await until('nothing waits', () => isFinished(channel))
  expect(receiver.accepted.every(({ type }) => type === 'heartbeat')).toBe(true)
})
