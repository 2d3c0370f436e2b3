// Statements of channels and of the messages to them that need a certain moment of a delivery.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newMessages } from '../../../test/support/channels/channel-rows.ts'
import { openStores, type StoreWorld, storedAt } from '../../../test/support/database/store-world.ts'
import { findChannelName } from '../incidents/engine/engine-store.ts'
import { hasMessage, makeUnattemptedDue, markGrown } from '../journal/outbox/message-store.ts'
import { countWaiting } from './delivery/all-messages-store.ts'
import { listToldKeys } from './delivery/holding/announced-store.ts'
import { hasWaitingMessage, listIncidentZones, updateHeartbeat } from './delivery/holding/opening-store.ts'
import {
  cancelMessages,
  cancelOutdated,
  disableChannel,
  findNewestMessage,
  postpone,
  postponeFollowers,
  repairChannelTimes,
} from './delivery/store.ts'
import { listDigests, makeDue, restartLater } from './delivery-log-store.ts'
import { updateChannelSettings } from './store.ts'

let world: StoreWorld
/** The numbers of three messages about incident 1, oldest first. */
let messages: readonly number[]
const channel = 1
const [orderKey, error] = ['incident 1', 'outdated']
beforeAll(async () => {
  world = await openStores()
  const { org, put, rows, write } = world
  const times = { delivered_at: null, failing_since: null, last_error: null, heartbeat_at: null, created_at: storedAt }
  const state = { enabled: 1, disabled_reason: null, settings: '{}', secrets: Buffer.alloc(1) }
  await put('channels', { org, id: channel, version: 1, name: 'Operations', kind: 'webhook', ...state, ...times })
  const incident = { org, id: 1, version: 1, rule: 'storage.low', severity: 'WARNING', state: 'OPEN' } as const
  const cause = { level: 'ENDPOINT', cause_id: world.here.id, cause_name: 'Bar', since: 1, opened_at: 1 } as const
  const person = { acknowledged_by: null, assignee_id: null, snoozed_until: null, merged_into: null, split_from: null }
  await put('incidents', { ...incident, ...cause, ...person, updated_at: 1, resolved_at: null, cause_ended_at: null })
  const subject = { org, incident_id: 1, subject_type: 'endpoint', subject_id: world.here.id, name: 'Bar' } as const
  const place = { room_id: 1, room_name: 'Room 1', location_id: 1, region_id: 1 }
  await put('incident_subjects', { ...subject, ...place, since: 1, ended_at: null })
  const [{ services }, organisation] = rows
  const about = { subject: orderKey, incidentId: 1 }
  const later = { ...about, delayMs: 60_000 }
  await newMessages({ services, clock: services.clock } as never, organisation as never, channel, [about, later, later])
  const stored = await write(({ kysely }) => kysely.selectFrom('messages').select('number').orderBy('number').execute())
  messages = stored.map(({ number }) => number)
})
afterAll(() => world.close())

const statesOf = async () =>
  (await world.write(({ kysely }) => kysely.selectFrom('deliveries').select('state').orderBy('message').execute())).map(
    ({ state }) => state,
  )
const update = (message: number | undefined, values: object) =>
  world.write(({ kysely }) =>
    kysely
      .updateTable('deliveries')
      .set(values)
      .where('message', '=', message ?? 0)
      .execute(),
  )

test('the newest message with an order key is found, and whether one waits', async () => {
  const { all } = world
  expect(await findNewestMessage(all, { channel, orderKey })).toMatchObject({
    message: messages[2],
    created_at: storedAt,
  })
  expect(await hasWaitingMessage(all, { channel, orderKey })).toBe(true)
  expect(await hasWaitingMessage(all, { channel, orderKey: 'incident 2' })).toBe(false)
  expect(await hasMessage(all, { orderKey })).toBe(true)
  expect(await hasMessage(all, { orderKey: 'incident 2' })).toBe(false)
})

test('an incident has the time zones of its locations', async () => {
  expect(await listIncidentZones(world.all, { ids: [1] })).toEqual([{ incident_id: 1, timezone: 'Europe/Oslo' }])
})

test('the settings and the next heartbeat of a channel are stored', async () => {
  const { all, write } = world
  expect(await all.telemetry((tx) => updateHeartbeat(tx, { channel, nextAt: 7 }))).toEqual({ id: channel })
  await all.transaction((tx) => updateChannelSettings(tx, { id: channel, settings: '{"a":1}' }))
  const stored = write(({ kysely }) =>
    kysely.selectFrom('channels').select(['version', 'settings', 'heartbeat_at']).execute(),
  )
  expect(await stored).toEqual([{ version: 2, settings: '{"a":1}', heartbeat_at: 7 }])
})

test('messages that wait and were never attempted become due', async () => {
  await world.all.telemetry((tx) => makeUnattemptedDue(tx, { orderKey, now: storedAt + 5 }))
  const due = await world.write(({ kysely }) =>
    kysely.selectFrom('deliveries').select('next_at').orderBy('message').execute(),
  )
  expect(due.map(({ next_at }) => next_at)).toEqual([storedAt, storedAt + 5, storedAt + 5])
})

