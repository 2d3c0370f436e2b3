// Holds the SQL about incidents that are sent, and about the messages that the delivery itself writes. [contract 10.delivery]

import { sql } from 'kysely'
import { isAnyNumberOf } from '../../../db/queries/any-of.ts'
import { query, queryExists, wholeQuery, writeTelemetryOne } from '../../../db/queries/query.ts'

export const listIncidentStates = wholeQuery((db, p: { org: number; ids: readonly number[] }, engine) =>
  db
    .selectFrom('incidents')
    .select(['id', 'rule', 'severity', 'state', 'opened_at', 'resolved_at', 'updated_at'])
    .select((e) =>
      e
        .selectFrom('users')
        .select('users.id')
        .whereRef('users.org', '=', 'incidents.org')
        .whereRef('users.id', '=', 'incidents.assignee_id')
        .where('users.state', '<>', 'DISABLED')
        .as('assignee'),
    )
    .where('org', '=', p.org)
    .where(isAnyNumberOf(engine, 'id', p.ids)),
)
export type IncidentStateRow = Awaited<ReturnType<typeof listIncidentStates>>[number]

/** The time zones of the locations of incidents; null stands for the zone of the organisation. */
export const listIncidentZones = wholeQuery((db, p: { org: number; ids: readonly number[] }, engine) =>
  db
    .selectFrom('incident_subjects as s')
    .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 's.org').onRef('l.id', '=', 's.location_id'))
    .select(['s.incident_id', 'l.timezone'])
    .distinct()
    .where('s.org', '=', p.org)
    .where(isAnyNumberOf(engine, 's.incident_id', p.ids)),
)

/** The openings that were written for a channel since a time, without cancelled ones. */
export const listOpenings = query((db, p: { org: number; channel: number; since: number; limit: number }) =>
  db
    .selectFrom('messages as m')
    .innerJoin('deliveries as d', 'd.message', 'm.number')
    .select(['m.number as message', 'm.incident_id', 'm.created_at', 'd.state', 'd.sequence', 'd.next_at'])
    .where('m.org', '=', p.org)
    .where('m.type', '=', sql.lit('incident.opened'))
    .where('m.created_at', '>=', p.since)
    .where('d.org', '=', p.org)
    .where('d.channel_id', '=', p.channel)
    .where('d.state', '<>', 'CANCELLED')
    .orderBy('m.created_at')
    .orderBy('m.number')
    .limit(p.limit),
)

export const hasWaitingMessage = queryExists((db, p: { org: number; channel: number; orderKey: string }) =>
  db
    .selectFrom('messages as m')
    .innerJoin('deliveries as d', 'd.message', 'm.number')
    .select('m.number')
    .where('m.org', '=', p.org)
    .where('m.order_key', '=', p.orderKey)
    .where('d.org', '=', p.org)
    .where('d.channel_id', '=', p.channel)
    .where('d.state', '=', sql.lit('WAITING'))
    .limit(1),
)

/** Returns nothing if the channel was deleted or disabled. */
export const updateHeartbeat = writeTelemetryOne((db, p: { org: number; channel: number; nextAt: number }) =>
  db
    .updateTable('channels')
    .set({ heartbeat_at: p.nextAt })
    .where('org', '=', p.org)
    .where('id', '=', p.channel)
    .where('enabled', '=', 1)
    .returning('id'),
)
