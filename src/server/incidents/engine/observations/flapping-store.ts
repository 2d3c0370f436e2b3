// SQL of the connections of endpoints that ended, counted by endpoint.

import { type SqlBool, sql } from 'kysely'
import { isAnyNumberOf, isAnyOf } from '../../../db/queries/any-of.ts'
import { endsOnPurpose, restartGrace, switchesOff } from '../../../db/queries/on-purpose.ts'
import { wholeQuery } from '../../../db/queries/query.ts'

const isCounted = sql<SqlBool>`why not in ('SERVER_ENDED', 'UNENROLLED', 'RELEASED') and coalesce(followed_by, 'OFFLINE') = 'OFFLINE'`

/**
 * Counts the disconnects of endpoints after a time, by the number of the endpoint, with the time of the last one. The end of a node, of a
 * gateway or of an enrolment does not count, nor does a device that goes to sleep. With `+endpoint` SQLite uses the index on `org` and
 * `until`, which has few rows in the window, instead of reading all connections of the organisation in the order of the primary key.
 */
export const listDisconnects = wholeQuery((db, p: { org: number; from: number }, engine) =>
  db
    .selectFrom('connection_spans')
    .select(({ fn }) => ['endpoint', fn.countAll<number>().as('count'), fn.max('until').as('last')])
    .where('org', '=', p.org)
    .where('until', '>', p.from)
    .where(isCounted)
    .groupBy(engine === 'sqlite' ? sql<number>`+endpoint` : 'endpoint'),
)

/** Counts, by endpoint, the disconnects after a time that were restarts on purpose, and those within 10 minutes after one. */
export const listRestarts = wholeQuery((db, p: { org: number; from: number; numbers: readonly number[] }, engine) =>
  db
    .selectFrom('connection_spans as s')
    .select(({ fn }) => ['s.endpoint', fn.countAll<number>().as('count')])
    .where('s.org', '=', p.org)
    .where(isAnyNumberOf(engine, 's.endpoint', p.numbers))
    .where('s.until', '>', p.from)
    .where(isCounted)
    .where(
      sql<SqlBool>`exists (select 1 from endpoints as e
        join operations as o on o.org = e.org and o.endpoint_id = e.id and (o.type = 'REBOOT' or ${switchesOff})
        join connection_spans as r on r.org = e.org and r.endpoint = e.number and ${endsOnPurpose(sql`r.until`)}
        where e.org = s.org and e.number = s.endpoint
          and s.until >= r.until and s.until <= r.until + ${restartGrace})`,
    )
    .groupBy('s.endpoint'),
)

export const listIdsOfNumbers = wholeQuery((db, p: { org: number; numbers: readonly number[] }, engine) =>
  db
    .selectFrom('endpoints')
    .select(['id', 'number'])
    .where('org', '=', p.org)
    .where(isAnyNumberOf(engine, 'number', p.numbers)),
)

export const listNumbersOfIds = wholeQuery((db, p: { org: number; ids: readonly string[] }, engine) =>
  db
    .selectFrom('endpoints')
    .select(['id', 'number'])
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'id', p.ids)),
)
