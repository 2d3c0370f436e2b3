// SQL of connection spans: the ended connections of endpoints. The row of an endpoint has the present one. [contract 10.connections]

import { type Expression, type Kysely, sql } from 'kysely'
import type { EngineName } from '../../db/engine.ts'
import { isAnyNumberOf, isAnyOf } from '../../db/queries/any-of.ts'
import { byUuid } from '../../db/queries/by-uuid.ts'
import { jsonRows } from '../../db/queries/json-rows.ts'
import { visibleQuery, visibleQueryOne, wholeQuery, write, writeTelemetry } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { systemWrite } from '../../db/system.ts'
import {
  connectionTime,
  isAsleep,
  isConnected,
  isGatewayAway,
  lastSince,
  type PresenceTimes,
  reconnectsUntil,
} from '../../nodes/presence-sql.ts'

type ConnectionEnd = DatabaseSchema['connection_spans']['why']
type FollowingState = 'ASLEEP' | 'UNKNOWN' | 'OFFLINE'

/** Endpoints whose row names a connection, with the node of that connection as `d`. */
const selectConnections = (db: Kysely<DatabaseSchema>, engine: EngineName) =>
  db
    .selectFrom('endpoints as e')
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .where(hasConnection)
    .$if(engine === 'postgres', (q) => q.forUpdate('e'))

const hasConnection = sql<boolean>`e.node_id is not null and e.connection_time is not null`

/**
 * The span of a connection that ends. If its node has ended, the connection ended with it, whatever ends it now. Clocks of two nodes
 * differ, so an end can seem to be before its start: such a span is empty.
 */
const spanColumns = (p: PresenceTimes, at: number, why: ConnectionEnd, unknownUntil: number | null = null) => {
  const isKnown = sql<boolean>`coalesce(d.state, '') = 'up' and cast(${unknownUntil} as bigint) is null and ${isGatewayAway('e')} = 0`
  const end = sql<number>`case d.state when 'up' then cast(${at} as bigint) else coalesce(d.ended_at, 0) end`
  return [
    sql<number>`e.org`.as('org'),
    sql<number>`e.number`.as('endpoint'),
    sql<number>`e.connection_time`.as('since'),
    sql<number>`case when ${end} > e.connection_time then ${end} else e.connection_time end`.as('until'),
    sql<ConnectionEnd>`case d.state when 'up' then cast(${why} as text) else 'SERVER_ENDED' end`.as('why'),
    sql<number | null>`case d.state when 'up' then cast(${unknownUntil} as bigint) else ${reconnectsUntil(p)} end`.as(
      'unknown_until',
    ),
    // No time follows a connection that another one replaced.
    sql<FollowingState | null>`case when cast(${why} as text) = 'REPLACED' and d.state = 'up' then null
      when not (${isKnown}) then 'UNKNOWN' when e.rest = 'RESTING' then 'ASLEEP' else 'OFFLINE' end`.as('followed_by'),
    sql<number>`case when e.rest = 'RESTING' or (e.rest = 'AWAKE' and not (${isKnown})) then 1 else 0 end`.as('rested'),
    sql<string | null>`e.via`.as('via'),
    sql<string | null>`e.source_id`.as('source_id'),
  ]
}

/** Two connections that started within a millisecond count as one. */
const insertSpans = (db: Kysely<DatabaseSchema>, spans: Expression<object>) =>
  db
    .insertInto('connection_spans')
    .columns(['org', 'endpoint', 'since', 'until', 'why', 'unknown_until', 'followed_by', 'rested', 'via', 'source_id'])
    .expression(spans as Expression<never>)
    .onConflict((c) =>
      c
        .columns(['org', 'endpoint', 'since'])
        .doUpdateSet((e) => ({
          until: e.ref('excluded.until'),
          why: e.ref('excluded.why'),
          unknown_until: e.ref('excluded.unknown_until'),
          followed_by: e.ref('excluded.followed_by'),
          rested: e.ref('excluded.rested'),
          via: e.ref('excluded.via'),
          source_id: e.ref('excluded.source_id'),
        }))
        .whereRef('excluded.until', '>', 'connection_spans.until'),
    )

type Ending = PresenceTimes & { org: number; id: string; at: number }

/**
 * Ends the connection that the row of an endpoint still names, if the credential is valid; call it before `updateConnected`. On
 * PostgreSQL the row is locked whether it names one or not: otherwise a connection at another node could start between the two
 * statements, and its span would be lost.
 */
