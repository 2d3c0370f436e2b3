// Statements of rooms, endpoints, their connections, configs, commands and bug reports that few requests reach.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../test/support/database/endpoint-rows.ts'
import { emptyRollup, openStores, type StoreWorld, storedAt } from '../../../test/support/database/store-world.ts'
import { engine } from '../../../test/support/harness.ts'
import { dayMs } from '../../contract/durations.ts'
import { insertNode, updateLeft } from '../nodes/store.ts'
import { findChunk, findUpload, insertChunk, listOldBundles } from './bug-reports/bundles/store.ts'
import { updateMovedBundle } from './bug-reports/store.ts'
import {
  deleteAttemptsOf,
  findWaitingReboot,
  listDeferredGroup,
  listOpenDeferred,
  lockGroups,
} from './commands/deferred/deferred-store.ts'
import { deleteOldCommandRows } from './commands/retention-store.ts'
import { listOverdueEndpoints, listQueuedEndpoints } from './commands/sending-store.ts'
import { listOpenPowerCommands } from './commands/store.ts'
import {
  deleteRejections,
  deleteReported,
  endConfig,
  findConfig,
  listUnconfirmed,
  listUnconfirmedVersions,
  listVersions,
  updatePendingAgain,
} from './configs/store.ts'
import { listSpans, updateUnknownUntil } from './connections/store.ts'
import {
  listConnectionsAfter,
  listConnectionsById,
  listInterrupted,
  listOverslept,
  updateDisconnectedFrom,
  updateInterrupted,
  updateLeader,
  updateMeasuredSensors,
  updateNamedSensors,
} from './endpoints/device-store.ts'
import {
  findEndpointVersion,
  findShownEndpoint,
  hasEndpointWithProfile,
  listEndpointIdsPage,
  listEndpointsById,
  listEndpointsInRoom,
  listEndpointsInRooms,
  listListedEndpoints,
  listPairedEndpoints,
} from './endpoints/store.ts'
import { refuseTakenExternalId } from './external-ids.ts'
import { countConfigKeys } from './profiles/reach-store.ts'
import { regionHasLocation } from './regions/store.ts'
import {
  countEndpointsWithoutRoom,
  findLastRoom,
  findNextRoom,
  hasFailedConfig,
  listRooms,
  listRoomsById,
  listRoomsOfIds,
  listRoomsWithLocations,
} from './rooms/store.ts'
import { listLastQuartersWithPeople, listSpansBefore, spansPerPage } from './rooms/use/store.ts'
import { listLinkable } from './sources/store.ts'

let world: StoreWorld
beforeAll(async () => {
  world = await openStores()
})
afterAll(() => world.close())

const times = { now: storedAt, unknownAfter: storedAt, settleMs: 1000, settledAt: storedAt, lastEnd: storedAt }
type Row = Awaited<ReturnType<typeof putEndpoints>>[number]
const idsOf = <T>(rows: readonly { id: T }[]) => rows.map(({ id }) => id)

test('rooms are listed with their locations in pages, with each of the filters', async () => {
  const { all, ofRegion } = world
  const list = async (on: typeof all, region?: number, location?: number, after = 0) =>
    (await listRoomsWithLocations(on, { after, limit: 2 }, region, location)).map((room) => room.id)
  expect([await list(all), await list(all, undefined, undefined, 2)]).toEqual([[1, 2], [3]])
  expect([await list(all, 2), await list(all, undefined, 2), await list(all, 2, 2)]).toEqual([[2], [2], [2]])
  expect([await list(ofRegion), await list(ofRegion, 2), await list(ofRegion, undefined, 2)]).toEqual([[1], [], []])
  expect([await list(ofRegion, 1), await list(ofRegion, undefined, 1), await list(ofRegion, 1, 1)]).toEqual([
    [1],
    [1],
    [1],
  ])
})

