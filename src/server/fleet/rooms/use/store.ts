// SQL of the facts that tell whether rooms are in use: calls, connections and samples with people.

import { sql } from 'kysely'
import { isAnyNumberOf } from '../../../db/queries/any-of.ts'
import { wholeQuery } from '../../../db/queries/query.ts'
import {
  connectionTime,
  endpointState,
  isConnected,
  type PresenceTimes,
  stateSince,
} from '../../../nodes/presence-sql.ts'

export const listDevicesOfRooms = wholeQuery(
  (db, p: PresenceTimes & { org: number; rooms: readonly number[] }, engine) =>
    db
      .selectFrom('endpoints as e')
      .leftJoin('nodes as d', 'd.id', 'e.node_id')
      .leftJoin('samples_latest as s', (j) => j.onRef('s.org', '=', 'e.org').onRef('s.endpoint', '=', 'e.number'))
      .select(['e.room_id', 'e.number', 'e.model', 'e.node_id', 'e.enrolment_time', 'e.call_ended_at'])
      .select(['e.connection', 'e.status_connection'])
      .select(['e.connection_time as changed_at', 's.timestamp as sampled_at'])
      .select(['e.sensors_named', 'e.sensors_measured'])
      .select([isConnected.as('connected'), connectionTime.as('connection_time')])
      .select([endpointState(p).as('state'), stateSince(p).as('since')])
      .select(
        (engine === 'postgres'
          ? sql<string | null>`e.status::json ->> 'inCallStatus'`
          : sql<string | null>`e.status ->> 'inCallStatus'`
        ).as('call'),
      )
      .where('e.org', '=', p.org)
      .where(isAnyNumberOf(engine, 'e.room_id', p.rooms)),
)
export type DeviceRow = Awaited<ReturnType<typeof listDevicesOfRooms>>[number]

/** Lists the connections of endpoints that have ended and reach into the time since `from`. */
export const listSpansSince = wholeQuery((db, p: { org: number; endpoints: readonly number[]; from: number }, engine) =>
  db
    .selectFrom('endpoints as e')
    .innerJoin('connection_spans as s', (j) =>
      j
        .onRef('s.org', '=', 'e.org')
        .onRef('s.endpoint', '=', 'e.number')
        // Only the last span that began before the time can reach into it.
        .on(
          's.since',
          '>=',
          sql<number>`coalesce((select max(x.since) from connection_spans as x
              where x.org = e.org and x.endpoint = e.number and x.since <= cast(${p.from} as bigint)), 0)`,
        ),
    )
    .select(['s.endpoint', 's.since', 's.until', 's.followed_by'])
    .where('e.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'e.number', p.endpoints)),
)

/** How many connections of each endpoint `listSpansBefore` returns at most. */
export const spansPerPage = 100

/** Lists the last connections of endpoints that began before a time. */
export const listSpansBefore = wholeQuery(
  (db, p: { org: number; endpoints: readonly number[]; before: number }, engine) =>
    db
      .selectFrom('endpoints as e')
      .innerJoin('connection_spans as s', (j) =>
        j
          .onRef('s.org', '=', 'e.org')
          .onRef('s.endpoint', '=', 'e.number')
          .on('s.since', '<', p.before)
          .on(
            's.since',
            '>=',
            sql<number>`coalesce((select x.since from connection_spans as x
                where x.org = e.org and x.endpoint = e.number and x.since < cast(${p.before} as bigint)
                order by x.since desc limit 1 offset ${sql.lit(spansPerPage - 1)}), 0)`,
          ),
      )
      .select(['s.endpoint', 's.since', 's.until', 's.followed_by'])
      .where('e.org', '=', p.org)
      .where(isAnyNumberOf(engine, 'e.number', p.endpoints)),
)

interface SampleSlots {
  org: number
  endpoints: readonly number[]
  slots: readonly number[]
  first: number
  last: number
}

/**
 * Lists the time of the newest sample with people of each endpoint, in Unix seconds, in the given slots. Slots and endpoints are named
 * one by one, as in the primary key; the range lets PostgreSQL leave out other partitions.
 */
export const listLastPeople = wholeQuery((db, { org, endpoints, slots, first, last }: SampleSlots, engine) =>
  db
    .selectFrom('samples')
    .select(({ fn }) => ['endpoint', fn.max('timestamp').as('timestamp')])
    .where('org', '=', org)
    .where(isAnyNumberOf(engine, 'slot', slots))
    .where(isAnyNumberOf(engine, 'endpoint', endpoints))
    .$if(engine === 'postgres', (q) => q.where('slot', '>=', first).where('slot', '<=', last))
    .where('people', '>', 0)
    .groupBy('endpoint'),
)

/** Lists the last quarter of an hour with people of each endpoint, from `first` to before `end`. */
export const listLastQuartersWithPeople = wholeQuery(
  (db, p: { org: number; endpoints: readonly number[]; first: number; end: number }, engine) =>
    db
      .selectFrom('sample_quarters')
      .select(({ fn }) => ['endpoint', fn.max('slot').as('slot')])
      .where('org', '=', p.org)
      .where(isAnyNumberOf(engine, 'endpoint', p.endpoints))
      .where('slot', '>=', p.first)
      .where('slot', '<', p.end)
      .where('people_max', '>', 0)
      .groupBy('endpoint'),
)
