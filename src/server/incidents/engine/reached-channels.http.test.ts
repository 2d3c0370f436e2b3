// Channels that are limited to places and severities: which messages the engine writes for them as an incident grows. [contract 10.channel]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listDeliveryRows, newMessages } from '../../../../test/support/channels/channel-rows.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { newIncident } from '../../../../test/support/incidents.ts'
import { newTwoRegions, type TwoRegions } from '../../../../test/support/places/two-regions.ts'
import { applyUpdates } from './apply.ts'
import { listEngineIncidents } from './engine-store.ts'
import type { EngineIncident, IncidentUpdate } from './grouping/incident-drafts.ts'
import { engineIncident } from './rows.ts'
import { StructureCache } from './structure.ts'
import type { Finding } from './types.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const newChannel = async ({ org }: TwoRegions, values: object) => {
  const body = { name: 'Hook', kind: 'webhook', url: 'https://hooks.example.org/x', ...values }
  return Number((await org.call('POST', '/channels', { body })).body.id)
}

/** Writes what happened to an incident as the engine does. */
async function update(
  { org }: TwoRegions,
  id: string,
  changes: Partial<EngineIncident>,
  values: Partial<IncidentUpdate>,
) {
  const { db, clock } = harness.services
  const on = db.forOrg(org.org.key)
  const now = clock.now()
  const found = (await listEngineIncidents(on, { endedAfter: 0 })).find((row) => row.id === Number(id))
  if (!found) throw new Error('there is no such incident')
  const before = engineIncident(found)
  const after = { ...before, ...changes }
  const { joined = [] } = values
  const nothing = { joined, joinedSubjects: joined, leftSubjects: [], timeline: [], messages: [], isSilenced: false }
  const zone = { key: org.org.key, id: org.id, name: 'Test', timezone: 'UTC' }
  const structure = await new StructureCache(db).read(on, zone, now, [])
  await on.bulkTransaction((tx) =>
    applyUpdates(tx, {
      now,
      structure,
      rows: new Map([[before.id, found]]),
      updates: [{ before, after, ...nothing, ...values }],
      findings: [],
      changed: [],
      ended: [],
      judgedUntil: undefined,
    }),
  )
}

const findingOf = (endpoint: string): Finding => ({
  rule: 'storage.low',
  subject: { type: 'endpoint', id: endpoint },
  since: harness.clock.now(),
  maturedAt: harness.clock.now(),
  clearSince: null,
  incidentId: null,
  detail: {},
})

const messages = async ({ org }: TwoRegions) => {
  const rows = await harness.services.db.system.kysely
    .selectFrom('deliveries as d')
    .innerJoin('messages as m', 'm.number', 'd.message')
    .select(['m.type', 'd.channel_id', 'm.data'])
    .where('d.org', '=', org.org.key)
    .orderBy('m.number')
    .orderBy('d.channel_id')
    .execute()
  return rows.map(({ type, channel_id, data }) => ({ told: `${channel_id} ${type}`, data: JSON.parse(data) }))
}
const told = async (world: TwoRegions) => (await messages(world)).map((message) => message.told)

test('an incident that gets a subject in another region opens for the channels of that region', async () => {
  const world = await newTwoRegions(harness)
  await newChannel(world, { regionIds: [world.mine.region] })
  const reached = await newChannel(world, { regionIds: [world.other.region] })
  await newChannel(world, {})
  const id = await newIncident(harness, world.org, { endpoints: [world.mine.endpoint] })
  await update(world, id, {}, { joined: [findingOf(world.other.endpoint)], timeline: ['JOINED'] })
  expect(await told(world)).toEqual([`${reached} incident.opened`])
  await update(world, id, {}, { joined: [findingOf(world.other.endpoint)], timeline: ['JOINED'] })
  expect(await told(world)).toHaveLength(1)
})

test('during a silence an incident that grows opens for no channel', async () => {
  const world = await newTwoRegions(harness)
  await newChannel(world, { regionIds: [world.other.region] })
  const id = await newIncident(harness, world.org, { endpoints: [world.mine.endpoint] })
  await update(world, id, {}, { joined: [findingOf(world.other.endpoint)], isSilenced: true })
  expect(await told(world)).toEqual([])
})

