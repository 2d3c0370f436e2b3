// SQL of deleted rooms and former change windows, which reports count. [contract 10.past]
import { sql } from 'kysely'
import { write } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { systemWrite } from '../../db/system.ts'

/** Keeps what a room is called and where it is. It must be called before the room is deleted; `at` is in milliseconds. */
export const insertDeletedRoom = write((db, p: { org: number; id: number; at: number }) =>
  db
    .insertInto('deleted_rooms')
    .columns([
      ...['org', 'id', 'name', 'location_id', 'location_name', 'region_id', 'region_name'],
      ...['timezone', 'capacity', 'tags', 'fields', 'deleted_at'],
    ] as (keyof DatabaseSchema['deleted_rooms'])[])
    .expression((q) =>
      q
        .selectFrom('rooms as r')
        .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
        .leftJoin('regions as g', (j) => j.onRef('g.org', '=', 'l.org').onRef('g.id', '=', 'l.region_id'))
        .select(['r.org', 'r.id', 'r.name', 'r.location_id', 'l.name as location_name', 'l.region_id'])
        .select(['g.name as region_name', 'l.timezone', 'r.capacity', 'r.tags', 'r.fields'])
        .select(sql<number>`cast(${p.at} as bigint)`.as('deleted_at'))
        .where('r.org', '=', p.org)
        .where('r.id', '=', p.id),
    ),
)
/** Keeps the window that a location had until a time. Of two changes at the same time the first counts, because the second window was never in force. */
export const insertFormerWindow = write(
  (db, p: { org: number; id: number; until: number; change_window: string | null }) =>
    db
      .insertInto('former_change_windows')
      .values({ org: p.org, location_id: p.id, until: p.until, change_window: p.change_window })
      .onConflict((c) => c.doNothing()),
)

export const deleteRoomsBefore = systemWrite((db, p: { before: number }) =>
  db.deleteFrom('deleted_rooms').where('deleted_at', '<', p.before),
)

export const deleteWindowsBefore = systemWrite((db, p: { before: number }) =>
  db.deleteFrom('former_change_windows').where('until', '<', p.before),
)
