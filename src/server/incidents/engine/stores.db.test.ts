// Statements that the engine of incidents and its metrics run rarely.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStores, type StoreWorld, storedAt } from '../../../../test/support/database/store-world.ts'
import {
  addAttempts,
  deleteAttemptsBefore,
  hasAttemptBefore,
  listAttempts,
  listOrgsOfEndpoints,
} from '../credentials/attempt-store.ts'
import { findChangedRule } from '../incident-rules/store.ts'
import { deleteEndedIncidents } from '../retention-store.ts'
import { deleteSilencesBefore, endSilencesOfGonePlaces, listZonesOfLocations } from '../silences/store.ts'
import { findProfileName } from './engine-store.ts'
import { countOpenIncidents } from './metrics-store.ts'
import { countDevicesOfNodes, findLastRun, listLostDevices, upsertLastRun } from './restarts/settle-store.ts'
import { listCapacities } from './structure-store.ts'

let world: StoreWorld
beforeAll(async () => {
  world = await openStores()
})
afterAll(() => world.close())

test('open incidents are counted by severity', async () => {
  const { db, org, here, put } = world
  const cause = { rule: 'storage.low', level: 'ENDPOINT', cause_id: here.id, cause_name: 'Bar' } as const
  const times = { since: 1, opened_at: 1, updated_at: 1, resolved_at: null, cause_ended_at: null }
  const person = { acknowledged_by: null, assignee_id: null, snoozed_until: null, merged_into: null, split_from: null }
  for (const [id, severity, state] of [
    [1, 'WARNING', 'OPEN'],
    [2, 'WARNING', 'ACKNOWLEDGED'],
    [3, 'CRITICAL', 'RESOLVED'],
  ] as const) {
    await put('incidents', { org, id, version: 1, severity, state, ...cause, ...times, ...person })
  }
  const counts = await countOpenIncidents(db.system)
  expect(counts.map(({ severity, count }) => [severity, Number(count)])).toEqual([['WARNING', 2]])
})

test('capacities of rooms, zones of locations and changed rules are read', async () => {
  const { all, org, put } = world
  const capacities = (await listCapacities(all)).sort((a, b) => a.id - b.id)
  expect(capacities).toEqual([1, 2, 3].map((id) => ({ id, capacity: 8 })))
  expect(await listZonesOfLocations(all, { ids: [2] })).toEqual([{ id: 2, timezone: 'Europe/Oslo' }])
  await put('incident_rules', { org, rule: 'storage.low', version: 4, settings: '{"severity":"INFO"}' })
  expect(await findChangedRule(all, { rule: 'storage.low' })).toEqual({ version: 4, settings: '{"severity":"INFO"}' })
  expect(await findChangedRule(all, { rule: 'air.beyond' })).toBeUndefined()
})

test('an incident that a profile caused is named after it', async () => {
  const { all, org, put } = world
  await put('profiles', { org, id: 1, version: 1, name: 'Quiet', config_id: 1, config: '{}', secrets: '{}' })
  expect(await findProfileName(all, { id: 1 })).toEqual({ name: 'Quiet' })
})

test('the time of the last run is stored', async () => {
  const { all, org, put } = world
  await put('incident_progress', { org, judged_until: storedAt, looked_at: null })
  await all.telemetry((tx) => upsertLastRun(tx, { ranAt: storedAt + 1 }))
  expect(await findLastRun(all)).toEqual({ looked_at: storedAt + 1 })
})

test('incidents and silences that ended long ago are deleted, and silences whose place is gone end', async () => {
  const { org, put, write } = world
  expect(await write((tx) => deleteEndedIncidents(tx, { before: storedAt, limit: 10 }))).toEqual([{ id: 3 }])
  const silence = { org, version: 1, rules: null, reason: 'Painting.', since: 1, weekly: null }
  const author = { author_type: 'KEY', author_id: '1', author_name: 'Key' }
  for (const [id, place_type, place_id, since, until] of [
    [1, 'all', '', 1, 5],
    [2, 'room', '1', 1, 50],
    [3, 'room', '99', 1, 50],
    [4, 'endpoint', 'gone', 1, null],
    [5, 'region', '99', 30, 50],
    [6, 'location', '99', 1, 15],
  ] as const) {
    await put('silences', { ...silence, ...author, id, place_type, place_id, since, until })
  }
  await write((tx) => endSilencesOfGonePlaces(tx, 20))
  await write((tx) => deleteSilencesBefore(tx, { before: 10 }))
  const left = await write(({ kysely }) =>
    kysely.selectFrom('silences').select(['id', 'since', 'until']).orderBy('id').execute(),
  )
  expect(left).toEqual([
    { id: 2, since: 1, until: 50 },
    { id: 3, since: 1, until: 20 },
    { id: 4, since: 1, until: 20 },
    { id: 6, since: 1, until: 15 },
  ])
})

test('wrong credentials are counted by minute, and forgotten', async () => {
  const { db, all, org, here, write } = world
  expect(await listOrgsOfEndpoints(db.system, { ids: [here.id, 'unknown'] })).toEqual([{ org, id: here.id }])
  const attempt = { endpoint: here.id, kind: 'refused', minute: 7, address: '192.0.2.1', count: 2 } as const
  for (const lastAt of [1, 2]) await all.telemetry((tx) => addAttempts(tx, { ...attempt, lastAt }))
  expect(await listAttempts(all, { from: 7 })).toMatchObject([{ endpoint_id: here.id, count: 4, last_at: 2 }])
  expect(await hasAttemptBefore(db.system, { before: 8 })).toBe(true)
  await write((tx) => deleteAttemptsBefore(tx, { before: 8 }))
  expect(await hasAttemptBefore(db.system, { before: 8 })).toBe(false)
})

test('the devices of ended nodes are counted once, by their row or by their history, without those that may sleep', async () => {
  const { all, org, node, here, there, put, write } = world
  for (const { number } of [here, there]) {
    await put('connection_spans', {
      org,
      endpoint: number,
      since: 1,
      until: storedAt,
      why: 'SERVER_ENDED',
      unknown_until: null,
    })
  }
  const count = await countDevicesOfNodes(all, { ends: [storedAt], nodes: [node] })
  expect(Number(count?.count)).toBe(2)
  const lost = await listLostDevices(all, { node, endedAt: storedAt })
  expect(lost.map(({ id }) => id).sort()).toEqual([here.id, there.id].sort())
  expect(await listLostDevices(all, { node, endedAt: 1 })).toEqual([{ id: here.id }])
  for (const rest of ['RESTING', 'AWAKE'] as const) {
    // One is found by its row, the other by its history.
    await write(({ kysely }) => kysely.updateTable('endpoints').set({ rest }).execute())
    expect(Number((await countDevicesOfNodes(all, { ends: [storedAt], nodes: [node] }))?.count)).toBe(0)
    expect(await listLostDevices(all, { node, endedAt: storedAt })).toEqual([])
  }
})
