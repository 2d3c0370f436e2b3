// SQL of the connections of gateways: when they were away says what is known about their devices. [contract 8.via]
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { isAnyOf } from '../../db/queries/any-of.ts'
import { wholeQuery, wholeQueryOne, writeTelemetry } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { connectionTime, isConnected, lastSince } from '../../nodes/presence-sql.ts'

type Left = { org: number; from: number }
const updateSpansLeft = (db: Kysely<DatabaseSchema>, p: Left, isTheirs: RawBuilder<boolean>) => {
  const devices = db
    .selectFrom('endpoints as e')
    .where('e.org', '=', p.org)
    .where('e.node_id', 'is', null)
    .where(isTheirs)
  return db
    .updateTable('connection_spans')
    .set({
      followed_by: 'UNKNOWN',
      rested: sql<number>`case when endpoint in ${devices.select('e.number').where('e.rest', 'is not', null)} then 1 else 0 end`,
    })
    .where('org', '=', p.org)
    .where('until', '>=', p.from)
    .where('endpoint', 'in', devices.select('e.number'))
}

/** Marks the connections of devices of gateways that ended at a time or later. */
export const updateSpansLeftWithGateways = writeTelemetry((db, p: Left & { gateways: readonly string[] }, engine) =>
  updateSpansLeft(db, p, isAnyOf(engine, 'e.via', p.gateways) as RawBuilder<boolean>),
)

/** Does the same for devices of a source. */
export const updateSpansLeftWithSource = writeTelemetry((db, p: Left & { source: string }) =>
  updateSpansLeft(db, p, sql<boolean>`e.source_id = ${p.source}`),
)

/** The connection that the row of a gateway names, whether the caller sees the gateway or not. */
export const findGatewayConnection = wholeQueryOne((db, p: { org: number; gateway: string }) =>
  db
    .selectFrom('endpoints as e')
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .select(['e.node_id', 'e.connection_time as changed_at'])
    .select([isConnected.as('connected'), connectionTime.as('connection_time')])
    .where('e.org', '=', p.org)
    .where('e.id', '=', p.gateway),
)

type GatewayPage = { org: number; gateway: string; from: number; after: number; limit: number }

/** Lists a page of the spans of a gateway since a time, the oldest first, and the last one before. `after` is the start of the last span of the page before. */
export const listGatewaySpans = wholeQuery((db, p: GatewayPage) =>
  db
    .selectFrom('endpoints as e')
    .innerJoin('connection_spans as s', (j) => j.onRef('s.org', '=', 'e.org').onRef('s.endpoint', '=', 'e.number'))
    .select(['s.since', 's.until'])
    .where('e.org', '=', p.org)
    .where('e.id', '=', p.gateway)
    .where('s.since', '>=', sql<number>`coalesce(${lastSince(p.from)}, 0)`)
    .where('s.since', '>', p.after)
    .orderBy('s.since')
    .limit(p.limit),
)