test('endpoints and rooms are listed by region and location, as far as the caller sees them', async () => {
  const { all, ofRegion, ofNothing, here, there } = world
  const both = [here.id, there.id].sort()
  const freshSinceSeconds = 0
  for (const site of [[], [1], [undefined, 1], [1, 1]] as const) {
    const [region, location] = site
    const isWhole = site.length === 0
    const page = { after: '', limit: 1 }
    const first = isWhole ? both.slice(0, 1) : [here.id]
    expect(idsOf(await listEndpointIdsPage(all, page, region, location))).toEqual(first)
    expect(idsOf(await listEndpointIdsPage(ofRegion, page, region, location))).toEqual([here.id])
    const next = { ...page, after: here.id }
    expect(idsOf(await listEndpointIdsPage(ofRegion, next, region, location))).toEqual([])
    const room = { ...times, freshSinceSeconds, ids: [], from: 1, to: 3 }
    expect(idsOf(await listRooms(all, room, region, location)).sort()).toEqual(isWhole ? [1, 2, 3] : [1])
    expect(idsOf(await listRooms(ofRegion, room, region, location))).toEqual([1])
    expect(idsOf(await listRooms(all, { ...room, from: 2 }, region, location))).toEqual(isWhole ? [2, 3] : [])
    const named = { ...room, ids: [1, 99] }
    for (const on of [all, ofRegion]) expect(idsOf(await listRoomsOfIds(on, named, region, location))).toEqual([1])
    expect(idsOf(await listRoomsOfIds(ofNothing, named, region, location))).toEqual([])
  }
  expect(await listEndpointIdsPage(ofNothing, { after: '', limit: 1 })).toEqual([])
  expect(await findLastRoom(ofNothing)).toEqual({ id: 3 })
  expect(await findNextRoom(ofNothing, { from: 2 })).toEqual({ id: 2 })
})

test('one endpoint, and the endpoints of rooms, are read for callers who see them', async () => {
  const { all, ofRegion, ofNothing, here, there } = world
  for (const on of [all, ofRegion]) {
    expect(await findShownEndpoint(on, { ...times, id: here.id })).toMatchObject({ id: here.id, room_name: 'Room 1' })
    expect(await findEndpointVersion(on, { id: here.id })).toEqual({ version: 1, via: null })
    expect(idsOf(await listEndpointsInRoom(on, { room: 1 }))).toEqual([here.id])
    expect(idsOf(await listEndpointsInRooms(on, { rooms: [1, 3] }))).toEqual([here.id])
    expect(await listRoomsById(on, { ids: [1, 99] })).toEqual([{ id: 1, name: 'Room 1' }])
  }
  expect(await findEndpointVersion(ofNothing, { id: here.id })).toBeUndefined()
  expect(idsOf(await listListedEndpoints(all, { ...times, ids: [there.id] }))).toEqual([there.id])
})

test('a profile in use, a failed config, and what a source can be linked to are found', async () => {
  const { db, node, all, ofRegion, ofNothing, org, here, put, write } = world
  await put('profiles', {
    org,
    id: 1,
    version: 1,
    name: 'Quiet',
    description: null,
    config_id: 1,
    config: '{}',
    secrets: '{}',
  })
  await write(({ kysely }) =>
    kysely.updateTable('endpoints').set({ profile_id: 1 }).where('id', '=', here.id).execute(),
  )
  for (const kind of ['region', 'location', 'room', 'profile'] as const)
    expect(idsOf(await listLinkable[kind](all, { ids: [1, 99] })), kind).toEqual([1])
  expect(await hasEndpointWithProfile(all, { profile: 1 })).toBe(true)
  expect(await hasEndpointWithProfile(all, { profile: 2 })).toBe(false)
  await put('endpoint_configs', {
    org,
    endpoint_id: here.id,
    version: 3,
    state: 'FAILED',
    error: null,
    reported_at: storedAt,
  })
  expect(await Promise.all([all, ofRegion, ofNothing].map((on) => hasFailedConfig(on, { id: 1 })))).toEqual([
    true,
    true,
    false,
  ])
  const author = { author_type: 'KEY', author_id: '1', author_name: 'Key', created_at: storedAt, updated_at: storedAt }
  const config = { explicit: '{}', secrets: '{}', profile_id: null, profile: '{}', profile_secrets: '{}', job_id: null }
  await put('config_versions', {
    org,
    endpoint_id: here.id,
    version: 3,
    state: 'PENDING',
    error: null,
    ...config,
    ...author,
  })
  expect(await listUnconfirmedVersions(db.system, { node })).toEqual([{ id: here.id, version: 3 }])
  expect(await listUnconfirmed(db.system, { node, before: storedAt + 1 })).toEqual([{ id: here.id }])
  expect(await listUnconfirmed(db.system, { node, before: storedAt })).toEqual([])
  const rejected = async () =>
    (await write(({ kysely }) => kysely.selectFrom('endpoint_configs').select('rejected').execute()))[0]
  await write(({ kysely }) => kysely.updateTable('endpoint_configs').set({ rejected: '{"a":{}}' }).execute())
  await all.transaction((tx) => deleteRejections(tx, { ids: [here.id] }))
  expect(await rejected()).toEqual({ rejected: '{}' })
  expect(await all.transaction((tx) => deleteReported(tx, here.id)), 'a config was set').toBe(true)
})

