// SQL of the engine: findings, the incidents that may change, and their subjects. Many rows are written with one statement, as JSON.

import { type Selectable, sql } from 'kysely'
import type { TelemetryTx } from '../../db/handles.ts'
import { isAnyOf } from '../../db/queries/any-of.ts'
import { pickColumns } from '../../db/queries/columns.ts'
import { inParts } from '../../db/queries/in-parts.ts'
import { jsonRows } from '../../db/queries/json-rows.ts'
import { wholeQuery, wholeQueryOne, writeTelemetry } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { type IncidentRow, incidentColumns, type SubjectRow } from '../store.ts'

export type FindingRow = Omit<Selectable<DatabaseSchema['findings']>, 'org'>

const findingColumns = [
  'rule',
  'subject_type',
  'subject_id',
  'since',
  'matured_at',
  'clear_since',
  'incident_id',
  'detail',
] as const
const findingKeyColumns = ['org', 'rule', 'subject_type', 'subject_id'] as const

export const listFindings = wholeQuery((db, p: { org: number }) =>
  db.selectFrom('findings').select(findingColumns).where('org', '=', p.org),
)

type FindingKeyRow = Pick<FindingRow, 'rule' | 'subject_type' | 'subject_id'>
const keyTypes = { rule: 'text', subject_type: 'text', subject_id: 'text' } as const
const findingTypes = {
  ...keyTypes,
  since: 'bigint',
  matured_at: 'bigint',
  clear_since: 'bigint',
  incident_id: 'integer',
  detail: 'text',
} as const

const upsertFindingRows = writeTelemetry((db, p: { org: number; rows: readonly unknown[] }, engine) =>
  db
    .insertInto('findings')
    .columns(['org', ...findingColumns])
    .expression((q) =>
      q
        .selectFrom(jsonRows<FindingRow>(engine, p.rows, findingTypes).as('f'))
        .select(sql<number>`cast(${p.org} as integer)`.as('org'))
        .select(findingColumns.map((column) => `f.${column}` as const))
        .where(sql<boolean>`true`),
    )
    .onConflict((c) =>
      c.columns(findingKeyColumns).doUpdateSet((e) => ({
        since: e.ref('excluded.since'),
        matured_at: e.ref('excluded.matured_at'),
        clear_since: e.ref('excluded.clear_since'),
        incident_id: e.ref('excluded.incident_id'),
        detail: e.ref('excluded.detail'),
      })),
    ),
)
export async function upsertFindings(tx: TelemetryTx, findings: readonly FindingRow[]): Promise<void> {
  for await (const part of inParts(findings)) {
    await upsertFindingRows(tx, { rows: part.map((row) => findingColumns.map((column) => row[column])) })
  }
}

const deleteFindingRows = writeTelemetry((db, p: { org: number; rows: readonly unknown[] }, engine) =>
  db
    .deleteFrom('findings')
    .where('org', '=', p.org)
    .where(sql<boolean>`(rule, subject_type, subject_id) in ${jsonRows<FindingKeyRow>(engine, p.rows, keyTypes)}`),
)
export async function deleteFindings(tx: TelemetryTx, keys: readonly FindingKeyRow[]): Promise<void> {
  for await (const part of inParts(keys)) {
    await deleteFindingRows(tx, { rows: part.map((key) => [key.rule, key.subject_type, key.subject_id]) })
  }
}

/**
 * Lists the incidents whose cause lasts, or ended after a time, and flapping ones. The engine and people take turns: on PostgreSQL the rows
 * are locked.
 */
export const lockEngineIncidents = writeTelemetry((db, p: { org: number; endedAfter: number }, engine) =>
  engineIncidents(db, p).$if(engine === 'postgres', (q) => q.forUpdate()),
)
export const listEngineIncidents = wholeQuery((db, p: { org: number; endedAfter: number }) => engineIncidents(db, p))

type Db = Parameters<Parameters<typeof wholeQuery>[0]>[0]
const engineIncidents = (db: Db, p: { org: number; endedAfter: number }) =>
  db
    .selectFrom('incidents as i')
    .select(incidentColumns)
    .where('i.org', '=', p.org)
    .where((e) =>
      e.or([e('i.cause_ended_at', 'is', null), e('i.cause_ended_at', '>', p.endedAfter), e('i.flapping', '=', 1)]),
    )
    .orderBy('i.id')

