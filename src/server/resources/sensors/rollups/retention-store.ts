// SQL of forgetting: raw samples by day or by slot, rollups by endpoint, and what is left of endpoints that are gone.
import { sql } from 'kysely'
import type { Reader, TelemetryTx } from '../../../db/db.ts'
import { query, queryOne } from '../../../db/query.ts'
import type { RollupTable } from './store.ts'

/** PostgreSQL: the names of the parts of `samples`. */
export async function listPartitions(on: Reader): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'samples'::regclass`.execute(on.kysely)
  return rows.map(({ name }) => name)
}

const horizon = queryOne((db, _: object) =>
  db.selectFrom('sample_progress').select((e) => e.fn.max('samples_from').as('samples')),
)
/** From when on no raw samples were forgotten, of no organisation. */
export const findHorizon = async (on: Reader) => (await horizon(on, {}))?.samples ?? 0

const raise = query((db, p: { samples: number; quarters: number }) =>
  db.updateTable('sample_progress').set((e) => ({
    samples_from: e.case().when('samples_from', '<', p.samples).then(p.samples).else(e.ref('samples_from')).end(),
    quarters_from: e.case().when('quarters_from', '<', p.quarters).then(p.quarters).else(e.ref('quarters_from')).end(),
  })),
)
export const updateHorizon = (on: TelemetryTx, samples: number, quarters: number) => raise(on, { samples, quarters })

const oldest = queryOne((db, p: { org: number; before: number }) =>
  db
    .selectFrom('samples')
    .select('slot')
    .where('org', '=', p.org)
    .where('slot', '<', p.before)
    .orderBy('slot')
    .limit(1),
)
/** The oldest slot that is before that one. */
export const findOldestSlot = async (on: Reader, org: number, before: number) =>
  (await oldest(on, { org, before }))?.slot

const forgetSlot = query((db, p: { org: number; slot: number; count: number }) =>
  db
    .deleteFrom('samples')
    .where('org', '=', p.org)
    .where('slot', '=', p.slot)
    .where('endpoint', '<=', (e) =>
      // The endpoint of the last row that may go now; the highest of all if there are not so many.
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
)
/** About so many rows of a slot, those of the lowest endpoints. */
export const deleteFromSlot = (on: TelemetryTx, org: number, slot: number, count: number) =>
  forgetSlot(on, { org, slot, count })

const forgetRollups = (table: RollupTable) =>
  query((db, p: { org: number; endpoint: number; before: number }) =>
    db.deleteFrom(table).where('org', '=', p.org).where('endpoint', '=', p.endpoint).where('slot', '<', p.before),
  )
const forget = {
  sample_quarters: forgetRollups('sample_quarters'),
  sample_hours: forgetRollups('sample_hours'),
  sample_days: forgetRollups('sample_days'),
}
export const deleteRollups = (on: TelemetryTx, table: RollupTable, org: number, endpoint: number, before: number) =>
  forget[table](on, { org, endpoint, before })

const firstRollup = (table: RollupTable) =>
  queryOne((db, p: { org: number; endpoint: number }) =>
    db
      .selectFrom(table)
      .select(['endpoint', 'slot'])
      .where('org', '=', p.org)
      .where('endpoint', '>', p.endpoint)
      .orderBy('endpoint')
      .orderBy('slot')
      .limit(1),
  )
const first = {
  sample_quarters: firstRollup('sample_quarters'),
  sample_hours: firstRollup('sample_hours'),
  sample_days: firstRollup('sample_days'),
}
/** The next endpoint that has any, and its oldest. */
export const findNextRollup = (on: Reader, table: RollupTable, org: number, endpoint: number) =>
  first[table](on, { org, endpoint })

const orphans = query((db, p: { limit: number }) =>
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
/** So many of the latest samples of endpoints that are gone; says how many they were. */
export const deleteOrphanedLatest = async (on: TelemetryTx, limit: number) => (await orphans(on, { limit })).length