test('messages that wait are counted and postponed, alone and with those that follow', async () => {
  const { db, all, write } = world
  const [first = 0] = messages
  const counts = await countWaiting(db.system)
  expect(counts.map(({ kind, count }) => [kind, Number(count)])).toEqual([['webhook', 3]])
  const rows = [
    [first, storedAt, storedAt + 10],
    // This message was made due since the decision, so it stays due.
    [messages[1] ?? 0, storedAt, storedAt + 60_000],
  ] as const
  await all.telemetry((tx) => postpone(tx, { channel, rows }))
  await all.telemetry((tx) => postponeFollowers(tx, { channel, orderKey, message: first, nextAt: storedAt + 20 }))
  const due = await write(({ kysely }) =>
    kysely.selectFrom('deliveries').select('next_at').orderBy('message').execute(),
  )
  expect(due.map(({ next_at }) => next_at)).toEqual([storedAt + 10, storedAt + 20, storedAt + 20])
})

test('the oldest messages that wait become due', async () => {
  const window = { channel, now: storedAt + 15, openedBefore: 0, openedUntil: 0, limit: 1 }
  expect(await world.all.telemetry((tx) => makeDue(tx, window))).toEqual([{ message: messages[1] }])
})

test('future times of a channel are replaced with now', async () => {
  const { all, write } = world
  await write(({ kysely }) => kysely.updateTable('channels').set({ delivered_at: 9, failing_since: 3 }).execute())
  await all.telemetry((tx) => repairChannelTimes(tx, { id: channel, now: 5 }))
  const stored = write(({ kysely }) =>
    kysely.selectFrom('channels').select(['delivered_at', 'failing_since']).execute(),
  )
  expect(await stored).toEqual([{ delivered_at: 5, failing_since: 3 }])
})

test('messages are cancelled before their first attempt, and only while their incident is in a given state', async () => {
  const { all } = world
  const [first = 0, second = 0, third = 0] = messages
  const outdated = { channel, message: first, incident: 1, error }
  expect(await all.telemetry((tx) => cancelOutdated(tx, { ...outdated, states: ['RESOLVED'] }))).toEqual([])
  expect(await all.telemetry((tx) => cancelOutdated(tx, { ...outdated, states: ['OPEN'] }))).toEqual([
    { message: first },
  ])
  await update(second, { sequence: 1 })
  const cancelled = await all.telemetry((tx) => cancelMessages(tx, { channel, messages: [second, third], error }))
  expect(cancelled).toEqual([{ message: third }])
  expect(await statesOf()).toEqual(['CANCELLED', 'WAITING', 'CANCELLED'])
})

test('a replay starts what was sent later about the same incident again', async () => {
  const { all } = world
  const [first = 0, second = 0, third = 0] = messages
  for (const [i, message] of [first, second, third].entries())
    await update(message, { state: 'DELIVERED', sequence: i + 1 })
  const restarted = await all.transaction((tx) =>
    restartLater(tx, { channel, messages: [second], digested: [], now: storedAt }),
  )
  expect(restarted).toEqual([{ message: third }])
  expect(await statesOf()).toEqual(['DELIVERED', 'DELIVERED', 'WAITING'])
})

test('a replayed digest starts everything again that was sent later about the incidents that it names', async () => {
  const { all, org, write } = world
  const [, , third = 0] = messages
  await update(third, { state: 'DELIVERED' })
  const data = '{"digest":{"incidentIds":["1","2"]}}'
  const digest = { org, id: 'digest', type: 'incident.digest', order_key: 'digest', created_at: 1, incident_id: null }
  const written = await write(({ kysely }) =>
    kysely
      .insertInto('messages')
      .values({ ...digest, data } as never)
      .returning('number')
      .executeTakeFirstOrThrow(),
  )
  expect(await listDigests(all, { messages: [written.number, third] })).toEqual([{ number: written.number, data }])
  const digested = [[orderKey, third - 1]] as const
  const restarted = await all.transaction((tx) => restartLater(tx, { channel, messages: [], digested, now: storedAt }))
  expect(restarted).toEqual([{ message: third }])
})

test('the incidents that a channel was told about are known, and are marked once when they have grown', async () => {
  const { all, org, put } = world
  expect(await listToldKeys(all, { channel, orderKeys: [orderKey, 'incident 2'] })).toEqual([{ incident_id: 1 }])
  const announced = { org, channel_id: channel, incident_id: 1, message: messages[0] ?? 0, size: 2, has_grown: 0 }
  await put('announced_incidents', announced)
  const grow = () => all.telemetry((tx) => markGrown(tx, { incident: 1, maxSize: 2 }))
  expect([await grow(), await grow()]).toEqual([[{ channel_id: channel }], []])
})

test('a channel that keeps failing is disabled, and its name is read', async () => {
  const { all, write } = world
  await all.telemetry((tx) => disableChannel(tx, { id: channel, reason: 'failing' }))
  const stored = write(({ kysely }) => kysely.selectFrom('channels').select(['enabled', 'disabled_reason']).execute())
  expect(await stored).toEqual([{ enabled: 0, disabled_reason: 'failing' }])
  expect(await findChannelName(all, { id: channel })).toEqual({ name: 'Operations' })
})
