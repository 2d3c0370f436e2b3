// Whether a device is connected, and its state, in SQL: the row of the node that its endpoint points at says so. [contract 8.state]
import { type RawBuilder, sql } from 'kysely'
import type { EndpointState } from '../../contract/fleet/endpoints.ts'

/** The times by which the state of an endpoint is decided, in milliseconds. `ReconnectTimes` has the present ones. */
export type PresenceTimes = {
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

/** Null for a device that is connected, was never connected, or has disconnected by itself. Needs the join of `isConnected`. */
export const reconnectsUntil = (p: PresenceTimes): Time => reconnectsUntilOf(joined(p), p)

/** Does what `reconnectsUntil` does, in an UPDATE of `endpoints`. */
export const reconnectsUntilInUpdate = (p: PresenceTimes): Time => reconnectsUntilOf(inUpdate(p), p)

/** The only place that decides the state of an endpoint. Needs the join of `isConnected`. */
export const endpointState = (p: PresenceTimes): RawBuilder<EndpointState> =>
  sql`case when d.state = 'up' then 'ONLINE' when ${joined(p)} > ${time(p.unknownAfter)} then 'UNKNOWN' else 'OFFLINE' end`

/** Since when the endpoint is online or offline, ignoring server restarts. Needs the join of `isConnected`. */
export const stateSince = (p: PresenceTimes): Time => sql`case
  when d.state = 'up' or ${joined(p)} > ${time(p.unknownAfter)} then coalesce(e.online_since, e.connection_time)
  else coalesce(${reconnectsUntil(p)}, e.connection_time) end`

/** The new `online_since` of an endpoint that connects: a device that was online or reconnecting goes on being online. */
export const onlineSinceInUpdate = (p: PresenceTimes, at: number): RawBuilder<number> => sql`case
  when endpoints.node_id is null and endpoints.unknown_until is null then ${time(at)}
  when exists (select 1 from nodes as d where d.id = endpoints.node_id and d.state = 'up') or ${inUpdate(p)} > ${time(p.unknownAfter)}
  then coalesce(endpoints.online_since, endpoints.connection_time, ${time(at)})
  else ${time(at)} end`
