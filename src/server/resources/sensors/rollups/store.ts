// SQL of rollups: due quarters, quarters from raw samples, hours and days from quarters.

import { type Selectable, sql } from 'kysely'
import { isAnyNumberOf } from '../../../db/any-of.ts'
import type { EngineName } from '../../../db/engine.ts'
import type { TelemetryTx } from '../../../db/handles.ts'
import { insertMany } from '../../../db/insert-many.ts'
import { query, queryOne, writeTelemetry } from '../../../db/query.ts'
import { type DatabaseSchema, sensorColumns } from '../../../db/schema.ts'
import { roomAtTheTime } from '../ingest/room-at.ts'

export type RollupTable = 'sample_quarters' | 'sample_hours' | 'sample_days'

/** Marks quarters whose rollup lacks a sample. A quarter may be marked twice. */
export const insertDue = insertMany('sample_due', ['org', 'endpoint', 'slot'], 'do nothing')

export type DueSlot = Omit<DatabaseSchema['sample_due'], 'org'>

/** Due quarters in the order of the key, after the given one. */
export const listDue = query((db, p: DueSlot & { org: number; before: number; limit: number }) =>
  db
    .selectFrom('sample_due')
    .select(['endpoint', 'slot'])
    .where('org', '=', p.org)
    .where(sql<boolean>`(endpoint, slot) > (${p.endpoint}, ${p.slot})`)
    .where('slot', '<', p.before)
    .orderBy('endpoint')
    .orderBy('slot')
    .limit(p.limit),
)

/** Passes lists of numbers as rows, in one parameter. */
const rowsIn = (engine: EngineName, rows: readonly (readonly number[])[]) =>
  engine === 'postgres' ? sql`jsonb_array_elements(${rows}::jsonb)` : sql`jsonb_each(${rows})`
const item = (i: number) => sql<number>`cast(value ->> ${sql.lit(i)} as bigint)`

/** Pairs of endpoint and slot. */
interface Buckets {
  buckets: readonly (readonly [endpoint: number, slot: number])[]
  /** For PostgreSQL, which cannot see the endpoints in the JSON parameter and would read the whole table. */
  endpoints: readonly number[]
}
const bucketsOf = (buckets: Buckets['buckets']): Buckets => ({
  buckets,
  endpoints: [...new Set(buckets.map(([endpoint]) => endpoint))],
})
const deleteFrom = (table: RollupTable | 'sample_due') =>
  writeTelemetry((db, p: Buckets & { org: number }, engine) =>
    db
      .deleteFrom(table)
      .where('org', '=', p.org)
      .where(sql<boolean>`(endpoint, slot) in (select ${item(0)}, ${item(1)} from ${rowsIn(engine, p.buckets)})`)
      .$if(engine === 'postgres', (q) => q.where(isAnyNumberOf(engine, 'endpoint', p.endpoints)))
      // A statement that returns rows is awaited, with all that were sent before it, so roll-up.ts can measure the time.
      .$if(table === 'sample_due', (q) => q.returning('slot')),
  )
const deleteBuckets = {
  sample_due: deleteFrom('sample_due'),
  sample_quarters: deleteFrom('sample_quarters'),
  sample_hours: deleteFrom('sample_hours'),
  sample_days: deleteFrom('sample_days'),
}
export const deleteDue = (tx: TelemetryTx, list: readonly DueSlot[]) =>
  deleteBuckets.sample_due(tx, bucketsOf(list.map(({ endpoint, slot }) => [endpoint, slot])))

const keys = ['org', 'endpoint', 'slot', 'room'] as const
const statistics = sensorColumns.flatMap((c) => [`${c}_count`, `${c}_min`, `${c}_max`, `${c}_sum`] as const)

interface Parts {
  parts: readonly (readonly number[])[]
  /** The range of all parts, for the planner of PostgreSQL. */
  endpoints: readonly number[]
  first: number
  last: number
}

