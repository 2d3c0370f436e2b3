// SQL of the endpoints that the engine of incidents reads: whether they are connected, their status and their latest sample.

import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { isAnyNumberOf, isAnyOf } from '../../../db/queries/any-of.ts'
import { endsOnPurpose, isSwitchedOff, restartGrace } from '../../../db/queries/on-purpose.ts'
import { wholeQuery } from '../../../db/queries/query.ts'
import type { DatabaseSchema } from '../../../db/schema/schema.ts'
import { connectionTime, isAsleep, isConnected, isHidden, type PresenceTimes } from '../../../nodes/presence-sql.ts'

/**
 * A restart is under way from the time at which the device was told until it is back, or its deadline passes. A device that disconnected
 * because of it has 10 minutes to come back. One that left the network after it was switched off stays away on purpose, for as long as it
 * likes. [contract 12.when] [contract 8.power]
 */
const isRestarting = (now: number): RawBuilder<number> => sql`case when d.state = 'up' then 0
  when exists (select 1 from operations as o where o.org = e.org and o.endpoint_id = e.id and o.type = 'REBOOT'
    and ((o.state in ('SENT', 'ACKNOWLEDGED') and o.deadline > ${now})
      or (${endsOnPurpose(sql`e.connection_time`)} and e.connection_time + ${restartGrace} > ${now})))
  then 1
  when ${isSwitchedOff} then 1 else 0 end`

const isDisconnected = sql<SqlBool>`coalesce(d.state, '') <> 'up'`

type Now = PresenceTimes & { org: number }

const observed = (db: Kysely<DatabaseSchema>, p: Now) =>
  db
    .selectFrom('endpoints as e')
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .select(['e.id', 'e.status', 'e.room_id', 'e.via', 'e.source_type', 'e.overslept_at'])
    .select(isConnected.as('connected'))
    .select(connectionTime.as('connection_time'))
    .select(isRestarting(p.now).as('restarting'))
    .select(sql<number>`case when ${isHidden(p)} then 1 else 0 end`.as('hidden'))
    .select(sql<number>`case when ${isAsleep} then 1 else 0 end`.as('asleep'))
    .where('e.org', '=', p.org)

type Window = Now & { from: number; to: number }

/** Lists the endpoints that disconnected within a window of time and are not connected. */
export const listDisconnectedWithin = wholeQuery((db, p: Window) =>
  observed(db, p)
    .where('e.connection_time', '>=', p.from)
    .where('e.connection_time', '<=', p.to)
    .where(isDisconnected)
    .where(sql<SqlBool>`coalesce(d.ended_at, 0) <= ${p.to}`),
)
export type ObservedEndpoint = Awaited<ReturnType<typeof listDisconnectedWithin>>[number]

/** Lists the nodes that ended within a window of time and that endpoints of the organisation were connected to. */
export const listNodesEndedWithin = wholeQuery((db, p: { org: number; from: number; to: number }) =>
  db
    .selectFrom('nodes')
    .select('id')
    .where('state', '<>', 'up')
    .where('ended_at', '>=', p.from)
    .where('ended_at', '<=', p.to)
    .where((e) =>
      e.exists(
        e
          .selectFrom('endpoints')
          .select('endpoints.id')
          .whereRef('endpoints.node_id', '=', 'nodes.id')
          .where('endpoints.org', '=', p.org),
      ),
    ),
)

type NodePage = Now & { node: number; after: string; limit: number }

/** Lists a page of the endpoints whose rows name a node, in the order of their ids. */
export const listObservedAtNodeAfter = wholeQuery((db, p: NodePage) =>
  observed(db, p).where('e.node_id', '=', p.node).where('e.id', '>', p.after).orderBy('e.id').limit(p.limit),
)

/** Lists the endpoints that connected since a time and are connected. */
export const listConnectedSince = wholeQuery((db, p: Now & { from: number }) =>
  observed(db, p).where('e.connection_time', '>=', p.from).where('d.state', '=', 'up'),
)

export const listObservedById = wholeQuery((db, p: Now & { ids: readonly string[] }, engine) =>
  observed(db, p).where(isAnyOf(engine, 'e.id', p.ids)),
)

/** Lists the devices of gateways. */
export const listObservedVia = wholeQuery((db, p: Now & { gateways: readonly string[] }, engine) =>
  observed(db, p).where(isAnyOf(engine, 'e.via', p.gateways)),
)

/** Lists the rooms, among the given ones, that have a connected device. */
export const listConnectedRooms = wholeQuery((db, p: { org: number; rooms: readonly number[] }, engine) =>
  db
    .selectFrom('endpoints as e')
    .innerJoin('nodes as d', (j) => j.onRef('d.id', '=', 'e.node_id').on('d.state', '=', 'up'))
    .select('e.room_id')
    .distinct()
    .where('e.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'e.room_id', p.rooms)),
)

/** Lists the devices that are asleep or behind a gateway that is away: rooms and locations are judged without them. */
export const listLeftOut = wholeQuery((db, p: Now) =>
  db
    .selectFrom('endpoints as e')
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .select('e.id')
    .where('e.org', '=', p.org)
    .where(sql<SqlBool>`(e.rest is not null or e.via is not null)`)
    .where(isDisconnected)
    .where(sql<SqlBool>`(${isHidden(p)} or ${isAsleep})`),
)

/** Lists a page of all endpoints in the order of their ids, with their latest samples. */
export const listObservedAfter = wholeQuery((db, p: Now & { after: string; limit: number }) =>
  observed(db, p)
    .leftJoin('samples_latest as s', (j) => j.onRef('s.org', '=', 'e.org').onRef('s.endpoint', '=', 'e.number'))
    .select(['s.timestamp', 's.co2', 's.voc', 's.temp', 's.humidity', 's.people'])
    .where('e.id', '>', p.after)
    .orderBy('e.id')
    .limit(p.limit),
)
export type ObservedWithSample = Awaited<ReturnType<typeof listObservedAfter>>[number]
