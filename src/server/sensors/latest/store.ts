// SQL of the latest samples: of one endpoint, of one room, and of a whole organisation in pages.

import { isAnyNumberOf } from '../../db/queries/any-of.ts'
import { byUuid } from '../../db/queries/by-uuid.ts'
import { visibleQueryOne, wholeQuery } from '../../db/queries/query.ts'
import { columns } from '../ingest/store.ts'

const columnsOfLatest = columns.map((name) => `s.${name}` as const)

/** Undefined if the caller sees no such endpoint. The columns are null if the endpoint has no sample. */
export const findLatest = byUuid(
  visibleQueryOne('endpoint', 'e.id', (db, p: { org: number; id: string }) =>
    db
      .selectFrom('endpoints as e')
      .leftJoin('samples_latest as s', (j) => j.onRef('s.org', '=', 'e.org').onRef('s.endpoint', '=', 'e.number'))
      .select(columnsOfLatest)
      .where('e.org', '=', p.org)
      .where('e.id', '=', p.id),
  ),
)

/** The latest samples of the endpoints in a room that are not older than `since`, in Unix seconds. */
export const listLatestInRoom = wholeQuery((db, p: { org: number; room: number; since: number }) =>
  db
    .selectFrom('endpoints as e')
    .innerJoin('samples_latest as s', (j) => j.onRef('s.org', '=', 'e.org').onRef('s.endpoint', '=', 'e.number'))
    .select([...columnsOfLatest, 'e.presence_only'])
    .where('e.org', '=', p.org)
    .where('e.room_id', '=', p.room)
    .where('s.timestamp', '>=', p.since),
)

interface Page<K> {
  org: number
  after: K
  limit: number
}
/** Samples in the order of their endpoint's number, also those of deleted endpoints. */
export const listLatest = wholeQuery((db, p: Page<number>) =>
  db
    .selectFrom('samples_latest')
    .select(['endpoint', ...columns])
    .where('org', '=', p.org)
    .where('endpoint', '>', p.after)
    .orderBy('endpoint')
    .limit(p.limit),
)

/** The timestamps of the latest samples. A sample never changes, so its timestamp tells whether it is known. */
export const listLatestTimestamps = wholeQuery((db, p: Page<number>) =>
  db
    .selectFrom('samples_latest')
    .select(['endpoint', 'timestamp'])
    .where('org', '=', p.org)
    .where('endpoint', '>', p.after)
    .orderBy('endpoint')
    .limit(p.limit),
)

export const listLatestOf = wholeQuery((db, p: { org: number; endpoints: readonly number[] }, engine) =>
  db
    .selectFrom('samples_latest')
    .select(['endpoint', ...columns])
    .where('org', '=', p.org)
    .where(isAnyNumberOf(engine, 'endpoint', p.endpoints)),
)

export const listEndpointNumbersAfter = wholeQuery((db, p: Page<string>) =>
  db
    .selectFrom('endpoints')
    .select(['id', 'number', 'room_id', 'presence_only'])
    .where('org', '=', p.org)
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(p.limit),
)

export const listRoomsAfter = wholeQuery((db, p: Page<number>) =>
  db
    .selectFrom('rooms as r')
    .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
    .select(['r.id', 'r.location_id', 'l.region_id'])
    .where('r.org', '=', p.org)
    .where('r.id', '>', p.after)
    .orderBy('r.id')
    .limit(p.limit),
)