const insertQuarters = writeTelemetry((db, p: Parts & { org: number }, engine) =>
  db
    .insertInto('sample_quarters')
    .columns([...keys, ...statistics])
    .expression((q) =>
      q
        .selectFrom((inner) =>
          inner
            .selectFrom(rowsIn(engine, p.parts).as('part'))
            // The parts come first, because SQLite follows the order of a cross join.
            .crossJoin('samples as s')
            .select(['s.org', 's.endpoint', item(2).as('target'), roomAtTheTime.as('room')])
            .select(sensorColumns.map((c) => `s.${c}` as const))
            .where('s.org', '=', p.org)
            .where('s.slot', '=', item(1))
            .where('s.endpoint', '=', item(0))
            .$if(engine === 'postgres', (r) =>
              r
                .where(isAnyNumberOf(engine, 's.endpoint', p.endpoints))
                .where('s.slot', '>=', p.first)
                .where('s.slot', '<=', p.last),
            )
            .as('x'),
        )
        .select(['x.org', 'x.endpoint', 'x.target', 'x.room'])
        .select((e) =>
          sensorColumns.flatMap((c) => [
            e.fn.count(`x.${c}`).as(`${c}_count`),
            e.fn.min(`x.${c}`).as(`${c}_min`),
            e.fn.max(`x.${c}`).as(`${c}_max`),
            e.fn.sum(`x.${c}`).as(`${c}_sum`),
          ]),
        )
        .groupBy(['x.org', 'x.endpoint', 'x.target', 'x.room']),
    ),
)
/** Replaces quarters by what their raw samples give. */
export async function updateQuarters(
  tx: TelemetryTx,
  parts: readonly (readonly [endpoint: number, slot: number, quarter: number])[],
): Promise<void> {
  if (parts.length === 0) return
  const made = parts.map(([endpoint, , quarter]) => [endpoint, quarter] as const)
  await deleteBuckets.sample_quarters(tx, bucketsOf(made))
  await insertQuarters(tx, partsOf(parts, 1, 1))
}

/** The first quarter, the one after the last, and the hour or day that they belong to. */
export type RollupPart = readonly [endpoint: number, first: number, end: number, bucket: number]

function partsOf(parts: Parts['parts'], first: number, last: number): Parts {
  const all = (i: number) => parts.map((part) => part[i] as number)
  return {
    parts,
    endpoints: [...new Set(all(0))],
    first: Math.min(...all(first)),
    last: Math.max(...all(last)),
  }
}

const insertFromQuarters = (table: 'sample_hours' | 'sample_days') =>
  writeTelemetry((db, p: Parts & { org: number }, engine) =>
    db
      .insertInto(table)
      .columns([...keys, ...statistics])
      .expression((q) =>
        q
          .selectFrom(rowsIn(engine, p.parts).as('part'))
          .crossJoin('sample_quarters as q')
          .select(['q.org', 'q.endpoint', item(3).as('target'), 'q.room'])
          .select((e) =>
            sensorColumns.flatMap((c) => [
              e.fn.sum(`q.${c}_count`).as(`${c}_count`),
              e.fn.min(`q.${c}_min`).as(`${c}_min`),
              e.fn.max(`q.${c}_max`).as(`${c}_max`),
              e.fn.sum(`q.${c}_sum`).as(`${c}_sum`),
            ]),
          )
          .where('q.org', '=', p.org)
          .where('q.endpoint', '=', item(0))
          .where('q.slot', '>=', item(1))
          .where('q.slot', '<', item(2))
          .$if(engine === 'postgres', (r) =>
            r
              .where(isAnyNumberOf(engine, 'q.endpoint', p.endpoints))
              .where('q.slot', '>=', p.first)
              .where('q.slot', '<=', p.last),
          )
          .groupBy(['q.org', 'q.endpoint', sql.ref('target'), 'q.room']),
      ),
  )
const insertRollups = {
  sample_hours: insertFromQuarters('sample_hours'),
  sample_days: insertFromQuarters('sample_days'),
}
/** Replaces hours or days by what their quarters give. */
export async function updateRollups(
  tx: TelemetryTx,
  table: 'sample_hours' | 'sample_days',
  parts: readonly RollupPart[],
): Promise<void> {
  if (parts.length === 0) return
  await deleteBuckets[table](tx, bucketsOf(parts.map(([endpoint, , , bucket]) => [endpoint, bucket])))
  await insertRollups[table](tx, partsOf(parts, 1, 2))
}

export type RollupProgress = Omit<Selectable<DatabaseSchema['sample_progress']>, 'org'>
/** Undefined if there are no rollups yet. */
export const findProgress = queryOne((db, p: { org: number }) =>
  db.selectFrom('sample_progress').select(['timezone', 'samples_from', 'quarters_from']).where('org', '=', p.org),
)

export const updateDayZone = writeTelemetry((db, p: { org: number; timezone: string }) =>
  db
    .insertInto('sample_progress')
    .values({ org: p.org, timezone: p.timezone })
    .onConflict((c) => c.column('org').doUpdateSet({ timezone: p.timezone })),
)