test('endpoints without a room are counted by their state', async () => {
  const { db, write, there } = world
  const move = (room_id: number | null) =>
    write(({ kysely }) => kysely.updateTable('endpoints').set({ room_id }).where('id', '=', there.id).execute())
  await move(null)
  const [counts] = await countEndpointsWithoutRoom(db.system, times)
  expect(Object.values(counts ?? {}).map(Number)).toEqual([1, 0, 0, 0])
  await move(2)
})

test('spans of a connection are read in order, and their end is moved', async () => {
  const { all, ofRegion, ofNothing, org, here, put } = world
  const span = { org, endpoint: here.number, why: 'SERVER_ENDED' as const }
  await put('connection_spans', { ...span, since: 20, until: 30, unknown_until: 50 })
  await put('connection_spans', { ...span, since: 5, until: 10, unknown_until: null })
  const window = { endpoint: here.number, since: 0, before: 100, limit: 10 }
  await all.telemetry((tx) => updateUnknownUntil(tx, { endpoints: [here.number], lastEnd: 40, settledAt: 60 }))
  for (const on of [all, ofRegion]) {
    expect((await listSpans(on, window)).map((row) => [row.since, row.unknown_until])).toEqual([
      [5, null],
      [20, 60],
    ])
  }
  expect(await listSpans(ofNothing, window)).toEqual([])
})

test('the connections of a node are found, cut and given time to come back', async () => {
  const { db, all, org, node, here, put } = world
  await put('credential_directory', { org, hash: Buffer.alloc(32, 1), endpoint_id: here.id })
  expect(await listConnectionsById(db.system, { node, ids: [here.id] })).toMatchObject([{ org, id: here.id }])
  const page = { node, org, id: '', limit: 10 }
  expect(idsOf(await listConnectionsAfter(db.system, page))).toEqual([here.id])
  expect(await listConnectionsAfter(db.system, { ...page, id: here.id })).toEqual([])
  const cut = { id: here.id, node, at: storedAt, unknownUntil: storedAt + 10 }
  expect(await all.telemetry((tx) => updateDisconnectedFrom(tx, cut))).toMatchObject({ is_gateway: 0 })
  expect(await all.telemetry((tx) => updateDisconnectedFrom(tx, cut)), 'is not connected there').toBeUndefined()
  const restart = { lastEnd: storedAt, settledAt: storedAt + 20 }
  expect(await listInterrupted(db.system, { ...restart, limit: 10 })).toEqual([
    { org, id: here.id, number: here.number },
  ])
  await all.telemetry((tx) => updateInterrupted(tx, { ids: [here.id], settledAt: restart.settledAt }))
  expect(await listInterrupted(db.system, { ...restart, limit: 10 })).toEqual([])
})

test('the leader of a pair is stored', async () => {
  const { all, write, here, there } = world
  await all.telemetry((tx) => updateLeader(tx, { id: there.id, pairing_serial: here.serial }))
  const rows = await write(({ kysely }) =>
    kysely.selectFrom('endpoints').select('id').where('pairing_serial', '=', here.serial).execute(),
  )
  expect(rows).toEqual([{ id: there.id }])
})