export const insertReplacedSpan = writeTelemetry((db, p: Ending & { hash: Buffer }, engine) =>
  insertSpans(
    db,
    (engine === 'postgres' ? fromLockedEndpoint(db, p) : db.selectFrom('endpoints as e'))
      .leftJoin('nodes as d', 'd.id', 'e.node_id')
      .where('e.org', '=', p.org)
      .where('e.id', '=', p.id)
      .where(hasConnection)
      .where(({ exists, selectFrom }) =>
        exists(selectFrom('credential_directory').select('hash').where('hash', '=', p.hash)),
      )
      .select(spanColumns(p, p.at, 'REPLACED')),
  ),
)

/** PostgreSQL locks the rows of a materialized expression before it evaluates conditions outside of it. */
const fromLockedEndpoint = (db: Kysely<DatabaseSchema>, p: { org: number; id: string }) =>
  db
    .with(
      (cte) => cte('locked').materialized(),
      (q) => q.selectFrom('endpoints').selectAll().where('org', '=', p.org).where('id', '=', p.id).forUpdate(),
    )
    .selectFrom('locked as e')

/** Ends the connection with this number. 0 means whichever connection of the endpoint this node has. Call it before the endpoint's row is changed. */
export const insertEndedSpan = writeTelemetry(
  (db, p: Ending & { node: number; connection: number; why: ConnectionEnd; unknownUntil: number | null }, engine) =>
    insertSpans(
      db,
      selectConnections(db, engine)
        .select(spanColumns(p, p.at, p.why, p.unknownUntil))
        .where('e.org', '=', p.org)
        .where('e.id', '=', p.id)
        .where('e.node_id', '=', p.node)
        .where(sql<boolean>`cast(${p.connection} as integer) in (0, e.connection)`),
    ),
)

/** Ends the connections of endpoints whose node has ended. */
export const insertSpansOfEndedNode = writeTelemetry(
  (db, p: PresenceTimes & { org: number; ids: readonly string[] }, engine) =>
    insertSpans(
      db,
      selectConnections(db, engine)
        .select(spanColumns(p, 0, 'SERVER_ENDED'))
        .where('e.org', '=', p.org)
        .where(isAnyOf(engine, 'e.id', p.ids)),
    ),
)

/** Extends the grace periods that the last stop interrupted. */
export const updateUnknownUntil = writeTelemetry(
  (db, p: { org: number; endpoints: readonly number[]; lastEnd: number; settledAt: number }, engine) =>
    db
      .updateTable('connection_spans')
      .set({ unknown_until: p.settledAt })
      .where('org', '=', p.org)
      .where(isAnyNumberOf(engine, 'endpoint', p.endpoints))
      .where('unknown_until', '>', p.lastEnd)
      .where('unknown_until', '<', p.settledAt),
)

/** Marks the last spans of devices that have slept for too long. */
export const updateSpansOverslept = writeTelemetry(
  (db, p: { org: number; endpoints: readonly number[]; at: number }, engine) =>
    db
      .updateTable('connection_spans')
      .set({ overslept_at: p.at })
      .where('org', '=', p.org)
      .where(isAnyNumberOf(engine, 'endpoint', p.endpoints))
      .where(
        'since',
        '=',
        sql<number>`(select max(s.since) from connection_spans s
          where s.org = connection_spans.org and s.endpoint = connection_spans.endpoint)`,
      ),
)

/** Ends the connection of an endpoint that is unenrolled. Call it before its row is deleted. */
export const insertUnenrolledSpan = write((db, p: Ending, engine) =>
  insertSpans(
    db,
    selectConnections(db, engine)
      .select(spanColumns(p, p.at, 'UNENROLLED'))
      .where('e.org', '=', p.org)
      .where('e.id', '=', p.id),
  ),
)

/** Ends the connections of all endpoints of a room that is deleted with them. */
export const insertUnenrolledSpansInRoom = write(
  (db, p: PresenceTimes & { org: number; room: number; at: number }, engine) =>
    insertSpans(
      db,
      selectConnections(db, engine)
        .select(spanColumns(p, p.at, 'UNENROLLED'))
        .where('e.org', '=', p.org)
        .where('e.room_id', '=', p.room),
    ),
)

