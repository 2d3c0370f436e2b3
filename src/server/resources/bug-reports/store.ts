// SQL of bug reports and of what each endpoint sent for one.

import { isUuid } from '../../core/uuid.ts'
import { isAnyOf } from '../../db/any-of.ts'
import type { Reader, TelemetryTx, Tx } from '../../db/db.ts'
import { query, queryOne } from '../../db/query.ts'

type Key = { org: number; id: string }

interface NewReport extends Key {
  created_at: number
  expires_at: number
  in_call_logs: 0 | 1
}
const insert = query((db, p: NewReport) =>
  db
    .insertInto('bug_reports')
    .values({
      org: p.org,
      id: p.id,
      created_at: p.created_at,
      expires_at: p.expires_at,
      in_call_logs: p.in_call_logs,
    })
    .onConflict((c) => c.columns(['org', 'id']).doNothing())
    .returning('id'),
)
/** False when there is one with this id. */
export const insertReport = async (tx: Tx, report: NewReport) => (await insert(tx, report)).length > 0

const insertAll = query((db, p: { org: number; report: string; operations: string }, engine) =>
  db
    .insertInto('bug_report_items')
    .columns(['org', 'report_id', 'endpoint_id', 'serial', 'model', 'operation_id'])
    .expression((e) =>
      e
        .selectFrom('operations as o')
        .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'o.org').onRef('e.id', '=', 'o.endpoint_id'))
        .innerJoin('bug_reports as r', (j) => j.onRef('r.org', '=', 'o.org').on('r.id', '=', p.report))
        .select(['o.org', 'r.id as report_id', 'e.id as endpoint_id', 'e.serial', 'e.model', 'o.id as operation_id'])
        .where('o.org', '=', p.org)
        .where(isAnyOf(engine, 'o.id', p.operations)),
    ),
)
/** One for each operation; serial and model are kept, because an item outlives its endpoint. */
export const insertItems = (tx: Tx, org: number, report: string, operationIds: readonly string[]) =>
  insertAll(tx, { org, report, operations: JSON.stringify(operationIds) })

const report = queryOne((db, p: Key) =>
  db
    .selectFrom('bug_reports')
    .select(['id', 'created_at', 'expires_at', 'in_call_logs'])
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)
export const findReport = (on: Reader, org: number, id: string) => report(on, { org, id })
export type ReportRow = NonNullable<Awaited<ReturnType<typeof findReport>>>

const items = query((db, p: Key) =>
  db
    .selectFrom('bug_report_items as i')
    .leftJoin('operations as o', (j) => j.onRef('o.org', '=', 'i.org').onRef('o.id', '=', 'i.operation_id'))
    .select(['i.endpoint_id', 'i.serial', 'i.model', 'i.file', 'i.size', 'i.uploaded_at'])
    .select(['o.state', 'o.updated_at', 'o.error'])
    .where('i.org', '=', p.org)
    .where('i.report_id', '=', p.id)
    .orderBy('i.endpoint_id'),
)
export const listItems = (on: Reader, org: number, id: string) => items(on, { org, id })
export type ItemRow = Awaited<ReturnType<typeof listItems>>[number]

const file = queryOne((db, p: Key & { endpoint: string }) =>
  db
    .selectFrom('bug_report_items')
    .select(['file', 'operation_id'])
    .where('org', '=', p.org)
    .where('report_id', '=', p.id)
    .where('endpoint_id', '=', p.endpoint),
)
/** The bundle of an endpoint, if it has sent one. */
export const findFile = async (on: Reader, org: number, id: string, endpoint: string) =>
  isUuid(endpoint) ? file(on, { org, id, endpoint }) : undefined

const wanted = queryOne((db, p: Key) =>
  db
    .selectFrom('bug_report_items as i')
    .innerJoin('operations as o', (j) => j.onRef('o.org', '=', 'i.org').onRef('o.id', '=', 'i.operation_id'))
    .select(['i.report_id', 'i.endpoint_id', 'i.file', 'o.state', 'o.deadline'])
    .where('i.org', '=', p.org)
    .where('i.operation_id', '=', p.id),
)
/** What the operation asks for, as long as it is known. */
export const findUploadTarget = async (on: Reader, org: number, operationId: string) =>
  isUuid(operationId) ? wanted(on, { org, id: operationId }) : undefined
export type UploadTargetRow = NonNullable<Awaited<ReturnType<typeof findUploadTarget>>>

interface Uploaded {
  org: number
  operation: string
  file: string
  size: number
  at: number
}
const uploaded = query((db, p: Uploaded) =>
  db
    .updateTable('bug_report_items')
    .set({ file: p.file, size: p.size, uploaded_at: p.at })
    .where('org', '=', p.org)
    .where('operation_id', '=', p.operation)
    .where('file', 'is', null),
)
export const updateUploaded = (telemetry: TelemetryTx, upload: Uploaded) => uploaded(telemetry, upload)

const expired = query((db, p: { now: number }) =>
  db.deleteFrom('bug_reports').where('expires_at', '<=', p.now).returning(['org', 'id']),
)
/** In all organisations, with their items. */
export const deleteExpiredReports = (telemetry: TelemetryTx, now: number) => expired(telemetry, { now })

const existing = query((db, p: { org: number; ids: string }, engine) =>
  db
    .selectFrom('bug_reports')
    .select('id')
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'id', p.ids)),
)
/** Those of the ids that exist. */
export const listExistingReports = (on: Reader, org: number, ids: readonly string[]) =>
  existing(on, { org, ids: JSON.stringify(ids) })