test('commands that wait, are overdue or old are found', async () => {
  const { db, all, org, node, here, put, write } = world
  await write(({ kysely }) =>
    kysely.updateTable('endpoints').set({ node_id: node }).where('id', '=', here.id).execute(),
  )
  const [waiting, attempt, group] = [randomUUID(), randomUUID(), randomUUID()]
  const command = {
    org,
    endpoint_id: here.id,
    type: 'REBOOT',
    state: 'QUEUED',
    payload: '{}',
    created_at: storedAt,
    updated_at: storedAt,
    deadline: storedAt + 1000,
    sent_at: null,
    told_at: null,
    sent_connection: null,
    told_connection: null,
    error: null,
    waits_for: null,
    reboot_time: null,
    attempt_of: null,
    group_id: null,
  }
  await put('operations', { ...command, id: waiting, reboot_time: 'idle', waits_for: 'idle', group_id: group })
  await put('operations', { ...command, id: attempt, attempt_of: waiting })
  expect(idsOf(await listDeferredGroup(all, { group, now: storedAt }))).toEqual([waiting])
  expect(idsOf(await listOpenDeferred(all, { endpoints: [here.id] }))).toEqual([waiting])
  expect(await findWaitingReboot(all, { endpoints: [here.id] })).toMatchObject({ id: waiting })
  const locked = await all.telemetry((tx) => lockGroups(tx, { groups: [group] }))
  expect(locked).toEqual([{ id: waiting, group_id: group, state: 'QUEUED' }])
  const overdue = await listOverdueEndpoints(db.system, { node, now: storedAt, before: storedAt + 1 })
  expect(overdue).toEqual([{ endpoint_id: here.id }])
  expect(await listQueuedEndpoints(db.system, { node, now: storedAt })).toEqual([{ endpoint_id: here.id }])
  await all.telemetry((tx) => deleteAttemptsOf(tx, { id: waiting }))
  const ids = () => write(({ kysely }) => kysely.selectFrom('operations').select('id').execute())
  expect(idsOf(await ids())).toEqual([waiting])
  await write(({ kysely }) => kysely.updateTable('operations').set({ state: 'SUCCEEDED' }).execute())
  expect(await write((tx) => deleteOldCommandRows(tx, { before: storedAt + 1, limit: 10 }))).toEqual([{ id: waiting }])
})

test('bundles of version 0.1 are listed until they are moved', async () => {
  const { all, org, here, put } = world
  const command = randomUUID()
  await put('bug_reports', { org, id: 'AAAAAAAA', created_at: 1, expires_at: 2, in_call_logs: 0 })
  const item = { org, report_id: 'AAAAAAAA', endpoint_id: here.id, serial: here.serial, model: here.model }
  await put('bug_report_items', {
    ...item,
    operation_id: command,
    file: 'x.gz',
    size: 5,
    uploaded_at: 1,
    upload_id: null,
  })
  const bundle = { endpoint: here.id, command, file: 'x.gz', size: 5 }
  expect(await listOldBundles(all, { report: 'AAAAAAAA' })).toEqual([bundle])
  await all.telemetry((tx) => updateMovedBundle(tx, { command, upload: randomUUID() }))
  expect(await listOldBundles(all, { report: 'AAAAAAAA' })).toEqual([])
})

test.runIf(engine === 'postgres')('PostgreSQL stores the content of a bundle in pieces', async () => {
  const { all, org, here, put } = world
  const id = randomUUID()
  await put('bundle_uploads', { org, id, report_id: 'AAAAAAAA', endpoint_id: here.id, bytes: 2, started_at: storedAt })
  await all.telemetry((tx) => insertChunk(tx, { upload: id, seq: 0, bytes: Buffer.from('ab') }))
  expect(await findUpload(all, { id })).toEqual({ bytes: 2 })
  expect((await findChunk(all, { upload: id, seq: 0 }))?.bytes.toString()).toBe('ab')
})

test('a region with locations is noticed', async () => {
  expect(await regionHasLocation(world.all, { id: 1 })).toBe(true)
  expect(await regionHasLocation(world.all, { id: 99 })).toBe(false)
})

test('a device that fell asleep when its server ended has slept since then, before its row is cleared [contract 8.state]', async () => {
  const { all, rows, write } = world
  const nodeThatEnded = (name: string, endedAt: number) =>
    write(async (tx) => {
      const id = (await insertNode(tx, { name, process: name, version: '1.0.0', at: 0 }))?.id ?? 0
      await updateLeft(tx, { id, at: endedAt })
      return id
    })
  const longAgo = { rest: 'RESTING', connection_time: storedAt - 20 * dayMs } as const
  const [, late, left] = await putEndpoints(...rows, [
    { ...longAgo, node_id: await nodeThatEnded('ended now', storedAt - 1) },
    { ...longAgo, node_id: await nodeThatEnded('ended long ago', storedAt - 15 * dayMs) },
    longAgo,
  ])
  const withoutSettle = { ...times, settleMs: 0 }
  const overslept = await listOverslept(all, { ...withoutSettle, before: storedAt - 14 * dayMs, limit: 9 })
  expect(idsOf(overslept).sort()).toEqual(idsOf([late, left] as Row[]).sort())
})

