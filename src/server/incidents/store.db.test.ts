// Every condition of the list of incidents returns the rows that it should, to callers of all regions and of one.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../test/support/database/endpoint-rows.ts'
import { type Harness, startHarness } from '../../../test/support/harness.ts'
import { newIncident } from '../../../test/support/incidents.ts'
import { RegionAccess } from '../core/region-access.ts'
import type { OrgDatabase } from '../db/org-database.ts'
import {
  countEndpointsInRooms,
  type IncidentConditions,
  listEndpointNames,
  listEndpointNamesOfMessages,
  listIncidents,
  listLatestNotes,
  lockIncidentsForShare,
} from './store.ts'

interface World {
  readonly db: OrgDatabase
  readonly ofRegion: OrgDatabase
  readonly conditions: Readonly<Record<keyof IncidentConditions, IncidentConditions>>
  readonly wanted: number
  readonly other: number
  readonly room: number
  /** The endpoints of both incidents; the caller of one region sees the first. */
  readonly endpoints: readonly [string, string]
}
const openedAt = Date.UTC(2026, 4, 1)
const page = { before: 1000, limit: 10 }

let harness: Harness
let world: World
beforeAll(async () => {
  harness = await startHarness()
  // The engine runs with its first tick, and would judge the incidents.
  harness.clock.fix(openedAt)
  const org = await harness.newOrg()
  const make = async (path: string, body: object) => (await org.call('POST', path, { body })).body.id
  const place = async (name: string) => {
    const region = await make('/regions', { name })
    const location = await make('/locations', { name, regionId: region })
    const room = await make('/rooms', { name, locationId: location })
    const [endpoint] = await putEndpoints(harness, org, [
      { room_id: room, connection_time: openedAt, serial: `S-${name}`, name: `Bar ${name}` },
    ])
    return { region, location, room, endpoint: endpoint?.id ?? '' }
  }
  const [here, there] = [await place('Här'), await place('there')]
  await putEndpoints(harness, org, [{ room_id: there.room, serial: 'S-twin' }])
  const assignee = Number(await make('/users', { email: 'a@example.org', role: 'operator', regionIds: [here.region] }))
  const incidentAt = async (endpoint: string, differing: object) =>
    Number(await newIncident(harness, org, { endpoints: [endpoint], ...differing }))
  const wanted = await incidentAt(here.endpoint, {
    rule: 'storage.low',
    severity: 'CRITICAL',
    assigneeId: assignee,
    openedAt,
    resolvedAt: openedAt,
    timeline: [
      { at: openedAt + 1, kind: 'COMMENT', text: 'Which switch?' },
      { at: openedAt + 2, kind: 'ACKNOWLEDGED', text: 'On my way.' },
      { at: openedAt + 3, kind: 'ACKNOWLEDGED' },
      { at: openedAt + 4, kind: 'SNOOZED', text: 'cleared' },
    ],
  })
  const other = await incidentAt(there.endpoint, {
    rule: 'config.rejected',
    severity: 'INFO',
    state: 'RESOLVED',
    openedAt: openedAt - 5,
    resolvedAt: openedAt - 1,
  })
  const db = harness.services.db.forOrg(org.org.key)
  world = {
    db,
    ofRegion: db.seenBy(RegionAccess.of([here.region])),
    wanted,
    other,
    room: here.room,
    endpoints: [here.endpoint, there.endpoint],
    conditions: {
      states: { states: ['OPEN', 'ACKNOWLEDGED'] },
      rule: { rule: 'storage.low' },
      severity: { severity: 'CRITICAL' },
      assignee: { assignee },
      from: { from: openedAt },
      resolvedFrom: { resolvedFrom: openedAt },
      to: { to: openedAt + 1, from: openedAt },
      region: { region: here.region },
      location: { location: here.location },
      room: { room: here.room },
      endpoint: { endpoint: here.endpoint },
    },
  }
})
afterAll(() => harness.close())

const idsOf = (rows: readonly { id: number }[]) => rows.map(({ id }) => id)

test('without conditions the list has all incidents that the caller sees, latest first, in pages', async () => {
  const { db, ofRegion, wanted, other } = world
  expect(idsOf(await listIncidents(db, {}, page))).toEqual([other, wanted])
  expect(idsOf(await listIncidents(db, {}, { before: other, limit: 10 }))).toEqual([wanted])
  expect(idsOf(await listIncidents(db, {}, { ...page, limit: 1 }))).toEqual([other])
  expect(idsOf(await listIncidents(ofRegion, {}, page))).toEqual([wanted])
})

test('each condition leaves out the incident that does not meet it, alone and together with all others', async () => {
  const { db, ofRegion, conditions, wanted } = world
  const all: IncidentConditions = Object.assign({}, ...Object.values(conditions))
  for (const [name, condition] of [...Object.entries(conditions), ['all', all] as const]) {
    for (const on of [db, ofRegion]) expect(idsOf(await listIncidents(on, condition, page)), name).toEqual([wanted])
  }
})

test('the latest note of an incident is the newest text that a person wrote', async () => {
  const { db, wanted, other } = world
  const notes = await listLatestNotes(db, { incidents: [wanted, other] })
  expect(notes).toEqual([{ incident_id: wanted, at: openedAt + 2, actor_name: null, text: 'On my way.' }])
})

test('endpoints in rooms are counted for callers who see the room', async () => {
  const { db, ofRegion, room } = world
  for (const on of [db, ofRegion]) {
    const counts = await countEndpointsInRooms(on, { rooms: [room] })
    expect(counts.map((row) => ({ ...row, count: Number(row.count) }))).toEqual([{ room, count: 1 }])
  }
  expect(await countEndpointsInRooms(db.seenBy(RegionAccess.nothing), { rooms: [room] })).toEqual([])
})

test('an incident has the names of the endpoints that the caller sees and whether their rooms have others of their models, a message those of all', async () => {
  const { db, ofRegion, endpoints } = world
  const [here, there] = endpoints
  const read = async (list: typeof listEndpointNames, on: OrgDatabase) =>
    (await list(on, { ids: endpoints })).map(({ id, name, serial, has_twin }) => ({
      id,
      name,
      serial,
      hasTwin: !!has_twin,
    }))
  const ofHere = { id: here, name: 'Bar Här', serial: 'S-Här', hasTwin: false }
  const all = expect.arrayContaining([ofHere, { id: there, name: 'Bar there', serial: 'S-there', hasTwin: true }])
  expect(await read(listEndpointNames, db)).toEqual(all)
  expect(await read(listEndpointNames, ofRegion)).toEqual([ofHere])
  for (const on of [db, ofRegion]) expect(await read(listEndpointNamesOfMessages, on)).toEqual(all)
})

test('a transaction that sends messages reads the incidents in the order of their ids', async () => {
  const { db, wanted, other } = world
  expect(idsOf(await db.telemetry((tx) => lockIncidentsForShare(tx, { ids: [other, wanted] })))).toEqual([
    wanted,
    other,
  ])
})