/** The connection that the row of an endpoint names, if any, with the bounds of its earlier ones. */
const selectHistories = (db: Kysely<DatabaseSchema>, p: PresenceTimes & { org: number; from: number }) =>
  db
    .selectFrom('endpoints as e')
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .select(['e.id', 'e.number', 'e.node_id', 'e.connection_time as changed_at'])
    .select([isConnected.as('connected'), connectionTime.as('connection_time'), lastSince(p.from).as('last_since')])
    .select([reconnectsUntil(p).as('unknown_until'), 'e.via', 'e.source_id', 'e.overslept_at'])
    .select(sql<number>`case when ${isAsleep} then 1 else 0 end`.as('rested'))
    .select(
      sql<number | null>`(select min(s.since) from connection_spans s
        where s.org = e.org and s.endpoint = e.number)`.as('first_since'),
    )
    .where('e.org', '=', p.org)

export const findHistory = byUuid(
  visibleQueryOne('room', 'e.room_id', (db, p: PresenceTimes & { org: number; id: string; from: number }) =>
    selectHistories(db, p).where('e.id', '=', p.id),
  ),
)
export type HistoryRow = NonNullable<Awaited<ReturnType<typeof findHistory>>>

export const listHistoriesInRoom = visibleQuery(
  'room',
  'e.room_id',
  (db, p: PresenceTimes & { org: number; room: number; from: number }) =>
    selectHistories(db, p).where('e.room_id', '=', p.room).orderBy('e.id'),
)

/** For reports, of endpoints in rooms that the caller sees: a device counts where it was then. */
export const listHistoriesOfEndpoints = wholeQuery(
  (db, p: PresenceTimes & { org: number; endpoints: readonly number[]; from: number }, engine) =>
    selectHistories(db, p).where(isAnyNumberOf(engine, 'e.number', p.endpoints)),
)

const spanFactColumns = [
  's.endpoint',
  's.since',
  's.until',
  's.why',
  's.unknown_until',
  's.followed_by',
  's.rested',
  's.overslept_at',
  's.via',
  's.source_id',
] as const

/** Lists the last span of each endpoint that started at a time or before. */
export const listLastSpansUntil = wholeQuery(
  (db, p: { org: number; endpoints: readonly (readonly [number])[]; from: number }, engine) =>
    db
      .selectFrom(jsonRows<{ number: number }>(engine, p.endpoints, { number: 'integer' }).as('n'))
      // SQLite joins the tables of a cross join in the order in which they are written: one search for each endpoint.
      .crossJoin('connection_spans as s')
      .select(spanFactColumns)
      .where('s.org', '=', p.org)
      .whereRef('s.endpoint', '=', 'n.number')
      .where(
        's.since',
        '=',
        sql<number>`(select max(l.since) from connection_spans l
          where l.org = ${p.org} and l.endpoint = n.number and l.since <= cast(${p.from} as bigint))`,
      ),
)

/** Lists spans that started between two times, by endpoint and start. */
export const listSpansOfEndpoints = wholeQuery(
  (db, p: { org: number; endpoints: readonly number[]; from: number; to: number; limit: number }, engine) =>
    db
      .selectFrom('connection_spans as s')
      .select(spanFactColumns)
      .where('s.org', '=', p.org)
      .where(isAnyNumberOf(engine, 's.endpoint', p.endpoints))
      .where('s.since', '>', p.from)
      .where('s.since', '<', p.to)
      .orderBy('s.endpoint')
      .orderBy('s.since')
      .limit(p.limit),
)
export type EndpointSpanRow = Awaited<ReturnType<typeof listSpansOfEndpoints>>[number]

/** Lists spans of an endpoint that started at a time or later and before another, the oldest first. */
export const listSpans = visibleQuery(
  'endpointNumber',
  's.endpoint',
  (db, p: { org: number; endpoint: number; since: number; before: number; limit: number }) =>
    db
      .selectFrom('connection_spans as s')
      .select([
        's.since',
        's.until',
        's.why',
        's.unknown_until',
        's.followed_by',
        's.rested',
        's.overslept_at',
        's.via',
        's.source_id',
      ])
      .where('s.org', '=', p.org)
      .where('s.endpoint', '=', p.endpoint)
      .where('s.since', '>=', p.since)
      .where('s.since', '<', p.before)
      .orderBy('s.since')
      .limit(p.limit),
)

/** Deletes at most `limit` spans of all organisations that ended before a time, and returns them. */
export const deleteOldSpanRows = systemWrite((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('connection_spans')
    .where(
      (e) => e.refTuple('org', 'endpoint', 'since'),
      'in',
      (e) =>
        e
          .selectFrom('connection_spans as s')
          .select(['s.org', 's.endpoint', 's.since'])
          .where('s.until', '<', p.before)
          .limit(p.limit)
          .$asTuple('org', 'endpoint', 'since'),
    )
    .returning('since'),
)