test('the last quarter with people is found for each endpoint', async () => {
  const { all, org, here, put } = world
  const quarter = { org, endpoint: here.number, room: 1, ...emptyRollup }
  for (const [slot, people] of [
    [7, 2],
    [8, 1],
    [9, 0],
  ] as const) {
    const counted = { people_count: 1, people_min: people, people_max: people, people_sum: people }
    await put('sample_quarters', { ...quarter, slot, ...counted })
  }
  const window = { endpoints: [here.number], first: 0, end: 100 }
  expect(await listLastQuartersWithPeople(all, window)).toEqual([{ endpoint: here.number, slot: 8 }])
})

test('the last connections before a time are limited for each endpoint', async () => {
  const { all, here, there, put, org } = world
  const firstMs = 1_000_000
  const span = (endpoint: number, since: number) => ({ org, endpoint, since, until: since, why: 'LOST' as const })
  const sinces = Array.from({ length: spansPerPage + 20 }, (_, i) => firstMs + i)
  await put('connection_spans', ...sinces.map((since) => span(here.number, since)))
  await put('connection_spans', span(there.number, firstMs), span(there.number, firstMs + 1000))
  const listed = async (before: number) => {
    const spans = await listSpansBefore(all, { endpoints: [here.number, there.number], before })
    return [here, there].map(({ number }) =>
      spans
        .flatMap(({ endpoint, since }) => (endpoint === number && since >= firstMs ? [since] : []))
        .sort((a, b) => a - b),
    )
  }
  expect(await listed(firstMs + 1000)).toEqual([sinces.slice(20), [firstMs]])
  expect(await listed(firstMs + 20)).toEqual([sinces.slice(0, 20), [firstMs]])
})

test('measured sensors are added to those that are stored, and named ones replace them [contract 5.1.models]', async () => {
  const { all, there } = world
  const sensors = async () => {
    const { sensors_named, sensors_measured } = (await findShownEndpoint(all, { ...times, id: there.id })) ?? {}
    return [sensors_named, sensors_measured]
  }
  expect(await sensors()).toEqual([null, 0])
  for (const added of [5, 12]) await all.telemetry((tx) => updateMeasuredSensors(tx, { id: there.id, added }))
  expect(await sensors()).toEqual([null, 13])
  for (const sensors_named of [3, 96]) {
    await all.telemetry((tx) => updateNamedSensors(tx, { id: there.id, sensors_named, presence_only: 1 }))
  }
  expect(await sensors()).toEqual([96, 13])
})

test('the actions that a device reports are read without the rest of its status, and end its config [contract 5.1.actions]', async () => {
  const { all, here, there, org, put, write, rows } = world
  const [sensor, quoting] = await putEndpoints(...rows, [
    { room_id: 1, status: '{"name":"AQ","actions":["reboot","power"]}' },
    { room_id: 1, status: '{"name":"\\"actions\\""}' },
  ])
  const [id, other] = [sensor?.id as string, quoting?.id as string]
  const actionsOf = async (list: Promise<readonly { id: string; actions: string | null }[]>) =>
    Object.fromEntries((await list).map((one) => [one.id, one.actions === null ? null : JSON.parse(one.actions)]))
  const ids = [id, other, there.id]
  const expected = { [id]: ['reboot', 'power'], [other]: null, [there.id]: null }
  expect(await actionsOf(listEndpointsById(all, { ids }))).toEqual(expected)
  expect(await actionsOf(listPairedEndpoints(all, { ids }))).toEqual(expected)
  expect(await actionsOf(listEndpointsInRoom(all, { room: 1 }))).toMatchObject({ [id]: ['reboot', 'power'] })
  expect(here.id).not.toBe(id)

  await put('endpoint_configs', { org, endpoint_id: id, version: 3, state: 'PENDING' })
  const version = { org, endpoint_id: id, version: 3, state: 'PENDING', explicit: '{}', secrets: '{}' }
  const author = { author_type: 'KEY', author_id: '1', author_name: 'Key', created_at: storedAt, updated_at: storedAt }
  await put('config_versions', { ...version, profile_id: null, profile: '{}', profile_secrets: '{}', ...author })
  await all.transaction((tx) => endConfig(tx, id, storedAt + 1))
  expect(await findConfig(all, { id })).toMatchObject({ version: 3, state: 'DELIVERED', reported_version: 3 })
  await write(async ({ kysely }) => {
    const states = kysely.selectFrom('config_versions').select(['state', 'updated_at']).where('endpoint_id', '=', id)
    expect(await states.execute()).toEqual([{ state: 'SUPERSEDED', updated_at: storedAt + 1 }])
  })
})

