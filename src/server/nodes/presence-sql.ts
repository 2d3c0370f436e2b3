// Whether a device is connected, and its state, in SQL: the row of the node that its endpoint points at says so. [contract 8.state]
import { type RawBuilder, sql } from 'kysely'
import type { EndpointState } from '../../contract/fleet/endpoints.ts'

/** The times by which the state of an endpoint is decided, in milliseconds. `ReconnectTimes` has the present ones. */
export type PresenceTimes = {
  now: number
  /** A device whose time to come back ends after this is reconnecting now. */
  unknownAfter: number
  /** The grace period: how long devices have to come back. */
  settleMs: number
  /** Devices that were away when the service started have at least until then. */
  settledAt: number
  /** Grace periods that ended before this time are final: such a device went offline when its period ended. */
  lastEnd: number
}

/**
 * 1 or 0, in a query with `leftJoin('nodes as d', 'd.id', 'e.node_id')`. The end of a node is a write to one row, and disconnects
 * all of its devices. A row that is gone counts as ended.
 */
export const isConnected = sql<number>`case d.state when 'up' then 1 else 0 end`

/** The time of the last connect or disconnect, in a query with the same join. The end of the node is a disconnect. */
export const connectionTime: RawBuilder<number | null> =
  sql`case when d.ended_at > e.connection_time then d.ended_at else e.connection_time end`

type Time = RawBuilder<number | null>
const time = (value: number): RawBuilder<number> => sql`cast(${value} as bigint)`

/**
 * Until when a device has time to come back, ignoring restarts of the service: stored as `unknownUntil`, or counted from the end of
 * its node at `endedAt`. Null if both are.
 */
const timeToReturn = (unknownUntil: Time, endedAt: Time, p: PresenceTimes): Time =>
  sql`coalesce(${unknownUntil}, ${endedAt} + ${time(p.settleMs)})`

/** If the service stopped during the grace period, the period starts again at the next start. */
const reconnectsUntilOf = (until: Time, p: PresenceTimes): Time =>
  sql`case when ${until} > ${time(p.lastEnd)} and ${until} < ${time(p.settledAt)} then ${time(p.settledAt)} else ${until} end`

const joined = (p: PresenceTimes): Time =>
  timeToReturn(sql`e.unknown_until`, sql`case d.state when 'up' then null else d.ended_at end`, p)
/** An UPDATE of `endpoints` cannot join. */
const inUpdate = (p: PresenceTimes): Time =>
  timeToReturn(
    sql`endpoints.unknown_until`,
    sql`(select d.ended_at from nodes as d where d.id = endpoints.node_id and d.state <> 'up')`,
    p,
  )

/**
 * Null for a device that is connected, was never connected, or has disconnected by itself. Gateways do not count. Needs the join of
 * `isConnected`.
 */
export const reconnectsUntil = (p: PresenceTimes): Time => reconnectsUntilOf(joined(p), p)

/** Does what `reconnectsUntil` does, in an UPDATE of `endpoints`. */
export const reconnectsUntilInUpdate = (p: PresenceTimes): Time => reconnectsUntilOf(inUpdate(p), p)

type EndpointTable = 'e' | 'endpoints'
const column = (table: EndpointTable, name: string) => sql.ref<number | null>(`${table}.${name}`)

/** Later than every other time. */
const never = time(8_640_000_000_000_000)

/** The source of an endpoint, while the gateway reads it. In every other state the source is away. [contract 15.presence] */
const connectedSource = (table: EndpointTable) => sql`from sources as ps
  where ps.org = ${column(table, 'org')} and ps.id = ${column(table, 'source_id')} and ps.state = 'CONNECTED'`

/** 1 if the gateway of an endpoint, or its source, is away. */
export const isGatewayAway = (
  table: EndpointTable,
): RawBuilder<number> => sql`case when ${column(table, 'via')} is null then 0
  when exists (select 1 from endpoints as g inner join nodes as gn on gn.id = g.node_id and gn.state = 'up'
    where g.org = ${column(table, 'org')} and g.id = ${column(table, 'via')})
  then case when ${column(table, 'source_id')} is null then 0 when exists (select 1 ${connectedSource(table)}) then 0 else 1 end
  else 1 end`

/** When the gateway of an endpoint returned; null while it is away. */
const gatewayReturned = (table: EndpointTable): Time => sql`(select coalesce(g.online_since, g.connection_time)
  from endpoints as g inner join nodes as gn on gn.id = g.node_id and gn.state = 'up'
  where g.org = ${column(table, 'org')} and g.id = ${column(table, 'via')})`

