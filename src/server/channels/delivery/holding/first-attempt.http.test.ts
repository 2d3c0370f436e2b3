// A message shows an incident as it is at the first attempt, and every retry and replay repeats that. [contract 10.delivery]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listDeliveryRows, newChannel, newMessages } from '../../../../../test/support/channels/channel-rows.ts'
import { Receiver } from '../../../../../test/support/channels/receiver.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import { newIncident } from '../../../../../test/support/incidents.ts'
import { until } from '../../../../../test/support/program.ts'
import { minuteMs } from '../../../../contract/durations.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
  org = await harness.newOrg()
})
afterAll(() => harness.close())

type Type = 'incident.opened' | 'incident.changed' | 'incident.resolved'
const tell = (channel: number, id: string, type: Type, delayMs = 0) =>
  newMessages(harness, org, channel, [
    {
      type,
      subject: `incident ${id}`,
      incidentId: Number(id),
      data: { incident: { id, openSubjectCount: 0 } },
      delayMs,
    },
  ])

/** Adds devices to an incident, as the engine does when they join it. */
const join = (id: string, names: readonly string[], place: { location: number; region: number }) =>
  harness.services.db.systemTransaction(async ({ kysely }) => {
    const now = harness.clock.now()
    const subject = { org: org.org.key, incident_id: Number(id), subject_type: 'endpoint', room_id: null } as const
    const where = { room_name: null, location_id: place.location, region_id: place.region, since: now, ended_at: null }
    const rows = names.map((name) => ({ ...subject, ...where, subject_id: name, name }))
    await kysely.insertInto('incident_subjects').values(rows).execute()
  })

async function newPlace(name: string): Promise<{ location: number; region: number }> {
  const region = (await org.call('POST', '/regions', { body: { name } })).body.id
  const location = (await org.call('POST', '/locations', { body: { name, regionId: region } })).body.id
  return { location, region }
}
const isFinished = async (channel: number) =>
  (await listDeliveryRows(harness, channel)).every(({ state }) => state !== 'WAITING')

test('an outage that grows in its first minute is sent with its size, title and places then; retries and replays repeat them', async () => {
  const receiver = await Receiver.start()
  receiver.answer = () => ({ status: 503 })
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  const [here, there] = [await newPlace('Boston'), await newPlace('Austin')]
  const outage = { rule: 'device.offline', level: 'ORGANISATION', causeId: org.id, causeName: 'Acme' } as const
  const id = await newIncident(harness, org, { ...outage, severity: 'CRITICAL', openedAt: harness.clock.now() })
  await tell(channel, id, 'incident.opened', minuteMs)
  const names = (from: number, count: number) => Array.from({ length: count }, (_, i) => `device-${from + i}`)
  await join(id, names(0, 5), here)
  harness.clock.advance(30_000)
  await join(id, names(5, 94), there)
  harness.clock.advance(31_000)
  const first = await until(
    'it was tried',
    async () => (await listDeliveryRows(harness, channel))[0]?.attempts === 1 && receiver.received[0],
  )
  const { incident } = first.body.data
  expect(incident).toMatchObject({ openSubjectCount: 100, title: expect.stringContaining('100 devices') })
  expect(incident.locationIds.toSorted()).toEqual([here.location, there.location].toSorted())
  const announced = harness.services.db.system.kysely.selectFrom('announced_incidents').select(['incident_id', 'size'])
  expect(await announced.where('channel_id', '=', channel).execute()).toEqual([{ incident_id: Number(id), size: 100 }])
  await join(id, names(99, 50), here)
  receiver.answer = () => ({ status: 204 })
  harness.clock.advance(10_000)
  await until('it is delivered', () => isFinished(channel))
  const from = new Date(harness.clock.now() - 10 * minuteMs).toISOString()
  expect((await org.call('POST', `/channels/${channel}/replay`, { body: { from } })).body).toEqual({ count: 1 })
  await until('it is sent again', () => receiver.accepted.length === 2)
  expect(receiver.received.map(({ text }) => text)).toEqual([first.text, first.text, first.text])
})

test('a change that waited shows the incident as it is at its first attempt, and an end as it was written', async () => {
  const receiver = await Receiver.start()
  const settings = { events: ['incident.opened', 'incident.changed', 'incident.resolved'] as const }
  const channel = await newChannel(harness, org, { settings, secrets: { url: receiver.url } })
  const place = await newPlace('Chicago')
  const id = await newIncident(harness, org, { openedAt: harness.clock.now() })
  await tell(channel, id, 'incident.opened', minuteMs)
  await tell(channel, id, 'incident.changed')
  await join(id, ['late'], place)
  harness.clock.advance(61_000)
  await until('both are delivered', () => isFinished(channel))
  await tell(channel, id, 'incident.resolved')
  await until('the end is delivered', () => isFinished(channel))
  const shown = receiver.received.map(({ body }) => [body.type, body.data.incident.openSubjectCount])
  expect(shown).toEqual([
    ['incident.opened', 2],
    ['incident.changed', 2],
    ['incident.resolved', 0],
  ])
})

test('a replay of an opening also sends what came later about its incident, so its end stays the last word', async () => {
  const receiver = await Receiver.start()
  const channel = await newChannel(harness, org, { secrets: { url: receiver.url } })
  const opened = harness.clock.now()
  const ids: string[] = []
  for (let n = 0; n < 22; n++) {
    const id = await newIncident(harness, org, { openedAt: opened })
    await tell(channel, id, 'incident.opened', minuteMs)
    ids.push(id)
  }
  harness.clock.advance(61_000)
  await until('the digest is delivered', () => isFinished(channel))
  harness.clock.advance(30 * minuteMs)
  const [over = ''] = ids
  const at = harness.clock.now()
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely
      .updateTable('incidents')
      .set({ state: 'RESOLVED', resolved_at: at, updated_at: at })
      .where('org', '=', org.org.key)
      .where('id', '=', Number(over))
      .execute(),
  )
  await tell(channel, over, 'incident.resolved')
  await until('the end is delivered', () => isFinished(channel))
  const window = { from: new Date(opened).toISOString(), to: new Date(opened + 5 * minuteMs).toISOString() }
  expect((await org.call('POST', `/channels/${channel}/replay`, { body: window })).body).toEqual({ count: 2 })
  await until('both are sent again', () => receiver.received.length === 4)
  expect(receiver.accepted.map(({ type, data }) => [type, data.sequence])).toEqual([
    ['incident.digest', 1],
    ['incident.resolved', 2],
    ['incident.digest', 1],
    ['incident.resolved', 2],
  ])
})
