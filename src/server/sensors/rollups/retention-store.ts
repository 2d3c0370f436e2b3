// SQL that deletes old data: raw samples by slot, rollups by endpoint, and latest samples of deleted endpoints.

import { sql } from 'kysely'
import { wholeQueryOne, writeTelemetry } from '../../db/queries/query.ts'
import { systemQuery, systemQueryExists, systemQueryOne, systemWrite } from '../../db/system.ts'
import type { RollupTable } from './store.ts'

/** PostgreSQL: the names of the partitions of `samples`. */
export const listPartitions = systemQuery(
  (db) =>
    db
      .selectFrom(sql<{ inhrelid: number; inhparent: number }>`pg_inherits`.as('i'))
      .innerJoin(sql<{ oid: number; relname: string }>`pg_class`.as('c'), 'c.oid', 'i.inhrelid')
      .select('c.relname as name')
      .where('i.inhparent', '=', sql<number>`'samples'::regclass`),
  'postgres',
)

/** The time since which no raw samples of any organisation were deleted. */
export const findHorizon = systemQueryOne((db, _: object) =>
  db.selectFrom('sample_progress').select((e) => e.fn.max('samples_from').as('samples')),
)

export const updateHorizon = systemWrite((db, p: { samples: number; quarters: number }) =>
  db.updateTable('sample_progress').set((e) => ({
    samples_from: e.case().when('samples_from', '<', p.samples).then(p.samples).else(e.ref('samples_from')).end(),
    quarters_from: e.case().when('quarters_from', '<', p.quarters).then(p.quarters).else(e.ref('quarters_from')).end(),
  })),
)

/** Whether a quarter before the given one is due in any organisation. */
export const hasDueBefore = systemQueryExists((db, p: { slot: number }) =>
  db.selectFrom('sample_due').select('slot').where('slot', '<', p.slot).limit(1),
)

/** The oldest slot before the given one. */
export const findOldestSlot = wholeQueryOne(
  (db, p: { org: number; before: number }) =>
    db
      .selectFrom('samples')
      .select('slot')
      .where('org', '=', p.org)
      .where('slot', '<', p.before)
      .orderBy('slot')
      .limit(1),
  'sqlite',
)

/** Deletes about `count` rows of a slot, those of the lowest endpoints. */
export const deleteFromSlot = writeTelemetry(
  (db, p: { org: number; slot: number; count: number }) =>
    db
      .deleteFrom('samples')
      .where('org', '=', p.org)
      .where('slot', '=', p.slot)
      .where('endpoint', '<=', (e) =>
        // The endpoint of the last row to delete, or the highest number if the slot has fewer rows.
        e.fn.coalesce(
          e
            .selectFrom('samples as s')
            .select('s.endpoint')
            .where('s.org', '=', p.org)
            .where('s.slot', '=', p.slot)
            .orderBy('s.endpoint')
            .orderBy('s.timestamp')
            .limit(1)
            .offset(p.count),
          sql<number>`2147483647`,
        ),
      ),
  'sqlite',
)

const deleteFromRollup = (table: RollupTable) =>
  writeTelemetry((db, p: { org: number; endpoint: number; before: number }) =>
    db.deleteFrom(table).where('org', '=', p.org).where('endpoint', '=', p.endpoint).where('slot', '<', p.before),
  )
export const deleteRollups = {
  sample_quarters: deleteFromRollup('sample_quarters'),
  sample_hours: deleteFromRollup('sample_hours'),
  sample_days: deleteFromRollup('sample_days'),
}

const findNextIn = (table: RollupTable) =>
  wholeQueryOne((db, p: { org: number; endpoint: number }) =>
    db
      .selectFrom(table)
      .select(['endpoint', 'slot'])
      .where('org', '=', p.org)
      .where('endpoint', '>', p.endpoint)
      .orderBy('endpoint')
      .orderBy('slot')
      .limit(1),
  )
/** The next endpoint that has rollups, and its oldest slot. */
export const findNextRollup = {
  sample_quarters: findNextIn('sample_quarters'),
  sample_hours: findNextIn('sample_hours'),
  sample_days: findNextIn('sample_days'),
}

/** Deletes up to `limit` latest samples of deleted endpoints, and returns their numbers. */
export const deleteOrphanedLatest = systemWrite((db, p: { limit: number }) =>
  db
    .deleteFrom('samples_latest')
    .where((e) =>
      e(
        e.refTuple('org', 'endpoint'),
        'in',
        e
          .selectFrom('samples_latest as s')
          .leftJoin('endpoints as e', (j) => j.onRef('e.org', '=', 's.org').onRef('e.number', '=', 's.endpoint'))
          .select(['s.org', 's.endpoint'])
          .where('e.id', 'is', null)
          .limit(p.limit)
          .$asTuple('org', 'endpoint'),
      ),
    )
    .returning('endpoint'),
)