test('an incident that becomes worse opens for channels of that severity, and they are told its end when it is milder', async () => {
  const world = await newTwoRegions(harness)
  const critical = await newChannel(world, { minSeverity: 'CRITICAL' })
  const all = await newChannel(world, {})
  const id = await newIncident(harness, world.org, { endpoints: [world.mine.endpoint], severity: 'WARNING' })
  const worst = { detail: { worstSeverity: 'CRITICAL' } } as const
  await update(world, id, { severity: 'CRITICAL', ...worst }, { messages: ['incident.changed'] })
  expect(await told(world)).toEqual([`${critical} incident.opened`])
  await update(world, id, { severity: 'WARNING', ...worst }, { messages: ['incident.changed'] })
  await update(world, id, { state: 'RESOLVED' }, { messages: ['incident.resolved'] })
  expect((await told(world)).slice(1)).toEqual([`${critical} incident.resolved`, `${all} incident.resolved`])
})

test('an incident of the organisation is sent to channels of regions too, with the assignee', async () => {
  const world = await newTwoRegions(harness)
  const channel = await newChannel(world, { regionIds: [world.mine.region] })
  const id = await newIncident(harness, world.org, { assigneeId: Number(world.admin.id), snoozedUntil: 1 })
  await update(world, id, {}, { messages: ['incident.reopened'] })
  expect(await messages(world)).toMatchObject([
    { told: `${channel} incident.reopened`, data: { incident: { assignee: { id: world.admin.id } } } },
  ])
  expect((await messages(world))[0]?.data.incident).not.toHaveProperty('snoozedUntil')
})

test('a channel is not told that it fails itself; the others are', async () => {
  const world = await newTwoRegions(harness)
  const failing = await newChannel(world, {})
  const other = await newChannel(world, {})
  const id = await newIncident(harness, world.org, { level: 'CHANNEL', causeId: String(failing), causeName: 'Hook' })
  await update(world, id, {}, { messages: ['incident.reopened'] })
  expect(await told(world)).toEqual([`${other} incident.reopened`])
})

test('an incident that grows to ten times what a channel was told is sent to it once, even if it wants no changes', async () => {
  const world = await newTwoRegions(harness)
  const toldSix = await newChannel(world, {})
  const toldMore = await newChannel(world, {})
  const untold = await newChannel(world, {})
  const wantsChanges = await newChannel(world, { events: ['incident.opened', 'incident.changed'] })
  const id = await newIncident(harness, world.org, { endpoints: [world.mine.endpoint] })
  const announce = (channel_id: number, size: number) =>
    harness.services.db.systemTransaction(({ kysely }) =>
      kysely
        .insertInto('announced_incidents')
        .values({ org: world.org.org.key, channel_id, incident_id: Number(id), message: 0, size, has_grown: 0 })
        .execute(),
    )
  await announce(toldSix, 6)
  await announce(toldMore, 8)
  await announce(wantsChanges, 6)
  // An edit has limited it to another region since it was told.
  const elsewhere = await newChannel(world, { regionIds: [world.other.region] })
  await announce(elsewhere, 6)
  let count = 1
  const growTo = async (size: number, isSilenced = false) => {
    const joined = Array.from({ length: size - count }, (_, i) => findingOf(`device ${count + i}`))
    count = size
    await update(world, id, {}, { joined, isSilenced })
  }
  await growTo(59)
  expect(await told(world)).toEqual([])
  await growTo(60, true)
  expect(await told(world), 'during a silence nothing is sent').toEqual([])
  await growTo(61)
  expect(await told(world)).toEqual([`${toldSix} incident.changed`])
  expect((await messages(world))[0]?.data.incident.openSubjectCount).toBe(61)
  await growTo(800)
  expect(await told(world)).toEqual([`${toldSix} incident.changed`, `${toldMore} incident.changed`])
  expect(await told(world)).not.toContain(`${untold} incident.changed`)
})

test('an incident that becomes critical is decided on again, whatever its first message waits for', async () => {
  const world = await newTwoRegions(harness)
  const channel = await newChannel(world, { enabled: false })
  const id = await newIncident(harness, world.org, { endpoints: [world.mine.endpoint], severity: 'WARNING' })
  const now = harness.clock.now()
  await newMessages(harness, world.org, channel, [
    { type: 'incident.opened', subject: `incident ${id}`, incidentId: Number(id), delayMs: 3_600_000 },
    { type: 'incident.opened', subject: 'incident 0', delayMs: 3_600_000 },
  ])
  await update(world, id, { severity: 'CRITICAL' }, {})
  const rows = await listDeliveryRows(harness, channel)
  const [reconsidered, other] = rows.filter((row) => row.org === world.org.org.key)
  expect(reconsidered?.next_at).toBeLessThan(now + 60_000)
  expect(other?.next_at).toBeGreaterThanOrEqual(now + 3_600_000)
})
