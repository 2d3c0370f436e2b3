// SQL of what gateways report about their sources.
import { sql } from 'kysely'
import { isAnyOf } from '../../db/queries/any-of.ts'
import { byUuid } from '../../db/queries/by-uuid.ts'
import { jsonRows } from '../../db/queries/json-rows.ts'
import { query, queryOne, writeAny, writeTelemetryExists } from '../../db/queries/query.ts'
import type { SourceRow } from './fields.ts'

/** A source of a gateway, for the gateway itself. */
export const findOwnSource = byUuid(
  queryOne((db, p: { org: number; gateway: string; id: string }) =>
    db
      .selectFrom('sources')
      .select([
        'id',
        'gateway_id',
        'type',
        'name',
        'url',
        'revision',
        'state',
        'content',
        'enrol_room_id',
        'structure_at',
      ])
      .where('org', '=', p.org)
      .where('gateway_id', '=', p.gateway)
      .where('id', '=', p.id),
  ),
)
export type OwnSource = NonNullable<Awaited<ReturnType<typeof findOwnSource>>>

type Reported = Pick<SourceRow, 'id' | 'revision' | 'reason' | 'content'> & { org: number }

/** `returned` is set if the source has become CONNECTED. Returns whether the revision is the present one. */
export const updateSourceState = writeTelemetryExists(
  (db, p: Reported & Pick<SourceRow, 'state' | 'since'> & { returned: number | null }) =>
    db
      .updateTable('sources')
      .set((e) => ({
        state: p.state,
        reason: p.reason,
        since: p.since,
        content: p.content,
        reached_at: e.fn.coalesce(e.cast<number>(e.val(p.returned), 'bigint'), 'reached_at'),
        returned_at: e.fn.coalesce(e.cast<number>(e.val(p.returned), 'bigint'), 'returned_at'),
      }))
      .where('org', '=', p.org)
      .where('id', '=', p.id)
      .where('revision', '=', p.revision)
      .returning('id'),
)

/** A statement of its own: answers about endpoints depend on the state alone, and stay cached. Returns whether something differs. */
export const updateSourceReason = writeTelemetryExists((db, p: Reported) =>
  db
    .updateTable('sources')
    .set({ reason: p.reason, content: p.content })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where('revision', '=', p.revision)
    .where((e) =>
      e.or([
        e(e.fn.coalesce('reason', e.val('')), '!=', e.fn.coalesce(e.val(p.reason), e.val(''))),
        e(e.fn.coalesce('content', e.val('')), '!=', e.fn.coalesce(e.val(p.content), e.val(''))),
      ]),
    )
    .returning('id'),
)

export const countKnown = queryOne((db, p: { org: number; source: string }) =>
  db
    .selectFrom('source_devices')
    .select(({ fn }) => fn.countAll<number>().as('devices'))
    .where('org', '=', p.org)
    .where('source_id', '=', p.source),
)

/** Lists those of the keys that are known. */
export const listKnownKeys = query((db, p: { org: number; source: string; keys: readonly string[] }, engine) =>
  db
    .selectFrom('source_devices')
    .select('key')
    .where('org', '=', p.org)
    .where('source_id', '=', p.source)
    .where(isAnyOf(engine, 'key', p.keys)),
)

/** Lists the keys of the devices that are not missing. */
export const listPresentKeys = query((db, p: { org: number; source: string }) =>
  db
    .selectFrom('source_devices')
    .select('key')
    .where('org', '=', p.org)
    .where('source_id', '=', p.source)
    .where('is_missing', '=', 0),
)

export const updateMissing = writeAny((db, p: { org: number; source: string; keys: readonly string[] }, engine) =>
  db
    .updateTable('source_devices')
    .set({ is_missing: 1 })
    .where('org', '=', p.org)
    .where('source_id', '=', p.source)
    .where(isAnyOf(engine, 'key', p.keys)),
)

/** Deletes as many devices as new ones need room: those that are missing and FOUND, the oldest first. */
export const deleteMissing = writeAny((db, p: { org: number; source: string; limit: number }) =>
  db
    .deleteFrom('source_devices')
    .where('org', '=', p.org)
    .where('source_id', '=', p.source)
    .where('key', 'in', (e) =>
      e
        .selectFrom('source_devices as d')
        .leftJoin('gateway_devices as i', (j) =>
          j.onRef('i.org', '=', 'd.org').onRef('i.source_id', '=', 'd.source_id').onRef('i.source_key', '=', 'd.key'),
        )
        .select('d.key')
        .where('d.org', '=', p.org)
        .where('d.source_id', '=', p.source)
        .where('d.is_missing', '=', 1)
        .where('d.is_excluded', '=', 0)
        .where('i.id', 'is', null)
        .orderBy('d.found_at')
        .orderBy('d.key')
        .limit(p.limit),
    ),
)

export type FoundRow = readonly [key: string, isMissing: number, report: string, lastMessage: string | null]
type FoundColumns = { key: string; is_missing: number; report: string; last_message: string | null }
type Found = { org: number; source: string; rows: readonly FoundRow[]; at: number }

/** Keeps what people decided, and the last message if the report has none. */
export const upsertDevices = writeAny((db, p: Found, engine) =>
  db
    .insertInto('source_devices')
    .columns(['org', 'source_id', 'key', 'is_excluded', 'is_missing', 'report', 'last_message', 'found_at'])
    .expression(
      db
        .selectFrom(
          jsonRows<FoundColumns>(engine, p.rows, {
            key: 'text',
            is_missing: 'integer',
            report: 'text',
            last_message: 'text',
          }).as('f'),
        )
        .select([
          sql<number>`cast(${p.org} as integer)`.as('org'),
          sql<string>`cast(${p.source} as text)`.as('source_id'),
          'f.key',
          sql<number>`0`.as('is_excluded'),
          'f.is_missing',
          'f.report',
          'f.last_message',
          sql<number>`cast(${p.at} as bigint)`.as('found_at'),
        ])
        // SQLite would take ON CONFLICT for a part of a join.
        .where(sql<boolean>`true`),
    )
    .onConflict((c) =>
      c.columns(['org', 'source_id', 'key']).doUpdateSet((e) => ({
        is_missing: e.ref('excluded.is_missing'),
        report: e.ref('excluded.report'),
        last_message: e.fn.coalesce('excluded.last_message', 'source_devices.last_message'),
      })),
    ),
)