/** When both its gateway and its source had returned; null while one of them is away. */
const sourceReturned = (table: EndpointTable): Time => sql`(select case
    when ps.returned_at > ${gatewayReturned(table)} then ps.returned_at else ${gatewayReturned(table)} end ${connectedSource(table)})`

/**
 * Until when nothing is known about a device that is not connected, because its gateway or its source is away, or returned less than the
 * grace period ago. Null without a gateway.
 */
const hiddenUntil = (
  table: EndpointTable,
  p: PresenceTimes,
): Time => sql`case when ${column(table, 'via')} is not null then coalesce(
  case when ${column(table, 'source_id')} is null then ${gatewayReturned(table)} else ${sourceReturned(table)} end
  + ${time(p.settleMs)}, ${never}) end`

/** Whether nothing is known about a device that is not connected, because its gateway or its source is away or has just returned. */
export const isHidden = (p: PresenceTimes) => sql<boolean>`coalesce(${hiddenUntil('e', p)}, 0) > ${time(p.now)}`

const isUnknown = (p: PresenceTimes) =>
  sql<boolean>`(coalesce(${joined(p)}, 0) > ${time(p.unknownAfter)} or ${isHidden(p)})`

/** When the state UNKNOWN of an endpoint ends without a write; null if it has another state. Needs the join of `isConnected`. */
export const unknownUntil = (p: PresenceTimes): Time => sql`case when d.state = 'up' then null
  when coalesce(${hiddenUntil('e', p)}, 0) > coalesce(${reconnectsUntil(p)}, 0) then ${hiddenUntil('e', p)}
  else ${reconnectsUntil(p)} end`

/**
 * Whether a device that is not connected, and whose state is known, is asleep: it left the network at rest, or was taken from it by the
 * end of its server, gateway or source, and may have gone to sleep since. Needs the join of `isConnected`.
 */
export const isAsleep = sql<boolean>`(e.rest is not null and e.overslept_at is null and e.connection_time is not null
  and (e.rest = 'RESTING' or (e.rest = 'AWAKE' and (e.unknown_until is not null or e.node_id is not null or e.left_with_gateway = 1))))`

/** The only place that decides the state of an endpoint. Needs the join of `isConnected`. */
export const endpointState = (p: PresenceTimes): RawBuilder<EndpointState> =>
  sql`case when d.state = 'up' then 'ONLINE' when ${isUnknown(p)} then 'UNKNOWN' when ${isAsleep} then 'ASLEEP' else 'OFFLINE' end`

/** Since when the endpoint is online, asleep or offline, ignoring restarts of servers and gateways. Needs the join of `isConnected`. */
export const stateSince = (p: PresenceTimes): Time => sql`case
  when d.state = 'up' or ${joined(p)} > ${time(p.unknownAfter)} then coalesce(e.online_since, e.connection_time)
  when e.left_with_gateway = 1 and ${hiddenUntil('e', p)} > ${time(p.now)} then coalesce(e.online_since, e.connection_time)
  else coalesce(e.overslept_at, ${reconnectsUntil(p)}, e.connection_time) end`

/**
 * Whether the row of a device names no connection, and a connect makes it online anew: the device left by itself, and not with its server
 * or its gateway. True of most devices that connect, and decided without another table.
 */
export const isAway = (table: EndpointTable) =>
  sql<boolean>`(${column(table, 'node_id')} is null and ${column(table, 'unknown_until')} is null
    and ${sql.ref(`${table}.left_with_gateway`)} = 0)`

/** The new `online_since` of an endpoint that connects: a device that was online or reconnecting goes on being online. */
export const onlineSinceInUpdate = (p: PresenceTimes, at: number): RawBuilder<number> => sql`case
  when endpoints.left_with_gateway = 1 and ${hiddenUntil('endpoints', p)} > ${time(p.now)}
  then coalesce(endpoints.online_since, endpoints.connection_time, ${time(at)})
  when exists (select 1 from nodes as d where d.id = endpoints.node_id and d.state = 'up') or ${inUpdate(p)} > ${time(p.unknownAfter)}
  then coalesce(endpoints.online_since, endpoints.connection_time, ${time(at)})
  else ${time(at)} end`

/** The start of the last span of endpoint `e` that started before the time: no earlier span can reach into the window. Null without such a span. */
export const lastSince = (before: number) =>
  sql<number | null>`(select max(s.since) from connection_spans s
    where s.org = e.org and s.endpoint = e.number and s.since <= cast(${before} as bigint))`
