// SQL of the regions, locations, rooms and profiles of sources.
import { type Kysely, sql } from 'kysely'
import { isAnyOf } from '../../db/queries/any-of.ts'
import { jsonRows } from '../../db/queries/json-rows.ts'
import { query, queryOne, wholeQuery, writeTelemetry, writeTelemetryExists } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import type { LinkedKind } from './fields.ts'

type SourceKey = { org: number; source: string }

export type ThingRow = readonly [kind: LinkedKind, theirId: string, report: string]
type ThingColumns = { kind: LinkedKind; their_id: string; report: string }

export const upsertThings = writeTelemetry((db, p: SourceKey & { rows: readonly ThingRow[]; readAt: number }, engine) =>
  db
    .insertInto('source_things')
    .columns(['org', 'source_id', 'kind', 'their_id', 'report', 'read_at'])
    .expression(
      db
        .selectFrom(jsonRows<ThingColumns>(engine, p.rows, { kind: 'text', their_id: 'text', report: 'text' }).as('t'))
        .select([
          sql<number>`cast(${p.org} as integer)`.as('org'),
          sql<string>`cast(${p.source} as text)`.as('source_id'),
          't.kind',
          't.their_id',
          't.report',
          sql<number>`cast(${p.readAt} as bigint)`.as('read_at'),
        ])
        // SQLite would take ON CONFLICT for a part of a join.
        .where(sql<boolean>`true`),
    )
    .onConflict((c) =>
      c.columns(['org', 'source_id', 'kind', 'their_id']).doUpdateSet((e) => ({
        report: e.ref('excluded.report'),
        read_at: e.ref('excluded.read_at'),
      })),
    ),
)

/** Deletes the things of other readings than these two. */
export const deleteOtherThings = writeTelemetry((db, p: SourceKey & { readAt: number; keptAt: number }) =>
  db
    .deleteFrom('source_things')
    .where('org', '=', p.org)
    .where('source_id', '=', p.source)
    .where('read_at', '!=', p.readAt)
    .where('read_at', '!=', p.keptAt),
)

/** Returns whether the revision is the present one. */
export const updateStructureTime = writeTelemetryExists(
  (db, p: { org: number; id: string; revision: number; readAt: number }) =>
    db
      .updateTable('sources')
      .set({ structure_at: p.readAt })
      .where('org', '=', p.org)
      .where('id', '=', p.id)
      .where('revision', '=', p.revision)
      .returning('id'),
)

export const findStructureTime = queryOne((db, p: { org: number; id: string }) =>
  db.selectFrom('sources').select('structure_at').where('org', '=', p.org).where('id', '=', p.id),
)

/** A page of the things of one kind. */
export const listThingsAfter = query((db, p: SourceKey & { kind: LinkedKind; after: string; limit: number }) =>
  db
    .selectFrom('source_things')
    .select(['their_id', 'report'])
    .where('org', '=', p.org)
    .where('source_id', '=', p.source)
    .where('kind', '=', p.kind)
    .where('their_id', '>', p.after)
    .orderBy('their_id')
    .limit(p.limit),
)

export const listThingsById = query((db, p: SourceKey & { kind: LinkedKind; ids: readonly string[] }, engine) =>
  db
    .selectFrom('source_things')
    .select(['their_id', 'report'])
    .where('org', '=', p.org)
    .where('source_id', '=', p.source)
    .where('kind', '=', p.kind)
    .where(isAnyOf(engine, 'their_id', p.ids)),
)

/** Counts the things of one reading, of all kinds. */
export const countThings = queryOne((db, p: SourceKey & { readAt: number }) =>
  db
    .selectFrom('source_things')
    .select(({ fn }) => fn.countAll<number>().as('things'))
    .where('org', '=', p.org)
    .where('source_id', '=', p.source)
    .where('read_at', '=', p.readAt),
)

const linksWithThings = (db: Kysely<DatabaseSchema>, p: SourceKey & { kind: LinkedKind }) =>
  db
    .selectFrom('source_links as l')
    .select(['l.their_id', 'l.our_id'])
    .where('l.org', '=', p.org)
    .where('l.source_id', '=', p.source)
    .where('l.kind', '=', p.kind)
    .where(
      sql<boolean>`case l.kind
        when 'region' then exists (select 1 from regions t where t.org = l.org and t.id = l.our_id)
        when 'location' then exists (select 1 from locations t where t.org = l.org and t.id = l.our_id)
        when 'room' then exists (select 1 from rooms t where t.org = l.org and t.id = l.our_id)
        else exists (select 1 from profiles t where t.org = l.org and t.id = l.our_id) end`,
    )

/** Lists the links of one kind whose thing is still here. */
export const listLinks = wholeQuery((db, p: SourceKey & { kind: LinkedKind }) => linksWithThings(db, p))

/** Lists those of some things of the source. */
export const listLinksOf = wholeQuery((db, p: SourceKey & { kind: LinkedKind; ids: readonly string[] }, engine) =>
  linksWithThings(db, p).where(isAnyOf(engine, 'l.their_id', p.ids)),
)