/** The columns that the engine writes when an incident opens and changes. */
const engineColumns = [
  'version',
  'severity',
  'state',
  'cause_id',
  'cause_name',
  'detail',
  'since',
  'updated_at',
  'resolved_at',
  'cause_ended_at',
  'occurrences',
  'reopenings',
  'flapping',
  'merged_into',
  'split_from',
] as const
const insertedColumns = ['id', 'rule', 'level', 'opened_at', ...engineColumns] as const
const updatedColumns = [...engineColumns, 'acknowledged_by', 'snoozed_until', 'snoozed_until_cleared'] as const

export const insertIncident = writeTelemetry((db, p: { org: number } & IncidentRow) =>
  db.insertInto('incidents').values({ org: p.org, ...pickColumns(p, insertedColumns) }),
)

/** Writes the columns that the engine changes, and those of people that end with the cause. */
export const updateEngineIncident = writeTelemetry((db, p: { org: number } & IncidentRow) =>
  db.updateTable('incidents').set(pickColumns(p, updatedColumns)).where('org', '=', p.org).where('id', '=', p.id),
)

const subjectColumns = [
  'incident_id',
  'subject_type',
  'subject_id',
  'name',
  'room_id',
  'room_name',
  'location_id',
  'region_id',
  'since',
  'ended_at',
] as const
const subjectTypes = {
  incident_id: 'integer',
  subject_type: 'text',
  subject_id: 'text',
  name: 'text',
  room_id: 'integer',
  room_name: 'text',
  location_id: 'integer',
  region_id: 'integer',
  since: 'bigint',
  ended_at: 'bigint',
} as const

const upsertSubjectRows = writeTelemetry((db, p: { org: number; rows: readonly unknown[] }, engine) =>
  db
    .insertInto('incident_subjects')
    .columns(['org', ...subjectColumns])
    .expression((q) =>
      q
        .selectFrom(jsonRows<SubjectRow>(engine, p.rows, subjectTypes).as('s'))
        .select(sql<number>`cast(${p.org} as integer)`.as('org'))
        .select(subjectColumns.map((column) => `s.${column}` as const))
        .where(sql<boolean>`true`),
    )
    .onConflict((c) =>
      c.columns(['org', 'incident_id', 'subject_type', 'subject_id']).doUpdateSet((e) => ({
        name: e.ref('excluded.name'),
        room_id: e.ref('excluded.room_id'),
        room_name: e.ref('excluded.room_name'),
        location_id: e.ref('excluded.location_id'),
        region_id: e.ref('excluded.region_id'),
        since: e.ref('excluded.since'),
        ended_at: e.ref('excluded.ended_at'),
      })),
    ),
)
export const upsertSubjects = async (tx: Parameters<typeof upsertSubjectRows>[0], rows: readonly SubjectRow[]) =>
  rows.length > 0 &&
  (await upsertSubjectRows(tx, { rows: rows.map((row) => subjectColumns.map((column) => row[column])) }))

export const endSubjects = writeTelemetry(
  (db, p: { org: number; incident: number; ids: readonly string[]; at: number }, engine) =>
    db
      .updateTable('incident_subjects')
      .set({ ended_at: p.at })
      .where('org', '=', p.org)
      .where('incident_id', '=', p.incident)
      .where(isAnyOf(engine, 'subject_id', p.ids))
      .where('ended_at', 'is', null),
)

/** Lists the subjects that are still affected, with the places that they had when they joined. */
export const listOpenSubjects = wholeQuery((db, p: { org: number }) =>
  db
    .selectFrom('incident_subjects as s')
    .innerJoin('incidents as i', (j) => j.onRef('i.org', '=', 's.org').onRef('i.id', '=', 's.incident_id'))
    .select(['s.incident_id', 's.subject_type', 's.subject_id', 's.room_id', 's.location_id', 's.region_id'])
    .where('i.org', '=', p.org)
    .where('i.cause_ended_at', 'is', null)
    .where('s.ended_at', 'is', null),
)

export const findProfileName = wholeQueryOne((db, p: { org: number; id: number }) =>
  db.selectFrom('profiles').select('name').where('org', '=', p.org).where('id', '=', p.id),
)

export const findJobName = wholeQueryOne((db, p: { org: number; id: number }) =>
  db.selectFrom('jobs').select('name').where('org', '=', p.org).where('id', '=', p.id),
)

export const findChannelName = wholeQueryOne((db, p: { org: number; id: number }) =>
  db.selectFrom('channels').select('name').where('org', '=', p.org).where('id', '=', p.id),
)
