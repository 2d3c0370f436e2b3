// SQL of rollups: due quarters, quarters from raw samples, hours and days from quarters.

import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { EngineName } from '../../db/engine.ts'
import type { TelemetryTx } from '../../db/handles.ts'
import { insertMany } from '../../db/queries/insert-many.ts'
import { query, queryOne, writeTelemetry } from '../../db/queries/query.ts'
import { type DatabaseSchema, sensorColumns } from '../../db/schema/schema.ts'
import { roomAtTheTime } from '../ingest/room-at-sql.ts'

export type RollupTable = 'sample_quarters' | 'sample_hours' | 'sample_days'

/**
 * Marks quarters whose rollup lacks a sample. PostgreSQL refuses a row that is given twice. A mark that exists is locked although nothing in it changes:
 * the node that rolls the quarter up waits for this commit, and then reads its samples too.
 */
export const insertDue = insertMany(
  'sample_due',
  ['org', 'endpoint', 'slot'],
  '(org, endpoint, slot) do update set slot = excluded.slot where false',
)

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

/**
 * Passes rows of numbers as one parameter, with a name for each column. OFFSET 0 makes PostgreSQL unpack them once, and its planner
 * expects a hundred of them, whatever the statement was planned with before.
 */
const rowsOf = (engine: EngineName, rows: readonly (readonly number[])[], columns: readonly string[]) => {
  const cells = sql.join(columns.map((name, i) => sql`cast(value ->> ${sql.lit(i)} as integer) as ${sql.ref(name)}`))
  return engine === 'postgres'
    ? sql<Record<string, number>>`(select ${cells} from jsonb_array_elements(${rows}::jsonb) offset 0)`
    : sql<Record<string, number>>`(select ${cells} from jsonb_each(${rows}))`
}

/** Pairs of endpoint and slot. */
interface Buckets {
  buckets: readonly (readonly [endpoint: number, slot: number])[]
}

const deleteFrom = (table: RollupTable | 'sample_due') =>
  writeTelemetry((db, p: Buckets & { org: number }, engine) =>
    db
      .deleteFrom(table)
      .where('org', '=', p.org)
      .where(sql<boolean>`(endpoint, slot) in ${rowsOf(engine, p.buckets, ['endpoint', 'slot'])}`)
      // A statement that returns rows is awaited, with all that were sent before it, so roll-up.ts can measure the time.
      .$if(table === 'sample_due', (q) => q.returning('slot'))
      .$if(table === 'sample_quarters', (q) => q.returning(['slot', sql<number>`room`.as('room')])),
  )
const deleteBuckets = {
  sample_due: deleteFrom('sample_due'),
  sample_quarters: deleteFrom('sample_quarters'),
  sample_hours: deleteFrom('sample_hours'),
  sample_days: deleteFrom('sample_days'),
}

/**
 * On PostgreSQL, waits for commits of other nodes that add samples to these quarters, and makes later ones wait. Statements after this
 * one see the samples of the former; the latter mark their quarters again. SQLite has one writer.
 */
export async function lockDue(tx: TelemetryTx, list: readonly DueSlot[]): Promise<void> {
  if (tx.engine === 'postgres') await lockMarks(tx, { buckets: list.map(({ endpoint, slot }) => [endpoint, slot]) })
}
const lockMarks = query(
  (db, p: Buckets & { org: number }, engine) =>
    db
      .selectFrom('sample_due')
      .select('slot')
      .where('org', '=', p.org)
      .where(sql<boolean>`(endpoint, slot) in ${rowsOf(engine, p.buckets, ['endpoint', 'slot'])}`)
      .orderBy('endpoint')
      .orderBy('slot')
      .forUpdate(),
  'postgres',
)

export const deleteDue = (tx: TelemetryTx, list: readonly DueSlot[]) =>
  deleteBuckets.sample_due(tx, { buckets: list.map(({ endpoint, slot }) => [endpoint, slot]) })

const keys = ['org', 'endpoint', 'slot', 'room'] as const
const statistics = sensorColumns.flatMap((c) => [`${c}_count`, `${c}_min`, `${c}_max`, `${c}_sum`] as const)

interface Parts {
  parts: readonly (readonly number[])[]
}

/**
 * The rows of a table that belong to each part. SQLite follows the order of a cross join, so it looks up each part. PostgreSQL is
 * forced to do so by LATERAL and OFFSET 0: a plan that is chosen by estimates may read the rows of all endpoints for each part.
 */
