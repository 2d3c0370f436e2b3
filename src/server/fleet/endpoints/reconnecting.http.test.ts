// Devices after a server stopped: they are reconnecting until they are back, or their time is over. [contract 8.state]
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { deviceOfRow, putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { newPlace, quickTasks, quiet, startHarness, TestClock } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { makeClient } from '../../../client/client.ts'
import { hourMs, minuteMs, secondMs } from '../../../contract/durations.ts'
import type { ConnectionEnd } from '../../../contract/fleet/connections.ts'
import { sinceOfListed, stateOfListed } from '../../../contract/fleet/endpoints.ts'
import { type Service, startService } from '../../app.ts'
import { tokenHash } from '../../auth/token.ts'
import type { Services } from '../../context/services.ts'
import { openDatabase } from '../../db/open.ts'
import { insertNode, listNodeLives } from '../../nodes/store.ts'
import { clearEndedNodes } from './ended-nodes.ts'
import { markConnected, markDisconnected } from './presence.ts'

const settleMs = 10 * minuteMs
const iso = (ms: number) => new Date(ms).toISOString()

type Row = Awaited<ReturnType<typeof putEndpoints>>[number]

/** Connects a device, or ends its connection, as its session does. */
const connectionOf = (services: Services, row: Row, orgId: string) => {
  const device = deviceOfRow({ key: row.org, id: orgId }, row)
  const credentialHash = tokenHash(row.id).toString('hex')
  const begin = { device, since: services.clock.now(), credentialHash, nodeId: 0, number: 0 }
  return {
    connect: async () => expect(await markConnected(services, begin)).toBeDefined(),
    disconnect: (why: ConnectionEnd) => markDisconnected(services, begin, why),
  }
}

const putCredentials = (services: Services, rows: readonly Row[]) =>
  services.db.systemTransaction(({ kysely }) =>
    kysely
      .insertInto('credential_directory')
      .values(rows.map(({ id, org }) => ({ hash: tokenHash(id), org, endpoint_id: id })))
      .execute(),
  )

/** A service that is stopped and started, with the same clock and database. */
async function startRestartable() {
  const { place, remove } = await newPlace({ hasTables: true })
  const clock = new TestClock()
  clock.fix(Date.UTC(2026, 4, 4, 8))
  const start = () =>
    startService({ ...quiet, ...place, port: 0, stopDelaySeconds: 0 }, pino({ level: 'silent' }), {
      clock,
      ...quickTasks,
    })
  let service: Service = await start()
  const { org: orgId = '', key = '' } = service.first ?? {}
  onTestFinished(async () => {
    await service.close()
    await remove()
  })
  const orgs = service.services.db.system.kysely.selectFrom('orgs').selectAll()
  const org = await orgs.where('id', '=', orgId).executeTakeFirstOrThrow()
  /** Leaves the row of the node as a crash does: it still says `up`. */
  const pretendCrash = async (): Promise<void> => {
    const { db } = await openDatabase(place, { isLocked: true, mustExist: true, onError() {} })
    await db.systemTransaction(async ({ kysely }) => {
      const { id } = await kysely.selectFrom('nodes').select('id').orderBy('id', 'desc').executeTakeFirstOrThrow()
      await kysely.updateTable('nodes').set({ state: 'up', ended_at: null }).where('id', '=', id).execute()
    })
    await db.close()
  }
  return {
    clock,
    org: { org: { key: org.key, id: orgId } } as never,
    api: () => makeClient({ baseUrl: service.url, org: orgId, token: key }),
    services: () => service.services,
    connection: (row: Row) => connectionOf(service.services, row, orgId),
    async restart(pauseMs: number, isCrash = false) {
      await service.close()
      if (isCrash) await pretendCrash()
      const endedAt = clock.now()
      clock.advance(pauseMs)
      service = await start()
      return { endedAt, startedAt: clock.now() }
    },
  }
}

test('after a restart devices that were connected are reconnecting until they are back or --settle is over, and then online or offline since then [contract 8.state] [contract 10.connections]', async () => {
  const { clock, org, api, services, connection, restart } = await startRestartable()
  const [fjord, skog] = [
    (await api().roomsCreate({ body: { name: 'Fjord' } })).body.id,
    (await api().roomsCreate({ body: { name: 'Skog' } })).body.id,
  ]
  const rows = await putEndpoints({ services: services() }, org, [
    { room_id: fjord },
    { room_id: fjord },
    { room_id: skog },
    { room_id: skog },
  ])
  const [quick, slow, gone, never] = rows as [Row, Row, Row, Row]
  await putCredentials(services(), rows)
  const presence = async ({ id }: Row) => {
    const { state, since, connected, connectionTime } = (await api().endpointsGet({ id })).body
    const listed = (await api().endpointsBasicList()).body.endpoints.find((one) => one.id === id)
    const { roomId } = (await api().endpointsGet({ id })).body
    const inRoom = (await api().roomsGet({ id: roomId ?? 0 })).body.endpoints.find((one) => one.id === id)
    expect(inRoom).toMatchObject({ state, connected, ...(since && { since }) })
    expect(listed && [stateOfListed(listed), listed.connected, sinceOfListed(listed)]).toEqual([
      state,
      connected,
      since,
    ])
    return { state, since, connected, connectionTime }
  }
  const room = async (id: number) => {
    const { state, connectedCount, unknownCount } =
      (await api().roomsList()).body.rooms.find((one) => one.id === id) ?? {}
    expect((await api().roomsGet({ id })).body.state).toBe(state)
    return { state, connectedCount, unknownCount }
  }

  const monday = clock.now()
  for (const row of [quick, slow, gone]) await connection(row).connect()
  clock.advance(hourMs)
  await connection(gone).disconnect('LOST')
  const goneAt = clock.now()
  clock.advance(hourMs)
  expect(await presence(quick)).toEqual({
    state: 'ONLINE',
    since: iso(monday),
    connected: true,
    connectionTime: iso(monday),
  })
  expect(await presence(never)).toEqual({
    state: 'OFFLINE',
    since: undefined,
    connected: false,
    connectionTime: undefined,
  })

  const first = await restart(5 * minuteMs)
  const away = { state: 'UNKNOWN', since: iso(monday), connected: false, connectionTime: iso(first.endedAt) }
  expect([await presence(quick), await presence(slow)]).toEqual([away, away])
  const offline = { state: 'OFFLINE', since: iso(goneAt), connected: false, connectionTime: iso(goneAt) }
  expect(await presence(gone)).toEqual(offline)
  expect(await room(fjord)).toEqual({ state: 'UNKNOWN', connectedCount: 0, unknownCount: 2 })
  expect(await room(skog)).toEqual({ state: 'OFFLINE', connectedCount: 0, unknownCount: undefined })

  clock.advance(minuteMs)
  await connection(quick).connect()
  const backAt = clock.now()
  const back = { state: 'ONLINE', since: iso(monday), connected: true, connectionTime: iso(backAt) }
  expect(await presence(quick)).toEqual(back)
  expect(await room(fjord)).toEqual({ state: 'HEALTHY', connectedCount: 1, unknownCount: 1 })
  clock.advance(minuteMs)
  await clearEndedNodes(services(), new AbortController().signal)
  expect(await presence(slow)).toEqual(away)

  // A second restart, before the time after the first one was over: it begins again.
  const second = await restart(secondMs)
  expect(await presence(quick)).toEqual({
    ...back,
    state: 'UNKNOWN',
    connected: false,
    connectionTime: iso(second.endedAt),
  })
  expect(await presence(slow)).toEqual(away)
  await connection(quick).connect()
  clock.advance(settleMs - 1)
  expect(await presence(slow)).toEqual(away)
  // No write says that the time is over.
  clock.advance(1)
  const settledAt = second.startedAt + settleMs
  expect(await presence(slow)).toEqual({ ...away, state: 'OFFLINE', since: iso(settledAt) })
  expect(await room(fjord)).toEqual({ state: 'DEGRADED', connectedCount: 1, unknownCount: undefined })

  // A later restart does not make it reconnecting again.
  await clearEndedNodes(services(), new AbortController().signal)
  clock.advance(hourMs)
  const third = await restart(secondMs)
  expect(await presence(slow)).toEqual({ ...away, state: 'OFFLINE', since: iso(settledAt) })
  await connection(quick).connect()
  clock.advance(minuteMs)
  await connection(slow).connect()
  const slowAt = clock.now()
  const online = { state: 'ONLINE', since: iso(slowAt), connected: true, connectionTime: iso(slowAt) }
  expect(await presence(slow)).toEqual(online)
  expect(await presence(quick)).toMatchObject({ state: 'ONLINE', since: iso(monday) })

  clock.advance(hourMs)
  const connections = async ({ id }: Row) => (await api().endpointsConnections({ id, from: monday })).body
  const ofQuick = await connections(quick)
  expect(ofQuick).toMatchObject({ onlineShare: 1, outages: 0, longestOutageSeconds: 0 })
  const ended = { why: 'SERVER_ENDED', followedBy: 'UNKNOWN' }
  expect(ofQuick.spans.map(({ why, followedBy }) => ({ why, followedBy }))).toEqual([
    ended,
    ended,
    ended,
    { why: undefined, followedBy: undefined },
  ])
  expect(ofQuick.gaps.map(({ state, to }) => ({ state, to }))).toEqual([
    { state: 'UNKNOWN', to: iso(backAt) },
    { state: 'UNKNOWN', to: iso(second.startedAt) },
    { state: 'UNKNOWN', to: iso(third.startedAt) },
  ])
  const ofSlow = await connections(slow)
  const outageMs = slowAt - settledAt
  const onlineMs = first.endedAt - monday + hourMs
  expect(ofSlow).toMatchObject({ outages: 1, longestOutageSeconds: outageMs / 1000 })
  expect(ofSlow.onlineShare).toBeCloseTo(onlineMs / (onlineMs + outageMs), 10)
  // A window that begins while the device was reconnecting.
  const cut = (await api().endpointsConnections({ id: slow.id, from: first.startedAt, to: settledAt })).body
  expect(cut).toMatchObject({ outages: 0, spans: [] })
  expect(cut.onlineShare).toBeUndefined()
  const ofRoom = (await api().roomsConnections({ id: fjord, from: monday })).body
  expect(ofRoom).toMatchObject({ onlineShare: 1, outages: 0, longestOutageSeconds: 0 })
  expect(await connections(gone)).toMatchObject({ outages: 1, longestOutageSeconds: (clock.now() - goneAt) / 1000 })
})

test('a device that was on when its server ended may have gone to sleep: it is asleep when --settle is over [contract 8.state]', async () => {
  const { clock, org, api, services, connection, restart } = await startRestartable()
  const status = JSON.stringify({ sleeps: true, power: 'ON' })
  const rows = await putEndpoints({ services: services() }, org, [{ rest: 'AWAKE', status }])
  const [row] = rows as [Row]
  await putCredentials(services(), rows)
  const connectedAt = clock.now()
  await connection(row).connect()
  clock.advance(hourMs)
  const { endedAt, startedAt } = await restart(secondMs)
  const settledAt = startedAt + settleMs
  const presence = async () => {
    const { state, since } = (await api().endpointsGet({ id: row.id })).body
    return { state, since }
  }
  expect(await presence()).toEqual({ state: 'UNKNOWN', since: iso(connectedAt) })
  clock.advance(settleMs - 1)
  expect(await presence()).toEqual({ state: 'UNKNOWN', since: iso(connectedAt) })
  clock.advance(1)
  const asleep = { state: 'ASLEEP', since: iso(settledAt) }
  expect(await presence()).toEqual(asleep)
  await clearEndedNodes(services(), new AbortController().signal)
  clock.advance(hourMs)
  expect(await presence(), 'the row no longer names the node').toEqual(asleep)
  expect((await api().endpointsConnections({ id: row.id, from: connectedAt })).body).toMatchObject({
    outages: 0,
    onlineShare: 1,
    spans: [{ why: 'SERVER_ENDED', followedBy: 'UNKNOWN' }],
    gaps: [
      { state: 'UNKNOWN', from: iso(endedAt), to: iso(settledAt) },
      { state: 'ASLEEP', from: iso(settledAt), to: iso(clock.now()) },
    ],
  })
  await connection(row).connect()
  await connection(row).disconnect('LOST')
  expect(await presence(), 'it vanished while it was on').toMatchObject({ state: 'OFFLINE' })
})

test('after a crash during the grace period and a long downtime, devices of the run before are reconnecting; after a later crash they stay offline [contract 8.state]', async () => {
  const { clock, org, api, services, connection, restart } = await startRestartable()
  const rows = await putEndpoints({ services: services() }, org, [{}, {}])
  const [quick, slow] = rows as [Row, Row]
  await putCredentials(services(), rows)
  const connectedAt = clock.now()
  for (const row of rows) await connection(row).connect()
  const presence = async ({ id }: Row) => {
    const { state, since } = (await api().endpointsGet({ id })).body
    return { state, since }
  }
  const reconnecting = { state: 'UNKNOWN', since: iso(connectedAt) }
  const clear = () => clearEndedNodes(services(), new AbortController().signal)
  clock.advance(hourMs)
  await restart(secondMs)
  clock.advance(minuteMs)
  await clear()
  await connection(quick).connect()
  const { startedAt } = await restart(5 * hourMs, true)
  expect(await presence(quick)).toEqual(reconnecting)
  expect(await presence(slow)).toEqual(reconnecting)

  await connection(quick).connect()
  await clear()
  clock.advance(settleMs)
  const offline = { state: 'OFFLINE', since: iso(startedAt + settleMs) }
  expect(await presence(slow)).toEqual(offline)
  const nodes = () => services().db.system.kysely.selectFrom('nodes').select('seen_at').orderBy('id', 'desc')
  await until('the node to store that it has run until now', async () => {
    const { seen_at } = await nodes().executeTakeFirstOrThrow()
    return seen_at === clock.now()
  })
  await restart(5 * hourMs, true)
  expect(await presence(quick)).toEqual(reconnecting)
  expect(await presence(slow)).toEqual(offline)
})

test('when one of several nodes ends, its devices are reconnecting, and those of other nodes are not [contract 8.state]', async () => {
  const service = await startHarness()
  onTestFinished(() => service.close())
  const { db, node } = service.services
  const org = await service.newOrg()
  const since = service.clock.now() - hourMs
  const dead = await db.systemTransaction(
    async (on) => (await insertNode(on, { name: 'east', process: 'east', version: '0', at: since }))?.id ?? 0,
  )
  await db.systemTransaction(({ kysely }) =>
    kysely
      .updateTable('nodes')
      .set({ started_at: since })
      .where('id', '=', node?.id ?? 0)
      .execute(),
  )
  service.services.reconnects.load(await listNodeLives(db.system))
  const rows = await putEndpoints(service, org, [
    { node_id: dead, connection_time: since, connection: 1 },
    { connected: 1, connection_time: since },
  ])
  const states = async () => {
    const { endpoints } = (await org.call('GET', '/endpoints')).body
    return rows.map(({ id }) => stateOfListed(endpoints.find((one: { id: string }) => one.id === id)))
  }
  expect(await states()).toEqual(['ONLINE', 'ONLINE'])
  await db.systemTransaction(({ kysely }) =>
    kysely.updateTable('nodes').set({ state: 'dead', ended_at: service.clock.now() }).where('id', '=', dead).execute(),
  )
  db.invalidateAll()
  expect(await states()).toEqual(['UNKNOWN', 'ONLINE'])
  service.clock.advance(settleMs)
  expect(await states()).toEqual(['OFFLINE', 'ONLINE'])
})

test('a device that the server itself disconnects is reconnecting; one that leaves by itself is offline [contract 8.state]', async () => {
  const service = await startHarness()
  onTestFinished(() => service.close())
  const org = await service.newOrg()
  service.clock.fix(service.clock.now())
  const rows = await putEndpoints(service, org, [{}, {}, {}])
  await putCredentials(service.services, rows)
  const of = (row: Row | undefined) => connectionOf(service.services, row as Row, org.org.id)
  const since = service.clock.now()
  for (const row of rows) await of(row).connect()
  service.clock.advance(minuteMs)
  const at = service.clock.now()
  await of(rows[0]).disconnect('SERVER_ENDED')
  await of(rows[1]).disconnect('LOST')
  // The device connects again before the server knows that its connection is gone.
  await of(rows[2]).connect()
  const { endpoints } = (await org.call('GET', '/endpoints')).body
  const found = rows.map(({ id }) => endpoints.find((one: { id: string }) => one.id === id))
  expect(found.map((one) => ({ state: stateOfListed(one), since: sinceOfListed(one) }))).toEqual([
    { state: 'UNKNOWN', since: iso(since) },
    { state: 'OFFLINE', since: iso(at) },
    { state: 'ONLINE', since: iso(since) },
  ])
})