test('the settings that devices report are counted by profile, and other ones let a config be sent again [contract 5.3.keys]', async () => {
  const { all, org, put, rows } = world
  const profile = { version: 1, description: null, config_id: 1, config: '{}', secrets: '{}' }
  await put('profiles', { org, id: 7, name: 'Dim', ...profile })
  const status = '{"configKeys":["brightness"]}'
  const [display] = await putEndpoints(...rows, [
    { room_id: 1, profile_id: 7, status },
    { room_id: 1, profile_id: 7, status },
    { room_id: 1, profile_id: 7 },
  ])
  const counts = (await countConfigKeys(all, { profile: 7 })).map(({ config_keys, count }) => ({
    keys: config_keys === null ? null : JSON.parse(config_keys),
    count: Number(count),
  }))
  expect(counts).toHaveLength(2)
  expect(counts).toEqual(
    expect.arrayContaining([
      { keys: ['brightness'], count: 2 },
      { keys: null, count: 1 },
    ]),
  )
  const id = display?.id as string
  const endpoint = { org, endpoint_id: id }
  await put('endpoint_configs', { ...endpoint, version: 2, state: 'FAILED', error: 'no', reported_version: 2 })
  const version = { ...endpoint, version: 2, state: 'FAILED', error: 'no', explicit: '{}', secrets: '{}' }
  const author = { author_type: 'KEY', author_id: '1', author_name: 'Key', created_at: storedAt, updated_at: storedAt }
  await put('config_versions', { ...version, profile_id: null, profile: '{}', profile_secrets: '{}', ...author })
  expect(await all.telemetry((tx) => updatePendingAgain(tx, id, storedAt))).toBe(2)
  expect(await findConfig(all, { id })).toMatchObject({ state: 'PENDING', error: null, reported_version: 0 })
  const [shown] = await listVersions(all, { id, upTo: 2, count: 1 })
  expect(shown).toMatchObject({ version: 2, state: 'PENDING', error: null })
})

test('the POWER commands that a device was sent are listed, the oldest first [contract 8.power]', async () => {
  const { all, here, org, put } = world
  const times = { created_at: storedAt, updated_at: storedAt, deadline: storedAt + 1 }
  const command = { org, endpoint_id: here.id, type: 'POWER', error: null }
  const [first, second, queued] = [randomUUID(), randomUUID(), randomUUID()]
  await put(
    'operations',
    { ...command, ...times, id: second, state: 'ACKNOWLEDGED', payload: '{"on":true}', created_at: storedAt + 1 },
    { ...command, ...times, id: first, state: 'SENT', payload: '{"on":false}' },
    { ...command, ...times, id: queued, state: 'QUEUED', payload: '{"on":false}' },
  )
  expect(await listOpenPowerCommands(all, { endpoint: here.id })).toEqual([
    { id: first, payload: '{"on":false}' },
    { id: second, payload: '{"on":true}' },
  ])
})

test('the resource with an external id is found, one for each kind [contract 5.5.externalId]', async () => {
  const { db, org, here, there, put, write } = world
  const profile = { org, version: 1, name: 'Bright', description: null, config_id: 1, config: '{}', secrets: '{}' }
  await put('profiles', { ...profile, id: 20, external_id: 'CMDB-1' })
  const externalId = 'CMDB-1'
  await write(async ({ kysely }) => {
    for (const table of ['regions', 'locations', 'rooms'] as const) {
      await kysely.updateTable(table).set({ external_id: externalId }).where('id', '=', 1).execute()
    }
    await kysely.updateTable('endpoints').set({ external_id: externalId }).where('id', '=', here.id).execute()
  })
  const ids = { region: 1, location: 1, room: 1, profile: 20, endpoint: here.id }
  for (const [kind, id] of Object.entries(ids)) {
    const refuse = (own: number | string) =>
      db
        .forOrg(org)
        .transaction((tx) =>
          refuseTakenExternalId(tx, kind as keyof typeof ids, { id: own, externalId }, async () => ({})),
        )
    await refuse(id)
    await expect(refuse('another')).rejects.toThrow(`${kind} ${id} already has the externalId CMDB-1`)
  }
  const twice = write(({ kysely }) =>
    kysely.updateTable('endpoints').set({ external_id: externalId }).where('id', '=', there.id).execute(),
  )
  await expect(twice, 'the database refuses it too').rejects.toThrow(/unique/i)
})
