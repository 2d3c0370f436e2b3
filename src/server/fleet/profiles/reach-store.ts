// Holds the SQL of the reach of profiles: the rooms and endpoints that have one, as far as the caller sees them.

import { sql } from 'kysely'
import { isAnyNumberOf } from '../../db/queries/any-of.ts'
import { visibleQuery } from '../../db/queries/query.ts'
import { reportedList } from '../../db/queries/reported-list.ts'

type ProfileKey = { org: number; profile: number }

/** An endpoint without a config has nothing to confirm. */
const configState = sql<string>`coalesce(c.state, 'DELIVERED')`

export const countConfigStates = visibleQuery('room', 'e.room_id', (db, p: ProfileKey) =>
  db
    .selectFrom('endpoints as e')
    .leftJoin('endpoint_configs as c', (j) => j.onRef('c.org', '=', 'e.org').onRef('c.endpoint_id', '=', 'e.id'))
    .select((e) => [configState.as('state'), e.fn.countAll<number>().as('count')])
    .where('e.org', '=', p.org)
    .where('e.profile_id', '=', p.profile)
    .groupBy(configState),
)

/** Counts the endpoints with the profile by the settings that their devices report to have. */
export const countConfigKeys = visibleQuery('room', 'e.room_id', (db, p: ProfileKey, engine) =>
  db
    .selectFrom('endpoints as e')
    .select((e) => [reportedList(engine, 'configKeys').as('config_keys'), e.fn.countAll<number>().as('count')])
    .where('e.org', '=', p.org)
    .where('e.profile_id', '=', p.profile)
    .groupBy(reportedList(engine, 'configKeys')),
)

/** Lists rooms that have the profile or an endpoint with it, those with a rejected config first. `total` counts all of them. */
export const listRoomsReached = visibleQuery('room', 'r.id', (db, p: ProfileKey & { limit: number }) =>
  db
    .selectFrom('rooms as r')
    .leftJoin(
      (q) =>
        q
          .selectFrom('endpoints as n')
          .leftJoin('endpoint_configs as c', (j) =>
            j.onRef('c.org', '=', 'n.org').onRef('c.endpoint_id', '=', 'n.id').on('c.state', '=', 'FAILED'),
          )
          .select((e) => ['n.room_id', e.fn.count<number>('c.endpoint_id').as('failed')])
          .where('n.org', '=', p.org)
          .where('n.profile_id', '=', p.profile)
          .groupBy('n.room_id')
          .as('e'),
      (j) => j.onRef('e.room_id', '=', 'r.id'),
    )
    .select((e) => ['r.id', 'r.name', 'r.profile_id', e.fn.countAll<number>().over().as('total')])
    .where('r.org', '=', p.org)
    .where((e) => e.or([e('r.profile_id', '=', p.profile), e('e.room_id', 'is not', null)]))
    .orderBy(sql`case when e.failed > 0 then 0 else 1 end`)
    .orderBy('r.id')
    .limit(p.limit),
)

/** Lists the endpoints in these rooms that have the profile. */
export const listEndpointsReached = visibleQuery(
  'room',
  'e.room_id',
  (db, p: ProfileKey & { rooms: readonly number[] }, engine) =>
    db
      .selectFrom('endpoints as e')
      .leftJoin('endpoint_configs as c', (j) => j.onRef('c.org', '=', 'e.org').onRef('c.endpoint_id', '=', 'e.id'))
      .select(['e.id', 'e.room_id', 'e.name', 'e.model', 'e.serial', configState.as('state'), 'c.error'])
      .select(reportedList(engine, 'configKeys').as('config_keys'))
      .where('e.org', '=', p.org)
      .where('e.profile_id', '=', p.profile)
      .where(isAnyNumberOf(engine, 'e.room_id', p.rooms))
      .orderBy('e.id'),
)