const rowsOfPart = (engine: EngineName, table: 'samples' | 'sample_quarters', matches: RawBuilder<unknown>) =>
  engine === 'postgres'
    ? sql<Record<string, number>>`lateral (select * from ${sql.table(table)} where ${matches} offset 0)`
    : sql<Record<string, number>>`${sql.table(table)}`

const insertQuarters = writeTelemetry((db, p: Parts & { org: number }, engine) => {
  const matches = (of: string) =>
    sql<boolean>`${sql.ref(`${of}org`)} = ${p.org} and ${sql.ref(`${of}slot`)} = part.raw_slot and ${sql.ref(`${of}endpoint`)} = part.part_endpoint`
  return db
    .insertInto('sample_quarters')
    .columns([...keys, ...statistics])
    .expression((q) =>
      q
        .selectFrom((inner) =>
          inner
            .selectFrom(rowsOf(engine, p.parts, ['part_endpoint', 'raw_slot', 'target']).as('part'))
            .crossJoin(rowsOfPart(engine, 'samples', matches('')).as('s'))
            .select(['s.org', 's.endpoint', 'part.target', roomAtTheTime.as('room')])
            .select(sensorColumns.map((c) => `s.${c}` as const))
            .$if(engine === 'sqlite', (r) => r.where(matches('s.')))
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
    )
    .returning(['slot', 'room'])
})
/** Replaces quarters by what their raw samples give, and returns the quarters of rooms that changed. */
export async function updateQuarters(
  tx: TelemetryTx,
  parts: readonly (readonly [endpoint: number, slot: number, quarter: number])[],
): Promise<{ room: number; slot: number }[]> {
  if (parts.length === 0) return []
  const made = parts.map(([endpoint, , quarter]) => [endpoint, quarter] as const)
  const before = await deleteBuckets.sample_quarters(tx, { buckets: made })
  return [...(before as { room: number; slot: number }[]), ...(await insertQuarters(tx, { parts }))]
}

/** The first quarter, the one after the last, and the hour or day that they belong to. */
export type RollupPart = readonly [endpoint: number, first: number, end: number, bucket: number]

const insertFromQuarters = (table: 'sample_hours' | 'sample_days') =>
  writeTelemetry((db, p: Parts & { org: number }, engine) => {
    const matches = (of: string) =>
      sql<boolean>`${sql.ref(`${of}org`)} = ${p.org} and ${sql.ref(`${of}endpoint`)} = part.part_endpoint and ${sql.ref(`${of}slot`)} >= part.first_slot and ${sql.ref(`${of}slot`)} < part.end_slot`
    return db
      .insertInto(table)
      .columns([...keys, ...statistics])
      .expression((q) =>
        q
          .selectFrom(rowsOf(engine, p.parts, ['part_endpoint', 'first_slot', 'end_slot', 'target']).as('part'))
          .crossJoin(rowsOfPart(engine, 'sample_quarters', matches('')).as('q'))
          .select(['q.org', 'q.endpoint', 'part.target', 'q.room'])
          .select((e) =>
            sensorColumns.flatMap((c) => [
              e.fn.sum(`q.${c}_count`).as(`${c}_count`),
              e.fn.min(`q.${c}_min`).as(`${c}_min`),
              e.fn.max(`q.${c}_max`).as(`${c}_max`),
              e.fn.sum(`q.${c}_sum`).as(`${c}_sum`),
            ]),
          )
          .$if(engine === 'sqlite', (r) => r.where(matches('q.')))
          .groupBy(['q.org', 'q.endpoint', 'part.target', 'q.room']),
      )
  })
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
  await deleteBuckets[table](tx, { buckets: parts.map(([endpoint, , , bucket]) => [endpoint, bucket]) })
  await insertRollups[table](tx, { parts })
}

export type RollupProgress = Omit<Selectable<DatabaseSchema['sample_progress']>, 'org'>
/** Undefined if there are no rollups yet. */
export const findProgress = queryOne((db, p: { org: number }) =>
  db
    .selectFrom('sample_progress')
    .select(['timezone', 'samples_from', 'quarters_from', 'room_days_from'])
    .where('org', '=', p.org),
)

export const updateDayZone = writeTelemetry((db, p: { org: number; timezone: string }) =>
  db
    .insertInto('sample_progress')
    .values({ org: p.org, timezone: p.timezone })
    .onConflict((c) => c.column('org').doUpdateSet({ timezone: p.timezone })),
)
