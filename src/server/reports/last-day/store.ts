// SQL of the last day: the devices that the caller sees, with their present connection, and the earlier connections of some of them.
import { sql } from 'kysely'
import { isAnyNumberOf } from '../../db/queries/any-of.ts'
import { visibleQuery, wholeQuery } from '../../db/queries/query.ts'
import {
  connectionTime,
  endpointState,
  isConnected,
  lastSince,
  type PresenceTimes,
  reconnectsUntil,
} from '../../nodes/presence-sql.ts'

/** Devices in rooms, in pages in the order of their numbers, with the time in seconds at which they entered their room. */
export const listPresentDevices = visibleQuery(
  'room',
  'e.room_id',
  (db, p: PresenceTimes & { org: number; after: number; limit: number }) =>
    db
      .selectFrom('endpoints as e')
      .leftJoin('nodes as d', 'd.id', 'e.node_id')
      .leftJoin('endpoint_rooms as r', (j) =>
        j.onRef('r.org', '=', 'e.org').onRef('r.endpoint', '=', 'e.number').on('r.until', 'is', null),
      )
      .select(['e.number', 'e.room_id', 'e.node_id', 'e.connection_time as changed_at', 'r.since as entered_at'])
      .select([isConnected.as('connected'), connectionTime.as('connection_time')])
      .select([reconnectsUntil(p).as('unknown_until'), endpointState(p).as('state')])
      .where('e.org', '=', p.org)
      .where('e.room_id', 'is not', null)
      .where('e.number', '>', p.after)
      .orderBy('e.number')
      .limit(p.limit),
)

/** The ended connections of devices since a time, and the last one before it, by device and time. The caller sees the devices. */
export const listSpansOfDevices = wholeQuery(
  (db, p: { org: number; numbers: readonly number[]; from: number }, engine) =>
    db
      .selectFrom('endpoints as e')
      .innerJoin('connection_spans as s', (j) => j.onRef('s.org', '=', 'e.org').onRef('s.endpoint', '=', 'e.number'))
      .select([
        's.endpoint',
        's.since',
        's.until',
        's.unknown_until',
        's.followed_by',
        's.rested',
        's.overslept_at',
        's.via',
      ])
      .where('e.org', '=', p.org)
      .where(isAnyNumberOf(engine, 'e.number', p.numbers))
      .where('s.since', '>=', sql<number>`coalesce(${lastSince(p.from)}, 0)`)
      .orderBy('s.endpoint')
      .orderBy('s.since'),
)
